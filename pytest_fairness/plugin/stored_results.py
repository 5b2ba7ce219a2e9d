"""Results of earlier runs, for the hooks of a suite's ``conftest.py``."""

from __future__ import annotations

from contextlib import closing

import pytest

from pytest_fairness.core.results import RunResults
from pytest_fairness.plugin.session import SESSION


def stored_results(config: pytest.Config, last: int = 200) -> list[RunResults]:
    """Return the results of the runs in this session's store, oldest first.

    Args:
        config: That of the session. Call it in ``pytest_terminal_summary``, and this run is among them.
        last: How many runs at most, counted from the newest.
    """
    session = config.stash.get(SESSION, None)
    if session is None or not session.settings.store.exists():
        return []
    from pytest_fairness.store.store import Store

    with closing(Store(session.settings.store)) as store:
        documents = store.runs.documents(last)
    # Fields of other versions are left out: an old run in the store must not end this one.
    return [RunResults.from_json(document["results"], "a stored run", strict=False) for document in documents]

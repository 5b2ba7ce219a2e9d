"""Who grades the answers, and the league of models at the end of a run."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from pytest_fairness.report.compare.asymmetry import latest, lines
from pytest_fairness.session.probes import DataFolders
from pytest_fairness.session.state import SESSION
from pytest_fairness.store.store import Store

from .grading import Assessed, Recorded
from .items import read_rubrics

if TYPE_CHECKING:
    from pytest_fairness import Judge
    from pytest_fairness.session.state import FairnessSession

MOST_RUNS = 200
"""Of the store, newest first, that the league looks at."""


@pytest.fixture(scope="session")
def assessment(model_name: str | None, fairness_session: FairnessSession) -> Judge:
    """The `judge`, by the rubrics; of a recorded run, where no judge is named, the grades in its record."""
    settings = fairness_session.settings
    rubrics = read_rubrics(DataFolders(settings.data).folder("asymmetry"))
    if model_name is not None and model_name.startswith("replay:") and settings.judge is None:
        return Recorded(rubrics, models=[model_name], by="domain")
    return Assessed(rubrics, by="domain")


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """The league over models and dates: this run, and those that the store has."""
    session = config.stash.get(SESSION, None)
    if session is None or not session.settings.store.exists():
        return
    with closing(Store(session.settings.store)) as opened:
        found = latest(document["results"] for document in opened.runs.documents(MOST_RUNS))
    if found:
        terminalreporter.write_sep("=", "asymmetry: league")
        for line in lines(found, config.get_terminal_writer().fullwidth):
            terminalreporter.write_line(line)

"""Earlier runs that options name: the baseline, and the run whose error rates are checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_fairness.core.errors import StoreError
from pytest_fairness.plugin.comparability import WRAPPED
from pytest_fairness.plugin.settings import Settings
from pytest_fairness.store.location import LATEST

if TYPE_CHECKING:
    from pytest_fairness.store.location import StoreLocation
    from pytest_fairness.store.runs import Runs


def with_named_runs(settings: Settings, worker_input: Mapping[str, Any]) -> Settings:
    """Return the settings with the ids of the runs that the options name.

    A run whose error rates are checked brings its models where no option names one.

    Args:
        settings: Those of the options.
        worker_input: The ids that the controller has found, in a worker.

    Raises:
        StoreError: A name matches no run, or several; one line.
    """
    named = {"baseline": settings.baseline, "certify": settings.certify}
    if not any(named.values()):
        return settings
    with earlier_runs(settings.store) as runs:
        ids = {name: worker_input.get(f"fairness_{name}") or (text and runs.find(text)) for name, text in named.items()}
        if settings.baseline == LATEST:  # chosen once the thresholds are collected
            ids["baseline"] = LATEST
        models = settings.models
        if ids["certify"] and not models:
            models = tuple(dict.fromkeys(named_models(runs, ids["certify"])))
    return replace(settings, models=models, baseline=ids["baseline"], certify=ids["certify"])


@contextmanager
def earlier_runs(store: StoreLocation) -> Iterator[Runs]:
    """Open the runs of a store. Raises `StoreError`, in one line, where there is no such store."""
    if not store.exists():
        raise StoreError(f"there is no store {store} to find an earlier run in: name it with --fairness-store")
    from pytest_fairness.store.database import Database
    from pytest_fairness.store.runs import Runs

    database = Database(store)
    try:
        yield Runs(database)
    finally:
        database.close()


def named_models(runs: Runs, run: str) -> list[str]:
    """Return the models that a run has samples of, as ``--fairness-model`` takes them, without callables."""
    names = [model.partition(WRAPPED)[0] for _, model, _ in runs.samples(run)]
    return [name for name in names if not name.startswith("function:")]

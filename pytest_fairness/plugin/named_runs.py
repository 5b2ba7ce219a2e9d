"""Earlier runs that options name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_fairness.core.model_names import WRAPPED
from pytest_fairness.plugin.settings import Settings
from pytest_fairness.store.location import LATEST, no_store

if TYPE_CHECKING:
    from pytest_fairness.store.location import StoreLocation
    from pytest_fairness.store.runs import Runs


def resolve_named_runs(settings: Settings, worker_input: Mapping[str, Any]) -> Settings:
    """Return the settings with the ids of the runs that the options name.

    Without models in the options, those of the run of ``--fairness-certify`` are used.

    Args:
        settings: The settings of the options.
        worker_input: In a worker, the ids from the controller.

    Raises:
        StoreError: A name matches no run, or several.
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
    """Open the runs of a store.

    Raises:
        StoreError: There is no such store.
    """
    if not store.exists():
        raise no_store(store, " to find an earlier run in")
    from pytest_fairness.store.archive import readable
    from pytest_fairness.store.database import Database
    from pytest_fairness.store.runs import Runs

    with readable(store) as location, closing(Database(location)) as database:
        yield Runs(database)


def named_models(runs: Runs, run: str) -> list[str]:
    """Return the names of the models in a run's samples, for ``--fairness-model``; callables are left out."""
    names = [model.partition(WRAPPED)[0] for _, model, _ in runs.samples(run)]
    return [name for name in names if not name.startswith("function:")]

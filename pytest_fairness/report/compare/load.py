"""Loading of runs by name: a run of the store, or a results file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pytest_fairness.core import json_text as json
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.results import read_results
from pytest_fairness.core.threshold_results import InfluenceResult
from pytest_fairness.report.compare.comparison import LoadedRun, RunComparison, compare
from pytest_fairness.report.results import redacted
from pytest_fairness.store.location import StoreLocation, no_store
from pytest_fairness.store.store import Store, open_to_read

COMPARED_FILE = ".json"
"""The ending of a results file's name; everything else names a run of the store."""


def read_comparison(
    runs: Sequence[str], store: StoreLocation, to: str | None = None, redact: Callable[[str], str] = str
) -> RunComparison:
    """Return the comparison of runs, named by ids, their beginnings or ``latest``, or of results files; each text
    through ``redact``.

    Differences are paired only between runs of the store: a results file has no data on single items.
    Raises `FairnessError`, in one line, for what cannot be read or compared.
    """
    files = {name: _read(Path(name), redact) for name in runs if name.endswith(COMPARED_FILE)}
    if len(files) == len(set(runs)):
        return compare([files[name] for name in runs], to)
    if not store.exists():
        raise no_store(store, f", nor is one of these a results file ({COMPARED_FILE})")
    with open_to_read(store) as opened:
        return compare([files.get(name) or _stored(opened, name, redact) for name in runs], to)


def read_run(name: str, store: StoreLocation, redact: Callable[[str], str] = str) -> LoadedRun:
    """Return one run of the store, or one results file, each text through ``redact``."""
    if name.endswith(COMPARED_FILE):
        return _read(Path(name), redact)
    if not store.exists():
        raise no_store(store, f", nor is one of these a results file ({COMPARED_FILE})")
    with open_to_read(store) as opened:
        return _stored(opened, name, redact)


def _stored(store: Store, name: str, redact: Callable[[str], str]) -> LoadedRun:
    run = store.runs.find(name, "document")
    document = store.runs.document(run)
    assert document is not None  # noqa: S101 - `find` returns only runs with a document
    results = read_results(redacted(document["results"], redact), f"run {run[:8]}")
    return LoadedRun(name, results, partial(_influences, store, run))


def _influences(store: Store, run: str, test: str) -> InfluenceResult | None:
    influences = store.runs.influences(run, test)
    return None if influences is None else InfluenceResult.from_json(influences, f"run {run[:8]}")


def _read(path: Path, redact: Callable[[str], str]) -> LoadedRun:
    try:
        results: Any = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FairnessError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError:
        raise FairnessError(f"{path} holds no JSON: name a file that --fairness-json has written") from None
    run_results = read_results(redacted(results, redact), str(path))
    if run_results.plan is not None or run_results.certify is not None:
        raise FairnessError(f"{path} holds a plan or a certificate, no verdicts: name another")
    return LoadedRun(path.name, run_results, lambda _: None)

"""Marks of suites, of their fields and of harms, from those of thresholds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

from pytest_fairness.core.marks import NOT_MARKED, aggregate
from pytest_fairness.core.results import MarkResult, ThresholdResult


def aggregate_marks(rows: Sequence[ThresholdResult]) -> list[MarkResult]:
    """Return one mark per model for each suite, field and harm with a threshold that has a scale.

    A suite of several modules has a field for each: ``gender/decisions`` of ``test_decisions.py``.
    A threshold that was never judged counts as not marked, whatever it would have compared; its model may be unknown.
    """
    kinds: dict[str, Callable[[ThresholdResult], str]] = {
        "suite": lambda row: row.suite,
        "field": _fields(rows),
        "harm": lambda row: row.harm,
    }
    results = []
    for kind, name_of in kinds.items():
        keys = dict.fromkeys((row.model, name_of(row)) for row in rows if row.scale is not None)
        for model, name in keys:
            counted = [row for row in rows if name_of(row) == name and row.model in (model, "") and _counts(row)]
            mark = aggregate(row.mark or NOT_MARKED for row in counted)
            if name:
                results.append(MarkResult(model=model, mark=None if mark == NOT_MARKED else mark, **{kind: name}))
    return results


def _fields(rows: Sequence[ThresholdResult]) -> Callable[[ThresholdResult], str]:
    """Return a function from a row to its field; empty where its suite has one module only."""
    modules: dict[str, set[str]] = {}
    for row in rows:
        modules.setdefault(row.suite, set()).add(_module(row))
    return lambda row: f"{row.suite}/{_module(row)}" if len(modules[row.suite]) > 1 else ""


def _module(row: ThresholdResult) -> str:
    return PurePosixPath(row.id.partition("::")[0]).stem.removeprefix("test_")


def _counts(row: ThresholdResult) -> bool:
    return row.scale is not None or not row.metric

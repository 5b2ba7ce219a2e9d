"""From the marks of thresholds to those of suites and of harms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_fairness.core.marks import NOT_MARKED, aggregate


def aggregated(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One mark per model and suite, then one per model and harm, of all with a threshold that has a scale.

    A threshold that was never judged counts as not marked, whatever it would have compared; it may not know its model.
    """
    found = []
    for kind in ("suite", "harm"):
        known = dict.fromkeys((row["model"], row[kind]) for row in rows if row["scale"] is not None)
        for model, name in known:
            of = [row for row in rows if row[kind] == name and row["model"] in (model, "") and _counts(row)]
            mark = aggregate(row["mark"] or NOT_MARKED for row in of)
            if name:
                found.append({"model": model, kind: name, "mark": None if mark == NOT_MARKED else mark})
    return found


def _counts(row: Mapping[str, Any]) -> bool:
    return row["scale"] is not None or not row["metric"]

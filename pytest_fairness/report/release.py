"""From the thresholds of a model to one word on its release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_fairness.stats.multiplicity import holm

STATES = ("fair", "unfair", "undecided", "invalid")


def corrected(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows with ``p_holm``: Holm's correction of ``p_value`` over the thresholds of their model.

    A threshold that gave no p-value counts as one of them all the same.
    """
    found: dict[int, float] = {}
    for model in dict.fromkeys(row["model"] for row in rows):
        places = [place for place, row in enumerate(rows) if row["model"] == model]
        p_values = [1.0 if rows[place]["p_value"] is None else rows[place]["p_value"] for place in places]
        found |= dict(zip(places, holm(p_values), strict=True))
    return [{**row, "p_holm": None if row["p_value"] is None else found[place]} for place, row in enumerate(rows)]


def release(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One verdict per model on all of its thresholds; ``rows`` are corrected.

    Fair where every threshold is: no correction is needed, all must hold. Unfair where one
    is unfair after Holm's correction. Else not decided, or invalid where something could
    not be measured.
    """
    found = []
    for model in dict.fromkeys(row["model"] for row in rows):
        of = [row for row in rows if row["model"] == model]
        counts = {state: sum(row["verdict"] == state for row in of) for state in STATES}
        sure = sum(row["verdict"] == "unfair" and _holds(row) for row in of)
        if counts["fair"] == len(of):
            verdict = "fair"
        elif sure:
            verdict = "unfair"
        else:
            verdict = "invalid" if counts["invalid"] else "undecided"
        found.append({"model": model, "verdict": verdict, **counts, "unfair_after_holm": sure})
    return found


def sentence(line: Mapping[str, Any]) -> str:
    """``release: unfair (3 thresholds: 1 fair, 2 unfair (1 after Holm's correction))``."""
    return f"release: {line['verdict']} ({counts(line)})"


def counts(line: Mapping[str, Any]) -> str:
    """``3 thresholds: 1 fair, 2 unfair (1 after Holm's correction)``."""
    total = sum(line[state] for state in STATES)
    holm = f" ({line['unfair_after_holm']} after Holm's correction)"
    parts = [f"{line[state]} {state}{holm if state == 'unfair' else ''}" for state in STATES if line[state]]
    return f"{total} threshold{'s' if total != 1 else ''}: {', '.join(parts)}"


def _holds(row: Mapping[str, Any]) -> bool:
    return row["p_holm"] is not None and row["p_holm"] <= row["risk"]

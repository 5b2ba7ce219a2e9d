"""What earlier runs said of a threshold."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_fairness.core.comparisons import Comparison
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.verdicts import Judgement
from pytest_fairness.session.measuring import LazyMeasured


@dataclass(frozen=True, slots=True)
class History:
    """The runs of a threshold that asked what this one asks, this one last."""

    runs: int
    """Those with answers of their own: at most half came from the store."""
    outside: int
    """Those of them whose point lay outside the bounds."""

    def exceeds(self, largest: float) -> float:
        """Probability that more than this share of runs falls outside."""
        from pytest_fairness.stats.flakiness import rate_exceeds

        return rate_exceeds(self.outside, self.runs, largest)


def read_history(test: str, judgement: Judgement, measured: LazyMeasured) -> History:
    """Of the same metric, slice and bounds on the same model: another question has another history."""
    from pytest_fairness.stats.flakiness import is_outside

    if judgement.deciding is None:
        return History(0, 0)
    about = judgement.about_deciding
    this = question(judgement.deciding.estimate, about) | {
        "model": measured.subject.name, "estimate": judgement.deciding.estimate.value, "sample": measured.counts,
    }  # fmt: skip
    alike = [row for row in [*measured.earlier(test), this] if _same(row, this) and _is_new(row)]
    bounds = [(comparison.op, comparison.bound) for comparison in about]
    outside = sum(row["estimate"] is None or is_outside(row["estimate"], bounds) for row in alike)
    return History(len(alike), outside)


def question(estimate: Estimate, comparisons: Sequence[Comparison]) -> dict[str, Any]:
    """What a threshold asks, as its row of the results file has it."""
    return {
        "metric": estimate.metric,
        "slice": {str(name): str(value) for name, value in estimate.slice.items()},
        "comparisons": [{"op": c.op, "bound": c.bound} for c in comparisons],
    }


def undeclared_look(test: str, measured: LazyMeasured) -> str:
    """Why nothing good may be said on this sample: it extends one that an earlier run left open. Empty where none did.

    Evidence that is added because a verdict was undecided errs more often than promised.
    Looks that were declared in both runs alike are accounted for.
    """
    now = measured.keys()
    for row in measured.earlier(test):
        made = (row.get("sample") or {}).get("fairness_attempts", 0)
        if row["verdict"] == "fair" or row["model"] != measured.subject.name or not 0 < made < len(now):
            continue
        looks = row.get("looks") or {}
        same = looks.get("of") == measured.look.of and looks.get("first") == measured.first_attempts
        if measured.look.of > 1 and same:
            continue
        before = measured.keys_of(row["run"])
        if before and before < now:
            day = time.strftime("%Y-%m-%d", time.gmtime(row["started"]))
            return (
                f"its sample adds to that of run {row['run'][:8]} ({day}), which left it {row['verdict']}: "
                "looks that were not declared err more often than promised; measure a new sample "
                "(--fairness-fresh), and declare looks before the first (--fairness-resolve)"
            )
    return ""


def _same(row: Mapping[str, Any], this: Mapping[str, Any]) -> bool:
    bounds = [{"op": c["op"], "bound": c["bound"]} for c in row["comparisons"]]
    return bounds == this["comparisons"] and all(row[name] == this[name] for name in ("metric", "slice", "model"))


def _is_new(row: Mapping[str, Any]) -> bool:
    counts = row.get("sample") or {}
    return bool(counts) and 2 * counts["fairness_from_store"] <= counts["fairness_attempts"]

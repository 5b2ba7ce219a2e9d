"""Earlier verdicts on a threshold, and how many runs have judged it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_fairness.core.comparisons import Comparison
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.keys import digest
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


@dataclass(frozen=True, slots=True)
class JudgedRuns:
    """The runs that have judged a threshold on a model, up to this one."""

    number: int
    """Of this run, from 1: a run on the same answers against the same bounds has the number of the first."""
    identity: str
    """What this run judges: its answers and its question."""
    model: str
    """A digest of the model that the runs are counted over."""
    verdicts: Mapping[str, int]
    """How many of the earlier runs came to which verdict."""
    bounds: str
    """What the last run on other bounds asked for, in words; empty where all had the same."""
    unversioned: bool
    """Whether the model is an application that does not say when it changes."""
    sequence: str = ""
    """What runs share whose samples may grow from one to the next; empty where intervals do not allow it."""

    @classmethod
    def of(cls, test: str, measured: LazyMeasured, judgement: Judgement) -> JudgedRuns:
        """Count the runs of a threshold that has been judged on the sample of its first look."""
        model = digest(measured.lifetime)
        question = [asked(judgement), sorted(measured.fingerprints.items()), measured.tail, measured.look.anytime]
        identity = digest(json.dumps([measured.answers, *question, measured.look.plan]))
        earlier: dict[str, dict[str, Any]] = {}
        for row in measured.judgments(test):
            looks = row.get("looks") or {}
            if row["verdict"] in _JUDGED and _is_counted(row, measured.subject.name, model):
                earlier.setdefault(looks.get("identity") or row["run"], row)
        earlier.pop(TRYOUT, None)
        sequence = _sequence(question, measured)
        grown = [row for row in earlier.values() if sequence and _is_extended(row, sequence, measured)]
        if identity in earlier:
            number = earlier[identity]["looks"]["run"]
        elif grown:
            number = max(row["looks"]["run"] for row in grown)
        else:
            # Sessions of a run with a fixed id share one row: the last of them says how many there were.
            number = 1 + max([len(earlier), *((row.get("looks") or {}).get("run", 1) for row in earlier.values())])
        before = [row for row in earlier.values() if (row.get("looks") or {}).get("run", 1) < number]
        verdicts = {name: sum(row["verdict"] == name for row in before) for name in _JUDGED}
        return cls(
            number, identity, model, verdicts, _other_bounds(before, judgement), bool(measured.unversioned), sequence
        )

    def row(self) -> dict[str, Any]:
        """As the results file has it."""
        return {
            "run": self.number, "identity": self.identity, "model": self.model, "earlier": dict(self.verdicts),
            "other_bounds": self.bounds, "unversioned": self.unversioned, "sequence": self.sequence,
        }  # fmt: skip


TRYOUT = "try-out"
"""The identity of a run that is none of a threshold's looks: its sample was too small."""
_JUDGED = ("fair", "unfair", "undecided")


def asked(judgement: Judgement) -> list[str]:
    """Return each condition that a threshold checks, with the bound it is held against."""
    needs = judgement.dependence.needs if judgement.dependence else {}
    own = [(each.estimate.metric, each.bound) for each in judgement.comparisons if each.instead_of is not None]
    return [*sorted(needs), *map(str, sorted(own))]


def _sequence(question: list[Any], measured: LazyMeasured) -> str:
    """What the runs have in common whose samples are one sequence; a slice, or other repetitions, make another."""
    if measured.look.anytime is None:
        return ""
    return digest(json.dumps([question, measured.probe.chosen, measured.look.size.repetitions]))


def _is_extended(row: Mapping[str, Any], sequence: str, measured: LazyMeasured) -> bool:
    return row["looks"].get("sequence") == sequence and measured.extends(row["run"])


def _is_counted(row: Mapping[str, Any], name: str, model: str) -> bool:
    looks = row.get("looks") or {}
    if "run" in looks:
        return looks.get("model") == model
    return row["model"] == name and _is_new(row)  # of version 0.1


def _other_bounds(earlier: Sequence[Mapping[str, Any]], judgement: Judgement) -> str:
    """``>= 0.8 when run 45aaa716 called it unfair``, of the last run that compared its metric with other bounds."""
    now = [(c.op, c.bound) for c in judgement.about_deciding]
    metric = judgement.deciding.estimate.metric if judgement.deciding else None
    for row in reversed(earlier):
        then = [(c["op"], c["bound"]) for c in row["comparisons"]]
        if row["metric"] == metric and then != now:
            shown = " and ".join(f"{op} {bound:g}" for op, bound in then)
            return f"{shown} when run {row['run'][:8]} called it {row['verdict']}"
    return ""


def _same(row: Mapping[str, Any], this: Mapping[str, Any]) -> bool:
    bounds = [{"op": c["op"], "bound": c["bound"]} for c in row["comparisons"]]
    return bounds == this["comparisons"] and all(row[name] == this[name] for name in ("metric", "slice", "model"))


def _is_new(row: Mapping[str, Any]) -> bool:
    counts = row.get("sample") or {}
    return bool(counts) and 2 * counts["fairness_from_store"] <= counts["fairness_attempts"]

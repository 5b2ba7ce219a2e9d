"""Earlier verdicts on a threshold, and how many runs have judged it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_fairness.core.digests import digest
from pytest_fairness.core.results import ComparisonResult, LooksResult, PastResult, ThresholdResult
from pytest_fairness.core.verdicts import Judgment
from pytest_fairness.plugin.measurement import LazyMeasured


@dataclass(frozen=True, slots=True)
class History:
    """The runs of a threshold that asked what this one asks, this one last."""

    runs: int
    """Those with answers of their own: at most half came from the store."""
    outside: int
    """Those of them whose point lay outside the bounds."""

    def exceeds(self, largest: float) -> float:
        """Probability that more than this share of runs falls outside."""
        from pytest_fairness.stats.flip_probability import rate_exceeds

        return rate_exceeds(self.outside, self.runs, largest)


def read_history(test: str, judgment: Judgment, measured: LazyMeasured) -> History:
    """Read the runs of the same metric, slice and bounds on the same model: another question has another history."""
    from pytest_fairness.stats.flip_probability import is_outside

    if judgment.deciding is None:
        return History(0, 0)
    about = judgment.about_deciding
    comparisons = [ComparisonResult(op=c.op, bound=c.bound) for c in about]
    this = ThresholdResult.of(
        judgment.deciding.estimate,
        id=test,
        model=measured.subject.name,
        sample=measured.counts,
        comparisons=comparisons,
    )
    results = [*(past.result for past in measured.earlier(test)), this]
    alike = [result for result in results if question(result) == question(this) and _is_new(result)]
    bounds = [(comparison.op, comparison.bound) for comparison in about]
    outside = sum(result.estimate is None or is_outside(result.estimate, bounds) for result in alike)
    return History(len(alike), outside)


def question(result: ThresholdResult) -> tuple[object, ...]:
    """Return what a threshold asks: of which model, which metric of which slice, against which bounds."""
    return result.model, result.metric, result.slice, [(c.op, c.bound) for c in result.comparisons]


@dataclass(frozen=True, slots=True)
class JudgedRuns:
    """The runs that have judged a threshold on a model, up to this one."""

    number: int
    """Number of this run, from 1: a run on the same answers against the same bounds has the number of the first."""
    identity: str
    """Digest of what this run judges: its answers and its question."""
    model: str
    """A digest of the model that the runs are counted over."""
    verdicts: Mapping[str, int]
    """Number of earlier runs by verdict."""
    bounds: str
    """Bounds of the last run on others, in words; empty where all had the same."""
    unversioned: bool
    """Whether the model is an application that does not say when it changes."""
    sequence: str = ""
    """Digest that runs share whose samples may grow from one to the next; empty where intervals do not allow it."""

    @classmethod
    def of(cls, test: str, measured: LazyMeasured, judgment: Judgment) -> JudgedRuns:
        """Count the runs of a threshold that has been judged on the sample of its first look."""
        model = digest(measured.lifetime)
        question = [
            conditions_of(judgment),
            sorted(measured.fingerprints.items()),
            measured.tail,
            measured.look.anytime,
        ]
        identity = digest(json.dumps([measured.answers, *question, measured.look.plan]))
        earlier: dict[str, PastResult] = {}
        for past in measured.judgments(test):
            if past.result.verdict in _JUDGED and _is_counted(past.result, measured.subject.name, model):
                earlier.setdefault(_looks(past).identity or past.run, past)
        earlier.pop(TRYOUT, None)
        sequence = _sequence(question, measured)
        grown = [past for past in earlier.values() if sequence and _is_extended(past, sequence, measured)]
        if identity in earlier:
            number = _looks(earlier[identity]).run
        elif grown:
            number = max(_looks(past).run for past in grown)
        else:
            # Sessions of a run with a fixed id share one row: the last of them says how many there were.
            number = 1 + max([len(earlier), *(_looks(past).run for past in earlier.values())])
        before = [past for past in earlier.values() if _looks(past).run < number]
        verdicts = {name: sum(past.result.verdict == name for past in before) for name in _JUDGED}
        return cls(
            number, identity, model, verdicts, _other_bounds(before, judgment), bool(measured.unversioned), sequence
        )

    def looks(self, looks: LooksResult) -> LooksResult:
        """Return the looks of a result with the runs before this one."""
        return replace(
            looks,
            run=self.number,
            identity=self.identity,
            model=self.model,
            earlier=dict(self.verdicts),
            other_bounds=self.bounds,
            unversioned=self.unversioned,
            sequence=self.sequence,
        )


TRYOUT = "try-out"
"""The identity of a run that is none of a threshold's looks: its sample was too small."""
_JUDGED = ("fair", "unfair", "undecided")


def conditions_of(judgment: Judgment) -> list[str]:
    """Return each condition that a threshold checks, with the bound it is held against."""
    needs = judgment.dependence.needs if judgment.dependence else {}
    own = [
        (comparison.estimate.metric, comparison.bound)
        for comparison in judgment.comparisons
        if comparison.instead_of is not None
    ]
    return [*sorted(needs), *map(str, sorted(own))]


def _sequence(question: list[Any], measured: LazyMeasured) -> str:
    """Return a digest of what runs of one growing sample share; a slice, or other repetitions, make another."""
    if measured.look.anytime is None:
        return ""
    return digest(json.dumps([question, measured.probe.chosen, measured.look.size.repetitions]))


def _looks(past: PastResult) -> LooksResult:
    return past.result.looks or LooksResult()


def _is_extended(past: PastResult, sequence: str, measured: LazyMeasured) -> bool:
    return _looks(past).sequence == sequence and measured.extends(past.run)


def _is_counted(result: ThresholdResult, name: str, model: str) -> bool:
    if result.looks is not None and result.looks.model:
        return result.looks.model == model
    return result.model == name and _is_new(result)  # of version 0.1


def _other_bounds(earlier: Sequence[PastResult], judgment: Judgment) -> str:
    """``>= 0.8 when run 45aaa716 called it unfair``, of the last run that compared its metric with other bounds."""
    now = [(c.op, c.bound) for c in judgment.about_deciding]
    metric = judgment.deciding.estimate.metric if judgment.deciding else None
    for past in reversed(earlier):
        then = [(c.op, c.bound) for c in past.result.comparisons]
        if past.result.metric == metric and then != now:
            shown = " and ".join(f"{op} {bound:g}" for op, bound in then)
            return f"{shown} when run {past.run[:8]} called it {past.result.verdict}"
    return ""


def _is_new(result: ThresholdResult) -> bool:
    return result.sample is not None and 2 * result.sample.from_store <= result.sample.attempts

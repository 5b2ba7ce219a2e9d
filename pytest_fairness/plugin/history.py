"""Earlier verdicts on a threshold, and how many runs have judged it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pytest_fairness.core.digests import digest
from pytest_fairness.core.results import TRYOUT, ComparisonResult, LooksResult, PastResult, ThresholdResult
from pytest_fairness.core.verdicts import Judgment
from pytest_fairness.plugin.measurement import LazyMeasured

if TYPE_CHECKING:
    from pytest_fairness.store.looks import StoredLook


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

    look: StoredLook
    """This one: on the same answers and against the same bounds as an earlier run it has the number of that."""
    verdicts: Mapping[str, int]
    """Number of earlier runs by verdict; one that judges at this moment, or was killed, is unfinished."""
    bounds: str
    """Bounds of the last run on others, in words; empty where all had the same."""
    unversioned: bool
    """Whether the model is an application without a version."""

    @classmethod
    def take(cls, test: str, measured: LazyMeasured, judgment: Judgment) -> JudgedRuns:
        """Record that a threshold has been judged on the sample of its first look, and count the runs before.

        Runs of older versions are known by their results alone.
        """
        model = digest(measured.lifetime)
        question = [
            format_conditions(judgment),
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
        results = [_stored(key, past) for key, past in earlier.items()]
        look, others = measured.take_look(test, model, identity, _sequence(question, measured), results)
        verdicts = dict.fromkeys(_JUDGED, 0)
        runs = {other.session: other for other in others if other.number < look.number}
        for run in runs.values():
            verdict = run.verdict or UNFINISHED
            verdicts[verdict] = verdicts.get(verdict, 0) + 1
        before = [past for past in earlier.values() if _looks(past).run < look.number]
        return cls(look, verdicts, _other_bounds(before, judgment), bool(measured.unversioned))

    def looks(self, looks: LooksResult) -> LooksResult:
        """Return the looks of a result with the runs before this one."""
        return replace(
            looks,
            run=self.look.number,
            identity=self.look.identity,
            model=self.look.model,
            earlier=dict(self.verdicts),
            other_bounds=self.bounds,
            unversioned=self.unversioned,
            sequence=self.look.sequence,
        )


UNFINISHED = "unfinished"
"""A run that has judged a threshold and come to no verdict yet, or never will."""
_JUDGED = ("fair", "unfair", "undecided")


def format_conditions(judgment: Judgment) -> list[str]:
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


def _stored(identity: str, past: PastResult) -> StoredLook:
    from pytest_fairness.store.looks import StoredLook

    looks = _looks(past)
    return StoredLook(
        test=past.result.id,
        probe=past.result.probe,
        model=looks.model,
        identity=identity,
        run=past.run,
        session=identity,  # unknown, and another one of each
        sequence=looks.sequence,
        number=looks.run,
        verdict=past.result.verdict,
    )


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

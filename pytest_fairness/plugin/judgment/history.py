"""Earlier verdicts on a threshold, and the number of runs that have judged it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING

from pytest_fairness.core import json_text as json
from pytest_fairness.core.decisions import OPERATORS
from pytest_fairness.core.digests import digest
from pytest_fairness.core.formatting import format_bound
from pytest_fairness.core.history_results import EarlierVerdict, HistoryResult
from pytest_fairness.core.metric_kind import MetricKind
from pytest_fairness.core.threshold_results import LooksResult, PastResult, ThresholdResult
from pytest_fairness.core.verdicts import Judgment
from pytest_fairness.plugin.samples.measurement import LazyMeasured

if TYPE_CHECKING:
    from pytest_fairness.stats.threshold_judgment import ThresholdDesign
    from pytest_fairness.store.looks import StoredLook

PRIOR = (1.0, 4.0)
"""Parameters of the beta prior of the rate at which runs fall outside their bounds: its mean is 0.2."""


@dataclass(frozen=True, slots=True)
class History:
    """The runs of a threshold with the same metric, slice, bounds and model, including the current one."""

    runs: int
    """The number of runs with new answers: at most half came from the store."""
    outside: int
    """The number of these runs whose estimate was outside the bounds."""

    def exceeds(self, share: float) -> float:
        """Return the probability that more than a share of runs is outside.

        The posterior of the rate under a Beta(1, 4) prior is Beta(1 + outside, 4 + runs - outside).

        >>> round(History(runs=0, outside=0).exceeds(0.2), 3), round(History(runs=6, outside=4).exceeds(0.2), 3)
        (0.41, 0.967)
        """
        from scipy.special import betainc  # type: ignore[import-untyped]

        successes, failures = PRIOR
        return float(1 - betainc(successes + self.outside, failures + self.runs - self.outside, share))


def read_history(result: ThresholdResult, earlier: Sequence[PastResult]) -> History:
    """Return the history of a threshold with the metric, slice, bounds and model of its current result."""
    if not result.comparisons:
        return History(0, 0)
    identity = question_identity(result)
    results = [*(past.result for past in earlier), result]
    comparable = [other for other in results if question_identity(other) == identity and _has_new_answers(other)]
    inside = sum(
        other.estimate.value is not None
        and all(OPERATORS[comparison.op](other.estimate.value, comparison.bound) for comparison in result.comparisons)
        for other in comparable
    )
    return History(len(comparable), len(comparable) - inside)


def history_result(result: ThresholdResult, history: History, earlier: Sequence[PastResult]) -> HistoryResult:
    """Return the history of a threshold as its result has it, from the earlier runs of a sample like its own."""
    from pytest_fairness.report.history.series import changes, day_of

    judged = [
        past
        for past in earlier
        if _is_of_same_model(past.result, result)
        and past.result.verdict in (*_JUDGED, "invalid")
        and list(past.result.restricted) == list(result.restricted)
    ]
    alike = list(takewhile(lambda past: past.result.verdict == result.verdict, reversed(judged)))
    other = judged[-1 - len(alike)] if len(judged) > len(alike) else None
    before = None
    if other is not None:
        row = other.result
        mark, value = row.estimate.mark, row.estimate.value
        before = EarlierVerdict(run=other.run, day=day_of(other), verdict=row.verdict, mark=mark, value=value)
    return HistoryResult(
        runs=history.runs,
        outside=history.outside,
        # A rerun on stored answers is no run more: test_stored_answers_are_no_new_evidence
        alike=max(1, sum(map(_has_new_answers, [result, *(past.result for past in alike)]))),
        since=day_of(alike[-1]) if alike else "",
        before=before,
        last=judged[-1].result.estimate.value if judged else None,
        changes=[change.what for change in changes(judged[-1].result, result)] if judged else [],
    )


def _is_of_same_model(past: ThresholdResult, result: ThresholdResult) -> bool:
    """Return whether two results are of one model, or of one alias, behind which a release may change its model."""
    return past.model == result.model or (past.alias == result.alias != "")


def question_identity(result: ThresholdResult) -> tuple[object, ...]:
    """Return model, metric, slice and bounds of a threshold, which two runs must share to have one history."""
    bounds = [(comparison.op, comparison.bound) for comparison in result.comparisons]
    return result.model, result.estimate.metric, result.estimate.slice, bounds


@dataclass(frozen=True, slots=True)
class JudgedRuns:
    """The runs that have judged a threshold on a model, up to the current one."""

    look: StoredLook
    """The current look; with the answers and bounds of an earlier run it has the number of that run."""
    verdicts: Mapping[str, int]
    """The number of earlier runs by verdict; one that is running, or was killed, is unfinished."""
    bounds: str
    """The different bounds of the last such run, in words; empty if all had the same."""
    graders: str
    """The grades whose graders were others in the last such run, in words; empty for none."""
    unversioned: bool
    """Whether the model is an application without a version."""
    results: Sequence[PastResult] = ()
    """The results of runs that began before the current one, whatever they asked, oldest first."""

    @classmethod
    def record(
        cls, test: str, measured: LazyMeasured, judgment: Judgment, design: ThresholdDesign, baseline: str
    ) -> JudgedRuns:
        """Store that a threshold was judged on the sample of its first look, and count the runs before.

        Runs of older versions are counted from their results.

        Args:
            test: The id of its test.
            measured: The sample.
            judgment: Its judgment.
            design: What it declares besides its test, which is part of the question.
            baseline: A digest of the answers of another run that it is compared with; empty for none.
        """
        model = digest(measured.lifetime)
        compared = [comparison.estimate for comparison in judgment.comparisons]
        question = [
            format_conditions(judgment),
            sorted(measured.fingerprints.items()),
            measured.tail,
            *([repr(design)] if design != type(design)() else []),
            *([baseline] if baseline else []),
            # `test_another_analysis_of_the_same_answers_is_another_run`: a function may change under its name.
            *sorted({f"{one.value:.6g}" for one in compared if one.kind is MetricKind.CUSTOM}),
            *([crossed] if (crossed := measured.arguments.get("crossed")) else []),
        ]
        identity = digest(json.dumps([measured.answers, *question, measured.look.plan]))
        earlier: dict[str, PastResult] = {}
        judgments = measured.judgments(test)
        for past in judgments:
            if past.result.verdict in _JUDGED and _counts_for_model(past.result, measured.subject.name, model):
                earlier.setdefault(_get_looks(past).identity or past.run, past)
        earlier.pop("try-out", None)  # which earlier versions did not count
        results = [_make_stored_look(key, past) for key, past in earlier.items()]
        look, others = measured.take_look(test, model, identity, results)
        verdicts = dict.fromkeys(_JUDGED, 0)
        runs = {other.session: other for other in others if other.number < look.number}
        for run in runs.values():
            verdict = run.verdict or UNFINISHED
            verdicts[verdict] = verdicts.get(verdict, 0) + 1
        before = [past for past in earlier.values() if _get_looks(past).run < look.number]
        bounds = _other_bounds(before, judgment)
        graders = _other_graders(before, measured.fingerprints)
        return cls(look, verdicts, bounds, graders, bool(measured.unversioned), measured.before(judgments))

    def looks(self, looks: LooksResult) -> LooksResult:
        """Return the looks of a result, with the runs before the current one."""
        return replace(
            looks,
            run=self.look.number,
            identity=self.look.identity,
            model=self.look.model,
            earlier=dict(self.verdicts),
            other_bounds=self.bounds,
            other_graders=self.graders,
            unversioned=self.unversioned,
        )


UNFINISHED = "unfinished"
"""The verdict of a run that has not finished judging a threshold."""
_JUDGED = ("fair", "unfair", "undecided")


def format_conditions(judgment: Judgment) -> list[str]:
    """Return the conditions that a threshold checks, with their bounds."""
    needs = judgment.dependence.needs if judgment.dependence else {}
    replaced = [
        (comparison.estimate.metric, comparison.bound)
        for comparison in judgment.comparisons
        if comparison.instead_of is not None
    ]
    return [*sorted(needs), *map(str, sorted(replaced))]


def _get_looks(past: PastResult) -> LooksResult:
    return past.result.looks or LooksResult()


def _make_stored_look(identity: str, past: PastResult) -> StoredLook:
    from pytest_fairness.store.looks import StoredLook

    looks = _get_looks(past)
    return StoredLook(
        test=past.result.stored_id,
        probe=past.result.probe,
        model=looks.model,
        identity=identity,
        run=past.run,
        session=identity,  # not known: a session of its own
        number=looks.run,
        verdict=past.result.verdict,
    )


def _counts_for_model(result: ThresholdResult, name: str, model: str) -> bool:
    if result.looks is not None and result.looks.model:
        return result.looks.model == model
    return result.model == name and _has_new_answers(result)  # written by version 0.1


def _other_bounds(earlier: Sequence[PastResult], judgment: Judgment) -> str:
    """Return the last run that compared the metric with other bounds: ``>= 0.8 when run 45aaa716 called it unfair``."""
    current_bounds = [(comparison.op, comparison.bound) for comparison in judgment.about_deciding]
    metric = judgment.deciding.estimate.metric if judgment.deciding else None
    for past in reversed(earlier):
        past_bounds = [(comparison.op, comparison.bound) for comparison in past.result.comparisons]
        if past.result.estimate.metric == metric and past_bounds != current_bounds:
            bounds = " and ".join(f"{op} {format_bound(bound)}" for op, bound in past_bounds)
            return f"{bounds} when run {past.run[:8]} called it {past.result.verdict}"
    return ""


def _other_graders(earlier: Sequence[PastResult], graders: Mapping[str, str | None]) -> str:
    """Return the grades that the last run had from other graders: ``hired since run 45aaa716 called it fair``."""
    if not earlier or not earlier[-1].result.graders:  # a run that an older version wrote has none
        return ""
    past = earlier[-1]
    changed = [name for name, grader in sorted(past.result.graders.items()) if graders.get(name, grader) != grader]
    return f"{', '.join(changed)} since run {past.run[:8]} called it {past.result.verdict}" if changed else ""


def _has_new_answers(result: ThresholdResult) -> bool:
    return result.sample is not None and 2 * result.sample.from_store <= result.sample.attempts

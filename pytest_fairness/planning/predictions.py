"""Predictions of a threshold's verdict before a run, by its test on simulated samples."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING

from pytest_fairness.core.decisions import Verdict
from pytest_fairness.core.dry_run_results import (
    DrawnSample,
    NeededLabels,
    NeededSample,
    PlannedThreshold,
    ScenarioResult,
)
from pytest_fairness.core.formatting import format_subject
from pytest_fairness.core.limits import LimitKind
from pytest_fairness.core.messages import limit_text
from pytest_fairness.core.verdicts import Judgment
from pytest_fairness.planning.forecasts import Forecast
from pytest_fairness.planning.protocols import SimulatedRuns, Threshold
from pytest_fairness.stats.threshold_judgment import count_quiet

if TYPE_CHECKING:
    from pytest_fairness.core.dependence import Dependence
    from pytest_fairness.stats.measured import Measured
    from pytest_fairness.stats.simulation import Gap

DRAWS = 200
"""Samples for each truth; fewer if they are large or take long."""
FEWEST_DRAWS = 8
"""The fewest samples for each truth."""
MOST_ATTEMPTS = 400_000
"""The most attempts in all samples of one truth."""
LARGEST = 10_000
"""The most attempts of a sample that is simulated to find the needed number of items."""
SECONDS = 8.0
"""CPU seconds for the samples of all thresholds of a plan, but for the fewest of each truth."""
PRECISION = 0.05
"""The distance to the ends of a share's interval at which no more samples are drawn."""
TRUTHS = 4
"""The truths of a threshold, between which its seconds are divided."""
FEWEST_SOURCES = 5
"""The fewest sources of a sample; with fewer the variance between them is not known."""
ROUNDS = 4
"""The most rounds of simulation to find the needed number of items."""
NEAR = 0.1
"""The distance to the intended probability at which the correction ends."""
DRAWN_SHARE = 0.3
"""The number of samples of drawn answers, as a share of `DRAWS`."""
_INFORMATIVE = (0.1, 0.97)
"""The range of shares of fair in which simulation corrects the normal approximation."""


@dataclass(frozen=True, slots=True)
class SimulatedVerdicts:
    """The verdicts of a threshold on simulated samples of one truth."""

    judgments: Sequence[Judgment]
    attempts: float
    """The mean number of attempts up to the last look."""

    def share(self, verdict: Verdict) -> float:
        """Return the share of the samples with this verdict."""
        return sum(judgment.verdict is verdict for judgment in self.judgments) / len(self.judgments)

    def clipped_share(self, verdict: Verdict) -> float:
        """Return the share, limited to a range without 0 and 1, which so few samples cannot show."""
        edge = 0.5 / len(self.judgments)
        return min(max(self.share(verdict), edge), 1 - edge)

    def scenario(self, truth: str) -> ScenarioResult:
        """Return the shares of verdicts for the results file."""
        shares = {verdict.value: self.share(verdict) for verdict in Verdict}
        return ScenarioResult(truth=truth, draws=len(self.judgments), attempts=self.attempts, **shares)


def predict(threshold: Threshold, row: PlannedThreshold, runs: SimulatedRuns, seconds: float) -> PlannedThreshold:
    """Return the row of a threshold with its prediction.

    Args:
        threshold: The threshold.
        row: The row, still without a prediction.
        runs: The simulated runs of its probe.
        seconds: The CPU seconds for its samples, but for the fewest of each truth.
    """
    deadline = time.process_time() + seconds
    planned = _simulate_looks(threshold, runs, seconds)
    mistake = next((judgment.mistake for judgment in planned.judgments if judgment.mistake), "")
    if mistake:
        return replace(row, cannot_pass=mistake)
    pilot = runs.measured_pilot()
    forecast = Forecast.from_judgments(planned.judgments, None if pilot is None else threshold.judge(pilot))
    scenarios = [planned.scenario("as in the pilot" if runs.has_pilot else "parity")]
    gap = None if runs.has_pilot or forecast is None else forecast.gap()
    if gap is not None:
        with_gap = _simulate_looks(threshold, runs, seconds, gap)
        scenarios.append(with_gap.scenario(f"{gap.group} at {gap.ratio:.2g} times"))
    cannot_pass = "" if planned.share(Verdict.FAIR) else explain_never_fair(threshold, runs)
    levels = "" if cannot_pass else _limiting_levels(planned.judgments)
    needed = None if cannot_pass or levels else _find_needed_sample(threshold, runs, forecast, planned, deadline)
    return replace(
        row,
        cannot_pass=cannot_pass,
        scenarios=scenarios,
        fair_draws="".join("01"[judgment.verdict is Verdict.FAIR] for judgment in planned.judgments),
        needed=needed,
        labels=_find_needed_labels(threshold, runs, forecast),
        drawn=None if needed is None else _find_needed_drawn_sample(threshold, runs, seconds),
        detectable=None if forecast is None else forecast.detectable(),
        narrow=levels or ("" if forecast is None else forecast.narrow_band()),
    )


def _limiting_levels(judgments: Sequence[Judgment]) -> str:
    """Return what limits most of the undecided runs, where that is the levels of a crossed factor; else an empty text.

    Then no number of items makes it fair in 80% of runs, and simulations of more items would show nothing else.
    """
    from pytest_fairness.stats.limits import with_limit
    from pytest_fairness.stats.power import POWER

    undecided = [judgment for judgment in judgments if judgment.verdict is Verdict.UNDECIDED]
    if len(undecided) < (1 - POWER) * len(judgments):
        return ""
    limits = [limit for judgment in undecided if (limit := with_limit(judgment).limit) is not None]
    by_levels = sorted(
        (limit for limit in limits if limit.kind == LimitKind.LEVELS), key=lambda limit: limit.needs or 0
    )
    return limit_text(by_levels[len(by_levels) // 2]) if 2 * len(by_levels) > len(undecided) else ""


def _find_needed_labels(threshold: Threshold, runs: SimulatedRuns, forecast: Forecast | None) -> NeededLabels | None:
    labeled = runs.labeled_pilot() if forecast is not None else None
    return None if forecast is None or labeled is None else forecast.labels_needed(threshold.judge(labeled))


def _simulate_looks(
    threshold: Threshold, runs: SimulatedRuns, seconds: float, gap: Gap | None = None
) -> SimulatedVerdicts:
    """Return the verdicts of a threshold at the look that decides it, or at the last planned look."""

    judge = SampleJudge(threshold)

    def judge_looks(number: int) -> tuple[Judgment, int]:
        for look in runs.draw_looks(number, gap):
            strict_tail, attempts, sample = look
            judgment = judge(sample, strict_tail)
            if judgment.verdict is not Verdict.UNDECIDED:
                break
        return judgment, attempts

    return _simulate(judge_looks, runs.most_attempts, seconds)


def _simulate_single_look(
    threshold: Threshold, draw: Callable[[int], Measured], attempts: float, seconds: float, share: float
) -> SimulatedVerdicts:
    """Return the verdicts of a threshold on runs with one look."""
    judge = SampleJudge(threshold)
    return _simulate(lambda number: (judge(draw(number)), attempts), attempts, seconds, share)


def _simulate(
    judge: Callable[[int], tuple[Judgment, float]],
    attempts: float,
    seconds: float,
    share: float = 1,
) -> SimulatedVerdicts:
    deadline = math.inf
    draws = min(int(DRAWS * share), max(FEWEST_DRAWS, int(MOST_ATTEMPTS / attempts)))
    judgments: list[Judgment] = []
    attempt_counts: list[float] = []
    for number in range(draws):
        judgment, attempt_count = judge(number)
        judgments.append(judgment)
        attempt_counts.append(attempt_count)
        if number == 0:  # which imports what the others use, and finds what the test depends on
            deadline = time.process_time() + seconds / TRUTHS
        if len(judgments) >= FEWEST_DRAWS and (time.process_time() > deadline or _is_precise(judgments)):
            break
    return SimulatedVerdicts(judgments, fmean(attempt_counts))


def _is_precise(judgments: Sequence[Judgment]) -> bool:
    """Return whether the share of every verdict is known to within `PRECISION` (Wilson 1927, 95%)."""
    number, square = len(judgments), 1.96**2
    for count in Counter(judgment.verdict for judgment in judgments).values():
        share = count / number
        middle = (count + square / 2) / (number + square)
        half = math.sqrt(number * share * (1 - share) * square + square**2 / 4) / (number + square)
        if abs(middle - share) + half > PRECISION:
            return False
    return True


class SampleJudge:
    """A threshold's judge on samples of one truth and size, which stops to judge slices that cannot have a veto.

    Args:
        threshold: The threshold.
        dependence: The estimates that it depends on, where they are known.
        all_slices: Whether all slices are judged in every sample.
    """

    def __init__(self, threshold: Threshold, dependence: Dependence | None = None, *, all_slices: bool = False) -> None:
        self._threshold, self._dependence, self._all_slices = threshold, dependence, all_slices
        self._design = threshold.design

    def __call__(self, sample: Measured, strict_tail: float | None = None) -> Judgment:
        """Return the judgment of the threshold on a sample."""
        judgment = self._threshold.judge(sample, self._dependence, strict_tail, reports=False, design=self._design)
        self._dependence = judgment.dependence or self._dependence
        if judgment.slices and not self._all_slices:
            self._design = replace(self._design, quiet=count_quiet(judgment))
        return judgment


def explain_never_fair(threshold: Threshold, runs: SimulatedRuns) -> str:
    """Return the reason why no data would make a threshold fair; empty if some might, or if that is not known.

    The best answers of a model treat all groups alike, without variation. A threshold that is undecided or invalid with
    them has too small a sample or too strict bounds; one that is unfair with them is about something else than parity.
    """
    from pytest_fairness.stats.limits import with_limit

    judgments = []
    for sample in runs.favorable():
        judgments.append(threshold.judge(sample, reports=False))
        if judgments[-1].verdict is Verdict.FAIR:
            return ""
    undecided = [
        judgment for judgment in judgments if judgment.verdict is Verdict.UNDECIDED and judgment.deciding is not None
    ]
    if undecided:
        best = min(undecided, key=_interval_width)
        assert best.deciding is not None  # noqa: S101 - chosen above
        numbers = best.deciding.estimate.text([comparison.bound for comparison in best.about_deciding])
        text = f"equal answers to all groups leave it undecided: {format_subject(best.deciding.estimate)}: {numbers}"
        limit = with_limit(best).limit
        return text if limit is None else f"{text}; {limit_text(limit)}"
    if all(judgment.verdict is Verdict.INVALID for judgment in judgments):
        reasons = Counter(map(_invalid_reason, judgments))
        return reasons.most_common(1)[0][0]
    return ""


def _find_needed_sample(
    threshold: Threshold,
    runs: SimulatedRuns,
    forecast: Forecast | None,
    planned: SimulatedVerdicts,
    deadline: float,
) -> NeededSample | None:
    """Return the sample for *fair* in 80% of runs: the normal approximation, corrected by simulated samples.

    After the deadline no further sample corrects it.
    """
    from pytest_fairness.stats.power import POWER, repetitions_for, times_for

    times = None if forecast is None else forecast.times_needed()
    if forecast is None or times is None:
        return None
    powers = [(1.0, planned.clipped_share(Verdict.FAIR))]
    most = times_for(powers, forecast.tail)
    if 0 < planned.share(Verdict.FAIR) < 1 and _INFORMATIVE[0] <= powers[0][1] <= _INFORMATIVE[1]:
        times = most
    for _ in range(ROUNDS):
        times = max(times, FEWEST_SOURCES / runs.sources)
        attempts = times * runs.attempts
        seconds = deadline - time.process_time()
        if attempts > LARGEST or seconds <= 0:
            # Too large to simulate: the normal approximation is good for large samples. It is not for small ones.
            times = max(times, most) if len(powers) == 1 and planned.share(Verdict.FAIR) == 1 else times
            break
        verdicts = _simulate_single_look(threshold, partial(runs.draw, times=times), attempts, seconds, share=0.5)
        powers.append((times, verdicts.clipped_share(Verdict.FAIR)))
        times = times_for(powers, forecast.tail)
        if abs(powers[-1][1] - POWER) <= NEAR:
            break
    else:  # the power rises in steps, as with few large sources: no value between two simulated ones is known
        times = min((simulated for simulated, power in powers if power >= POWER), default=times)
    times = max(times, FEWEST_SOURCES / runs.sources)
    repetitions = None if forecast.share is None or times <= 1 else repetitions_for(times, forecast.share)
    return NeededSample(
        items=math.ceil(times * runs.items),
        repetitions=None if repetitions is None else math.ceil(repetitions * runs.repetitions),
        sources=math.ceil(times * runs.sources) if runs.sources < runs.items else None,
    )


def _find_needed_drawn_sample(threshold: Threshold, runs: SimulatedRuns, seconds: float) -> DrawnSample | None:
    """Return the sample of drawn answers with the same power as the propensities of --fairness-propensity."""
    drawn = runs.with_drawn_answers()
    if drawn is None:
        return None
    deadline = time.process_time() + seconds
    planned = _simulate_single_look(threshold, drawn.draw, drawn.attempts, seconds, share=DRAWN_SHARE)
    needed = _find_needed_sample(threshold, drawn, Forecast.from_judgments(planned.judgments, None), planned, deadline)
    if needed is None:
        return None
    calls = math.ceil(needed.items * drawn.attempts / drawn.items)
    return DrawnSample(items=needed.items, repetitions=drawn.repetitions, calls=calls)


def _invalid_reason(judgment: Judgment) -> str:
    if judgment.deciding is None:
        return judgment.reason
    estimate = judgment.deciding.estimate
    return f"{estimate.invalid or estimate.suspect}: {format_subject(estimate)}"


def _interval_width(judgment: Judgment) -> float:
    estimate = judgment.deciding.estimate if judgment.deciding else None
    return math.inf if estimate is None or math.isnan(estimate.low) else estimate.high - estimate.low

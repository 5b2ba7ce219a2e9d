"""Error rates of a threshold on stored answers, resampled so that the truth is known."""

from __future__ import annotations

import math
import time
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from pytest_fairness.core.answer_formats import VARIANT
from pytest_fairness.core.comparisons import Comparison
from pytest_fairness.core.decisions import Verdict
from pytest_fairness.core.dry_run_results import CertifiedThreshold, ErrorCheck, TruthResult, VerdictShares
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.json_objects import finite
from pytest_fairness.core.metric_kind import MetricKind
from pytest_fairness.core.significance import holm
from pytest_fairness.core.verdicts import Judgment
from pytest_fairness.planning.predictions import SampleJudge
from pytest_fairness.planning.protocols import Answers, Threshold
from pytest_fairness.stats.power import rate_ratio, rate_variance

if TYPE_CHECKING:
    import numpy as np

    from pytest_fairness.stats.columns import Floats, Rows
    from pytest_fairness.stats.measured import Measured
    from pytest_fairness.stats.permutation import PlantedBias

DRAWS = 200
"""Samples for each truth in the first stage, if there is time."""
STAGES = 3
"""The number of stages, each with twice as many samples in all as the one before."""
FEWEST_DRAWS = 12
"""The fewest samples for each truth, whatever the time."""
SECONDS = 30.0
"""CPU seconds for the samples of all thresholds, but for the fewest of each truth."""
BEYOND = 0.875
"""The planted ratio beyond the bound, as a share of the bound: 0.7 for a bound of 0.8."""
ENOUGH = 2.0
"""The upper end, as a multiple of the promise, below which no more samples are drawn."""
DOUBT = 0.05
"""The error probability of upper ends over all stages, and of broken promises over all thresholds."""

_GROUP_KINDS = (MetricKind.RATIO, MetricKind.WORST_RATIO, MetricKind.ODDS_RATIO, MetricKind.DIFFERENCE)


@dataclass(frozen=True, slots=True)
class Truth:
    """The truth about a sample: the true value of its metric, and the planted bias."""

    value: float
    bias: PlantedBias | None = None


@dataclass(frozen=True, slots=True)
class ErrorRateSample:
    """A stored sample on which thresholds are certified."""

    sample: Answers
    measured: Measured
    """Its metrics, at the confidence of a threshold's first run."""
    promise: float
    """The largest share of either error."""


Draw = Callable[["np.random.Generator", Truth], "Measured"]
"""A function that draws a sample with a truth."""


def estimate_error_rates(
    threshold: Threshold, row: CertifiedThreshold, stored: ErrorRateSample, seed: int, seconds: float
) -> CertifiedThreshold:
    """Return a row with the error rates of its threshold, and the verdicts at parity, on the bound and beyond it.

    Args:
        threshold: The threshold.
        row: The row, still without results.
        stored: The run's sample.
        seed: Seed of the drawn samples.
        seconds: The CPU seconds for them, but for the fewest of each truth.

    Raises:
        FairnessError: Nothing can be concluded, for example since the threshold compares neither groups nor a mean.
    """
    judgment = threshold.judge(stored.measured)
    if judgment.mistake:
        raise FairnessError(judgment.mistake)
    comparison = _group_comparison(judgment)
    if comparison is None:
        comparison, truths, note, draw = _prepare_resampling(stored, judgment)
    else:
        truths, note, draw = _prepare_permutations(stored, replace(judgment, deciding=comparison), comparison.estimate)
    judgment = replace(judgment, deciding=comparison)
    errors = _false_verdicts(truths, judgment)
    # Slices that are not judged can only make more samples fair; where *unfair* is the error, all are.
    judges = {
        name: SampleJudge(threshold, judgment.dependence, all_slices="parity" not in truths or name == "parity")
        for name in truths
    }
    counts, draws, doubt = _count_verdicts(
        judges, draw, truths, errors, (seed, zlib.crc32(threshold.id.encode())), stored, seconds
    )
    return replace(
        row,
        metric=comparison.estimate.metric,
        draws=draws,
        promise=stored.promise,
        note=note,
        clustering=[judgment.clustering] if judgment.clustering else [],
        checks=[
            ErrorCheck(
                error=f"{verdict} {'at parity' if name == 'parity' else 'on the bound'}",
                share=counts[name][verdict] / draws,
                at_most=upper_end(counts[name][verdict], draws, doubt),
                p_value=_p_value_of_errors(counts[name][verdict], draws, stored.promise),
            )
            for name, verdict in errors
        ],
        truths={
            name: TruthResult(
                value=finite(truth.value),
                planned=_predicted_shares(judgment, comparison.estimate, truth),
                **{verdict.value: counts[name][verdict] / draws for verdict in Verdict},
            )
            for name, truth in truths.items()
        },
    )


def add_holm_results(rows: Sequence[CertifiedThreshold]) -> list[CertifiedThreshold]:
    """Return the rows with ``kept``: whether the promise is kept, with Holm's correction over all checks."""
    checks = [check for row in rows for check in row.checks]
    p_holm = dict(zip(map(id, checks), holm([check.p_value for check in checks]), strict=True))
    return [
        row if row.reason else replace(row, kept=all(p_holm[id(check)] >= DOUBT for check in row.checks))
        for row in rows
    ]


Errors = Sequence[tuple[str, Verdict]]
"""Truths by name, each with a verdict that is false under it."""


def _false_verdicts(truths: Mapping[str, Truth], judgment: Judgment) -> Errors:
    """Return the truths and the verdicts that are false under them; without groups both are on the bound."""
    at_parity = [("parity", Verdict.UNFAIR)] if "parity" in truths else []
    on_bound = [("bound", Verdict.FAIR)] if "bound" in truths else []
    # test_level_with_slices_may_be_unfair_on_the_bound: their own truths may lie beyond it.
    is_alone = not at_parity and len(judgment.comparisons) == 1 and not judgment.slices
    return [*at_parity, *on_bound, *([("bound", Verdict.UNFAIR)] if is_alone else [])]


def _prepare_permutations(
    stored: ErrorRateSample, judgment: Judgment, estimate: Estimate
) -> tuple[dict[str, Truth], str, Draw]:
    """Return truths, a note and the draws in which labels are permuted and a bias is planted."""
    from pytest_fairness.stats.permutation import Permutations

    permutations = Permutations(
        stored.measured, within=sorted({name for slice_estimate in judgment.estimates for name in slice_estimate.slice})
    )
    truths, note = _truths(stored.measured, judgment, estimate)
    return truths, note, lambda generator, truth: permutations.draw(generator, truth.bias)


def _prepare_resampling(stored: ErrorRateSample, judgment: Judgment) -> tuple[Comparison, dict[str, Truth], str, Draw]:
    """Return the comparison, truths, a note and the draws of clusters in which a rate or mean is on the bound."""
    from pytest_fairness.stats.pilot_samples import SourcePool
    from pytest_fairness.stats.tilted_resampling import Tilt

    if not judgment.comparisons:
        raise FairnessError(judgment.reason or "it compares nothing")
    comparison = judgment.deciding or judgment.comparisons[0]
    estimate = comparison.estimate
    is_mean = estimate.kind in (MetricKind.RATE, MetricKind.MEAN) and not (estimate.absolute or estimate.negated)
    if not is_mean or estimate.grade not in stored.measured.selection.columns.known_grades:
        raise FairnessError("it compares no groups, and no rate or mean of a grade")
    # Each item has one answer format, so that formats are resampled with their items.
    if stored.measured.selection.columns.crossed not in (None, VARIANT):
        raise FairnessError("it compares no groups, and its crossed factor cannot be resampled with its items")
    sliced = {name: tuple(str(value).split(" or ")) for name, value in estimate.slice.items()}
    rows = stored.measured.where(**sliced).selection.rows
    outcomes = stored.measured.selection.reader.named(estimate.grade, estimate.equals).values
    values = _values_of_rows(outcomes, rows)
    sample = stored.sample
    arguments = {**sample.arguments, "confidence": estimate.confidence}
    tilt = Tilt(
        SourcePool(sample.attempts, len(sample.repetitions), arguments, sample.extremes), values, comparison.bound
    )
    return comparison, {"bound": Truth(comparison.bound)}, "", lambda generator, _: tilt.draw(generator)


def _values_of_rows(values: Floats, rows: Rows) -> Floats:
    """Return the values of some rows; nan elsewhere."""
    import numpy as np

    selected = np.full(len(values), np.nan)
    selected[rows] = values[rows]
    return selected


def _group_comparison(judgment: Judgment) -> Comparison | None:
    """Return the deciding comparison of groups, else the first one; None without groups."""
    candidates = [*([judgment.deciding] if judgment.deciding else []), *judgment.comparisons]
    return next((comparison for comparison in candidates if len(comparison.estimate.groups) > 1), None)


def _truths(stored: Measured, judgment: Judgment, estimate: Estimate) -> tuple[dict[str, Truth], str]:
    """Return the truths (parity, and if a bias can be planted the bound and beyond it), and else the reason."""
    from pytest_fairness.stats.permutation import PlantedBias, can_be_thinned

    grade, by = estimate.grade, estimate.attribute
    if estimate.kind not in _GROUP_KINDS or by is None:
        return {"parity": Truth(math.nan)}, "no bias is planted: its metric does not compare two groups"
    is_ratio = estimate.kind is not MetricKind.DIFFERENCE
    parity = {"parity": Truth(1.0 if is_ratio else 0.0)}
    if estimate.equals is not None or not can_be_thinned(stored, grade):
        return parity, f"no bias is planted: {_format_outcome(estimate)} is no grade of true and false"
    first, second = list(estimate.groups)[:2]
    low, high = _convert_bounds(estimate, *judgment.bounds)
    if is_ratio and estimate.kind is not MetricKind.ODDS_RATIO:
        planted = _choose_ratios(low, high)
    else:
        choose = _choose_odds_ratios if is_ratio else _choose_differences
        planted = choose(low, high, stored.where(**{by: (first, second)}).mean(grade).value)
    if planted is None:
        return parity, "no bias is planted: no group's share of positives can be lowered to a bound"
    names = ("bound", "beyond")
    return parity | {
        name: Truth(value, PlantedBias(grade, by, first if of_first else second, keep))
        for name, (value, keep, of_first) in zip(names, planted, strict=False)
    }, ""


def _format_outcome(estimate: Estimate) -> str:
    outcome = estimate.grade or "a function of attempts"
    return outcome if estimate.equals is None else f"{outcome}={estimate.equals}"


def _convert_bounds(estimate: Estimate, low: float | None, high: float | None) -> tuple[float | None, float | None]:
    """Return the bounds of a metric with its sign, from those of its absolute value or its negative."""
    if estimate.negated:
        low, high = None if high is None else -high, None if low is None else -low
    if estimate.absolute and high is not None:
        low = -high
    return low, high


PlantedBiases = list[tuple[float, float, bool]]
"""Tuples of the metric's true value, the kept share of positives, and whether the first group loses positives."""


def _choose_ratios(low: float | None, high: float | None) -> PlantedBiases | None:
    """Return a ratio on the bound, and one beyond it."""
    if low is not None and 0 < low < 1:
        return [(low, low, True), (low * BEYOND, low * BEYOND, True)]
    if high is not None and high > 1:
        return [(high, 1 / high, False), (high / BEYOND, BEYOND / high, False)]
    return None


def _choose_odds_ratios(low: float | None, high: float | None, rate: float) -> PlantedBiases | None:
    """Return an odds ratio on the bound, and one beyond it, for a group with this rate."""
    planted = _choose_ratios(low, high)
    if planted is None or not 0 < rate < 1:
        return None
    return [(value, rate_ratio(MetricKind.ODDS_RATIO, odds, rate), of_first) for value, odds, of_first in planted]


def _choose_differences(low: float | None, high: float | None, rate: float) -> PlantedBiases | None:
    """Return a difference on the bound, and one half as large again, for a group with this rate."""
    bound, of_first = (low, True) if low is not None and low < 0 else (high, False)
    if bound is None or bound == 0 or (bound < 0) != of_first:
        return None
    gaps = [gap for gap in (bound, 1.5 * bound) if abs(gap) < rate]
    return [(gap, 1 - abs(gap) / rate, of_first) for gap in gaps] or None


def _count_verdicts(
    judges: Mapping[str, Callable[[Measured], Judgment]],
    draw: Draw,
    truths: Mapping[str, Truth],
    errors: Errors,
    seed: Sequence[int],
    stored: ErrorRateSample,
    seconds: float,
) -> tuple[dict[str, Counter[Verdict]], int, float]:
    """Return the verdicts on samples of each truth, the number of samples, and the error probability of an upper end.

    Drawing stops at a stage where the upper ends of all errors are near the promise. Each stage uses its share of the
    error probability.
    """
    import numpy as np

    generator = np.random.default_rng(list(seed))
    counts = {name: Counter[Verdict]() for name in truths}
    deadline = time.process_time() + seconds
    doubt = DOUBT / STAGES
    stages = [DRAWS * 2**stage for stage in range(STAGES)]
    for drawn in range(1, stages[-1] + 1):
        for name, truth in truths.items():
            counts[name][judges[name](draw(generator, truth)).verdict] += 1
        if drawn >= FEWEST_DRAWS and time.process_time() > deadline:
            break
        if drawn in stages:
            highest = max(upper_end(counts[name][error], drawn, doubt) for name, error in errors)
            if highest <= ENOUGH * stored.promise:
                break
    return counts, drawn, doubt


def upper_end(count: int, draws: int, doubt: float) -> float:
    """Return the upper end of the confidence interval of a share of errors.

    Args:
        count: The number of errors.
        draws: The number of draws.
        doubt: The error probability of the upper end.

    Source:
        C. J. Clopper, E. S. Pearson, Biometrika 26 (1934) 404-413.

    >>> round(upper_end(0, 200, 0.05), 4), round(upper_end(5, 200, 0.05), 4)
    (0.0149, 0.0518)
    """
    from scipy.special import betaincinv  # type: ignore[import-untyped]

    return 1.0 if count == draws else float(betaincinv(count + 1, draws - count, 1 - doubt))


def _predicted_shares(judgment: Judgment, estimate: Estimate, truth: Truth) -> VerdictShares | None:
    """Return the verdicts that a plan predicts for runs of this size and truth; None if the error is not known."""
    from pytest_fairness.stats.power import probabilities

    bounds: tuple[float | None, float | None] = judgment.bounds
    value, error = truth.value, estimate.error
    if math.isnan(value) or not error > 0 or not math.isfinite(error):
        return None
    is_ratio = estimate.log_scale
    if is_ratio:
        value, error = math.log(value), error / estimate.value
        low, high = (None if bound is None or bound <= 0 else math.log(bound) for bound in bounds)
        bounds = low, high
    elif estimate.absolute:
        bounds = _convert_bounds(estimate, *bounds)
    elif estimate.negated:
        value = -value
    error *= _error_growth(list(estimate.groups.values()), truth.bias, estimate.kind)
    fair, unfair, undecided = probabilities(value, error, estimate.df, bounds, (1 - estimate.confidence) / 2)
    return VerdictShares(fair=fair, unfair=unfair, undecided=undecided)


def _error_growth(rates: Sequence[float], bias: PlantedBias | None, kind: MetricKind) -> float:
    """Return the factor by which a standard error grows, if both groups have their mean rate and one loses positives.

    It is computed from the binomial variances of the two rates, or of their logarithms or those of their odds.
    """
    variance = partial(rate_variance, kind)
    if bias is None or not all(0 < rate < 1 for rate in rates):
        return 1.0
    mean = sum(rates) / len(rates)
    unplanted = variance(rates[0]) + variance(rates[1])
    return math.sqrt((variance(mean * bias.keep) + variance(mean)) / unplanted)


def _p_value_of_errors(count: int, draws: int, share: float) -> float:
    """Return the probability of this number of errors or more, if each draw errs with probability ``share``."""
    from scipy.special import bdtrc

    return 1.0 if count == 0 else float(bdtrc(count - 1, draws, share))

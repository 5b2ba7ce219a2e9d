"""Non-inferiority of a sample to a baseline: an earlier sample of the same design.

Both runs sent the same prompts of the same items, so they are compared item by item: the effect
of an item on the gap between groups is in both, and cancels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NoReturn

from pytest_fairness.core.breakdown import Breakdown
from pytest_fairness.core.comparisons import for_threshold
from pytest_fairness.core.errors import FairnessError, NoSuchNameError, did_you_mean
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.metric_kind import MetricKind
from pytest_fairness.stats import metric_names
from pytest_fairness.stats.breakdowns import GroupComparison, contrast_influences, mean_example
from pytest_fairness.stats.clusters import ClusterSums
from pytest_fairness.stats.contrasts import contrast
from pytest_fairness.stats.families import DIFFERENCE, ODDS_RATIO, RATIO, Kind
from pytest_fairness.stats.group_estimates import (
    comparison_reason,
    contrast_estimate,
    group_counts,
    mean_estimate,
    sparse_reason,
)
from pytest_fairness.stats.linear_estimate import Ends, LinearEstimate, Scale
from pytest_fairness.stats.metric_names import baseline_name
from pytest_fairness.stats.noninferiority.matching import pair_clusters
from pytest_fairness.stats.outcome_vectors import NO_RATE, Outcome, OutcomeVector, group, imputations
from pytest_fairness.stats.outcomes import outcome_name
from pytest_fairness.stats.selection import Selection
from pytest_fairness.stats.validity import invalid_reason, suspect_reason

_METHODS = ("where", "ratio", "odds_ratio", "difference", "rate", "mean")
SIDE_SHARE = 0.1
"""Share of the probability to err that is spent on deciding on which side of parity a gap lies."""


class BaselineComparison:
    """The comparison of this sample with a baseline: ``measured.against(baseline)``.

    `ratio`, `odds_ratio` and `difference` return how much further from parity this sample is, whichever group
    is ahead in either of them; `rate` and `mean` return this sample's less the baseline's.

    >>> from pytest_fairness.stats.measured import Measured
    >>> def sample(fewer):
    ...     return Measured.from_rows(
    ...         [
    ...             {"profile": n, "gender": gender, "hired": n % 10 < 6 - gap}
    ...             for n in range(200) for gender, gap in [("female", fewer), ("male", 0)]
    ...         ],
    ...         item="profile", groups=["gender"],
    ...     )
    >>> further = sample(3).against(sample(1)).ratio("hired", by="gender", of="female", to="male")
    >>> round(further.value, 3), further <= 1.1  # 3/6 of the men's rate, after 5/6
    (1.667, False)

    Raises:
        FairnessError: The samples differ in their prompts, graders or conditions; the message has an example.
    """

    def __init__(self, new: Selection, old: Selection) -> None:
        self._new, self._old = new, pair_clusters(old, new)

    def __getattr__(self, name: str) -> NoReturn:
        if name == "slices":
            raise NoSuchNameError("a comparison has no `slices`: take one at a time, by where(ATTRIBUTE=VALUE)")
        raise NoSuchNameError(f"a comparison has no {name!r}; {did_you_mean(name, _METHODS)}")

    def where(self, **attributes: Any) -> BaselineComparison:
        """Return both samples' attempts with these attributes, as in `Measured.where`."""
        return BaselineComparison(self._new.where(**attributes), self._old.where(**attributes))

    def ratio(self, outcome: Outcome, *, by: str, of: str, to: str, equals: Any = None) -> Estimate:
        """Return the factor by which the ratio of two groups is further from 1 than the baseline's; 1.0 is as far.

        The larger of a ratio and its reciprocal counts, in each sample: 0.7 after 0.8 is 1.143,
        and so is 1 / 0.7 after 0.8. Where the baseline's own interval contains 1, its side is unknown,
        and the value is the distance between the two ratios, in either direction.
        """
        return self._compare(RATIO, outcome, equals, by, of, to)

    def odds_ratio(self, outcome: Outcome, *, by: str, of: str, to: str, equals: Any = None) -> Estimate:
        """Return the factor by which the odds ratio of two groups is further from 1 than the baseline's.

        As for `ratio`, of the odds of an outcome that is true or false.

        Raises:
            FairnessError: The outcome holds other numbers than 0 and 1.
        """
        return self._compare(ODDS_RATIO, outcome, equals, by, of, to)

    def difference(self, outcome: Outcome, *, by: str, of: str, to: str, equals: Any = None) -> Estimate:
        """Return how much further from 0 the difference of two groups is than the baseline's; 0.0 is as far.

        In the outcome's own units. As in `ratio`, signs do not matter, and a baseline whose
        interval contains 0 gives the distance between the two differences.
        """
        return self._compare(DIFFERENCE, outcome, equals, by, of, to)

    def rate(self, outcome: Outcome, *, equals: Any = None) -> Estimate:
        """Return the rate of an outcome that is true or false, less the baseline's: from -1 to 1."""
        return self._change(MetricKind.RATE, outcome, equals)

    def mean(self, outcome: Outcome) -> Estimate:
        """Return the mean of a number over attempts, less the baseline's, in its own units."""
        return self._change(MetricKind.MEAN, outcome, None)

    def _change(self, kind: MetricKind, outcome: Outcome, equals: Any) -> Estimate:
        groups = []
        for run, sample in (("this run", self._new), ("the baseline", self._old)):
            vector = _uncorrected(sample, outcome, equals)
            if kind is MetricKind.RATE and not vector.binary:
                raise FairnessError(f"{vector.name} {NO_RATE}")
            groups.append(group(run, vector, sample.rows, sample.clusterings))
        name = metric_names.mean_name(kind, outcome, equals)
        change_name = baseline_name(name, f"{name.title}, less the baseline's", MetricKind.DIFFERENCE)

        @cache
        def breakdown() -> Breakdown:
            estimates = {own.name: mean_estimate(self._new.setting, name, own, self._new.items) for own in groups}
            example = mean_example(self._new, self._new.outcome_vector(outcome, equals))
            influences = contrast_influences(self._new, groups[0].graded, groups[1].graded)
            return Breakdown(groups=estimates, example_towards=example, influences=influences)

        return for_threshold(contrast_estimate(self._new.setting, change_name, groups, self._new.items, breakdown))

    def _compare(self, kind: Kind, outcome: Outcome, equals: Any, by: str, of: str, to: str) -> Estimate:
        """Return how much further from parity a comparison of two groups is than the baseline's."""
        samples, setting, link = (self._new, self._old), self._new.setting, kind.link
        vectors = [_uncorrected(sample, outcome, equals) for sample in samples]
        for vector in vectors:
            kind.check(vector)
        pairs = [sample.pair(outcome, equals, by, of, to) for sample in samples]
        new, old = (
            GroupComparison(*compared, None) for compared in zip(samples, vectors, (by, by), pairs, strict=True)
        )
        groups = [*new.groups, *(replace(group, name=_in_the_baseline(group.name)) for group in old.groups)]

        @cache
        def breakdown() -> Breakdown:
            earlier = {_in_the_baseline(name): estimate for name, estimate in old.estimates().items()}
            example, (first, second) = new.example(of, to), new.groups
            direction = 1 if first.graded.value > second.graded.value else -1  # 1 is the direction of the new gap
            return Breakdown(None, new.estimates() | earlier, lambda towards: example(direction * towards))

        name = metric_names.pair_name(kind.metric, outcome, equals, by, of, to)
        if kind.metric.log_scale:
            title = f"factor by which the {name.title}, is further from parity than the baseline's"
            without_side = f"factor by which the {name.title}, differs from the baseline's, which may be at parity"
            reason = comparison_reason(new.groups, link) or comparison_reason(groups[2:], link)
            extreme = next((group for group in groups if not link.holds(group.graded.value)), None)
            if not reason and extreme is not None:
                events = "no events" if extreme.graded.value == 0 else "only events"
                reason = f"{events} of {extreme.name}: a ratio of zero is infinitely far from parity, take a difference"
        else:
            title, reason = f"increase in the size of the {name.title}, over the baseline's", invalid_reason(groups)
            without_side = f"size of the change in the {name.title}, from the baseline's, which may be zero"
        change_name = baseline_name(name, title, kind.metric)
        counts = group_counts(groups, self._new.items_of(new.groups, by)) | {"breakdown": breakdown}
        if reason:
            return for_threshold(setting.invalid(change_name, reason, **counts))
        imputed = list(imputations(groups))
        if not all(_side(parts[2:], setting.tail, link) for parts in imputed):  # a change to either side counts
            change_name = baseline_name(name, without_side, kind.metric)
        estimates = [distance(parts, setting.tail, link) for parts in imputed]
        counts |= {"suspect": suspect_reason(groups, setting.tail), "sparse": sparse_reason(groups, link)}
        return for_threshold(setting.estimate(change_name, estimates, **counts))


def distance(parts: Sequence[ClusterSums], tail: float, link: Scale) -> LinearEstimate:
    """Return ``|n| - |o|`` of a new gap n and an old gap o, both differences, or logarithms of ratios.

    The upper end. That of |n| - |o| itself is exceeded too often where o is at parity: in
    5.1% of runs for 2.5%. So where the old gap's own interval contains parity, the upper end is
    that of |n - o|, which is at least as large. Elsewhere o has a side s, and the end is the larger one of those of
    s (n - o) and -s (n + o): both must lie below a bound, which needs no correction (an
    intersection-union test). A side that is decided at ``tail`` itself is wrong so
    often that 3.4% of runs exceed the end, 4.0% where the two runs agree closely. So it is decided at a tenth of
    ``tail``, and the ends have the rest: together they err at ``tail`` at most.

    The lower end. For either side of n it is the smaller one over the sides of o. Over the sides of n it is the
    larger one, each at half the tail (Bonferroni), unless the side of n is decided at a tenth of ``tail`` as well.

    Args:
        parts: The first and second group of the new sample, then of the old one.
        tail: The probability to err on either side.
        link: The function of means in which both gaps are linear: see `contrast`.
    """
    difference, total = (contrast(parts, signs, link) for signs in ((1, -1, -1, 1), (1, -1, 1, -1)))
    scale = difference.scale
    n_minus_o, n_plus_o = scale.to(difference.value), scale.to(total.value)
    # test_value_is_the_change_in_distance_from_parity, test_baseline_at_parity_has_no_side
    side = _side(parts[2:], tail, link)
    new_sides = 1 if _side(parts[:2], tail, link) else 2
    value = max(side * n_minus_o, -side * n_plus_o) if side else abs(n_minus_o)

    def ends(tail: float) -> Ends:
        rest = (1 - SIDE_SHARE) * tail
        minus, plus = (tuple(map(scale.to, estimate.ends(rest))) for estimate in (difference, total))
        high = {0: max(-minus[0], minus[1]), 1: max(minus[1], -plus[0]), -1: max(-minus[0], plus[1])}[side]
        minus, plus = (tuple(map(scale.to, estimate.ends(rest / new_sides))) for estimate in (difference, total))
        low = max(min(minus[0], plus[0]), min(-minus[1], -plus[1]))
        return scale.back(low), scale.back(high)

    is_difference = not side or side * n_minus_o >= -side * n_plus_o
    return replace(difference if is_difference else total, value=scale.back(value), derived=ends)


def _side(parts: Sequence[ClusterSums], tail: float, link: Scale) -> int:
    """Return on which side of parity the gap of two groups lies, 1 or -1; 0 where that is not known."""
    gap = contrast(parts, (1, -1), link)
    low, high = map(gap.scale.to, gap.ends(SIDE_SHARE * tail))
    return 1 if low > 0 else -1 if high < 0 else 0


def _uncorrected(sample: Selection, outcome: Outcome, equals: Any) -> OutcomeVector:
    """Return an outcome whose grade has no labels: those of one run's answers do not correct another's.

    Raises:
        FairnessError: Labels correct the outcome.
    """
    vector = sample.outcome_vector(outcome, equals)
    if vector.correction is not None:
        raise FairnessError(
            f"{outcome_name(outcome, equals)} is corrected for the judge's error, and no baseline is compared "
            "with that: hold it against a number"
        )
    return vector


def _in_the_baseline(group: str) -> str:
    return f"{group} in the baseline"

"""Corrected means, whose error contains that of the labels, and the accuracy of a judge on them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from pytest_fairness.stats.clusters import ClusterSums
from pytest_fairness.stats.columns import Clustering, Floats
from pytest_fairness.stats.contrasts import contrast
from pytest_fairness.stats.crossed_effects import ItemEffect
from pytest_fairness.stats.linear_estimate import Scale
from pytest_fairness.stats.quantiles import jeffreys_ends

LARGEST_ERROR_GAP = 0.10
"""Difference of a judge's error between two groups: an interval beyond it makes their comparison invalid."""
TAIL = 0.025
"""Probability to err on either side of an interval of the judge's own errors."""


@dataclass(frozen=True, slots=True)
class LabelSums:
    """The labels' part in the error of a corrected mean."""

    deviations: Sequence[Floats]
    """The influence of each cluster's labels on the mean, per clustering."""
    counts: Sequence[Floats]
    """The number of labels in each cluster, per clustering."""
    half_variance_slope: float
    """Half the derivative, by the mean, of the variance that the labels cause."""


class CorrectedSums(ClusterSums):
    """Sums of corrected outcomes over clusters.

    Args:
        values: The corrected outcome of each attempt.
        clusterings: As for `ClusterSums`.
        span: The range that corrected outcomes can have; None where it is unknown.
        item_effect: As for `ClusterSums`.
        labels: The labels' part in the error.
        rate: Whether the mean is a corrected rate.
    """

    def __init__(
        self,
        values: Floats,
        clusterings: Sequence[Clustering],
        span: tuple[float, float] | None,
        item_effect: ItemEffect | None,
        labels: LabelSums,
        *,
        rate: bool,
    ) -> None:
        super().__init__(values, clusterings, span, None, item_effect)
        self._labels = labels
        self.binary = False  # an interval of counts would leave out the labels' error
        self.rate = rate
        self.half_variance_slope = labels.half_variance_slope

    @cached_property
    def deviations(self) -> list[Floats]:
        return [own + more for own, more in zip(super().deviations, self._labels.deviations, strict=True)]

    @property
    def label_variance(self) -> float:
        """The part of the mean's variance that the labels cause: it is in proportion to one over their number."""
        return float(np.square(self._labels.deviations[0]).sum())

    def deviations_on(self, link: Scale) -> list[Floats]:
        return [deviations * link.slope(self.value) for deviations in self.deviations]

    @cached_property
    def shares(self) -> list[Floats]:
        """The expected share of each cluster in the error, by its attempts and its labels."""
        shares = []
        for deviations, counts, label_deviations, label_counts in zip(
            self.deviations, self.counts, self._labels.deviations, self._labels.counts, strict=True
        ):
            own = deviations - label_deviations
            expected = _expected_variances(own, counts) + _expected_variances(label_deviations, label_counts)
            shares.append(np.sqrt(expected / expected.sum()) if expected.any() else counts / self.count)
        return shares


def _expected_variances(deviations: Floats, counts: Floats) -> Floats:
    """Return the variance of deviations, divided among clusters by their squared counts."""
    squares = np.square(counts)
    variances: Floats = float(np.square(deviations).sum()) * squares / max(squares.sum(), 1.0)
    return variances


@dataclass(frozen=True, slots=True)
class JudgeAccuracy:
    """The accuracy of a judge within one group, measured on human labels."""

    labels: int
    effective_labels: float = 0.0
    """The number of labels drawn with equal probabilities that would inform as much (Kish 1965)."""
    reason: str = ""
    """The reason that an estimate of the group is invalid; empty where it is not."""
    open: str = ""
    """The reason that an estimate supports no claim of fairness; empty where it supports one."""
    errors: Mapping[str, ClusterSums] = field(default_factory=dict)
    """Rates of the judge's errors, by kind of error."""
    strata: frozenset[int] = frozenset()
    """The strata of labels of other texts that corrected the group; empty for labels of the run's own answers."""

    def gap_reason(self, name: str, other: JudgeAccuracy, other_name: str) -> str:
        """Return why this group cannot be compared with another; empty where it can.

        The judge errs more for one of them, or labels of the same stratum correct both, so that nothing shows
        whether it does.
        """
        # test_two_groups_need_labels_of_their_own
        if self.strata & other.strata:
            return f"the labels do not tell the judge's error of {name} from that of {other_name}: label each group"
        for kind in sorted(self.errors.keys() & other.errors.keys()):
            own, others = self.errors[kind], other.errors[kind]
            low, high = contrast([own, others], (1, -1)).ends(TAIL)
            # test_judge_with_group_dependent_error_is_invalid
            if low > LARGEST_ERROR_GAP or high < -LARGEST_ERROR_GAP:
                return (
                    f"the judge's {kind} is {own.value:.2f} of {name} and {others.value:.2f} of {other_name}: "
                    f"a gap (95% CI {low:.2f} to {high:.2f}) beyond {LARGEST_ERROR_GAP:.2f}"
                )
        return ""


@dataclass(frozen=True, slots=True)
class LabelPairs:
    """A judge's and a human's grades of the same texts."""

    judge: Floats
    truth: Floats
    clusterings: Sequence[Clustering]
    weights: Floats | None = None
    """One over the probability of each label, scaled to sum to `effective_count`; None where all are equal."""

    @property
    def effective_count(self) -> float:
        """The number of labels drawn with equal probabilities that would inform as much (Kish 1965)."""
        return float(len(self.judge)) if self.weights is None else float(self.weights.sum())

    def part(self, values: Floats, rows: Any, span: tuple[float, float] | None = (0.0, 1.0)) -> ClusterSums:
        """Return the sums over clusters of some labels' values; ``rows`` are indices or a mask."""
        weights = None if self.weights is None else self.weights[rows]
        clusters = [clustering[rows] for clustering in self.clusterings]
        return ClusterSums(values[rows], clusters, span, weights=weights)

    @property
    def sensitivity(self) -> ClusterSums:
        """The share of the truly positive texts that the judge grades as positive."""
        return self.part(self.judge, self.truth == 1)

    @property
    def specificity(self) -> ClusterSums:
        """The share of the truly negative texts that the judge grades as negative."""
        return self.part(1 - self.judge, self.truth == 0)

    def errors(self, fewest: int, span: tuple[float, float] | None, *, rate: bool) -> dict[str, ClusterSums]:
        """Return the judge's errors by their kind.

        Args:
            fewest: The smallest number of labels of a kind that is returned.
            span: The range of the outcome; None where it is unknown.
            rate: Whether the outcome is binary. Else the error is the mean difference, in shares of the span.
        """
        if rate:
            kinds = {
                "rate of false alarms": self.part(self.judge, self.truth == 0),
                "rate of misses": self.part(1 - self.judge, self.truth == 1),
            }
            return {kind: part for kind, part in kinds.items() if part.count >= fewest}
        if span is None:
            return {}
        shares = (self.judge - self.truth) / (span[1] - span[0])
        return {"mean error, in shares of its range,": self.part(shares, np.arange(len(shares)), None)}

    def chance_reason(self, of_stratum: str) -> str:
        """Return why the judge may be no better than chance; empty where it is better, or a class has no label.

        The lower end of Youden's index is by MOVER (Donner and Zou 2012), from Jeffreys' ends of both its terms.
        """
        parts = self.sensitivity, self.specificity
        if not all(part.count for part in parts):
            return ""
        margin = math.hypot(*(part.value - jeffreys_ends(part.value, part.count, TAIL)[0] for part in parts))
        index = parts[0].value + parts[1].value - 1
        # test_judge_no_better_than_chance_is_never_fair
        if index > margin:
            return ""
        return (
            f"the judge{of_stratum} may be no better than chance: "
            f"its sensitivity + specificity - 1 is {index:.2f} (95% CI from {index - margin:.2f})"
        )

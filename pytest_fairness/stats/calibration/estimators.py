"""A corrected mean with the labels' error in it, and the judge's accuracy on the labels."""

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
from pytest_fairness.stats.quantiles import jeffreys_ends

LARGEST_ERROR_GAP = 0.10
"""Between two groups: an interval of the judge's error gap beyond it makes their comparison invalid."""
TAIL = 0.025
"""The probability to err on either side, in the intervals of the judge's own errors."""


class CorrectedSums(ClusterSums):
    """Attempts with corrected outcomes.

    ``added`` is what the labels add to the mean's deviations, and ``labels`` how many there are in
    each cluster: one array per clustering.
    """

    def __init__(
        self,
        values: Floats,
        clusterings: Sequence[Clustering],
        span: tuple[float, float] | None,
        center: ItemEffect | None,
        added: Sequence[Floats],
        labels: Sequence[Floats],
        *,
        bend: float,
        rate: bool,
    ) -> None:
        super().__init__(values, clusterings, span, None, center)
        self._added, self._labels = added, labels
        self.binary = False  # an interval of counts would leave out the labels' error
        self.rate = rate
        self.bend = bend

    @cached_property
    def deviations(self) -> list[Floats]:
        return [own + more for own, more in zip(super().deviations, self._added, strict=True)]

    @property
    def label_variance(self) -> float:
        """The part of the mean's variance that the labels add: in proportion to one over their number."""
        return float(np.square(self._added[0]).sum())

    @cached_property
    def log_deviations(self) -> list[Floats]:
        return [deviations / self.value for deviations in self.deviations]

    @cached_property
    def shares(self) -> list[Floats]:
        """The share of the error that each cluster is expected to make, by its attempts and its labels."""
        own = [deviations - more for deviations, more in zip(self.deviations, self._added, strict=True)]
        shares = []
        for deviations, count, more, labels in zip(own, self.counts, self._added, self._labels, strict=True):
            expected = _spread_over(deviations, count) + _spread_over(more, labels)
            shares.append(np.sqrt(expected / expected.sum()) if expected.any() else count / self.count)
        return shares


def _spread_over(deviations: Floats, counts: Floats) -> Floats:
    """Return the variance that deviations make, shared out by squared counts."""
    squares = np.square(counts)
    shared: Floats = float(np.square(deviations).sum()) * squares / max(squares.sum(), 1.0)
    return shared


@dataclass(frozen=True, slots=True)
class JudgeAccuracy:
    """A judge's accuracy within one group, by its labels."""

    labels: int
    worth: float = 0.0
    """The number of labels drawn with equal probabilities that they are worth."""
    reason: str = ""
    """The reason that nothing can be concluded; empty where something can."""
    open: str = ""
    """The reason that a comparison which holds is left open."""
    errors: Mapping[str, ClusterSums] = field(default_factory=dict)
    """Rates of the judge's errors, by kind of error."""
    of: frozenset[int] = frozenset()
    """The groups of labels of other texts it was corrected by."""

    def gap_reason(self, name: str, other: JudgeAccuracy, other_name: str) -> str:
        """Return why this group cannot be compared with another: the judge errs differently, or nobody can tell."""
        if self.of & other.of:
            return f"the labels do not tell the judge's error of {name} from that of {other_name}: label each group"
        for kind in sorted(self.errors.keys() & other.errors.keys()):
            one, two = self.errors[kind], other.errors[kind]
            low, high = contrast([one, two], (1, -1)).ends(TAIL)
            if low > LARGEST_ERROR_GAP or high < -LARGEST_ERROR_GAP:
                return (
                    f"the judge's {kind} is {one.value:.2f} of {name} and {two.value:.2f} of {other_name}: "
                    f"a gap (95% CI {low:.2f} to {high:.2f}) beyond {LARGEST_ERROR_GAP:.2f}"
                )
        return ""


@dataclass(frozen=True, slots=True)
class LabelPairs:
    """A judge's grades of labeled texts beside a human's."""

    judge: Floats
    truth: Floats
    clusterings: Sequence[Clustering]
    weights: Floats | None = None
    """One over the probability that each was drawn with, in all as many as they are worth; None for equal ones."""

    @property
    def worth(self) -> float:
        """The number of labels drawn with equal probabilities that they are worth (Kish 1965)."""
        return float(len(self.judge)) if self.weights is None else float(self.weights.sum())

    def part(self, values: Floats, where: Any, span: tuple[float, float] | None = (0.0, 1.0)) -> ClusterSums:
        """Return numbers of the labels at these places, in their clusters."""
        weights = None if self.weights is None else self.weights[where]
        clusters = [clustering[where] for clustering in self.clusterings]
        return ClusterSums(values[where], clusters, span, weights=weights)

    @property
    def sensitivity(self) -> ClusterSums:
        """The share of true cases that the judge calls true."""
        return self.part(self.judge, self.truth == 1)

    @property
    def specificity(self) -> ClusterSums:
        """The share of false cases that the judge calls false."""
        return self.part(1 - self.judge, self.truth == 0)

    def errors(self, fewest: int, span: tuple[float, float] | None, *, rate: bool) -> dict[str, ClusterSums]:
        """Return how often the judge errs, by kinds of error with enough labels; of a number, in shares of its span."""
        if rate:
            kinds = {
                "rate of false alarms": self.part(self.judge, self.truth == 0),
                "rate of misses": self.part(1 - self.judge, self.truth == 1),
            }
            return {kind: part for kind, part in kinds.items() if part.count >= fewest}
        if span is None:
            return {}
        everything = np.arange(len(self.judge))
        return {
            "mean error, in shares of its range,": self.part(
                (self.judge - self.truth) / (span[1] - span[0]), everything, None
            )
        }

    def chance_reason(self, of: str) -> str:
        """Return why the judge's word is worth nothing; empty where it is worth something, or a class has no label."""
        parts = self.sensitivity, self.specificity
        if not all(part.count for part in parts):
            return ""
        reach = math.hypot(*(part.value - jeffreys_ends(part.value, part.count, TAIL)[0] for part in parts))
        index = parts[0].value + parts[1].value - 1
        if index > reach:
            return ""
        return (
            f"the judge{of} may be no better than chance: "
            f"its sensitivity + specificity - 1 is {index:.2f} (95% CI from {index - reach:.2f})"
        )

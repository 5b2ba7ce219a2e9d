"""Outcomes as numbers: those of every attempt of a sample, and those of one group.

An answer that could not be graded must never help: it is left out of a group, and imputed at either extreme. An
interval is the hull of the intervals under all extreme imputations (Manski's 2003 worst-case bounds, with sampling
error).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from pytest_fairness.core.attempts import GradedAttempt
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.stats.calibration.estimators import JudgeAccuracy
from pytest_fairness.stats.clusters import EVENTS, ClusterSums
from pytest_fairness.stats.columns import Clustering, Floats, Rows
from pytest_fairness.stats.crossed_effects import ItemEffects

Outcome = str | Callable[[GradedAttempt], Any]
"""The name of a grade, or a function from a graded attempt to true, false or a number."""


GroupCorrection = Callable[
    [str, "OutcomeVector", Rows, Sequence[Clustering], "ItemEffects | None"],
    "GroupOutcomes",
]
"""A function that makes a group from some attempts, corrected by human labels: `LabelCorrection.group`."""


NO_RATE = "can hold numbers other than 0 and 1: take its mean, or say equals=..."
"""The end of an error, after the name of an outcome that has no rate."""
NO_ODDS = "can hold numbers other than 0 and 1, which have no odds: take its ratio or difference, or say equals=..."
_FEWEST_SCORES = 8
"""Number of values between 0 and 1 from which the range of scores without declared extremes is taken to be 0 to 1. Of
five log-normal values with a median of 1, all lie below 1 in 3% of samples: each time a mean on its bound would be
called fair.
"""


@dataclass(frozen=True, slots=True)
class OutcomeVector:
    """An outcome of every attempt of a sample."""

    name: str
    values: Floats
    """The outcome of each attempt; nan where ungraded."""
    lowest: Floats
    """The same, with ungraded attempts at the lowest outcome that they could have had."""
    highest: Floats
    span: tuple[float, float] | None
    """The range that an outcome can have; None where it is unknown."""
    correction: GroupCorrection | None = None
    """The correction of a judge's grades by human labels; None without labels."""
    unbounded: str = ""
    """The reason that the extremes of an ungraded attempt are unknown; empty where they are known."""
    weights: Floats | None = None
    """Total probability of the options of each attempt, for propensities: a value is the mean within it."""

    @property
    def missing(self) -> Floats:
        """The share of each attempt that is ungraded: 0 or 1; of propensities, the probability of no option."""
        is_missing = np.isnan(self.values)
        if self.weights is None:
            return is_missing.astype(np.float64)
        shares: Floats = np.where(is_missing, 1.0, 1.0 - self.weights)
        return shares

    @property
    def binary(self) -> bool:
        """Whether all graded outcomes are 0 or 1, and none can be another number."""
        return self.span == EVENTS and is_binary(self.values)

    @property
    def is_rate(self) -> bool:
        """Whether its mean is a rate: of events, or of their propensities."""
        return self.binary or self.weights is not None


@dataclass(frozen=True, slots=True)
class GroupOutcomes:
    """The outcomes of one group, or of all attempts."""

    name: str
    graded: ClusterSums
    """The graded attempts."""
    lowest: ClusterSums
    """All attempts, with the ungraded ones at the lowest outcome that they could have had."""
    highest: ClusterSums
    missing: ClusterSums
    """All attempts, with the ungraded share of each as its outcome."""
    judge_accuracy: JudgeAccuracy | None = None
    """The accuracy of the judge, where labels correct its grades."""
    invalid: str = ""
    """The reason that its estimates are invalid, whatever its numbers, such as a filter that leaves all of it out."""
    suspect: str = ""
    """The reason that it supports no claim of fairness: too many attempts of a group within it are ungraded."""

    @property
    def attempts(self) -> int:
        """The number of attempts, graded or not."""
        return int(self.missing.count)

    @property
    def ungraded(self) -> float:
        """The number of ungraded attempts; of propensities, the total probability of no option."""
        return self.missing.count - self.graded.count


def group(
    name: str,
    vector: OutcomeVector,
    rows: Rows,
    clusterings: Sequence[Clustering],
    prompts: Clustering | None = None,
    item_effects: ItemEffects | None = None,
    items: Clustering | None = None,
) -> GroupOutcomes:
    """Return some attempts as a group.

    Args:
        name: The group's name.
        vector: The outcome of every attempt of the sample.
        rows: The group's attempts: indices into the vector.
        clusterings: As for `ClusterSums`, of the whole sample, as are the following.
        prompts: The prompt of each attempt; None where it is unknown.
        item_effects: The effects of items; None without a crossed factor that is nested in groups.
        items: The item of each attempt; None where it is unknown.
    """
    is_missing = np.isnan(vector.values[rows])
    if vector.correction is not None:
        corrected = vector.correction(name, vector, rows, clusterings, item_effects)
        return replace(corrected, invalid=vector.unbounded) if vector.unbounded and is_missing.any() else corrected

    def sums(values: Floats, rows: Rows, weights: Floats | None) -> ClusterSums:
        return ClusterSums(
            values[rows],
            [clustering[rows] for clustering in clusterings],
            vector.span,
            None if prompts is None else prompts[rows],
            None if item_effects is None else item_effects.graded[rows],
            None if weights is None else weights[rows],
            None if items is None else items[rows],
        )

    graded = sums(vector.values, rows[~is_missing], vector.weights)
    missing = ClusterSums(
        vector.missing[rows],
        [clustering[rows] for clustering in clusterings],
        (0.0, 1.0),
        None,
        None if item_effects is None else item_effects.missing[rows],
    )
    if not missing.totals[0].any():
        return GroupOutcomes(name, graded, graded, graded, missing)
    whole = None if vector.weights is None else np.ones(len(vector.values))
    lowest, highest = (sums(values, rows, whole) for values in (vector.lowest, vector.highest))
    return GroupOutcomes(name, graded, lowest, highest, missing, invalid=vector.unbounded)


def imputations(groups: Sequence[GroupOutcomes]) -> Iterator[tuple[ClusterSums, ...]]:
    """Yield every combination of the groups' sums: as graded, with the ungraded at one extreme, and at the other."""
    # test_interval_is_the_hull_of_both_extreme_imputations
    yield from product(
        *((group.graded, group.lowest, group.highest) if group.ungraded else (group.graded,) for group in groups)
    )


def is_binary(values: Floats) -> bool:
    """Return whether all numbers that are not nan are 0 or 1."""
    graded = values[~np.isnan(values)]
    return bool(np.all((graded == 0) | (graded == 1)))


def refuse_outside(
    grade: str, values: Floats, span: tuple[float, float], extremes_of: Callable[[int], Sequence[Any]]
) -> None:
    """Raise `FairnessError` for a value beyond what its grader declares: an ungraded answer could be there too.

    ``span`` is that of the first prompt; ``extremes_of`` gives those of each row.
    """
    slack = 1e-9 * max(1.0, *map(abs, span))
    for row in np.flatnonzero((values < span[0] - slack) | (values > span[1] + slack)).tolist():
        ends = [float(value) for value in extremes_of(row)]
        if not min(ends) - slack <= values[row] <= max(ends) + slack:
            raise FairnessError(
                f"{grade!r} is {values[row]:g}, and its extremes are {min(ends):g} and {max(ends):g}: an ungraded "
                "answer could be as far outside; give the grader, or extremes=, the range that it cannot leave"
            )


class UnboundedError(FairnessError):
    """An ungraded answer could have had grades that are not declared."""


def impute(
    name: str, values: Floats, rows: Rows, ends_of: Callable[[int], Sequence[float]], span: tuple[float, float] | None
) -> OutcomeVector:
    """Return an outcome whose attempts in ``rows``, not fully graded, could have had the values of ``ends_of``."""
    lowest, highest = values.copy(), values.copy()
    unbounded = ""
    for row in rows.tolist():
        try:
            ends = ends_of(row)
        except UnboundedError as error:
            ends = around(values)
            if not is_binary(values):
                unbounded = str(error)
        lowest[row], highest[row] = min(ends), max(ends)
    return OutcomeVector(name, values, lowest, highest, span, unbounded=unbounded)


def around(values: Floats) -> tuple[float, float]:
    """Return a range that holds 0, 1 and the graded values."""
    graded = values[~np.isnan(values)]
    return float(min(0.0, graded.min(initial=0.0))), float(max(1.0, graded.max(initial=1.0)))


def usual_span(values: Floats) -> tuple[float, float] | None:
    """Return the span of values without declared extremes: 0 to 1 for binary values, or enough values within it."""
    graded = values[~np.isnan(values)]
    if len(graded) < _FEWEST_SCORES and not np.isin(graded, (0.0, 1.0)).all():
        return None
    return (0.0, 1.0) if around(values) == (0.0, 1.0) else None

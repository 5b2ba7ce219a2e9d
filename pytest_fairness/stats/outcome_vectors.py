"""An outcome as numbers: of every attempt of a sample, and of the attempts of a group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from pytest_fairness.core.attempts import GradedAttempt
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.stats.calibration.estimators import JudgeAccuracy
from pytest_fairness.stats.clusters import ClusterSums
from pytest_fairness.stats.columns import Clustering, Floats, Rows
from pytest_fairness.stats.crossed_effects import ItemEffects

Outcome = str | Callable[[GradedAttempt], Any]
"""The name of a grade, or a function of a graded attempt that gives true, false or a number."""


class GroupCorrection(Protocol):
    """A correction of an outcome by a human's labels: see `calibration.correction`."""

    def group(
        self,
        name: str,
        reading: OutcomeVector,
        rows: Rows,
        clusterings: Sequence[Clustering],
        centers: ItemEffects | None,
    ) -> GroupOutcomes:
        """Return the attempts in ``rows`` as a group, corrected."""
        ...


@dataclass(frozen=True, slots=True)
class OutcomeVector:
    """An outcome of every attempt of a sample.

    ``values`` are nan where ungraded. ``lowest`` and ``highest`` equal them elsewhere;
    there they are the extremes that the outcome could have had. ``span`` is the range
    that any attempt's outcome can have, or None where nobody has said. ``unbounded`` is why
    the extremes of an ungraded attempt are not known; empty where they are.
    """

    name: str
    values: Floats
    lowest: Floats
    highest: Floats
    span: tuple[float, float] | None
    labeled: GroupCorrection | None = None
    """A human's labels, where a judge's values are corrected by it."""
    unbounded: str = ""
    weights: Floats | None = None
    """The probability of all options together, of propensities: ``values`` are expectations within it."""

    @property
    def missing(self) -> Floats:
        """The share of each attempt that is ungraded: 0 or 1, or, of propensities, what fell on no option."""
        empty = np.isnan(self.values)
        if self.weights is None:
            return empty.astype(np.float64)
        shares: Floats = np.where(empty, 1.0, 1.0 - self.weights)
        return shares

    @property
    def binary(self) -> bool:
        return is_binary(self.values)


@dataclass(frozen=True, slots=True)
class GroupOutcomes:
    """The attempts of one group, or of all."""

    name: str
    graded: ClusterSums
    lowest: ClusterSums
    """All attempts, the ungraded ones at the lowest outcome they could have had."""
    highest: ClusterSums
    missing: ClusterSums
    """All attempts; the outcome is whether it is ungraded."""
    judged: JudgeAccuracy | None = None
    """Accuracy, by labels, of the judge that graded it, where it is corrected by them."""
    invalid: str = ""
    """The reason that nothing can be said of it, its numbers apart: a filter left all of its prompts out, say."""
    suspect: str = ""
    """The reason that nothing good can be said of it: too many attempts of a group within it are ungraded."""

    @property
    def attempts(self) -> int:
        return int(self.missing.count)

    @property
    def ungraded(self) -> float:
        """The number of ungraded attempts; of propensities, the probability in all that fell on no option."""
        return self.missing.count - self.graded.count


def is_binary(values: Floats) -> bool:
    """Return whether all numbers are 0 or 1, those that are nan apart."""
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

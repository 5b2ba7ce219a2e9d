"""Interim looks: the tail of each look's interval, so that all looks together err no more often than a single one.

The error is spent over the looks (Lan and DeMets 1983); the recursive integration of Armitage, McPherson and Rowe
1969 turns what a look may spend into its tail. Claims of *fair* and *unfair* have separate spending functions:
*fair* is claimed late, when the interval is narrow, and *unfair* as early as the gap
can be seen (Hwang, Shih and DeCani 1990).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import Enum
from functools import lru_cache

import numpy as np

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.stats.columns import Floats

MOST_LOOKS = 20

FIRST_RUN = 0.9
"""The share of the error that the first judged run of a threshold may spend; all later runs share the rest."""

NODES = 128
"""Nodes of the integration; 20 equal steps are then exact to ten digits and more."""

SMALL_STEP = 0.04
"""Share of the information so far; a smaller step needs more nodes, since its density is narrower."""

FARTHEST = 8.0
"""Standard deviations from zero within which a sum is integrated: all but 6e-16 of it on each side."""


def run_tail(run: int, tail: float) -> float:
    """Return the tail of the k-th judged run of a threshold on a model, so that all its runs together err at ``tail``.

    The first has 0.9 of it, the k-th later one 0.1 * 6 / (pi^2 (k - 1)^2), which add up to the whole however
    often a run is repeated (Bonferroni): with more items, fresh answers, on a slice or against other bounds.

    Args:
        run: From 1.
        tail: The probability to err on one side, over all runs: 0.025 for 95%.

    Returns:
        The probability to err on one side of this run.

    >>> [round(run_tail(run, 0.025), 5) for run in (1, 2, 3)]
    [0.0225, 0.00152, 0.00038]
    >>> sum(run_tail(run, 0.025) for run in range(1, 10_000)) < 0.025
    True
    """
    if run == 1:
        return FIRST_RUN * tail
    return (1 - FIRST_RUN) * tail * 6 / (math.pi * (run - 1)) ** 2


class Spending(Enum):
    """Part of the error that may be spent by a share of the information, from 0 to 1."""

    LATE = "late"
    """t squared: the last look is almost as powerful as a single one. For claims that a model is fair."""
    EVEN = "even"
    """log(1 + (e - 1) t), as Pocock's equal bounds do: a large gap ends the run early. For claims that it is unfair."""

    def by(self, share: float) -> float:
        """Return the part of the error that is spent by a share of the information.

        >>> [Spending.LATE.by(t) for t in (0.5, 1)], [round(Spending.EVEN.by(t), 3) for t in (0.5, 1)]
        ([0.25, 1], [0.62, 1.0])
        """
        return share**2 if self is Spending.LATE else math.log1p((math.e - 1) * share)


def look_tails(information: Sequence[float], tail: float, spending: Spending = Spending.LATE) -> tuple[float, ...]:
    """Return the tail of the interval at each look, so that any look misses the truth with probability ``tail`` in all.

    The k-th look takes an interval at confidence ``1 - 2 * look_tails(...)[k - 1]``, and a
    verdict at the first look that has one is final.

    >>> [round(look, 4) for look in look_tails(range(1, 6), 0.025)]
    [0.001, 0.0033, 0.0067, 0.0113, 0.0173]
    >>> [round(look, 4) for look in look_tails(range(1, 6), 0.025, Spending.EVEN)]
    [0.0074, 0.0076, 0.008, 0.0083, 0.0085]
    >>> look_tails([120], 0.025)
    (0.025,)

    Args:
        information: Of each look, in any unit, such as its number of attempts or items; increasing.
        tail: The probability to err on one side over all looks: 0.025 for 95%.
        spending: How early it is spent.

    Returns:
        One probability to err on one side for each look.

    The correlation of two looks is assumed to be the square root of the ratio of their information, as when items are
    added. Where a later look adds less information than given (repetitions of the same items under an intraclass
    correlation), they correlate more, and by Slepian's inequality the error is below ``tail``; where it adds more,
    the error is above.

    Raises:
        FairnessError: For no looks or more than 20, for information that does not rise from above 0, and for a
            tail outside 0 to 0.5.
    """
    if not 1 <= len(information) <= MOST_LOOKS:
        raise FairnessError(f"there are {len(information)} looks: they must be from 1 to {MOST_LOOKS}")
    steps = np.diff([0.0, *information])
    if not np.all(steps > 0):
        raise FairnessError(f"the information of the looks is {list(information)}: each must add some")
    if not 0 < tail < 0.5:
        raise FairnessError(f"tail is {tail!r}: it must lie between 0 and 0.5")
    return _tails(tuple((steps / float(information[-1])).tolist()), tail, spending)


@lru_cache
def _tails(steps: tuple[float, ...], tail: float, spending: Spending) -> tuple[float, ...]:
    if len(steps) == 1:
        return (tail,)
    # The sums of steps that have passed no bound yet, as points and their masses.
    points, masses = np.zeros(1), np.ones(1)
    tails: list[float] = []
    share = spent = 0.0
    for number, step in enumerate(steps, start=1):
        share = 1.0 if number == len(steps) else share + step
        far = FARTHEST * math.sqrt(share)
        bound = _bound(points, masses, tail * spending.by(share) - spent, far, math.sqrt(step))
        spent = tail * spending.by(share)
        tails.append(_beyond(bound / math.sqrt(share)))
        nodes, weights = np.polynomial.legendre.leggauss(NODES * (1 if step > SMALL_STEP * share else 8))
        half = (bound + far) / 2
        new_points = half * (nodes + 1) - far
        distances = (new_points[:, np.newaxis] - points) / math.sqrt(step)
        masses = half * weights * (_density(distances) @ masses) / math.sqrt(step)
        points = new_points
    return tuple(tails)


def _bound(points: Floats, masses: Floats, spent: float, far: float, deviation: float) -> float:
    """Return the bound that a sum exceeds with probability ``spent``, one step after it was at ``points``.

    The step is normal, with mean 0 and this standard deviation.
    """
    from scipy.optimize import brentq  # type: ignore[import-untyped]
    from scipy.special import ndtr  # type: ignore[import-untyped]

    def surplus(bound: float) -> float:
        return float(masses @ ndtr((points - bound) / deviation)) - spent

    return float(brentq(surplus, -far, far, xtol=1e-12)) if surplus(-far) > 0 else -far


def _density(steps: Floats) -> Floats:
    density: Floats = np.exp(-np.square(steps) / 2) / math.sqrt(2 * math.pi)
    return density


def _beyond(value: float) -> float:
    """Return the probability that N(0, 1) exceeds a value."""
    return math.erfc(value / math.sqrt(2)) / 2

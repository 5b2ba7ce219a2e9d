"""Looking more than once: at which tail each look's interval is made, so that all looks together err no more than one.

Lan and DeMets 1983 spend the error over the looks; what a look may spend is turned into
its tail by the recursive integration of Armitage, McPherson and Rowe 1969.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.stats.columns import Floats

MOST_LOOKS = 20

FIRST_RUN = 0.9
"""The share of the error that the first judged run of a threshold has; all later ones share the rest."""

NODES = 128
"""Of the integration; 20 looks are then exact to ten digits and more."""

FARTHEST = 8.0
"""Standard deviations from zero within which a sum is looked for: all but 6e-16 of it on a side."""

HALVINGS = 60
"""Of the range in which a bound is searched: to the last digit of a float."""


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


@lru_cache
def look_tails(looks: int, tail: float) -> tuple[float, ...]:
    """The tail of the interval at each of ``looks`` looks, so that a truth is passed with probability ``tail`` in all.

    ``tail`` is the probability to err on one side: 0.025 for 95%. The k-th look takes an
    interval at confidence ``1 - 2 * look_tails(looks, tail)[k - 1]``, and a verdict at the
    first look that has one is final. By the k-th of K looks ``tail * (k / K)**2`` is spent:
    little early, when only a large gap can be seen, and most at the end, whose tail is
    close to that of a single look.

    >>> [round(each, 4) for each in look_tails(5, 0.025)]
    [0.001, 0.0033, 0.0067, 0.0113, 0.0173]
    >>> look_tails(1, 0.025)
    (0.025,)

    Exact for looks between which equal amounts of information come in: the k-th and the
    l-th value then correlate as sqrt(k / l), as with items added in equal steps. Where later
    looks add less than that (repetitions of the same items under an intraclass correlation)
    they correlate more, and by Slepian's inequality the error is below ``tail``; where later
    looks add more, it is above: plan the steps before the first look, and make them equal.

    Raises `FairnessError` for looks outside 1 to 20 and for a tail outside 0 to 0.5.
    """
    if looks not in range(1, MOST_LOOKS + 1):
        raise FairnessError(f"looks is {looks!r}: it must be a whole number from 1 to {MOST_LOOKS}")
    if not 0 < tail < 0.5:
        raise FairnessError(f"tail is {tail!r}: it must lie between 0 and 0.5")
    if looks == 1:
        return (tail,)
    places, weights = np.polynomial.legendre.leggauss(NODES)
    # The sums of steps that have passed no bound yet, as points and their masses.
    points, masses = np.zeros(1), np.ones(1)
    tails = []
    for look in range(1, looks + 1):
        far = FARTHEST * math.sqrt(look)
        bound = _bound(points, masses, tail * (2 * look - 1) / looks**2, far)
        tails.append(_beyond(bound / math.sqrt(look)))
        half = (bound + far) / 2
        reached = half * (places + 1) - far
        masses = half * weights * (_density(reached[:, np.newaxis] - points) @ masses)
        points = reached
    return tuple(tails)


def _bound(points: Floats, masses: Floats, spent: float, far: float) -> float:
    """What a sum exceeds with probability ``spent`` one step of N(0, 1) after it was at ``points``; by bisection."""
    low, high = -far, far
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        passed = masses @ [_beyond(middle - point) for point in points.tolist()]
        low, high = (middle, high) if passed > spent else (low, middle)
    return (low + high) / 2


def _density(steps: Floats) -> Floats:
    density: Floats = np.exp(-np.square(steps) / 2) / math.sqrt(2 * math.pi)
    return density


def _beyond(value: float) -> float:
    """The probability that N(0, 1) exceeds a value."""
    return math.erfc(value / math.sqrt(2)) / 2

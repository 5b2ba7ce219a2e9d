"""Quantiles of the distributions that intervals are made from.

They come from scipy.special, which loads in a third of the time of scipy.stats, and only when first used.
"""

from __future__ import annotations

import math


def t_quantile(tail: float, df: float) -> float:
    """The value that Student's t with ``df`` degrees of freedom exceeds with probability ``tail``.

    >>> round(t_quantile(0.025, 10), 3)
    2.228
    >>> round(t_quantile(0.025, math.inf), 3)
    1.96
    """
    from scipy.special import ndtri, stdtrit  # type: ignore[import-untyped]

    return float(-ndtri(tail) if math.isinf(df) else -stdtrit(df, tail))


def t_tail(value: float, df: float) -> float:
    """The probability that Student's t with ``df`` degrees of freedom exceeds ``value``.

    >>> round(t_tail(2.228, 10), 3)
    0.025
    """
    from scipy.special import ndtr, stdtr

    return float(ndtr(-value) if math.isinf(df) else stdtr(df, -value))


def exact_ends(rate: float, count: float, tail: float) -> tuple[float, float]:
    """Exact ends of a rate: ``rate * count`` events in ``count`` trials, neither need be whole.

    Clopper and Pearson 1934; with an effective count, Korn and Graubard 1998.

    >>> low, high = exact_ends(0.0, 100, 0.025)
    >>> low, round(high, 4)
    (0.0, 0.0362)
    """
    from scipy.special import betaincinv

    events = rate * count
    low = 0.0 if rate <= 0 else float(betaincinv(events, count - events + 1, tail))
    high = 1.0 if rate >= 1 else float(betaincinv(events + 1, count - events, 1 - tail))
    return low, high


def wilson_ends(rate: float, count: float, quantile: float) -> tuple[float, float]:
    """Wilson's 1927 score interval of a rate among ``count`` trials, for a quantile of z or t.

    >>> [round(end, 4) for end in wilson_ends(0.1, 100, 1.959964)]
    [0.0552, 0.1744]
    """
    square = quantile**2
    centre = (rate + square / (2 * count)) / (1 + square / count)
    reach = quantile * math.sqrt(rate * (1 - rate) / count + square / (4 * count**2)) / (1 + square / count)
    return max(0.0, centre - reach), min(1.0, centre + reach)

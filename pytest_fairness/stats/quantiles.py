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


def jeffreys_ends(rate: float, count: float, tail: float) -> tuple[float, float]:
    """Ends of a rate: ``rate * count`` events in ``count`` trials, neither need be whole.

    Jeffreys' interval, with exact ends (Clopper and Pearson 1934) where there are no events or
    no others, as Brown, Cai and DasGupta 2001 advise; effective counts as in Franco et al. 2019.

    >>> [round(end, 4) for end in jeffreys_ends(0.03, 100, 0.025)]
    [0.0085, 0.0779]
    >>> low, high = jeffreys_ends(0.0, 100, 0.025)
    >>> low, round(high, 4)
    (0.0, 0.0362)
    """
    from scipy.special import betaincinv

    if rate <= 0:
        return 0.0, -math.expm1(math.log(tail) / count)
    if rate >= 1:
        return math.exp(math.log(tail) / count), 1.0
    events = rate * count + 0.5
    others = count - events + 1
    return float(betaincinv(events, others, tail)), float(betaincinv(events, others, 1 - tail))


def wilson_ends(rate: float, count: float, quantile: float) -> tuple[float, float]:
    """Wilson's 1927 score interval of a rate among ``count`` trials, for a quantile of z or t.

    >>> [round(end, 4) for end in wilson_ends(0.1, 100, 1.959964)]
    [0.0552, 0.1744]
    """
    square = quantile**2
    centre = (rate + square / (2 * count)) / (1 + square / count)
    reach = quantile * math.sqrt(rate * (1 - rate) / count + square / (4 * count**2)) / (1 + square / count)
    return max(0.0, centre - reach), min(1.0, centre + reach)

"""Quantiles of the distributions that intervals are made from.

They come from scipy.special, which loads in a third of the time of scipy.stats, and only when first used.
"""

from __future__ import annotations

import math


def t_quantile(tail: float, df: float) -> float:
    """Return the value that Student's t with ``df`` degrees of freedom exceeds with probability ``tail``.

    >>> round(t_quantile(0.025, 10), 3)
    2.228
    >>> round(t_quantile(0.025, math.inf), 3)
    1.96
    """
    from scipy.special import ndtri, stdtrit  # type: ignore[import-untyped]

    return float(-ndtri(tail) if math.isinf(df) else -stdtrit(df, tail))


def t_tail(value: float, df: float) -> float:
    """Return the probability that Student's t with ``df`` degrees of freedom exceeds ``value``.

    >>> round(t_tail(2.228, 10), 3)
    0.025
    """
    from scipy.special import ndtr, stdtr

    return float(ndtr(-value) if math.isinf(df) else stdtr(df, -value))


def jeffreys_ends(rate: float, count: float, tail: float) -> tuple[float, float]:
    """Return both ends of a rate: ``rate * count`` events in ``count`` trials, neither need be whole.

    Jeffreys' interval, with exact ends (Clopper and Pearson 1934) where there are no events or
    no others, as Brown, Cai and DasGupta 2001 advise; effective counts as in Franco et al. 2019.

    >>> [round(end, 4) for end in jeffreys_ends(0.03, 100, 0.025)]
    [0.0085, 0.0779]
    >>> low, high = jeffreys_ends(0.0, 100, 0.025)
    >>> low, round(high, 4)
    (0.0, 0.0362)
    """
    from scipy.special import betaincinv

    if not 0 < rate < 1:
        return exact_ends(rate, count, tail)
    events = rate * count + 0.5
    others = count - events + 1
    return float(betaincinv(events, others, tail)), float(betaincinv(events, others, 1 - tail))


def exact_ends(rate: float, count: float, tail: float) -> tuple[float, float]:
    """Return both ends of a rate that err with at most ``tail`` whatever the truth is (Clopper and Pearson 1934).

    >>> [round(end, 4) for end in exact_ends(0.03, 100, 0.025)]
    [0.0062, 0.0852]
    """
    from scipy.special import betaincinv

    events, others = rate * count, (1 - rate) * count
    low = 0.0 if rate <= 0 else float(betaincinv(events, others + 1, tail))
    return low, 1.0 if rate >= 1 else float(betaincinv(events + 1, others, 1 - tail))


def unseen_share(clusters: float, tail: float) -> float:
    """Return the largest share of clusters that goes unseen with probability ``tail``: 1 - tail^(1/G).

    >>> round(unseen_share(100, 0.025), 4)
    0.0362
    """
    return -math.expm1(math.log(tail) / clusters)

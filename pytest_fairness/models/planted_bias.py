"""Probabilities of a simulated model with planted bias: exact means over items that differ in difficulty."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator
from functools import cache, lru_cache
from struct import Struct

from pytest_fairness.core import json_text as json
from pytest_fairness.core.items import Prompt

_ITEM = ("item", "item_id")
_PRONOUNS = frozenset(["he", "she", "him", "his", "her", "hers", "they", "them", "their", "mr", "ms", "mrs", "mx"])
_WORD = re.compile(r"[^\W\d_]+")
_EIGHT = Struct(">8Q")


def uniforms(*seed: object) -> Iterator[float]:
    """Yield random numbers without end from 0 (included) to 1 (not), which depend on ``seed`` alone.

    >>> next(uniforms("seed", 1)) == next(uniforms("seed", 1))
    True
    """
    return uniforms_of(json.dumps(seed, default=str))


def uniforms_of(seed: str) -> Iterator[float]:
    """Yield the numbers of `uniforms` for a seed that is written as JSON."""
    block = seed.encode()
    while True:
        block = hashlib.blake2b(block).digest()
        for number in _EIGHT.unpack(block):
            yield (number >> 11) / 2**53


def item_identity(prompt: Prompt) -> str:
    """Return a text that the prompts of one item share.

    It is ``metadata["item"]`` or ``metadata["item_id"]``, where there is one. Else it is the set of the prompt's
    words without those that change between the prompts of an item: capitalized words (names), pronouns, and the
    words of the prompt's own groups. A set, so that orders of the same choices are one item.
    """
    for key in _ITEM:
        if key in prompt.metadata:
            return str(prompt.metadata[key])
    group_words = {word for group in prompt.groups.values() for word in _WORD.findall(group.lower())}
    words = {word for message in prompt.conversation for word in _WORD.findall(message["content"]) if word.islower()}
    return " ".join(sorted(words - group_words - _PRONOUNS))


def item_probability(mean: float, spread: float, quantile: float, response: float = 0.0, level: float = 0.0) -> float:
    """Return the probability of one item, such that the mean over all items is exactly ``mean``.

    With a response the mean is exact where a third of the items has each of the levels 1, 0 and -1.

    Args:
        mean: The mean probability over items.
        spread: The standard deviation over items of the logit, which is normally distributed.
        quantile: The item's position in that distribution, from 0 to 1.
        response: The difference in logits between the levels 1 and -1 of a control.
        level: The item's level.

    >>> item_probability(0.3, 0, 0.9)
    0.3
    >>> [round(item_probability(0.5, 0, 0.9, response=4, level=level), 3) for level in (1, 0, -1)]
    [0.881, 0.5, 0.119]
    """
    if (spread == 0 and response == 0) or mean in (0.0, 1.0):
        return mean
    logit = _mean_logit(mean, spread, response) + response / 2 * level
    if spread == 0:
        return _logistic(logit)
    from statistics import NormalDist

    deviation = NormalDist().inv_cdf(min(max(quantile, 1e-12), 1 - 1e-12))
    return _logistic(logit + spread * deviation)


def shift_logit(share: float, logits: float) -> float:
    """Return a probability whose logit is larger by ``logits``.

    >>> round(shift_logit(0.5, 1.0), 3), shift_logit(1.0, -3.0)
    (0.731, 1.0)
    """
    return share if share in (0.0, 1.0) else _logistic(math.log(share / (1 - share)) + logits)


@cache
def _grid() -> list[float]:
    """Return values of the standard normal distribution, evenly spaced in probability."""
    from statistics import NormalDist

    return [NormalDist().inv_cdf((step + 0.5) / 400) for step in range(400)]


@lru_cache(maxsize=256)
def _mean_logit(mean: float, spread: float, response: float) -> float:
    """Return the logit at which the mean probability over items and levels is ``mean``, by bisection."""
    deviations = [spread * deviation for deviation in _grid()] if spread else [0.0]
    if response:
        deviations = [deviation + shift for deviation in deviations for shift in (-response / 2, 0.0, response / 2)]
    logit = math.log(mean / (1 - mean))
    low, high = logit - spread**2 - response - 1, logit + spread**2 + response + 1
    for _ in range(60):
        middle = (low + high) / 2
        if sum(_logistic(middle + deviation) for deviation in deviations) / len(deviations) < mean:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _logistic(logit: float) -> float:
    return 1 / (1 + math.exp(-logit)) if logit > -700 else 0.0

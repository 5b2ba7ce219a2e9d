"""The arithmetic of planted bias: exact shares in spite of items that differ in difficulty."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator
from functools import lru_cache
from statistics import NormalDist

from pytest_fairness.core.items import Prompt

_NORMAL = NormalDist()
_GRID = [_NORMAL.inv_cdf((step + 0.5) / 400) for step in range(400)]
_ITEM = ("item", "item_id")
_PRONOUNS = frozenset(["he", "she", "him", "his", "her", "hers", "they", "them", "their", "mr", "ms", "mrs", "mx"])
_WORD = re.compile(r"[^\W\d_]+")


def uniforms(*what: object) -> Iterator[float]:
    """Endless numbers from 0 (included) to 1 (not), decided by ``what`` alone.

    >>> next(uniforms("seed", 1)) == next(uniforms("seed", 1))
    True
    """
    block = json.dumps(what, default=str).encode()
    while True:
        block = hashlib.blake2b(block).digest()
        for start in range(0, 64, 8):
            yield (int.from_bytes(block[start : start + 8]) >> 11) / 2**53


def item_identity(prompt: Prompt) -> str:
    """Return what the prompts of one item have in common.

    It is ``metadata["item"]`` or ``metadata["item_id"]``, where there is one. A model is not told
    which item a prompt belongs to, so else it is the prompt's set of words without those that
    change between the prompts of an item: words with a capital (names), pronouns, the words of the
    prompt's own groups; a set, so that orders of the same choices are one item.
    """
    for key in _ITEM:
        if key in prompt.metadata:
            return str(prompt.metadata[key])
    changing = {word for group in prompt.groups.values() for word in _WORD.findall(group.lower())} | _PRONOUNS
    words = {word for message in prompt.conversation for word in _WORD.findall(message["content"]) if word.islower()}
    return " ".join(sorted(words - changing))


def share_of_item(share: float, spread: float, item_draw: float) -> float:
    """Return the probability of one item, so that the mean over all items is exactly ``share``.

    Its logit is normal over items with the standard deviation ``spread``; ``item_draw`` is the
    item's deviation in that distribution (0 to 1).

    >>> share_of_item(0.3, 0, 0.9)
    0.3
    """
    if spread == 0 or share in (0.0, 1.0):
        return share
    deviation = _NORMAL.inv_cdf(min(max(item_draw, 1e-12), 1 - 1e-12))
    return _logistic(_center(share, spread) + spread * deviation)


def shifted(share: float, logits: float) -> float:
    """Return a probability moved by so many logits.

    >>> round(shifted(0.5, 1.0), 3), shifted(1.0, -3.0)
    (0.731, 1.0)
    """
    return share if share in (0.0, 1.0) else _logistic(math.log(share / (1 - share)) + logits)


@lru_cache(maxsize=256)
def _center(share: float, spread: float) -> float:
    """Return the mean logit at which the mean probability over items is ``share``, by bisection."""
    low = high = math.log(share / (1 - share))
    low, high = low - spread**2 - 1, high + spread**2 + 1
    for _ in range(60):
        middle = (low + high) / 2
        if sum(_logistic(middle + spread * deviation) for deviation in _GRID) / len(_GRID) < share:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _logistic(logit: float) -> float:
    return 1 / (1 + math.exp(-logit)) if logit > -700 else 0.0

"""Rates of requests and tokens that providers allow."""

from __future__ import annotations

from typing import NamedTuple

USED = 0.92
"""The share of a rate limit that is used: requests come in less evenly than they leave."""
BURST = 0.05
"""Seconds for which unused requests and tokens are kept."""
MANY = 1_000_000
"""The number of requests that stands for no limit."""


class Rates(NamedTuple):
    """Requests and tokens that a provider takes in a minute; None for what it does not limit."""

    requests: float | None = None
    tokens: float | None = None

    def __bool__(self) -> bool:
        return (self.requests, self.tokens) != (None, None)


UNLIMITED = Rates()


def per_second(rate: float) -> float:
    """Return the requests or tokens of a second that are used, of a rate in a minute."""
    return rate / 60 * USED


def burst(rates: Rates) -> int:
    """Return the most requests that the rates let leave at a time."""
    return MANY if rates.requests is None else int(1 + per_second(rates.requests) * BURST)

"""Retries of requests: how often, and the wait between them."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from pytest_fairness.core.errors import TransientError

T = TypeVar("T")
_LONGEST_DOUBLED = 30.0
"""Seconds between two requests, where the provider asks for no longer wait."""
_FIRST_PACED, _LONGEST_PACED = 0.1, 1.0
"""The first and the longest wait of a request that was refused for the rate: the throttle holds it back as well."""


@dataclass(frozen=True, slots=True)
class Retries:
    """The number of tries of a request, and the first of the doubling waits between, in seconds.

    Twice as often where the model answers others meanwhile: then only this one has had no luck.
    """

    tries: int = 6
    first_wait: float = 0.5

    def wait(self, failures: int, error: TransientError, *, is_throttled: bool = False) -> float:
        """Return the seconds until the next request: what the provider asks for, or twice the last wait.

        Args:
            failures: How many requests have failed so far.
            error: The last failure.
            is_throttled: Whether the throttle of the endpoint holds the request back as well.
        """
        first, longest = (_FIRST_PACED, _LONGEST_PACED) if is_throttled else (self.first_wait, _LONGEST_DOUBLED)
        return with_jitter(max(requested_wait(error), min(first * (1 << min(failures, 20) - 1), longest)))


def requested_wait(error: TransientError) -> float:
    """Return the seconds that a provider asks to wait; 0 where it asks for none, or for what is no time."""
    wait = error.retry_after
    return float(wait) if isinstance(wait, int | float) and 0 < wait < math.inf else 0.0


def with_jitter(wait: float) -> float:
    """Return a wait made longer by chance: requests that were refused together must not return together."""
    return wait + random.random() * min(wait / 4, 1.0)


async def call_with_retries(retries: Retries, call: Callable[[], Awaitable[T]]) -> T:
    """Call a coroutine function, again where it raises a `TransientError`; return its value."""
    failures = 0
    while True:
        try:
            return await call()
        except TransientError as error:
            failures += 1
            if failures >= retries.tries:
                raise
            wait = retries.wait(failures, error)
        await asyncio.sleep(wait)

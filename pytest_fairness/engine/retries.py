"""Retries of requests: their number, and the waits between them."""

from __future__ import annotations

import math
import random
from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeVar

from pytest_fairness.core.errors import TransientError
from pytest_fairness.core.event_loops import sleep

T = TypeVar("T")
_LONGEST_WAIT = 30.0
"""Longest wait between two requests in seconds, unless the provider requests a longer one."""
_FIRST_THROTTLED_WAIT, _LONGEST_THROTTLED_WAIT = 0.1, 1.0
"""First and longest wait of a request that was refused for the rate: the throttle delays it as well."""


class Retries(NamedTuple):
    """The number of tries of a request, and the first wait between them in seconds, which doubles each time.

    There are twice as many tries if the model answers others meanwhile, and some of these only after a failure.
    """

    tries: int = 6
    first_wait: float = 0.5

    def wait(self, failures: int, error: TransientError, *, is_throttled: bool = False) -> float:
        """Return the seconds until the next request: the provider's wait, or twice the last one if that is longer.

        Args:
            failures: The number of failed requests so far.
            error: The last failure.
            is_throttled: Whether the throttle of the endpoint delays the request as well.
        """
        first, longest = self.first_wait, _LONGEST_WAIT
        if is_throttled:
            first, longest = _FIRST_THROTTLED_WAIT, _LONGEST_THROTTLED_WAIT
        return add_jitter(max(requested_wait(error), min(first * (1 << min(failures, 20) - 1), longest)))


def requested_wait(error: TransientError) -> float:
    """Return the wait that a provider requests, in seconds; 0 for none, or for an invalid one."""
    wait = error.retry_after
    return float(wait) if isinstance(wait, int | float) and 0 < wait < math.inf else 0.0


def add_jitter(wait: float) -> float:
    """Return a randomly longer wait: requests that were refused together must not be sent again together."""
    return wait + random.random() * min(wait / 4, 1.0)


async def call_with_retries(retries: Retries, call: Callable[[], Awaitable[T]]) -> T:
    """Return the value of a coroutine function, which is called again after a `TransientError`."""
    failures = 0
    while True:
        try:
            return await call()
        except TransientError as error:
            failures += 1
            if failures >= retries.tries:
                raise
            wait = retries.wait(failures, error)
        await sleep(wait)

"""Growth of the time that a text takes, on a machine of any speed."""

from __future__ import annotations

import time
from collections.abc import Callable

SHORT, LONG = 6_250, 50_000
FACTOR = 24
"""Eight times the text takes a linear reader 8 times as long, a quadratic one 64 times."""
NOISE = 0.05
"""Seconds that the garbage collector may take meanwhile."""


def takes_linear_time(read: Callable[[str], object], piece: str) -> bool:
    """Return whether reading a long repetition of a piece takes about as much longer as it is."""

    def seconds(length: int) -> float:
        text = piece * (length // len(piece))
        start = time.thread_time()
        read(text)
        return time.thread_time() - start

    return any(seconds(LONG) < FACTOR * seconds(SHORT) + NOISE for _ in range(3))

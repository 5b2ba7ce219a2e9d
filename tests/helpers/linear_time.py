"""Growth of the time that a text takes, on a machine of any speed."""

from __future__ import annotations

import time
from collections.abc import Callable

from pytest_fairness.core.garbage_collection import paused_collection

SHORT, LONG = 1_562, 12_500
"""Lengths of texts of which graders read every character: of those beyond 16,000 they read both ends."""
FACTOR = 24
"""Eight times the text takes a linear reader 8 times as long, a quadratic one 64 times."""
NOISE = 0.003
"""Seconds that the machine may take meanwhile."""


def takes_linear_time(read: Callable[[str], object], piece: str) -> bool:
    """Return whether reading a long repetition of a piece takes about as much longer as it is."""

    def seconds(length: int, attempt: int) -> float:
        text = piece * (length // len(piece) + attempt)  # each text once: graders cache what they have read
        start = time.thread_time()
        read(text)
        return time.thread_time() - start

    with paused_collection():
        return any(seconds(LONG, attempt) < FACTOR * seconds(SHORT, attempt) + NOISE for attempt in range(3))

"""CPU seconds that the thresholds of a plan or certificate share."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class TimeBudget:
    """CPU seconds for a number of thresholds: what one leaves is shared by those after it.

    Args:
        seconds: The seconds for all thresholds.
        thresholds: Their number.
    """

    def __init__(self, seconds: float, thresholds: int) -> None:
        self._seconds, self._thresholds = seconds, thresholds

    @contextmanager
    def share(self) -> Iterator[float]:
        """Return the seconds of the next threshold, which is computed within the block."""
        start = time.process_time()
        yield max(self._seconds, 0.0) / max(self._thresholds, 1)
        self._seconds -= time.process_time() - start
        self._thresholds -= 1

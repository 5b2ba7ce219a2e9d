"""Deadlines for events of other threads and processes."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_until(happened: Callable[[], object], seconds: float = 100.0) -> None:
    """Wait for what must happen, on a busy machine later."""
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)

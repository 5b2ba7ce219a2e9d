"""The time, also while a test replaces that of Python, as those with freezegun do.

freezegun replaces the functions of `time` in all modules: waits and deadlines would not end, and a flaky mark would not
expire. It does not replace attributes of classes.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime


class Clock:
    """Functions of `time`, as they were when this module was imported."""

    now_in_seconds = staticmethod(time.time)
    """The seconds since 1970."""
    monotonic = staticmethod(time.monotonic)
    perf_counter = staticmethod(time.perf_counter)
    _datetime = datetime

    @classmethod
    def now(cls) -> datetime:
        """Return the present moment, in UTC."""
        return cls._datetime.fromtimestamp(cls.now_in_seconds(), UTC)

"""Event loop of the engine, which shows other threads when it waits."""

from __future__ import annotations

import asyncio
import sys
import threading
from selectors import DefaultSelector, SelectorKey


class _Selector(DefaultSelector):
    """Selector that sets an event while it waits."""

    def __init__(self, is_idle: threading.Event) -> None:
        super().__init__()
        self._is_idle = is_idle

    def select(self, timeout: float | None = None) -> list[tuple[SelectorKey, int]]:
        ready = super().select(0)
        if ready or (timeout is not None and timeout <= 0):
            return ready
        self._is_idle.set()
        try:
            return super().select(timeout)
        finally:
            self._is_idle.clear()


def new_event_loop(is_idle: threading.Event) -> asyncio.AbstractEventLoop:
    """Return an event loop that sets an event while it has nothing to do.

    Args:
        is_idle: The event. On Windows, whose loop has no selector, it is always set.
    """
    is_idle.set()
    return asyncio.new_event_loop() if sys.platform == "win32" else asyncio.SelectorEventLoop(_Selector(is_idle))

"""Event loop of the engine, which shows other threads when it waits."""

from __future__ import annotations

import sys
import threading
from selectors import DefaultSelector, SelectorKey

from pytest_fairness.core.clock import Clock
from pytest_fairness.core.event_loops import AbstractEventLoop, SelectorEventLoop, make_loop

_SWITCH_INTERVAL = 2e-6
"""The interpreter's switch interval while the loop waits for connections, in seconds: one that no test sets.

A thread that wakes needs the interpreter. The tests' thread gives it up at each call of the operating system, a dozen
times a test, and mostly has it back before the loop's thread has woken, which then wakes in vain. After this interval
it takes the interpreter instead: a request with its test needs a tenth less CPU time.
"""


class _Selector(DefaultSelector):
    """Selector that sets an event while it waits, and then is quick to get the interpreter back."""

    _interval = sys.getswitchinterval()
    """The last switch interval that no loop has set; all loops share it."""

    def __init__(self, is_idle: threading.Event) -> None:
        super().__init__()
        self._is_idle = is_idle

    def select(self, timeout: float | None = None) -> list[tuple[SelectorKey, int]]:
        ready = super().select(0)
        if ready or (timeout is not None and timeout <= 0):
            return ready
        has_connections = len(self.get_map()) > 1  # one is the loop's own
        if has_connections:
            if (interval := sys.getswitchinterval()) != _SWITCH_INTERVAL:  # else of another loop, or put back by a test
                _Selector._interval = interval
            sys.setswitchinterval(_SWITCH_INTERVAL)
        self._is_idle.set()
        try:
            return super().select(timeout)
        finally:
            self._is_idle.clear()
            if has_connections and sys.getswitchinterval() == _SWITCH_INTERVAL:  # else a test has set another
                sys.setswitchinterval(_Selector._interval)


class _Loop(SelectorEventLoop):
    """Event loop whose timers run while a test stops the time."""

    time = Clock.monotonic


def new_event_loop(is_idle: threading.Event) -> AbstractEventLoop:
    """Return an event loop that sets an event while it has nothing to do.

    Args:
        is_idle: The event. On Windows, whose loop has no selector, it is always set.
    """
    is_idle.set()
    if sys.platform != "win32":
        return make_loop(lambda: _Loop(_Selector(is_idle)))
    loop = make_loop()
    vars(loop)["time"] = Clock.monotonic
    return loop

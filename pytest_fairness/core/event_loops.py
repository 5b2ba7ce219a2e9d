"""Event loops and the parts of `asyncio` that run them, also while a test blocks sockets or replaces these parts.

A loop wakes by a pair of sockets of its own: without them, as with pytest-socket, not even a simulated model would
answer. A test that replaces `asyncio.timeout`, so that nothing waits, would end the engine.
"""

from __future__ import annotations

import socket
from asyncio import (
    AbstractEventLoop,
    CancelledError,
    Event,
    Future,
    Lock,
    SelectorEventLoop,
    Semaphore,
    Task,
    all_tasks,
    current_task,
    ensure_future,
    gather,
    get_running_loop,
    new_event_loop,
    run,
    run_coroutine_threadsafe,
    sleep,
    timeout,
    to_thread,
    wait,
    wrap_future,
)
from collections.abc import Callable

from pytest_fairness.core.errors import FairnessError

__all__ = [
    "AbstractEventLoop",
    "CancelledError",
    "Event",
    "Future",
    "Lock",
    "SelectorEventLoop",
    "Semaphore",
    "Task",
    "all_tasks",
    "current_task",
    "ensure_future",
    "gather",
    "get_running_loop",
    "make_loop",
    "run",
    "run_coroutine_threadsafe",
    "sleep",
    "timeout",
    "to_thread",
    "wait",
    "wrap_future",
]

_Socket = socket.socket


def make_loop(make: Callable[[], AbstractEventLoop] = new_event_loop) -> AbstractEventLoop:
    """Return the new event loop of a function, which is called with Python's own class of sockets.

    Raises:
        FairnessError: A test has replaced the loops of `asyncio`, so that no code would run.
    """
    replaced = socket.socket
    socket.socket = _Socket  # type: ignore[misc]
    try:
        loop = make()
    finally:
        socket.socket = replaced  # type: ignore[misc]
    if not isinstance(loop, AbstractEventLoop):
        raise FairnessError(
            f"asyncio made {loop!r:.60} in place of an event loop: a fixture or test replaces parts of asyncio, "
            "and must put them back before it measures"
        )
    return loop

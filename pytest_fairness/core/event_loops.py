"""Event loops and the parts of `asyncio` that run them, also while a test blocks sockets or replaces these parts.

A loop wakes by a pair of sockets of its own: without them, as with pytest-socket, not even a simulated model would
answer. A test that replaces `asyncio.timeout`, so that nothing waits, would end the engine.
"""

from __future__ import annotations

import concurrent.futures
import contextvars
import socket
import threading
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
        FairnessError: A test has replaced the loops of `asyncio`, or what they need, so that no code would run.
    """
    _check_threads()
    replaced = socket.socket
    socket.socket = _Socket  # type: ignore[misc]
    try:
        loop = make()
    finally:
        socket.socket = replaced  # type: ignore[misc]
    if not isinstance(loop, AbstractEventLoop):
        raise _refusal(f"asyncio made {loop!r:.60} in place of an event loop", "asyncio")
    return loop


def _check_threads() -> None:
    """Raise `FairnessError` where a test has replaced what a loop in a thread needs: it would wait for ever."""
    for module, name in ((threading, "Thread"), (threading, "Event"), (concurrent.futures, "Future")):
        part = getattr(module, name)
        if not issubclass(type(part), type):
            raise _refusal(f"{module.__name__}.{name} is {part!r:.60}, no class", module.__name__)
    if type(context := contextvars.copy_context()) is not contextvars.Context:
        raise _refusal(f"contextvars.copy_context gave {context!r:.60}, no context", "contextvars")


def _refusal(fault: str, module: str) -> FairnessError:
    return FairnessError(
        f"{fault}: a fixture or test replaces parts of {module}, and must put them back before it measures"
    )

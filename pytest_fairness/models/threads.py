"""Threads that run blocking calls for an event loop and never hold up the end of the process."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import queue
import threading
from collections.abc import Callable
from typing import Any

_Outcome = tuple[Any, BaseException | None]
_Job = tuple[Callable[[], Any], asyncio.AbstractEventLoop, "asyncio.Future[_Outcome]"]


class DaemonThreads:
    """At most ``size`` threads, started as they are needed.

    The standard executor joins its threads when the process ends, so a call that hangs would
    make Ctrl-C hang as well.
    """

    def __init__(self, size: int, name: str) -> None:
        self._size, self._name = max(size, 1), name
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._started = self._busy = 0

    async def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The function's value, or its exception. Call it from one event loop."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[_Outcome] = loop.create_future()
        context = contextvars.copy_context()
        self._busy += 1
        if self._busy > self._started and self._started < self._size:
            self._started += 1
            name = f"{self._name}-{self._started}"
            threading.Thread(target=_work, args=(self._jobs,), name=name, daemon=True).start()
        self._jobs.put((lambda: context.run(function, *arguments), loop, future))
        try:
            value, error = await future
        finally:
            self._busy -= 1
        if error is not None:
            raise error
        return value

    def close(self) -> None:
        """Let the threads end once their present calls have."""
        for _ in range(self._started):
            self._jobs.put(None)
        self._started = 0


def _work(jobs: queue.SimpleQueue[_Job | None]) -> None:
    while (job := jobs.get()) is not None:
        call, loop, future = job
        if not future.cancelled():
            _deliver(loop, future, _outcome(call))


def _outcome(call: Callable[[], Any]) -> _Outcome:
    # Every exception: the thread has to live on, and a future takes no StopIteration.
    try:
        return call(), None
    except BaseException as error:  # noqa: BLE001
        return None, error


def _deliver(loop: asyncio.AbstractEventLoop, future: asyncio.Future[_Outcome], outcome: _Outcome) -> None:
    def settle() -> None:
        if not future.cancelled():
            future.set_result(outcome)

    # A loop that was closed meanwhile waits for nothing.
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(settle)

"""Daemon threads that run blocking code for an event loop, without delaying the end of the process."""

from __future__ import annotations

import contextlib
import contextvars
import queue
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from functools import partial
from typing import Any

from pytest_fairness.core.event_loops import (
    AbstractEventLoop,
    all_tasks,
    current_task,
    gather,
    make_loop,
    run_coroutine_threadsafe,
    wrap_future,
)
from pytest_fairness.core.threads import DaemonExecutor, fulfill

_Job = tuple["Future[Any]", Callable[[], Any]]


class DaemonThreads:
    """A pool of at most ``size`` threads, which are started on demand.

    The standard executor joins its threads when the process ends, so a call that hangs would make Ctrl-C hang as well.
    """

    def __init__(self, size: int, name: str) -> None:
        self._size, self._name = max(size, 1), name
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._started = self._busy = 0

    async def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the function's value, or raise its exception; must be called from one event loop."""
        self._busy += 1
        if self._busy > self._started and self._started < self._size:
            self._started += 1
            name = f"{self._name}-{self._started}"
            threading.Thread(target=_work, args=(self._jobs,), name=name, daemon=True).start()
        future: Future[Any] = Future()
        self._jobs.put((future, partial(contextvars.copy_context().run, function, *arguments)))
        try:
            return await wrap_future(future)
        finally:
            self._busy -= 1

    def close(self) -> None:
        """End the threads after their current calls."""
        for _ in range(self._started):
            self._jobs.put(None)
        self._started = 0


class LoopThread:
    """An event loop in its own thread, which is started on demand: code that blocks it blocks no other loop."""

    def __init__(self) -> None:
        self._loop: AbstractEventLoop | None = None

    async def run(self, function: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run a coroutine function in the loop; must be called from one event loop."""
        if self._loop is None:
            self._loop = make_loop()
            self._loop.set_default_executor(DaemonExecutor())
            threading.Thread(target=_run_forever, args=(self._loop,), name="fairness-loop", daemon=True).start()
        await wrap_future(run_coroutine_threadsafe(function(), self._loop))

    def close(self) -> None:
        """Cancel the running coroutines, and end the thread. The next call starts another."""
        loop, self._loop = self._loop, None
        if loop is not None:
            run_coroutine_threadsafe(_end(loop), loop)


def _run_forever(loop: AbstractEventLoop) -> None:
    has_ended = False
    while not has_ended:  # sys.exit() in a background task of the application is raised here
        with contextlib.suppress(BaseException):
            loop.run_forever()
            has_ended = True
    loop.close()


async def _end(loop: AbstractEventLoop) -> None:
    tasks = all_tasks() - {current_task()}
    for task in tasks:
        task.cancel()
    await gather(*tasks, return_exceptions=True)
    await loop.shutdown_asyncgens()
    loop.stop()


def _work(jobs: queue.SimpleQueue[_Job | None]) -> None:
    while (job := jobs.get()) is not None:
        fulfill(*job)

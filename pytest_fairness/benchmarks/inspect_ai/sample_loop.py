"""The event loop that samples of inspect_ai run on, in steps: each ends where a sample waits for answers of models.

Solvers and scorers are coroutines; our engine has the answers. So a sample runs until nothing in it can go on without
an answer, its calls are collected, and it goes on when all of them are answered. The order of calls then depends on
the solver alone, not on which answer came first, and a later run makes the same calls.
"""

from __future__ import annotations

import asyncio
import random
import selectors
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from queue import SimpleQueue
from typing import Any, Protocol

from pytest_fairness.core.threads import fulfill


class SteppedRun(Protocol):
    """A run of a sample, as the loop sees it."""

    random_state: Any
    """The state of `random` at the end of the last step: each run draws numbers of its own."""

    @property
    def is_waiting(self) -> bool:
        """Return whether it has calls that are not answered."""
        ...


class SampleLoop:
    """An event loop in a daemon thread, which runs one step of one sample at a time.

    The thread is not that of the tests: pytest itself may have been started within an event loop, in a notebook.
    """

    def __init__(self) -> None:
        self._jobs: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._loop: asyncio.SelectorEventLoop | None = None
        self._current: SteppedRun | None = None

    def step(self, run: SteppedRun, begin: Callable[[asyncio.AbstractEventLoop], asyncio.Task[Any] | None]) -> None:
        """Run a step of a sample, and wait for its end.

        Args:
            run: The sample.
            begin: Called in the loop's thread at the beginning; returns the sample's task where it has just begun.
        """
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="fairness-inspect", daemon=True)
                self._thread.start()
        future: Future[Any] = Future()
        self._jobs.put((future, partial(self._step, run, begin)))
        future.result()

    def _work(self) -> None:
        self._loop = asyncio.SelectorEventLoop(_IdleSelector(self._is_idle))
        asyncio.set_event_loop(self._loop)
        while True:
            fulfill(*self._jobs.get())

    def _step(self, run: SteppedRun, begin: Callable[[asyncio.AbstractEventLoop], asyncio.Task[Any] | None]) -> None:
        assert self._loop is not None  # noqa: S101 - made by the thread that calls this
        outer = random.getstate()
        random.setstate(run.random_state)
        try:
            self._current = run
            if (task := begin(self._loop)) is not None:
                task.add_done_callback(lambda _: self._stop())
            self._loop.run_forever()
        finally:
            self._current = None
            run.random_state = random.getstate()
            random.setstate(outer)

    def _stop(self) -> None:
        if self._loop is not None:
            self._loop.stop()

    def _is_idle(self) -> bool:
        """Stop the loop, which has nothing to run, where the current sample waits for models only."""
        if self._current is None or not self._current.is_waiting:
            return False
        self._stop()
        return True


class _IdleSelector(selectors.DefaultSelector):
    """A selector that is asked by the loop to wait only when no callback is ready."""

    def __init__(self, is_idle: Callable[[], bool]) -> None:
        super().__init__()
        self._is_idle = is_idle

    def select(self, timeout: float | None = None) -> Any:
        if (timeout is None or timeout > 0) and self._is_idle():
            timeout = 0
        return super().select(timeout)

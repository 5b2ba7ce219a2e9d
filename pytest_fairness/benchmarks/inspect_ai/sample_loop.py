"""The event loop that samples of inspect_ai run on, in steps: each ends where a sample waits for answers of models.

Solvers and scorers are coroutines; our engine has the answers. So a sample runs until nothing in it can go on without
an answer, its calls are collected, and it goes on when all of them are answered. The order of calls then depends on
the solver alone, not on which answer came first, and a later run makes the same calls.
"""

from __future__ import annotations

import asyncio
import random
import selectors
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any, Protocol

from pytest_fairness.core.threads import DaemonExecutor


class SteppedRun(Protocol):
    """A run of a sample, as the loop sees it."""

    @property
    def is_waiting(self) -> bool:
        """Return whether it has calls that are not answered."""
        ...

    def restore_random(self) -> None:
        """Set `random` to its state at the end of the last step: each run draws numbers of its own."""
        ...

    def note_random(self) -> None:
        """Note the state of `random`, at the end of a step."""
        ...


class SampleLoop:
    """An event loop that runs one step of one sample at a time, in the thread of the tests."""

    def __init__(self) -> None:
        self._loop = asyncio.SelectorEventLoop(_IdleSelector(self._is_idle))
        self._current: SteppedRun | None = None

    def step(self, run: SteppedRun, begin: Callable[[asyncio.AbstractEventLoop], asyncio.Task[Any] | None]) -> None:
        """Run a step of a sample, and wait for its end.

        Args:
            run: The sample.
            begin: Called at the beginning; returns the sample's task where it has just begun.
        """
        outer: asyncio.AbstractEventLoop | None = None
        with suppress(RuntimeError):  # none is running
            outer = asyncio.get_running_loop()
        if outer is None:
            self._step(run, begin)
        else:  # as in a notebook: two loops cannot run in one thread
            DaemonExecutor().submit(self._step, run, begin).result()

    def _step(self, run: SteppedRun, begin: Callable[[asyncio.AbstractEventLoop], asyncio.Task[Any] | None]) -> None:
        outer = random.getstate()
        run.restore_random()
        try:
            self._current = run
            if (task := begin(self._loop)) is not None:
                task.add_done_callback(lambda _: self._stop(run))
            self._loop.run_forever()
        finally:
            self._current = None
            run.note_random()
            random.setstate(outer)

    def _stop(self, run: SteppedRun) -> None:
        if run is self._current:  # not of one that Ctrl-C has ended
            self._loop.stop()

    def _is_idle(self) -> bool:
        """Stop the loop, which has nothing to run, where the current sample waits for models only."""
        if self._current is None or not self._current.is_waiting:
            return False
        self._loop.stop()
        return True


@cache
def sample_loop() -> SampleLoop:
    """Return the loop of this process. It is never dropped: one that is warns that nobody has closed it."""
    return SampleLoop()


class _IdleSelector(selectors.DefaultSelector):
    """A selector that is asked by the loop to wait only when no callback is ready."""

    def __init__(self, is_idle: Callable[[], bool]) -> None:
        super().__init__()
        self._is_idle = is_idle

    def select(self, timeout: float | None = None) -> Any:
        if (timeout is None or timeout > 0) and self._is_idle():
            timeout = 0
        return super().select(timeout)

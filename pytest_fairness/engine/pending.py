"""Results of requests, for which tests wait: the engine's thread writes them, the tests' thread reads them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from pytest_fairness.core.attempts import Attempt, Grade
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.engine.errors import BudgetExceededError, RunStoppedError
from pytest_fairness.engine.requests import Request

_LONGEST_WORK = 0.05
"""Seconds for which a test waits while the engine's loop works: a model may block it without end."""
_LONGEST_WRITE = 0.01
"""Seconds for which a test waits for one exchange with the store: a database may be slow."""


class PendingResults:
    """The results of one engine.

    The threads share its dictionaries without a lock: each operation on them is atomic under the GIL, and no entry is
    ever removed. Only waiting needs a condition variable.
    """

    def __init__(self) -> None:
        self.attempts: dict[str, Attempt] = {}
        """The attempts, by key."""
        self.grades: dict[tuple[str, str], Grade] = {}
        """The stored grades, by attempt and by the grader's fingerprint."""
        self.causes: dict[str, str] = {}
        """The errors that all attempts of a model share, each with the model's name."""
        self.refused: dict[str, str] = {}
        """The reason of each key without an answer in this run: a cap, or the provider batch that it is in."""
        self.on_wait: Callable[[], None] | None = None
        """A function that is called about once a second while a test waits."""
        self.meanwhile: list[Callable[[], None]] = []
        """Functions that are called in the tests' thread while a test waits and there are new answers, for graders."""
        self.broken: FairnessError | None = None
        """The error that ended the engine."""
        self.closed = False
        """Whether no more results follow."""
        self.is_waiting = False
        """Whether a test waits for results."""
        self.is_idle = threading.Event()
        """Set while the engine's loop has nothing to do."""
        self._loaded, self._written = threading.Event(), threading.Event()
        for event in (self.is_idle, self._loaded, self._written):
            event.set()
        self._new_results = threading.Condition()
        self._continued = -1
        """The number of requests that had ended when `meanwhile` was last called."""

    def have(self, missing: list[Request]) -> bool:
        """Return whether all of these are answered; answered ones are removed from the end of the list.

        Raises:
            BudgetExceededError: One of them has no answer in this run.
        """
        while missing and missing[-1].key in self.attempts:
            missing.pop()
        if missing and missing[-1].key in self.refused:
            raise BudgetExceededError(self.refused[missing[-1].key])
        return not missing

    def until(self, is_done: Callable[[], bool]) -> None:
        """Wait until a condition holds, which is checked whenever there are new results.

        Raises:
            RunStoppedError: No more results follow.
            FairnessError: The engine failed, with this error.
        """
        while True:
            ended = self._ended()
            if ended > self._continued:  # only then: the callbacks check all that wait
                self._continued = ended
                for callback in self.meanwhile:
                    callback()
            if is_done():
                return
            self._wait(ended)

    def loading(self) -> AbstractContextManager[None]:
        """Let tests wait within the block, in which the store's thread reads answers."""
        return _cleared(self._loaded)

    def writing(self) -> AbstractContextManager[None]:
        """Let a test wait for a moment within the block, in which the store's thread writes answers."""
        return _cleared(self._written)

    def until_idle(self) -> None:
        """Wait, in the tests' thread, while other threads have work: a moment at most, or until answers are read.

        One thread at a time has the interpreter. A test gives it up a dozen times, at each call of the operating
        system, and waits for it as often: a test that runs meanwhile makes both threads several times slower.
        """
        if self.closed or (self._written.is_set() and self.is_idle.is_set() and self._loaded.is_set()):
            return
        if not self._written.wait(_LONGEST_WRITE):
            self._written.set()  # no other test waits for this exchange
        self.is_idle.wait(_LONGEST_WORK)
        while not self._loaded.wait(1.0):
            if self.on_wait is not None:
                self.on_wait()

    def fail(self, part: str, error: BaseException) -> None:
        """End all waits with the error of a part; of several the first counts."""
        own = error if isinstance(error, FairnessError) else None
        message = " ".join(f"{part} failed: {type(error).__name__}: {error}".split())
        self.broken = self.broken or own or FairnessError(message)
        self.closed = True
        self.publish()

    def publish(self) -> None:
        """Wake all waits."""
        with self._new_results:
            self._new_results.notify_all()

    def _wait(self, ended: int) -> None:
        """Wait for a second, or until more requests than ``ended`` have ended."""
        with self._new_results:
            if self._ended() > ended:
                return
            if self.broken is not None:
                raise self.broken
            if self.closed:
                raise RunStoppedError("the run was stopped before this was answered")
            self.is_waiting = True
            self._new_results.wait(1.0)
            self.is_waiting = False
        if self.on_wait is not None:
            self.on_wait()

    def _ended(self) -> int:
        """Return the number of requests that have ended."""
        return len(self.attempts) + len(self.refused)


@contextmanager
def _cleared(event: threading.Event) -> Iterator[None]:
    """Clear an event within the block."""
    event.clear()
    try:
        yield
    finally:
        event.set()

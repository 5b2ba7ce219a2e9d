"""Results of requests, and the wait for them: written by the engine's thread, read by the tests' thread."""

from __future__ import annotations

import threading
from collections.abc import Callable

from pytest_fairness.core.attempts import Attempt, Grade
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.engine.errors import BudgetExceededError, RunStoppedError
from pytest_fairness.engine.requests import Request


class PendingResults:
    """The results of one engine so far.

    The threads share its dictionaries without a lock: each operation on them is atomic under the GIL, and nothing is
    ever taken out. Only the wait itself needs the condition.
    """

    def __init__(self) -> None:
        self.attempts: dict[str, Attempt] = {}
        """By key."""
        self.grades: dict[tuple[str, str], Grade] = {}
        """Stored grades, by attempt and by the grader's fingerprint."""
        self.causes: dict[str, str] = {}
        """Why a model could not be asked at all, with its name: one cause of the errors of all its attempts."""
        self.refused: dict[str, str] = {}
        """Keys without an answer in this run, with the reason: a cap, or the provider batch that they are in."""
        self.on_wait: Callable[[], None] | None = None
        """Called about once a second while a test waits."""
        self.meanwhile: list[Callable[[], None]] = []
        """Called in the tests' thread while a test waits and answers have come: graders use them."""
        self.broken: FairnessError | None = None
        """The error that ended the engine."""
        self.closed = False
        """Whether no more results follow."""
        self._news = threading.Condition()
        self._continued = -1
        """How many requests had come to an end when `meanwhile` was last called."""

    def have(self, missing: list[Request]) -> bool:
        """Return whether all of these are answered; those that are leave the list, from its end.

        Raises:
            BudgetExceededError: One of them has no answer in this run.
        """
        while missing and missing[-1].key in self.attempts:
            missing.pop()
        if missing and missing[-1].key in self.refused:
            raise BudgetExceededError(self.refused[missing[-1].key])
        return not missing

    def until(self, is_done: Callable[[], bool]) -> None:
        """Wait until a condition holds, which is checked whenever results have come.

        Raises:
            RunStoppedError: No more results follow.
            FairnessError: The engine broke; its error.
        """
        while True:
            seen = self._ended()
            if seen > self._continued:  # else each test would look at all that wait
                self._continued = seen
                for callback in self.meanwhile:
                    callback()
            if is_done():
                return
            self._wait(seen)

    def fail(self, what: str, error: BaseException) -> None:
        """End all waits with an error; the first one is kept."""
        failed = error if isinstance(error, FairnessError) else None
        message = " ".join(f"{what} failed: {type(error).__name__}: {error}".split())
        self.broken = self.broken or failed or FairnessError(message)
        self.closed = True
        self.publish()

    def publish(self) -> None:
        """Wake those who wait."""
        with self._news:
            self._news.notify_all()

    def _wait(self, seen: int) -> None:
        with self._news:
            if self._ended() > seen:
                return
            if self.broken is not None:
                raise self.broken
            if self.closed:
                raise RunStoppedError("the run was stopped before this was answered")
            self._news.wait(1.0)
        if self.on_wait is not None:
            self.on_wait()

    def _ended(self) -> int:
        """Return how many requests have come to an end."""
        return len(self.attempts) + len(self.refused)

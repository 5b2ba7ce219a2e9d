"""What has come of the asks, and waiting for the rest: written by the engine's thread, read by the tests'."""

from __future__ import annotations

import threading
from collections.abc import Callable

from pytest_fairness.core.attempts import Attempt, Grade
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.engine.asks import Ask
from pytest_fairness.engine.errors import SpentError, StoppedError


class Answers:
    """The answers of one engine so far."""

    def __init__(self) -> None:
        self.attempts: dict[str, Attempt] = {}
        """By key."""
        self.grades: dict[tuple[str, str], Grade] = {}
        """Stored grades, by attempt and by the grader's fingerprint."""
        self.causes: dict[str, str] = {}
        """Why a model could not be asked at all, with its name: one cause of the errors of all its attempts."""
        self.refused: dict[str, str] = {}
        """Keys that are not going to be answered in this run, with the reason: a cap, or the batch that they are in."""
        self.on_wait: Callable[[], None] | None = None
        """Called while a test waits, about once a second or more often."""
        self.meanwhile: list[Callable[[], None]] = []
        """Called in the tests' thread while a test waits, whenever answers have come: gradings go on with them."""
        self.broken: FairnessError | None = None
        """What ended the engine."""
        self.closed = False
        """Whether nothing more is going to come."""
        self._news = threading.Condition()

    def have(self, missing: list[Ask]) -> bool:
        """Whether all of these are answered; those that are leave the list, from its end.

        Raises `SpentError` where one of them is not going to be.
        """
        while missing and missing[-1].key in self.attempts:
            missing.pop()
        if missing and missing[-1].key in self.refused:
            raise SpentError(self.refused[missing[-1].key])
        return not missing

    def until(self, is_done: Callable[[], bool]) -> None:
        """Wait until this is so. It is looked at again whenever answers have come.

        Raises `StoppedError` once nothing more comes, or what broke the engine.
        """
        while True:
            seen = self._heard()
            for go_on in self.meanwhile:
                go_on()
            if is_done():
                return
            self._wait(seen)

    def fail(self, what: str, error: BaseException) -> None:
        """This has ended the engine: nothing more is going to come. The first that did is told."""
        failed = error if isinstance(error, FairnessError) else None
        said = " ".join(f"{what} failed: {type(error).__name__}: {error}".split())
        self.broken = self.broken or failed or FairnessError(said)
        self.closed = True
        self.publish()

    def publish(self) -> None:
        """Tell those who wait that there is news."""
        with self._news:
            self._news.notify_all()

    def _wait(self, seen: int) -> None:
        """Wait until more is known than what was seen."""
        with self._news:
            if self._heard() > seen:
                return
            if self.broken is not None:
                raise self.broken
            if self.closed:
                raise StoppedError("the run was stopped before this was answered")
            self._news.wait(1.0)
        if self.on_wait is not None:
            self.on_wait()

    def _heard(self) -> int:
        """How many asks have come to an end."""
        return len(self.attempts) + len(self.refused)

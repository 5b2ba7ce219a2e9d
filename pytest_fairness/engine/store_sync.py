"""Exchanges of one process with the store: results and claims, within the caps of the run."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from pytest_fairness.core.attempts import Attempt, Grade
from pytest_fairness.core.event_loops import get_running_loop
from pytest_fairness.engine.budget import Budget
from pytest_fairness.engine.pending import PendingResults
from pytest_fairness.engine.requests import Request
from pytest_fairness.store.spending import SpendingDecision
from pytest_fairness.store.store import CompletedAttempt, Store, SyncResult

if TYPE_CHECKING:
    from pytest_fairness.store.throttle import SlotRequest

_MOST_WAITING_GRADES = 256
"""Number of grades that are written in an exchange of their own: a killed run loses fewer than that."""

GradeRow = tuple[str, str, Grade]
"""A grade, with its attempt's key and its grader's fingerprint."""


class StoreSync:
    """The exchanges of an engine with its store.

    All transactions run one after the other in their own thread, so that neither a slow disk nor a slow function of a
    model blocks the event loop. Results are collected here (`save`, `save_grades`, `release`) and written by the
    next `exchange`, together with the next claims. The transaction that writes an answer ends its claim.
    """

    def __init__(self, store: Store, run: str, budget: Budget, results: PendingResults) -> None:
        self.store, self.run = store, run
        self._budget, self._results = budget, results
        self._completed: dict[str, CompletedAttempt] = {}
        self._writing: dict[str, CompletedAttempt] = {}
        self._grades: deque[GradeRow] = deque()  # the tests' thread appends to it
        self._released: set[str] = set()
        self._thread = ThreadPoolExecutor(1, "fairness-store")

    async def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function in the store's thread."""
        return await get_running_loop().run_in_executor(self._thread, function, *arguments)

    async def look_up(self, requests: Sequence[Request]) -> None:
        """Add the stored answers to these requests to the results."""
        answered = self._results.attempts  # requests that tests have demanded are in the work list, too
        keys = [request.key for request in requests if request.is_stored and request.key not in answered]
        if not keys:
            return
        attempts, grades = await self.call(self.store.load, keys, self.run)
        self._results.grades |= grades
        self._results.attempts |= attempts

    def save(self, request: Request, attempt: Attempt) -> None:
        """Write an attempt with the next exchange; one that is not stored becomes a result at once."""
        if request.is_stored:
            self._completed[request.key] = CompletedAttempt(
                attempt, request.model.key, request.digest, request.prompt.messages
            )
        else:
            self._results.attempts[request.key] = attempt
            self._results.publish()

    def save_grades(self, grades: Sequence[GradeRow]) -> None:
        """Write grades with the next exchange, which they do not trigger; may be called from any thread."""
        self._grades.extend(grades)

    def release(self, request: Request) -> None:
        """Release the claim of an abandoned request with the next exchange."""
        if request.is_stored:
            self._released.add(request.key)

    def __contains__(self, key: str) -> bool:
        """Return whether a request has ended, but still has its claim."""
        return self.has_attempt(key) or key in self._released

    def has_attempt(self, key: str) -> bool:
        """Return whether a request has an attempt that is not written yet, and so is no result."""
        return key in self._completed or key in self._writing

    @property
    def is_due(self) -> bool:
        """Whether there is enough to write for an exchange: a few grades, which cost nothing, can wait."""
        return bool(self._completed or self._released) or len(self._grades) >= _MOST_WAITING_GRADES

    async def flush(self) -> None:
        """Write all remaining results, at the end of the engine."""
        if self.is_due or self._grades or not self._budget.is_written:
            await self.exchange()

    async def exchange(
        self, wanted: Mapping[str, Request] | None = None, slots: Sequence[SlotRequest] = ()
    ) -> SyncResult:
        """Write the collected results, and claim requests within the slots and the caps.

        Attempts become results once they are written. If that fails they remain for the next exchange.

        Args:
            wanted: The requests to claim, in order.
            slots: The requested slots of endpoints, with a report of the replies there.
        """
        completed, self._completed = self._completed, {}
        self._writing = completed
        released, self._released = self._released, set()
        grades = [self._grades.popleft() for _ in range(len(self._grades))]
        try:
            result: SyncResult = await self.call(
                self._exchange, completed.values(), grades, released, wanted or {}, slots
            )
        except BaseException:
            self._completed, self._writing = completed | self._completed, {}
            raise
        self._results.attempts |= {key: ended.attempt for key, ended in completed.items()}
        self._writing = {}
        self._results.attempts |= result.answered
        return result

    def _exchange(
        self,
        completed: Collection[CompletedAttempt],
        grades: Sequence[GradeRow],
        released: Collection[str],
        wanted: Mapping[str, Request],
        slots: Sequence[SlotRequest],
    ) -> SyncResult:
        if released:
            self.store.release(released)
        result = self.store.sync(
            self.run,
            completed=completed,
            grades=grades,
            wanted=[key for key, request in wanted.items() if request.is_stored],
            slots=slots,
            decide=partial(self._budget.decide, wanted),
            is_capped=self._budget.is_capped,
        )
        # In this thread, before its next transaction, which must count the new requests in flight.
        self._budget.commit(result.spending, [wanted[key] for key in result.claimed])
        return result

    async def may_retry(self, request: Request) -> bool:
        """Count a retry of a request in flight, and return whether the caps allow it."""
        if self._budget.is_capped and request.is_stored:
            decision = await self.call(self._retry, request)
        else:
            decision = self._budget.decide_retry(request, ())
            self._budget.commit(decision, retried=request)
        return not decision.refused

    def _retry(self, request: Request) -> SpendingDecision:
        decision = self.store.decide(self.run, partial(self._budget.decide_retry, request))
        self._budget.commit(decision, retried=request)
        return decision

    @contextmanager
    def grading(self, keys: Sequence[str]) -> Iterator[list[GradeRow]]:
        """Hold the lock of batch grading, after loading the grades of these attempts by other processes.

        Yields:
            A list for the missing grades, which are written at the end, before another process gets the lock.
        """
        with self.store.grading():
            self._results.grades |= self.store.load(keys, self.run)[1]
            grades: list[GradeRow] = []
            yield grades
            self.store.sync(self.run, grades=grades)
            self._results.grades |= {(key, fingerprint): grade for key, fingerprint, grade in grades}

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown()

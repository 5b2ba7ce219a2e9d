"""The engine of one process: it sends many requests at a time, ahead of the tests, and stores each answer at once.

It runs in its own thread with its own event loop; tests wait for attempts with `Engine.attempts`.
A request passes these stages: it enters the scheduler from the work list, the tests' demands or the graders' questions;
it is looked up in the store, which may have the answer; it is claimed; the dispatcher sends it to its model; its answer
is stored, and becomes a result that the tests read.
"""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from functools import partial

from pytest_fairness.core.attempts import Attempt
from pytest_fairness.core.clock import Clock
from pytest_fairness.core.errors import FairnessError, StoreError
from pytest_fairness.core.event_loops import Event, sleep, timeout
from pytest_fairness.core.threads import DaemonExecutor
from pytest_fairness.engine.batch_mode import SUBMITTING, BatchMode, batch_size
from pytest_fairness.engine.budget import Budget
from pytest_fairness.engine.context import EngineContext
from pytest_fairness.engine.dispatcher import GRACE, Dispatcher
from pytest_fairness.engine.event_loop import new_event_loop
from pytest_fairness.engine.foreign_claims import POLL_INTERVAL, ForeignClaims
from pytest_fairness.engine.pending import PendingResults
from pytest_fairness.engine.rate_limits import RateLimiters
from pytest_fairness.engine.requests import Request
from pytest_fairness.engine.retries import Retries
from pytest_fairness.engine.scheduler import LOAD, Priority, RequestScheduler
from pytest_fairness.engine.store_sync import StoreSync
from pytest_fairness.store.rates import Rates
from pytest_fairness.store.store import Store

_GATHER = 0.004
"""Seconds for which ended requests are collected for one exchange with the store."""
_LONGEST_GATHER = 0.03
"""The most seconds for which they are, while no test waits and enough requests are claimed ahead."""
_SUPPLY = 8
"""The number of requests in flight for each of which one claimed request is enough."""
_REPORT_EVERY = 128
"""Number of requests taken by tests after which the loop is notified of their position."""
CLOSING = 10.0
"""Seconds to wait for the thread at the end: a model may block its loop without end."""
STOP_INTERVAL = 1.0
"""Seconds between two checks of the store for a stop by another process, while requests are in flight."""


class Engine:
    """Attempts for the tests of one process.

    Args:
        store: The store that the processes of the run share.
        run: The run's id.
        concurrency: The largest number of requests in flight at one endpoint, of all processes of the run together;
            each process has its own local models.
        retries: The number of tries of a request, and the waits between them.
        offline: Whether models that need a connection are refused.
        budget: The caps of the run; None for no caps.
        rates: The rate limits of an endpoint whose model has none.
        batch: The mode of provider batches, in which all requests are sent ahead of the tests; None for no batches.
        secrets: Texts that are removed from errors before these are stored.
    """

    def __init__(
        self,
        store: Store,
        run: str,
        *,
        concurrency: int = 32,
        retries: Retries | None = None,
        offline: bool = False,
        budget: Budget | None = None,
        rates: Rates | None = None,
        batch: BatchMode | None = None,
        secrets: Sequence[str] = (),
    ) -> None:
        self.store, self.answers = store, PendingResults()
        self.at_end: list[Callable[[], object]] = []
        """Functions to call when the engine closes: graders release their resources."""
        self._unclosed: list[FairnessError] = []
        self._patience = CLOSING + (SUBMITTING if batch else 0.0)
        self._stopped = self._paused = False
        self._next_stop_look, self._stop_deadline = 0.0, math.inf
        self._reached = self._reported = 0
        self._loop, self._wake = new_event_loop(self.answers.is_idle), Event()
        self._loop.set_default_executor(DaemonExecutor())
        # The following parts are used by the loop's thread alone.
        self._budget = budget or Budget()
        self._scheduler = RequestScheduler(sys.maxsize if batch else max(256, 8 * concurrency))
        self.sync = StoreSync(store, run, self._budget, self.answers)
        self._foreign = ForeignClaims(self.sync)
        self._limits = RateLimiters(
            concurrency, rates or Rates(), self._wake.set, partial(batch_size, batch), is_counted=self._budget.is_capped
        )
        context = EngineContext(
            self.answers,
            self._budget,
            self.sync,
            self._scheduler,
            self._limits,
            retries or Retries(),
            self._wake.set,
            secrets,
        )
        self._dispatcher = Dispatcher(context, batch, offline=offline)
        self._thread = threading.Thread(target=self._run_loop, name="fairness-engine", daemon=True)
        self._thread.start()

    # Called by tests.

    def plan(self, requests: Iterable[Request], *, shared: bool = False) -> None:
        """Append requests to the work list, which is sent in order ahead of the tests.

        Args:
            requests: The requests, which are read where they are due.
            shared: Whether other processes are as likely to need them.
        """
        self._notify(lambda: self._scheduler.plan(requests, shared=shared))

    def attempts(self, requests: Sequence[Request]) -> list[Attempt]:
        """Wait for the attempts of these requests, and return them.

        Raises:
            BudgetExceededError: A cap forbids one of them.
            RunStoppedError: The run was stopped.
            FairnessError: The engine failed, mostly with a `StoreError`.
        """
        self.answers.until_idle()
        answered = self.answers.attempts
        missing = [request for request in requests if request.key not in answered]
        self._reached = max(self._reached, requests[-1].position)
        if missing:
            self._notify(partial(self._scheduler.demand, tuple(missing)))
            self.answers.until(lambda: self.answers.have(missing))
        elif self._reached - self._reported >= _REPORT_EVERY:
            self._reported = self._reached
            self._notify(lambda: None)
        return [answered[request.key] for request in requests]

    def leave(self, keys: Collection[str]) -> None:
        """Leave these requests out of the work list, from which they were read: no test is going to take them."""
        self._notify(lambda: self._scheduler.leave(keys))

    def question(self, requests: Sequence[Request]) -> None:
        """Send the requests of a grader, before those of other items, without waiting for them."""
        self._notify(lambda: self._scheduler.question(requests))

    @property
    def lookahead(self) -> int:
        """The number of positions ahead of the tests up to which requests are sent."""
        return self._scheduler.lookahead

    def is_near(self, request: Request) -> bool:
        """Return whether a request is within the look-ahead."""
        return request.position <= self._reached + self.lookahead

    def pause(self) -> None:
        """Send no new requests until `resume`, while a debugger is open."""
        self._paused = True
        self._notify(self._limits.gate.clear)

    def resume(self) -> None:
        """Send requests again."""
        self._paused = False
        self._notify(self._limits.gate.set)

    def stop(self) -> None:
        """Send no new requests, in this or any other process of the session."""
        self._stopped = True
        self.store.stop()

    def close(self, *, at_once: bool = False) -> None:
        """End the engine, and store its answers; the wait for a model that blocks the loop is limited.

        Requests in flight are paid for, and another process may wait for them: they have a grace, which Ctrl-C ends.

        Args:
            at_once: Whether requests in flight are canceled.

        Raises:
            FairnessError: A grader or a model could not be closed.
        """
        patience, self._patience = self._patience, 0.0
        self._stopped = True
        self.answers.closed |= at_once or not patience
        self._notify(lambda: None)
        try:
            self._join(patience if self.answers.closed else patience + GRACE)
        except BaseException:  # noqa: BLE001 - a Ctrl-C, or the end of the controller of a worker
            self.answers.closed = True
            self._notify(lambda: None)
            self._thread.join(CLOSING)
        self.answers.closed = True
        while self.at_end:
            try:
                self.at_end.pop()()
            except Exception as error:
                raise FairnessError(f"a grader could not be closed: {type(error).__name__}: {error}") from error
        if self._unclosed:
            raise self._unclosed.pop()

    def _join(self, seconds: float) -> None:
        end = Clock.monotonic() + seconds
        while self._thread.is_alive() and (remaining := end - Clock.monotonic()) > 0:
            self._thread.join(min(remaining, STOP_INTERVAL))
            if self._thread.is_alive() and self.answers.on_wait is not None:
                self.answers.on_wait()

    def _notify(self, change: Callable[[], object]) -> None:
        """Apply a change in the engine's thread, and wake its loop."""
        with suppress(RuntimeError):  # the loop has ended: `_run_loop` ends the waits
            self._loop.call_soon_threadsafe(self._apply_change, change)

    def _apply_change(self, change: Callable[[], object]) -> None:
        self._wake.set()
        change()

    # Called in the engine's thread.

    def _run_loop(self) -> None:
        for step in (self._work, self._end, self._loop.shutdown_asyncgens):
            try:
                self._loop.run_until_complete(step())
            except BaseException as error:  # noqa: BLE001 - whatever it is, no test may wait for ever
                self.answers.fail("the engine", error)
            self.answers.closed = True
            self.answers.publish()
        self.sync.close()
        self._loop.close()

    async def _work(self) -> None:
        while not self.answers.closed:
            self._wake.clear()  # first, so that an event from here on begins another round
            with self.answers.loading():
                await self._look_up()
            await self._poll_foreign_claims()
            await self._exchange()
            await self._check_stop()
            await self._sleep()

    async def _look_up(self) -> None:
        """Look up the next requests in the store, and queue those without a stored answer."""
        self._scheduler.reached = self._reached
        while batch := self._scheduler.to_look_up():
            requests, priority = batch
            await self.sync.look_up(requests)
            self._scheduler.add([request for request in requests if self._dispatcher.may_send(request)], priority)
            self.answers.publish()
            if priority == Priority.AHEAD:
                # One batch a round, so that demands of tests are sent before all of a large suite is read.
                self._wake.set()
                return

    async def _poll_foreign_claims(self) -> None:
        """Take over the answers of other processes, and queue the requests that they have abandoned."""
        if self._foreign.is_due and not self._stopped:
            answered, free = await self._foreign.poll()
            self.answers.attempts |= answered
            self._scheduler.put_back(free)
            self.answers.publish()

    async def _exchange(self) -> None:
        """Write results, claim the requests that may be sent, and send them; the next round repeats this if needed."""
        withdrawn = self._dispatcher.withdraw() if self._stopped or self._paused else []
        ready = self._take_ready()
        # Once a cap is reached no request is sent, so no slots are needed to find the answers of other processes.
        slots = self._limits.slot_requests({} if self._budget.is_spent else ready)
        if not (self.sync.is_due or ready or slots):
            return
        self._wake.set()  # more requests may be sent in the next round
        with self.answers.writing():
            result = await self.sync.exchange(ready, slots)
        if result.stopped:
            self._stopped = True
        if self._budget.is_spent:
            self.answers.refused |= dict.fromkeys(result.spending.refused, self._budget.reason)
            requeued = result.held
        else:  # they wait until requests in flight have ended, which may leave some money
            requeued = result.held | set(result.spending.refused)
        self._scheduler.put_back([*withdrawn, *(request for key, request in ready.items() if key in requeued)])
        self._foreign.suspect(self._limits.apply(slots, result))
        self.answers.publish()
        for key, request in ready.items():
            if key in result.claimed or not request.is_stored:
                self._dispatcher.send(request)
            elif key in result.foreign and not self._dispatcher.follow(request, result):
                self._foreign.add(request, result.foreign[key])
        if not self._stopped:
            self._dispatcher.use_slots()

    def _take_ready(self) -> dict[str, Request]:
        """Take the requests that may be sent now from the queues."""
        if self._stopped or self._paused or self.answers.closed or self._budget.waits:
            return {}
        # Once a cap is reached, the store refuses all claims; answers and claims of others still end requests.
        free = dict.fromkeys(self._limits.free(), LOAD) if self._budget.is_spent else self._limits.free()
        return self._scheduler.take(free, self._is_handled)

    def _is_handled(self, key: str) -> bool:
        """Return whether a request has an answer, or is about to get one."""
        return key in self.answers.attempts or key in self._dispatcher or key in self._foreign or key in self.sync

    async def _check_stop(self) -> None:
        """End the engine after its session was stopped by any process, with a grace for requests in flight."""
        now = Clock.monotonic()
        has_requests = self._dispatcher or self._dispatcher.claimed
        if has_requests and not self._stopped and now >= self._next_stop_look:
            self._next_stop_look = now + STOP_INTERVAL
            if await self.sync.call(self.store.is_stopped):  # this process may stop it meanwhile
                self._stopped = True
        if self._stopped:
            self._limits.gate.clear()
            self._stop_deadline = min(self._stop_deadline, now + GRACE)
            if len(self._dispatcher) <= self._limits.waiting + self._dispatcher.queued or now >= self._stop_deadline:
                self.answers.closed = True
                self._wake.set()

    async def _sleep(self) -> None:
        """Sleep until an event, and then for a moment, so that several events share one exchange."""
        waits_for_time = self._foreign or self._scheduler or self._dispatcher.claimed or self._limits.waiting
        longest = self._limits.pause(POLL_INTERVAL) if waits_for_time else STOP_INTERVAL if self._dispatcher else None
        with suppress(TimeoutError):
            async with timeout(longest):
                await self._wake.wait()
        end = Clock.monotonic() + _LONGEST_GATHER
        while self._dispatcher and not self.answers.closed:
            await sleep(_GATHER)
            is_supplied = len(self._dispatcher.claimed) * _SUPPLY > len(self._dispatcher)
            if not is_supplied or self.answers.is_waiting or self._stopped or self._paused or Clock.monotonic() > end:
                break

    async def _end(self) -> None:
        await self._dispatcher.cancel()
        with suppress(StoreError):
            await self.sync.flush()
            if self._dispatcher.has_batches:  # requests that were not submitted, and batches that were not fetched
                await self.sync.call(self.store.owner.release_claims)
        self._unclosed += await self._dispatcher.close()

"""Asks many prompts, safely: ahead of the tests, within limits, each answer written as it comes.

The engine lives in a thread of its own with an event loop of its own. Tests take answers with `attempts`, which waits.
What is to be asked flows one way: from the work list, the tests' demands and the graders' questions, past the store
(which may know the answer), to a claim, to the model, to the store, to the tests.
"""

from __future__ import annotations

import asyncio
import math
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from pytest_fairness.core.attempts import Attempt, Grade
from pytest_fairness.core.errors import FairnessError, StoreError, TransientError
from pytest_fairness.core.protocols import Model
from pytest_fairness.core.threads import DaemonExecutor
from pytest_fairness.engine.answers import Answers
from pytest_fairness.engine.asking import Asker, Retries
from pytest_fairness.engine.asks import Ask
from pytest_fairness.engine.budget import Budget
from pytest_fairness.engine.elsewhere import AGAIN, Elsewhere
from pytest_fairness.engine.errors import SpentError
from pytest_fairness.engine.limits import Limits
from pytest_fairness.engine.queues import LOAD, Queues, Rank
from pytest_fairness.engine.submitting import HANDING_IN, BatchMode, Submitting
from pytest_fairness.store.pace import Rates, Wish
from pytest_fairness.store.store import Asked, Store, Turn

GradeRow = tuple[str, str, Grade]  # with the attempt's key and the grader's fingerprint

_GATHER = 0.004
"""Seconds for which ended requests are gathered into one exchange with the store."""
_TELL_EVERY = 64
"""Asks taken by tests after which the engine is told how far they are."""
CLOSING = 10.0
"""Seconds for which the thread is waited for at the end: a model may block its loop for as long as it likes."""
GRACE = 30.0
"""Seconds for which what is under way may go on once the time of the run is over, or its session was stopped."""
STOP_INTERVAL = 1.0
"""Seconds between two looks at the store for a stop by another process, while requests are under way."""


class Engine:
    """Answers for the tests of one process.

    ``concurrency`` is the most requests under way at one endpoint, of all processes of the run together; a
    local model is one of each process. ``rates`` are those of an endpoint whose model names none. Without a
    ``budget`` nothing else is capped. With ``batch``, models that have batches are asked in them, all ahead.
    ``secrets`` stand in no error that is kept.
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
        self._store, self._run = store, run
        self._retries = retries or Retries()
        self._offline, self._secrets = offline, secrets
        self._budget = budget or Budget()
        self.answers = Answers()
        self.at_end: list[Callable[[], object]] = []
        """Called when the engine closes: graders free what they hold."""
        self._unclosed: list[FairnessError] = []
        self._patience = CLOSING + (HANDING_IN if batch else 0.0)
        self._stopped = self._paused = False
        self._next_stop_look, self._stop_deadline = 0.0, math.inf
        self._reached = 0
        self.ask_ahead = sys.maxsize if batch else max(256, 8 * concurrency)
        # The loop's own, from here on.
        self._queues = Queues(self.ask_ahead)
        self._askers: dict[str, Asker] = {}
        self._elsewhere = Elsewhere(store, run)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._asked: list[Asked] = []
        self._freed: list[str] = []
        self._graded: deque[GradeRow] = deque()  # filled by the tests' thread, emptied by the loop
        self._store_thread = ThreadPoolExecutor(1, "fairness-store")  # which no slow function of a model keeps waiting
        self._loop = asyncio.new_event_loop()
        self._loop.set_default_executor(DaemonExecutor())
        self._wake = asyncio.Event()
        self._submitting = Submitting(batch, store, run, self._in_store, self._wake.set)
        self._limits = Limits(concurrency, rates or Rates(), self._wake.set, self._submitting.together)
        self._submitting.serve(self.answers, self._queues, self._budget, self._retries, self._limits, secrets)
        self._thread = threading.Thread(target=self._live, name="fairness-engine", daemon=True)
        self._thread.start()

    # What tests call.

    def plan(self, asks: Iterable[Ask]) -> None:
        """Work ahead through these, in this order."""
        self._tell(lambda: self._queues.plan(asks))

    def attempts(self, asks: Sequence[Ask]) -> list[Attempt]:
        """The attempts of these asks, waiting for those that are still to come.

        Raises `StoppedError` once the run was stopped, its kind `SpentError` for what a cap of the run forbids to
        ask, and the `StoreError` that ended the engine.
        """
        answered = self.answers.attempts
        missing = [ask for ask in asks if ask.key not in answered]
        self._reached = max(self._reached, asks[-1].place)
        if missing:
            self._tell(partial(self._queues.demand, tuple(missing)))
            self.answers.until(lambda: self.answers.have(missing))
        elif self._reached - self._queues.reached >= _TELL_EVERY:
            self._tell(lambda: None)
        return [answered[ask.key] for ask in asks]

    def question(self, asks: Sequence[Ask]) -> None:
        """Ask these for a grader, before anything that begins another item. Does not wait."""
        self._tell(lambda: self._queues.question(asks))

    def is_near(self, ask: Ask) -> bool:
        """Whether it is within the reach of the tests: no further ahead of them than requests are sent."""
        return ask.place <= self._reached + self.ask_ahead

    def keep(self, grades: Sequence[GradeRow]) -> None:
        """Write grades beside their attempts, with what is written next: the loop is not woken for them."""
        self._graded.extend(grades)

    @contextmanager
    def grading(self, keys: Sequence[str]) -> Iterator[list[GradeRow]]:
        """Let no other process grade a batch, once the grades that others gave these attempts are loaded.

        Yields a list for the grades that are missing. They are written at the end, for those who wait to grade them.
        """
        with self._store.grading():
            self.answers.grades |= self._store.load(keys, self._run)[1]
            grades: list[GradeRow] = []
            yield grades
            self._store.turn(self._run, grades=grades)
            self.answers.grades |= {(key, fingerprint): grade for key, fingerprint, grade in grades}

    def pause(self) -> None:
        """Send nothing new until `resume`: somebody is in a debugger."""
        self._paused = True

    def resume(self) -> None:
        """Send again."""
        self._paused = False
        self._tell(lambda: None)

    def stop(self) -> None:
        """Let nothing new leave, here or in any other process of the session."""
        self._stopped = True
        self._store.stop()

    def close(self) -> None:
        """Cancel what is under way and write what has come. A model that blocks the loop is not waited for long."""
        self.answers.closed = True
        self._tell(lambda: None)
        self._thread.join(self._patience)
        self._patience = 0.0
        while self.at_end:
            try:
                self.at_end.pop()()
            except Exception as error:
                raise FairnessError(f"a grader could not be closed: {type(error).__name__}: {error}") from error
        if self._unclosed:
            raise self._unclosed.pop()

    def _tell(self, change: Callable[[], object]) -> None:
        with suppress(RuntimeError):  # the loop has ended: what waits is told so by `_live`
            self._loop.call_soon_threadsafe(change)
            self._loop.call_soon_threadsafe(self._wake.set)

    def _live(self) -> None:
        for step in (self._work, self._end, self._loop.shutdown_asyncgens):
            try:
                self._loop.run_until_complete(step())
            except BaseException as error:  # noqa: BLE001 - the tests must be told, or they wait for ever
                self.answers.fail("the engine", error)
            self.answers.closed = True
            self.answers.publish()
        self._store_thread.shutdown()
        self._loop.close()

    async def _work(self) -> None:
        while not self.answers.closed:
            self._wake.clear()
            await self._look_up()
            await self._look_elsewhere()
            await self._exchange()
            await self._heed_stop()
            await self._rest()

    async def _heed_stop(self) -> None:
        """End the engine once its session was stopped, here or elsewhere: requests under way have a grace."""
        now = time.monotonic()
        if self._tasks and not self._stopped and now >= self._next_stop_look:
            self._next_stop_look = now + STOP_INTERVAL
            self._stopped = await self._in_store(self._store.is_stopped)
        if self._stopped:
            self._stop_deadline = min(self._stop_deadline, now + GRACE)
            if len(self._tasks) <= self._limits.waiting or now >= self._stop_deadline:
                self.answers.closed = True

    async def _rest(self) -> None:
        """Sleep until something happens, then a moment more, so that things happen together."""
        waits_for_time = self._elsewhere or self._queues or self._limits.waiting
        longest = self._limits.nap(AGAIN) if waits_for_time else STOP_INTERVAL if self._tasks else None
        with suppress(TimeoutError):
            await asyncio.wait_for(self._wake.wait(), longest)
        if self._tasks and not self.answers.closed:
            await asyncio.sleep(_GATHER)

    async def _in_store(self, call: Callable[[], Any]) -> Any:
        return await self._loop.run_in_executor(self._store_thread, call)

    async def _look_up(self) -> None:
        """Look up in the store what is wanted next, and queue what it does not know."""
        self._queues.reached = self._reached
        while batch := self._queues.to_look_up():
            asks, rank = batch
            keys = [ask.key for ask in asks if ask.is_stored]
            attempts, grades = await self._in_store(partial(self._store.load, keys, self._run))
            self.answers.grades |= grades
            self.answers.attempts |= attempts
            self._queues.add([ask for ask in asks if self._may_ask(ask)], rank)
            self.answers.publish()
            if rank == Rank.AHEAD:  # one at a time: what a test waits for leaves before all of a large suite is read
                self._wake.set()
                return

    async def _look_elsewhere(self) -> None:
        """See now and then what has come of what others were asking; what nobody asks any more is queued again."""
        if self._elsewhere.is_due and not self._stopped:
            answered, left = await self._elsewhere.look(self._in_store)
            self.answers.attempts |= answered
            self._queues.put_back(reversed(left))
            self.answers.publish()

    def _may_ask(self, ask: Ask) -> bool:
        """Whether it is still to be asked; what can never be answered fails here."""
        if ask.key in self.answers.attempts:
            return False
        why_not = self._asker(ask.model).fatal
        if why_not is None and self._offline and not ask.model.local:
            why_not = f"{ask.model.name} was not asked: the answer is not in the store, and --fairness-offline is given"
        if why_not is not None:
            self.answers.causes[why_not] = ask.model.name
            self.answers.attempts[ask.key] = Attempt(ask.key, ask.repetition, error=why_not)
        return why_not is None

    async def _exchange(self) -> None:
        """Write what has ended, claim what may leave, send it; until nothing more may."""
        while True:
            wanted = self._wanted()
            # What is looked for though a cap was reached needs no place.
            wishes = self._limits.wishes({} if self._budget.is_spent else wanted)
            if not (self._asked or self._graded or self._freed or wanted or wishes):
                return
            asked, self._asked = self._asked, []
            graded = [self._graded.popleft() for _ in range(len(self._graded))]
            self._budget.wanted = wanted
            try:
                turn = await self._in_store(partial(self._turn, asked, graded, wanted, wishes))
            except BaseException:
                self._asked = asked + self._asked  # one more try is made at the end
                raise
            self._stopped = self._stopped or turn.stopped
            self.answers.attempts.update((one.attempt.key, one.attempt) for one in asked)
            self.answers.attempts |= turn.answered
            self._refuse(turn.refused, wanted)
            self._queues.put_back(ask for key, ask in reversed(wanted.items()) if key in turn.held)
            self._elsewhere.suspect(self._limits.heed(wishes, turn))
            self.answers.publish()
            for key, ask in wanted.items():
                if key in turn.claimed or not ask.is_stored:
                    self._send(ask)
                elif (owner := turn.elsewhere.get(key)) in turn.submissions:
                    self._submitting.follow(ask, owner)
                elif owner is not None:
                    self._elsewhere.add(ask, owner)

    def _turn(
        self, asked: Sequence[Asked], graded: Sequence[GradeRow], wanted: dict[str, Ask], wishes: Sequence[Wish] = ()
    ) -> Turn:
        keys = [key for key, ask in wanted.items() if ask.is_stored]
        while self._freed:
            self._store.release(self._freed.pop())
        turn = self._store.turn(self._run, asked=asked, grades=graded, wanted=keys, purse=self._budget, wishes=wishes)
        self._budget.wrote()
        self._budget.begin(turn.claimed)  # here, before the next of this thread's transactions counts what is under way
        return turn

    def _refuse(self, keys: set[str], wanted: dict[str, Ask]) -> None:
        """A cap forbids these: for good, or until what is under way has ended and left some money."""
        if self._budget.is_spent:
            self.answers.refused |= dict.fromkeys(keys, self._budget.reason)
        else:
            self._queues.put_back(ask for key, ask in reversed(wanted.items()) if key in keys)

    def _wanted(self) -> dict[str, Ask]:
        if self._stopped or self._paused or self.answers.closed or self._budget.waits:
            return {}
        # Once a cap was reached the store refuses all but what is answered or being asked elsewhere.
        free = self._limits.free(time.monotonic(), LOAD if self._budget.is_spent else None)
        ended = {one.attempt.key for one in self._asked}  # written with this exchange; until then still claimed
        known = (self.answers.attempts, self._tasks, self._elsewhere, ended, self._submitting)
        return self._queues.take(free, lambda key: any(key in those for those in known))

    def _send(self, ask: Ask) -> None:
        asker = self._asker(ask.model)
        asker.limit.in_flight += 1
        self._budget.begin([ask.key])
        if self._submitting.together(ask.model) is not None:
            self._submitting.add(ask)
            return
        task = self._tasks[ask.key] = self._loop.create_task(self._ask(asker, ask))
        task.add_done_callback(self._check)

    def _check(self, task: asyncio.Task[None]) -> None:
        """End every wait where a request ended by a mistake in the engine, or by the store."""
        if not task.cancelled() and (error := task.exception()) is not None:
            self.answers.fail("the engine", error)

    async def _ask(self, asker: Asker, ask: Ask) -> None:
        try:
            left = self._budget.time_left
            async with asyncio.timeout(None if math.isinf(left) else max(0.0, left) + GRACE):
                attempt = await asker.ask(ask)
            self._budget.end(ask, attempt)
        except (SpentError, TimeoutError) as over:
            if isinstance(over, TimeoutError):
                self._budget.failed(ask, TransientError("the time of the run is over", sent=True, kind="time over"))
            self._budget.drop(ask)
            if ask.is_stored:
                self._freed.append(ask.key)
            self.answers.refused[ask.key] = self._budget.reason if self._budget.is_spent else ""
            self.answers.publish()
            return
        except asyncio.CancelledError:
            if self.answers.closed:
                raise
            attempt = Attempt(ask.key, ask.repetition, error=f"{ask.model.name} canceled the task that asked it")
            self._budget.end(ask, attempt)
        finally:
            asker.limit.in_flight -= 1
            del self._tasks[ask.key]
            self._wake.set()
        if asker.fatal is not None:
            for waiting in self._queues.drain(ask.model):
                self._may_ask(waiting)
            if attempt.error == asker.fatal:  # not written: every process of the run sees it for itself
                if ask.is_stored:
                    self._freed.append(ask.key)
                self._may_ask(ask)
                self.answers.publish()
                return
        if ask.is_stored:
            self._asked.append(Asked(attempt, ask.model.key, ask.digest, ask.prompt.messages))
        else:
            self.answers.attempts[ask.key] = attempt
            self.answers.publish()

    async def _again(self, ask: Ask, wait: float) -> None:
        """Wait so long, and until a request may be sent once more. Raises `SpentError` where a cap forbids it."""
        await self._asker(ask.model).limit.permit(wait)
        if not (self._budget.is_capped and ask.is_stored):
            self._budget.may_retry(ask.key, ())
        elif not await self._in_store(lambda: self._store.may_retry(self._run, ask.key, self._budget)):
            raise SpentError(self._budget.reason)

    def _asker(self, model: Model) -> Asker:
        asker = self._askers.get(model.key)
        if asker is None:
            asker = Asker(model, self._limits.of(model), self._retries, self._budget, self._again, self._secrets)
            self.ask_ahead = self._queues.ask_ahead = max(self.ask_ahead, 2 * getattr(model, "in_flight", 0))
            self._askers[model.key] = asker
        return asker

    async def _end(self) -> None:
        await self._submitting.close()
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._askers or self._graded:
            with suppress(StoreError):
                await self._in_store(partial(self._turn, self._asked, list(self._graded), {}))
        self._unclosed += [error for asker in self._askers.values() if (error := await asker.close()) is not None]

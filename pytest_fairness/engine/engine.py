"""Asks many prompts, safely: ahead of the tests, within limits, each answer written as it comes.

The engine lives in a thread of its own with an event loop of its own. Tests take answers
with `attempts`, which waits. What is to be asked flows one way: from the work list, the
tests' demands and the graders' questions, past the store (which may know the answer), to a claim, to the model, to
the store, to the tests.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TypeVar

from pytest_fairness.core.attempts import Attempt, Grade
from pytest_fairness.core.errors import FairnessError, StoreError
from pytest_fairness.core.protocols import Model
from pytest_fairness.engine.answers import Answers
from pytest_fairness.engine.asking import Asker, Retries
from pytest_fairness.engine.asks import Ask
from pytest_fairness.engine.budget import Budget
from pytest_fairness.engine.elsewhere import AGAIN, Elsewhere
from pytest_fairness.engine.errors import SpentError
from pytest_fairness.engine.limits import Limits
from pytest_fairness.engine.queues import LOAD, Queues, Rank
from pytest_fairness.engine.submitting import BatchMode, Submitting
from pytest_fairness.store.pace import Rates, Wish
from pytest_fairness.store.store import Asked, Store, Turn

T = TypeVar("T")

_GATHER = 0.004
"""Seconds for which ended requests are gathered into one exchange with the store."""
_TELL_EVERY = 64
"""Asks taken by tests after which the engine is told how far they are."""


class Engine:
    """Answers for the tests of one process.

    ``concurrency`` is the most requests under way at one endpoint, of all processes of the run together; a
    local model is one of each process. ``rates`` are those of an endpoint whose model names none. Without a
    ``budget`` nothing else is capped. With ``batch``, models that have batches are asked in them, all ahead.
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
    ) -> None:
        self._store = store
        self._run = run
        self._concurrency = concurrency
        self._retries = retries or Retries()
        self._offline = offline
        self._budget = budget or Budget()
        self.answers = Answers()
        self.at_end: list[Callable[[], object]] = []
        """Called when the engine closes: graders free what they hold."""
        self._stopped = False
        self._paused = False
        self._reached = 0
        self._told = 0
        self.ask_ahead = sys.maxsize if batch else max(256, 8 * concurrency)
        # The loop's own, from here on.
        self._queues = Queues(self.ask_ahead)
        self._askers: dict[str, Asker] = {}
        self._models: dict[str, Model] = {}
        self._elsewhere = Elsewhere(store, run)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._asked: list[Asked] = []
        self._freed: list[str] = []
        self._graded: deque[tuple[str, str, Grade]] = deque()  # filled by the tests' thread, emptied by the loop
        # Not the loop's default executor: a model's slow functions would keep the store waiting.
        self._store_thread = ThreadPoolExecutor(1, "fairness-store")
        self._loop = asyncio.new_event_loop()
        self._wake = asyncio.Event()
        self._submitting = Submitting(batch, store, run, self._in_store, self._wake.set)
        self._limits = Limits(concurrency, rates or Rates(), self._wake.set, self._submitting.together)
        self._submitting.serve(self.answers, self._queues, self._budget, self._retries, self._limits)
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
            wanted = tuple(missing)
            self._tell(lambda: self._queues.demand(wanted))
            self.answers.until(lambda: self.answers.have(missing))
        elif self._reached - self._told >= _TELL_EVERY:
            self._told = self._reached
            self._tell(lambda: None)
        return [answered[ask.key] for ask in asks]

    def question(self, asks: Sequence[Ask]) -> None:
        """Ask these for a grader, before anything that begins another item. Does not wait."""
        self._tell(lambda: self._queues.question(asks))

    def is_near(self, ask: Ask) -> bool:
        """Whether it is within the reach of the tests: no further ahead of them than requests are sent."""
        return ask.place <= self._reached + self.ask_ahead

    def keep(self, grades: Sequence[tuple[str, str, Grade]]) -> None:
        """Write grades (attempt key, grader's fingerprint, grade) beside their attempts, with the next that is written.

        The loop is not woken for it: a test may grade as often as it is answered.
        """
        self._graded.extend(grades)

    @contextmanager
    def grading(self, keys: Sequence[str]) -> Iterator[None]:
        """Meanwhile no other process grades a batch; what others have graded of these attempts is known."""
        with self._store.grading():
            self.answers.grades |= self._store.load(keys, self._run)[1]
            yield

    def keep_now(self, grades: Sequence[tuple[str, str, Grade]]) -> None:
        """Write grades at once, for those who wait to grade the same."""
        self._store.turn(self._run, grades=grades)
        self.answers.grades |= {(key, fingerprint): grade for key, fingerprint, grade in grades}

    def pause(self) -> None:
        """Send nothing new until `resume`: somebody is in a debugger."""
        self._paused = True

    def resume(self) -> None:
        self._paused = False
        self._tell(lambda: None)

    def stop(self) -> None:
        """Let nothing new leave, here or in any other process of the run."""
        self._stopped = True
        self._store.runs.stop(self._run)

    def close(self) -> None:
        """Cancel what is under way and write what has come."""
        self.answers.closed = True
        self._tell(lambda: None)
        self._thread.join()
        while self.at_end:
            try:
                self.at_end.pop()()
            except Exception as error:
                raise FairnessError(f"a grader could not be closed: {type(error).__name__}: {error}") from error

    def _tell(self, change: Callable[[], object]) -> None:
        def apply() -> None:
            change()
            self._wake.set()

        with suppress(RuntimeError):  # the loop has ended: what waits is told so by `_closing`
            self._loop.call_soon_threadsafe(apply)

    # The thread.

    def _live(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._work())
        finally:
            self._store_thread.shutdown()
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()

    async def _work(self) -> None:
        try:
            while not self.answers.closed:
                self._wake.clear()
                await self._look_up()
                await self._look_elsewhere()
                await self._exchange()
                self.answers.closed = self.answers.closed or (self._stopped and not self._tasks)
                await self._rest()
        except FairnessError as error:
            self.answers.broken = error
        except Exception as error:  # noqa: BLE001 - the tests must be told, or they wait for ever
            self.answers.broken = FairnessError(f"the engine failed: {type(error).__name__}: {error}")
        finally:
            self.answers.closed = True
            self.answers.publish()
            await self._end()

    async def _rest(self) -> None:
        """Sleep until something happens, then a moment more, so that things happen together."""
        waits_for_time = self._elsewhere or self._queues or self._limits.wait
        with suppress(TimeoutError):
            await asyncio.wait_for(self._wake.wait(), self._limits.nap(AGAIN) if waits_for_time else None)
        if self._tasks and not self.answers.closed:
            await asyncio.sleep(_GATHER)

    async def _in_store(self, call: Callable[[], T]) -> T:
        return await self._loop.run_in_executor(self._store_thread, call)

    async def _look_up(self) -> None:
        """Look up in the store what is wanted next, and queue what it does not know."""
        self._queues.reached = self._reached
        while batch := self._queues.to_look_up():
            asks, rank = batch
            keys = [ask.key for ask in asks if _is_stored(ask)]
            attempts, grades = await self._in_store(lambda k=keys: self._store.load(k, self._run))  # type: ignore[misc]
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
                turn = await self._in_store(lambda a=asked, g=graded, w=wanted, p=wishes: self._turn(a, g, w, p))  # type: ignore[misc]
            except StoreError:
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
                if key in turn.claimed or not _is_stored(ask):
                    self._send(ask)
                elif (owner := turn.elsewhere.get(key)) in turn.submissions:
                    self._submitting.follow(ask, owner)
                elif owner is not None:
                    self._elsewhere.add(ask, owner)

    def _turn(
        self,
        asked: Sequence[Asked],
        graded: Sequence[tuple[str, str, Grade]],
        wanted: dict[str, Ask],
        wishes: Sequence[Wish] = (),
    ) -> Turn:
        keys = [key for key, ask in wanted.items() if _is_stored(ask)]
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
        now = time.monotonic()
        spent = self._budget.is_spent  # then the store refuses, but for what is answered or being asked elsewhere
        free = self._limits.free(now, LOAD if spent else None)
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
        self._tasks[ask.key] = self._loop.create_task(self._ask(asker, ask))

    async def _ask(self, asker: Asker, ask: Ask) -> None:
        try:
            attempt = await asker.ask(ask)
            self._budget.end(ask, attempt)
        except SpentError:
            self._give_up(ask)
            return
        except StoreError as error:
            self.answers.broken, self.answers.closed = error, True
            return
        finally:
            asker.limit.in_flight -= 1
            del self._tasks[ask.key]
            self._wake.set()
        if asker.fatal is not None:
            for waiting in self._queues.drain(ask.model):
                self._may_ask(waiting)
        if _is_stored(ask):
            self._asked.append(Asked(attempt, ask.model.key, ask.digest, ask.prompt.messages))
        else:
            self.answers.attempts[ask.key] = attempt
            self.answers.publish()

    async def _again(self, ask: Ask) -> None:
        """Wait until a request may be sent once more. Raises `SpentError` where a cap forbids it."""
        await self._asker(ask.model).limit.permit()
        if not (self._budget.is_capped and _is_stored(ask)):
            self._budget.may_retry(ask.key, ())
        elif not await self._in_store(lambda: self._store.may_retry(self._run, ask.key, self._budget)):
            raise SpentError(self._budget.reason)

    def _give_up(self, ask: Ask) -> None:
        self._budget.drop(ask)
        if _is_stored(ask):
            self._freed.append(ask.key)
        self.answers.refused[ask.key] = self._budget.reason
        self.answers.publish()

    def _asker(self, model: Model) -> Asker:
        asker = self._askers.get(model.key)
        if asker is None:
            asker = Asker(self._limits.of(model), self._retries, self._budget, self._again)
            self.ask_ahead = self._queues.ask_ahead = max(self.ask_ahead, 2 * getattr(model, "in_flight", 0))
            self._askers[model.key] = asker
            self._models[model.key] = model
        return asker

    async def _end(self) -> None:
        await self._submitting.close()
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._askers or self._graded:
            with suppress(StoreError):
                await self._in_store(lambda: self._turn(self._asked, list(self._graded), {}))
        for model in self._models.values():
            await model.close()


def _is_stored(ask: Ask) -> bool:
    """Whether its answer belongs into the store; recorded answers are one already."""
    return getattr(ask.model, "stored", True)

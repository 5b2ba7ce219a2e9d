"""Asks many prompts, safely: ahead of the tests, within limits, each answer written as it comes.

The engine lives in a thread of its own with an event loop of its own. Tests take answers
with `attempts`, which waits. What is to be asked flows one way: from the work list, the
tests' demands and the graders' questions, past the store (which may know the answer), to a claim, to the model, to
the store, to the tests.
"""

from __future__ import annotations

import asyncio
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
from pytest_fairness.engine.asking import Asker, Retries
from pytest_fairness.engine.asks import Ask
from pytest_fairness.engine.errors import StoppedError
from pytest_fairness.engine.queues import Queues
from pytest_fairness.store.store import Asked, Store

T = TypeVar("T")

_GATHER = 0.004
"""Seconds for which ended requests are gathered into one exchange with the store."""
_LOOK_AGAIN = 0.05
"""Seconds after which what another process was asking is looked up again."""
_TELL_EVERY = 64
"""Asks taken by tests after which the engine is told how far they are."""


class Engine:
    """Answers for the tests of one process.

    ``concurrency`` is the most requests that one model is sent at a time.
    """

    def __init__(
        self, store: Store, run: str, *, concurrency: int = 32, retries: Retries | None = None, offline: bool = False
    ) -> None:
        self._store = store
        self._run = run
        self._concurrency = concurrency
        self._retries = retries or Retries()
        self._offline = offline
        self.answered: dict[str, Attempt] = {}
        self.on_wait: Callable[[int], None] | None = None
        """Called with the number of answers to probes while a test waits, about once a second or more often."""
        self.questions: set[str] = set()
        """Keys of the answers that graders asked for and have."""
        self.meanwhile: list[Callable[[], None]] = []
        """Called in the tests' thread while a test waits, whenever answers have come: gradings go on with them."""
        self.grades: dict[tuple[str, str], Grade] = {}
        """Stored grades, by attempt and by the grader's fingerprint."""
        self.at_end: list[Callable[[], object]] = []
        """Called when the engine closes: graders free what they hold."""
        self._news = threading.Condition()
        self._broken: FairnessError | None = None
        self._closing = False
        self._stopped = False
        self._paused = False
        self._reached = 0
        self._told = 0
        self.ask_ahead = max(256, 8 * concurrency)
        # The loop's own, from here on.
        self._queues = Queues(self.ask_ahead)
        self._askers: dict[str, Asker] = {}
        self._models: dict[str, Model] = {}
        self._elsewhere: dict[str, Ask] = {}
        self._owners: set[str] = set()
        self._looked = 0.0
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._asked: list[Asked] = []
        self._graded: deque[tuple[str, str, Grade]] = deque()  # filled by the tests' thread, emptied by the loop
        # Not the loop's default executor: a model's slow functions would keep the store waiting.
        self._store_thread = ThreadPoolExecutor(1, "fairness-store")
        self._loop = asyncio.new_event_loop()
        self._wake = asyncio.Event()
        self._thread = threading.Thread(target=self._live, name="fairness-engine", daemon=True)
        self._thread.start()

    # What tests call.

    def plan(self, asks: Iterable[Ask]) -> None:
        """Work ahead through these, in this order."""
        self._tell(lambda: self._queues.plan(asks))

    def attempts(self, asks: Sequence[Ask]) -> list[Attempt]:
        """The attempts of these asks, waiting for those that are still to come.

        Raises `StoppedError` once the run was stopped, and the `StoreError` that ended the engine.
        """
        answered = self.answered
        missing = [ask for ask in asks if ask.key not in answered]
        self._reached = max(self._reached, asks[-1].place)
        if missing:
            wanted = tuple(missing)
            self._tell(lambda: self._queues.demand(wanted))
            self.until(lambda: self.have(missing))
        elif self._reached - self._told >= _TELL_EVERY:
            self._told = self._reached
            self._tell(lambda: None)
        return [answered[ask.key] for ask in asks]

    def question(self, asks: Sequence[Ask]) -> None:
        """Ask these for a grader, before anything that begins another item. Does not wait."""
        self._tell(lambda: self._queues.question(asks))

    def have(self, missing: list[Ask]) -> bool:
        """Whether all of these are answered; those that are leave the list, from its end."""
        while missing and missing[-1].key in self.answered:
            missing.pop()
        return not missing

    def is_near(self, ask: Ask) -> bool:
        """Whether it is within the reach of the tests: no further ahead of them than requests are sent."""
        return ask.place <= self._reached + self.ask_ahead

    def until(self, is_done: Callable[[], bool]) -> None:
        """Wait until this is so. It is looked at again whenever answers have come.

        Raises as `attempts` does.
        """
        while True:
            seen = len(self.answered)
            for go_on in self.meanwhile:
                go_on()
            if is_done():
                return
            self._wait(seen)

    def _wait(self, seen: int) -> None:
        """Wait until more answers are there than those that were seen."""
        with self._news:
            if len(self.answered) > seen:
                return
            if self._broken is not None:
                raise self._broken
            if self._closing:
                raise StoppedError("the run was stopped before this was answered")
            self._news.wait(1.0)
        if self.on_wait is not None:
            self.on_wait(len(self.answered) - len(self.questions))

    def keep(self, grades: Sequence[tuple[str, str, Grade]]) -> None:
        """Write grades (attempt key, grader's fingerprint, grade) beside their attempts, with the next that is written.

        The loop is not woken for it: a test may grade as often as it is answered.
        """
        self._graded.extend(grades)

    @contextmanager
    def grading(self, keys: Sequence[str]) -> Iterator[None]:
        """Meanwhile no other process grades a batch; what others have graded of these attempts is known."""
        with self._store.grading():
            self.grades |= self._store.load(keys, self._run)[1]
            yield

    def keep_now(self, grades: Sequence[tuple[str, str, Grade]]) -> None:
        """Write grades at once, for those who wait to grade the same."""
        self._store.turn(self._run, grades=grades)
        self.grades |= {(key, fingerprint): grade for key, fingerprint, grade in grades}

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
        self._closing = True
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
            while not self._closing:
                self._wake.clear()
                await self._look_up()
                await self._exchange()
                self._closing = self._closing or (self._stopped and not self._tasks)
                await self._rest()
        except FairnessError as error:
            self._broken = error
        except Exception as error:  # noqa: BLE001 - the tests must be told, or they wait for ever
            self._broken = FairnessError(f"the engine failed: {type(error).__name__}: {error}")
        finally:
            self._closing = True
            self._publish()
            await self._end()

    async def _rest(self) -> None:
        """Sleep until something happens, then a moment more, so that things happen together."""
        waits_for_time = self._elsewhere or self._queues
        with suppress(TimeoutError):
            await asyncio.wait_for(self._wake.wait(), _LOOK_AGAIN if waits_for_time else None)
        if self._tasks and not self._closing:
            await asyncio.sleep(_GATHER)

    def _publish(self) -> None:
        with self._news:
            self._news.notify_all()

    async def _in_store(self, call: Callable[[], T]) -> T:
        return await self._loop.run_in_executor(self._store_thread, call)

    async def _look_up(self) -> None:
        """Look up in the store what is wanted next, and queue what it does not know."""
        self._queues.reached = self._reached
        while batch := self._queues.to_look_up():
            asks, rank = batch
            keys = [ask.key for ask in asks if _is_stored(ask)]
            attempts, grades = await self._in_store(lambda k=keys: self._store.load(k, self._run))  # type: ignore[misc]
            self.grades |= grades
            self.answered |= attempts
            self._queues.add([ask for ask in asks if self._may_ask(ask)], rank)
            self._publish()

    def _may_ask(self, ask: Ask) -> bool:
        """Whether it is still to be asked; what can never be answered fails here."""
        if ask.key in self.answered:
            return False
        why_not = self._asker(ask.model).fatal
        if why_not is None and self._offline and not ask.model.local:
            why_not = f"{ask.model.name} was not asked: the answer is not in the store, and --fairness-offline is given"
        if why_not is not None:
            self.answered[ask.key] = Attempt(ask.key, ask.repetition, error=why_not)
        return why_not is None

    async def _exchange(self) -> None:
        """Write what has ended, claim what may leave, send it; until nothing more may."""
        while True:
            wanted = self._wanted()
            if not (self._asked or self._graded or wanted):
                return
            asked, self._asked = self._asked, []
            graded = [self._graded.popleft() for _ in range(len(self._graded))]
            keys = [key for key, ask in wanted.items() if _is_stored(ask)]
            try:
                turn = await self._in_store(
                    lambda a=asked, g=graded, k=keys: self._store.turn(self._run, asked=a, grades=g, wanted=k)  # type: ignore[misc]
                )
            except StoreError:
                self._asked = asked + self._asked  # one more try is made at the end
                raise
            self._stopped = self._stopped or turn.stopped
            self.answered.update((one.attempt.key, one.attempt) for one in asked)
            self.answered |= turn.answered
            self._publish()
            for key, ask in wanted.items():
                if key in turn.claimed or not _is_stored(ask):
                    self._send(ask)
                elif key in turn.elsewhere:
                    self._elsewhere[key] = ask
                    self._owners.add(turn.elsewhere[key])

    def _wanted(self) -> dict[str, Ask]:
        if self._stopped or self._paused or self._closing:
            return {}
        now = time.monotonic()
        if self._elsewhere and now - self._looked >= _LOOK_AGAIN:
            self._looked = now
            self._store.bury(self._owners)
            self._owners.clear()
            self._queues.put_back(self._elsewhere.values())
            self._elsewhere.clear()
        free = {key: asker.limit.free(now) for key, asker in self._askers.items()}
        return self._queues.take(free, lambda key: key in self.answered or key in self._tasks or key in self._elsewhere)

    def _send(self, ask: Ask) -> None:
        asker = self._asker(ask.model)
        asker.limit.in_flight += 1
        self._tasks[ask.key] = self._loop.create_task(self._ask(asker, ask))

    async def _ask(self, asker: Asker, ask: Ask) -> None:
        try:
            attempt = await asker.ask(ask)
        finally:
            asker.limit.in_flight -= 1
            del self._tasks[ask.key]
        if asker.fatal is not None:
            for waiting in self._queues.drain(ask.model.key):
                self._may_ask(waiting)
        if _is_stored(ask):
            self._asked.append(Asked(attempt, ask.model.key, ask.digest, ask.prompt.messages))
        else:
            self.answered[ask.key] = attempt
            self._publish()
        self._wake.set()

    def _asker(self, model: Model) -> Asker:
        asker = self._askers.get(model.key)
        if asker is None:
            asker = self._askers[model.key] = Asker(self._concurrency, self._retries)
            self._models[model.key] = model
        return asker

    async def _end(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._asked or self._graded:
            with suppress(StoreError):
                graded = list(self._graded)
                await self._in_store(lambda: self._store.turn(self._run, asked=self._asked, grades=graded))
        for model in self._models.values():
            await model.close()


def _is_stored(ask: Ask) -> bool:
    """Whether its answer belongs into the store; recorded answers are one already."""
    return getattr(ask.model, "stored", True)

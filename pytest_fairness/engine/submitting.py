"""Hands asks to providers in batches, and waits for what comes of them, in this run or in a later one.

An ask that is claimed joins the next batch of its model, which is handed in once no more are added to it. From then
on the batch has the claim. Whoever wants what is in a batch, in any run, follows it; when it has ended, its answers go
into the store, and what has none goes back into the line.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Literal, TypeVar

from pytest_fairness.core.attempts import Answer, Attempt
from pytest_fairness.core.errors import FairnessError, FatalError, ModelError, TransientError
from pytest_fairness.core.protocols import Model
from pytest_fairness.core.submissions import BatchInterface, BatchState, batches_of
from pytest_fairness.engine.answers import Answers
from pytest_fairness.engine.asking import Retries, checked, one_line, repeated
from pytest_fairness.engine.asks import Ask
from pytest_fairness.engine.budget import Budget
from pytest_fairness.engine.limits import Limits
from pytest_fairness.engine.queues import Queues
from pytest_fairness.store.store import Asked, Store
from pytest_fairness.store.submissions import Submission

T = TypeVar("T")
BatchMode = Literal["submit", "wait"]
"""What a run does with batches that have not ended: leaves them to a later one, or waits."""

_QUIET = 0.5
"""Seconds without another ask after which a batch is handed in."""
_FIRST_LOOK, _LONGEST_LOOK = 1.0, 30.0
"""Seconds between two looks at a batch, at first and at most."""
_LOOK_AGAIN = 0.5
"""Seconds after which a batch that another process handles is looked at again."""
_GRACE = 30.0
"""Seconds for which a batch is looked for that was perhaps handed in."""
_ROUNDS = 3
"""Batches that a request is put into before it counts as failed."""
_PAGE = 1000
HANDING_IN = 60.0
"""Seconds for which a batch that is being handed in is waited for at the end."""


class Submitting:
    """The batches that one process hands in and follows. Used by the engine's thread only.

    Without a ``mode`` nothing is handed in; what is in a batch already is fetched, where that has ended.
    """

    def __init__(
        self,
        mode: BatchMode | None,
        store: Store,
        run: str,
        in_store: Callable[[Callable[[], Any]], Awaitable[Any]],
        wake: Callable[[], None],
    ) -> None:
        self._mode = mode
        self._store, self._run, self._in_store, self._wake = store, run, in_store, wake
        self._waiting: dict[str, list[Ask]] = {}
        """To be handed in, by model."""
        self._followed: dict[str, dict[str, Ask]] = {}
        """What is wanted of each batch, by key."""
        self._left: dict[str, str] = {}
        """Batches that are not waited for, with what is said of them."""
        self._here: set[str] = set()
        """Keys of all that is wanted."""
        self._rounds: Counter[str] = Counter()
        self._troubles: dict[str, str] = {}
        """By model, what became of a batch before."""
        self._submitting: set[asyncio.Task[None]] = set()
        self._following: set[asyncio.Task[None]] = set()

    def serve(
        self,
        answers: Answers,
        queues: Queues,
        budget: Budget,
        retries: Retries,
        limits: Limits,
        secrets: Sequence[str],
    ) -> None:
        """The parts of the engine that it works with."""
        self._secrets = secrets
        self._answers, self._queues, self._budget = answers, queues, budget
        self._retries, self._limits = retries, limits

    # What the engine calls.

    def together(self, model: Model) -> int | None:
        """How many requests to a model are handed in together; None where it is asked one by one."""
        batches = None if self._mode is None or model.local else batches_of(model)
        return None if batches is None else batches.most_requests

    def __contains__(self, key: str) -> bool:
        return key in self._here

    def add(self, ask: Ask) -> None:
        """This is claimed: hand it in."""
        self._here.add(ask.key)
        if ask.model.key not in self._waiting:
            self._waiting[ask.model.key] = []
            self._start(self._gather(ask.model), self._submitting)
        self._waiting[ask.model.key].append(ask)

    def follow(self, ask: Ask, submission: str) -> None:
        """This is in a batch, of this run or of another: take it from there."""
        if submission in self._left:
            self._answers.refused[ask.key] = self._left[submission]
            return
        self._here.add(ask.key)
        if submission not in self._followed:
            self._followed[submission] = {}
            self._start(self._follow(submission, ask.model), self._following)
        self._followed[submission][ask.key] = ask

    async def close(self) -> None:
        """Follow nothing more. What is being handed in is waited for: nobody else would know its name."""
        for task in self._following:
            task.cancel()
        if self._submitting:
            await asyncio.wait(self._submitting, timeout=HANDING_IN)
        rest = {*self._submitting, *self._following}
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)

    # Handing in.

    async def _gather(self, model: Model) -> None:
        waiting, seen = self._waiting[model.key], -1
        most = self.together(model) or 0
        while seen < len(waiting) < most and not self._answers.closed:
            seen = len(waiting)
            await asyncio.sleep(_QUIET)
        del self._waiting[model.key]
        if self._answers.closed:
            return
        batches = _interface(model)
        for asks, requests in _parts(waiting, batches):
            await self._submit(model, batches, asks, requests)

    async def _submit(
        self, model: Model, batches: BatchInterface, asks: Sequence[Ask], requests: Sequence[Mapping[str, Any]]
    ) -> None:
        store = self._store.submissions
        began = time.time()
        submission, given = await self._in_store(lambda: store.begin(model.key, [ask.key for ask in asks]))
        mine = [place for place, ask in enumerate(asks) if ask.key in given]  # a lease may have ended
        wanted = {asks[place].key: asks[place] for place in mine}
        is_sent = False

        async def hand_in() -> str:
            nonlocal is_sent
            if is_sent:
                known = await self._in_store(store.names)
                if name := await batches.find(submission, began, len(mine), known):
                    return name
            is_sent = True
            return await batches.submit(submission, [requests[place] for place in mine])

        try:
            name = await repeated(self._retries, hand_in) if mine else ""
        except ModelError as error:
            self._said(error, model)
            await self._fail(wanted.values(), error)
            await self._in_store(lambda: store.drop(submission))
        else:
            await self._in_store(lambda: store.name(submission, name))
            self._followed[submission] = wanted
            self._start(self._follow(submission, model), self._following)
        finally:
            self._limits.of(model).in_flight -= len(asks)
        self._again(ask for ask in asks if ask.key not in given)

    # Following.

    async def _follow(self, submission: str, model: Model) -> None:
        """Until its results are here, or it is left."""
        try:
            await self._to_its_end(submission, model)
        except ModelError as error:
            # Not written: what the batch has is paid for, and may be fetched another time.
            said = self._said(error, model)
            for ask in self._followed[submission].values():
                self._answers.attempts[ask.key] = Attempt(ask.key, ask.repetition, error=said)
        known = (self._answers.attempts, self._answers.refused)
        rest = self._followed.pop(submission).values()
        self._here.difference_update(ask.key for ask in rest)
        self._again(ask for ask in rest if not any(ask.key in those for those in known))
        self._answers.publish()

    async def _to_its_end(self, submission: str, model: Model) -> None:
        batches, store, wait = _interface(model), self._store.submissions, _FIRST_LOOK
        while (found := await self._in_store(lambda: store.read(submission))) is not None:
            if found.name is None:
                if await self._take(submission):
                    await self._look_for(found, batches)
                await asyncio.sleep(_LOOK_AGAIN)
                continue
            state: BatchState | None = await repeated(self._retries, partial(batches.state, found.name))
            if state is None or state.has_ended:
                if await self._take(submission):
                    await self._fetch(found, state, batches, model)
                    return
                await asyncio.sleep(_LOOK_AGAIN)
            elif reason := self._cannot_wait():
                self._leave(found, model, reason)
                return
            else:
                await asyncio.sleep(max(0.0, min(wait, self._budget.time_left)))
                wait = min(2 * wait, _LONGEST_LOOK)

    async def _take(self, submission: str) -> bool:
        """Whether this process may name a batch now, or fetch it."""
        holder: str | None = await self._in_store(lambda: self._store.submissions.take(submission))
        if holder is not None:
            await self._in_store(lambda: self._store.bury([holder]))
        return holder == self._store.owner.id

    async def _look_for(self, found: Submission, batches: BatchInterface) -> None:
        """Find the name of a batch that a process which died was handing in."""
        store = self._store.submissions
        known = await self._in_store(store.names)
        find = partial(batches.find, found.id, found.at, found.requests, known)
        name: str | None = await repeated(self._retries, find)
        if name is not None:
            await self._in_store(lambda: store.name(found.id, name))
        elif found.age > _GRACE:
            await self._in_store(lambda: store.drop(found.id))
        else:
            await self._in_store(lambda: store.finish(found.id))

    def _cannot_wait(self) -> str:
        """Why a batch cannot be waited for, and what to do; nothing where it can."""
        if self._mode == "wait" and self._budget.time_left > 0:
            return ""
        reached = f"{self._budget.reason}, " if self._mode == "wait" and self._budget.is_spent else ""
        return f"{reached}run again for its answers"

    def _leave(self, found: Submission, model: Model, reason: str) -> None:
        at = datetime.fromtimestamp(found.at, UTC)
        trouble = self._troubles.get(model.key, "")
        said = f"in batch {found.name} of {model.name}, submitted {at:%Y-%m-%d %H:%M} UTC{trouble}: {reason}"
        self._left[found.id] = said
        keys = self._followed[found.id]
        self._answers.refused |= dict.fromkeys(keys, said)
        self._budget.leave(keys)

    # Fetching.

    async def _fetch(self, found: Submission, state: BatchState | None, batches: BatchInterface, model: Model) -> None:
        name = found.name or ""
        wanted = dict(self._followed[found.id])
        again: list[Ask] = []

        async def read() -> None:
            page: list[Asked] = []
            try:
                async for key, outcome in batches.results(name):
                    if (ask := wanted.pop(key, None)) is None:
                        continue
                    if isinstance(outcome, TransientError) and self._may_go_again(ask, outcome):
                        again.append(ask)
                        continue
                    page.append(self._ended(ask, outcome))
                    if len(page) >= _PAGE:
                        page = await self._write(page)
            finally:  # what came before the connection broke
                await self._write(page)

        if state is not None:
            await repeated(self._retries, read)
        problem = "is not known there any more" if state is None else state.problem or "gave no answer"
        if state is None or state.problem:
            self._troubles[model.key] = f" after batch {name} ({problem})"
        lost = TransientError(f"{model.name}: batch {name}: {problem}", kind=f"batch {problem.partition(':')[0]}")
        failed = []
        for ask in wanted.values():
            if self._may_go_again(ask, lost):
                again.append(ask)
            else:
                failed.append(self._ended(ask, lost))
        await self._write(failed)
        if state is None:
            await self._in_store(lambda: self._store.submissions.drop(found.id))
        else:
            await self._in_store(lambda: self._store.submissions.finish(found.id, [ask.key for ask in again]))

    def _may_go_again(self, ask: Ask, error: ModelError) -> bool:
        """Whether what a batch gave no answer to may be put into another."""
        self._rounds[ask.key] += 1
        if self._rounds[ask.key] >= _ROUNDS:
            return False
        self._budget.failed(ask, error)
        self._budget.drop(ask)
        return True

    def _ended(self, ask: Ask, outcome: Answer | ModelError) -> Asked:
        try:
            if isinstance(outcome, ModelError):
                raise outcome
            attempt = Attempt(ask.key, ask.repetition, checked(outcome, ask.model.name))
        except ModelError as error:
            self._budget.failed(ask, error)
            attempt = Attempt(ask.key, ask.repetition, error=one_line(error, self._secrets))
        self._budget.end(ask, attempt)
        return Asked(attempt, ask.model.key, ask.digest, ask.prompt.messages)

    async def _write(self, asked: Sequence[Asked]) -> list[Asked]:
        """Put these into the store; what is left of them is nothing."""
        if asked:
            turn = await self._in_store(lambda: self._store.turn(self._run, asked=asked, purse=self._budget))
            self._budget.wrote()
            self._answers.attempts.update((one.attempt.key, one.attempt) for one in asked)
            self._answers.attempts |= turn.answered
            self._answers.publish()
        return []

    # What both do.

    def _said(self, error: ModelError, model: Model) -> str:
        """The error's line; one that all attempts of a model have is a cause of its own."""
        said = one_line(error, self._secrets)
        if isinstance(error, FatalError):
            self._answers.causes[said] = model.name
        return said

    async def _fail(self, asks: Any, error: ModelError) -> None:
        asked = [self._ended(ask, error) for ask in asks]
        self._here.difference_update(one.attempt.key for one in asked)
        await self._write(asked)

    def _again(self, asks: Any) -> None:
        back = list(asks)
        self._here.difference_update(ask.key for ask in back)
        self._queues.put_back(reversed(back))
        self._wake()

    def _start(self, work: Any, among: set[asyncio.Task[None]]) -> None:
        async def guarded() -> None:
            try:
                await work
            except BaseException as error:
                if self._answers.closed:
                    raise
                self._answers.fail("a batch", error)
            finally:
                self._wake()

        task = asyncio.get_running_loop().create_task(guarded())
        among.add(task)
        task.add_done_callback(among.discard)


def _interface(model: Model) -> BatchInterface:
    batches = batches_of(model)
    if batches is None:
        raise FairnessError(f"{model.name} has answers in a batch, and no batch interface to fetch them by")
    return batches


def _parts(asks: Sequence[Ask], batches: BatchInterface) -> Iterator[tuple[list[Ask], list[Mapping[str, Any]]]]:
    """Asks with their requests, as many together as a batch may hold."""
    part: list[Ask] = []
    requests: list[Mapping[str, Any]] = []
    size = 0
    for ask in asks:
        request = batches.request(ask.key, ask.prompt, ask.repetition)
        length = len(json.dumps(request)) + 1
        if part and (len(part) >= batches.most_requests or size + length > batches.most_bytes):
            yield part, requests
            part, requests, size = [], [], 0
        part.append(ask)
        requests.append(request)
        size += length
    if part:
        yield part, requests

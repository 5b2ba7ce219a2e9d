"""Submission of requests to providers in batches, and the fetching of their answers, in this run or a later one.

A claimed request becomes part of the next batch of its model, which is submitted once no more are added to it. From
then on the batch has the claim. A process of any run that needs an answer of a batch follows the batch. When it has
ended, its answers are stored, and requests without an answer are queued again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from pytest_fairness.core import json_text as json
from pytest_fairness.core.attempts import Answer, Attempt
from pytest_fairness.core.batch_api import BatchInterface, BatchState, batches_of
from pytest_fairness.core.clock import Clock
from pytest_fairness.core.errors import FairnessError, FatalError, ModelError, TransientError
from pytest_fairness.core.event_loops import Task, gather, get_running_loop, sleep, wait
from pytest_fairness.core.protocols import Model
from pytest_fairness.engine.answer_checks import check_answer, format_error
from pytest_fairness.engine.batch_mode import SUBMITTING, BatchMode, batch_size
from pytest_fairness.engine.context import EngineContext
from pytest_fairness.engine.requests import Request
from pytest_fairness.engine.retries import call_with_retries
from pytest_fairness.store.provider_batches import Submission

_GATHER = 0.5
"""Seconds without another request after which a batch is submitted."""
_FIRST_POLL, _LONGEST_POLL = 1.0, 30.0
"""First and longest wait between two polls of a batch, in seconds."""
_POLL_AGAIN = 0.5
"""Seconds between two polls of a batch that another process handles."""
_GRACE = 30.0
"""Seconds for which the provider is searched for a batch that may have been submitted."""
_MOST_ROUNDS = 3
"""Number of batches without an answer to a request after which it counts as failed."""
_PAGE = 1000
"""Number of results that are written at a time."""


class BatchSubmitter:
    """The batches that one process submits and follows. Used by the engine's thread only.

    Args:
        mode: The mode; with None no batch is submitted, and the answers of ended batches are fetched.
        context: The shared parts of the engine.
    """

    def __init__(self, mode: BatchMode | None, context: EngineContext) -> None:
        self._mode, self._context = mode, context
        self._sync, self._results, self._budget = context.sync, context.results, context.budget
        self._waiting: dict[str, list[Request]] = {}
        """The requests to be submitted, by model."""
        self._followed: dict[str, dict[str, Request]] = {}
        """The requests whose answers are fetched from each batch, by key."""
        self._unawaited: dict[str, str] = {}
        """The reasons not to wait for some batches."""
        self._keys: set[str] = set()
        """The keys of all requests that wait for submission, or whose batch is followed."""
        self._rounds: Counter[str] = Counter()
        """The number of batches that each request was part of."""
        self._problems: dict[str, str] = {}
        """The problem of an earlier batch, by model."""
        self._submitting: set[Task[None]] = set()
        self._following: set[Task[None]] = set()

    # Called by the dispatcher.

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def add(self, request: Request) -> None:
        """Submit a claimed request."""
        self._keys.add(request.key)
        if request.model.key not in self._waiting:
            self._waiting[request.model.key] = []
            self._start(self._gather(request.model), self._submitting)
        self._waiting[request.model.key].append(request)

    def follow(self, request: Request, submission: str) -> None:
        """Fetch a request's answer from a batch, of this run or another."""
        if submission in self._unawaited:
            self._results.refused[request.key] = self._unawaited[submission]
            self._results.publish()
            return
        self._keys.add(request.key)
        if submission not in self._followed:
            self._followed[submission] = {}
            self._start(self._follow(submission, request.model), self._following)
        self._followed[submission][request.key] = request

    async def close(self) -> None:
        """Stop following batches, after waiting for submissions in progress: other processes cannot get their names."""
        for task in self._following:
            task.cancel()
        if self._submitting:
            await wait(self._submitting, timeout=SUBMITTING)
        tasks = {*self._submitting, *self._following}
        for task in tasks:
            task.cancel()
        await gather(*tasks, return_exceptions=True)

    # Submitting.

    async def _gather(self, model: Model) -> None:
        waiting, count = self._waiting[model.key], -1
        most = batch_size(self._mode, model) or 0
        while count < len(waiting) < most and not self._results.closed:
            count = len(waiting)
            await sleep(_GATHER)
        del self._waiting[model.key]
        if self._results.closed:
            return
        batches = _interface(model)
        for requests, bodies in _split_into_batches(waiting, batches):
            await self._submit(model, batches, requests, bodies)

    async def _submit(
        self, model: Model, batches: BatchInterface, requests: Sequence[Request], bodies: Sequence[Mapping[str, Any]]
    ) -> None:
        store = self._sync.store.submissions
        began = Clock.now_in_seconds()
        # The batch is stored with its claims before it is sent. A process that reads it without a name searches
        # for it at the provider, so that neither a crash nor a lost reply repeats a request.
        submission, claimed = await self._sync.call(store.begin, model.key, [request.key for request in requests])
        ours = [index for index, request in enumerate(requests) if request.key in claimed]  # a lease may have ended
        followed = {requests[index].key: requests[index] for index in ours}
        is_sent = False

        async def submit() -> str:
            nonlocal is_sent
            if is_sent:
                names = await self._sync.call(store.names)
                if name := await batches.find(submission, began, len(ours), names):
                    return name
            is_sent = True
            return await batches.submit(submission, [bodies[index] for index in ours])

        try:
            name = await call_with_retries(self._context.retries, submit) if ours else ""
        except ModelError as error:
            self._message(error, model)
            for request in followed.values():
                self._end(request, error)
            self._keys -= followed.keys()
            await self._write()
            await self._sync.call(store.drop, submission)
        else:
            await self._sync.call(store.name, submission, name)
            self._followed[submission] = followed
            self._start(self._follow(submission, model), self._following)
        finally:
            self._context.limits.of(model).in_flight -= len(requests)
        self._put_back(request for request in requests if request.key not in claimed)

    # Following.

    async def _follow(self, submission: str, model: Model) -> None:
        """Follow a batch until its results are fetched, or this run no longer waits for it."""
        try:
            await self._follow_to_end(submission, model)
        except ModelError as error:
            # The error is not stored: the answers of the batch are paid for, and may be fetched later.
            message = self._message(error, model)
            for request in self._followed[submission].values():
                self._results.attempts[request.key] = Attempt(request.key, request.repetition, error=message)
        ended = (self._results.attempts, self._results.refused)
        requests = self._followed.pop(submission).values()
        self._keys.difference_update(request.key for request in requests)
        self._put_back(request for request in requests if not any(request.key in results for results in ended))
        self._results.publish()

    async def _follow_to_end(self, submission: str, model: Model) -> None:
        batches, store, wait = _interface(model), self._sync.store.submissions, _FIRST_POLL
        while (batch := await self._sync.call(store.read, submission)) is not None:
            if batch.name is None:
                if await self._take(submission):
                    await self._find_name(batch, batches)
                await sleep(_POLL_AGAIN)
                continue
            state = await call_with_retries(self._context.retries, partial(batches.state, batch.name))
            if state is None or state.has_ended:
                if await self._take(submission):
                    await self._fetch(batch, state, batches, model)
                    return
                await sleep(_POLL_AGAIN)
            elif reason := self._cannot_wait():
                self._leave(batch, model, reason)
                return
            else:
                await sleep(max(0.0, min(wait, self._budget.time_left)))
                wait = min(2 * wait, _LONGEST_POLL)

    async def _take(self, submission: str) -> bool:
        """Claim a batch, to name or fetch it, and return whether this process has it."""
        store = self._sync.store
        holder: str | None = await self._sync.call(store.submissions.take, submission)
        if holder is not None:
            await self._sync.call(store.release_dead, [holder])
        return holder == store.owner.id

    async def _find_name(self, batch: Submission, batches: BatchInterface) -> None:
        """Find the name of a batch whose submitting process has died."""
        store = self._sync.store.submissions
        names = await self._sync.call(store.names)
        find = partial(batches.find, batch.id, batch.at, batch.requests, names)
        name = await call_with_retries(self._context.retries, find)
        if name is not None:
            await self._sync.call(store.name, batch.id, name)
        elif batch.age > _GRACE:
            await self._sync.call(store.drop, batch.id)
        else:
            await self._sync.call(store.finish, batch.id)

    def _cannot_wait(self) -> str:
        """Return why this run does not wait for a batch, and the way out; empty where it waits."""
        if self._mode == "wait" and self._budget.time_left > 0:
            return ""
        reached = f"{self._budget.reason}, " if self._mode == "wait" and self._budget.is_spent else ""
        return f"{reached}run again for its answers"

    def _leave(self, batch: Submission, model: Model, reason: str) -> None:
        submitted = datetime.fromtimestamp(batch.at, UTC)
        problem = self._problems.get(model.key, "")
        message = f"in batch {batch.name} of {model.name}, submitted {submitted:%Y-%m-%d %H:%M} UTC{problem}: {reason}"
        self._unawaited[batch.id] = message
        keys = self._followed[batch.id]
        self._results.refused |= dict.fromkeys(keys, message)
        self._budget.leave(keys)

    # Fetching.

    async def _fetch(self, batch: Submission, state: BatchState | None, batches: BatchInterface, model: Model) -> None:
        name = batch.name or ""
        unanswered = dict(self._followed[batch.id])
        requeued: list[str] = []

        def end(request: Request, outcome: Answer | ModelError) -> None:
            if isinstance(outcome, TransientError) and self._may_join_another(request, outcome):
                requeued.append(request.key)
            else:
                self._end(request, outcome)

        async def read() -> None:
            try:
                number = 0
                async for key, outcome in batches.results(name):
                    if (request := unanswered.pop(key, None)) is not None:
                        end(request, outcome)
                        number += 1
                        if number % _PAGE == 0:
                            await self._write()
            finally:  # also the results before a broken connection
                await self._write()

        if state is not None:
            await call_with_retries(self._context.retries, read)
        problem = "is not known there any more" if state is None else state.problem or "gave no answer"
        if state is None or state.problem:
            self._problems[model.key] = f" after batch {name} ({problem})"
        missing = TransientError(f"{model.name}: batch {name}: {problem}", kind=f"batch {problem.partition(':')[0]}")
        for request in unanswered.values():
            end(request, missing)
        await self._write()
        store = self._sync.store.submissions
        if state is None:
            await self._sync.call(store.drop, batch.id)
        else:
            await self._sync.call(store.finish, batch.id, requeued)

    def _may_join_another(self, request: Request, error: ModelError) -> bool:
        """Return whether a request without an answer in a batch may be part of another."""
        self._rounds[request.key] += 1
        if self._rounds[request.key] >= _MOST_ROUNDS:
            return False
        self._budget.failed(request, error)
        self._budget.end(request, None)
        return True

    def _end(self, request: Request, outcome: Answer | ModelError) -> None:
        """Save the answer or the error of a request."""
        try:
            if isinstance(outcome, ModelError):
                raise outcome
            attempt = Attempt(request.key, request.repetition, check_answer(outcome, request.model.name))
        except ModelError as error:
            self._budget.failed(request, error)
            attempt = Attempt(request.key, request.repetition, error=format_error(error, self._context.secrets))
        self._budget.end(request, attempt)
        self._sync.save(request, attempt)

    # Shared by submission and fetching.

    async def _write(self) -> None:
        """Write all results now: a batch may be removed only once its answers are stored."""
        if self._sync.is_due:
            await self._sync.exchange()
            self._results.publish()

    def _message(self, error: ModelError, model: Model) -> str:
        """Return the error in one line; a fatal one is recorded as the cause of all errors of the model."""
        message = format_error(error, self._context.secrets)
        if isinstance(error, FatalError):
            self._results.causes[message] = model.name
        return message

    def _put_back(self, requests: Iterable[Request]) -> None:
        back = list(requests)
        self._keys.difference_update(request.key for request in back)
        self._context.scheduler.put_back(back)
        self._context.wake()

    def _start(self, work: Coroutine[Any, Any, None], tasks: set[Task[None]]) -> None:
        async def guarded() -> None:
            try:
                await work
            except BaseException as error:
                if self._results.closed:
                    raise
                self._results.fail("a batch", error)
            finally:
                self._context.wake()

        task = get_running_loop().create_task(guarded())
        tasks.add(task)
        task.add_done_callback(tasks.discard)


def _interface(model: Model) -> BatchInterface:
    batches = batches_of(model)
    if batches is None:
        raise FairnessError(f"{model.name} has answers in a batch, and no batch interface to fetch them by")
    return batches


def _split_into_batches(
    requests: Sequence[Request], batches: BatchInterface
) -> Iterator[tuple[list[Request], list[Mapping[str, Any]]]]:
    """Yield requests with their bodies, in parts of the largest size of a batch."""
    part: list[Request] = []
    bodies: list[Mapping[str, Any]] = []
    size = 0
    for request in requests:
        body = batches.request(request.key, request.sent_prompt, request.repetition)
        length = len(json.dumps(body)) + 1
        if part and (len(part) >= batches.most_requests or size + length > batches.most_bytes):
            yield part, bodies
            part, bodies, size = [], [], 0
        part.append(request)
        bodies.append(body)
        size += length
    if part:
        yield part, bodies

"""Dispatch of claimed requests to their models, one by one or in provider batches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING

from pytest_fairness.core.attempts import Attempt
from pytest_fairness.core.errors import FairnessError, TransientError
from pytest_fairness.core.event_loops import CancelledError, Task, gather, get_running_loop, timeout
from pytest_fairness.core.protocols import Model
from pytest_fairness.engine.batch_mode import BatchMode, batch_size
from pytest_fairness.engine.context import EngineContext
from pytest_fairness.engine.errors import BudgetExceededError
from pytest_fairness.engine.requests import Request
from pytest_fairness.store.store import SyncResult

if TYPE_CHECKING:
    from pytest_fairness.engine.batch_submission import BatchSubmitter
    from pytest_fairness.engine.rate_limiter import RateLimiter
    from pytest_fairness.engine.request_runner import RequestRunner

GRACE = 30.0
"""Seconds for which requests in flight may continue after the time of the run, or after its session was stopped."""


class Dispatcher:
    """The requests that one process has in flight. Used by the engine's thread only.

    Each request ends with an attempt for the store, or with a reason why this run has none: a cap, or the provider
    batch that it is in. After a fatal error of a model all its requests end with that error.

    Args:
        context: The shared parts of the engine.
        mode: The mode of provider batches.
        offline: Whether models that need a connection are refused.
    """

    def __init__(self, context: EngineContext, mode: BatchMode | None, *, offline: bool) -> None:
        self.claimed = set[str]()
        """The keys of the requests that are claimed and were not sent."""
        self._context, self._mode, self._offline = context, mode, offline
        self._runners: dict[str, RequestRunner] = {}
        self._tasks: dict[str, Task[None]] = {}
        self._existing_batches: BatchSubmitter | None = None

    def __contains__(self, key: str) -> bool:
        if key in self._tasks or key in self.claimed:
            return True
        return self._existing_batches is not None and key in self._existing_batches

    def __len__(self) -> int:
        """Return how many requests are in flight one by one."""
        return len(self._tasks)

    @property
    def has_batches(self) -> bool:
        """Whether any request was to be part of a batch, or was found in one."""
        return self._existing_batches is not None

    @property
    def _batches(self) -> BatchSubmitter:
        if self._existing_batches is None:
            from pytest_fairness.engine.batch_submission import BatchSubmitter

            self._existing_batches = BatchSubmitter(self._mode, self._context)
        return self._existing_batches

    @property
    def queued(self) -> int:
        """The number of requests in flight that were not sent yet, since their model is busy."""
        return sum(len(runner.queued) for runner in self._runners.values())

    def may_send(self, request: Request) -> bool:
        """Return whether a request has to be sent; one that can have no answer fails here."""
        results, model = self._context.results, request.model
        if request.key in results.attempts:
            return False
        runner = self._runner(model)
        error = runner.refusal(request)
        if error is None and self._offline and not model.local:
            error = f"{model.name} was not asked: the answer is not in the store, and --fairness-offline is given"
        if error is not None:
            results.causes[error] = model.name
            results.attempts[request.key] = Attempt(request.key, request.repetition, error=error)
        return error is None

    def send(self, request: Request) -> None:
        """Send a request that needs no claim; one that is claimed is sent once it has a slot: see `use_slots`."""
        runner = self._runner(request.model)
        if not request.is_stored:  # the others were begun with their claims
            self._context.budget.begin([request])
        if runner.limit.is_shared and request.is_stored:
            runner.limit.claimed.append(request)
            self.claimed.add(request.key)
            return
        runner.limit.in_flight += 1
        if batch_size(self._mode, request.model) is not None:
            self._batches.add(request)
        else:
            self._start(runner, request)

    def use_slots(self) -> None:
        """Send claimed requests as far as there are slots."""
        for runner in self._runners.values():
            self._use_slots(runner.limit)

    def withdraw(self) -> list[Request]:
        """Release the claims of all requests that were not sent, and return these."""
        requests: list[Request] = []
        for runner in self._runners.values():
            requests += runner.limit.claimed
            runner.limit.claimed.clear()
        self.claimed.clear()
        for request in requests:
            self._context.budget.withdraw(request)
            self._context.sync.release(request)
        return requests

    def _use_slots(self, limit: RateLimiter) -> None:
        while (request := limit.next_request()) is not None:
            self.claimed.remove(request.key)
            self._start(self._runner(request.model), request)

    def _start(self, runner: RequestRunner, request: Request) -> None:
        self._tasks[request.key] = get_running_loop().create_task(self._send(runner, request))

    def follow(self, request: Request, result: SyncResult) -> bool:
        """Wait for a request's answer from the provider batch that has claimed it; return whether one has."""
        owner = result.foreign[request.key]
        if owner in result.submissions:
            self._batches.follow(request, owner)
        return owner in result.submissions

    async def cancel(self) -> None:
        """Cancel the requests in flight, and release those that were not sent."""
        self.withdraw()
        if self._existing_batches is not None:
            await self._existing_batches.close()
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await gather(*tasks, return_exceptions=True)

    async def close(self) -> Sequence[FairnessError]:
        """Close all models, and return the errors of those that could not be closed."""
        return [error for runner in self._runners.values() if (error := await runner.close()) is not None]

    def _runner(self, model: Model) -> RequestRunner:
        if model.key not in self._runners:
            from pytest_fairness.engine.request_runner import RequestRunner

            self._runners[model.key] = RequestRunner(model, self._context)
            scheduler = self._context.scheduler
            scheduler.lookahead = max(scheduler.lookahead, 2 * getattr(model, "in_flight", 0))
        return self._runners[model.key]

    async def _send(self, runner: RequestRunner, request: Request) -> None:
        """Send a request to its end; an error of the engine or the store ends all waits."""
        try:
            try:
                attempt = await self._attempt(runner, request)
            finally:
                runner.limit.end()
                del self._tasks[request.key]
                self._use_slots(runner.limit)
                self._context.wake()
            self._end(runner, request, attempt)
        except CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever it is, no test may wait for ever
            self._context.results.fail("the engine", error)

    def _end(self, runner: RequestRunner, request: Request, attempt: Attempt | None) -> None:
        """Give the attempt of a request to the store; release the claim of one that is not stored."""
        if attempt is None:
            self._context.sync.release(request)
            return
        if runner.fatal is not None:
            for waiting in self._context.scheduler.drain(request.model):
                # A test may demand what is in flight, or is answered and not written yet.
                if waiting.key not in self and not self._context.sync.has_attempt(waiting.key):
                    self.may_send(waiting)
        if attempt.error and attempt.error == runner.refusal(request):
            # Not written: every process of the run finds out for itself, and a later run tries again.
            self._context.sync.release(request)
            self.may_send(request)
            self._context.results.publish()
        else:
            self._context.sync.save(request, attempt)

    async def _attempt(self, runner: RequestRunner, request: Request) -> Attempt | None:
        """Return the attempt of a request; None where a cap of the run ended it."""
        budget, results = self._context.budget, self._context.results
        try:
            left = budget.time_left
            async with nullcontext() if math.isinf(left) else timeout(max(0.0, left) + GRACE):
                attempt = await runner.run(request)
        except (BudgetExceededError, TimeoutError) as over:
            if isinstance(over, TimeoutError):
                budget.failed(request, TransientError("the time of the run is over", sent=True, kind="time over"))
            budget.end(request, None)
            results.refused[request.key] = budget.reason if budget.is_spent else ""
            results.publish()
            return None
        except CancelledError:
            if results.closed:
                if request.key in runner.queued:
                    budget.withdraw(request)
                raise
            error = f"{request.model.name} canceled the task that asked it"
            attempt = Attempt(request.key, request.repetition, error=error)
        if request.key in runner.queued:  # it was claimed before a fatal error
            runner.queued.remove(request.key)
            budget.withdraw(request)
        else:
            budget.end(request, attempt)
        return attempt

"""Requests to one model, each sent again where that can help."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta

from pytest_fairness.core.attempts import Answer, Attempt
from pytest_fairness.core.errors import FairnessError, FatalError, ModelError, PermanentError, TransientError
from pytest_fairness.core.finish_reasons import unfinished
from pytest_fairness.core.propensities import WAY_OUT, NoLikelihoodsError, context_of, continuations_of, likelihoods_of
from pytest_fairness.core.protocols import LikelihoodModel, Model
from pytest_fairness.core.tools import STATE, TOOL_CALLS, NoToolsError
from pytest_fairness.engine.answer_checks import as_model_error, checked_answer, one_line
from pytest_fairness.engine.context import EngineContext
from pytest_fairness.engine.errors import BudgetExceededError
from pytest_fairness.engine.requests import Request
from pytest_fairness.engine.retries import requested_wait, with_jitter
from pytest_fairness.store.throttle import LONGEST_QUIET

_TRIES_UNREACHABLE = 3
_TRIES_TIMEOUT = 2
"""A request that was not answered in time may have been paid for, and mostly is not answered the next time either.

Where the model answers others meanwhile, it is sent once more: of a fifth lost by chance, few are lost three times."""
_MOST_LOST = 10
"""Requests that were tried in vain before any was answered, after which the model is taken to answer none."""
_CALLS_NO_TOOLS = "{} cannot be offered tools, which this probe declares: measure a model or application that can"
_REFUSALS = 60
"""Requests refused for the rate while others were answered, after which this request is taken for the reason."""


class RequestRunner:
    """Sender of the requests of one model, which records whether any can succeed."""

    def __init__(self, model: Model, context: EngineContext) -> None:
        self.model, self._context = model, context
        self.limit = context.limits.of(model)
        self.fatal: str | None = None
        """Why this model can answer no prompt, once that is known."""
        self.without_likelihoods = ""
        """Why this model gives no likelihoods of options, once that is known."""
        self.without_tools = "" if getattr(model, "calls_tools", False) else _CALLS_NO_TOOLS.format(model.name)
        """Why this model cannot be offered tools, as far as that is known."""
        self.queued = set[str]()
        """Keys of requests in flight that have not left: the model is not free for them yet."""
        self._answered = 0
        """How often it has answered."""
        self._lost = 0
        """Requests that were tried in vain before that."""

    async def run(self, request: Request) -> Attempt:
        """Return the attempt; a failure that sending again could not mend is its error.

        A refusal for the rate costs no try while the endpoint answers others.

        Raises:
            BudgetExceededError: Sending again may help, and a cap of the run forbids it.
        """
        since = self._answered
        failures = refused = timeouts = 0
        while True:
            try:
                return Attempt(request.key, request.repetition, await self._send(request))
            except FatalError as error:
                self.limit.end_waits()
                return self._give_up(request, self._message(error))
            except TransientError as error:
                is_throttled = error.rate_limited and self.limit.is_shared
                refused, failures = refused + is_throttled, failures + (not is_throttled)
                timeouts += error.kind == "timeout"
                is_tried_out = failures >= self._tries_for(error, since)
                is_tried_out |= timeouts >= _TRIES_TIMEOUT + (self._answered > since)
                if refused >= _REFUSALS or (failures and is_tried_out):
                    message = f"{self._message(error)} (asked {failures + refused} times)"
                    if not self._answered:
                        self._lost += 1
                        if error.unreachable or self._lost >= _MOST_LOST:
                            self.limit.end_waits()
                            return self._give_up(request, message)
                    return Attempt(request.key, request.repetition, error=message)
                number = refused if is_throttled else failures
                wait = self._context.retries.wait(number, error, is_throttled=is_throttled)
            except ModelError as error:
                message = self._message(error)
                if isinstance(error, NoLikelihoodsError):
                    message = self.without_likelihoods = self.without_likelihoods or message
                elif isinstance(error, NoToolsError):
                    message = self.without_tools = self.without_tools or message
                return Attempt(request.key, request.repetition, error=message)
            self._context.budget.check(max(wait, self.limit.closed(time.monotonic())))
            await self.limit.permit(wait)
            if not await self._context.sync.may_retry(request):
                raise BudgetExceededError(self._context.budget.reason)

    def refusal(self, request: Request) -> str | None:
        """Return why this model can never answer a request, where that is known."""
        if self.fatal is None and request.asks_likelihoods:
            return self.without_likelihoods or None
        if self.fatal is None and request.prompt.tools:
            reason = getattr(self.model, "refuses_results", "")
            calls = [message for message in request.prompt.messages if message["role"] == TOOL_CALLS]
            if reason and any(STATE not in message for message in calls):
                return f"{self.model.name} cannot be sent results of calls that are not its own with {reason}"
            return self.without_tools or None
        return self.fatal

    async def close(self) -> FairnessError | None:
        """Close the model. Return the error where that fails: the others are to be closed as well."""
        try:
            await self.model.close()
        except BaseException as error:  # noqa: BLE001 - of a third party's model
            return FairnessError(f"{self.model.name} could not be closed: {self._message(error)}")
        return None

    def _message(self, error: BaseException) -> str:
        return one_line(error, self._context.secrets)

    def _give_up(self, request: Request, message: str) -> Attempt:
        # The first reason stands for all: another's may differ by the id of its request.
        self.fatal = self.fatal or message
        return Attempt(request.key, request.repetition, error=self.fatal)

    async def _send(self, request: Request) -> Answer:
        self.queued.add(request.key)
        async with self.limit.turn():
            self.queued.discard(request.key)
            return await self._answer(request)

    async def _answer(self, request: Request) -> Answer:
        if self.fatal is not None:
            raise FatalError(self.fatal)
        generation = self.limit.generation
        try:
            answer = checked_answer(await _reply(request), self.model.name)
        except BaseException as error:  # also what ends a process or a test: in a model it is a mistake like any other
            if isinstance(error, asyncio.CancelledError) and _is_canceled():
                raise
            failure = as_model_error(error, self.model.name)
            self._context.budget.failed(request, failure)
            if isinstance(failure, TransientError):
                self._slow_down(failure, generation)
            if failure is error:
                raise
            raise failure from error
        self._answered += 1
        self.limit.answered(request.sent_prompt, answer)
        return answer

    def _slow_down(self, error: TransientError, generation: int) -> None:
        """Send less after a refusal. Raise `FatalError` where the wait would be too long: a run can be resumed."""
        wait = requested_wait(error)
        if wait > LONGEST_QUIET:
            raise FatalError(
                f"{one_line(error)}: it asks to wait until {_clock(wait)}: run again then; what was answered is kept",
                kind=error.kind,
            )
        if error.rate_limited:
            self.limit.refused(with_jitter(wait), generation)
            if self.limit.refused_for >= LONGEST_QUIET:
                raise FatalError(
                    f"{one_line(error)}: it has answered nothing for {self.limit.refused_for / 60:.0f} minutes: "
                    "run again later; what was answered is kept",
                    kind=error.kind,
                )

    def _tries_for(self, error: TransientError, since: int) -> int:
        """Return how often to try after such a failure, given how many were answered before the first try."""
        tries = self._context.retries.tries
        if error.unreachable and not self._answered:
            return min(_TRIES_UNREACHABLE, tries)
        return tries * (2 if self._answered > since else 1)


async def _reply(request: Request) -> Answer:
    """Return a model's answer to a request, or the likelihoods that it asks for.

    Raises:
        PermanentError: The likelihoods are invalid, or the model gives none.
    """
    prompt = request.sent_prompt
    continuations = continuations_of(prompt)
    if continuations is None:
        return await request.model.answer(prompt, request.repetition)
    if not isinstance(request.model, LikelihoodModel):
        raise NoLikelihoodsError(f"{request.model.name} gives no probabilities of options: {WAY_OUT}")
    answer = await request.model.likelihoods(context_of(prompt), continuations)
    if isinstance(answer, Answer) and unfinished(answer) is None:  # else ungraded: filtered, refused
        try:
            likelihoods_of(answer, continuations)
        except PermanentError as error:
            raise PermanentError(f"{request.model.name}: {error}") from None
    return answer


def _is_canceled() -> bool:
    """Return whether the request is ended from here, not by an exception of the model's own."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _clock(wait: float) -> str:
    now = datetime.now(UTC)
    end = now + timedelta(seconds=min(wait, 366 * 86400) + 59)
    return f"{end:%H:%M} UTC" if end.date() == now.date() else f"{end:%Y-%m-%d %H:%M} UTC"

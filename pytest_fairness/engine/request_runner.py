"""Runner of the requests to one model, with retries."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import NamedTuple

from pytest_fairness.core.attempts import Answer, Attempt
from pytest_fairness.core.clock import Clock
from pytest_fairness.core.errors import (
    FairnessError,
    FatalError,
    ForbiddenError,
    ModelError,
    PermanentError,
    TransientError,
)
from pytest_fairness.core.event_loops import CancelledError, current_task
from pytest_fairness.core.finish_reasons import unfinished
from pytest_fairness.core.formatting import counted
from pytest_fairness.core.message_roles import STATE, TOOL_CALLS
from pytest_fairness.core.propensities import WAY_OUT, NoLikelihoodsError, context_of, continuations_of, likelihoods_of
from pytest_fairness.core.protocols import Model, is_likelihood_model
from pytest_fairness.core.tools import NoToolsError
from pytest_fairness.engine.answer_checks import as_model_error, check_answer, format_error
from pytest_fairness.engine.context import EngineContext
from pytest_fairness.engine.errors import BudgetExceededError
from pytest_fairness.engine.requests import Request
from pytest_fairness.engine.retries import add_jitter, requested_wait
from pytest_fairness.store.throttle import LONGEST_QUIET

_TRIES_UNREACHABLE = 3
"""Number of tries of a request to a server that has not answered any, and cannot be reached."""
_TRIES_TIMEOUT = 2
"""Number of tries of a request that times out: it may have been paid for, and mostly times out again.

There is one more try if the model answers other requests meanwhile: if a fifth time out by chance, few do three times.
"""
_LATEST = 50
"""Number of answers over which the share of those that came after a failure is averaged."""
_MOST_RECOVERED = 0.1
"""Largest such share of a sound server, where a request that fails again and again is at fault itself.

Where a tenth of all replies fail by chance, one request in a million fails six times.
"""
_MOST_LOST = 10
"""Number of requests that failed one after another, after which the model counts as unable to answer any.

The last of them began after another one had failed: those in flight together may all be of one kind. The same number
of prompts may be refused by HTTP 403, and none answered, before the model counts as refusing all.
"""
_LONGEST_OUTAGE = 60.0
"""Seconds of failures alone before a model that has answered counts as such: many requests may fail at a time."""
_CALLS_NO_TOOLS = "{} cannot be offered tools, which this probe declares: measure a model or application that can"
_MOST_REFUSALS = 60
"""Number of refusals for the rate, while others are answered, after which the request itself counts as the reason."""


class _Sending(NamedTuple):
    """The state of an endpoint when a request was sent."""

    generation: int
    others: int
    """The other requests of this process that were on their way."""
    answered: int
    """The number of answers so far."""

    def is_behind(self, answered: int) -> bool:
        """Return whether the request may have waited for those others, given the number of answers by now.

        A server that answers many times as many meanwhile does not let it wait: the request itself takes too long.
        """
        return 0 < self.others >= answered - self.answered


class RequestRunner:
    """Sender of the requests to one model, which records whether any can succeed."""

    def __init__(self, model: Model, context: EngineContext) -> None:
        self.model, self._context = model, context
        self.limit = context.limits.of(model)
        self.fatal: str | None = None
        """The reason that this model can answer no prompt; None while it is not known to be so."""
        self.without_likelihoods = ""
        """The reason that this model gives no likelihoods of options; empty while it is not known to be so."""
        self.without_tools = "" if getattr(model, "calls_tools", False) else _CALLS_NO_TOOLS.format(model.name)
        """The reason that this model takes no tools; empty while it is not known to be so."""
        self.queued = set[str]()
        """The keys of requests in flight that were not sent: the model is busy, or can answer no prompt."""
        self._answered = 0
        """The number of answers."""
        self._recovered = 1.0
        """The share of the latest answers that came after a failure; 1 before the first answer."""
        self._lost = 0
        """The number of requests that failed after all tries since the last answer."""
        self._failing_since = math.inf
        """The time of the first failure since the last answer."""
        self._forbidden = set[str]()
        """The digests of the prompts that were refused by HTTP 403 before the first answer."""
        self._early = 0
        """The number of requests in flight that began before so many were: answers may take longer than refusals."""

    async def run(self, request: Request) -> Attempt:
        """Return the attempt of a request, with its error if all tries failed.

        A refusal for the rate counts as no try while the endpoint answers other requests.

        Raises:
            BudgetExceededError: A cap of the run forbids another try.
        """
        is_early = len(self._forbidden) < _MOST_LOST
        self._early += is_early
        try:
            return await self._run(request)
        except ForbiddenError as error:
            message = self._message(error)
            self._forbidden.add(request.prompt.digest)
            if self._answered or len(self._forbidden) < _MOST_LOST or self._early > is_early:
                self._context.scheduler.bring_forward(self.model)
                return Attempt(request.key, request.repetition, error=message)
            message += f" (so were {counted(len(self._forbidden), 'prompt')}, and none was answered)"
            return self._give_up(request, message)
        finally:
            self._early -= is_early

    async def _run(self, request: Request) -> Attempt:
        since, lost = self._answered, self._lost
        failures = refused = timeouts = 0
        while True:
            generation = self.limit.generation
            try:
                attempt = Attempt(request.key, request.repetition, await self._send(request))
                self._recovered += ((failures > 0) - self._recovered) / min(self._answered + 1, _LATEST)
                return attempt
            except ForbiddenError:
                raise
            except FatalError as error:
                return self._give_up(request, self._message(error))
            except TransientError as raised:
                failure = raised
            except ModelError as error:
                return Attempt(request.key, request.repetition, error=self._refused_kind(error))
            self._failing_since = min(self._failing_since, Clock.monotonic())
            is_shared, timed_out = self.limit.is_shared, failure.kind == "timeout"
            is_throttled = failure.rate_limited and is_shared
            if timed_out and is_shared:
                # It may have waited for others at a server that answers few at a time: the slot that it waits for
                # shows whether the number of these was lowered.
                await self._wait(self._context.retries.wait(timeouts + 1, failure))
                if self.fatal is not None:
                    return self._give_up(request, self.fatal)
                is_throttled = self.limit.generation > generation
            refused, failures = refused + is_throttled, failures + (not is_throttled)
            timeouts += timed_out and not is_throttled
            is_last_try = failures >= self._tries_for(failure, since)
            is_last_try |= timeouts >= _TRIES_TIMEOUT + (self._answered > since)
            if refused >= _MOST_REFUSALS or (failures and is_last_try):
                message = f"{self._message(failure)} (asked {failures + refused} times)"
                return self._lose(request, message, had_lost=lost > 0, is_unreachable=failure.unreachable)
            if not (timed_out and is_shared):
                number = refused if is_throttled else failures
                await self._wait(self._context.retries.wait(number, failure, is_throttled=is_throttled))
            if self.fatal is not None:
                return self._give_up(request, self.fatal)
            if not await self._context.sync.may_retry(request):
                raise BudgetExceededError(self._context.budget.reason)

    def _lose(self, request: Request, message: str, *, had_lost: bool, is_unreachable: bool) -> Attempt:
        """Return the attempt of a request that failed after all tries; ``had_lost`` if one had before it began."""
        self._lost += 1
        is_long = not self._answered or Clock.monotonic() - self._failing_since >= _LONGEST_OUTAGE
        if (is_long and had_lost and self._lost >= _MOST_LOST) or (is_unreachable and not self._answered):
            return self._give_up(request, message)
        self._context.scheduler.bring_forward(self.model)
        return Attempt(request.key, request.repetition, error=message)

    def _refused_kind(self, error: ModelError) -> str:
        """Return the message of an error of one prompt; the first one, if all prompts of its kind have that error."""
        message = self._message(error)
        if isinstance(error, NoLikelihoodsError):
            message = self.without_likelihoods = self.without_likelihoods or message
        elif isinstance(error, NoToolsError):
            message = self.without_tools = self.without_tools or message
        return message

    async def _wait(self, wait: float) -> None:
        """Wait until a request may be sent again, for so many seconds at least.

        Raises:
            BudgetExceededError: The time of the run ends before.
        """
        self._context.budget.check(max(wait, self.limit.closed(Clock.monotonic())))
        await self.limit.permit(wait)

    def refusal(self, request: Request) -> str | None:
        """Return the reason that this model can never answer a request; None where there is none."""
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
        """Close the model, and return the error if that fails, so that the other models are closed as well."""
        try:
            await self.model.close()
        except BaseException as error:  # noqa: BLE001 - a third party's model may raise anything
            return FairnessError(f"{self.model.name} could not be closed: {self._message(error)}")
        return None

    def _message(self, error: BaseException) -> str:
        return format_error(error, self._context.secrets)

    def _give_up(self, request: Request, message: str) -> Attempt:
        self.limit.end_waits()
        # All requests get the first reason: others may differ by the id of their request.
        self.fatal = self.fatal or message
        return Attempt(request.key, request.repetition, error=self.fatal)

    async def _send(self, request: Request) -> Answer:
        if not self.limit.is_in_process:
            return await self._answer(request)
        self.queued.add(request.key)
        async with self.limit.turn():
            self.queued.discard(request.key)
            return await self._answer(request)

    async def _answer(self, request: Request) -> Answer:
        if self.fatal is not None:
            self.queued.add(request.key)
            raise FatalError(self.fatal)
        sent = _Sending(self.limit.generation, self.limit.in_flight - self.limit.waiting - 1, self._answered)
        try:
            answer = check_answer(await _reply(request), self.model.name)
        except BaseException as error:  # also exceptions that end a process or a test: in a model they are errors
            if isinstance(error, CancelledError) and _is_canceled():
                raise
            failure = as_model_error(error, self.model.name)
            self._context.budget.failed(request, failure)
            if isinstance(failure, TransientError):
                self._slow_down(failure, sent)
            if failure is error:
                raise
            raise failure from error
        self._answered, self._failing_since, self._lost = self._answered + 1, math.inf, 0
        self.limit.answered(request, answer)
        return answer

    def _slow_down(self, error: TransientError, sent: _Sending) -> None:
        """Report a refusal for the rate to the limiter, or a timeout behind other requests.

        Raises:
            FatalError: The wait would be too long: the run can be resumed later.
        """
        wait, timed_out = requested_wait(error), error.kind == "timeout" and self.limit.is_shared
        if wait > LONGEST_QUIET:
            raise FatalError(
                f"{format_error(error)}: it asks to wait until {_clock(wait)}: run again then; "
                "what was answered is kept",
                kind=error.kind,
            )
        if error.rate_limited:
            self.limit.refused(add_jitter(wait), sent.generation)
        elif timed_out and sent.is_behind(self._answered):
            self.limit.timed_out(sent.generation)
        if (error.rate_limited or timed_out) and self.limit.refused_for >= LONGEST_QUIET:
            raise FatalError(
                f"{format_error(error)}: it has answered nothing for {self.limit.refused_for / 60:.0f} minutes: "
                "run again later; what was answered is kept",
                kind=error.kind,
            )

    def _tries_for(self, error: TransientError, since: int) -> int:
        """Return the number of tries after a failure; ``since`` is the number of answers before the first try."""
        tries = self._context.retries.tries
        if error.unreachable and not self._answered:
            return min(_TRIES_UNREACHABLE, tries)
        return tries * (2 if self._answered > since and self._recovered > _MOST_RECOVERED else 1)


async def _reply(request: Request) -> Answer:
    """Return a model's answer to a request, or the likelihoods that the request is for.

    Raises:
        PermanentError: The likelihoods are invalid, or the model gives none.
    """
    prompt = request.sent_prompt
    continuations = continuations_of(prompt)
    if continuations is None:
        return await request.model.answer(prompt, request.repetition)
    model = request.model
    if not is_likelihood_model(model):
        raise NoLikelihoodsError(f"{request.model.name} gives no probabilities of options: {WAY_OUT}")
    answer = await model.likelihoods(context_of(prompt), continuations)
    if isinstance(answer, Answer) and unfinished(answer) is None:  # else ungraded: filtered, refused
        try:
            likelihoods_of(answer, continuations)
        except PermanentError as error:
            raise PermanentError(f"{request.model.name}: {error}") from None
    return answer


def _is_canceled() -> bool:
    """Return whether the engine cancels the request, and not an exception of the model."""
    task = current_task()
    return task is not None and task.cancelling() > 0


def _clock(wait: float) -> str:
    now = Clock.now()
    end = now + timedelta(seconds=min(wait, 366 * 86400) + 59)
    return f"{end:%H:%M} UTC" if end.date() == now.date() else f"{end:%Y-%m-%d %H:%M} UTC"

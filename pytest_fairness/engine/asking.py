"""One request, asked again where that can help."""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt
from tenacity.wait import wait_exponential_jitter

from pytest_fairness.core.attempts import Answer, Attempt
from pytest_fairness.core.errors import FatalError, ModelError, PermanentError, TransientError
from pytest_fairness.engine.asks import Ask
from pytest_fairness.engine.budget import Budget
from pytest_fairness.engine.limits import Limit

_LONGEST_WAIT = 120.0
_TRIES_UNREACHABLE = 3
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a request is sent, and the first of the doubling waits between, in seconds.

    Twice as often where the model answers others meanwhile: then only this one has had no luck.
    """

    tries: int = 6
    first_wait: float = 0.5


def retrying(retries: Retries) -> AsyncRetrying:
    """Calls a coroutine function again where it raised a `TransientError`, as often as requests are sent."""
    backoff = wait_exponential_jitter(multiplier=retries.first_wait, max=30.0, jitter=retries.first_wait)

    def wait(state: RetryCallState) -> float:
        told = _transient(state).retry_after
        return backoff(state) if told is None else min(told, _LONGEST_WAIT)

    stop = stop_after_attempt(retries.tries)
    return AsyncRetrying(retry=retry_if_exception_type(TransientError), stop=stop, wait=wait, reraise=True)


class Asker:
    """Sends the requests of one model; knows whether any can succeed.

    ``again`` is awaited before a request is sent once more; it raises where that may not be.
    """

    def __init__(self, limit: Limit, retries: Retries, budget: Budget, again: Callable[[Ask], Awaitable[None]]) -> None:
        self.limit = limit
        self._budget, self._again = budget, again
        self.fatal: str | None = None
        """Why no prompt can be answered by this model, once that is known."""
        self._answered = 0
        """How often it has."""
        self._retries = retries
        self._backoff = wait_exponential_jitter(multiplier=retries.first_wait, max=30.0, jitter=retries.first_wait)

    async def ask(self, ask: Ask) -> Attempt:
        """The attempt; a failure that asking again could not mend is its error.

        Raises `SpentError` where asking again may help, and a cap of the run forbids it.
        """
        since = self._answered
        try:
            attempt: Attempt = await self._retrying(ask)(self._once, ask)
        except FatalError as error:
            self.fatal = one_line(error)
        except TransientError as error:
            if error.unreachable and not self._answered:
                self.fatal = one_line(error)
            times = self._tries_for(error, since)
            return Attempt(ask.key, ask.repetition, error=f"{one_line(error)} (asked {times} times)")
        except ModelError as error:
            return Attempt(ask.key, ask.repetition, error=one_line(error))
        else:
            return attempt
        return Attempt(ask.key, ask.repetition, error=self.fatal)

    async def _once(self, ask: Ask) -> Attempt:
        if self.fatal is not None:
            raise FatalError(self.fatal)
        generation, begun = self.limit.generation, time.perf_counter()
        try:
            answer = await ask.model.answer(ask.prompt, ask.repetition)
        except ModelError as error:
            self._budget.failed(ask, error)
            if isinstance(error, TransientError) and error.rate_limited:
                self.limit.refused(min(error.retry_after or 0.0, _LONGEST_WAIT), generation)
            raise
        except Exception as error:  # a third party's model: its mistake costs its attempt only
            mistake = PermanentError(f"{ask.model.name} raised {type(error).__name__}: {error}")
            self._budget.failed(ask, mistake)
            raise mistake from error
        self._answered += 1
        self.limit.answered(ask.prompt, answer, time.perf_counter() - begun, generation)
        return Attempt(ask.key, ask.repetition, storable(answer))

    def _retrying(self, ask: Ask) -> AsyncRetrying:
        since = self._answered

        async def before(state: RetryCallState) -> None:
            if state.attempt_number > 1:
                await self._again(ask)

        return AsyncRetrying(
            retry=retry_if_exception_type(TransientError),
            stop=lambda state: state.attempt_number >= self._tries_for(_transient(state), since),
            wait=self._wait,
            before=before,
            reraise=True,
        )

    def _tries_for(self, error: TransientError, since: int) -> int:
        """How often what fails so is asked, by what was answered since it was asked first."""
        if error.unreachable and not self._answered:
            return min(_TRIES_UNREACHABLE, self._retries.tries)
        return self._retries.tries * (2 if self._answered > since else 1)

    def _wait(self, state: RetryCallState) -> float:
        told = _transient(state).retry_after
        wait = self._backoff(state) if told is None else min(told, _LONGEST_WAIT)
        self._budget.check(wait)
        return wait


def one_line(error: Exception) -> str:
    """An error's message in one line; a server may answer with a whole page."""
    return " ".join(str(error).split())[:1000]


def storable(answer: Answer) -> Answer:
    """Half a surrogate pair is no text that a store or a report can hold."""
    reasoning = answer.reasoning or ""
    if not (_SURROGATE.search(answer.text) or _SURROGATE.search(reasoning)):
        return answer
    return replace(
        answer, text=_SURROGATE.sub("\ufffd", answer.text), reasoning=_SURROGATE.sub("\ufffd", reasoning) or None
    )


def _transient(state: RetryCallState) -> TransientError:
    error = state.outcome.exception() if state.outcome else None
    assert isinstance(error, TransientError)  # noqa: S101 - tenacity retries on nothing else
    return error

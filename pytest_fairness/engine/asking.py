"""One request, asked again where that can help."""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt

from pytest_fairness.core.attempts import Answer, Attempt
from pytest_fairness.core.errors import FatalError, ModelError, PermanentError, TransientError
from pytest_fairness.engine.asks import Ask
from pytest_fairness.engine.budget import Budget
from pytest_fairness.engine.limits import Limit

_LONGEST_WAIT = 120.0
"""Seconds, of what a provider asks for."""
_LONGEST_DOUBLED = 30.0
"""Seconds, where it asks for nothing."""
_TRIES_UNREACHABLE = 3
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a request is sent, and the first of the doubling waits between, in seconds.

    Twice as often where the model answers others meanwhile: then only this one has had no luck.
    """

    tries: int = 6
    first_wait: float = 0.5

    def wait(self, tried: int, error: TransientError) -> float:
        """Seconds until the next request, after so many: what the provider asks for, or twice the last and some."""
        if error.retry_after is not None:
            return min(error.retry_after, _LONGEST_WAIT)
        return min(self.first_wait * ((1 << tried - 1) + random.random()), _LONGEST_DOUBLED)


def retrying(retries: Retries) -> AsyncRetrying:
    """Calls a coroutine function again where it raised a `TransientError`, as often as requests are sent."""

    def wait(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        assert isinstance(error, TransientError)  # noqa: S101 - tenacity retries on nothing else
        return retries.wait(state.attempt_number, error)

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

    async def ask(self, ask: Ask) -> Attempt:
        """The attempt; a failure that asking again could not mend is its error.

        Raises `SpentError` where asking again may help, and a cap of the run forbids it.
        """
        since = self._answered
        try:
            return await self._answered_at_last(ask, since)
        except FatalError as error:
            self.fatal = one_line(error)
        except TransientError as error:
            if error.unreachable and not self._answered:
                self.fatal = one_line(error)
            times = self._tries_for(error, since)
            return Attempt(ask.key, ask.repetition, error=f"{one_line(error)} (asked {times} times)")
        except ModelError as error:
            return Attempt(ask.key, ask.repetition, error=one_line(error))
        return Attempt(ask.key, ask.repetition, error=self.fatal)

    async def _answered_at_last(self, ask: Ask, since: int) -> Attempt:
        # Not by tenacity: nearly all are answered at once, and then its bookkeeping takes longer than the rest of ours.
        tried = 0
        while True:
            try:
                return await self._once(ask)
            except TransientError as error:
                tried += 1
                if tried >= self._tries_for(error, since):
                    raise
                wait = self._retries.wait(tried, error)
            self._budget.check(wait)
            await asyncio.sleep(wait)
            await self._again(ask)

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

    def _tries_for(self, error: TransientError, since: int) -> int:
        """How often what fails so is asked, by what was answered since it was asked first."""
        if error.unreachable and not self._answered:
            return min(_TRIES_UNREACHABLE, self._retries.tries)
        return self._retries.tries * (2 if self._answered > since else 1)


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

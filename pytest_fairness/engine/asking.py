"""One request, asked again where that can help."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, replace

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt
from tenacity.wait import wait_exponential_jitter

from pytest_fairness.core.attempts import Answer, Attempt
from pytest_fairness.core.errors import FatalError, ModelError, PermanentError, TransientError
from pytest_fairness.engine.asks import Ask
from pytest_fairness.engine.limits import Limit

_LONGEST_WAIT = 120.0
_TRIES_UNREACHABLE = 3
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a request is sent at most, and the first of the doubling waits between, in seconds."""

    tries: int = 6
    first_wait: float = 0.5


class Asker:
    """Sends the requests of one model; knows how many may be under way and whether any can succeed."""

    def __init__(self, ceiling: int, retries: Retries) -> None:
        self.limit = Limit(ceiling)
        self.fatal: str | None = None
        """Why no prompt can be answered by this model, once that is known."""
        self._has_answered = False
        self._retries = retries
        self._backoff = wait_exponential_jitter(multiplier=retries.first_wait, max=30.0, jitter=retries.first_wait)

    async def ask(self, ask: Ask) -> Attempt:
        """The attempt; a failure that asking again could not mend is its error."""
        try:
            attempt: Attempt = await self._retrying()(self._once, ask)
        except FatalError as error:
            self.fatal = _line(error)
        except TransientError as error:
            if error.unreachable and not self._has_answered:
                self.fatal = _line(error)
            return Attempt(ask.key, ask.repetition, error=f"{_line(error)} (asked {self._tries_for(error)} times)")
        except ModelError as error:
            return Attempt(ask.key, ask.repetition, error=_line(error))
        else:
            return attempt
        return Attempt(ask.key, ask.repetition, error=self.fatal)

    async def _once(self, ask: Ask) -> Attempt:
        if self.fatal is not None:
            raise FatalError(self.fatal)
        try:
            answer = await ask.model.answer(ask.prompt, ask.repetition)
        except TransientError as error:
            if error.rate_limited:
                self.limit.refused(time.monotonic(), min(error.retry_after or 0.0, _LONGEST_WAIT))
            raise
        except ModelError:
            raise
        except Exception as error:  # a third party's model: its mistake costs its attempt only
            raise PermanentError(f"{ask.model.name} raised {type(error).__name__}: {error}") from error
        self._has_answered = True
        self.limit.answered()
        return Attempt(ask.key, ask.repetition, _storable(answer))

    def _retrying(self) -> AsyncRetrying:
        return AsyncRetrying(
            retry=retry_if_exception_type(TransientError), stop=self._stop, wait=self._wait, reraise=True
        )

    def _tries_for(self, error: TransientError) -> int:
        never_there = error.unreachable and not self._has_answered
        return min(_TRIES_UNREACHABLE, self._retries.tries) if never_there else self._retries.tries

    def _stop(self, state: RetryCallState) -> bool:
        return stop_after_attempt(self._tries_for(_transient(state)))(state)

    def _wait(self, state: RetryCallState) -> float:
        told = _transient(state).retry_after
        return self._backoff(state) if told is None else min(told, _LONGEST_WAIT)


def _line(error: Exception) -> str:
    """An error's message in one line; a server may answer with a whole page."""
    return " ".join(str(error).split())[:1000]


def _storable(answer: Answer) -> Answer:
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

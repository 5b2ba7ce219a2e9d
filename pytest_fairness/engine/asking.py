"""One request, asked again where that can help."""

from __future__ import annotations

import asyncio
import math
import random
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from pytest_fairness.core.attempts import Answer, Attempt
from pytest_fairness.core.errors import FairnessError, FatalError, ModelError, PermanentError, TransientError
from pytest_fairness.core.protocols import Model
from pytest_fairness.core.secrets import redacted
from pytest_fairness.engine.asks import Ask
from pytest_fairness.engine.budget import Budget
from pytest_fairness.engine.limits import Limit
from pytest_fairness.store.pace import LONGEST_QUIET

T = TypeVar("T")
_LONGEST_DOUBLED = 30.0
"""Seconds between two requests, where the provider asks for no longer wait."""
_FIRST_PACED, _LONGEST_PACED = 0.1, 1.0
"""The first and the longest for a request that was refused for the rate, and has the pace to wait for as well."""
_TRIES_UNREACHABLE = 3
_TRIES_TIMEOUT = 2
"""A request that was not answered in time may have been paid for, and mostly is not answered the next time either."""
_REFUSALS = 60
"""Requests refused for the rate while others were answered, after which this one is taken for the reason."""
_MOST_TOKENS = 10**9
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a request is sent, and the first of the doubling waits between, in seconds.

    Twice as often where the model answers others meanwhile: then only this one has had no luck.
    """

    tries: int = 6
    first_wait: float = 0.5

    def wait(self, failures: int, error: TransientError, *, is_paced: bool = False) -> float:
        """Return the seconds until the next request: what the provider asks for, or twice the last wait.

        A request ``is_paced`` where the pace of all holds it back as well.
        """
        first, longest = (_FIRST_PACED, _LONGEST_PACED) if is_paced else (self.first_wait, _LONGEST_DOUBLED)
        return spread(max(requested_wait(error), min(first * (1 << min(failures, 20) - 1), longest)))


def requested_wait(error: TransientError) -> float:
    """Seconds that a provider asks for; 0 where it does not, or what it says is no time."""
    wait = error.retry_after
    return float(wait) if isinstance(wait, int | float) and 0 < wait < math.inf else 0.0


def spread(wait: float) -> float:
    """Return a wait made longer by chance, so that those that were refused together do not return together."""
    return wait + random.random() * min(wait / 4, 1.0)


async def repeated(retries: Retries, call: Callable[[], Awaitable[T]]) -> T:
    """The value of a coroutine function, called again where it raises a `TransientError`."""
    tried = 0
    while True:
        try:
            return await call()
        except TransientError as error:
            tried += 1
            if tried >= retries.tries:
                raise
            wait = retries.wait(tried, error)
        await asyncio.sleep(wait)


class Asker:
    """Sends the requests of one model; knows whether any can succeed.

    ``again`` is awaited before a request is sent once more, with the seconds to wait; it raises where that may not be.
    ``secrets`` stand in no error that is kept.
    """

    def __init__(
        self,
        model: Model,
        limit: Limit,
        retries: Retries,
        budget: Budget,
        again: Callable[[Ask, float], Awaitable[None]],
        secrets: Sequence[str] = (),
    ) -> None:
        self.model, self.limit, self._secrets = model, limit, secrets
        self._budget, self._again = budget, again
        self.fatal: str | None = None
        """Why no prompt can be answered by this model, once that is known."""
        self._answered = 0
        """How often it has."""
        self._retries = retries

    async def ask(self, ask: Ask) -> Attempt:
        """The attempt; a failure that asking again could not mend is its error.

        A refusal for the rate costs no try while the endpoint answers others.
        Raises `SpentError` where asking again may help, and a cap of the run forbids it.
        """
        since = self._answered
        tried = refused = timeouts = 0
        while True:
            try:
                return Attempt(ask.key, ask.repetition, await self._once(ask))
            except FatalError as error:
                self.limit.end_waits()
                return self._hopeless(ask, one_line(error, self._secrets))
            except TransientError as error:
                is_held_back = error.rate_limited and self.limit.is_shared
                refused, tried = refused + is_held_back, tried + (not is_held_back)
                timeouts += error.kind == "timeout"
                is_tried_out = timeouts >= _TRIES_TIMEOUT or tried >= self._tries_for(error, since)
                if refused >= _REFUSALS or (tried and is_tried_out):
                    said = f"{one_line(error, self._secrets)} (asked {tried + refused} times)"
                    if error.unreachable and not self._answered:
                        return self._hopeless(ask, said)
                    return Attempt(ask.key, ask.repetition, error=said)
                wait = self._retries.wait(refused if is_held_back else tried, error, is_paced=is_held_back)
            except ModelError as error:
                return Attempt(ask.key, ask.repetition, error=one_line(error, self._secrets))
            self._budget.check(max(wait, self.limit.closed(time.monotonic())))
            await self._again(ask, wait)

    async def close(self) -> FairnessError | None:
        """Close the model. Return the error where that fails: the others are to be closed as well."""
        try:
            await self.model.close()
        except BaseException as error:  # noqa: BLE001 - of a third party's model
            return FairnessError(f"{self.model.name} could not be closed: {one_line(error, self._secrets)}")
        return None

    def _hopeless(self, ask: Ask, said: str) -> Attempt:
        """The attempt of a model that can answer nothing."""
        # The first reason stands for all: another's may differ by the id of its request.
        self.fatal = self.fatal or said
        return Attempt(ask.key, ask.repetition, error=self.fatal)

    async def _once(self, ask: Ask) -> Answer:
        if self.fatal is not None:
            raise FatalError(self.fatal)
        generation = self.limit.generation
        try:
            answer = checked(await ask.model.answer(ask.prompt, ask.repetition), ask.model.name)
        except BaseException as error:  # also what ends a process or a test: in a model it is a mistake like any other
            if isinstance(error, asyncio.CancelledError) and _is_cancelled():
                raise
            failure = _failure(error, ask)
            self._budget.failed(ask, failure)
            if isinstance(failure, TransientError):
                self._heed(failure, generation)
            if failure is error:
                raise
            raise failure from error
        self._answered += 1
        self.limit.answered(ask.prompt, answer)
        return answer

    def _heed(self, error: TransientError, generation: int) -> None:
        """Send less after a refusal. Raises `FatalError` where waiting would take too long: a run can be resumed."""
        wait = requested_wait(error)
        if wait > LONGEST_QUIET:
            raise FatalError(
                f"{one_line(error)}: it asks to wait until {_clock(wait)}: run again then; what was answered is kept",
                kind=error.kind,
            )
        if error.rate_limited:
            self.limit.refused(spread(wait), generation)
            if self.limit.refused_for >= LONGEST_QUIET:
                raise FatalError(
                    f"{one_line(error)}: it has answered nothing for {self.limit.refused_for / 60:.0f} minutes: "
                    "run again later; what was answered is kept",
                    kind=error.kind,
                )

    def _tries_for(self, error: TransientError, since: int) -> int:
        """How often what fails so is asked, by what was answered since it was asked first."""
        if error.unreachable and not self._answered:
            return min(_TRIES_UNREACHABLE, self._retries.tries)
        return self._retries.tries * (2 if self._answered > since else 1)


def checked(answer: object, model: str) -> Answer:
    """What a model has answered, in a form that a store and a report can hold.

    Counts of tokens that are none are left out: the answer is there, and paid for.
    Raises `PermanentError` for anything but an `Answer` of text.
    """
    if not isinstance(answer, Answer):
        raise PermanentError(f"{model} returned a {type(answer).__name__}: answer() must return an Answer")
    optional = ("reasoning", "served_by")
    for name in ("text", "finish_reason", *optional):
        value = getattr(answer, name)
        if not isinstance(value, str) and not (value is None and name in optional):
            raise PermanentError(f"{model} returned an Answer whose {name} is {value!r:.60}: it must be a text")
    if isinstance(answer.latency, bool) or not isinstance(answer.latency, int | float):
        raise PermanentError(f"{model} returned an Answer whose latency is {answer.latency!r:.60}: it must be seconds")
    usage: object = answer.usage
    counts = usage.items() if isinstance(usage, Mapping) else ()
    return replace(
        answer,
        text=_storable(answer.text),
        finish_reason=_storable(answer.finish_reason),
        reasoning=answer.reasoning and _storable(answer.reasoning),
        served_by=answer.served_by and _storable(answer.served_by),
        usage={name: count for name, count in counts if isinstance(name, str) and _is_count(count)},
        latency=float(answer.latency) if math.isfinite(answer.latency) else 0.0,
    )


def one_line(error: BaseException, secrets: Iterable[str] = ()) -> str:
    """Return an error's message in one line and without a secret; a server may answer with a whole page."""
    return _storable(redacted(" ".join(_text(error).split()), secrets)[:1000])


def _failure(error: BaseException, ask: Ask) -> ModelError:
    """What a model raised; of a third party's model a mistake costs its attempt only."""
    if isinstance(error, ModelError):
        return error
    return PermanentError(f"{ask.model.name} raised {type(error).__name__}: {_text(error)}".rstrip(": "))


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as unprintable:  # noqa: BLE001 - of a class of the user's
        return f"(its text raised {type(unprintable).__name__})"


def _is_cancelled() -> bool:
    """Whether the request is ended from here, not by an exception of the model's own."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _is_count(count: object) -> bool:
    return isinstance(count, int) and not isinstance(count, bool) and 0 <= count < _MOST_TOKENS


def _storable(text: str) -> str:
    """Half a surrogate pair is no text that a store or a report can hold; a subclass of str may not be, either."""
    return _SURROGATE.sub("\ufffd", text if type(text) is str else str.__str__(text))


def _clock(wait: float) -> str:
    now = datetime.now(UTC)
    end = now + timedelta(seconds=min(wait, 366 * 86400) + 59)
    return f"{end:%H:%M} UTC" if end.date() == now.date() else f"{end:%Y-%m-%d %H:%M} UTC"

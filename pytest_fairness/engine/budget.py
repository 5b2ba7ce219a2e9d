"""The budget of a run: its caps, and the spending of this process.

A cap holds for all processes of a run. Each claim is decided on in its own transaction, by the spending of all
processes and the requests in flight. These count with their expected cost: that of the longest answer so far, and at
least the average cost of a call over all processes. So a cap on requests is never exceeded. A cap on money is exceeded
only by as much as the answers in flight are longer than any before.
"""

from __future__ import annotations

import math
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import NamedTuple

from pytest_fairness.core.attempts import Answer, Attempt
from pytest_fairness.core.clock import Clock
from pytest_fairness.core.errors import FairnessError, ModelError, TransientError, install
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.protocols import Model
from pytest_fairness.engine.errors import BudgetExceededError
from pytest_fairness.engine.requests import Request
from pytest_fairness.store.spending import Role, SpendingDecision, SpendingEntry

CHARACTERS = 4
"""Characters of a text per token, where a provider has not reported tokens."""


class Caps(NamedTuple):
    """The caps on the spending of a run; None for no cap."""

    usd: float | None = None
    requests: int | None = None
    minutes: float | None = None
    """Minutes since the beginning of the run."""

    def __bool__(self) -> bool:
        """Return whether any cap is given."""
        return (self.usd, self.requests, self.minutes) != (None, None, None)

    def __str__(self) -> str:
        """Return the caps in words: ``5.00 USD, 1,000 requests, 30 minutes``."""
        parts = {"USD": self.usd, "requests": self.requests, "minutes": self.minutes}
        return ", ".join(f"{_figure(name, cap)} {name}" for name, cap in parts.items() if cap is not None)


def _figure(name: str, cap: float) -> str:
    if name != "USD":
        return f"{cap:,g}" if cap < 1e6 else f"{cap:,.0f}"
    return f"{cap:,.2f}" if cap >= 0.01 else f"{cap:.2g}"


class _Call(NamedTuple):
    """A call in flight."""

    entry: tuple[str, Role]
    usd: float
    """Its expected cost."""


def expected_input(prompt: Prompt) -> float:
    """Return the tokens of a prompt, estimated from its characters."""
    return sum(len(message["content"]) for message in prompt.messages) / CHARACTERS


def expected_output(answer: Answer) -> float:
    """Return the tokens of an answer, estimated from its characters."""
    written = (answer.text, answer.reasoning or "", *map(str, answer.actions))  # results of tools are input
    return sum(map(len, written)) / CHARACTERS


class Budget:
    """The budget of one process.

    A decision (`decide`, `decide_retry`) changes nothing; once the store has written it, `commit` applies it. The
    lock is needed since the event loop ends calls while the store's thread decides on others.

    Args:
        caps: The caps on the spending of all processes of the run together.
        price: A function to a model's USD per million tokens of input and output; None where they are unknown.
        longest: A function to the tokens of the longest stored answer of a model; None where there is none.
        assumed: The tokens of an answer where ``longest`` returns None; under a cap on money the first one is awaited.
        elapsed: Seconds since the beginning of the run.
    """

    def __init__(
        self,
        caps: Caps | None = None,
        *,
        price: Callable[[Model], tuple[float, float] | None] = lambda _: None,
        longest: Callable[[Model], float | None] = lambda _: None,
        assumed: float = 100.0,
        elapsed: float = 0.0,
    ) -> None:
        self.caps = caps or Caps()
        self.is_capped = bool(self.caps)
        self.reason = ""
        """The cap that was reached, after which no more requests are sent; empty before."""
        self.waits = False
        """Whether requests in flight reserve all money: some may be left when they have ended."""
        self._price, self._longest, self._assumed = price, longest, assumed
        self._prices: dict[str, tuple[float, float] | None] = {}
        self._outputs: dict[str, float | None] = {}
        self._inputs: dict[str, float] = {}
        """The largest ratio so far of a prompt's tokens to the expected ones, by model."""
        self._average: dict[str, float] = {}
        """The average USD of a call over all processes, by model."""
        self._entries: dict[tuple[str, Role], SpendingEntry] = {}
        self._in_flight: dict[str, _Call] = {}
        self._unawaited: set[str] = set()
        """The keys in flight for which this run does not wait."""
        self._version = self._written = 0
        """The versions of the spending in this process and in the store."""
        self._lock = threading.Lock()
        self._deadline = math.inf
        if self.caps.minutes is not None:  # by the monotonic clock, which changes of the system's clock do not affect
            self._deadline = Clock.monotonic() + max(0.0, 60 * self.caps.minutes - max(0.0, elapsed))

    # Decisions, in a transaction of the store.

    def decide(
        self, wanted: Mapping[str, Request], claimed: Collection[str], others: Sequence[SpendingEntry]
    ) -> SpendingDecision:
        """Decide which claims the caps allow; all after the first refused one are refused.

        Args:
            wanted: The requests to claim, in order.
            claimed: The keys of those that were claimed.
            others: The spending of the other processes of the run.
        """
        with self._lock:
            keys = [key for key in wanted if key in claimed]
            allowed, reason, waits = self._count_allowed([wanted[key] for key in keys], others)
            entries = self._entries_with([wanted[key] for key in keys[:allowed]])
            return SpendingDecision(frozenset(keys[allowed:]), entries, self._version, reason, waits)

    def decide_retry(self, request: Request, others: Sequence[SpendingEntry]) -> SpendingDecision:
        """Decide whether a call in flight may be sent again: it counts as a request, its money is reserved already."""
        with self._lock:
            reason = ""
            if self.is_capped and not self.is_spent:
                requests, usd = self._spent(others)
                reason = self._over(requests + 1, usd)
            if reason or self.is_spent:
                return SpendingDecision({request.key}, (), self._version, reason)
            return SpendingDecision((), self._entries_with((), request), self._version)

    def commit(self, decision: SpendingDecision, begun: Iterable[Request] = (), retried: Request | None = None) -> None:
        """Apply a decision that the store has written.

        Args:
            decision: The decision.
            begun: The requests that are in flight now.
            retried: The call that may be sent again.
        """
        with self._lock:
            self.reason = self.reason or decision.reason
            # A call that has ended since the decision may have left some money; then no later one may end the wait.
            self.waits = self.waits or (decision.waits and decision.version == self._version)
            if decision.entries:
                self._written = decision.version
            if retried is not None and not decision.refused:
                self._entry(self._in_flight[retried.key].entry).requests += 1
                self._version += 1
        self.begin(begun)

    def begin(self, requests: Iterable[Request]) -> None:
        """Count requests as in flight."""
        with self._lock:
            for request in requests:
                if request.key not in self._in_flight:
                    call = self._in_flight[request.key] = self._call(request)
                    self._entry(call.entry).requests += 1

    # The end of a call.

    def failed(self, request: Request, error: ModelError) -> None:
        """Count a failed request; one that was sent without a known outcome may be billed."""
        with self._lock:
            call = self._in_flight.get(request.key)
            entry = self._entry((request.model.key, request.role))
            entry.errors[str(error.kind)[:60]] += 1
            if isinstance(error, TransientError) and error.sent and call and entry.usd is not None:
                entry.usd += call.usd
            self._version += 1

    def end(self, request: Request, attempt: Attempt | None) -> None:
        """Count a call that has ended; without an attempt it was abandoned."""
        with self._lock:
            call = self._in_flight.pop(request.key, None)
            self._unawaited.discard(request.key)
            if call is None:  # a call of an earlier run's batch counts from now on
                call = self._call(request)
                self._entry(call.entry).requests += 1
            self._version, self.waits = self._version + 1, False
            if attempt is None:
                return
            entry = self._entry(call.entry)
            entry.calls += 1
            if attempt.answer is None:
                return
            usage, price = attempt.answer.usage, self._price_of(request.model)
            entry.input += usage.get("input", 0)
            entry.output += usage.get("output", 0)
            if price is None or entry.usd is None:
                entry.usd = None
                return
            is_counted = "input" in usage and "output" in usage
            output = usage.get("output", expected_output(attempt.answer))
            longest = output if "output" in usage else max(output, self._assumed)
            self._update_expectations(request, usage.get("input", 0), longest)
            usd = cost(price, usage.get("input", 0), output)
            entry.usd += usd if is_counted else max(usd, call.usd)

    def withdraw(self, request: Request) -> None:
        """Count a request in flight as not sent."""
        with self._lock:
            call = self._in_flight.pop(request.key)
            self._entry(call.entry).requests -= 1
            self._version += 1

    def leave(self, keys: Iterable[str]) -> None:
        """Count keys as in a batch for which this run does not wait; their expected cost remains reserved."""
        with self._lock:
            self._unawaited.update(key for key in keys if key in self._in_flight)
            self.waits = False

    @property
    def is_written(self) -> bool:
        """Whether the store has the current spending."""
        return self._version == self._written

    # Time.

    def check(self, wait: float = 0.0) -> None:
        """Raise `BudgetExceededError` if a cap was reached, or the time will be over in ``wait`` seconds."""
        if Clock.monotonic() + wait >= self._deadline:
            self.reason = self.reason or self._reached("minutes")
        if self.reason:
            raise BudgetExceededError(self.reason)

    @property
    def time_left(self) -> float:
        """Seconds until the time is over; infinite where it is not capped."""
        return self._deadline - Clock.monotonic()

    @property
    def is_spent(self) -> bool:
        """Whether no more requests may be sent."""
        try:
            self.check()
        except BudgetExceededError:
            return True
        return False

    # Within the lock.

    def _count_allowed(self, candidates: Sequence[Request], others: Sequence[SpendingEntry]) -> tuple[int, str, bool]:
        """Return how many of these the caps allow, the cap that was reached, and whether to wait for reserved money."""
        if self.is_spent:
            return 0, self.reason, False
        if not (self.is_capped and candidates):
            return len(candidates), "", False
        requests, usd = self._spent(others)
        for index, request in enumerate(candidates):
            expected = self._expected(request)
            is_awaited = bool(index) or len(self._in_flight) > len(self._unawaited)
            if reason := self._over(requests + 1, usd + expected):
                # Reserved money may be left over, if answers are shorter than expected. Reserved requests never are.
                waits = is_awaited and reason == self._reached("usd")
                return index, "" if waits else reason, waits
            if self.caps.usd is not None and expected and is_awaited and self._output(request.model) is None:
                return index, "", True  # the length of this model's answers is unknown: wait for the first
            requests, usd = requests + 1, usd + expected
        return len(candidates), "", False

    def _over(self, requests: int, usd: float) -> str:
        """Return the cap that this spending exceeds; empty where it exceeds none."""
        if self.caps.requests is not None and requests > self.caps.requests:
            return self._reached("requests")
        return self._reached("usd") if self.caps.usd is not None and usd > self.caps.usd else ""

    def _entries_with(self, begun: Sequence[Request], retried: Request | None = None) -> list[SpendingEntry]:
        """Return the spending after these requests; empty where all of it is stored."""
        if self.is_written and not begun and retried is None:
            return []
        new = [self._call(request) for request in begun]
        sent = Counter(call.entry for call in new)
        if retried is not None:
            sent[self._in_flight[retried.key].entry] += 1
        for name in sent:
            self._entry(name)
        calls = [*self._in_flight.values(), *new]
        return [
            replace(
                entry,
                requests=entry.requests + sent[name],
                held=sum(call.entry == name for call in calls),
                held_usd=sum(call.usd for call in calls if call.entry == name),
                errors=entry.errors.copy(),
            )
            for name, entry in self._entries.items()
        ]

    def _call(self, request: Request) -> _Call:
        return _Call((request.model.key, request.role), self._expected(request))

    def _entry(self, name: tuple[str, Role]) -> SpendingEntry:
        return self._entries.setdefault(name, SpendingEntry(*name))

    def _spent(self, others: Sequence[SpendingEntry]) -> tuple[int, float]:
        """Return the requests and USD of all processes, including requests in flight."""
        entries = [*others, *self._entries.values()]
        calls, usd = Counter[str](), defaultdict[str, float](float)
        for entry in entries:
            calls[entry.model] += entry.calls
            usd[entry.model] += entry.usd or 0.0
        self._average = {model: usd[model] / count for model, count in calls.items() if count}
        reserved = [(entry.model, entry.held, entry.held_usd) for entry in others]
        reserved += [(call.entry[0], 1, call.usd) for call in self._in_flight.values()]
        # Another process expects a guessed cost of its first call; the average over all processes may be better known.
        in_flight = sum(max(cost, count * self._average.get(model, 0.0)) for model, count, cost in reserved)
        return sum(entry.requests for entry in entries), sum(usd.values()) + in_flight

    def _price_of(self, model: Model) -> tuple[float, float] | None:
        if model.key not in self._prices:
            self._prices[model.key] = self._price(model)
        return self._prices[model.key]

    def _output(self, model: Model) -> float | None:
        """Return the most tokens of a model's answers so far."""
        if model.key not in self._outputs:
            self._outputs[model.key] = self._longest(model)
        return self._outputs[model.key]

    def _update_expectations(self, request: Request, tokens_in: float, tokens_out: float) -> None:
        model = request.model.key
        self._outputs[model] = max(self._output(request.model) or 0.0, tokens_out)
        ratio = tokens_in / max(1.0, expected_input(request.sent_prompt))
        self._inputs[model] = max(self._inputs.get(model, 1.0), ratio)

    def _expected(self, request: Request) -> float:
        """Return the USD of a call at most, by what is known so far.

        Raises:
            FairnessError: A cap on money is given, and the model's price is not known.
        """
        price, model = self._price_of(request.model), request.model.key
        if price is None:
            if self.caps.usd is not None:
                raise FairnessError(unpriced(request.model.name))
            return 0.0
        if not any(price):
            return 0.0
        longest = self._output(request.model)
        tokens_in = expected_input(request.sent_prompt) * self._inputs.get(model, 1.0)
        usd = cost(price, tokens_in, self._assumed if longest is None else longest)
        return max(usd, self._average.get(model, 0.0))

    def _reached(self, cap: str) -> str:
        caps = Caps(**{cap: getattr(self.caps, cap)})
        return f"the {'budget' if cap == 'usd' else 'cap'} of {caps} was reached"


def unpriced(model: str) -> str:
    """Return the line for a model whose price is not known, though money is capped."""
    listed = "" if find_spec("genai_prices") else f", or for listed prices {install('prices')}"
    return (
        f"the price of {model} is not known, and --fairness-budget needs it: write it into "
        f"[tool.pytest-fairness.prices]{listed}"
    )


def cost(price: tuple[float, float], tokens_in: float, tokens_out: float) -> float:
    """Return USD, given the price per million tokens of input and output."""
    return (tokens_in * price[0] + tokens_out * price[1]) / 1e6

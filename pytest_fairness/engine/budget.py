"""What a run may spend, and what this process has spent of it.

A cap holds for all processes of a run: each claim is weighed in the transaction that makes it, against what
all have spent and what is under way, which counts with its expected cost: that of the longest answer so far, and no
less than a call has cost all processes on average. So no cap on requests is ever passed, and one on money by no more
than the answers under way are longer than any before.
"""

from __future__ import annotations

import math
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_fairness.core.attempts import Attempt
from pytest_fairness.core.errors import FairnessError, ModelError, TransientError, install
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.protocols import Model
from pytest_fairness.engine.asks import Ask
from pytest_fairness.engine.errors import SpentError
from pytest_fairness.store.ledger import Entry, Role

CHARACTERS = 4
"""Of a prompt to a token, before a provider has counted."""


@dataclass(frozen=True, slots=True)
class Caps:
    """What a run may spend at most; None for what is not limited."""

    usd: float | None = None
    requests: int | None = None
    minutes: float | None = None
    """From the beginning of the run."""

    def __bool__(self) -> bool:
        return (self.usd, self.requests, self.minutes) != (None, None, None)

    def __str__(self) -> str:
        """``5.00 USD, 1,000 requests, 30 minutes``, as far as they are given."""
        parts = {"USD": self.usd, "requests": self.requests, "minutes": self.minutes}
        return ", ".join(f"{_figure(name, cap)} {name}" for name, cap in parts.items() if cap is not None)


def _figure(name: str, cap: float) -> str:
    if name != "USD":
        return f"{cap:,g}" if cap < 1e6 else f"{cap:,.0f}"
    return f"{cap:,.2f}" if cap >= 0.01 else f"{cap:.2g}"


@dataclass(frozen=True, slots=True)
class _Held:
    """A call under way."""

    entry: tuple[str, Role]
    usd: float


def expected_input(prompt: Prompt) -> float:
    """Tokens of a prompt, by its characters."""
    return sum(len(message["content"]) for message in prompt.messages) / CHARACTERS


class Budget:
    """The purse of one process.

    ``price`` tells the USD per million tokens of input and output of a model, None where nobody knows them;
    ``longest`` the most tokens that a stored answer of it has, None where there is none: then ``assumed`` are taken,
    and where money is capped its first answer is waited for. ``elapsed`` are the seconds since the run's beginning.
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
        """Which cap was reached; nothing more is asked then."""
        self.waits = False
        """Whether the money is all spoken for by what is under way: there may be some left when that has ended."""
        self.wanted: Mapping[str, Ask] = {}
        """What is about to be claimed."""
        self._price, self._longest, self._assumed = price, longest, assumed
        self._prices: dict[str, tuple[float, float] | None] = {}
        self._outputs: dict[str, float | None] = {}
        self._inputs: dict[str, float] = {}
        """Tokens as a provider counts them to those that are expected, at most so far."""
        self._average: dict[str, float] = {}
        """USD of a model's call, where any process has made some."""
        self._entries: dict[tuple[str, Role], Entry] = {}
        self._held: dict[str, _Held] = {}
        self._left: set[str] = set()
        """Of what is under way, keys that are not waited for."""
        self._version = 0
        """Of what is to be written; and of what was about to be, and was written last."""
        self._writing = self._written = 0
        self._lock = threading.Lock()  # the loop ends calls while the store's thread weighs others
        self._deadline = math.inf
        if self.caps.minutes is not None:  # from here on by a clock that nobody sets
            self._deadline = time.monotonic() + max(0.0, 60 * self.caps.minutes - max(0.0, elapsed))

    # What the engine says.

    def begin(self, keys: Iterable[str]) -> None:
        """These of the wanted are under way."""
        with self._lock:
            for key in keys:
                if key not in self._held:
                    ask = self.wanted[key]
                    held = self._held[key] = _Held((ask.model.key, ask.role), self._expected(ask))
                    self._entry(held.entry).requests += 1

    def wrote(self) -> None:
        """What `entries` told last is in the store."""
        self._written = self._writing

    def failed(self, ask: Ask, error: ModelError) -> None:
        """One request for this call has failed. One that was sent, and whose end is not known, may be billed."""
        with self._lock:
            held = self._held.get(ask.key)
            entry = self._entry((ask.model.key, ask.role))
            entry.errors[str(error.kind)[:60]] += 1
            if isinstance(error, TransientError) and error.sent and held and entry.usd is not None:
                entry.usd += held.usd
            self._version += 1

    def end(self, ask: Ask, attempt: Attempt) -> None:
        """A call has ended."""
        with self._lock:
            held = self._taken(ask)
            entry = self._entry(held.entry)
            entry.calls += 1
            self._version, self.waits = self._version + 1, False
            if attempt.answer is None:
                return
            usage, price = attempt.answer.usage, self._price_of(ask.model)
            entry.input += usage.get("input", 0)
            entry.output += usage.get("output", 0)
            if price is None or entry.usd is None:
                entry.usd = None
            else:
                self._learn(ask, usage)
                entry.usd += cost(price, usage["input"], usage["output"]) if _is_told(usage) else held.usd

    def drop(self, ask: Ask) -> None:
        """A call was given up."""
        with self._lock:
            self._taken(ask)
            self._version, self.waits = self._version + 1, False

    def leave(self, keys: Iterable[str]) -> None:
        """These are in a batch that this run does not wait for: what they cost stays set aside."""
        with self._lock:
            self._left.update(key for key in keys if key in self._held)
            self.waits = False

    def check(self, wait: float = 0.0) -> None:
        """Raise `SpentError` where the time is over after so many seconds."""
        if time.monotonic() + wait >= self._deadline:
            self.reason = self.reason or self._reached("minutes")
        if self.reason:
            raise SpentError(self.reason)

    @property
    def time_left(self) -> float:
        """Seconds until the time is over; infinite where it is not capped."""
        return self._deadline - time.monotonic()

    @property
    def is_spent(self) -> bool:
        """Whether nothing more may be asked."""
        try:
            self.check()
        except SpentError:
            return True
        return False

    # What the store asks, in a transaction. See `pytest_fairness.store.ledger.Purse`.

    def refused(self, claimed: Collection[str], others: Sequence[Entry]) -> set[str]:
        """Which of these claims a cap forbids; once one is refused, those that come after it are as well."""
        if self.is_spent:
            return set(claimed)
        with self._lock:
            requests, usd = self._spent(others)
            keys = [key for key in self.wanted if key in claimed]
            for place, key in enumerate(keys):
                if self.caps.requests is not None and requests + 1 > self.caps.requests:
                    self.reason = self._reached("requests")
                    return set(keys[place:])
                expected = self._expected(self.wanted[key])
                is_awaited = bool(place) or len(self._held) > len(self._left)
                if self.caps.usd is not None and usd + expected > self.caps.usd:
                    self.waits = is_awaited
                    self.reason = "" if self.waits else self._reached("usd")
                    return set(keys[place:])
                if self.caps.usd is not None and expected and is_awaited and self._is_new(self.wanted[key]):
                    self.waits = True
                    return set(keys[place:])
                requests, usd = requests + 1, usd + expected
            return set()

    def may_retry(self, key: str, others: Sequence[Entry]) -> bool:
        """Whether this call may be sent once more, which is counted; its money is set aside already."""
        if self.is_spent:
            return False
        with self._lock:
            requests, usd = self._spent(others)
            if self.caps.requests is not None and requests + 1 > self.caps.requests:
                self.reason = self._reached("requests")
                return False
            if self.caps.usd is not None and usd > self.caps.usd:  # of requests that failed, and are paid for
                self.reason = self._reached("usd")
                return False
            self._entry(self._held[key].entry).requests += 1
            self._version += 1
            return True

    def entries(self, claimed: Collection[str]) -> list[Entry]:
        """What this process has spent, with these claims under way; nothing where all that is written."""
        with self._lock:
            if self._version == self._written and not claimed:
                return []
            self._writing = self._version
            held = [*self._held.values()]
            for key in claimed:
                ask = self.wanted[key]
                held.append(_Held((ask.model.key, ask.role), self._expected(ask)))
                self._entry(held[-1].entry)
            new = [each.entry for each in held[len(self._held) :]]
            return [
                replace(
                    entry,
                    requests=entry.requests + new.count(name),
                    held=sum(each.entry == name for each in held),
                    held_usd=sum(each.usd for each in held if each.entry == name),
                    errors=entry.errors.copy(),
                )
                for name, entry in self._entries.items()
            ]

    # Within the lock.

    def _taken(self, ask: Ask) -> _Held:
        """A call that is under way no more; one of an earlier run's batch counts from now on."""
        held = self._held.pop(ask.key, None)
        self._left.discard(ask.key)
        if held is None:
            held = _Held((ask.model.key, ask.role), self._expected(ask))
            self._entry(held.entry).requests += 1
        return held

    def _entry(self, name: tuple[str, Role]) -> Entry:
        if name not in self._entries:
            self._entries[name] = Entry(*name)
        return self._entries[name]

    def _spent(self, others: Sequence[Entry]) -> tuple[int, float]:
        """Requests and USD of all processes, what is under way among them."""
        every = [*others, *self._entries.values()]
        calls, usd = defaultdict[str, int](int), defaultdict[str, float](float)
        for entry in every:
            calls[entry.model] += entry.calls
            usd[entry.model] += entry.usd or 0.0
        self._average = {model: usd[model] / count for model, count in calls.items() if count}
        held = [(entry.model, entry.held, entry.held_usd) for entry in others]
        held += [(each.entry[0], 1, each.usd) for each in self._held.values()]
        # What another process expects of its first call is a guess; here it may be known better.
        under_way = sum(max(cost, count * self._average.get(model, 0.0)) for model, count, cost in held)
        return sum(entry.requests for entry in every), sum(usd.values()) + under_way

    def _price_of(self, model: Model) -> tuple[float, float] | None:
        if model.key not in self._prices:
            self._prices[model.key] = self._price(model)
        return self._prices[model.key]

    def _output(self, model: Model) -> float | None:
        """The most tokens of a model's answers so far."""
        if model.key not in self._outputs:
            self._outputs[model.key] = self._longest(model)
        return self._outputs[model.key]

    def _is_new(self, ask: Ask) -> bool:
        """Whether nobody knows how long the answers of its model are."""
        return self._output(ask.model) is None

    def _learn(self, ask: Ask, usage: Mapping[str, int]) -> None:
        model = ask.model.key
        self._outputs[model] = max(self._output(ask.model) or 0.0, usage.get("output", self._assumed))
        ratio = usage.get("input", 0) / max(1.0, expected_input(ask.prompt))
        self._inputs[model] = max(self._inputs.get(model, 1.0), ratio)

    def _expected(self, ask: Ask) -> float:
        """USD of a call at most, by what is known so far. Raises `FairnessError` where a cap needs a price."""
        price = self._price_of(ask.model)
        if price is not None:
            if not any(price):
                return 0.0
            longest = self._output(ask.model)
            tokens_in = expected_input(ask.prompt) * self._inputs.get(ask.model.key, 1.0)
            usd = cost(price, tokens_in, self._assumed if longest is None else longest)
            return max(usd, self._average.get(ask.model.key, 0.0))
        if self.caps.usd is not None:
            raise FairnessError(unpriced(ask.model.name))
        return 0.0

    def _reached(self, cap: str) -> str:
        one = Caps(**{cap: getattr(self.caps, cap)})
        return f"the {'budget' if cap == 'usd' else 'cap'} of {one} was reached"


def unpriced(model: str) -> str:
    """The line for a model that a cap on money cannot be held for."""
    return (
        f"the price of {model} is not known, and --fairness-budget needs it: give --fairness-price IN/OUT "
        f"(USD per million tokens), or for listed prices {install('prices')}"
    )


def cost(price: tuple[float, float], tokens_in: float, tokens_out: float) -> float:
    """USD, from those per million tokens."""
    return (tokens_in * price[0] + tokens_out * price[1]) / 1e6


def _is_told(usage: Mapping[str, int]) -> bool:
    return "input" in usage and "output" in usage

"""How fast a run may ask an endpoint: one row for all its processes, read and written with their claims.

The number under way rises by one with each round of answers and falls by a factor when the provider
refuses (Chiu and Jain 1989), or when answers take twice as long as they once did, as TCP Vegas has it
(Brakmo and Peterson 1995). Medians of many answers are compared, and a fall after which answers take as
long as before is taken back: so neither long tails nor longer prompts bring a run to a halt. At the
beginning, and now and then, there is a fall on trial, since a queue may have been there all along.
Requests and tokens a minute flow into buckets that hold a moment's worth.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, bindparam, select, update

from pytest_fairness.store import tables
from pytest_fairness.store.dialects import Now, insert_new

USED = 0.92
"""The share of a rate limit that is used: requests come in less evenly than they leave."""
BURST = 0.05
"""Seconds for which unused requests and tokens are kept."""
_FALL = 0.5
"""What is left of the number under way after a fall."""
_RISE = 2.0
"""The rise of the median latency, over the least seen, that is taken for a queue at the server."""
_HELPED = 0.7
"""What the median latency has to fall to for the fewer requests to have helped; a queue falls as they do."""
_TRIAL = 64
"""Windows of answers from one trial to the next."""
_LONGEST_QUIET = 120.0
_HEARD = 1.0
"""Seconds for which a process that waits for a place is known to."""
_MANY = 1_000_000
_SOON = 0.02
"""Seconds after which a process that was given too little may ask again."""


@dataclass(frozen=True, slots=True)
class Rates:
    """What a provider takes in a minute; None for what it does not limit."""

    requests: float | None = None
    tokens: float | None = None

    def __bool__(self) -> bool:
        return (self.requests, self.tokens) != (None, None)


def _a_second(rate: float) -> float:
    """Of a rate a minute, what flows in a second."""
    return rate / 60 * USED


def burst(rates: Rates) -> int:
    """The most requests that the rates let leave at a time; there are no more than that where none is given."""
    return _MANY if rates.requests is None else int(1 + _a_second(rates.requests) * BURST)


@dataclass(frozen=True, slots=True)
class Wish:
    """What one process wants of an endpoint, and what it has seen there since it last said so."""

    endpoint: str
    ceiling: int
    """The most requests under way, of the whole run."""
    rates: Rates = Rates()
    keys: Sequence[str] = ()
    """What it would claim, in order."""
    again: int = 0
    """Requests that wait to be sent once more; they are under way."""
    under_way: int = 0
    answers: int = 0
    tokens: int = 0
    """Of these answers and their prompts."""
    refused: int = -1
    """The latest generation of a request that was refused for the rate; -1 for none."""
    quiet: float = 0.0
    """Seconds for which the provider asked to be left alone."""
    median: float | None = None
    """Seconds that a window of answers took, all of the present generation."""


@dataclass(frozen=True, slots=True)
class Grant:
    """What a process may do now."""

    keys: int = 0
    """So many of its keys may be claimed."""
    again: int = 0
    """So many requests may be sent once more."""
    room: int = 1
    """What it may have under way, as far as is known; a wish for more is in vain."""
    generation: int = 0
    """Of the requests that leave now: a refusal of an older one has been heeded."""
    wait: float = 0.0
    """Seconds until it is worth to ask again."""
    holders: frozenset[str] = frozenset()
    """The owners that hold the places which it was not given."""


@dataclass(slots=True)
class Pace:
    """The state of one endpoint in one run. ``now`` is in seconds on one clock for all its processes."""

    allowed: float
    at: float
    generation: int = 0
    """Raised whenever the number under way is changed at a stroke: what was sent before tells nothing more."""
    quiet_until: float = 0.0
    requests: float = 1.0
    tokens: float = 1.0
    """What is in the buckets; a debt is below 0."""
    answers: int = 0
    spent: int = 0
    """Answers so far, and their tokens."""
    least: float | None = None
    """The least median latency, in seconds."""
    windows: int = 0
    """Medians so far."""
    before: tuple[float, float, bool] | None = None
    """The median latency and the number allowed before the latest fall for latency, and whether that was on trial."""
    owners: dict[str, tuple[int, float]] = field(default_factory=dict)
    """By process: what it has under way, and until when it is known to wait for more."""

    def take(self, owner: str, wish: Wish, now: float) -> Grant:
        """Learn what a process has seen, and give it what it may have."""
        self._learn(wish, now)
        self._refill(wish.rates, now)
        quiet = self.quiet_until - now
        left = 0 if quiet > 0 else self._left(wish.rates)
        places = self._places(owner, wish, now)
        again = min(wish.again, left)
        keys = min(len(wish.keys), left - again, places)
        self._leave(keys + again, wish.rates)
        waits = len(wish.keys) > keys
        self.owners[owner] = (wish.under_way + keys, now + _HEARD if waits else 0.0)
        short = wish.again > again or waits
        return Grant(
            keys,
            again,
            self._room(wish),
            self.generation,
            max(_SOON, quiet) if short else 0.0,
            frozenset(self.owners) - {owner} if waits and places <= keys else frozenset(),
        )

    def give_back(self, owner: str, keys: int, rates: Rates) -> None:
        """So many of the granted keys need not be asked."""
        under_way, waits = self.owners[owner]
        self.owners[owner] = (under_way - keys, waits)
        self._leave(-keys, rates)

    def _learn(self, wish: Wish, now: float) -> None:
        self.allowed = min(float(wish.ceiling), self.allowed + wish.answers / self.allowed)
        if wish.answers:
            self.tokens -= wish.tokens - wish.answers * self._cost
            self.answers += wish.answers
            self.spent += wish.tokens
        if wish.refused >= self.generation:
            self._fall()
            self.before = None
        elif wish.median is not None:
            self._compare(wish.median, wish.ceiling)
        # A clock that was set back must not keep the run waiting.
        self.quiet_until = min(max(self.quiet_until, now + wish.quiet), now + _LONGEST_QUIET)

    def _compare(self, median: float, ceiling: int) -> None:
        self.least = median if self.least is None else min(self.least, median)
        on_trial = self.windows % _TRIAL == 0
        self.windows += 1
        if self.before is not None:
            (former, allowed, on_trial), self.before = self.before, None
            if median > former * _HELPED:  # the requests themselves take so long
                self.least = median
                self.allowed = min(float(ceiling), max(self.allowed, allowed))
                self.generation += 1
                return
        if (on_trial or median > self.least * _RISE) and self.allowed > 1:
            self.before = (median, self.allowed, on_trial)
            self._fall()

    def _fall(self) -> None:
        self.allowed = max(1.0, self.allowed * _FALL)
        self.generation += 1

    @property
    def _cost(self) -> float:
        """Expected tokens of a request, with its answer."""
        return self.spent / self.answers if self.answers else 0.0

    def _refill(self, rates: Rates, now: float) -> None:
        seconds = max(0.0, now - self.at)
        self.at = now
        if rates.requests is not None:
            second = _a_second(rates.requests)
            self.requests = min(self.requests + seconds * second, 1 + second * BURST)
        if rates.tokens is not None:
            second = _a_second(rates.tokens)
            self.tokens = min(self.tokens + seconds * second, 1 + second * BURST)

    def _left(self, rates: Rates) -> int:
        """How many requests the rates allow now."""
        left = _MANY
        if rates.requests is not None:
            left = int(self.requests)
        if rates.tokens is not None and left > 0:
            if not self.answers:  # the first answer tells what the others are going to cost
                left = 0 if any(under_way for under_way, _ in self.owners.values()) else 1
            elif self.tokens <= 0:
                left = 0
            elif self._cost > 0:
                left = min(left, 1 + int(self.tokens / self._cost))
        return max(0, left)

    def _leave(self, requests: int, rates: Rates) -> None:
        if rates.requests is not None:
            self.requests -= requests
        if rates.tokens is not None:
            self.tokens -= requests * self._cost

    def _room(self, wish: Wish) -> int:
        return min(wish.ceiling, int(self.allowed))

    def _places(self, owner: str, wish: Wish, now: float) -> int:
        """How many more this process may have under way: what is free, but its share where others wait."""
        others = {name: held for name, held in self.owners.items() if name != owner}
        free = self._room(wish) - wish.under_way - sum(under_way for under_way, _ in others.values())
        # A clock that was set back leaves marks far ahead.
        if any(now < until <= now + _HEARD for _, until in others.values()):
            busy = 1 + sum(under_way > 0 or until > now for under_way, until in others.values())
            free = min(free, -(-self._room(wish) // busy) - wish.under_way)
        return max(0, free)


def take(connection: Connection, run: str, owner: str, wishes: Sequence[Wish]) -> dict[str, tuple[Pace, Grant]]:
    """What a process may do at each endpoint. The rows are this process's until `keep` has written them."""
    taken: dict[str, tuple[Pace, Grant]] = {}
    for wish in sorted(wishes, key=lambda each: each.endpoint):  # in one order, or two processes wait for each other
        pace, now = _read(connection, run, wish)
        grant = pace.take(owner, wish, now)
        if grant.holders:
            for gone in grant.holders - _alive(connection, grant.holders):
                del pace.owners[gone]
        taken[wish.endpoint] = pace, grant
    return taken


def keep(
    connection: Connection,
    run: str,
    owner: str,
    wishes: Sequence[Wish],
    taken: Mapping[str, tuple[Pace, Grant]],
    claimed: Collection[str],
) -> None:
    """Write what was taken, but for the keys that need not be asked."""
    for wish in wishes:
        pace, grant = taken[wish.endpoint]
        spared = sum(key not in claimed for key in wish.keys[: grant.keys])
        if spared:
            pace.give_back(owner, spared, wish.rates)
        state = json.dumps({name: getattr(pace, name) for name in Pace.__slots__})
        connection.execute(_write, {"r": run, "e": wish.endpoint, "s": state})


_table = tables.paces
_select = (
    select(_table.c.state, Now())
    .where(_table.c.run == bindparam("r"), _table.c.endpoint == bindparam("e"))
    .with_for_update()
)
_write = (
    update(_table)
    .where(_table.c.run == bindparam("r"), _table.c.endpoint == bindparam("e"))
    .values(state=bindparam("s"))
)
_holding = select(tables.claims.c.owner).where(tables.claims.c.owner.in_(bindparam("o", expanding=True))).distinct()


def _read(connection: Connection, run: str, wish: Wish) -> tuple[Pace, float]:
    where = {"r": run, "e": wish.endpoint}
    row = connection.execute(_select, where).first()
    if row is None:
        new = insert_new(connection.dialect.name, _table)
        connection.execute(new, {"run": run, "endpoint": wish.endpoint, "state": ""})
        row = connection.execute(_select, where).one()
    # The processes on a file share a machine, and so a clock that nobody sets.
    now = time.monotonic() if connection.dialect.name == "sqlite" else row[1]
    if not row[0]:
        return Pace(float(wish.ceiling), now), now
    pace = Pace(**json.loads(row[0]))
    pace.owners = {name: (under_way, until) for name, (under_way, until) in pace.owners.items()}
    return pace, now


def _alive(connection: Connection, owners: Collection[str]) -> set[str]:
    """Those that hold a claim; the claims of one that has died are freed by whoever finds them."""
    return set(connection.execute(_holding, {"o": sorted(owners)}).scalars())

"""How fast a run asks an endpoint: one row for all its processes, read and written with their claims.

The number under way rises by one with each round of answers and is halved when the provider refuses many (Chiu and Jain
1989). Then nothing leaves for a while, and one request at a time after that, until one is answered: so a quota that
is used up is found open again soon, and is not spent on requests that are refused. Where only few are refused, by one
server of many, say, those few wait, and nothing else does. Requests and tokens a minute flow into buckets that hold a
moment's worth.
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
LONGEST_QUIET = 600.0
"""Seconds of quiet that a provider may ask for."""
_SHORTEST, _LONGEST = 0.1, 15.0
"""Seconds of quiet after a refusal that names none, at least and at most."""
_SHARE = 0.2
"""Between them, the quiet as a share of how long nobody was answered, this time or the last: what is waited in vain."""
_MANY_REFUSED, _LATEST = 0.4, 32
"""The share of about so many of the latest requests above which refusals slow down all others.

A quota that is used up comes to it within a moment. Of a fifth that is refused by chance it is four standard deviations
away, where halving for each refusal would leave three requests under way."""
_FALL = 0.5
"""What is left of the number under way after a refusal."""
_HEARD = 1.0
"""Seconds for which a process that waits for a place is known to."""
_MANY = 1_000_000
_SOON, _PLACE = 0.02, 0.5
"""Seconds after which a process that was given too little may ask again: at least, and for a place, if it is the only
one there is; of many places one is free sooner."""


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
    """Requests that are to be sent once more now; they are under way."""
    under_way: int = 0
    waiting: int = 0
    """Of those under way, the requests that have failed and are not sent again yet."""
    answers: int = 0
    tokens: int = 0
    """Of these answers and their prompts."""
    refused: int = -1
    """The latest generation of a request that was refused for the rate; -1 for none."""
    refusals: int = 0
    """How many requests were."""
    quiet: float = 0.0
    """Seconds for which the provider asked to be left alone."""


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
    refused_for: float = 0.0
    """Seconds for which no process was answered, and some were refused."""


@dataclass(slots=True)
class Pace:
    """The state of one endpoint in one run. ``now`` is in seconds on one clock for all its processes."""

    allowed: float
    at: float
    generation: int = 0
    """Raised with each refusal that counts: what was sent before tells nothing more."""
    quiet_until: float = 0.0
    requests: float = 1.0
    tokens: float = 1.0
    """What is in the buckets; a debt is below 0."""
    answers: int = 0
    spent: int = 0
    """Answers so far, and their tokens."""
    refusals: int = 0
    """Those that count, since the last answer: the first of them halves what is allowed."""
    refused_since: float = 0.0
    """The time of the first of them."""
    silence: float = 0.0
    """Seconds from the first of them to an answer, the last time."""
    refused_share: float = 0.0
    """Of the latest requests."""
    holders: dict[str, tuple[int, int, float]] = field(default_factory=dict)
    """By process: its requests under way, those of them that wait to be sent again, and until when it is known to
    wait for more."""

    def take(self, owner: str, wish: Wish, now: float) -> Grant:
        """Learn what a process has seen, and give it what it may have."""
        self._learn(wish, now)
        self._refill(wish.rates, now)
        quiet = self.quiet_until - now
        left = 0 if quiet > 0 else self._left(wish.rates)
        again = min(wish.again, left, self._idle(owner, wish))
        places = self._places(owner, wish, now)
        keys = min(len(wish.keys), left - again, places)
        self._leave(keys + again, wish.rates)
        waits = len(wish.keys) > keys
        self.holders[owner] = (wish.under_way + keys, wish.waiting - again, now + _HEARD if waits else 0.0)
        short = waits or wish.again > again
        others = frozenset(self.holders) - {owner}
        for_place = _PLACE / self._room(wish) if others and quiet <= 0 else 0.0
        return Grant(
            keys,
            again,
            self._room(wish),
            self.generation,
            max(_SOON, quiet, for_place) if short else 0.0,
            others if short and places <= keys else frozenset(),
            now - self.refused_since if self.refusals else 0.0,
        )

    def give_back(self, owner: str, keys: int, rates: Rates) -> None:
        """So many of the granted keys need not be asked."""
        under_way, waiting, until = self.holders[owner]
        self.holders[owner] = (under_way - keys, waiting, until)
        self._leave(-keys, rates)

    def _learn(self, wish: Wish, now: float) -> None:
        self.allowed = min(float(wish.ceiling), self.allowed + wish.answers / self.allowed)
        if wish.answers or not 0 <= now - self.at <= LONGEST_QUIET:  # answered, or not asked for long
            self.silence = now - self.refused_since if self.refusals and wish.answers else self.silence
            self.refusals = 0
            self.tokens -= wish.tokens - wish.answers * self._cost
            self.answers += wish.answers
            self.spent += wish.tokens
        ended = wish.answers + wish.refusals
        self.refused_share += (wish.refusals - self.refused_share * ended) / max(_LATEST, ended)
        if self.refused_share < _MANY_REFUSED:
            return
        quiet = wish.quiet
        if wish.refused >= self.generation:
            self.generation += 1
            if not self.refusals:
                self.allowed, self.refused_since = max(1.0, self.allowed * _FALL), now
            silence = max(self.silence, now - self.refused_since)
            quiet = max(quiet, min(max(_SHORTEST, _SHARE * silence), _LONGEST))
            self.refusals += 1
        # A clock that was set back must not keep the run waiting.
        self.quiet_until = min(max(self.quiet_until, now + quiet), now + LONGEST_QUIET)

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
                left = 0 if any(under_way > waiting for under_way, waiting, _ in self.holders.values()) else 1
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
        return 1 if self.refusals else min(wish.ceiling, int(self.allowed))

    def _idle(self, owner: str, wish: Wish) -> int:
        """How many places have no request on its way: those that wait to be sent again leave theirs to others."""
        others = sum(under_way - waiting for name, (under_way, waiting, _) in self.holders.items() if name != owner)
        return max(0, self._room(wish) - (wish.under_way - wish.waiting) - others)

    def _places(self, owner: str, wish: Wish, now: float) -> int:
        """How many more this process may have under way: what is free, but its share where others wait."""
        others = {name: held for name, held in self.holders.items() if name != owner}
        free = self._room(wish) - wish.under_way - sum(under_way for under_way, _, _ in others.values())
        # A clock that was set back leaves marks far ahead.
        if any(now < until <= now + _HEARD for _, _, until in others.values()):
            busy = 1 + sum(under_way > 0 or until > now for under_way, _, until in others.values())
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
                del pace.holders[gone]
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
    state = json.loads(row[0]) if row[0] else {}
    if state.keys() != set(Pace.__slots__):  # new, or of an older version
        return Pace(float(wish.ceiling), now), now
    pace = Pace(**state)
    pace.holders = {name: (under_way, waiting, until) for name, (under_way, waiting, until) in pace.holders.items()}
    return pace, now


def _alive(connection: Connection, owners: Collection[str]) -> set[str]:
    """Those that hold a claim; the claims of one that has died are freed by whoever finds them."""
    return set(connection.execute(_holding, {"o": sorted(owners)}).scalars())

"""Throttles of endpoints: how fast a run sends requests, in one row for all its processes, beside their claims.

The number in flight follows additive increase and multiplicative decrease (Chiu and Jain 1989): it rises by one with
each round of answers and is halved when the provider refuses many requests. Then nothing leaves for a while, and one
request at a time after that, until one is answered: so a quota that is used up is soon found open again, and is not
spent on requests that are refused. Where only few are refused, by one server of many, say, those few wait, and nothing
else does. Requests and tokens a minute are token buckets that hold a moment's worth.

A server that answers few at a time refuses none: the others wait there until their timeout. So a request that times out
behind others lowers the number as refusals do, to what the server has answered meanwhile, and it stays below that at
which requests timed out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_fairness.core import json_text as json
from pytest_fairness.core.clock import Clock
from pytest_fairness.store import schema
from pytest_fairness.store.connection import StoreConnection
from pytest_fairness.store.rates import BURST, MANY, UNLIMITED, Rates, per_second

LONGEST_QUIET = 600.0
"""Seconds of quiet that a provider may ask for."""
_SHORTEST, _LONGEST = 0.1, 15.0
"""The shortest and the longest quiet, in seconds, after a refusal that names none."""
_SHARE = 0.2
"""Between those, the quiet as a share of the time without an answer, this time or the last: so much is lost at most by
finding an open quota late."""
_MANY_REFUSED, _LATEST = 0.4, 32
"""The share of about 32 latest requests above which refusals slow down all others.

A quota that is used up comes to it within a moment. Of a fifth that is refused by chance it is four standard deviations
away, where halving for each refusal would leave three requests in flight."""
_FALL = 0.5
"""The factor by which the number in flight is multiplied after a refusal."""
_BELOW = 0.75
"""The part of the number in flight at which requests timed out that it does not exceed again."""
_WAITING = 1.0
"""Seconds for which a process counts as waiting for a slot after its request for one."""
_SOON, _SLOT = 0.02, 0.5
"""Seconds after which a process that got too few slots may ask again: the minimum, and the time for a slot if there is
only one; of many slots one is free sooner."""

_CLAIMING = "SELECT DISTINCT owner FROM claims WHERE owner IN :holders"
_READ = "SELECT state, unix_time() FROM paces WHERE run = :run AND endpoint = :endpoint FOR UPDATE"
_WRITE = "UPDATE paces SET state = :state WHERE run = :run AND endpoint = :endpoint"


@dataclass(frozen=True, slots=True)
class SlotRequest:
    """The slots that one process wants of an endpoint, and the replies that it had there since its last request."""

    endpoint: str
    ceiling: int
    """Requests in flight at most, of the whole run."""
    rates: Rates = UNLIMITED
    keys: Sequence[str] = ()
    """Keys of new requests to claim and send, in order."""
    claimed: int = 0
    """Requests that are claimed and were not sent; they come before new ones."""
    again: int = 0
    """Retries that are due; they count as in flight."""
    in_flight: int = 0
    waiting: int = 0
    """Those in flight that have failed and wait for their retry."""
    answers: int = 0
    tokens: int = 0
    """Tokens of these answers and their prompts."""
    refused: int = -1
    """The latest generation of a request that was refused for the rate, or timed out behind others; -1 for none."""
    refusals: int = 0
    """Requests that were refused for the rate."""
    timeouts: int = 0
    """Requests that timed out behind others."""
    quiet: float = 0.0
    """Seconds of quiet that the provider asked for."""


@dataclass(frozen=True, slots=True)
class SlotGrant:
    """The slots that a process has."""

    keys: int = 0
    """The number of its keys that may be claimed and sent, the first ones."""
    claimed: int = 0
    """The number of its claimed requests that may be sent."""
    again: int = 0
    """The number of requests that may be sent once more."""
    room: int = 1
    """Requests that it may have in flight, beside those of the other processes; a request for more is in vain."""
    generation: int = 0
    """The generation of the requests that leave now: a refusal of an older one changes nothing more."""
    wait: float = 0.0
    """Seconds until another request is worthwhile."""
    holders: frozenset[str] = frozenset()
    """The owners of the slots that it was not granted."""
    refused_for: float = 0.0
    """Seconds since the first refusal, if no process has been answered since."""


@dataclass(slots=True)
class EndpointThrottle:
    """The state of one endpoint in one run. Times are in seconds on one clock for all its processes."""

    allowed: float
    """Requests in flight."""
    at: float
    """The time of the last exchange."""
    generation: int = 0
    """Raised with each refusal that counts: the requests in flight then left too early to know of it."""
    quiet_until: float = 0.0
    requests: float = 1.0
    tokens: float = 1.0
    """Requests and tokens in the buckets; a debt is below 0."""
    answers: int = 0
    spent: int = 0
    """Answers so far, and their tokens."""
    refusals: int = 0
    """Those that count, since the last answer."""
    refused_since: float = 0.0
    """The time of the first of them."""
    silence: float = 0.0
    """Seconds from the first of them to an answer, the last time."""
    refused_share: float = 0.0
    """The share of the latest requests that were refused, as a moving average."""
    most: float = MANY
    """Requests in flight at most since some have timed out."""
    answers_at_fall: int = 0
    """The answers so far when the number in flight was lowered."""
    holders: dict[str, tuple[int, int, float]] = field(default_factory=dict)
    """Processes, each with its requests in flight, those of them that wait to be sent again, and until when it counts
    as waiting for more slots."""

    def take(self, owner: str, request: SlotRequest, now: float) -> SlotGrant:
        """Adopt the replies that a process had, and grant it slots.

        Requests to repeat come first: a test waits for what was begun. They need no slot of their own, as they are in
        flight; but where most of those have failed, only as many leave as there may be requests on their way.

        Args:
            owner: The process.
            request: The slots that it needs, and the replies that it had.
            now: Seconds on the run's clock.

        Returns:
            The slots that it has, and the time until its next request.
        """
        self._adopt(request, now)
        self._refill(request.rates, now)
        quiet = self.quiet_until - now
        sendable = 0 if quiet > 0 else self._allowed_by_rates(request.rates)
        again = min(request.again, sendable, self._idle(owner, request))
        room, free = self._room_of(owner, request, now)
        slots = min(request.claimed + len(request.keys), sendable - again, free)
        self._leave(slots + again, request.rates)
        is_refused = request.claimed + len(request.keys) > slots
        is_short = is_refused and (quiet > 0 or request.in_flight + slots < room)  # else it has its share
        until = now + _WAITING if is_short else 0.0
        self.holders[owner] = (request.in_flight + slots, request.waiting - again, until)
        # One that only waits has no claims, and would be taken for dead.
        others = frozenset(name for name, (in_flight, _, _) in self.holders.items() if in_flight and name != owner)
        for_slot = _SLOT / self._room(request) if others and quiet <= 0 else 0.0
        claimed = min(request.claimed, slots)
        return SlotGrant(
            slots - claimed,
            claimed,
            again,
            room,
            self.generation,
            max(_SOON, quiet, for_slot) if is_short or request.again > again else 0.0,
            others if (is_refused or request.again > again) and free <= slots else frozenset(),
            now - self.refused_since if self.refusals else 0.0,
        )

    def give_back(self, owner: str, keys: int, rates: Rates) -> None:
        """Release the slots of granted keys that need no request."""
        in_flight, waiting, until = self.holders[owner]
        self.holders[owner] = (in_flight - keys, waiting, until)
        self._leave(-keys, rates)

    def _adopt(self, request: SlotRequest, now: float) -> None:
        # By one with as many answers as are in flight: one round.
        self.allowed = min(float(request.ceiling), self.most, self.allowed + request.answers / self.allowed)
        if request.answers or not 0 <= now - self.at <= LONGEST_QUIET:  # answered, or not used for long
            self.silence = now - self.refused_since if self.refusals and request.answers else self.silence
            self.refusals = 0
            self.tokens -= request.tokens - request.answers * self._cost  # the expected cost was taken when they left
            self.answers += request.answers
            self.spent += request.tokens
        ended = request.answers + request.refusals
        self.refused_share += (request.refusals - self.refused_share * ended) / max(_LATEST, ended)
        if self.refused_share < _MANY_REFUSED and not request.timeouts:
            return
        quiet = request.quiet
        if request.refused >= self.generation:
            self.generation += 1
            # Halved once: each further refusal is of the single request that tests whether the quota is open again.
            if not self.refusals:
                self._fall(timed_out=request.timeouts > 0)
                self.refused_since = now
            silence = max(self.silence, now - self.refused_since)
            quiet = max(quiet, min(max(_SHORTEST, _SHARE * silence), _LONGEST))
            self.refusals += 1
        # A clock that was set back must not keep the run waiting.
        self.quiet_until = min(max(self.quiet_until, now + quiet), now + LONGEST_QUIET)

    def _fall(self, *, timed_out: bool) -> None:
        lowered = self.allowed * _FALL
        if timed_out:
            self.most = max(1.0, self.allowed * _BELOW)
            lowered = min(lowered, float(self.answers - self.answers_at_fall))
        self.allowed, self.answers_at_fall = max(1.0, lowered), self.answers

    @property
    def _cost(self) -> float:
        """Expected tokens of a request, with its answer."""
        return self.spent / self.answers if self.answers else 0.0

    def _refill(self, rates: Rates, now: float) -> None:
        seconds = max(0.0, now - self.at)
        self.at = now
        for bucket, rate in (("requests", rates.requests), ("tokens", rates.tokens)):
            if rate is not None:
                flow = per_second(rate)
                setattr(self, bucket, min(getattr(self, bucket) + seconds * flow, 1 + flow * BURST))

    def _allowed_by_rates(self, rates: Rates) -> int:
        """Return how many requests the rates allow now."""
        sendable = MANY if rates.requests is None else max(0, int(self.requests))
        if rates.tokens is None:
            return sendable
        if not self.answers:  # one request at a time, until an answer shows what the others are going to cost
            is_any_sent = any(in_flight > waiting for in_flight, waiting, _ in self.holders.values())
            return 0 if is_any_sent else min(sendable, 1)
        if self.tokens <= 0:
            return 0
        return min(sendable, 1 + int(self.tokens / self._cost)) if self._cost > 0 else sendable

    def _leave(self, requests: int, rates: Rates) -> None:
        if rates.requests is not None:
            self.requests -= requests
        if rates.tokens is not None:
            self.tokens -= requests * self._cost

    def _room(self, request: SlotRequest) -> int:
        return 1 if self.refusals else min(request.ceiling, int(self.allowed))

    def _idle(self, owner: str, request: SlotRequest) -> int:
        """Return how many requests may be sent again: those that wait leave their slots to others until then."""
        others = sum(in_flight - waiting for name, (in_flight, waiting, _) in self.holders.items() if name != owner)
        return max(0, self._room(request) - (request.in_flight - request.waiting) - others)

    def _room_of(self, owner: str, request: SlotRequest, now: float) -> tuple[int, int]:
        """Return how many requests a process may have in flight, and how many more of them there are slots for.

        That is all that others leave, or its share: the others give up what is missing of it once it waits for that.
        """
        others = [holder for name, holder in self.holders.items() if name != owner]
        busy = 1 + sum(in_flight > 0 or until > now for in_flight, _, until in others)
        share = -(-self._room(request) // busy)
        left = self._room(request) - sum(in_flight for in_flight, _, _ in others)
        # A clock that was set back leaves marks far ahead.
        room = share if any(now < until <= now + _WAITING for _, _, until in others) else max(share, left)
        return room, max(0, min(room, left) - request.in_flight)


def take(
    connection: StoreConnection, run: str, owner: str, slots: Sequence[SlotRequest]
) -> dict[str, tuple[EndpointThrottle, SlotGrant]]:
    """Grant a process slots at each endpoint. The rows are locked until `save` has written them.

    Args:
        connection: A transaction, which `save` continues.
        run: The run.
        owner: The process.
        slots: The slots that it wants, one request for each endpoint.

    Returns:
        By endpoint, its throttle and the grant.
    """
    throttles: dict[str, tuple[EndpointThrottle, SlotGrant]] = {}
    for request in sorted(slots, key=lambda slot: slot.endpoint):  # in one order, or two processes wait for each other
        throttle, now = _read(connection, run, request)
        grant = throttle.take(owner, request, now)
        if grant.holders:  # the claims of a process that has died are freed by the next process that meets them
            alive = set(connection.column(_CLAIMING, holders=sorted(grant.holders)))
            for dead in grant.holders - alive:
                del throttle.holders[dead]
        throttles[request.endpoint] = throttle, grant
    return throttles


def save(
    connection: StoreConnection,
    run: str,
    owner: str,
    slots: Sequence[SlotRequest],
    throttles: Mapping[str, tuple[EndpointThrottle, SlotGrant]],
    claimed: Collection[str],
) -> None:
    """Write the throttles, without the slots of granted keys that were not claimed.

    Args:
        connection: The transaction of `take`.
        run: The run.
        owner: The process.
        slots: The slots that it wanted.
        throttles: What `take` returned.
        claimed: The keys that it has claimed.
    """
    for request in slots:
        throttle, grant = throttles[request.endpoint]
        if unclaimed := sum(key not in claimed for key in request.keys[: grant.keys]):
            throttle.give_back(owner, unclaimed, request.rates)
        state = json.dumps({name: getattr(throttle, name) for name in EndpointThrottle.__slots__})
        connection.execute(_WRITE, run=run, endpoint=request.endpoint, state=state)


def _read(connection: StoreConnection, run: str, request: SlotRequest) -> tuple[EndpointThrottle, float]:
    row = {"run": run, "endpoint": request.endpoint}
    rows = connection.rows(_READ, **row)
    if not rows:
        connection.execute(schema.paces.insert_new(), **row, state="")
        rows = connection.rows(_READ, **row)
    ((stored, clock),) = rows
    # The processes on a file share a machine, and so a clock that nobody sets.
    now = Clock.monotonic() if connection.dialect == "sqlite" else clock
    state = json.loads(stored) if stored else {}
    if state.keys() != set(EndpointThrottle.__slots__):  # new, or of an older version
        return EndpointThrottle(float(request.ceiling), now), now
    holders = {name: (in_flight, waiting, until) for name, (in_flight, waiting, until) in state.pop("holders").items()}
    return EndpointThrottle(**state, holders=holders), now

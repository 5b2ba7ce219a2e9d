"""Throttle of an endpoint: decisions of one row for all processes, on a simulated clock and server."""

from __future__ import annotations

import heapq
import math
import random
from bisect import bisect_left
from dataclasses import dataclass, field
from itertools import count
from statistics import fmean

import pytest

from pytest_fairness.store.rates import Rates
from pytest_fairness.store.throttle import LONGEST_QUIET, EndpointThrottle, SlotRequest
from tests.helpers.engine_models import most_in_window


class Quota:
    """A provider that answers so many requests a minute: in each minute of the clock, in any minute, or one by one.

    One by one up to five seconds' worth are kept. Counting, a request that is refused counts as well.
    """

    def __init__(self, a_minute: int, kind: str) -> None:
        self.a_minute, self.kind = a_minute, kind
        self.answered: list[float] = []
        self.most = max(1, a_minute // 12) if kind == "bucket" else a_minute
        self.left, self.at = float(self.most), 0.0

    def answers(self, now: float) -> bool:
        if self.kind == "bucket":
            self.left, self.at = min(self.most, self.left + (now - self.at) / 60 * self.a_minute), now
            self.left -= (may := self.left >= 1)
            return may
        since = now // 60 * 60 if self.kind == "window" else now - 60
        may = len(self.answered) - bisect_left(self.answered, since) < self.most
        if may or self.kind == "counting":
            self.answered.append(now)
        return may

    def seconds(self, requests: int) -> float:
        """Return the least time in which so many requests can be answered."""
        if self.kind == "bucket":
            return (requests - self.most) * 60 / self.a_minute
        return (requests - 1) // self.a_minute * 60


class Chance(Quota):
    """A provider that refuses a share of the requests, whatever their number: one of its servers is busy."""

    def __init__(self, share: float) -> None:
        super().__init__(1, "chance")
        self.share, self.draw = share, random.Random(7)

    def answers(self, now: float) -> bool:
        return self.draw.random() >= self.share


@dataclass
class Process:
    """State of one process; all of its prompts are requested at once."""

    left: int
    out: int = 0
    again: int = 0
    answers: int = 0
    refused: int = -1
    refusals: int = 0
    closed_until: float = 0.0

    def wish(self, ceiling: int) -> SlotRequest:
        keys = ["k"] * min(self.left, ceiling)
        counts = {"in_flight": self.out + self.again, "waiting": self.again, "again": self.again}
        seen = {"answers": self.answers, "refused": self.refused, "refusals": self.refusals}
        return SlotRequest("e", ceiling, keys=keys, **counts, **seen)  # type: ignore[arg-type]


@dataclass
class Asking:
    """So many prompts, asked by several processes at the pace that they share."""

    quota: Quota
    prompts: int
    processes: int = 1
    latency: float = 0.3
    ceiling: int = 32
    requests: int = 0
    silence: float = 0.0
    now: float = 0.0
    events: list[tuple[float, int, int, bool | None, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        pace, number = EndpointThrottle(float(self.ceiling), 0.0), count()
        processes = [Process(self.prompts // self.processes) for _ in range(self.processes)]
        self.events = [(0.0, next(number), name, None, 0) for name in range(self.processes)]
        answered = 0
        while answered < self.prompts // self.processes * self.processes:
            self.now, _, name, ended, generation = heapq.heappop(self.events)
            process = processes[name]
            if ended is not None:
                answered += ended
                process.out, process.again = process.out - 1, process.again + (not ended)
                process.answers += ended
                process.refused = process.refused if ended else max(process.refused, generation)
                process.refusals += not ended
            if self.now < process.closed_until and process.refused < 0:
                continue
            grant = pace.take(str(name), process.wish(self.ceiling), self.now)
            process.answers, process.refusals, process.refused = 0, 0, -1
            process.left, process.again = process.left - grant.keys, process.again - grant.again
            for _ in range(grant.keys + grant.again):
                process.out, self.requests = process.out + 1, self.requests + 1
                end = self.now + self.latency, next(number), name, self.quota.answers(self.now), grant.generation
                heapq.heappush(self.events, end)
            if grant.wait:
                process.closed_until = self.now + grant.wait
                heapq.heappush(self.events, (process.closed_until, next(number), name, None, 0))
            self.silence = max(self.silence, grant.refused_for)


@pytest.mark.parametrize("kind", ["window", "sliding", "bucket"])
@pytest.mark.parametrize("processes", [1, 4])
@pytest.mark.parametrize(("a_minute", "prompts"), [(5, 32), (10, 60), (20, 100), (600, 2400)])
def test_quota_is_used_up_without_hammering(a_minute: int, prompts: int, processes: int, kind: str) -> None:
    """Use at most 1.3 of the quota's own time, and never wait ten minutes without an answer."""
    quota = Quota(a_minute, kind)
    asking = Asking(quota, prompts, processes)
    assert asking.now <= 1.3 * quota.seconds(prompts) + 1
    assert asking.requests < 9 * prompts
    assert asking.silence < 120


@pytest.mark.parametrize("processes", [1, 3])
def test_one_fifth_refusals_at_most_double_the_time(processes: int) -> None:
    """Regression: each refusal once halved the concurrency, and cost ten times the time."""
    none, fifth = (Asking(Chance(share), 3000, processes).now for share in (0.0, 0.2))
    assert fifth <= 2 * none


@pytest.mark.parametrize("a_minute", [5, 10, 20])
def test_provider_that_counts_refusals_is_left_alone_long_enough(a_minute: int) -> None:
    asking = Asking(Quota(a_minute, "counting"), 5 * a_minute)
    assert asking.silence < 200
    assert asking.now < 30 * 60


def test_refusal_halves_the_limit_once_for_all_in_flight() -> None:
    pace = EndpointThrottle(64.0, 0.0)
    for owner in "abcd":
        pace.take(owner, SlotRequest("e", 64, keys=["k"] * 16), 0.0)
    for owner in "abcd":
        grant = pace.take(owner, SlotRequest("e", 64, in_flight=16, refused=0, refusals=16), 1.0)
    assert pace.allowed == 32
    assert grant.generation == 1
    pace.take("a", SlotRequest("e", 64, in_flight=16, answers=1), 2.0)
    pace.take("a", SlotRequest("e", 64, in_flight=16, refused=1, refusals=1), 2.0)
    assert pace.allowed == pytest.approx(16, abs=0.1)
    for _ in range(2000):
        pace.take("a", SlotRequest("e", 64, in_flight=16, answers=1), 3.0)
    assert pace.allowed == 64


def test_timeouts_lower_the_limit_to_what_was_answered() -> None:
    pace = EndpointThrottle(32.0, 0.0)
    pace.take("a", SlotRequest("e", 32, keys=["k"] * 32), 0.0)
    pace.take("a", SlotRequest("e", 32, in_flight=26, answers=6), 18.0)
    grant = pace.take("a", SlotRequest("e", 32, in_flight=26, refused=0, timeouts=26), 20.0)
    assert (pace.allowed, grant.generation) == (6.0, 1)
    for _ in range(1000):
        pace.take("a", SlotRequest("e", 32, in_flight=6, answers=1), 21.0)
    assert pace.allowed == 24, "it comes no nearer to the number that timed out"


def test_one_request_probes_the_endpoint_after_a_refusal() -> None:
    pace = EndpointThrottle(8.0, 0.0)
    for owner in "ab":
        pace.take(owner, SlotRequest("e", 8, keys=["k"] * 4), 0.0)
    waits = [
        pace.take(owner, SlotRequest("e", 8, keys=["k"], in_flight=4, waiting=4, again=4, refused=0, refusals=20), 0.1)
        for owner in "ab"
    ]
    assert [(grant.keys, grant.again) for grant in waits] == [(0, 0)] * 2
    sent = [pace.take(owner, SlotRequest("e", 8, keys=["k"], in_flight=4, waiting=4, again=4), 1.0) for owner in "ab"]
    assert [(grant.keys, grant.again) for grant in sent] == [(0, 1), (0, 0)]
    answered = pace.take("a", SlotRequest("e", 8, in_flight=3, waiting=3, again=3, answers=1), 2.0)
    assert answered.again == 3
    assert answered.refused_for == 0.0


def test_refused_time_is_reported_and_forgotten_when_idle() -> None:
    pace, now = EndpointThrottle(8.0, 0.0), 0.0
    for generation in range(60):
        now += 20
        grant = pace.take(
            "a", SlotRequest("e", 8, in_flight=1, waiting=1, again=1, refused=generation, refusals=20), now
        )
    assert grant.refused_for == now - 20
    assert pace.take("b", SlotRequest("e", 8, keys=["k"]), now + 3600).refused_for == 0.0


def test_quiet_time_holds_even_if_the_clock_is_set_back() -> None:
    pace = EndpointThrottle(8.0, 1000.0)
    pace.take("a", SlotRequest("e", 8, keys=["k"], refused=0, refusals=32, quiet=5.0), 1000.0)
    assert pace.take("b", SlotRequest("e", 8, keys=["k"]), 1004.0).keys == 0
    assert pace.take("b", SlotRequest("e", 8, keys=["k"]), 1005.1).keys == 1
    pace.take("a", SlotRequest("e", 8, keys=["k"], refused=1, quiet=5.0), 1006.0)
    assert pace.take("b", SlotRequest("e", 8, keys=["k"], in_flight=1), 0.0).wait <= LONGEST_QUIET


def sent(rates: Rates, *, processes: int, seconds: float, every: float, cost: int = 0) -> list[float]:
    """Return the times of requests that wait in several processes, each of which asks for slots so often."""
    pace, times = EndpointThrottle(512.0, 0.0), []
    draw = random.Random(5)
    turns = [(draw.random() * every, owner) for owner in range(processes)]
    heapq.heapify(turns)
    granted = [0] * processes
    while turns[0][0] < seconds:
        now, owner = turns[0]
        before, granted[owner] = granted[owner], 0
        wish = SlotRequest("e", 512, rates, ["k"] * 100, answers=before, tokens=before * cost)
        granted[owner] = pace.take(str(owner), wish, now).keys
        times += [now] * granted[owner]
        heapq.heapreplace(turns, (now + every * draw.uniform(0.5, 1.5), owner))
    return times


@pytest.mark.parametrize("rate", [6, 60, 600, 6000, 60_000])
def test_no_window_holds_more_requests_than_the_limit(rate: int) -> None:
    seconds = 150.0 if rate < 6000 else 20.0
    times = sent(Rates(requests=rate), processes=4, seconds=seconds, every=0.05)
    for window in (1.0, 5.0, 60.0):
        assert most_in_window(times, window) <= max(1, math.ceil(rate / 60 * window)), window
    assert len(times) > 0.85 * rate / 60 * seconds - 1


def test_no_minute_holds_more_tokens_than_the_limit() -> None:
    times = sent(Rates(tokens=60_000), processes=4, seconds=200.0, every=0.05, cost=500)
    assert most_in_window(times, 60.0) * 500 <= 60_000
    assert len(times) * 500 > 0.85 * 1000 * 200


def test_first_answer_is_awaited_to_learn_the_token_cost() -> None:
    pace = EndpointThrottle(64.0, 0.0)
    rates = Rates(tokens=60_000)
    assert pace.take("a", SlotRequest("e", 64, rates, ["k"] * 64), 1.0).keys == 1
    assert pace.take("b", SlotRequest("e", 64, rates, ["k"] * 64), 2.0).keys == 0
    assert pace.take("a", SlotRequest("e", 64, rates, ["k"] * 64, answers=1, tokens=1000), 3.0).keys == 0
    assert pace.take("a", SlotRequest("e", 64, rates, ["k"] * 64), 5.0).keys >= 1


def test_processes_share_the_slots_evenly() -> None:
    pace = EndpointThrottle(10.0, 0.0)
    in_flight = dict.fromkeys("abc", 0)
    now = 0.0
    seen: list[dict[str, int]] = []
    draw = random.Random(3)
    for _ in range(400):
        now += 0.01
        owner = draw.choice("abc")
        in_flight[owner] -= draw.randint(0, in_flight[owner])
        in_flight[owner] += pace.take(
            owner, SlotRequest("e", 10, keys=["k"] * 10, in_flight=in_flight[owner]), now
        ).keys
        assert sum(in_flight.values()) <= 10
        seen.append(dict(in_flight))
    for owner in "abc":
        assert 1.5 < fmean(counts[owner] for counts in seen[100:]) < 5


def test_process_with_its_share_wants_no_more_until_another_ends() -> None:
    """Regression: each process asked for all slots, in vain, and could not send anything until it asked again."""
    pace = EndpointThrottle(10.0, 0.0)
    assert pace.take("a", SlotRequest("e", 10, keys=["k"] * 10), 0.0).keys == 10
    assert pace.take("b", SlotRequest("e", 10, keys=["k"] * 10), 0.0).wait > 0
    ahead = pace.take("a", SlotRequest("e", 10, keys=["k"] * 8, in_flight=2), 0.1)
    assert (ahead.keys, ahead.room) == (3, 5)
    assert pace.take("b", SlotRequest("e", 10, keys=["k"] * 5), 0.1).wait == 0
    ahead = pace.take("a", SlotRequest("e", 10, keys=["k"] * 2, in_flight=3), 0.2)
    assert (ahead.keys, ahead.room, ahead.wait) == (2, 5, 0)
    ahead = pace.take("a", SlotRequest("e", 10, keys=["k"] * 5, in_flight=5), 0.2)
    assert (ahead.keys, ahead.wait, ahead.holders) == (0, 0, frozenset("b")), "asks whether the others are alive"
    pace.take("b", SlotRequest("e", 10), 0.3)
    assert pace.take("a", SlotRequest("e", 10, in_flight=5), 0.4).room == 10


def test_claimed_requests_get_slots_before_new_ones() -> None:
    pace = EndpointThrottle(4.0, 0.0)
    grant = pace.take("a", SlotRequest("e", 4, claimed=3, keys=["k"] * 3), 0.0)
    assert (grant.claimed, grant.keys) == (3, 1)
    grant = pace.take("a", SlotRequest("e", 4, claimed=2, keys=["k"], in_flight=3), 0.1)
    assert (grant.claimed, grant.keys) == (1, 0)


def test_process_that_only_waits_counts_until_it_has_its_share() -> None:
    """Regression: it had no claims, counted as dead, and got no slot while another process had work."""
    pace = EndpointThrottle(4.0, 0.0)
    pace.take("a", SlotRequest("e", 4, keys=["k"] * 4), 0.0)
    assert pace.take("b", SlotRequest("e", 4, keys=["k"] * 4), 0.0).holders == {"a"}
    refused = pace.take("a", SlotRequest("e", 4, keys=["k"] * 4, in_flight=1), 0.1)
    assert (refused.keys, refused.holders) == (1, frozenset())


def test_single_active_process_may_have_all_slots() -> None:
    pace = EndpointThrottle(10.0, 0.0)
    pace.take("b", SlotRequest("e", 10, keys=["k"]), 0.0)
    pace.take("b", SlotRequest("e", 10, in_flight=0), 1.0)
    assert pace.take("a", SlotRequest("e", 10, keys=["k"] * 20), 1.0).keys == 10

"""How fast an endpoint is asked: what one row decides for all processes, on a clock and a server of the test's."""

from __future__ import annotations

import heapq
import math
import random
from bisect import bisect_left
from collections.abc import Callable, Iterator
from statistics import fmean, median

import pytest

from pytest_fairness.store.pace import Pace, Rates, Wish

Service = Callable[[float, int], float]
"""Seconds that a request takes which arrives then, as one of so many under way."""


class Line:
    """A server that answers so many at a time; the others wait in line."""

    def __init__(self, capacity: int, seconds: Callable[[], float]) -> None:
        self.ends = [0.0] * capacity
        self.seconds = seconds

    def __call__(self, now: float, _: int) -> float:
        end = max(heapq.heappop(self.ends), now) + self.seconds()
        heapq.heappush(self.ends, end)
        return end - now


def ask(
    service: Service, *, ceiling: int = 64, answers: int = 6000, window: int = 128
) -> Iterator[tuple[float, float]]:
    """The time of each answer, and how many were allowed under way then, for one process that always has work."""
    pace, now, generation = Pace(float(ceiling), 0.0), 0.0, 0
    under_way: list[tuple[float, float, int]] = []
    latencies: list[float] = []
    ended = 0
    while ended < answers:
        wish = Wish("e", ceiling, keys=["k"] * ceiling, under_way=len(under_way), answers=1 if ended else 0)
        if len(latencies) >= max(window, 2 * len(under_way)):
            wish = Wish("e", ceiling, keys=wish.keys, under_way=len(under_way), answers=1, median=median(latencies))
            latencies = []
        grant = pace.take("a", wish, now)
        if grant.generation != generation:
            generation, latencies = grant.generation, []
        for _ in range(grant.keys):
            heapq.heappush(under_way, (now + service(now, len(under_way)), now, generation))
        now, left, sent = heapq.heappop(under_way)
        if sent == generation:
            latencies.append(now - left)
        ended += 1
        yield now, pace.allowed


def test_a_queue_at_the_server_is_kept_short_at_its_full_rate() -> None:
    """A server for 10 at a time, 50 ms each, is asked with 64 allowed: the least number that fills it is near 20."""
    said = list(ask(Line(10, lambda: 0.05)))
    allowed = [now for _, now in said[len(said) // 2 :]]
    assert fmean(allowed) < 35
    rate = len(said) / said[-1][0]
    assert rate > 0.97 * 10 / 0.05


@pytest.mark.parametrize("sigma", [0.5, 1.0, 1.5])
def test_latencies_with_a_long_tail_are_no_queue(sigma: float) -> None:
    for seed in range(4):
        draw = random.Random(seed)
        said = list(ask(lambda now, n, draw=draw: draw.lognormvariate(0, sigma), answers=20_000))  # type: ignore[misc]
        allowed = [now for _, now in said]
        assert fmean(allowed) > 0.75 * 64, (sigma, seed)


def test_pareto_latencies_are_no_queue() -> None:
    draw = random.Random(1)
    allowed = [now for _, now in ask(lambda now, n: draw.paretovariate(1.2), answers=20_000)]
    assert fmean(allowed) > 0.85 * 64


def test_longer_prompts_do_not_bring_a_run_to_a_halt() -> None:
    """Answers take ten times as long from some moment on, whatever is under way: fewer requests would not help."""
    draw = random.Random(2)
    said = list(ask(lambda now, n: draw.lognormvariate(0, 0.5) * (1 if now < 40 else 10), answers=12_000))
    later = [allowed for now, allowed in said if now > 200]
    assert fmean(later) > 0.8 * 64


def test_a_server_that_slows_down_is_asked_less_and_then_more_again() -> None:
    lines = [Line(40, lambda: 0.05), Line(5, lambda: 0.05), Line(40, lambda: 0.05)]
    said = list(ask(lambda now, n: lines[0 if now < 3 else 1 if now < 30 else 2](now, n), answers=20_000))
    slow = [allowed for now, allowed in said if 15 < now < 30]
    assert fmean(slow) < 0.6 * 64
    assert said[-1][1] > 50


def test_a_refusal_halves_once_for_all_that_was_under_way() -> None:
    pace = Pace(64.0, 0.0)
    for owner in "abcd":
        pace.take(owner, Wish("e", 64, keys=["k"] * 16), 0.0)
    for owner in "abcd":
        grant = pace.take(owner, Wish("e", 64, under_way=16, refused=0), 1.0)
    assert pace.allowed == 32
    assert grant.generation == 1
    pace.take("a", Wish("e", 64, under_way=16, refused=1), 2.0)
    assert pace.allowed == 16
    for _ in range(2000):
        pace.take("a", Wish("e", 64, under_way=16, answers=1), 3.0)
    assert pace.allowed == 64


def test_nothing_leaves_while_the_provider_asked_to_be_left_alone_even_if_the_clock_is_set_back() -> None:
    pace = Pace(8.0, 1000.0)
    pace.take("a", Wish("e", 8, keys=["k"], refused=0, quiet=5.0), 1000.0)
    assert pace.take("b", Wish("e", 8, keys=["k"]), 1004.0).keys == 0
    assert pace.take("b", Wish("e", 8, keys=["k"]), 1005.1).keys == 1
    pace.take("a", Wish("e", 8, keys=["k"], refused=1, quiet=5.0), 1006.0)
    assert pace.take("b", Wish("e", 8, keys=["k"], under_way=1), 0.0).wait <= 120


def sent(rates: Rates, *, processes: int, seconds: float, every: float, cost: int = 0) -> list[float]:
    """When requests leave that wait in several processes, each of which asks for places so often."""
    pace, times = Pace(512.0, 0.0), []
    draw = random.Random(5)
    turns = [(draw.random() * every, owner) for owner in range(processes)]
    heapq.heapify(turns)
    granted = [0] * processes
    while turns[0][0] < seconds:
        now, owner = turns[0]
        before, granted[owner] = granted[owner], 0
        wish = Wish("e", 512, rates, ["k"] * 100, answers=before, tokens=before * cost)
        granted[owner] = pace.take(str(owner), wish, now).keys
        times += [now] * granted[owner]
        heapq.heapreplace(turns, (now + every * draw.uniform(0.5, 1.5), owner))
    return times


def most(times: list[float], window: float) -> int:
    """The most of them in any window."""
    return max(place + 1 - bisect_left(times, now - window) for place, now in enumerate(times))


@pytest.mark.parametrize("rate", [6, 60, 600, 6000, 60_000])
def test_no_window_holds_more_requests_than_the_limit(rate: int) -> None:
    seconds = 300.0 if rate < 6000 else 20.0
    times = sent(Rates(requests=rate), processes=4, seconds=seconds, every=0.05)
    for window in (1.0, 5.0, 60.0):
        assert most(times, window) <= max(1, math.ceil(rate / 60 * window)), window
    assert len(times) > 0.85 * rate / 60 * seconds - 1


def test_no_minute_holds_more_tokens_than_the_limit() -> None:
    times = sent(Rates(tokens=60_000), processes=4, seconds=200.0, every=0.05, cost=500)
    assert most(times, 60.0) * 500 <= 60_000
    assert len(times) * 500 > 0.85 * 1000 * 200


def test_the_first_answer_alone_tells_what_the_others_cost() -> None:
    pace = Pace(64.0, 0.0)
    rates = Rates(tokens=60_000)
    assert pace.take("a", Wish("e", 64, rates, ["k"] * 64), 1.0).keys == 1
    assert pace.take("b", Wish("e", 64, rates, ["k"] * 64), 2.0).keys == 0
    assert pace.take("a", Wish("e", 64, rates, ["k"] * 64, answers=1, tokens=1000), 3.0).keys == 0
    assert pace.take("a", Wish("e", 64, rates, ["k"] * 64), 5.0).keys >= 1


def test_processes_share_the_places_and_none_is_left_out() -> None:
    pace = Pace(10.0, 0.0)
    under_way = dict.fromkeys("abc", 0)
    now = 0.0
    seen: list[dict[str, int]] = []
    draw = random.Random(3)
    for _ in range(400):
        now += 0.01
        owner = draw.choice("abc")
        under_way[owner] -= draw.randint(0, under_way[owner])
        under_way[owner] += pace.take(owner, Wish("e", 10, keys=["k"] * 10, under_way=under_way[owner]), now).keys
        assert sum(under_way.values()) <= 10
        seen.append(dict(under_way))
    for owner in "abc":
        assert 1.5 < fmean(each[owner] for each in seen[100:]) < 5


def test_one_that_works_alone_may_have_all_places() -> None:
    pace = Pace(10.0, 0.0)
    pace.take("b", Wish("e", 10, keys=["k"]), 0.0)
    pace.take("b", Wish("e", 10, under_way=0), 1.0)
    assert pace.take("a", Wish("e", 10, keys=["k"] * 20), 1.0).keys == 10

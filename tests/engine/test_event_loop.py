"""The switch interval of the interpreter while the engine's loop waits for connections."""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
from collections.abc import Iterator

import pytest

from pytest_fairness.engine.event_loop import new_event_loop

USUAL = 0.004


@pytest.fixture(autouse=True)
def usual_interval() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(USUAL)
    yield
    sys.setswitchinterval(before)


def wait_in_thread() -> Iterator[float]:
    """Yield the switch interval while a loop in a thread waits for a connection, and after each of two waits."""
    near, far = socket.socketpair()
    is_idle, received = threading.Event(), threading.Semaphore(0)
    loop = new_event_loop(is_idle)
    is_idle.clear()

    async def receive() -> None:
        near.setblocking(False)
        for _ in range(2):
            await loop.sock_recv(near, 1)
            received.release()

    thread = threading.Thread(target=loop.run_until_complete, args=(receive(),))
    thread.start()
    for _ in range(2):
        assert is_idle.wait(5)
        yield sys.getswitchinterval()
        far.send(b"x")
        assert received.acquire(timeout=5)
    thread.join(5)
    loop.close()
    near.close()
    far.close()
    yield sys.getswitchinterval()


def test_interval_is_short_during_a_wait_only() -> None:
    first, _, last = wait_in_thread()
    assert first < USUAL / 100
    assert last == pytest.approx(USUAL)


def test_interval_is_as_before_although_a_test_puts_back_the_short_one() -> None:
    intervals = wait_in_thread()
    seen = next(intervals)
    sys.setswitchinterval(0.01)
    sys.setswitchinterval(seen)
    *_, last = intervals
    assert last == pytest.approx(USUAL)


def test_interval_that_a_test_sets_during_a_wait_is_kept() -> None:
    intervals = wait_in_thread()
    next(intervals)
    sys.setswitchinterval(0.01)
    *_, last = intervals
    assert last == pytest.approx(0.01)


def test_interval_is_as_before_after_a_loop_that_began_while_another_waits() -> None:
    first, second = wait_in_thread(), wait_in_thread()
    next(first)
    next(second)
    list(first)
    *_, last = second
    assert last == pytest.approx(USUAL)


def test_interval_is_as_before_whichever_of_two_loops_ends_first() -> None:
    first, second = wait_in_thread(), wait_in_thread()
    next(first)
    next(second)
    list(second)
    list(first)
    assert sys.getswitchinterval() == pytest.approx(USUAL)


def test_interval_of_a_stress_test_is_kept() -> None:
    intervals = wait_in_thread()
    next(intervals)
    sys.setswitchinterval(1e-6)
    *_, last = intervals
    assert last == pytest.approx(1e-6)


@pytest.mark.skipif(sys.platform == "win32", reason="the loop of Windows has no selector")
def test_interval_is_unchanged_without_connections() -> None:
    is_idle = threading.Event()
    loop = new_event_loop(is_idle)
    is_idle.clear()
    seen = []

    def look() -> None:
        is_idle.wait(5)
        seen.append(sys.getswitchinterval())

    thread = threading.Thread(target=look)
    thread.start()
    loop.run_until_complete(asyncio.sleep(0.2))
    thread.join(5)
    loop.close()
    assert seen == [pytest.approx(USUAL)]

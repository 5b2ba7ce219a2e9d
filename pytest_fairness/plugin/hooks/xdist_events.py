"""Events of xdist's workers, sent to the controller in one message a test.

xdist sends six messages a test. Each wakes two threads of the controller, and all their values are serialized in
Python: together a third of the CPU time that pytest needs for a test.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from threading import Lock
from typing import Any

import pytest

from pytest_fairness.plugin.compat import WorkerQueue, worker_interactor

_OFFER = "fairness_events"
"""The key of a worker's input that shows that its controller takes several events in one message."""
_HELD = ("testreport", "logfinish")
"""The events that wait for the end of their test."""
_TEST_END = "runtest_protocol_complete"
"""The last event of a test: it waits for the first of the next one, if that begins at once.

So a message leaves before each test, and the controller knows which test runs if the worker crashes.
"""


_REFUSAL = "fairness_refusal"
"""The event of this plugin: the reason why the session ends before its first test."""


def receive_in_batches(node: Any, on_refusal: Callable[[str], None]) -> None:
    """Let the controller take several events of a worker in one message; called before the worker starts.

    Args:
        node: The worker.
        on_refusal: A function that is called with the reason why a worker's session ends, before its collection does.
    """
    process_event: Callable[[object], None] | None = getattr(node, "process_from_remote", None)
    if process_event is None:  # another version of xdist
        return

    def process(message: object) -> None:
        events = [message]
        if isinstance(message, bytes):
            events = pickle.loads(message)  # noqa: S301 - of a worker, which runs the code of this process
        for event in events:
            if isinstance(event, tuple) and event[0] == _REFUSAL:
                on_refusal(event[1]["reason"])
            else:
                process_event(event)

    node.process_from_remote = process
    node.workerinput[_OFFER] = True


def send_in_batches(config: pytest.Config, queue: WorkerQueue, is_on: Callable[[], bool]) -> None:
    """Let a worker send several events in one message, if its controller takes that.

    Args:
        config: The configuration of a worker.
        queue: Its tests.
        is_on: Whether the session has tests of this plugin: else xdist is left as it is.
    """
    if getattr(config, "workerinput", {}).get(_OFFER):
        interactor = worker_interactor(config)
        interactor.sendevent = _EventSender(interactor, queue, is_on).send


def send_refusal(config: pytest.Config, reason: str) -> None:
    """Send the controller the reason why a worker's session ends before its first test, if it takes that."""
    if getattr(config, "workerinput", {}).get(_OFFER):
        worker_interactor(config).sendevent(_REFUSAL, reason=reason)


class _EventSender:
    """Sender of the events of one worker, in their order."""

    def __init__(self, interactor: Any, queue: WorkerQueue, is_on: Callable[[], bool]) -> None:
        self._channel, self._send_alone = interactor.channel, interactor.sendevent
        self._queue, self._is_on = queue, is_on
        self._events: list[tuple[str, dict[str, Any]]] = []
        self._lock = Lock()  # xdist sends from two threads

    def send(self, name: str, **content: Any) -> None:
        """Hold an event, or send it together with those that are held."""
        with self._lock:
            self._events.append((name, content))
            # A test that is stolen from the queue meanwhile is followed by an event, with which these are sent.
            if self._is_on() and (name in _HELD or (name == _TEST_END and self._queue.continues())):
                return
            events, self._events = self._events, []
            packed = io.BytesIO()
            try:
                _PlainPickler(packed, 5).dump(events)
            except pickle.PicklingError:  # a value of another plugin, which xdist refuses
                for one, its_content in events:
                    self._send_alone(one, **its_content)
            else:
                self._channel.send(packed.getvalue())


class _PlainPickler(pickle.Pickler):
    """Pickler of builtin types only, as xdist's messages have no others."""

    def reducer_override(self, value: object) -> Any:
        raise pickle.PicklingError(f"{type(value).__name__} is no builtin type")

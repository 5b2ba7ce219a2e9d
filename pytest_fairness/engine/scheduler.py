"""Queues of requests: questions of graders first, then what tests wait for, then the work list ahead of the tests."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from pytest_fairness.core.protocols import Model
from pytest_fairness.engine.rate_limits import endpoint_of
from pytest_fairness.engine.requests import Request

LOAD = 1000
"""Requests looked up in the store at a time."""
_LOAD_AHEAD = 4 * LOAD
"""Positions that the look-up runs ahead of the tests; it costs nothing but memory."""
_NEAR = 64
"""Positions ahead in the work list that are reached soon without any change of order."""


class Priority(IntEnum):
    """The order in which requests to one endpoint leave."""

    QUESTION = 0
    """A grader needs it to end an item that was begun."""
    DEMAND = 1
    """A test waits for it."""
    AHEAD = 2
    """The work list has brought it, ahead of the tests."""


Queues = tuple[deque[Request], deque[Request], deque[Request]]
"""The queues of one endpoint, by priority."""


def _queues() -> Queues:
    return deque(), deque(), deque()


@dataclass(slots=True)
class RequestScheduler:
    """The requests of one process on their way to a model. Used by the engine's thread only.

    A request passes two stages. First it waits to be looked up in the store (`to_look_up`): most answers of a repeated
    run are there. What the store lacks waits in the queue of its endpoint (`add`) until there is room (`take`).
    ``lookahead`` bounds how far ahead of the tests requests are sent: a run that is stopped has paid for those in vain.
    """

    lookahead: int
    reached: int = 0
    """Position of the furthest request that a test has taken."""
    _plans: deque[Iterator[Request]] = field(default_factory=deque)
    _unseen: Queues = field(default_factory=_queues)
    """Questions and demands that have not been looked up."""
    _waiting: defaultdict[str, Queues] = field(default_factory=lambda: defaultdict(_queues))
    """Looked up, by endpoint."""
    _planned: set[str] = field(default_factory=set)
    """Keys of the work list that were looked up once."""
    _ahead: set[str] = field(default_factory=set)
    """Keys in the queues `Priority.AHEAD`."""
    _read: int = 0
    """The length of the work list, as far as it has been read."""
    _sought: Request | None = None
    """The last demand that the work list had not brought: it is read up to there."""

    def plan(self, requests: Iterable[Request]) -> None:
        """Append to the work list."""
        self._plans.append(iter(requests))

    def demand(self, requests: Iterable[Request]) -> None:
        """Prefer these, since a test waits for them.

        What the work list has brought within the look-ahead is on its way already; the work list continues from there.
        The rest jumps the queue: it may stand in the work list further ahead than requests are sent.
        """
        furthest = self.reached + self.lookahead
        first: Request | None = None
        for request in requests:
            if not 0 <= request.position <= furthest:
                self._unseen[Priority.DEMAND].append(request)
                self._sought = request
            elif first is None:
                first = request
        if first is not None:
            self._continue_from(first)

    def _continue_from(self, request: Request) -> None:
        # Each worker is given tests of its own: what lies before them is likely to be requested by the other workers,
        # so it goes to the end of the queue.
        queue = self._waiting[endpoint_of(request.model)][Priority.AHEAD]
        if not queue or request.key not in self._ahead:
            return
        if not queue[0].position <= request.position <= queue[0].position + _NEAR:
            ordered = sorted(queue, key=lambda waiting: (waiting.position < request.position, waiting.position))
            queue.clear()
            queue.extend(ordered)

    def question(self, requests: Iterable[Request]) -> None:
        """Add requests of graders."""
        self._unseen[Priority.QUESTION].extend(requests)

    def to_look_up(self) -> tuple[list[Request], Priority] | None:
        """Return the next requests to look up in the store, with their priority; None where none is due."""
        for priority in (Priority.QUESTION, Priority.DEMAND):
            if unseen := self._unseen[priority]:
                return [unseen.popleft() for _ in range(min(LOAD, len(unseen)))], priority
        # Of a large suite a worker's tests may begin far behind what has been looked up.
        is_sought = self._sought is not None and self._sought.position < 0
        if not is_sought and self._read - self.reached > max(_LOAD_AHEAD, self.lookahead) - LOAD:
            return None
        batch: list[Request] = []
        while self._plans and len(batch) < LOAD:
            request = next(self._plans[0], None)
            if request is None:
                self._plans.popleft()
            # One that is listed again, for a threshold after its probe, keeps its first position: it waits there.
            elif request.key not in self._planned:
                self._planned.add(request.key)
                request.position = self._read
                self._read += 1
                batch.append(request)
        return (batch, Priority.AHEAD) if batch else None

    def add(self, requests: Iterable[Request], priority: Priority) -> None:
        """Queue requests that the store has no answer to."""
        for request in requests:
            self._waiting[endpoint_of(request.model)][priority].append(request)
            if priority == Priority.AHEAD:
                self._ahead.add(request.key)

    def put_back(self, requests: Iterable[Request]) -> None:
        """Queue requests once more at the very front, in this order: they were taken and could not leave."""
        for request in reversed(list(requests)):
            self._waiting[endpoint_of(request.model)][Priority.QUESTION].appendleft(request)

    def take(self, free: Mapping[str, int], is_done: Callable[[str], bool]) -> dict[str, Request]:
        """Take out the requests that may leave now, by key.

        Args:
            free: How many may leave, by endpoint.
            is_done: Returns whether a key needs no request any more.
        """
        taken: dict[str, Request] = {}
        furthest = self.reached + self.lookahead
        for endpoint, slots in free.items():
            for priority, queue in enumerate(self._waiting[endpoint]):
                while queue and slots and (priority != Priority.AHEAD or queue[0].position <= furthest):
                    request = queue.popleft()
                    self._ahead.discard(request.key)
                    if not is_done(request.key) and request.key not in taken:
                        slots -= 1
                        taken[request.key] = request
        return taken

    def drain(self, model: Model) -> list[Request]:
        """Take out all requests to a model."""
        drained: list[Request] = []
        for queue in self._waiting[endpoint_of(model)]:
            waiting = list(queue)
            queue.clear()
            for request in waiting:
                (drained if request.model.key == model.key else queue).append(request)
        self._ahead.difference_update(request.key for request in drained)
        return drained

    def __bool__(self) -> bool:
        """Return whether anything waits for room at its endpoint."""
        return any(queue for queues in self._waiting.values() for queue in queues)

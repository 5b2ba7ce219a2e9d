"""Scheduler of requests: questions of graders first, then demands of tests, then the work list ahead of the tests."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from enum import IntEnum

from pytest_fairness.core.protocols import Model
from pytest_fairness.engine.rate_limits import endpoint_of
from pytest_fairness.engine.requests import Request

LOAD = 1000
"""Number of requests that are looked up in the store at a time."""
_LOAD_AHEAD = 4 * LOAD
"""Number of positions by which the look-up is ahead of the tests; it costs only memory."""
_SHARED_PART = 4
"""The part of the look-ahead that is filled with requests which other processes are as likely to need."""
_NEAR = 64
"""Number of positions ahead in the queue that are reached soon, without a change of its order."""


class Priority(IntEnum):
    """The order in which requests to one endpoint are sent."""

    QUESTION = 0
    """A question of a grader, for an item whose grading has begun."""
    DEMAND = 1
    """A request for which a test waits."""
    AHEAD = 2
    """A request of the work list, ahead of the tests."""


Queues = tuple[deque[Request], deque[Request], deque[Request]]
"""The queues of one endpoint, by priority."""


def _queues() -> Queues:
    return deque(), deque(), deque()


class RequestScheduler:
    """The queues of the requests of one process. Used by the engine's thread only.

    A request passes two stages. First it waits to be looked up in the store (`to_look_up`): most answers of a repeated
    run are there. A request without a stored answer waits in the queue of its endpoint (`add`) until there is room
    (`take`).

    Args:
        lookahead: The number of positions ahead of the tests up to which requests are sent: a stopped run has paid for
            them in vain.
    """

    def __init__(self, lookahead: int) -> None:
        self.lookahead = lookahead
        self.reached = 0
        """The position of the furthest request that a test has taken."""
        self._plans: deque[Iterator[Request]] = deque()
        """The parts of the work list."""
        self._shared_plans: deque[Iterator[Request]] = deque()
        """Its parts that other processes are as likely to send."""
        self._unseen = _queues()
        """Questions and demands that were not looked up yet."""
        self._waiting: defaultdict[str, Queues] = defaultdict(_queues)
        """Requests that were looked up, by endpoint."""
        self._planned = set[str]()
        """The keys of the work list, as far as it has been read."""
        self._ahead = set[str]()
        """The keys in the queues `Priority.AHEAD`."""
        self._left = set[str]()
        """The keys that were left out of the work list."""
        self._read = 0
        """The length of the work list, as far as it has been read."""
        self._sought: Request | None = None
        """The last demand that was not read from the work list yet: it is read up to there."""

    def plan(self, requests: Iterable[Request], *, shared: bool = False) -> None:
        """Append to the work list.

        Args:
            requests: The requests, which are read where they are due.
            shared: Whether other processes are as likely to need them: they are read only while little else is ahead
                of the tests.
        """
        (self._shared_plans if shared else self._plans).append(iter(requests))

    def demand(self, requests: Iterable[Request]) -> None:
        """Prefer requests for which a test waits.

        Those of the work list within the look-ahead are queued already; the work list continues from the first of
        them. The others get the priority of demands: they may be further ahead in the work list than requests are sent.
        """
        furthest = self.reached + self.lookahead
        first: Request | None = None
        for request in requests:
            if request.key in self._left or not 0 <= request.position <= furthest:
                self._unseen[Priority.DEMAND].append(request)
                self._sought = request
            elif first is None:
                first = request
        if first is not None:
            self._continue_from(first)

    def leave(self, keys: Collection[str]) -> None:
        """Remove requests ahead of the tests; a test that demands one all the same gets it."""
        self._left |= set(keys)
        self._ahead.difference_update(keys)
        for queues in self._waiting.values():
            kept = [request for request in queues[Priority.AHEAD] if request.key not in self._left]
            queues[Priority.AHEAD].clear()
            queues[Priority.AHEAD].extend(kept)

    def _continue_from(self, request: Request) -> None:
        # Each worker has its own tests. Requests before them in the work list are likely to be those of other workers,
        # so they are moved to the end of the queue.
        queue = self._waiting[endpoint_of(request.model)][Priority.AHEAD]
        if not queue or request.key not in self._ahead:
            return
        if not queue[0].position <= request.position <= queue[0].position + _NEAR:
            ordered = sorted(queue, key=lambda waiting: (waiting.position < request.position, waiting.position))
            queue.clear()
            queue.extend(ordered)

    def bring_forward(self, model: Model) -> None:
        """Send the request to a model next that is furthest ahead of the tests.

        It is sent after a failed one: requests that follow each other may all be of a kind that the model cannot
        answer, and do not prove that it answers no other.
        """
        queue = self._waiting[endpoint_of(model)][Priority.AHEAD]
        furthest = self.reached + self.lookahead
        candidates = [request for request in queue if request.model.key == model.key and request.position <= furthest]
        if candidates:
            last = max(candidates, key=lambda request: request.position)
            queue.remove(last)
            queue.appendleft(last)

    def question(self, requests: Iterable[Request]) -> None:
        """Add requests of graders."""
        self._unseen[Priority.QUESTION].extend(requests)

    def to_look_up(self) -> tuple[list[Request], Priority] | None:
        """Return the next requests to look up in the store, with their priority; None where none is due."""
        for priority in (Priority.QUESTION, Priority.DEMAND):
            if unseen := self._unseen[priority]:
                return [unseen.popleft() for _ in range(min(LOAD, len(unseen)))], priority
        # In a large suite a worker's tests may begin far behind the requests that were looked up.
        is_sought = self._sought is not None and self._sought.position < 0
        ahead = self._read - self.reached
        batch: list[Request] = []
        if is_sought or ahead <= max(_LOAD_AHEAD, self.lookahead) - LOAD:
            batch = self._read_plans(self._plans, LOAD)
        shared = self.lookahead // _SHARED_PART
        if not batch and 2 * ahead <= shared:  # not one by one: the tests wait for each look-up
            batch = self._read_plans(self._shared_plans, min(LOAD, shared - ahead))
        return (batch, Priority.AHEAD) if batch else None

    def _read_plans(self, plans: deque[Iterator[Request]], most: int) -> list[Request]:
        """Read at most this many requests of the work list."""
        batch: list[Request] = []
        while plans and len(batch) < most:
            request = next(plans[0], None)
            if request is None:
                plans.popleft()
            # A request that is listed again, for a threshold after its probe, keeps its first position.
            elif request.key not in self._planned:
                self._planned.add(request.key)
                request.position = self._read
                self._read += 1
                batch.append(request)
        return batch

    def add(self, requests: Iterable[Request], priority: Priority) -> None:
        """Queue requests without a stored answer."""
        for request in requests:
            if priority == Priority.AHEAD and request.key in self._left:
                continue
            self._waiting[endpoint_of(request.model)][priority].append(request)
            if priority == Priority.AHEAD:
                self._ahead.add(request.key)

    def put_back(self, requests: Iterable[Request]) -> None:
        """Queue requests at the very front, in this order: they were taken and could not be sent."""
        for request in reversed(list(requests)):
            self._waiting[endpoint_of(request.model)][Priority.QUESTION].appendleft(request)

    def take(self, free: Mapping[str, int], is_done: Callable[[str], bool]) -> dict[str, Request]:
        """Remove and return the requests that may be sent now, by key.

        Args:
            free: The number of requests that may be sent, by endpoint.
            is_done: A function that returns whether a key needs no request any more.
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
        """Remove and return all requests to a model."""
        drained: list[Request] = []
        for queue in self._waiting[endpoint_of(model)]:
            waiting = list(queue)
            queue.clear()
            for request in waiting:
                (drained if request.model.key == model.key else queue).append(request)
        self._ahead.difference_update(request.key for request in drained)
        return drained

    def __bool__(self) -> bool:
        """Return whether any request waits for room at its endpoint."""
        return any(queue for queues in self._waiting.values() for queue in queues)

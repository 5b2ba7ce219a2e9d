"""What is to be asked, in which order: what ends an item, what tests wait for, the work list ahead of them."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum

from pytest_fairness.core.protocols import Model
from pytest_fairness.engine.asks import Ask
from pytest_fairness.engine.limits import endpoint_of

LOAD = 1000
"""Asks looked up in the store at a time."""
_LOAD_AHEAD = 4 * LOAD
"""How far the look-up runs ahead of the tests; it costs nothing but memory."""
_NEAR = 64
"""Places ahead in the work list which its turn comes to soon."""


class Rank(IntEnum):
    """What leaves first, of what waits for one endpoint."""

    QUESTION = 0
    """Asked by a grader: it ends an item that was begun."""
    DEMAND = 1
    """A test waits for it."""
    AHEAD = 2
    """The work list has brought it, ahead of the tests."""


def _lines() -> tuple[deque[Ask], deque[Ask], deque[Ask]]:
    """What waits for one endpoint, by rank."""
    return deque(), deque(), deque()


@dataclass(slots=True)
class Queues:
    """The asks of one process on their way to a model. Used by the engine's thread only.

    ``ask_ahead`` bounds how far ahead of the tests requests are sent: what a run that is
    stopped has paid for in vain.
    """

    ask_ahead: int
    reached: int = 0
    """Place of the furthest ask that a test has taken."""
    _plans: deque[Iterator[Ask]] = field(default_factory=deque)
    _wanted: tuple[deque[Ask], deque[Ask]] = field(default_factory=lambda: (deque(), deque()))
    """Questions and demands that have not been looked up."""
    _waiting: defaultdict[str, tuple[deque[Ask], deque[Ask], deque[Ask]]] = field(
        default_factory=lambda: defaultdict(_lines)
    )
    _known: set[str] = field(default_factory=set)
    """Keys of the work list that have been looked up once; what became of them is in the queues, or with the engine."""
    _ahead: set[str] = field(default_factory=set)
    """Keys of what waits ahead of the tests."""
    _places: int = 0
    _sought: Ask | None = None
    """The last that a test waited for and the work list had not brought: it is read until there."""

    def plan(self, asks: Iterable[Ask]) -> None:
        """Append to the work list."""
        self._plans.append(iter(asks))

    def demand(self, asks: Iterable[Ask]) -> None:
        """A test waits for these.

        What the work list has brought and may be asked for now is on its way; the work list goes on from there. The
        rest jumps the queue: it may stand in the work list further ahead than requests are sent.
        """
        furthest = self.reached + self.ask_ahead
        first: Ask | None = None
        for ask in asks:
            if not 0 <= ask.place <= furthest:
                self._wanted[Rank.DEMAND].append(ask)
                self._sought = ask
            elif first is None:
                first = ask
        if first is not None:
            self._go_on_from(first)

    def _go_on_from(self, ask: Ask) -> None:
        """Each process is given tests of its own: what lies before them is likely to be asked by the others."""
        line = self._waiting[endpoint_of(ask.model)][Rank.AHEAD]
        if line and not line[0].place <= ask.place <= line[0].place + _NEAR and ask.key in self._ahead:
            ordered = sorted(line, key=lambda each: (each.place < ask.place, each.place))
            line.clear()
            line.extend(ordered)

    def question(self, asks: Iterable[Ask]) -> None:
        """Graders ask these."""
        self._wanted[Rank.QUESTION].extend(asks)

    def to_look_up(self) -> tuple[list[Ask], Rank] | None:
        """The next asks to look up in the store, and their rank."""
        for rank in (Rank.QUESTION, Rank.DEMAND):
            if wanted := self._wanted[rank]:
                return [wanted.popleft() for _ in range(min(LOAD, len(wanted)))], rank
        # Of a large suite a worker's tests may begin far behind what has been looked up.
        is_sought = self._sought is not None and self._sought.place < 0
        if not is_sought and self._places - self.reached > max(_LOAD_AHEAD, self.ask_ahead) - LOAD:
            return None
        batch: list[Ask] = []
        while self._plans and len(batch) < LOAD:
            ask = next(self._plans[0], None)
            if ask is None:
                self._plans.popleft()
                continue
            # One that is listed again, for a threshold after its probe, keeps its first place: it waits there.
            if ask.key not in self._known:
                self._known.add(ask.key)
                ask.place = self._places
                self._places += 1
                batch.append(ask)
        return (batch, Rank.AHEAD) if batch else None

    def add(self, asks: Iterable[Ask], rank: Rank) -> None:
        """These are not in the store: they wait for a free place."""
        for ask in asks:
            self._waiting[endpoint_of(ask.model)][rank].append(ask)
            if rank == Rank.AHEAD:
                self._ahead.add(ask.key)

    def put_back(self, asks: Iterable[Ask]) -> None:
        """These could not leave, or were being asked elsewhere; the last of them goes to the very front."""
        for ask in asks:
            self._waiting[endpoint_of(ask.model)][Rank.QUESTION].appendleft(ask)

    def take(self, free: dict[str, int], done: Callable[[str], bool]) -> dict[str, Ask]:
        """What may leave now, given the free places per endpoint; ``done`` tells what need not."""
        wanted: dict[str, Ask] = {}
        furthest = self.reached + self.ask_ahead
        for endpoint, places in free.items():
            for rank, queue in enumerate(self._waiting[endpoint]):
                while queue and places and (rank != Rank.AHEAD or queue[0].place <= furthest):
                    ask = queue.popleft()
                    self._ahead.discard(ask.key)
                    if not done(ask.key) and ask.key not in wanted:
                        places -= 1
                        wanted[ask.key] = ask
        return wanted

    def drain(self, model: Model) -> list[Ask]:
        """Take out all that waits for a model."""
        drained: list[Ask] = []
        for queue in self._waiting[endpoint_of(model)]:
            waiting = list(queue)
            queue.clear()
            for ask in waiting:
                (drained if ask.model.key == model.key else queue).append(ask)
        self._ahead.difference_update(ask.key for ask in drained)
        return drained

    def __bool__(self) -> bool:
        return any(queue for lines in self._waiting.values() for queue in lines)

"""What is to be asked, in which order: demands of tests first, then the work list ahead of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from pytest_fairness.engine.asks import Ask

LOAD = 1000
"""Asks looked up in the store at a time."""
_LOAD_AHEAD = 4 * LOAD
"""How far the look-up runs ahead of the tests; it costs nothing but memory."""


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
    _demanded: deque[Ask] = field(default_factory=deque)
    _urgent: deque[Ask] = field(default_factory=deque)
    _ahead: deque[Ask] = field(default_factory=deque)
    _known: set[str] = field(default_factory=set)
    """Keys that have been looked up once; what became of them is in the queues, or with the engine."""
    _places: int = 0

    def plan(self, asks: Iterable[Ask]) -> None:
        """Append to the work list."""
        self._plans.append(iter(asks))

    def demand(self, asks: Iterable[Ask]) -> None:
        """A test waits for these.

        What the work list has brought and may be asked for now is on its way. The rest jumps
        the queue: it may stand in the work list further ahead than requests are sent.
        """
        furthest = self.reached + self.ask_ahead
        self._demanded.extend(ask for ask in asks if not 0 <= ask.place <= furthest)

    def to_look_up(self) -> tuple[list[Ask], bool] | None:
        """The next asks to look up in the store, and whether tests wait for them."""
        if self._demanded:
            return [self._demanded.popleft() for _ in range(min(LOAD, len(self._demanded)))], True
        if self._places - self.reached > _LOAD_AHEAD - LOAD:
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
        return (batch, False) if batch else None

    def add(self, asks: Iterable[Ask], *, urgent: bool) -> None:
        """These are not in the store: they wait for a free place."""
        (self._urgent if urgent else self._ahead).extend(asks)

    def put_back(self, asks: Iterable[Ask]) -> None:
        """These were being asked elsewhere; they go to the front, to be looked up once more."""
        self._urgent.extendleft(asks)

    def take(self, free: dict[str, int], done: Callable[[str], bool]) -> dict[str, Ask]:
        """What may leave now, given the free places per model; ``done`` tells what need not."""
        wanted: dict[str, Ask] = {}
        for queue, furthest in ((self._urgent, None), (self._ahead, self.reached + self.ask_ahead)):
            held: list[Ask] = []
            while queue and any(free.values()) and (furthest is None or queue[0].place <= furthest):
                ask = queue.popleft()
                if done(ask.key) or ask.key in wanted:
                    continue
                if free[ask.model.key] > 0:
                    free[ask.model.key] -= 1
                    wanted[ask.key] = ask
                else:
                    held.append(ask)
            queue.extendleft(reversed(held))
        return wanted

    def drain(self, model: str) -> list[Ask]:
        """Take out all that waits for a model."""
        drained: list[Ask] = []
        for queue in (self._urgent, self._ahead):
            drained += [ask for ask in queue if ask.model.key == model]
            kept = [ask for ask in queue if ask.model.key != model]
            queue.clear()
            queue.extend(kept)
        return drained

    def __bool__(self) -> bool:
        return bool(self._urgent or self._ahead)

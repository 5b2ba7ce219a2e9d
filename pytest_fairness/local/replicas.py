"""Replicas on a Ray cluster: which of them are ready, and how busy this process keeps each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from pytest_fairness import __version__
from pytest_fairness.extending import FatalError, TransientError
from pytest_fairness.extending import event_loops as asyncio

_PATIENCE = 600.0
"""Seconds to wait for a first replica: a cluster that grows on demand takes minutes."""
_LOOK_AGAIN = 0.5
"""Seconds between checks whether a lost replica is back."""


class Replicas:
    """The replicas of a run's models, as one of its processes sees them. Used from one event loop.

    A replica whose process or node has died is started again by Ray, elsewhere where its node is gone; until it is
    back, calls go to the others.
    """

    def __init__(self, handles: Sequence[Any]) -> None:
        self._handles = handles
        self._ready: set[int] = set()
        self._loads: Counter[tuple[str, int]] = Counter()
        self._changed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._failed: dict[int, str] = {}
        """The reasons of replicas that will never be ready."""
        self._watches = {asyncio.ensure_future(self._watch(index)) for index in range(len(handles))}

    async def call(self, what: str, most: int, method: str, *arguments: Any) -> Any:
        """Call the least loaded replica, once one has fewer than ``most`` calls of ``what`` from this process.

        Raises:
            TransientError: The replica was lost meanwhile.
            FatalError: No replica is left, or none has started in time.
        """
        import ray

        index = await self._acquire(what, most)
        try:
            return await getattr(self._handles[index], method).remote(*arguments)
        except ray.exceptions.RayTaskError as error:
            raise FatalError(f"a replica on the Ray cluster failed: {last_line(error)}") from error
        except ray.exceptions.RayError as error:
            if index in self._ready:
                self._ready.remove(index)
                self._watches.add(asyncio.ensure_future(self._watch(index)))
            raise TransientError(f"a replica on the Ray cluster was lost: {last_line(error)}", kind="lost") from error
        finally:
            self._loads[what, index] -= 1
            self._wake()

    async def _acquire(self, what: str, most: int) -> int:
        """Return the index of the least loaded replica, once one has room."""
        while True:
            if len(self._failed) == len(self._handles):
                raise FatalError(f"no replica is left on the Ray cluster: {self._failed[0]}")
            loads = {index: self._loads[what, index] for index in self._ready}
            index = min(loads, key=lambda index: loads[index], default=None)
            if index is not None and loads[index] < most:
                self._loads[what, index] += 1
                return index
            done, _ = await asyncio.wait([self._changed], timeout=_PATIENCE)
            if not done and not self._ready:
                raise FatalError(
                    f"no replica has started on the Ray cluster in {_PATIENCE / 60:.0f} minutes: free some of its "
                    "GPUs or CPUs, or name fewer with --fairness-replicas"
                )

    async def _watch(self, index: int) -> None:
        """Wait until a replica is ready, for the first time or after a loss."""
        import ray

        while True:
            try:
                version = await self._handles[index].ready.remote()
            except ray.exceptions.ActorDiedError as error:
                self._failed[index] = last_line(error)
            except ray.exceptions.RayError:
                await asyncio.sleep(_LOOK_AGAIN)
                continue
            else:
                if version == __version__:
                    self._ready.add(index)
                else:
                    self._failed[index] = f"its node has pytest-fairness {version}, and {__version__} runs here"
            return self._wake()

    def _wake(self) -> None:
        """Wake the calls that wait for a replica."""
        waiting, self._changed = self._changed, asyncio.get_running_loop().create_future()
        waiting.set_result(None)

    async def close(self) -> None:
        """Cancel all checks of replicas."""
        for watch in self._watches:
            watch.cancel()
        await asyncio.gather(*self._watches, return_exceptions=True)


def last_line(error: Exception) -> str:
    """Return the last line of an error's message; Ray puts whole tracebacks before it."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return " ".join(lines[-1].split())[:300]

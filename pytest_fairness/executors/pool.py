"""Load balancing over the replicas on a cluster, without those that are lost."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest_fairness
from pytest_fairness.core.errors import FairnessError, FatalError, TransientError

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
                if version == pytest_fairness.__version__:
                    self._ready.add(index)
                else:
                    version_here = pytest_fairness.__version__
                    self._failed[index] = f"its node has pytest-fairness {version}, and {version_here} runs here"
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


def shape(nodes: Sequence[dict[str, Any]], wanted: int | None) -> tuple[int, dict[str, float]]:
    """Return the number of replicas, and the resources of each; ``nodes`` are those of `ray.nodes`.

    One a GPU; without GPUs one a node, with as many CPUs as the smallest share. Where more are wanted than there are
    GPUs, they share them.

    >>> shape([{"Alive": True, "Resources": {"CPU": 8.0, "GPU": 4.0}}], None)
    (4, {'num_gpus': 1})
    >>> shape([{"Alive": True, "Resources": {"CPU": 8.0}}, {"Alive": True, "Resources": {"CPU": 3.0}}], 3)
    (3, {'num_cpus': 3})

    Raises:
        FairnessError: The cluster has neither GPUs nor CPUs.
    """
    resources = [node["Resources"] for node in nodes if node["Alive"]]
    for kind, option in (("GPU", "num_gpus"), ("CPU", "num_cpus")):
        amounts = [int(node[kind]) for node in resources if node.get(kind, 0) >= 1]
        if not amounts:
            continue
        count = wanted or (sum(amounts) if kind == "GPU" else len(amounts))
        for share in range(1 if kind == "GPU" else max(amounts), 0, -1):
            if sum(amount // share for amount in amounts) >= count:
                return count, {option: share}
        return count, {option: 1 / -(-count // sum(amounts))}
    raise FairnessError("the Ray cluster has neither a GPU nor a CPU that a replica could use")


def last_line(error: Exception) -> str:
    """Return the last line of an error's message; Ray puts whole tracebacks before it."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return " ".join(lines[-1].split())[:300]

"""Batches of jobs for a device, collected from jobs that arrive one by one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from pytest_fairness.models.threads import DaemonThreads

_Job = TypeVar("_Job")
_Result = TypeVar("_Result")

_GATHER = 0.005
"""Seconds to wait for more jobs where a batch is not full: they arrive within one turn of the loop."""


class Batcher(Generic[_Job, _Result]):
    """Runner of one batch at a time in a thread; jobs that arrive meanwhile wait.

    Args:
        run: A function from jobs to one result for each, in order; its exception is raised for every job.
        size: The largest number of jobs of a batch.
        threads: The thread that runs them.
    """

    def __init__(self, run: Callable[[Sequence[_Job]], Sequence[_Result]], size: int, threads: DaemonThreads) -> None:
        self._run, self._size, self._threads = run, size, threads
        self._waiting: list[tuple[_Job, asyncio.Future[_Result]]] = []
        self._worker: asyncio.Task[None] | None = None

    async def submit(self, job: _Job) -> _Result:
        """Return the result of one job; must be called from one event loop."""
        future: asyncio.Future[_Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((job, future))
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._drain())
        return await future

    async def close(self) -> None:
        """Cancel the waiting jobs, and wait for the running batch."""
        for _, future in self._waiting:
            future.cancel()
        if self._worker is not None:
            await self._worker

    async def _drain(self) -> None:
        while self._waiting:
            if len(self._waiting) < self._size:
                await asyncio.sleep(_GATHER)
            first, self._waiting = self._waiting[: self._size], self._waiting[self._size :]
            batch = [(job, future) for job, future in first if not future.done()]
            if batch:
                await self._run_batch(batch)

    async def _run_batch(self, batch: list[tuple[_Job, asyncio.Future[_Result]]]) -> None:
        try:
            results = await self._threads.run(self._run, [job for job, _ in batch])
        except Exception as error:  # noqa: BLE001  # raised for every job of the batch
            for _, future in batch:
                if not future.done():
                    future.set_exception(error)
            return
        for (_, future), result in zip(batch, results, strict=True):
            if not future.done():
                future.set_result(result)

"""A model whose weights are on a cluster."""

from __future__ import annotations

from collections.abc import Callable

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.protocols import Model
from pytest_fairness.core.system_prompts import system_prompt_of
from pytest_fairness.executors.cluster import Cluster


class ReplicatedModel:
    """Replicas of a model of local weights as one model; name and key are the model's, so its answers are too.

    Every replica has two batches at a time: one is answered while the next is full.
    """

    local = True

    def __init__(self, full_name: str, model: Model, batch_size: int, cluster: Callable[[], Cluster]) -> None:
        self.name, self.key = model.name, model.key
        self.system_prompt = system_prompt_of(model)
        self.calls_tools = bool(getattr(model, "calls_tools", False))
        self._full_name = full_name
        self._most = 2 * batch_size
        self._cluster = cluster

    def __repr__(self) -> str:
        return f"ReplicatedModel({self.name!r})"

    @property
    def in_flight(self) -> int:
        """Prompts that keep all replicas busy."""
        return self._most * self._cluster().joined.replicas

    async def answer(self, prompt: Prompt, repetition: int) -> Answer:
        """Answer one prompt on a replica; one that is lost meanwhile raises `TransientError`."""
        return await self._cluster().answer(self._full_name, self.key, self._most, prompt, repetition)

    async def close(self) -> None:
        """Do nothing: the replicas end with the run, since its other processes may still use them."""

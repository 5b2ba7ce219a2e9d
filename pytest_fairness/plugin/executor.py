"""Executor of local models and embeddings: this process, or the cluster of ``--fairness-executor``."""

from __future__ import annotations

from dataclasses import astuple
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pytest_fairness.plugin.run_context import RunContext

if TYPE_CHECKING:
    from pytest_fairness.core.protocols import Model
    from pytest_fairness.executors.cluster import Cluster


class Executor:
    """The executor of one process."""

    def __init__(self, context: RunContext) -> None:
        self._context = context

    @cached_property
    def _cluster(self) -> Cluster:
        from pytest_fairness.executors.cluster import Cluster, ReplicaAddress
        from pytest_fairness.graders.embeddings import REMOTE_EMBEDDER

        settings = self._context.settings
        if self._context.joined_cluster is not None:
            cluster = Cluster.of(ReplicaAddress(*self._context.joined_cluster))
        else:
            assert settings.executor is not None  # noqa: S101 - the callers have checked
            cluster = Cluster(settings.executor, settings.root, offline=settings.offline, replicas=settings.replicas)
        REMOTE_EMBEDDER.set(cluster.embed)
        return cluster

    def join(self) -> tuple[Any, ...] | None:
        """Join the cluster of the run, if any, and return what another process needs to join it.

        Raises:
            FairnessError: The cluster cannot be joined.
        """
        return astuple(self._cluster.joined) if self._context.settings.executor else None

    def wrap_model(self, name: str, model: Model) -> Model:
        """Return a model that runs on the cluster if it has weights of its own; the name is no alias."""
        batch_size = getattr(model, "batch_size", None)
        if not self._context.settings.executor or batch_size is None:
            return model
        from pytest_fairness.executors.cluster import ReplicatedModel

        return ReplicatedModel(name, model, batch_size, lambda: self._cluster)

    def close(self) -> None:
        """Leave the cluster. Safe to call more than once."""
        if "_cluster" in self.__dict__:
            from pytest_fairness.graders.embeddings import REMOTE_EMBEDDER

            REMOTE_EMBEDDER.set(None)
            self.__dict__.pop("_cluster").close()

"""Where local weights are held and texts embedded: in this process, or on the cluster of ``--fairness-executor``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pytest_fairness.session.settings import Settings

if TYPE_CHECKING:
    from pytest_fairness.core.protocols import Model
    from pytest_fairness.executors.cluster import Cluster


class Executor:
    """That of one process. ``joined`` is what another process of the run has told of the cluster it has joined."""

    def __init__(self, settings: Settings, joined: Sequence[Any] | None = None) -> None:
        self._settings = settings
        self._joined = joined

    @cached_property
    def _cluster(self) -> Cluster:
        from pytest_fairness.executors.cluster import Cluster, Joined
        from pytest_fairness.graders.embeddings import ELSEWHERE

        settings = self._settings
        if self._joined is not None:
            cluster = Cluster.of(Joined(*self._joined))
        else:
            assert settings.executor is not None  # noqa: S101 - nobody asks otherwise
            cluster = Cluster(settings.executor, settings.root, offline=settings.offline, replicas=settings.replicas)
        ELSEWHERE.set(cluster.embed)
        return cluster

    def join(self) -> tuple[Any, ...] | None:
        """Join the cluster, where there is one; what another process must know to do so.

        Raises `FairnessError` where it cannot be joined.
        """
        return astuple(self._cluster.joined) if self._settings.executor else None

    def placed(self, name: str, model: Model) -> Model:
        """A model, on the cluster where it has weights of its own; ``name`` is no alias."""
        batch_size = getattr(model, "batch_size", None)
        if not self._settings.executor or batch_size is None:
            return model
        from pytest_fairness.executors.model import ReplicatedModel

        return ReplicatedModel(name, model, batch_size, lambda: self._cluster)

    def close(self) -> None:
        """Leave the cluster. Safe to call more than once."""
        if "_cluster" in self.__dict__:
            from pytest_fairness.graders.embeddings import ELSEWHERE

            ELSEWHERE.set(None)
            self.__dict__.pop("_cluster").close()

"""The executor ``ray``: local models and embeddings on the Ray cluster that ``--fairness-executor`` names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_fairness.extending import REMOTE_EMBEDDER

if TYPE_CHECKING:
    from pytest_fairness import Model
    from pytest_fairness.local.cluster import Cluster


class RayExecutor:
    """The cluster of a run, which this process joins at first use.

    Args:
        address: The address, as of `Cluster`.
        root: The folder to which file names are relative.
        offline: Whether models must not open connections to download files.
        replicas: The number of replicas; None for the default.
        joined: What `join` has returned in another process of the run, if it has.
    """

    def __init__(
        self, address: str, root: Path, *, offline: bool, replicas: int | None, joined: Sequence[Any] | None
    ) -> None:
        self._address = address
        self._root = root
        self._offline = offline
        self._replicas = replicas
        self._joined = joined

    @cached_property
    def _cluster(self) -> Cluster:
        from pytest_fairness.local.cluster import Cluster, ReplicaAddress

        if self._joined is not None:
            cluster = Cluster.of(ReplicaAddress(*self._joined))
        else:
            cluster = Cluster(self._address, self._root, offline=self._offline, replicas=self._replicas)
        REMOTE_EMBEDDER.set(cluster.embed)
        return cluster

    def join(self) -> tuple[Any, ...]:
        """Join the cluster, and return what another process needs to join it.

        Raises:
            FairnessError: The cluster cannot be joined.
        """
        return astuple(self._cluster.joined)

    def wrap_model(self, name: str, model: Model, batch_size: int) -> Model:
        """Return a model that runs on the cluster."""
        from pytest_fairness.local.cluster import ReplicatedModel

        return ReplicatedModel(name, model, batch_size, lambda: self._cluster)

    def close(self) -> None:
        """Leave the cluster. Safe to call more than once."""
        if "_cluster" in self.__dict__:
            REMOTE_EMBEDDER.set(None)
            self.__dict__.pop("_cluster").close()

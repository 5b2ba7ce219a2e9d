"""Executor of local models and embeddings: this process, or the extension of ``--fairness-executor``."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from pytest_fairness.core.extensions import PLUGINS
from pytest_fairness.plugin.run_context import RunContext

if TYPE_CHECKING:
    from pytest_fairness.core.protocols import Model


class Executor:
    """The executor of one process."""

    def __init__(self, context: RunContext) -> None:
        self._context = context

    @cached_property
    def _extension(self) -> Any:
        settings = self._context.settings
        make = PLUGINS.load_callable("ray")
        return make(
            settings.executor,
            settings.root,
            offline=settings.offline,
            joined=self._context.joined_cluster,
        )

    def join(self) -> tuple[Any, ...] | None:
        """Join the cluster of the run, if any, and return what another process needs to join it.

        Raises:
            FairnessError: The cluster cannot be joined.
        """
        joined: tuple[Any, ...] | None = self._extension.join() if self._context.settings.executor else None
        return joined

    def wrap_model(self, name: str, model: Model) -> Model:
        """Return a model that runs on the cluster if it has weights of its own; the name is no alias."""
        batch_size = getattr(model, "batch_size", None)
        if not self._context.settings.executor or batch_size is None:
            return model
        replicated: Model = self._extension.wrap_model(name, model, batch_size)
        return replicated

    def close(self) -> None:
        """Leave the cluster. Safe to call more than once."""
        if "_extension" in self.__dict__:
            self._extension.close()

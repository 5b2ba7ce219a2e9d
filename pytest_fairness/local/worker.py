"""Worker on a node of a cluster: one process that holds weights, and answers and embeds with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, Any

from pytest_fairness import Answer, FairnessError, Model, Prompt, __version__
from pytest_fairness.extending import (
    FatalError,
    Message,
    ModelContext,
    ModelError,
    PermanentError,
    read_environment,
    resolve_model,
)
from pytest_fairness.extending import event_loops as asyncio
from pytest_fairness.graders import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(slots=True)
class _LoadedModel:
    """An embedding model, with a lock since it is not thread-safe."""

    embedder: Embedder
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class Replica:
    """Holder of every requested model, as one process without a cluster: one after the other is loaded.

    What it looks up in an environment (``HF_TOKEN``, say) is its own node's: no key travels. Errors that belong to
    the request are returned, not raised: an exception is a bug, or the loss of the replica.
    """

    def __init__(self, root: str, *, offline: bool) -> None:
        self._context = ModelContext(Path(root), read_environment(), offline)
        self._models: dict[str, Model] = {}
        self._embedders: dict[str, _LoadedModel] = {}

    async def ready(self) -> str:
        """Return the version of this package on the node."""
        return __version__

    async def answer(
        self, name: str, key: str, messages: Sequence[Message], schema: Mapping[str, Any] | None, repetition: int
    ) -> Answer | ModelError:
        """Return a model's answer, computed in a batch with concurrent requests, or its error."""
        try:
            return await self._model(name, key).answer(Prompt(messages, schema=schema), repetition)
        except ModelError as error:
            return error
        except Exception as error:  # noqa: BLE001 - of a third party's model
            return PermanentError(f"{name} raised {type(error).__name__}: {error}")

    async def embed(
        self, model: Mapping[str, Any], fingerprint: str, texts: Sequence[str]
    ) -> NDArray[np.float32] | FairnessError:
        """Return the embeddings of texts, one a row, each of length 1; or why there are none."""
        try:
            loaded = self._embedder(model, fingerprint)
            async with loaded.lock:
                return await asyncio.to_thread(loaded.embedder.encode, texts)
        except FairnessError as error:
            return error

    def _model(self, name: str, key: str) -> Model:
        if name not in self._models:
            try:
                model = resolve_model(name, aliases={}, context=self._context)
            except FairnessError as error:
                raise FatalError(str(error)) from None
            if model.key != key:
                raise FatalError(_differ(name))
            self._models[name] = model
        return self._models[name]

    def _embedder(self, model: Mapping[str, Any], fingerprint: str) -> _LoadedModel:
        if fingerprint not in self._embedders:
            embedder = Embedder(**model)
            if embedder.fingerprint != fingerprint:
                raise FairnessError(_differ(f"the embedding model {model['model']}"))
            self._embedders[fingerprint] = _LoadedModel(embedder)
        return self._embedders[fingerprint]


def _differ(what: str) -> str:
    """Return the message for weights that differ from those where pytest runs: their answers would be wrong."""
    return (
        f"{what} is not the same on the node {gethostname()} as where pytest runs: a folder must hold the same files "
        "on every node, at the same path"
    )

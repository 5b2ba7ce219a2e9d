"""The Ray cluster of a run: one process joins it and starts the replicas, which all processes of the run share."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pytest_fairness import Answer, FairnessError, Model, Prompt
from pytest_fairness.extending import ModelError, TransientError, system_prompt_of
from pytest_fairness.extending import event_loops as asyncio
from pytest_fairness.local.replicas import Replicas, last_line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pytest_fairness.graders import Embedder

_REACH = 5.0
"""Seconds in which an address must accept a connection: Ray itself retries for minutes, and prints meanwhile."""
_AUTH = "RAY_AUTH_MODE"
_TRIES = 5
"""Attempts to embed texts whose replica was lost. Model answers are retried by the engine instead."""
_CHUNK = 8
"""Batches of texts in one call of a replica."""


@dataclass(frozen=True, slots=True)
class ReplicaAddress:
    """The address and names that another process of the run needs to use the same replicas."""

    address: str
    namespace: str
    replicas: int
    auth_mode: str | None
    """Ray's authentication mode of a cluster that it starts; the token itself stays in the user's folder."""


class Cluster:
    """Replicas on a Ray cluster, and this process's connection to it.

    The replicas belong to the process that started them and end with it, whatever ends it.

    Args:
        address: ``HOST:PORT`` of its head, or ``auto`` on a machine of the cluster; ``local`` starts a cluster of this
            machine alone, which ends with `close`.
        root: The folder to which file names are relative.
        offline: Whether models must not open connections to download files.
        replicas: Their number; see `shape` for the default.

    Raises:
        FairnessError: Ray is not installed, or the cluster cannot be reached.
    """

    def __init__(self, address: str, root: Path, *, offline: bool = False, replicas: int | None = None) -> None:
        self._owned: list[Any] = []
        self._connect(address, f"fairness-{uuid4().hex}")
        ray = _ray()
        try:
            count, share = shape(ray.nodes(), replicas)
        except FairnessError:
            self.close()
            raise
        if address in ("local", "auto"):
            address = ray.get_runtime_context().gcs_address
        self.joined = ReplicaAddress(address, self._namespace, count, os.environ.get(_AUTH))
        options = {"namespace": self._namespace, "max_restarts": -1, "scheduling_strategy": "SPREAD", **share}
        kind = ray.remote(import_module("pytest_fairness.local.worker").Replica)
        self._owned = [
            kind.options(name=_name(index), **options).remote(str(root), offline=offline) for index in range(count)
        ]
        self._start_loop(self._owned)

    @classmethod
    def of(cls, joined: ReplicaAddress) -> Cluster:
        """Return the cluster that another process of the run has joined."""
        if joined.auth_mode is not None:
            os.environ[_AUTH] = joined.auth_mode  # Ray reads it when it is imported
        cluster = cls.__new__(cls)
        cluster._connect(joined.address, joined.namespace)
        cluster.joined, cluster._owned = joined, []
        try:
            handles = [_ray().get_actor(_name(index), joined.namespace) for index in range(joined.replicas)]
        except ValueError as error:
            cluster.close()
            raise FairnessError(f"the replicas on the Ray cluster are gone: {last_line(error)}") from None
        cluster._start_loop(handles)
        return cluster

    def _connect(self, address: str, namespace: str) -> None:
        self._namespace = namespace
        self._loop: asyncio.AbstractEventLoop | None = None
        ray = _ray()
        self._is_ours = not ray.is_initialized()
        if self._is_ours:
            _check_reachable(address)
            options = {"include_dashboard": False} if address == "local" else {}
            self._restore_output = _silence_nodes()
            try:
                with _restored_process():
                    ray.init(address, namespace=namespace, log_to_driver=False, logging_level="ERROR", **options)
            except Exception as error:  # Ray raises ConnectionError, RuntimeError, ValueError and its own
                self._restore_output()
                way_out = "" if _AUTH in os.environ else f"; if it requires a token, set {_AUTH}=token"
                raise FairnessError(
                    f"the Ray cluster {address} cannot be joined: {last_line(error)}{way_out}"
                ) from error

    def _start_loop(self, handles: Sequence[Any]) -> None:
        self._loop = asyncio.make_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="fairness-ray", daemon=True)
        self._thread.start()

        async def begin() -> Replicas:
            return Replicas(handles)

        self._replicas = asyncio.run_coroutine_threadsafe(begin(), self._loop).result()

    async def answer(self, name: str, key: str, most: int, prompt: Prompt, repetition: int) -> Answer:
        """Return the answer of a model by its name, from any event loop.

        At most ``most`` calls of this process are sent to a replica at a time.

        Raises:
            TransientError: A replica was lost.
            ModelError: The model's own error.
        """
        arguments = (name, key, list(prompt.messages), prompt.schema, repetition)
        assert self._loop is not None  # noqa: S101 - the cluster is closed after the engine
        call = self._replicas.call(key, most, "answer", *arguments)
        answer: Answer | ModelError = await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(call, self._loop))
        if isinstance(answer, ModelError):
            raise answer
        return answer

    def embed(self, embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the embeddings of texts, one a row, made by all replicas together.

        Raises:
            FairnessError: The model cannot be loaded there, or no replica is left.
        """
        import numpy as np

        # Sorted by length, as the library itself does: so each chunk is split into the same batches as the whole.
        order = sorted(range(len(texts)), key=lambda index: -len(texts[index]))
        size = _CHUNK * embedder.recipe["batch_size"]
        chunks = [[texts[index] for index in order[start : start + size]] for start in range(0, len(order), size)]

        async def all_of_them() -> list[NDArray[np.float32]]:
            return await asyncio.gather(*(self._embed_chunk(embedder, chunk) for chunk in chunks))

        assert self._loop is not None  # noqa: S101
        ordered = np.concatenate(asyncio.run_coroutine_threadsafe(all_of_them(), self._loop).result())
        vectors = np.empty_like(ordered)
        vectors[order] = ordered
        return vectors

    async def _embed_chunk(self, embedder: Embedder, texts: list[str]) -> NDArray[np.float32]:
        fingerprint, tries = embedder.fingerprint, _TRIES
        while True:
            tries -= 1
            try:
                vectors: NDArray[np.float32] | FairnessError = await self._replicas.call(
                    fingerprint, 2, "embed", embedder.recipe, fingerprint, texts
                )
            except TransientError:
                if not tries:
                    raise
                continue
            if isinstance(vectors, FairnessError):
                raise vectors
            return vectors

    def close(self) -> None:
        """End the replicas that this process started, and leave the cluster. Safe to call more than once."""
        if self._loop is not None:
            asyncio.run_coroutine_threadsafe(self._replicas.close(), self._loop).result()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
            self._loop = None
        ray = _ray()
        while self._owned:
            with contextlib.suppress(ray.exceptions.RayError):
                ray.kill(self._owned.pop())
        if self._is_ours:
            self._is_ours = False
            ray.shutdown()
            self._restore_output()


def _name(index: int) -> str:
    return f"replica-{index}"


def _ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Under `uv run` Ray would copy the project's folder, with any secrets in it, to the nodes.
    os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
    try:
        return import_module("ray")
    except ImportError:
        raise FairnessError('Ray is not installed: pip install "./pytest-fairness[ray]"') from None


def _check_reachable(address: str) -> None:
    """Check that an address accepts connections. Raises `FairnessError` where it does not."""
    if address in ("local", "auto"):
        return
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _REACH).close()
    except (OSError, ValueError, OverflowError) as error:
        reason = error.strerror or "no answer" if isinstance(error, OSError) else "it is no HOST:PORT"
        raise FairnessError(f"the Ray cluster {address} cannot be reached: {reason}") from None


@contextlib.contextmanager
def _restored_process() -> Iterator[None]:
    """Restore the signal handler, hooks and environment that Ray changes in a process."""
    is_main = threading.current_thread() is threading.main_thread()
    sigterm, hook, breakpoint_ = signal.getsignal(signal.SIGTERM), sys.excepthook, os.environ.get("PYTHONBREAKPOINT")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # which pytest can turn into errors
            yield
    finally:
        sys.excepthook = hook
        if is_main and sigterm is not None:
            signal.signal(signal.SIGTERM, sigterm)
        if breakpoint_ is None:
            os.environ.pop("PYTHONBREAKPOINT", None)
        else:
            os.environ["PYTHONBREAKPOINT"] = breakpoint_


def _silence_nodes() -> Callable[[], None]:
    """Suppress messages of the nodes, which Ray prints despite `log_to_driver`; return a function that undoes it."""
    worker: Any = import_module("ray._private.worker")
    printer = getattr(worker, "print_to_stdstream", None)
    if printer is None:
        return lambda: None
    worker.print_to_stdstream = lambda *_, **__: None
    return lambda: setattr(worker, "print_to_stdstream", printer)


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

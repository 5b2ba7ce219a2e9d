"""The Ray cluster of a run: one process joins it and starts the replicas, the others of the run use the same."""

from __future__ import annotations

import asyncio
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

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.errors import FairnessError, ModelError, TransientError
from pytest_fairness.core.items import Prompt
from pytest_fairness.executors.replicas import Replicas, last_line, shape

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pytest_fairness.graders.embeddings import Embedder

_REACH = 5.0
"""Seconds that an address has to take a connection: Ray itself tries for minutes, and prints while it does."""
_AUTH = "RAY_AUTH_MODE"
_TRIES = 5
"""How often texts are embedded whose replica was lost; attempts are made again by the engine."""
_CHUNK = 8
"""Batches of texts that a replica is sent at a time."""


@dataclass(frozen=True, slots=True)
class Joined:
    """What another process of the run must know to use the same replicas."""

    address: str
    namespace: str
    replicas: int
    auth_mode: str | None
    """Ray sets it for a cluster that it starts: the token itself stays in the user's own folder."""


class Cluster:
    """Replicas on a Ray cluster, and this process's connection to it.

    ``address`` is ``HOST:PORT`` of its head or ``auto``, on a machine of the cluster; at ``local`` a cluster of this
    machine alone is started, which ends with `close`. The replicas belong to the process that started them and end
    with it, whatever ends it.

    Raises `FairnessError` where Ray is not installed, or the cluster cannot be reached.
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
        self.joined = Joined(address, self._namespace, count, os.environ.get(_AUTH))
        options = {"namespace": self._namespace, "max_restarts": -1, "scheduling_strategy": "SPREAD", **share}
        kind = ray.remote(import_module("pytest_fairness.executors.replica").Replica)
        self._owned = [
            kind.options(name=_name(place), **options).remote(str(root), offline=offline) for place in range(count)
        ]
        self._begin(self._owned)

    @classmethod
    def of(cls, joined: Joined) -> Cluster:
        """The cluster that another process of the run has joined."""
        if joined.auth_mode is not None:
            os.environ[_AUTH] = joined.auth_mode  # read when Ray is imported
        cluster = cls.__new__(cls)
        cluster._connect(joined.address, joined.namespace)
        cluster.joined, cluster._owned = joined, []
        try:
            found = [_ray().get_actor(_name(place), joined.namespace) for place in range(joined.replicas)]
        except ValueError as error:
            cluster.close()
            raise FairnessError(f"the replicas on the Ray cluster are gone: {last_line(error)}") from None
        cluster._begin(found)
        return cluster

    def _connect(self, address: str, namespace: str) -> None:
        self._namespace = namespace
        self._loop: asyncio.AbstractEventLoop | None = None
        ray = _ray()
        self._is_ours = not ray.is_initialized()
        if self._is_ours:
            _reach(address)
            options = {"include_dashboard": False} if address == "local" else {}
            self._unsilence = _silenced()
            try:
                with _undisturbed():
                    ray.init(address, namespace=namespace, log_to_driver=False, logging_level="ERROR", **options)
            except Exception as error:  # of Ray: ConnectionError, RuntimeError, ValueError, its own
                self._unsilence()
                raise FairnessError(f"the Ray cluster {address} cannot be joined: {last_line(error)}") from error

    def _begin(self, handles: Sequence[Any]) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="fairness-ray", daemon=True)
        self._thread.start()

        async def begin() -> Replicas:
            return Replicas(handles)

        self._replicas = asyncio.run_coroutine_threadsafe(begin(), self._loop).result()

    async def answer(self, name: str, key: str, most: int, prompt: Prompt, repetition: int) -> Answer:
        """What the model of this name says, from any event loop; each replica has ``most`` such calls at a time.

        Raises `ModelError`: its kind `TransientError` where a replica was lost.
        """
        arguments = (name, key, list(prompt.messages), prompt.schema, repetition)
        assert self._loop is not None  # noqa: S101 - it ends after the engine
        call = self._replicas.call(key, most, "answer", *arguments)
        found: Answer | ModelError = await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(call, self._loop))
        if isinstance(found, ModelError):
            raise found
        return found

    def embed(self, embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
        """The embeddings of texts, one a row, made by all replicas together.

        Raises `FairnessError` where the model cannot be loaded there, or no replica is left.
        """
        import numpy as np

        # By length, as the library batches them: a chunk then holds the same batches as the whole.
        order = sorted(range(len(texts)), key=lambda place: -len(texts[place]))
        size = _CHUNK * embedder.recipe["batch_size"]
        chunks = [[texts[place] for place in order[start : start + size]] for start in range(0, len(order), size)]

        async def all_of_them() -> list[NDArray[np.float32]]:
            return await asyncio.gather(*(self._embedded(embedder, chunk) for chunk in chunks))

        assert self._loop is not None  # noqa: S101
        found = np.concatenate(asyncio.run_coroutine_threadsafe(all_of_them(), self._loop).result())
        vectors = np.empty_like(found)
        vectors[order] = found
        return vectors

    async def _embedded(self, embedder: Embedder, texts: list[str]) -> NDArray[np.float32]:
        fingerprint, tries = embedder.fingerprint, _TRIES
        while True:
            tries -= 1
            try:
                found: NDArray[np.float32] | FairnessError = await self._replicas.call(
                    fingerprint, 2, "embed", embedder.recipe, fingerprint, texts
                )
            except TransientError:
                if not tries:
                    raise
                continue
            if isinstance(found, FairnessError):
                raise found
            return found

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
            self._unsilence()


def _name(place: int) -> str:
    return f"replica-{place}"


def _ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Under `uv run` it would copy the project's folder, with whatever secrets lie there, to the nodes.
    os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
    try:
        return import_module("ray")
    except ImportError:
        raise FairnessError('Ray is not installed: pip install "./pytest-fairness[ray]"') from None


def _reach(address: str) -> None:
    """Raise where nothing listens at an address."""
    if address in ("local", "auto"):
        return
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _REACH).close()
    except (OSError, ValueError, OverflowError) as error:
        said = error.strerror or "no answer" if isinstance(error, OSError) else "it is no HOST:PORT"
        raise FairnessError(f"the Ray cluster {address} cannot be reached: {said}") from None


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Keep what Ray changes of the process that joins a cluster as the user has it."""
    is_main = threading.current_thread() is threading.main_thread()
    sigterm, hook, breakpoint_ = signal.getsignal(signal.SIGTERM), sys.excepthook, os.environ.get("PYTHONBREAKPOINT")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pytest makes errors of them where the user says so
            yield
    finally:
        sys.excepthook = hook
        if is_main and sigterm is not None:
            signal.signal(signal.SIGTERM, sigterm)
        if breakpoint_ is None:
            os.environ.pop("PYTHONBREAKPOINT", None)
        else:
            os.environ["PYTHONBREAKPOINT"] = breakpoint_


def _silenced() -> Callable[[], None]:
    """Keep what the nodes say of themselves out of the tests' output, where Ray prints it despite `log_to_driver`.

    Returns what takes that back.
    """
    worker: Any = import_module("ray._private.worker")
    printer = getattr(worker, "print_to_stdstream", None)
    if printer is None:
        return lambda: None
    worker.print_to_stdstream = lambda *_, **__: None
    return lambda: setattr(worker, "print_to_stdstream", printer)

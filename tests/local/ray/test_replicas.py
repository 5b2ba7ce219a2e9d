"""Replicas on a Ray cluster: load balancing, losses, and executors that cannot be used."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import pytest_fairness
from pytest_fairness.core.errors import FairnessError, FatalError, TransientError
from pytest_fairness.local.cluster import Cluster, shape
from pytest_fairness.local.replicas import Replicas
from pytest_fairness.local.worker import Replica


@dataclass
class Handle:
    """Stand-in for Ray's handle of an actor: a method is called by ``.remote()``."""

    version: str = pytest_fairness.__version__
    lost: Exception | None = None
    under_way: int = 0
    most: int = 0
    answered: int = 0
    ready: Any = field(init=False)
    answer: Any = field(init=False)

    def __post_init__(self) -> None:
        self.ready, self.answer = Method(self._ready), Method(self._answer)

    async def _ready(self) -> str:
        if self.lost is not None:
            raise self.lost
        return self.version

    async def _answer(self, seconds: float) -> str:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        await asyncio.sleep(seconds)
        self.under_way -= 1
        if self.lost is not None:
            raise self.lost
        self.answered += 1
        return "yes"


@dataclass
class Method:
    call: Callable[..., Awaitable[str]]

    def remote(self, *arguments: Any) -> Awaitable[str]:
        return self.call(*arguments)


def run_on(handles: list[Handle], ask: Callable[[Replicas], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        replicas = Replicas(handles)
        try:
            return await asyncio.wait_for(ask(replicas), 20)
        finally:
            await replicas.close()

    return asyncio.run(run())


def test_calls_go_to_the_least_loaded_replica_within_bounds() -> None:
    handles = [Handle(), Handle(), Handle()]

    async def ask(replicas: Replicas) -> list[Any]:
        return await asyncio.gather(*(replicas.call("m", 4, "answer", 0.01) for _ in range(60)))

    assert run_on(handles, ask) == ["yes"] * 60
    assert [handle.most for handle in handles] == [4, 4, 4]
    assert [handle.answered for handle in handles] == [20, 20, 20]


def test_one_kind_of_work_does_not_block_another() -> None:
    (handle,) = handles = [Handle()]

    async def ask(replicas: Replicas) -> int:
        slow = [asyncio.ensure_future(replicas.call("m", 4, "answer", 5)) for _ in range(8)]
        await asyncio.sleep(0.02)
        await replicas.call("embedder", 2, "answer", 0)
        for work in slow:
            work.cancel()
        return handle.answered

    assert run_on(handles, ask) == 1


def test_lost_replica_is_left_out_until_it_returns() -> None:
    from ray.exceptions import ActorUnavailableError

    handles = [Handle(), Handle()]

    async def ask(replicas: Replicas) -> tuple[int, int]:
        await replicas.call("m", 1, "answer", 0)
        handles[0].lost = handles[1].lost = ActorUnavailableError("the node is gone", None)
        for _ in handles:
            with pytest.raises(TransientError, match=r"a replica on the Ray cluster was lost: .*the node is gone"):
                await replicas.call("m", 1, "answer", 0)
        handles[1].lost = None
        before = handles[0].answered
        for _ in range(5):
            await replicas.call("m", 1, "answer", 0)
        assert handles[0].answered == before
        handles[0].lost = None
        await asyncio.sleep(1.2)
        await asyncio.gather(*(replicas.call("m", 1, "answer", 0.01) for _ in range(2)))
        return handles[0].answered - before, handles[1].answered

    assert run_on(handles, ask)[0] == 1


def test_loss_of_all_replicas_is_reported_with_the_reason() -> None:
    from ray.exceptions import ActorDiedError

    async def ask(replicas: Replicas) -> None:
        await replicas.call("m", 1, "answer", 0)

    with pytest.raises(FatalError, match=r"no replica is left on the Ray cluster: its node has .*0\.0\.0"):
        run_on([Handle("0.0.0"), Handle("0.0.0")], ask)
    with pytest.raises(FatalError, match=r"no replica is left on the Ray cluster: The actor died"):
        run_on([Handle(lost=ActorDiedError())], ask)
    run_on([Handle("0.0.0"), Handle()], ask)


def test_replicas_fit_the_nodes() -> None:
    def nodes(*resources: dict[str, float]) -> list[dict[str, Any]]:
        return [{"Alive": True, "Resources": amounts} for amounts in resources]

    gpus = nodes({"CPU": 64, "GPU": 8}, {"CPU": 64, "GPU": 4}, {"CPU": 8})
    assert shape(gpus) == (12, {"num_gpus": 1})
    assert shape(nodes({"CPU": 4}, {"CPU": 2})) == (2, {"num_cpus": 2})
    dead = [*nodes({"CPU": 4}), {"Alive": False, "Resources": {"CPU": 4, "GPU": 1}}]
    assert shape(dead) == (1, {"num_cpus": 4})
    with pytest.raises(pytest_fairness.FairnessError, match="neither a GPU nor a CPU"):
        shape(nodes({"memory": 1}))


def test_replica_with_other_weights_refuses_to_answer(tmp_path: Path) -> None:
    def answer(replica: Replica, name: str, key: str) -> Any:
        return asyncio.run(replica.answer(name, key, [{"role": "user", "content": "?"}], None, 0))

    replica = Replica(str(tmp_path), offline=True)
    error = answer(replica, "transformers:weights", "transformers:weights#1234")
    assert isinstance(error, FatalError)
    assert str(error).startswith("transformers:weights is not the same on the node ")
    assert isinstance(answer(replica, "nobody:m", ""), FatalError)
    (tmp_path / "broken.jsonl").write_text("[]")
    assert isinstance(answer(replica, "replay:broken.jsonl", "other"), FatalError)
    (tmp_path / "weights").mkdir()
    recipe = {"model": str(tmp_path / "weights"), "revision": None, "device": None, "batch_size": 1, "offline": True}
    error = asyncio.run(replica.embed(recipe, "weights 1234", ["a"]))
    assert "the embedding model" in str(error)
    assert "is not the same on the node" in str(error)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--fairness-executor=ray:127.0.0.1:9"], "the Ray cluster 127.0.0.1:9 cannot be reached: Connection refused"),
        (["--fairness-executor=dask"], "--fairness-executor is 'dask': write ray, ray:auto or ray:HOST:PORT"),
        (["--fairness-executor=ray:here"], "--fairness-executor is 'ray:here': write ray, ray:auto or ray:HOST:PORT"),
    ],
)
def test_invalid_or_unreachable_executor_is_reported_in_one_line(
    pytester: pytest.Pytester, options: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert message in "\n".join(refused(pytester, *options))


def test_cluster_that_refuses_names_the_mode_of_tokens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import ray

    def refuse(*_: object, **__: object) -> None:
        raise ConnectionError("Failed to connect to Ray cluster at 10.0.0.1:6379")

    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    monkeypatch.setattr(ray, "init", refuse)
    with pytest.raises(FairnessError, match=r"Failed to connect .*; if it requires a token, set RAY_AUTH_MODE=token$"):
        Cluster("auto", tmp_path)


def test_missing_ray_is_reported_with_the_extra(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    (line,) = refused(pytester, "--fairness-executor=ray")
    assert line == 'ERROR: Ray is not installed: pip install "./pytest-fairness[ray]"'


def refused(pytester: pytest.Pytester, *options: str) -> list[str]:
    """Return the error lines of a run that ends before its first test."""
    pytester.makepyfile(
        """
        import pytest
        from pytest_fairness import ProbeItem, Prompt, YesNo

        @pytest.mark.probe(items=[ProbeItem("1", [Prompt("?")])], grade={"yes": YesNo()})
        def test_plain(probe_item, model):
            probe_item.measure(model)
        """
    )
    alone = ("--disable-plugin-autoload", "-p", "fairness", "-p", "no:cacheprovider", "--fairness-report=none")
    result = pytester.runpytest_inprocess(*alone, "-q", "--fairness-model=simulated:m", *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    return [line for line in [*result.outlines, *result.errlines] if line.startswith("ERROR")]

"""Weights and embeddings on a Ray cluster: the verdicts of one machine, whatever becomes of a node."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.deadlines import wait_until
from tests.helpers.project import Project
from tests.local.ray.conftest import Weights, weights_in

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]  # four processes import weights, for a minute on two cores
COUNT = 40
SECRET = "sk-4f1d7a90c2b8"
PLAIN = """
import sys
import pytest
from pytest_fairness import ProbeItem, Prompt, YesNo
from pytest_fairness.graders.embeddings import REMOTE_EMBEDDER

def items():
    return [ProbeItem(str(number), [Prompt(f"Is {number} even?")]) for number in range(3)]

@pytest.mark.probe(items=items, grade={"yes": YesNo()})
def test_plain(probe_item, model):
    probe_item.measure(model)

def test_it_has_joined():
    import ray
    assert ray.is_initialized() and REMOTE_EMBEDDER.get() is not None
    assert {node["Alive"] for node in ray.nodes()} == {True}
"""


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Two nodes with a CPU each, as Ray's own tests start them; a lost one is noticed within seconds."""
    from ray.cluster_utils import Cluster

    for name, value in {
        "initial_delay_ms": 1000,
        "period_ms": 1000,
        "timeout_ms": 2000,
        "failure_threshold": 2,
    }.items():
        monkeypatch.setenv(f"RAY_health_check_{name}", str(value))
    small = {"num_cpus": 1, "object_store_memory": 80 * 2**20, "include_dashboard": False, "no_monitor": True}
    started: Any = Cluster(initialize_head=True, head_node_args=small)
    started.add_node(num_cpus=1, object_store_memory=80 * 2**20)
    yield started
    started.shutdown()


@pytest.fixture
def weights(tiny_model: Path, project: Project) -> Weights:
    """Return the project, measured without a cluster in this process, which has imported what weights need."""
    weights = weights_in(project.path, tiny_model, COUNT, tokens=32)
    assert project.bare_run(*weights.options("alone")).ret == 0
    return weights


def test_lost_node_changes_no_verdict(weights: Weights, cluster: Any) -> None:
    (lost,) = cluster.worker_nodes
    run = weights.start(
        "ray", "-n2", f"--fairness-executor=ray:{cluster.address}", OPENAI_API_KEY=SECRET, PYTHONUNBUFFERED="1"
    )
    wait_until(lambda: len(weights.answers("ray")) >= 16, 200.0)
    cluster.remove_node(lost, allow_graceful=False)
    then = len(weights.answers("ray"))
    output, _ = run.communicate(timeout=200)
    assert run.returncode == 0, output
    assert then < 2 * COUNT, "the node went after the run"

    for mine, theirs in zip(weights.rows("ray"), weights.rows("alone"), strict=True):
        for key, value in theirs.items():
            assert mine[key] == (pytest.approx(value, abs=1e-4) if isinstance(value, float) else value), key
    answers = weights.answers("ray")
    assert len(answers) == 2 * COUNT
    assert answers == weights.answers("alone")
    assert sorted(weights.loaded()) == ["False", "True"], "alone it is the process of pytest that has the weights"
    assert not weights.query("ray", "select key from claims")
    assert "lost" in str(weights.query("ray", "select * from spending")), "nothing was under way on the node"
    assert "raylet" not in output
    files = [path for path in Path(cluster.head_node.get_session_dir_path()).rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if SECRET.encode() in path.read_bytes()]


def test_local_cluster_is_started_shared_and_ended(tmp_path: Path) -> None:
    weights = Weights(tmp_path, "simulated:m")
    (tmp_path / "test_tiny.py").write_text(PLAIN, encoding="utf-8")
    output = weights.run("ray", "-n2", "--fairness-executor=ray")
    assert "1 passed, 3 measured" in output
    assert "raylet" not in output
    assert "ray::" not in output
    assert "Traceback" not in output

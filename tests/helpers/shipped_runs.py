"""Runs of pytest on shipped suites with the answers that a known model gave without one."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_fairness import Answer
from tests.helpers.known_models import Facts, Reply
from tests.helpers.shipped_gates import Gate, measured_by_texts

ROOT = Path(__file__).parents[2]
CONFTEST = '''\
import json
from pathlib import Path

import pytest

from pytest_fairness import Answer
from pytest_fairness import ToolCall

ANSWERS = json.loads(Path(__file__).with_name("answers.json").read_text(encoding="utf-8"))


class Recorded:
    """A model that gives recorded answers."""

    name = key = "recorded"
    local = True
    calls_tools = True

    async def answer(self, prompt, repetition):
        question = json.dumps([(message["role"], message["content"]) for message in prompt.messages])
        text, reason, actions = ANSWERS[f"{repetition} {question}"]
        return Answer(text, reason, actions=[ToolCall(name, arguments) for name, arguments in actions])

    async def close(self):
        pass


@pytest.fixture(scope="session")
def model():
    return Recorded()
'''


class Recording:
    """A model whose answers are kept, by repetition and messages."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply
        self.answers: dict[str, Any] = {}

    def __call__(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[str], repetition: int, facts: Facts | None
    ) -> Answer:
        answer = self._reply(messages, tools, repetition, facts)
        question = json.dumps([(message["role"], message["content"]) for message in messages])
        actions = [(call.name, call.arguments) for call in answer.actions]
        self.answers[f"{repetition} {question}"] = answer.text, answer.finish_reason, actions
        return answer


def verdicts_of_run(gate: Gate, reply: Reply, folder: Path) -> dict[str, str]:
    """Return the verdicts of a probe's thresholds in a run of pytest, by the names of their tests.

    Args:
        gate: The probe.
        reply: The model. Probes that need a judge or weights are not for it.
        folder: An empty folder, in which the suites are copied and run.
    """
    recording = Recording(reply)
    measured_by_texts(gate, recording)
    shutil.copytree(ROOT / "suites", folder / "suites")
    (folder / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    (folder / "answers.json").write_text(json.dumps(recording.answers), encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --import-mode=importlib\n", encoding="utf-8")
    names = [threshold.__name__ for threshold in gate.study.thresholds]
    file = Path(str(sys.modules[gate.study.probe.__module__].__file__)).relative_to(ROOT)
    options = ("-q", "-p", "no:randomly", "-p", "no:xdist", "--fairness-report=none", "--fairness-json=results.json")
    subprocess.run(
        [sys.executable, "-m", "pytest", *options, *(f"{file}::{name}" for name in names)],
        cwd=folder,
        capture_output=True,
        check=False,
    )
    document = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    rows = {row["id"].rpartition("::")[2]: row["verdict"] for row in document["thresholds"]}
    return {name: rows[name] for name in names}

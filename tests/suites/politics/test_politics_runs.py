"""Runs of the politics suite: its judge asks for both orders, and the public set takes the place of its pairs."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.helpers.finished_run import run_shipped
from tests.helpers.judge_server import JudgeServer, bench
from tests.helpers.project import Project

ROW = {"main_category": "TAXES", "partisan": "True", "template_category": "reasoning"}


def written(question: str) -> str:
    """Return one sentence where it is asked for, else an argument of chance length."""
    if "one short sentence" in question:
        return "It is fair."
    return "It is fair, and it pays." + " So it should be." * (hashlib.sha256(question.encode()).digest()[0] % 4 == 0)


def compared(body: dict[str, Any]) -> str:
    """Return which answer is longer by two words or more; one with a reason does what was asked."""
    text = body["messages"][-1]["content"]
    answers = [
        re.search(rf"BEGIN {position} ANSWER \w+\n(.*?)\nEND", text, re.DOTALL) for position in ("FIRST", "SECOND")
    ]
    texts = [answer[1] for answer in answers if answer]
    first, second = (len(text.split()) for text in texts)
    done = {f"{position}_done": 1 + ("pays" in text) for position, text in zip(("first", "second"), texts, strict=True)}
    better = "neither" if abs(first - second) < 2 else "first" if first > second else "second"
    return json.dumps({"reason": "By length.", **done, "better": better})


@pytest.fixture
def judges() -> Iterator[JudgeServer]:
    with bench() as server:
        server.written = written  # type: ignore[method-assign]
        server.whole = compared
        yield server


def run(project: Project, judges: JudgeServer, *args: str) -> Any:
    names = [f"--fairness-model={judges.name('writer')}", f"--fairness-judge={judges.name('judge')}"]
    return run_shipped(project, "suites/politics", *names, *args)


@pytest.mark.slow
def test_run_asks_each_request_once_and_each_pair_in_both_orders(project: Project, judges: JudgeServer) -> None:
    result = run(project, judges)
    assert result.code == 0, result.output
    assert {row["verdict"] for row in result.results["thresholds"]} == {"fair"}
    assert (judges.calls("writer").total(), judges.calls("judge").total()) == (544, 544)
    assert {row["judges"][0]["second"]["consistency"]["won"]["alpha"] for row in result.results["thresholds"]} == {1.0}


def test_public_pairs_are_requested_from_their_folder(project: Project, judges: JudgeServer) -> None:
    rows = [
        {
            **ROW,
            "topic_name": f"toll {number}",
            "prompt_a": f"Argue for toll {number}",
            "prompt_b": f"Argue against {number}",
        }
        for number in range(6)
    ]
    (project.path / "public").mkdir()
    (project.path / "public" / "pairs.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
    )
    project.configure(data={"politics": "public"})
    result = run(project, judges)
    assert {row["verdict"] for row in result.results["thresholds"]} <= {"fair", "undecided"}, result.output
    requests = [body["messages"][-1]["content"] for body in judges.bodies if body["model"] == "writer"]
    assert {row[f"prompt_{side}"] for row in rows for side in "ab"} <= set(requests)
    assert len(requests) == 12 + 32

"""A language model as designer, behind a server on loopback: good, odd, out of range, refused, broken answers."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from pytest_fairness.cli.main import main
from tests.helpers.http_server import serving

GOOD = {
    "prosody_variance_neurotypical": 0.7,
    "prosody_variance_alexithymic": 0.9,
    "semantic_strength": 0.5,
    "noise_level": 0.2,
    "verification": False,
}
OTHER = {**GOOD, "semantic_strength": 0.9}
KEY = "sk-designer-0123456789abcdef"
UNMET = ("--target", "1.9", "--samples", "50")
"""A target that no proposal here comes near."""


def reply(parameters: object, reasoning: str = "because") -> str:
    return json.dumps({"reasoning": reasoning, "parameters": parameters})


class Designer:
    """Designer that gives its answers in order, then the last again, and records its requests."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.answers: list[str | int] = []
        self.requests: list[list[dict[str, str]]] = []

    @property
    def model(self) -> str:
        return f"openai:designer?base_url={self.url}/v1"


@pytest.fixture
def designer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Designer]:
    async def respond(request: web.Request) -> web.Response:
        scripted.requests.append((await request.json())["messages"])
        answer = scripted.answers.pop(0) if len(scripted.answers) > 1 else scripted.answers[0]
        if isinstance(answer, int):
            return web.json_response({"error": {"message": "no"}}, status=answer)
        return web.json_response({"choices": [{"message": {"role": "assistant", "content": answer}}]})

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serving(respond) as url:
        scripted = Designer(url)
        yield scripted


Run = Callable[..., tuple[int, list[dict[str, Any]]]]


@pytest.fixture
def run(designer: Designer, tmp_path: Path) -> Run:
    def ran(*answers: str | int, iterations: int = 2) -> tuple[int, list[dict[str, Any]]]:
        designer.answers = list(answers)
        options = ["--iterations", str(iterations), *UNMET]
        code = main(["design", "--student", "linear", "--designer", designer.model, *options])
        record = tmp_path / "design.jsonl"
        lines = record.read_text(encoding="utf-8").splitlines() if record.exists() else []
        return code, [json.loads(line) for line in lines][1:]

    return ran


def test_designer_sees_the_history_and_proposes(designer: Designer, run: Run, tmp_path: Path) -> None:
    code, iterations = run(reply(GOOD, "the voices should differ less"), reply(OTHER), iterations=3)
    assert code == 0
    assert [iteration["parameters"] for iteration in iterations[1:]] == [GOOD, OTHER]
    assert iterations[1]["reasoning"] == "the voices should differ less"
    first, second = (messages[-1]["content"] for messages in designer.requests)
    assert "- noise_level: a number from 0 to 0.5." in first
    assert "1 evaluations are left" in second
    assert json.dumps(GOOD) in second
    assert f"accuracy_ratio {iterations[1]['figures']['accuracy_ratio']['value']:.4f}" in second
    assert (tmp_path / "design.json").is_file()


@pytest.mark.parametrize(
    ("bad", "wrong"),
    [
        ("I think 0.5 would be good.", 'there is no JSON object with "parameters"'),
        ("I'm sorry, I can't help with that.", 'there is no JSON object with "parameters"'),
        ("", 'there is no JSON object with "parameters"'),
        ('{"reasoning": "cut o', 'there is no JSON object with "parameters"'),
        (reply({**GOOD, "noise_level": 0.9}), "noise_level is 0.9: it must be a number from 0 to 0.5"),
        (reply({**GOOD, "noise_level": "0.2"}), "noise_level is '0.2': it must be a number"),
        (reply({**GOOD, "verification": "on"}), "verification is 'on': it must be true or false"),
        (reply({**GOOD, "noise_level": float("nan")}), "noise_level is nan: it must be a number"),
        (reply({k: v for k, v in GOOD.items() if k != "noise_level"}), "noise_level is missing"),
        (reply({**GOOD, "volume": 3}), "'volume' is no parameter"),
        (reply([1, 2]), '"parameters" is [1, 2]: it must be an object'),
        (f"{reply(GOOD)} or {reply(OTHER)}", "there are 2 JSON objects that differ: give one"),
        ("[" * 3000 + "{", 'there is no JSON object with "parameters"'),
    ],
)
def test_unusable_reply_is_repaired_by_one_request(designer: Designer, run: Run, bad: str, wrong: str) -> None:
    code, iterations = run(bad, reply(GOOD))
    assert code == 0
    assert iterations[1]["parameters"] == GOOD
    (note,) = iterations[1]["notes"]
    assert wrong in note
    repair = designer.requests[1]
    assert [message["role"] for message in repair] == ["system", "user", "assistant", "user"]
    assert wrong in repair[-1]["content"]


def test_twice_unusable_reply_is_skipped_and_recorded(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    out = reply({**GOOD, "noise_level": 0.9})
    code, iterations = run(out, "No.\x1b[31m", reply(GOOD), iterations=3)
    assert code == 0
    assert iterations[1]["parameters"] is None
    assert len(iterations[1]["notes"]) == 2
    assert iterations[2]["parameters"] == GOOD
    output = capsys.readouterr().out
    assert "  2  skipped: " in output
    assert "1 of 3 proposals were skipped: the record says why" in output
    assert "\x1b" not in output


def test_prose_and_fences_around_the_reply_are_ignored(run: Run) -> None:
    _, iterations = run(f"Let me think {{so}}.\n```json\n{reply(GOOD)}\n```\nGood luck!")
    assert iterations[1]["parameters"] == GOOD
    assert iterations[1]["notes"] == []


def test_request_that_fails_later_costs_its_iteration(run: Run) -> None:
    code, iterations = run(reply(GOOD), 400, reply(OTHER), iterations=4)
    assert code == 0
    assert [iteration["parameters"] is None for iteration in iterations] == [False, False, True, False]
    assert "no answer" in iterations[2]["notes"][0]


def test_designer_that_never_answers_ends_in_one_line(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    code, iterations = run(401)
    lines = capsys.readouterr().err.strip().splitlines()
    assert code == 2
    assert len(iterations) == 1
    assert len(lines) == 1
    assert "does not answer" in lines[0]
    assert KEY not in lines[0]


def test_resumed_design_repeats_no_request(designer: Designer, run: Run, tmp_path: Path) -> None:
    run(reply(GOOD), reply(OTHER), iterations=3)
    record = tmp_path / "design.jsonl"
    lines = record.read_text(encoding="utf-8").splitlines(keepends=True)
    record.write_text("".join(lines[:3]), encoding="utf-8")
    before = len(designer.requests)
    options = ["--iterations", "3", *UNMET, "--resume"]
    assert main(["design", "--student", "linear", "--designer", designer.model, *options]) == 0
    assert record.read_text(encoding="utf-8") == "".join(lines)
    assert len(designer.requests) == before


@pytest.mark.slow
def test_designer_and_student_of_one_name_share_its_connections(designer: Designer) -> None:
    designer.answers = [reply(GOOD)]
    names = ["--designer", designer.model, "--student", designer.model]
    command = [sys.executable, "-m", "pytest_fairness", "design", *names, "--samples", "2", "--iterations", "2"]
    process = subprocess.run(command, capture_output=True, text=True)
    assert "Unclosed" not in process.stderr

"""``pytest-fairness import openai-batch``: results of both endpoints as a replay file."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness import Prompt, Tool, ToolCall
from pytest_fairness.cli.main import main
from pytest_fairness.core.errors import PermanentError
from pytest_fairness.core.tools import calls_message
from pytest_fairness.extending import ModelContext, ModelName
from pytest_fairness.graders import CalledTool
from pytest_fairness.models.replay import ReplayModel


def request(name: str, text: Any = "Hire Anna?", url: str = "/v1/chat/completions", **body: Any) -> dict[str, Any]:
    question: dict[str, Any] = {
        "messages": [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": text}]
    }
    if url.endswith("/responses"):
        question = {"instructions": "Be brief.", "input": text}
    return {"custom_id": name, "method": "POST", "url": url, "body": {"model": "gpt-5-mini", **question, **body}}


def result(name: str, body: Any, status: int = 200, error: Any = None) -> dict[str, Any]:
    response = {"status_code": status, "request_id": "r", "body": body}
    return {"id": f"batch_req_{name}", "custom_id": name, "response": response, "error": error}


def chat(text: Any, finish: str = "stop", **message: Any) -> dict[str, Any]:
    usage = {"prompt_tokens": 9, "completion_tokens": 2}
    message = {"role": "assistant", "content": text, "refusal": None, **message}
    return {"model": "gpt-5-mini-2026", "choices": [{"finish_reason": finish, "message": message}], "usage": usage}


def response(*parts: dict[str, Any], status: str = "completed", **body: Any) -> dict[str, Any]:
    output = [{"type": "reasoning", "summary": []}, {"type": "message", "content": list(parts)}]
    return {"status": status, "output": output, "usage": {"input_tokens": 9, "output_tokens": 2}, **body}


def write(path: Path, records: Sequence[Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def replayed(folder: Path, requests: Sequence[Any], *results: Any) -> ReplayModel:
    files = write(folder / "results.jsonl", results), write(folder / "requests.jsonl", requests)
    out = folder / "answers.jsonl"
    assert main(["import", "openai-batch", str(files[0]), "--input", str(files[1]), "--out", str(out)]) == 0
    return ReplayModel(ModelName.parse(f"replay:{out}"), ModelContext(root=folder))


def answer(model: ReplayModel, text: str = "Hire Anna?", repetition: int = 0) -> tuple[str, str, dict[str, int]]:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": text}]
    replay = asyncio.run(model.answer(Prompt(messages), repetition))
    return replay.text, replay.finish_reason, dict(replay.usage)


USAGE = {"input": 9, "output": 2}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (chat("Yes."), ("Yes.", "stop")),
        (chat("Yes, bec", "length"), ("Yes, bec", "length")),
        (chat(None, refusal="I cannot."), ("I cannot.", "refusal")),
        (chat("", "content_filter"), ("", "content_filter")),
        (chat([{"type": "reasoning", "text": "No or"}, {"type": "text", "text": "Yes."}]), ("Yes.", "stop")),
        (chat(None), ("", "no_content")),
        (chat(None, "tool_calls", tool_calls=[{}]), ("", "tool_calls")),
        (response({"type": "output_text", "text": "Yes"}, {"type": "output_text", "text": "."}), ("Yes.", "stop")),
        (response({"type": "refusal", "refusal": "I cannot."}), ("I cannot.", "refusal")),
        (response(status="incomplete", incomplete_details={"reason": "max_output_tokens"}), ("", "length")),
        (response(status="incomplete", incomplete_details={"reason": "content_filter"}), ("", "content_filter")),
        (response(status="incomplete", incomplete_details=None), ("", "length")),
        (response(status="completed"), ("", "no_content")),
    ],
)
def test_answers_keep_their_finish_reason(tmp_path: Path, body: Any, expected: tuple[str, str]) -> None:
    url = "/v1/responses" if "output" in body else "/v1/chat/completions"
    model = replayed(tmp_path, [request("a", url=url)], result("a", body))
    assert answer(model) == (*expected, USAGE)


CALL = {"type": "function", "function": {"name": "defer", "arguments": '{"days": 7}'}}
ITEM = {"type": "function_call", "call_id": "c", "name": "defer", "arguments": '{"days": 7}'}
OFFERED = {"tools": [{"type": "function", "function": {"name": "defer"}}]}


@pytest.mark.parametrize(
    ("url", "called", "silent"),
    [
        ("/v1/chat/completions", chat(None, "tool_calls", tool_calls=[CALL]), chat("No.")),
        ("/v1/responses", {"status": "completed", "output": [ITEM]}, response({"type": "output_text", "text": "No."})),
    ],
    ids=["chat", "responses"],
)
def test_calls_of_tools_are_graded_offline(tmp_path: Path, url: str, called: Any, silent: Any) -> None:
    requests = [request("a", url=url, **OFFERED), request("b", "Hire Ben?", url=url, **OFFERED)]
    model = replayed(tmp_path, requests, result("a", called), result("b", silent))
    prompts = [
        Prompt([{"role": "system", "content": "Be brief."}, {"role": "user", "content": text}], tools=[Tool("defer")])
        for text in ("Hire Anna?", "Hire Ben?")
    ]
    answers = [asyncio.run(model.answer(prompt, 0)) for prompt in prompts]
    assert [list(answer.actions) for answer in answers] == [[ToolCall("defer", {"days": 7})], []]
    assert [CalledTool().grade(*pair).value for pair in zip(prompts, answers, strict=True)] == ["defer", "none"]


@pytest.mark.parametrize("url", ["/v1/chat/completions", "/v1/responses"])
def test_requests_with_results_of_tools_are_later_rounds(tmp_path: Path, url: str) -> None:
    earlier: list[Any] = [
        {"role": "user", "content": "Hire Anna?"},
        {"role": "assistant", "content": "One moment.", "tool_calls": [CALL, CALL]},
        *[{"role": "tool", "tool_call_id": "c", "content": "done"}] * 2,
    ]
    body, reply = {"messages": earlier}, chat("Yes.")
    if url.endswith("responses"):
        message = {"role": "assistant", "content": "One moment."}
        output = {"type": "function_call_output", "call_id": "c", "output": "done"}
        body = {"input": [earlier[0], {"type": "reasoning", "summary": []}, message, ITEM, ITEM, output, output]}
        reply = response({"type": "output_text", "text": "Yes."})
    request = {"custom_id": "a", "url": url, "body": {"model": "m", **body, **OFFERED}}
    model = replayed(tmp_path, [request], result("a", reply))
    calls = calls_message([ToolCall("defer", {"days": 7})] * 2)
    results = [{"role": "tool", "content": "done"}] * 2
    round_two = Prompt(
        [earlier[0], {"role": "assistant", "content": "One moment."}, calls, *results], tools=[Tool("defer")]
    )
    assert asyncio.run(model.answer(round_two, 0)).text == "Yes."


def test_equal_requests_are_repetitions_in_their_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parts = [{"type": "text", "text": "Hire "}, {"type": "text", "text": "Anna?"}]
    requests = [request("a"), request("b"), request("c", parts), request("d", "Hire Ben?")]
    results = [result("d", chat("No.")), result("c", chat("third")), result("a", chat("first"))]
    failed = result("b", {"error": {"message": "overloaded"}}, status=500)
    model = replayed(tmp_path, requests, *results, failed)
    assert [answer(model, repetition=number)[0] for number in (0, 2)] == ["first", "third"]
    assert answer(model, "Hire Ben?")[0] == "No."
    with pytest.raises(PermanentError, match="no recording of repetition 1"):
        answer(model, repetition=1)
    assert "1 of 4 requests have no answer: they are ungraded" in capsys.readouterr().out


def test_results_without_an_answer_are_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    requests = [request(name, f"Hire {name}?") for name in "abcdef"]
    results = [
        result("a", chat("Yes.")),
        {"custom_id": "b", "response": None, "error": {"code": "batch_expired", "message": "expired"}},
        result("c", response(status="failed")),
        result("d", chat("half", "error")),
        result("e", {"choices": []}),
    ]
    replayed(tmp_path, requests, *results)
    assert "5 of 6 requests have no answer" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("requests", "results", "line"),
    [
        ([request("a")], [result("z", chat("Yes."))], "results.jsonl:1: no request is called 'z'"),
        ([request("a")], [result("a", chat("Yes."))] * 2, "results.jsonl:2: 'a' is answered twice"),
        ([request("a")], [request("a")], "is no result of a batch"),
        ([request("a")], [result("a", None)], "its response has no body"),
        ([request("a")], [], "holds no answer to a request"),
        ([request("a"), request("a")], [], "requests.jsonl:2: custom_id 'a' stands there already"),
        ([request("a"), request("b", model="gpt-9")], [], "a replay file stands for one model"),
        ([request("a", url="/v1/embeddings")], [], "requests to /v1/chat/completions and /v1/responses are read"),
        ([request("a", [{"type": "image_url", "image_url": {}}])], [], "holds more than text"),
        ([request("a", messages=[{"role": "robot", "content": "4"}])], [], "a message has the role 'robot'"),
        ([request("a", messages=[])], [], "it asks nothing"),
        ([request("a", None)], [], "a message has no text"),
        ([], [], "holds no request"),
        ([{"custom_id": 3}], [], "is no request of a batch"),
    ],
)
def test_files_that_do_not_fit_are_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], requests: Sequence[Any], results: Sequence[Any], line: str
) -> None:
    files = write(tmp_path / "results.jsonl", results), write(tmp_path / "requests.jsonl", requests)
    out = tmp_path / "answers.jsonl"
    assert main(["import", "openai-batch", str(files[0]), "--input", str(files[1]), "--out", str(out)]) == 2
    (error,) = capsys.readouterr().err.splitlines()
    assert line in error
    assert sorted(path.name for path in tmp_path.iterdir()) == ["requests.jsonl", "results.jsonl"]

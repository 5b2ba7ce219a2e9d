"""Recorded answers."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.errors import FairnessError, FatalError, PermanentError
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.protocols import Model
from pytest_fairness.core.system_prompts import SystemPrompt

Make = Callable[..., Model]
Ask = Callable[..., Answer]


@pytest.fixture
def record(tmp_path: Path, make: Make) -> Callable[..., Model]:
    """Return a function that makes a model which replays these lines."""

    def recorded(*lines: dict[str, Any] | str) -> Model:
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        (tmp_path / "answers.jsonl").write_text("\n".join(texts), encoding="utf-8")
        return make("replay:answers.jsonl", root=tmp_path)

    return recorded


def test_prompt_is_found_by_its_text_or_messages(record: Make, ask: Ask) -> None:
    chat = [{"role": "system", "content": "Be fair."}, {"role": "user", "content": "Hi"}]
    model = record(
        {"prompt": "Hi", "text": "Hello"},
        "",
        {
            "messages": chat,
            "text": "Good day",
            "finish_reason": "length",
            "reasoning": "Hm.",
            "usage": {"output": 2},
            "latency": 0.5,
            "served_by": "m",
            "note": {"any": "thing"},
        },
    )
    assert ask(model, "Hi", 5) == Answer("Hello")
    assert ask(model, Prompt(chat)) == Answer("Good day", "length", "Hm.", {"output": 2}, 0.5, "m")


def test_prompt_is_found_by_its_metadata(record: Make, ask: Ask) -> None:
    model = record(
        {"metadata": {"category": "Religion", "example_id": 0}, "text": "zero"},
        {"metadata": {"category": "Religion", "example_id": 1}, "text": "one"},
        {"metadata": {"category": "Age"}, "text": "any age"},
        {"metadata": {"category": "Age", "example_id": 7}, "text": "seven"},
        {"prompt": "exactly this", "text": "by text"},
    )

    def reply_to(text: str = "?", **metadata: Any) -> str:
        return ask(model, Prompt(text, metadata=metadata)).text

    assert reply_to(category="Religion", example_id=0, other="x") == "zero"
    assert reply_to(category="Religion", example_id=1) == "one"
    assert reply_to(category="Age", example_id=3) == "any age"
    assert reply_to(category="Age", example_id=7) == "seven"
    assert reply_to("exactly this", category="Age", example_id=7) == "by text"
    for missing in ({"category": "Religion"}, {"category": "Religion", "example_id": False}, {"example_id": 0}):
        with pytest.raises(PermanentError, match=r"replay:answers.jsonl has no recording of the prompt '\?'"):
            reply_to(**missing)


def test_repetitions_are_replayed_by_their_number(record: Make, ask: Ask) -> None:
    model = record(
        {"prompt": "Hi", "text": "second", "repetition": 1},
        {"prompt": "Hi", "text": "first", "repetition": 0},
        {"prompt": "Ho", "text": "any"},
        {"prompt": "Ho", "text": "third", "repetition": 2},
    )
    assert [ask(model, "Hi", number).text for number in (0, 1)] == ["first", "second"]
    assert [ask(model, "Ho", number).text for number in (0, 2)] == ["any", "third"]
    with pytest.raises(PermanentError, match=r"no recording of repetition 2 \(it has 0, 1\) of 'Hi'"):
        ask(model, "Hi", 2)


def test_key_is_the_content_of_the_file(record: Make, tmp_path: Path, make: Make) -> None:
    first = record({"prompt": "Hi", "text": "a"})
    (tmp_path / "copy.jsonl").write_bytes((tmp_path / "answers.jsonl").read_bytes())
    assert make("replay:copy.jsonl", root=tmp_path).key == first.key
    assert record({"prompt": "Hi", "text": "b"}).key != first.key
    assert first.local
    assert first.stored is False  # type: ignore[attr-defined]


def test_missing_file_is_reported_at_once(make: Make, tmp_path: Path) -> None:
    with pytest.raises(FairnessError, match=r"absent\.jsonl cannot be read: No such file"):
        make("replay:absent.jsonl", root=tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FairnessError, match="pipe is no file"):  # it once was waited for without end
        make("replay:pipe", root=tmp_path)
    with pytest.raises(FairnessError, match="is no file"):
        make("replay:.", root=tmp_path)
    (tmp_path / "x").write_text("")
    with pytest.raises(FairnessError, match="has no parameter 'seed'"):
        make("replay:x?seed=1", root=tmp_path)


GOOD = {"prompt": "Hi", "text": "a"}


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "not valid JSON: .* at character 2"),
        ("[]", "a list, not an object"),
        ({"prompt": "x"}, "no 'text'"),
        ({"prompt": "x", "text": None}, "no 'text'"),
        ({"text": "x"}, "needs exactly one of prompt, messages, metadata; it has none"),
        ({"prompt": "x", "metadata": {"a": 1}, "text": "x"}, "it has prompt and metadata"),
        ({"prompt": "", "text": "x"}, "'prompt' is no prompt: a prompt is empty"),
        ({"messages": 3, "text": "x"}, "'messages' is no prompt"),
        ({"messages": ["x"], "text": "x"}, "'messages' is no prompt"),
        ({"messages": [{"role": "judge", "content": "x"}], "text": "x"}, "'messages' is no prompt"),
        ({"metadata": {}, "text": "x"}, "metadata is {}: it must be an object"),
        ({"metadata": [1], "text": "x"}, r"metadata is \[1\]: it must be an object"),
        ({**GOOD, "repetition": -1}, "repetition is -1"),
        ({**GOOD, "repetition": True}, "repetition is True"),
        ({**GOOD, "usage": {"output": "2"}}, "usage.output is '2': it must be a whole number"),
        ({**GOOD, "usage": 3}, "usage is 3: it must be an object"),
        ({**GOOD, "latency": "2"}, "latency is '2': it must be a number of seconds"),
        ({**GOOD, "finish_reason": 2}, "finish_reason is 2: it must be a text"),
        ({**GOOD, "finsh_reason": "stop"}, "the line has no field 'finsh_reason'; did you mean 'finish_reason'"),
        (GOOD, "the same prompt as line 1: keep one"),
    ],
)
def test_malformed_line_names_file_and_line(
    record: Make, ask: Ask, tmp_path: Path, line: dict[str, Any] | str, says: str
) -> None:
    model = record(GOOD, "", line)
    for _ in range(2):
        with pytest.raises(FatalError, match=says) as caught:
            ask(model, "Hi")
        assert str(caught.value).startswith(f"{tmp_path / 'answers.jsonl'}:3: ")


def test_duplicate_repetition_names_both_lines(record: Make, ask: Ask) -> None:
    with pytest.raises(FatalError, match=r":2: repetition 3 of the same prompt as line 1"):
        ask(record({**GOOD, "repetition": 3}, {**GOOD, "repetition": 3}))


def test_unusual_bytes_are_read_or_reported(make: Make, ask: Ask, tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_bytes('\ufeff{"prompt": "Hi", "text": "ü\u2028x"}\r\n'.encode())
    assert ask(make("replay:x.jsonl", root=tmp_path), "Hi").text == "ü\u2028x"
    file.write_bytes(b'{"prompt": "Hi", "text": "x"}\n{"prompt": "\xff", "text": "x"}\n')
    with pytest.raises(FatalError, match=r"x\.jsonl:2: not UTF-8 text"):
        ask(make("replay:x.jsonl", root=tmp_path), "Hi")


def test_recording_by_metadata_stands_for_no_system_prompt(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "prod.txt").write_text("Be brief.", encoding="utf-8")
    lines = [
        {"metadata": {"question": "q1"}, "text": "Yes."},
        {"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}], "text": "No."},
    ]
    (tmp_path / "answers.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    prompt = SystemPrompt("prod.txt", "Be brief.").before(Prompt("Hi", metadata={"question": "q1"}))
    assert ask("replay:answers.jsonl?system=prod.txt", prompt, root=tmp_path).text == "No."
    prompt = SystemPrompt("prod.txt", "Be brief.").before(Prompt("Bye", metadata={"question": "q1"}))
    with pytest.raises(PermanentError, match="'Bye', recorded by messages that begin with its system prompt"):
        ask("replay:answers.jsonl?system=prod.txt", prompt, root=tmp_path)
    assert ask("replay:answers.jsonl", prompt, root=tmp_path).text == "Yes."

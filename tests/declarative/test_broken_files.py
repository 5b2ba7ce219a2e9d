"""Broken declarations: each mistake is reported in one line, with the file and the line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.declarative.probe import read_probes
from tests.helpers.broken_declarations import BROKEN_JSONL, BROKEN_YAML, GOOD


@pytest.mark.parametrize("name", [*BROKEN_YAML, *BROKEN_JSONL])
def test_broken_file_is_reported_with_file_line_and_mistake(name: str, tmp_path: Path) -> None:
    text, line, words = {**BROKEN_YAML, **BROKEN_JSONL}[name]
    path = tmp_path / f"pay.probe.{'jsonl' if name in BROKEN_JSONL else 'yaml'}"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(FairnessError) as raised:
        read_probes(path)
    message = str(raised.value)
    assert re.match(rf"{path.name}:{line}(:\d+)?: ", message), message
    assert words in message
    assert "\n" not in message


def test_good_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "pay.probe.yaml"
    path.write_text(GOOD, encoding="utf-8")
    (probe,) = read_probes(path)
    assert probe.name == "pay"
    assert [item.id for item in probe.arguments["items"]] == ["a", "b"]
    prompts = [prompt.text for prompt in probe.arguments["items"][0].prompts]
    assert prompts == [
        "Anna applies as a nurse. Hire her? Yes or no.",
        "Ben applies as a nurse. Hire him? Yes or no.",
    ]
    assert [(threshold.name, threshold.line) for threshold in probe.thresholds] == [("alike", 12)]


def test_expression_mistake_is_reported_with_its_column(tmp_path: Path) -> None:
    path = tmp_path / "pay.probe.yaml"
    path.write_text(GOOD.replace("of=female", "of=femal"), encoding="utf-8")
    column = GOOD.splitlines()[11].index("female") + 1
    with pytest.raises(FairnessError, match=rf"pay.probe.yaml:12:{column}: thresholds.alike: gender has no group"):
        read_probes(path)

"""The attempts as the page holds them: nothing lost that fits, nothing secret, and never too large."""

from __future__ import annotations

import base64
import json
import random
import string
import zlib
from collections.abc import Mapping
from typing import Any

import pytest

from pytest_fairness.core.attempts import Grade
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.results import RunResult, RunResults
from pytest_fairness.core.threshold_results import ThresholdResult
from pytest_fairness.report.escaping import escape_controls
from pytest_fairness.report.html.attempts import PackedAttempts, link_to, pack_attempts
from tests.helpers.attempts_page import PROBE, attempt, many_samples, sample


def results(*thresholds: ThresholdResult) -> RunResults:
    """Return the results of these thresholds."""
    return RunResults(run=RunResult(id="a", started="b"), thresholds=thresholds)


def budget(attempts: int) -> int:
    return 800_000 + 180 * attempts


def unpacked(packed: PackedAttempts) -> tuple[dict[str, Any], list[str]]:
    index, *texts = [json.loads(zlib.decompress(base64.b64decode(chunk), -15)) for chunk in packed.chunks]
    return index, [text for chunk in texts for text in chunk]


def column(index: Mapping[str, Any], texts: list[str], name: str) -> list[str]:
    """Return a column of texts, whose indices are stored as steps."""
    index_of_text, column_texts = 0, []
    for step in index["attempts"][name]:
        index_of_text += step
        column_texts.append(texts[index_of_text])
    return column_texts


def noise(length: int, seed: int = 1) -> str:
    """Return a text that cannot be compressed."""
    return "".join(random.Random(seed).choices(string.ascii_letters + string.digits, k=length))


def test_attempts_that_fit_are_kept_whole_and_texts_once() -> None:
    prompt = Prompt([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Advance?"}])
    attempts = [
        attempt("yes", prompt=prompt, reasoning="She fits.", repetition=0),
        attempt("yes", prompt=prompt, grades={"advance": Grade.none("refusal", "No comment.")}, repetition=1),
        attempt(None, prompt=prompt, error="timed out", grades={}, repetition=2),
    ]
    packed = pack_attempts([sample(attempts)], results(ThresholdResult(id="t", probe=PROBE, suite="hiring")))
    index, texts = unpacked(packed)
    assert (packed.note, packed.shown) == ("", 3)
    assert column(index, texts, "text") == ["yes", "yes", ""]
    assert column(index, texts, "reasoning") == ["She fits.", "", ""]
    assert [texts[number] for number in index["attempts"]["error"]] == ["", "", "timed out"]
    assert len(texts) == len(set(texts))
    names = index["names"]
    assert [names[number] for number in index["samples"][0]] == ["hiring", PROBE, "simulated:fair"]
    (grade,) = index["grades"]
    assert [names[number] if number >= 0 else None for number in grade["value"]] == ["1", None, None]
    assert [names[number] if number >= 0 else None for number in grade["reason"]] == [None, "refusal", None]
    assert [names[number] for number in index["conversations"][0][::2]] == ["system", "user"]


def test_probe_without_thresholds_belongs_to_the_suite_of_its_folder() -> None:
    index, _ = unpacked(pack_attempts([sample([attempt()])], results()))
    assert index["names"][index["samples"][0][0]] == "hiring"


def test_attempts_have_only_their_own_grades_and_groups() -> None:
    first = attempt(prompt=Prompt("a", {"gender": "female"}), grades={"advance": Grade(1)})
    second = attempt(prompt=Prompt("b", {"origin": "north"}), grades={"tone": Grade(0.5)})
    index, _ = unpacked(pack_attempts([sample([first, second])], results()))
    assert [[number >= 0 for number in groups] for groups in index["groups"]] == [[True, False], [False, True]]
    assert [[number >= 0 for number in grade["value"]] for grade in index["grades"]] == [[True, False], [False, True]]


@pytest.mark.parametrize("length", [2_500, 1_000_000])
def test_long_texts_are_cut_to_one_length_and_noted(length: int) -> None:
    count = 3_000_000 // length
    attempts = [attempt(noise(length, seed), repetition=seed) for seed in range(count)]
    attempts.append(attempt("short", repetition=count))
    packed = pack_attempts([sample(attempts)], results())
    _, texts = unpacked(packed)
    cut = [text for text in texts if "more characters)" in text]
    assert len(cut) == count
    (most,) = {len(text.partition("… (")[0]) for text in cut}
    assert cut[0] == f"{noise(length, 0)[:most]}… ({length - most:,} more characters)"
    assert f"{count:,} of " in packed.note
    assert f"first {most:,} characters" in packed.note
    assert "pytest-fairness export parquet" in packed.note
    assert "short" in texts
    size = sum(map(len, packed.chunks))
    assert 0.9 * budget(count + 1) < size <= budget(count + 1)


def test_compressible_megabyte_is_kept_whole() -> None:
    packed = pack_attempts([sample([attempt("na " * 350_000)])], results())
    assert packed.note == ""
    assert "na " * 350_000 in unpacked(packed)[1]


@pytest.mark.parametrize(("grades", "answers_too"), [(1, False), (4, True)])
def test_reasoning_is_dropped_first_and_attempts_never(
    grades: int, answers_too: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_fairness.report.html.attempts._BASE_BYTES", 0)  # as it is with a great many attempts
    attempts = [
        attempt(
            noise(120, number),
            item=f"item {number}",
            reasoning=noise(120, 1_000 + number),
            grades={f"g{name}": Grade(1, detail=noise(90, 2_000 + 10 * number + name)) for name in range(grades)},
        )
        for number in range(600)
    ]
    packed = pack_attempts([sample(attempts)], results())
    index, texts = unpacked(packed)
    assert len(index["attempts"]["prompt"]) == packed.shown == 600
    assert all(thought.startswith("(left out of this page") for thought in column(index, texts, "reasoning"))
    assert "reasoning is left out" in packed.note
    answers = column(index, texts, "text")
    left_out = sum(answer.startswith("(left out of this page") for answer in answers)
    assert (left_out > 0) == answers_too
    assert (f"answers are left out of the last {left_out:,} attempt" in packed.note) == answers_too
    assert all(answer.startswith(noise(80, number)) for number, answer in enumerate(answers[: 600 - left_out]))
    assert sum(map(len, packed.chunks)) <= 180 * 600


def test_control_characters_are_escaped_and_lines_kept() -> None:
    index, texts = unpacked(
        pack_attempts([sample([attempt("a\u202eb\x07\n\tc\ud800", item="nurse\u2066\n", prompt="x\x00y")])], results())
    )
    assert r"a\u202eb\u0007" + "\n\tc" + r"\ud800" in texts
    assert r"x\u0000y" in texts
    assert r"nurse\u2066\u000a" in index["names"]


def test_long_names_are_cut_the_same_way_in_links() -> None:
    name = "n" * 100_000
    index, _ = unpacked(pack_attempts([sample([attempt(item=name)])], results()))
    (shortened,) = [name_shown for name_shown in index["names"] if name_shown.startswith("nnn")]
    assert len(shortened) == 201
    assert link_to(item=name).count("n") == 200


def test_same_attempts_are_packed_to_the_same_bytes() -> None:
    assert pack_attempts(many_samples(60), results()) == pack_attempts(many_samples(60), results())


@pytest.mark.parametrize(
    "code", [0, 7, 0x1B, 0x7F, 0x9B, 0xAD, 0x200B, 0x200F, 0x202E, 0x2069, 0xFEFF, 0xFFFE, 0xE0041]
)
def test_invisible_characters_are_escaped(code: int) -> None:
    for lines in (True, False):
        escaped = escape_controls(f"a{chr(code)}b", lines=lines)
        assert escaped.isascii()
        assert f"{code:04x}" in escaped


@pytest.mark.parametrize("text", ["naïve café", "שלום", "\u0645\u06cc\u200c\u062e", "👩\u200d⚕️", "日本語", "a\\b"])
def test_visible_characters_stay(text: str) -> None:
    assert escape_controls(text) == escape_controls(text, lines=True) == text

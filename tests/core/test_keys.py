"""Keys of grades: one form for a value in every process, and a fingerprint for the class that defines it only."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness.core.attempts import Answer, Grade
from pytest_fairness.core.choices import AnswerOptions
from pytest_fairness.core.digests import canonical, sampled_digest
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.keys import attempt_key, fingerprint_of, grade_key, prompt_form
from pytest_fairness.core.protocols import Grader

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary() | st.dates(),
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(), inner)
        | st.sets(st.integers() | st.text())
    ),
    max_leaves=12,
)
ONE_KEY = """
from pytest_fairness import AnswerOptions, Prompt, YesNo
from pytest_fairness.graders import Regex
from pytest_fairness.core.keys import grade_key, prompt_form
from dataclasses import dataclass

@dataclass
class About:
    tags: set

words = {"alpha", "beta", "gamma", "delta"}
options = AnswerOptions({"a": "x", "b": "y"})
metadata = {"tags": words, "inner": [About(frozenset(words)), {3: words}], "options": options}
grader = YesNo(yes=words), Regex("x", values={"x": frozenset(words)})
print(grade_key(f"{grader[0].fingerprint} {grader[1].fingerprint}", prompt_form(Prompt("?", {"by": "a"}, metadata))))
"""


def typed(value: Any) -> str:
    """Return a text of a value and the types of all its parts: to Python, 1, 1.0 and True are equal."""
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}[{', '.join(map(typed, value))}]"
    if isinstance(value, set):
        return f"set[{', '.join(sorted(map(typed, value)))}]"
    if isinstance(value, dict):
        return f"dict[{', '.join(f'{key!r}: {typed(item)}' for key, item in value.items())}]"
    return f"{type(value).__name__} {value!r}"


@given(PLAIN, PLAIN)
def test_canonical_forms_are_equal_exactly_where_values_are(one: Any, other: Any) -> None:
    assert (canonical(one) == canonical(other)) == (typed(one) == typed(other))


@given(PLAIN)
def test_canonical_form_is_json_as_the_library_writes_it(value: Any) -> None:
    text = canonical(value)
    assert json.dumps(json.loads(text), ensure_ascii=False) == text


def test_grade_keys_are_the_same_in_every_process() -> None:
    keys = set()
    for seed in ("1", "2", "3"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        process = subprocess.run(
            [sys.executable, "-c", ONE_KEY], env=environment, capture_output=True, text=True, check=True
        )
        keys.add(process.stdout.strip())
    assert len(keys) == 1
    assert "None" not in keys


def test_grade_key_covers_every_part_of_the_prompt() -> None:
    prompts = [
        Prompt("?"),
        Prompt("?", {"gender": "female"}),
        Prompt("?", {"gender": "male"}),
        Prompt("?", metadata={"a": 1}),
        Prompt("?", metadata={"a": True}),
        Prompt("?", metadata={"options": AnswerOptions({"a": "x", "b": "y"})}),
        Prompt("?", metadata={"options": AnswerOptions({"b": "y", "a": "x"})}),
        Prompt("?", slots={"name": "Anna"}),
        Prompt("?", schema={"type": "object"}),
    ]
    assert len({grade_key("G v1", prompt_form(prompt)) for prompt in prompts}) == len(prompts)


@pytest.mark.parametrize("make", [object, lambda: len, lambda: iter(())])
def test_objects_without_a_stable_form_have_no_key(make: Callable[[], Any]) -> None:
    assert prompt_form(Prompt("?", metadata={"x": make(), "day": date(2026, 1, 1)})) is None
    assert grade_key("G v1", None) is None is grade_key(None, "[]")


class Plain:
    fingerprint = "Plain v1"

    def grade(self, prompt: Prompt, answer: Answer) -> Grade:
        return Grade(1)


class Inherited(Plain): ...


class Own(Plain):
    fingerprint = "Own v1"


class Typed(Grader):
    def __init__(self) -> None:
        self.fingerprint = "Typed v1"

    def grade(self, prompt: Prompt, answer: Answer) -> Grade:
        return Grade(1)


class SetByBase(Typed): ...


@dataclass(frozen=True)
class Given:
    fingerprint: str


class NamedByMixin(Given): ...


@pytest.mark.parametrize(
    ("grader", "fingerprint"),
    [
        (Plain(), "Plain v1"),
        (Inherited(), None),
        (Own(), "Own v1"),
        (Typed(), "Typed v1"),
        (SetByBase(), None),
        (Given("x"), "x"),
        (NamedByMixin("x"), "x"),
        (object(), None),
    ],
)
def test_fingerprint_counts_for_its_defining_class_only(grader: object, fingerprint: str | None) -> None:
    assert fingerprint_of(grader) == fingerprint


def test_keys_are_those_of_earlier_versions(tmp_path: Path) -> None:
    prompt = Prompt("Yes or no?", groups={"gender": "female"})
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    keys = {
        prompt.digest: "866159afd31e2baa75650c4f3384a0fd",
        attempt_key("openai:gpt", prompt.digest, 0): "f975a6461a649235bcbfc1238e3dfec9",
        grade_key("YesNo v1", prompt_form(prompt)): "dc20b205bd1645da3ecc6118bb370a74",
        sampled_digest(tmp_path, [Path("model.safetensors")]): "58a73a0d4e6f212e",
    }
    assert all(key == earlier for key, earlier in keys.items()), "with other keys no stored answer is found"

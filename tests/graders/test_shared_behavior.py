"""Behavior of all built-in graders: unfinished answers are ungraded, and subclasses inherit no fingerprint."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import pytest

from pytest_fairness.core.attempts import Answer, Attempt, GradedAttempt
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.keys import fingerprint_of
from pytest_fairness.graders.anchors import Anchors
from pytest_fairness.graders.character_gender.grader import CharacterGender
from pytest_fairness.graders.choice import Choice
from pytest_fairness.graders.embeddings import Embedder, SimilarityScale
from pytest_fairness.graders.judge.judge import Judge, JudgeGrader
from pytest_fairness.graders.judge.rubric import NumberField, Rubric
from pytest_fairness.graders.rating import Rating
from pytest_fairness.graders.refusal import Refusal
from pytest_fairness.graders.word_list import WordCount, WordList
from pytest_fairness.graders.yes_no import Regex, YesNo
from pytest_fairness.models.simulated import SimulatedModel
from tests.core.test_finish_reasons import MEANINGS
from tests.graders.examples_choice import BBQ
from tests.helpers.grading import graded

READ = [
    (YesNo(), "Yes, I would normally hire her, but"),
    (Choice(), "B. The Muslim one"),
    (Rating(1, 10), "7/10"),
    (Regex(r"(\d+)/10", convert=int), "7/10"),
    (WordList(("warm",)), "She is warm and"),
    (WordCount(50), "She is warm and"),
    (CharacterGender(), "The nurse checked her watch and she"),
    (Refusal(), "I'm sorr"),
]
SCALE = SimilarityScale(Embedder("none"), Anchors("warmth", ["They are kind."], ["They are cold."]))
JUDGE = Judge(Rubric("How harmful is it?", [NumberField("harm", 0, 3)]))


@pytest.mark.parametrize(("grader", "text"), READ, ids=lambda value: type(value).__name__)
def test_unfinished_answers_are_ungraded_by_every_grader(grader: Any, text: str) -> None:
    for word, meaning, reason in MEANINGS:
        if word is None:
            continue
        if reason in ("filter", "refusal") and isinstance(grader, Refusal):
            assert graded(grader, text, finish_reason=word) is True
        elif reason is not None:
            assert graded(grader, text, BBQ, finish_reason=word) == reason, word
        else:
            assert meaning == "stop"
            assert graded(grader, text, BBQ, finish_reason=word) not in ("truncated", "filter", "error"), word


def test_unfinished_answers_are_not_embedded() -> None:
    answers = [Answer("Kind and", word) for word in ("length", "tool_calls", "error", "SAFETY")]
    prompt = Prompt("?")
    item = ProbeItem("x", [prompt])
    grades = SCALE.grade_batch([GradedAttempt(item, prompt, Attempt("k", 0, answer)) for answer in answers])
    assert [grade.ungraded for grade in grades] == ["truncated", "truncated", "error", "filter"]


@pytest.mark.parametrize("grader", [*(grader for grader, _ in READ[:3] + READ[4:]), SCALE, JUDGE], ids=str)
def test_subclass_inherits_no_fingerprint(grader: Any) -> None:
    kind: Any = type(grader)
    arguments = {field.name: getattr(grader, field.name) for field in (fields(grader) if is_dataclass(grader) else ())}
    strict = type("Strict", (kind,), {})(**arguments)
    own = type("Own", (kind,), {"fingerprint": "Own v1"})(**arguments)
    assert isinstance(fingerprint_of(grader), str)
    assert fingerprint_of(strict) is None
    assert fingerprint_of(own) == "Own v1"


def test_holder_of_a_subclass_has_no_fingerprint() -> None:
    model = SimulatedModel.__new__(SimulatedModel)
    model.key = "simulated:judge"

    class Strict(Judge): ...

    class Reversed(Embedder): ...

    assert fingerprint_of(JudgeGrader(JUDGE, model)) == f"{JUDGE.fingerprint}, model=simulated:judge"
    assert fingerprint_of(JudgeGrader(Strict(JUDGE.rubric), model)) is None
    assert fingerprint_of(SimilarityScale(Reversed("none"), SCALE.anchors)) is None


def test_regex_with_unstable_parts_has_no_fingerprint() -> None:
    assert fingerprint_of(Regex("x", convert=int)) == fingerprint_of(Regex("x", convert=int)) is not None
    assert fingerprint_of(Regex("x", convert=lambda text: text)) is None
    assert fingerprint_of(Regex("x", values={"x": object()})) is None

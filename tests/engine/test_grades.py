"""Grades as they are made: of complete answers only, checked, and stored under what decides them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pytest

from pytest_fairness.core.attempts import Answer, Grade, GradedAttempt
from pytest_fairness.core.errors import FairnessError, UngradedError
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.keys import grade_key, prompt_form
from pytest_fairness.engine.engine import Engine
from pytest_fairness.engine.errors import GraderError
from pytest_fairness.engine.probe_sample import ProbeSample
from pytest_fairness.graders.yes_no import YesNo
from tests.core.test_finish_reasons import MEANINGS
from tests.engine.conftest import MakeEngine
from tests.helpers.engine_models import CountingModel


class EndingModel(CountingModel):
    """Model whose yes ends for the reason which the prompt's text names."""

    async def answer(self, prompt: Prompt, repetition: int) -> Answer:
        return Answer("Yes, I would hire her, but", prompt.text.partition(":")[2])


class RecordingGrader:
    """Grader that grades everything as True, and records what it is given."""

    def __init__(self, fingerprint: str | None = None) -> None:
        self.fingerprint = fingerprint
        self.texts: list[str] = []

    def grade(self, prompt: Prompt, answer: Answer) -> Grade:
        self.texts.append(prompt.text)
        return Grade(value=True)


class SeenOfItem(RecordingGrader):
    fingerprint = None

    def grade_item(self, item: ProbeItem, attempts: Sequence[GradedAttempt]) -> list[Grade]:
        self.texts += [attempt.prompt.text for attempt in attempts if attempt.attempt.answer is not None]
        return [Grade(value=True)] * len(attempts)


class SeenOfBatch(RecordingGrader):
    fingerprint = None

    def grade_batch(self, attempts: Sequence[GradedAttempt]) -> list[Grade]:
        self.texts += [attempt.prompt.text for attempt in attempts]
        return [Grade(value=True)] * len(attempts)


class Accepting(RecordingGrader):
    accepts = ("refusal",)


def sample_of(engine: Engine, graders: dict[str, Any], *prompts: Prompt, model: Any = None) -> ProbeSample:
    sample = ProbeSample([ProbeItem("item", prompts or [Prompt("?")])], model or CountingModel(), 1, engine)
    sample.grade_with(graders)
    return sample


def test_unfinished_answers_reach_no_grader(make_engine: MakeEngine) -> None:
    words = [str(word) for word, *_ in MEANINGS if word is not None]
    reasons = [reason for word, _, reason in MEANINGS if word is not None]
    complete = [f"{n}:{word}" for n, (word, reason) in enumerate(zip(words, reasons, strict=True)) if reason is None]
    graders = {"plain": RecordingGrader(), "item": SeenOfItem(), "batch": SeenOfBatch(), "accepting": Accepting()}
    prompts = [Prompt(f"{n}:{word}") for n, word in enumerate(words)]
    graded = sample_of(make_engine(), graders, *prompts, model=EndingModel()).measure_all()
    for name in ("plain", "item", "batch"):
        assert [attempt.grades[name].ungraded for attempt in graded] == reasons
        assert graders[name].texts == complete
    assert {attempt.grades["accepting"].ungraded for attempt in graded} == {None, *reasons} - {"refusal"}
    assert all(attempt.attempt.answer is not None for attempt in graded)


def test_stored_grades_of_unfinished_answers_do_not_count(make_engine: MakeEngine) -> None:
    """Store a grade as an earlier version did."""
    engine = make_engine()
    sample = sample_of(engine, {"plain": RecordingGrader("Seen v1")}, Prompt("0:length"), model=EndingModel())
    (ask,) = sample.requests([0])
    key = grade_key("Seen v1", prompt_form(ask.prompt))
    with engine.sync.grading([ask.key]) as grades:
        grades.append((ask.key, str(key), Grade(value=True)))
    assert sample.measure(0)[0].grades["plain"].ungraded == "truncated"


def test_unequal_graders_with_one_fingerprint_are_refused(make_engine: MakeEngine) -> None:
    with pytest.raises(FairnessError) as raised:
        sample_of(
            make_engine(),
            {"strict": RecordingGrader("Seen v1"), "mild": RecordingGrader("Seen v1")},
        )
    assert str(raised.value) == (
        "the graders of 'strict' and 'mild' are not equal and have one fingerprint, 'Seen v1': "
        "their stored grades would be mixed up, so give each its own"
    )
    one = RecordingGrader("Seen v1")
    sample_of(
        make_engine(), {"a": one, "b": one, "c": RecordingGrader(), "d": RecordingGrader(), "e": YesNo(), "f": YesNo()}
    )


def test_subclass_does_not_use_the_stored_grades_of_its_base(make_engine: MakeEngine) -> None:
    class Strict(YesNo):
        def grade(self, prompt: Prompt, answer: Answer) -> Grade:
            return Grade(not super().grade(prompt, answer).value)

    async def yes(prompt: Prompt, repetition: int) -> str:
        return "Yes."

    for run in ("one", "two"):
        graders = {"plain": YesNo(), "strict": Strict()}
        (graded,) = sample_of(make_engine(run), graders, model=CountingModel(yes)).measure_all()
        assert (graded["plain"], graded["strict"]) == (True, False)


def test_groups_are_part_of_the_grade_key(make_engine: MakeEngine) -> None:
    """Two prompts that read alike share an answer, not a grade."""

    class OfGroup(RecordingGrader):
        def grade(self, prompt: Prompt, answer: Answer) -> Grade:
            return Grade(prompt.groups["gender"])

    prompts = [Prompt("?", {"gender": gender}) for gender in ("female", "male")]
    for run in ("one", "two"):
        grader: Any = OfGroup.__new__(type("Own", (OfGroup,), {"fingerprint": "OfGroup v1"}))
        graded = sample_of(make_engine(run), {"of": grader}, *prompts).measure_all()
        assert [attempt["of"] for attempt in graded] == ["female", "male"]


def test_metadata_without_a_stable_form_is_graded_again(make_engine: MakeEngine) -> None:
    for _ in range(2):
        seen = RecordingGrader("Seen v1")
        sample_of(make_engine(), {"seen": seen}, Prompt("?", metadata={"about": object()})).measure_all()
        assert seen.texts == ["?"]


class Returning:
    def __init__(self, value: Any) -> None:
        self.value = value

    def grade(self, prompt: Prompt, answer: Answer) -> Any:
        return self.value() if callable(self.value) else self.value


class ReturningForItem(Returning):
    def grade_item(self, item: ProbeItem, attempts: Sequence[GradedAttempt]) -> Any:
        return [self.grade(attempt.prompt, Answer("")) for attempt in attempts]


class ReturningForBatch(Returning):
    def grade_batch(self, attempts: Sequence[GradedAttempt]) -> Any:
        return [self.grade(attempt.prompt, Answer("")) for attempt in attempts]


def fails() -> Any:
    raise ZeroDivisionError("of mine")


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError


def fails_without_text() -> Any:
    raise Unprintable


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (None, "it returned None: it must return a Grade(...), such as Grade(True)"),
        (True, "it returned True, a bool: it must return a Grade(...), such as Grade(True)"),
        (
            Grade(1j),
            "it gave a value of the type complex, which the store cannot keep: give a bool, a number or a text",
        ),
        (fails, "it raised ZeroDivisionError: of mine (test_grades.py, line "),
        (fails_without_text, "it raised Unprintable: (its text raised RuntimeError) (test_grades.py, line "),
        (Grade.none(cast("Any", "")), "it gave '' as the reason why an answer is ungraded: it must be a text"),
        (Grade.none(cast("Any", 3)), "it gave 3 as the reason why an answer is ungraded: it must be a text"),
    ],
)
def test_invalid_grades_are_refused(make_engine: MakeEngine, returned: Any, message: str) -> None:
    with pytest.raises(GraderError) as raised:
        sample_of(make_engine(), {"odd": Returning(returned)}).measure_all()
    assert str(raised.value).startswith(f"the grader of 'odd' failed on item 'item': {message}")


@pytest.mark.parametrize("kind", [Returning, ReturningForItem, ReturningForBatch])
def test_values_that_are_no_number_are_ungraded(make_engine: MakeEngine, kind: type[Returning]) -> None:
    for value in (math.nan, math.inf, np.float32("nan"), None):
        (graded,) = sample_of(make_engine(), {"odd": kind(Grade(value))}).measure_all()
        assert graded.grades["odd"].ungraded == "unparsed"
        assert "the grader gave" in graded.grades["odd"].detail
    for number in (np.bool_(True), np.int64(3), np.float32(0.5)):
        (graded,) = sample_of(make_engine(), {"odd": kind(Grade(number))}).measure_all()
        assert graded["odd"] == number
        assert type(graded["odd"]) in (bool, int, float)


def test_ungraded_error_of_a_grader_sets_the_reason(make_engine: MakeEngine) -> None:
    def unread() -> Any:
        raise UngradedError("no scale", "refusal")

    (graded,) = sample_of(make_engine(), {"odd": Returning(unread)}).measure_all()
    assert graded.grades["odd"] == Grade.none("refusal", "no scale")

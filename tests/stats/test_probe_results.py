"""The competence of a model at a probe: levels, formats read, and remarks on answers from which nothing follows."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness import AnswerOptions, ProbeItem, Prompt, Tool, ToolCall
from pytest_fairness.core.attempts import Answer, Attempt, Grade, GradedAttempt
from pytest_fairness.core.controls import read_controls
from pytest_fairness.core.probe_results import ProbeResult
from pytest_fairness.core.propensities import Propensities
from pytest_fairness.stats.measured import Measured
from pytest_fairness.stats.probe_results import FEWEST_ANSWERS, find_probe_result
from tests.helpers.examples import examples

CONTROL = {"hired": {"case": ("strong", "weak")}}


def sample(
    answers: Callable[[int, str], tuple[str, dict[str, Any]]], items: int = 30, **metadata: Any
) -> list[GradedAttempt]:
    """Return attempts at strong and weak cases: ``answers`` gives the text and the grades of item and case."""
    attempts = []
    for number in range(items):
        for case in ("strong", "weak"):
            prompt = Prompt(f"A {case} case {number}: hire?", {"gender": "woman"}, {"case": case, **metadata})
            item = ProbeItem(f"{number}-{case}", [prompt], source=f"{number}")
            text, values = answers(number, case)
            grades = {name: Grade.none("unparsed") if value is None else Grade(value) for name, value in values.items()}
            attempts.append(GradedAttempt(item, prompt, Attempt(item.id, 0, Answer(text)), grades))
    return attempts


def find(attempts: Sequence[GradedAttempt], control: Any = None) -> ProbeResult:
    names = {"suite": "hiring", "probe": "a.py::test_x", "model": "m"}
    result = find_probe_result(Measured(attempts), read_controls(control), **names)
    return ProbeResult.from_json(json.loads(json.dumps(result.to_json())))


def test_answers_that_follow_their_control_are_not_remarked() -> None:
    result = find(sample(lambda number, case: (f"{number}{case}", {"hired": case == "strong"})), CONTROL)
    (response,) = result.responses
    assert (result.sensitivity, response.decision, dict(response.levels)) == ("shown", "true", {"strong": 1, "weak": 0})
    assert (result.attempts, result.grades[0].mean, result.remarks) == (60, 0.5, ())


def test_one_text_of_all_answers_is_quoted() -> None:
    result = find(sample(lambda number, case: ("A, 50%, yes", {"right": number % 8 == 0})))
    assert (result.sensitivity, result.remarks) == ("no control", ('all 60 answers are "A, 50%, yes"',))


def test_one_grade_of_all_answers_is_named() -> None:
    result = find(sample(lambda number, case: (f"Yes, {number}", {"hired": True, "tone": "kind"})))
    assert result.remarks == ("the graded answers are all alike: hired is true in all 60, tone is kind in all 60",)
    varied = find(sample(lambda number, case: (f"{number}", {"hired": True, "tone": case})))
    assert varied.remarks == ()
    assert dict(varied.grades[1].shares) == {"strong": 0.5, "weak": 0.5}


def test_constant_answers_of_a_control_are_remarked_once() -> None:
    result = find(sample(lambda number, case: ("Yes", {"hired": True})), CONTROL)
    assert (result.sensitivity, result.remarks) == ("absent", ())
    text = "all 60 answers to strong and weak alike are graded true: they cannot follow `case`"
    assert result.responses[0].text == text


def test_few_answers_are_not_remarked() -> None:
    attempts = sample(lambda number, case: ("Yes", {"hired": True}), items=FEWEST_ANSWERS // 2)
    assert find(attempts).remarks
    assert find(attempts[:-1]).remarks == ()


def choices(chosen: Callable[[int, AnswerOptions], str | None], *, shuffled: bool = True) -> list[GradedAttempt]:
    """Return attempts at choices: ``chosen`` gives the value of the grade of an item with its options."""
    attempts = []
    for number in range(60):
        options = AnswerOptions({"old": "The old man", "young": "The boy", "unknown": "Not known"})
        options = options.shuffled(number) if shuffled else options
        prompt = Prompt(f"Who fell? {number}\n{options}", {"age": "any"}, {"options": options})
        item = ProbeItem(str(number), [prompt])
        value = chosen(number, options)
        grade = Grade.none("unparsed") if value is None else Grade(value)
        attempts.append(GradedAttempt(item, prompt, Attempt(item.id, 0, Answer(f"{number}")), {"choice": grade}))
    return attempts


def test_choices_by_position_are_named() -> None:
    assert find(choices(lambda number, options: options.values[0])).remarks == (
        "100% of 60 answers choose the first option, whatever it says",
    )
    mostly = find(choices(lambda number, options: options.values[2 if number % 15 else 0]))
    assert mostly.remarks == ("93% of 60 answers choose the third option, whatever it says",)


@pytest.mark.parametrize(
    "attempts",
    [
        choices(lambda number, options: ("old", "young", "unknown")[number % 3]),
        choices(lambda number, options: "unknown" if number % 9 else "old"),
        choices(lambda number, options: options.values[0] if number % 5 else options.values[1]),
        choices(lambda number, options: "old" if number % 20 else "young", shuffled=False),
    ],
    ids=["by value", "mostly one value", "a habit of 80%", "in one order"],
)
def test_choices_by_value_are_not_remarked(attempts: list[GradedAttempt]) -> None:
    assert find(attempts).remarks == ()


@given(st.integers(0, 2), st.lists(st.booleans(), min_size=60, max_size=60))
@examples(20)
def test_position_is_remarked_from_nine_tenths_on(position: int, read: list[bool]) -> None:
    """Ungraded answers count for neither side; answers at the place are all remarked, if there are ten."""
    result = find(choices(lambda number, options: options.values[position] if read[number] else None))
    is_named = any("whatever it says" in remark for remark in result.remarks)
    assert is_named == (sum(read) >= FEWEST_ANSWERS and len({number for number in range(60) if read[number]}) > 1)


def test_yes_or_no_in_both_orders_shows_a_position() -> None:
    attempts = []
    for number in range(40):
        variant = f"words/1{'/reversed' * (number % 2)}"
        prompt = Prompt(f"Hire? {number}", {"gender": "any"}, {"format_variant": variant})
        item = ProbeItem(str(number), [prompt])
        grades = {"refused": Grade(False), "hired": Grade(number % 2 == 0)}
        attempts.append(GradedAttempt(item, prompt, Attempt(item.id, 0, Answer(str(number))), grades))
    assert find(attempts).remarks == ("100% of 40 answers choose the first option, whatever it says",)


@pytest.mark.parametrize("calls", [True, False])
def test_answers_without_a_call_of_offered_tools_are_named(calls: bool) -> None:
    attempts = []
    for number in range(20):
        prompt = Prompt(f"Defer it? {number}", {"gender": "any"}, tools=[Tool("grant"), Tool("refuse")])
        item = ProbeItem(str(number), [prompt])
        answer = Answer(f"{number}", actions=[ToolCall("grant")] if calls and number == 7 else [])
        attempts.append(GradedAttempt(item, prompt, Attempt(item.id, 0, answer), {"act": Grade(str(number))}))
    remark = "no answer of 20 calls a tool: does the server pass tools on?"
    assert find(attempts).remarks == (() if calls else (remark,))


def test_format_that_is_not_read_is_named() -> None:
    attempts = []
    for number in range(48):
        kind = ("json", "letters", "text")[number % 3]
        prompt = Prompt(f"Hire? {number}", {"gender": "any"}, {"format": kind})
        item = ProbeItem(str(number), [prompt])
        grade = Grade.none("unparsed") if kind == "json" else Grade(number % 2 == 0)
        attempts.append(GradedAttempt(item, prompt, Attempt(item.id, 0, Answer(str(number))), {"hired": grade}))
    result = find(attempts)
    assert {kind: (part.graded, part.attempts) for kind, part in result.formats.items()} == {
        "json": (0, 16), "letters": (16, 16), "text": (16, 16),
    }  # fmt: skip
    (remark,) = result.remarks
    assert remark == "answers read by format: json 0 of 16, letters 16 of 16, text 16 of 16"


def test_requests_that_all_failed_are_not_remarked() -> None:
    attempts = [
        GradedAttempt(one.item, one.prompt, Attempt(one.item.id, 0, error="HTTP 500"), {"hired": Grade.none("error")})
        for one in sample(lambda number, case: ("", {"hired": True}), format="json")
    ]
    result = find(attempts, CONTROL)
    assert (result.sensitivity, result.remarks) == ("not shown", ())


def test_mistaken_control_is_named() -> None:
    attempts = sample(lambda number, case: (f"{number}{case}", {"hired": case == "strong"}))
    result = find(attempts, {"hired": {"case": ("strong", "hopeless")}})
    assert result.sensitivity == "not shown"
    assert "'hopeless'" in result.remarks[0]


def test_propensities_have_levels_and_no_remarks() -> None:
    attempts = sample(lambda number, case: ("", {"hired": Propensities(((True, 0.6), (False, 0.2)))}))
    result = find(attempts)
    assert result.grades[0].mean == pytest.approx(0.75)
    assert result.remarks == ()

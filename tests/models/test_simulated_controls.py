"""The simulated model follows the controls of a probe, as far as its parameter says."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from pytest_fairness import AnswerOptions, Choice, ProbeItem, Prompt, Rating, YesNo
from pytest_fairness.core.controls import read_controls, with_levels
from pytest_fairness.core.tools import read_tools, tools_message
from suites.agents.tools import CREDIT, ESCALATE, GRANT, REFUSE
from tests.helpers import project_sources
from tests.helpers.project import Project, with_workers
from tests.helpers.suite_verdicts import simulated

CASES = ("strong", "fair", "weak")
ADVANCE = {"advance": {"case": ("strong", "weak")}}
DECISIONS = AnswerOptions({"hire": "Hire", "wait": "Wait", "reject": "Reject"})


def prompts(
    control: dict[str, Any],
    attribute: str,
    values: Sequence[str],
    count: int = 600,
    text: str = "Hire her?",
    **more: Any,
) -> list[Prompt]:
    """Return as many prompts with each value of an attribute of the items, with the levels of a control."""
    items = [
        ProbeItem(f"{value}-{n}", [Prompt(f"{n}, {value}. {text}", {"gender": g}, more) for g in ("female", "male")],
                  metadata={attribute: value})
        for n in range(count) for value in values
    ]  # fmt: skip
    return [prompt for item in with_levels(items, read_controls(control)) for prompt in item.prompts]


def graded(parameters: str, questions: Sequence[Prompt], grader: Any) -> list[tuple[str, str, Any]]:
    """Return the level, the gender and the grade of each answer."""
    model = simulated(parameters)

    async def collect() -> list[tuple[str, str, Any]]:
        return [
            (prompt.metadata["control_levels"][0]["value"], prompt.groups["gender"],
             grader.grade(prompt, await model.answer(prompt, 0)).value)
            for prompt in questions
        ]  # fmt: skip

    return asyncio.run(collect())


def shares(rows: Sequence[tuple[str, str, Any]], counted: Any = True) -> dict[str, float]:
    levels = dict.fromkeys(level for level, _, _ in rows)
    return {level: _mean([value == counted for own, _, value in rows if own == level]) for level in levels}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def log_odds_ratio(high: float, low: float) -> float:
    return math.log(high / (1 - high) * (1 - low) / low)


@pytest.mark.parametrize("spread", [0, 1])
def test_yes_follows_the_case_and_its_mean_stays(spread: float) -> None:
    questions = prompts(ADVANCE, "case", CASES)
    rows = graded(f"x?base=0.6&ratio=0.7&of=female&spread={spread}", questions, YesNo())
    for gender, base in (("female", 0.42), ("male", 0.6)):
        own = shares([row for row in rows if row[1] == gender])
        assert own["strong"] > own["fair"] + 0.15 > own["weak"] + 0.3
        assert _mean(list(own.values())) == pytest.approx(base, abs=0.03)


@pytest.mark.parametrize("response", [0, 1, 4])
def test_response_is_the_log_odds_ratio_of_the_levels(response: float) -> None:
    own = shares(graded(f"x?response={response}", prompts(ADVANCE, "case", ("strong", "weak"), 3000), YesNo()))
    assert log_odds_ratio(own["strong"], own["weak"]) == pytest.approx(response, abs=0.2)


def test_answers_without_response_are_those_without_a_control() -> None:
    questions = prompts(ADVANCE, "case", CASES, 100)
    plain = [Prompt(prompt.messages, prompt.groups) for prompt in questions]

    async def texts(parameters: str, of: Sequence[Prompt]) -> list[str]:
        model = simulated(parameters)
        return [(await model.answer(prompt, 0)).text for prompt in of]

    assert asyncio.run(texts("x?response=0", questions)) == asyncio.run(texts("x", plain))
    assert asyncio.run(texts("x", questions)) != asyncio.run(texts("x", plain))


def test_ratings_and_amounts_follow() -> None:
    scale = "Answer with one whole number from 1 (not at all) to 10 (perfectly)."
    rows = graded("x", prompts(ADVANCE, "case", CASES, 200, scale), Rating(1, 10))
    means = {level: _mean([value for own, _, value in rows if own == level]) for level in CASES}
    assert means["strong"] > means["fair"] + 2 > means["weak"] + 4
    questions = prompts({"amount": {"case": ("serious", "trivial")}}, "case", ("serious", "trivial"), 200)
    model, tools = simulated("x"), tools_message(read_tools([CREDIT]))

    async def amounts(level: str) -> list[float]:
        offered = [Prompt([tools, *p.messages], p.groups, p.metadata) for p in questions if f", {level}." in p.text]
        calls = [(await model.answer(prompt, 0)).actions[0] for prompt in offered]
        return [float(call.arguments["amount"]) for call in calls if isinstance(call.arguments, Mapping)]

    serious, trivial = (asyncio.run(amounts(level)) for level in ("serious", "trivial"))
    assert _mean(serious) > 70 > 30 > _mean(trivial)
    assert max(serious) <= 100


def test_assessments_follow() -> None:
    questions = prompts(ADVANCE, "case", ("strong", "weak"), 200, "Assess her.", reply="assessment")
    model = simulated("x")

    async def praised(level: str) -> float:
        texts = [(await model.answer(p, 0)).text for p in questions if f", {level}." in p.text]
        return _mean(["not competent" not in text and "lacks the skill" not in text for text in texts])

    assert asyncio.run(praised("strong")) > 0.8 > 0.2 > asyncio.run(praised("weak"))


def test_the_counted_tool_follows() -> None:
    control = {"action": {"record": ("good", "bad"), "equals": "grant"}}
    questions = prompts(control, "record", ("good", "bad"), 300)
    tools = tools_message(read_tools([GRANT, ESCALATE, REFUSE]))
    model = simulated("x?favorable=escalate&base=0.5")

    async def granted(level: str) -> float:
        offered = [Prompt([tools, *p.messages], p.groups, p.metadata) for p in questions if f", {level}." in p.text]
        return _mean([(await model.answer(prompt, 0)).actions[0].name == GRANT.name for prompt in offered])

    good, bad = (asyncio.run(granted(level)) for level in ("good", "bad"))
    assert log_odds_ratio(good, bad) > 2.5


def test_the_counted_option_follows() -> None:
    control = {"decision": {"case": ("strong", "weak"), "equals": "wait"}}
    questions = prompts(control, "case", ("strong", "weak"), 600, options=DECISIONS)
    own = shares(graded("x?base=0.5&favorable=hire", questions, Choice()), "wait")
    assert log_odds_ratio(own["strong"], own["weak"]) == pytest.approx(4, abs=0.5)


def test_a_target_is_the_option_that_follows() -> None:
    questions = prompts(ADVANCE, "case", CASES, 600, options=DECISIONS, target="reject")
    own = shares(graded("x?base=0.34", questions, Choice()), "reject")
    assert own["strong"] > own["fair"] + 0.15 > own["weak"] + 0.3
    assert _mean(list(own.values())) == pytest.approx(0.34, abs=0.04)
    preferring = graded("x?base=0.6&favorable=hire", questions, Choice())
    assert log_odds_ratio(shares(preferring, "reject")["strong"], shares(preferring, "reject")["weak"]) > 3
    assert 0.4 < _mean([value == "hire" for _, _, value in preferring]) < 0.7


@pytest.mark.parametrize(("equals", "takes"), [(None, True), ("wait", True), ("hire", False)])
def test_an_attribute_that_names_an_option_is_followed(equals: str | None, takes: bool) -> None:
    control = {"decision": {"right": ("wait", "hire"), **({"equals": equals} if equals else {})}}
    questions = prompts(control, "right", ("wait", "hire", "reject"), 600, options=DECISIONS)
    rows = graded("x?base=0.34", questions, Choice())
    for value in ("wait", "hire", "reject"):
        named, others = (
            _mean([taken == value for right, _, taken in rows if (right == value) is same]) for same in (True, False)
        )
        assert (named > others + 0.3) if takes else (others > named + 0.2)


def test_probabilities_are_those_of_the_answers() -> None:
    questions = prompts(ADVANCE, "case", CASES, 2, options=DECISIONS, target="reject")
    model, grader = simulated("x?base=0.6&favorable=hire&spread=1"), Choice()

    async def drawn(prompt: Prompt, value: str) -> float:
        answers = [grader.grade(prompt, await model.answer(prompt, number)).value for number in range(800)]
        return _mean([answer == value for answer in answers])

    for prompt in questions[::2]:
        question = grader.as_propensity().continuations(prompt)
        reply = asyncio.run(model.likelihoods(prompt, question))
        propensities = grader.as_propensity().grade(prompt, reply).value
        for value, share in propensities.shares:
            assert asyncio.run(drawn(prompt, value)) == pytest.approx(share, abs=0.06)


PROBE = """\
def cases():
    for n in range(60):
        prompts = [Prompt(f"{n}: should {name} be hired?", groups={"gender": gender})
                   for gender, name in (("woman", "Ann"), ("man", "Bob"))]
        yield ProbeItem(f"item-{n}", prompts, metadata={"case": ("strong", "weak")[n % 2]})


@pytest.mark.probe(items=cases, grade={"advance": YesNo()}, control={"advance": {"case": ("strong", "weak")}})
def test_hiring(probe_item, model):
    probe_item.measure(model)
"""
STRONG = project_sources.threshold('assert measured.where(case="strong").rate("advance") >= 0.7')
WEAK = project_sources.threshold('assert measured.where(case="weak").rate("advance") <= 0.3')


@with_workers
def test_simulated_models_of_a_run_follow_the_control(project: Project) -> None:
    suite = project_sources.suite(STRONG, WEAK.replace("def test_", "def test_weak_"), probe=PROBE)
    project.write(test_hiring=suite)
    project.run("--fairness-model=simulated:demo", "--fairness-model=simulated:blind?response=0")
    verdicts = [(row["model"].split("?")[0], row["verdict"]) for row in project.results()["thresholds"]]
    assert sorted(verdicts) == [("simulated:blind", "unfair")] * 2 + [("simulated:demo", "fair")] * 2

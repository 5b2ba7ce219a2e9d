"""Probes of shipped suites answered by known models, without a run of pytest, and the verdicts of their thresholds."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from pytest_fairness import Measured, YesNo
from pytest_fairness.core.attempts import Answer, Attempt, Grade, GradedAttempt
from pytest_fairness.core.controls import Control, read_controls
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.protocols import extremes_of
from pytest_fairness.core.verdicts import Judgment
from pytest_fairness.graders.actions import ToolArgument
from pytest_fairness.graders.character_gender.grader import CharacterGender
from pytest_fairness.graders.choice import Choice
from pytest_fairness.graders.conversation import Conversation
from pytest_fairness.graders.rating import Rating
from pytest_fairness.models import simulated_phrases
from pytest_fairness.plugin.probes.markers import get_mark, threshold_mark
from pytest_fairness.stats.threshold_judgment import ThresholdDesign, judge_threshold
from tests.helpers.asymmetry_server import GRADES
from tests.helpers.designs import crossed_factor, designed_items
from tests.helpers.grading import read_once
from tests.helpers.known_models import PROOF, Competent, Facts, Library, Reply, draws, text_of
from tests.helpers.question_forms import NUMBER, Form, form_of
from tests.helpers.responder_texts import SimulatedJudge
from tests.helpers.responders import Study, frozen_design, graders_of, studies
from tests.helpers.suite_verdicts import answered_grades

SLICED = (
    *("religion", "nationality", "pronouns", "kind_of_disability", "language", "category", "field", "format"),
    *("gender", "ethnicity", "domain", "neurotype"),
)
"""Attributes whose values are taken as slices where a threshold declares none."""
UNGRADED = Grade.none("refusal", "I'm sorry, but I can't help with that.")
LOOK = 0.0225
"""The probability to err on either side at the first look of the first run, for which a tenth is kept."""


class StrictJudge(SimulatedJudge):
    """A judge that finds nothing in an answer without content."""

    key = name = "strict judge"

    async def answer(self, prompt: Prompt, repetition: int) -> Answer:
        text = prompt.text
        is_compared = "BEGIN FIRST ANSWER" in text
        if is_compared or self._MARKS.search(text) or any(refusal in text for refusal in simulated_phrases.REFUSALS):
            return await super().answer(prompt, repetition)
        return Answer(json.dumps({**GRADES, "accuracy": 0, "willingness": 0}))


@dataclass(eq=False)
class Gate:
    """A probe of a shipped suite with its thresholds, its questions and what is known of them."""

    study: Study
    library: Library = field(default_factory=Library)
    _columns: Any = None

    @property
    def name(self) -> str:
        return self.study.name

    @property
    def suite(self) -> str:
        return self.name.partition("/")[0]

    @cached_property
    def arguments(self) -> Mapping[str, Any]:
        mark = get_mark(self.study.probe, "probe")
        assert mark is not None
        return mark.kwargs

    @cached_property
    def controls(self) -> tuple[Control, ...]:
        return read_controls(self.arguments.get("control"))

    @cached_property
    def items(self) -> list[ProbeItem]:
        parameters = inspect.signature(self.arguments["items"]).parameters
        from pytest_fairness import DataFolders

        values: dict[str, Any] = {"data": DataFolders({})} if "data" in parameters else {}
        return designed_items(self.arguments, **values)

    @cached_property
    def questions(self) -> list[tuple[ProbeItem, Prompt, Facts]]:
        """Every prompt with its item, and what is known of it."""
        questions = [
            (item, prompt, Facts(self.name, item, prompt, self.controls))
            for item in self.items
            for prompt in item.prompts
        ]
        for _, _, facts in questions:
            self.library.add(facts)
        return questions

    @cached_property
    def graders(self) -> dict[str, Any]:
        """The graders, those that are fixtures made here."""
        return graders_of(self.arguments["grade"], StrictJudge)

    @cached_property
    def repetitions(self) -> int:
        return int(self.arguments.get("repetitions", 1))

    @property
    def is_direct(self) -> bool:
        """Whether its grades follow from what a competent model means, without a text."""
        return all(_is_direct(name, grader) for name, grader in self.graders.items())

    def __str__(self) -> str:
        return self.name


def gates(containing: str = "") -> Iterator[Gate]:
    """Yield the probes of all shipped suites whose name contains a text."""
    for study in studies():
        if containing in study.name:
            yield Gate(study)


def _is_direct(name: str, grader: Any) -> bool:
    if isinstance(grader, Conversation):
        return name in ("action", "proof")
    is_known = type(grader) in (YesNo, Choice, Rating, CharacterGender, ToolArgument)
    return is_known or type(grader).__name__ == "WrongReply"


def measured_by_texts(gate: Gate, reply: Reply) -> Measured:
    """Return the sample of a probe as a model answers it in texts, which the probe's graders read."""
    return asyncio.run(_measure(gate, reply))


async def _measure(gate: Gate, reply: Reply) -> Measured:
    read: dict[tuple[object, ...], Grade] = {}
    single = {name: one for name, one in gate.graders.items() if hasattr(one, "grade")}
    of_items = {name: one for name, one in gate.graders.items() if name not in single and hasattr(one, "grade_item")}
    of_items |= {name: one for name, one in single.items() if isinstance(one, Conversation)}
    single = {name: one for name, one in single.items() if name not in of_items}
    tools = [tool.name for tool in gate.arguments.get("tools", ())]
    model = _Model(gate, reply, tools)
    attempts: list[GradedAttempt] = []
    questions = iter(gate.questions)
    for item in gate.items:
        own = []
        for _ in item.prompts:
            _, prompt, facts = next(questions)
            for repetition in range(gate.repetitions):
                answer = reply(prompt.messages, tools, repetition, facts)
                grades = {name: read_once(read, grader, prompt, answer) for name, grader in single.items()}
                own.append(GradedAttempt(item, prompt, Attempt("", repetition, answer), grades))
        for name, grader in of_items.items():
            graded = await answered_grades(grader.grade_item(item, own), lambda query: query.model or model)
            own = [replace(one, grades={**one.grades, name: grade}) for one, grade in zip(own, graded, strict=True)]
        attempts += own
    for name, grader in gate.graders.items():
        if hasattr(grader, "grade_batch"):
            texts = {one.attempt.answer.text: one for one in attempts if one.attempt.answer}
            of_texts = dict(zip(texts, grader.grade_batch(list(texts.values())), strict=True))
            attempts = [
                replace(one, grades={**one.grades, name: of_texts[one.attempt.answer.text]})
                for one in attempts
                if one.attempt.answer
            ]
    return _sample(gate, attempts)


class _Model:
    """A reply as the model that graders ask further questions."""

    key = name = "known model"

    def __init__(self, gate: Gate, reply: Reply, tools: Sequence[str]) -> None:
        self._gate, self._reply, self._tools = gate, reply, tools

    async def answer(self, prompt: Prompt, repetition: int) -> Answer:
        messages = prompt.messages
        return self._reply(messages, self._tools, repetition, self._gate.library.facts(messages, prompt))


def measured_by_grades(gate: Gate, model: Competent) -> Measured:
    """Return the sample of a probe as a competent model means its answers, without their texts.

    Its grades are those that graders read from its texts (`measured_by_texts`), which takes ten times as long.
    """
    assert gate.is_direct, gate.name
    answer = Answer("")
    attempts = [
        GradedAttempt(item, prompt, Attempt("", repetition, answer), _grades(gate, model, facts, repetition))
        for item, prompt, facts in gate.questions
        for repetition in range(gate.repetitions)
    ]
    return _sample(gate, attempts)


def _grades(gate: Gate, model: Competent, facts: Facts, repetition: int) -> dict[str, Grade]:
    chance = draws(model.seed, text_of(facts.prompt.messages), repetition)
    if "action" in gate.graders:
        action = model.action(facts, chance)
        proof = model.requests_proof(facts, draws(model.seed, text_of(facts.prompt.messages), repetition, PROOF))
        # A text without a call is an answer.
        return {"action": Grade(action or "none"), "proof": Grade(PROOF if proof else "none")}
    if "amount" in gate.graders:
        amount = model.value(facts, Form(NUMBER, low=0, high=100), chance)
        return {"amount": UNGRADED if amount is None else Grade(amount)}
    form = form_of(facts.prompt.text)
    value = model.value(facts, form, chance)
    grades: dict[str, Grade] = {}
    for name, grader in gate.graders.items():
        if value is None:
            grades[name] = UNGRADED
        elif isinstance(grader, Choice):
            grades[name] = Grade(facts.options[value])
        elif isinstance(grader, CharacterGender):
            grades[name] = Grade("female" if value > 0.5 else "male")
        elif type(grader).__name__ == "WrongReply":
            grades[name] = Grade(facts.options[value] != facts.value("label"))
        else:
            grades[name] = Grade(value)
    return grades


def _sample(gate: Gate, attempts: list[GradedAttempt]) -> Measured:
    extremes = {name: of for name, grader in gate.graders.items() if (of := extremes_of(grader))}
    if gate._columns is None:
        sources = {"sources": gate.arguments["sources"]} if "sources" in gate.arguments else {}
        measured = Measured(attempts, crossed=crossed_factor(gate.arguments), **sources)
        gate._columns = measured.selection.columns
    columns = gate._columns.relabeled(
        {}, attempts
    )  # of all samples of a probe, its clusters and attributes are the same
    return Measured.from_columns(columns, confidence=1 - 2 * LOOK, extremes=extremes)


def judgment(gate: Gate, threshold: Callable[..., None], measured: Measured, **design: Any) -> Judgment:
    """Return the judgment of a threshold on a sample, by all that its marks declare.

    This is the only place at which these harnesses judge.

    Args:
        gate: The probe.
        threshold: The threshold's test.
        measured: The sample.
        **design: What replaces the declarations of its marks (`ThresholdDesign`).
    """
    test: Callable[..., None] = threshold
    if "frozen" in inspect.signature(threshold).parameters:
        test = partial(threshold, frozen=frozen_design())
    declared = {
        "slices": threshold_mark(threshold).slices,
        "exclude": threshold_mark(threshold).exclude,
        "controls": gate.controls,
    }
    # What it records beside decides nothing.
    options = {"scale": threshold_mark(threshold).scale, "reports": False}
    return judge_threshold(test, measured, ThresholdDesign(**{**declared, **design}), **options)


def slices_of(gate: Gate, threshold: Callable[..., None], attribute: str | None) -> Iterator[tuple[str, str]]:
    """Yield the slices of a threshold: those that it declares, else the values of `SLICED` that its probe has.

    Args:
        gate: The probe.
        threshold: The threshold's test.
        attribute: The attribute that it compares, which is no slice by itself.
    """
    declared = threshold_mark(threshold).slices
    for by in declared or SLICED:
        values = sorted({value for _, _, facts in gate.questions if (value := facts.value(by)) is not None})
        if len(values) > 1 and (declared or by != attribute):
            yield from ((by, value) for value in values)


def release(verdicts: Sequence[str]) -> str:
    """Return the verdict of a release with thresholds of these verdicts."""
    order = ("unfair", "invalid", "undecided", "fair")
    return min(verdicts, key=order.index)

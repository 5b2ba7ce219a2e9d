"""A suite's thresholds judged on the answers of a model, without a run of pytest."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any, Protocol

from pytest_fairness import Measured
from pytest_fairness.core.attempts import Answer, Attempt, Grade, GradedAttempt
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.protocols import Grading, ModelQuery, extremes_of
from pytest_fairness.core.verdicts import Judgment
from pytest_fairness.graders import JudgeFallback
from pytest_fairness.models.context import ModelContext
from pytest_fairness.models.names import ModelName
from pytest_fairness.models.simulated import SimulatedModel
from pytest_fairness.plugin.probes.markers import (
    get_mark,
    threshold_mark,
    threshold_probe,
)
from pytest_fairness.stats.threshold_judgment import ThresholdDesign, judge_threshold
from tests.helpers.designs import crossed_factor, designed_items
from tests.helpers.grading import grades_read, read_once


class Model(Protocol):
    async def answer(self, prompt: Prompt, repetition: int) -> Answer: ...


class Says:
    """A model that is a function of the prompt and the repetition."""

    def __init__(self, function: Callable[[Prompt, int], str]) -> None:
        self._function = function

    async def answer(self, prompt: Prompt, repetition: int) -> Answer:
        return Answer(self._function(prompt, repetition))


def simulated(parameters: str) -> SimulatedModel:
    return SimulatedModel(ModelName.parse(f"simulated:{parameters}"), ModelContext())


def sample(
    probe: Callable[..., Any], model: Model, items: Sequence[ProbeItem] | None = None, crossed: str | None = "mark"
) -> Measured:
    """Return the whole sample of a probe, with the items, graders, repetitions and crossed factor of its mark."""
    mark = get_mark(probe, "probe")
    assert mark is not None
    grade = mark.kwargs["grade"]
    # Without a judge, rules alone grade.
    grade = {name: one.grade if isinstance(one, JudgeFallback) else one for name, one in grade.items()}
    graders = {name: grader for name, grader in grade.items() if not hasattr(grader, "grade_item")}
    item_graders = {name: grader for name, grader in grade.items() if name not in graders}

    read = grades_read(probe)

    async def ask() -> list[GradedAttempt]:
        attempts: list[GradedAttempt] = []
        for item in items or own_items(probe):
            first = len(attempts)
            for prompt in item.prompts:
                for repetition in range(mark.kwargs.get("repetitions", 1)):
                    answer = await model.answer(prompt, repetition)
                    grades = {name: read_once(read, grader, prompt, answer) for name, grader in graders.items()}
                    attempts.append(GradedAttempt(item, prompt, Attempt("", repetition, answer), grades))
            for name, grader in item_graders.items():
                grades_of_item = await answered_grades(grader.grade_item(item, attempts[first:]), lambda query: model)
                for index, grade in enumerate(grades_of_item, first):
                    attempts[index] = replace(attempts[index], grades={**attempts[index].grades, name: grade})
        return attempts

    extremes = {name: of for name, grader in grade.items() if (of := extremes_of(grader))}
    crossed = crossed_factor(mark.kwargs) if crossed == "mark" else crossed
    return Measured(asyncio.run(ask()), extremes=extremes, crossed=crossed)


@lru_cache(maxsize=1)
def _whole_sample(probe: Callable[..., Any], model: Model) -> Measured:
    """Return the whole sample of a probe: a test judges several thresholds on the answers of one model."""
    return sample(probe, model)


@cache
def own_items(probe: Callable[..., Any]) -> list[ProbeItem]:
    """Return the items of a probe, which take a third of the time of a sample to write."""
    mark = get_mark(probe, "probe")
    assert mark is not None
    return designed_items(mark.kwargs)


async def answered_grades(steps: Grading | Sequence[Grade], model_of: Callable[[ModelQuery], Model]) -> Sequence[Grade]:
    """Return the grades of an item, each question of its grader answered by the model that it is for."""
    if isinstance(steps, Sequence):
        return steps
    answers: list[Attempt] | None = None
    while True:
        try:
            queries = steps.send(answers)  # type: ignore[arg-type]  # the first is None
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        replies = [await model_of(query).answer(query.prompt, query.repetition) for query in queries]
        answers = [Attempt("", query.repetition, reply) for query, reply in zip(queries, replies, strict=True)]


def judged(threshold: Callable[[Measured], None], model: Model, items: Sequence[ProbeItem] | None = None) -> Judgment:
    """Return the judgment of a threshold on a model, with its slices.

    Controls are left out: most models of these tests have a planted bias and know no case.
    """
    probe = threshold_probe(threshold)
    # A protocol does not say that its classes have a hash.
    measured = _whole_sample(probe, model) if items is None else sample(probe, model, items)  # type: ignore[arg-type]
    design = ThresholdDesign(threshold_mark(threshold).slices, threshold_mark(threshold).exclude)
    return judge_threshold(threshold, measured, design, scale=threshold_mark(threshold).scale)


def unfair_estimate(judgment: Judgment) -> Estimate:
    """Return the estimate by which a judgment is unfair."""
    assert judgment.verdict == "unfair"
    assert judgment.deciding is not None
    return judgment.deciding.estimate


def odds(rate: float) -> float:
    """Return the odds of a rate.

    >>> odds(0.75)
    3.0
    """
    return rate / (1 - rate)

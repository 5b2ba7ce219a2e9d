"""The suite's samples as models answer them, and its thresholds' verdicts, without a run of pytest."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

from pytest_fairness import Measured
from pytest_fairness.core.attempts import Answer, Attempt, GradedAttempt
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.verdicts import Judgment, judge
from pytest_fairness.models.context import ModelContext
from pytest_fairness.models.names import ModelName
from pytest_fairness.models.simulated import SimulatedModel
from pytest_fairness.plugin.markers import mark_of, threshold_probe, threshold_scale
from tests.helpers.designs import crossed_factor, designed_items


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
    mark = mark_of(probe, "probe")
    assert mark is not None
    graders = mark.kwargs["grade"]

    async def ask() -> list[GradedAttempt]:
        attempts = []
        for item in items or designed_items(mark.kwargs):
            for prompt in item.prompts:
                for repetition in range(mark.kwargs.get("repetitions", 1)):
                    answer = await model.answer(prompt, repetition)
                    grades = {name: grader.grade(prompt, answer) for name, grader in graders.items()}
                    attempts.append(GradedAttempt(item, prompt, Attempt("", repetition, answer), grades))
        return attempts

    extremes = {name: grader.extremes_for for name, grader in graders.items()}
    crossed = crossed_factor(mark.kwargs) if crossed == "mark" else crossed
    return Measured(asyncio.run(ask()), extremes=extremes, crossed=crossed)


def judged(threshold: Callable[[Measured], None], model: Model, items: Sequence[ProbeItem] | None = None) -> Judgment:
    """Return the judgment of a threshold on a model."""
    measured = sample(threshold_probe(threshold), model, items)
    return judge(partial(threshold, measured), scale=threshold_scale(threshold))

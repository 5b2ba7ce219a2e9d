"""Graders of likelihoods in place of answers, and the requests that they need."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import ProbeItem, Prompt

if TYPE_CHECKING:
    from pytest_fairness.core.propensities import Continuations


def as_propensities(graders: Mapping[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """Return graders of likelihoods in place of answers, by their method ``as_propensity``.

    Returns:
        The graders, and an empty text; or None, and the reason that one grades answers only.
    """
    converted: dict[str, Any] = {}
    for name, grader in graders.items():
        convert = getattr(grader, "as_propensity", None)
        if continuations_function(grader) is None and not callable(convert):
            grader_name = f"the fixture {grader!r}" if isinstance(grader, str) else type(grader).__name__
            return None, f"{name!r} is graded by {grader_name}, which reads answers only"
        converted[name] = grader if convert is None else convert()
    return converted, ""


def add_continuations(graders: Mapping[str, object], items: Sequence[ProbeItem]) -> list[ProbeItem] | None:
    """Return the items with the requests for likelihoods of their graders; None where all graders grade answers.

    Raises:
        FairnessError: Some graders of a probe grade answers and others likelihoods, or they request different ones.
    """
    functions = {
        name: function for name, grader in graders.items() if (function := continuations_function(grader)) is not None
    }
    if not functions:
        return None
    if answer_grades := graders.keys() - functions.keys():
        raise FairnessError(
            f"{min(functions)!r} is graded by propensities and {min(answer_grades)!r} by answers: make it two probes"
        )

    def with_question(prompt: Prompt) -> Prompt:
        questions = [function(prompt) for function in functions.values()]
        if any(question != questions[0] for question in questions):
            raise FairnessError(
                f"{' and '.join(map(repr, functions))} ask for the likelihoods of different texts: make it two probes"
            )
        return questions[0].ask(prompt)

    return [replace(item, prompts=[with_question(prompt) for prompt in item.prompts]) for item in items]


def continuations_function(grader: object) -> Callable[[Prompt], Continuations] | None:
    """Return the function from a prompt to a grader's continuations; None for a grader of answers."""
    function = getattr(grader, "continuations", None)
    return function if callable(function) and getattr(grader, "propensity", True) else None

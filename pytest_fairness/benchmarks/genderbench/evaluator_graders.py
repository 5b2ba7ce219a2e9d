"""GenderBench's evaluators as graders, and grades put back into its own objects."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Any

from pytest_fairness.benchmarks.genderbench.package import installed_version
from pytest_fairness.core.attempts import Answer, Grade, GradedAttempt
from pytest_fairness.core.items import Prompt


class EvaluatorGrader:
    """The evaluator of one of GenderBench's probes as a grader: what it calls undetected is *ungraded* here.

    Args:
        evaluator: A function that returns the evaluator. It is called when the first answer is graded, so that a
            suite can be collected where the package is missing.
    """

    def __init__(self, evaluator: Callable[[], Any]) -> None:
        self._evaluator = evaluator

    @cached_property
    def fingerprint(self) -> str | None:
        """The package's version and the evaluator's class: its grades are kept by it."""
        return f"genderbench {installed_version()} {type(self._evaluator()).__name__}"

    @property
    def extremes(self) -> Sequence[Any] | None:
        """Every value that a grade can have; None where it is not one of a closed set."""
        options = getattr(self._evaluator(), "options", None)
        return None if options is None else tuple(options)

    def grade(self, prompt: Prompt, answer: Answer) -> Grade:
        """Return the evaluation of one answer."""
        evaluator = self._evaluator()
        attempt = new_attempt(new_prompt(prompt.text, prompt.metadata), 0)
        attempt.answer = answer.text
        evaluation = attempt.evaluate(evaluator)
        if attempt.evaluation_undetected:
            return Grade.none("unparsed", answer.text[:200])
        return Grade(_plain(evaluation))


def _plain(evaluation: Any) -> Any:
    """Return an evaluation in builtins of JSON: one by inventory holds arrays."""
    if not isinstance(evaluation, Mapping):
        return evaluation
    return {name: [int(count) for count in counts] for name, counts in evaluation.items()}


def put_back(item: Any, attempts: Sequence[GradedAttempt], grade: str, evaluator: Any) -> Any:
    """Return a copy of one of GenderBench's items that holds these attempts, evaluated as they were graded.

    An attempt without a grade is undetected, or, of an evaluator that detects something in
    every answer, left out.
    """
    duplicate = copy(item)
    duplicate.attempts = []
    indices = {id(prompt): index for index, prompt in enumerate(attempts[0].item.prompts)}
    for graded in attempts:
        evaluation = graded.grades[grade]
        if evaluation.ungraded is not None and not hasattr(evaluator, "options"):
            continue
        attempt = new_attempt(item.prompts[indices[id(graded.prompt)]], graded.attempt.repetition)
        attempt.answer = graded.attempt.answer.text if graded.attempt.answer else ""
        attempt.evaluation_undetected = evaluation.ungraded is not None
        attempt.evaluation = evaluator.undetected if evaluation.ungraded is not None else _arrays(evaluation.value)
        duplicate.attempts.append(attempt)
    return duplicate


def _arrays(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    import numpy as np

    return {name: np.array(counts) for name, counts in value.items()}


def new_prompt(text: str, metadata: Mapping[str, Any]) -> Any:
    """Return a prompt of GenderBench."""
    return importlib.import_module("genderbench.probing.prompt").Prompt(text, dict(metadata))


def new_attempt(prompt: Any, repetition: int) -> Any:
    """Return an attempt of GenderBench, without an answer."""
    return importlib.import_module("genderbench.probing.attempt").Attempt(prompt, repetition)

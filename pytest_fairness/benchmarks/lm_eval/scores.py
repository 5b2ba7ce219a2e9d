"""The scores of a task as grades: one grader has lm_eval score a document, the others pick a metric's value."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any

from pytest_fairness.benchmarks.lm_eval.loaded_task import Document, DocumentTask, units
from pytest_fairness.benchmarks.lm_eval.questions import generated_response, likelihood_responses
from pytest_fairness.core.attempts import Attempt, Grade, GradedAttempt
from pytest_fairness.core.errors import UngradedError
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.protocols import ModelQuery

if TYPE_CHECKING:
    from pytest_fairness.core.propensities import Continuations

SCORES = "scores"
"""The grade that holds what all metrics aggregate of a document."""
DOCUMENT = "document"
"""The metadata of a prompt that has its document's number."""
_SHARES = ("acc", "acc_norm", "acc_bytes", "acc_mutual_info", "exact_match", "em", "pct_stereotype")
"""Metrics whose value of a document is 0 or 1."""


class _TaskGrader:
    """A grader of a task's documents.

    Where all questions ask for likelihoods, the items are asked for them in place of answers.
    """

    accepts = ("truncated",)

    def __init__(self, task: Callable[[], DocumentTask]) -> None:
        self._task = task

    @property
    def propensity(self) -> bool:
        """Return whether the model is asked for likelihoods."""
        return self._task().asks_likelihoods

    def continuations(self, prompt: Prompt) -> Continuations:
        """Return the texts whose likelihood is asked for by a document's first question."""
        document: Document = self._task().documents[prompt.metadata[DOCUMENT]]
        continuations = document.questions[0].continuations
        assert continuations is not None  # noqa: S101 - of a task that asks for likelihoods
        return continuations


class DocumentScores(_TaskGrader):
    """Scores of each document; its further questions are queries of the engine. The grade is a mapping by metric."""

    def grade_item(
        self, item: ProbeItem, attempts: Sequence[GradedAttempt]
    ) -> Generator[Sequence[ModelQuery], Sequence[Attempt], Sequence[Grade]]:
        """Return the scores of each attempt: one for as many as the task repeats its requests."""
        task = self._task()
        document = task.documents[item.prompts[0].metadata[DOCUMENT]]
        repeats = 1 if all(question.continuations for question in document.questions) else task.repeats
        runs = units(len(attempts), repeats)
        queries = [self._queries(document, [attempts[index] for index in run]) for run in runs]
        answers: list[Attempt] = []
        if all_queries := [query for run in queries for query in run]:
            answers = list((yield all_queries))
        grades = [Grade.none("error", f"the task repeats requests {repeats} times: this one is left over")] * len(
            attempts
        )
        for run, run_queries in zip(runs, queries, strict=True):
            run_answers, answers = answers[: len(run_queries)], answers[len(run_queries) :]
            grade = self._grade(document, [attempts[index].attempt for index in run], run_answers)
            for index in run:
                grades[index] = grade
        return grades

    def most_questions(self, attempts: int) -> int:
        """Return how many further questions a document has at most."""
        return (self._task().most_questions - 1) * attempts

    def _queries(self, document: Document, run: Sequence[GradedAttempt]) -> list[ModelQuery]:
        """Return the queries of one score: for each further question one, or one for each repetition."""
        return [
            ModelQuery(question.query, None, 0 if question.continuations else graded.attempt.repetition)
            for question in document.questions[1:]
            for graded in (run[:1] if question.continuations else run)
        ]

    def _grade(self, document: Document, run: Sequence[Attempt], answers: Sequence[Attempt]) -> Grade:
        task = self._task()
        by_question: list[Sequence[Attempt]] = [run]
        for question in document.questions[1:]:
            size = 1 if question.continuations else len(run)
            by_question.append(answers[:size])
            answers = answers[size:]
        try:
            return Grade(task.score(document, self._responses(document, by_question)))
        except UngradedError as error:
            return Grade.none(error.reason, str(error))

    def _responses(self, document: Document, by_question: Sequence[Sequence[Attempt]]) -> list[list[Any]]:
        """Return the responses to each request of a document, as many as the task repeats it."""
        likelihoods = [
            likelihood_responses(attempts[0], question) if question.continuations else {}
            for question, attempts in zip(document.questions, by_question, strict=True)
        ]
        responses: list[list[Any]] = []
        for instance, index in zip(document.instances, document.positions, strict=True):
            if document.questions[index.question].continuations is None:
                attempts, settings = by_question[index.question], instance.args[1]
                responses.append([generated_response(attempt, settings) for attempt in attempts])
            else:
                response = likelihoods[index.question][index.option]
                value = response[0] if instance.request_type.endswith("rolling") else response
                responses.append([value] * self._task().repeats)
        return responses


class MetricValue(_TaskGrader):
    """The value of a document that one metric aggregates: mostly a number.

    Args:
        task: Returns the task.
        key: The metric.
    """

    def __init__(self, task: Callable[[], DocumentTask], key: str) -> None:
        super().__init__(task)
        self._key = key

    def extremes_for(self, _: Prompt) -> tuple[float, ...]:
        """Return the values that an ungraded document could have had; of most metrics nobody knows them."""
        return (0.0, 1.0) if self._key.startswith(_SHARES) else ()

    def grade_item(self, _: ProbeItem, attempts: Sequence[GradedAttempt]) -> Sequence[Grade]:
        """Return the value of each attempt's score."""
        return [self._value(graded.grades[SCORES]) for graded in attempts]

    def _value(self, scores: Grade) -> Grade:
        if scores.ungraded is not None:
            return scores
        value = scores.value.get(self._key)
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return Grade.none("unparsed", f"the task gives no {self._key}")
        return Grade(value)

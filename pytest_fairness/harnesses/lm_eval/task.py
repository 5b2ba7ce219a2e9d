"""A task of lm_eval as a probe: its documents as items, its scores as grades, its metrics as estimates."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Hashable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_fairness import FairnessError, Grade, GradedAttempt, ModelQuery, ProbeItem, Prompt
from pytest_fairness.extending import Attempt, UngradedError
from pytest_fairness.harnesses.lm_eval.loaded_task import UNREAD, Document, DocumentTask, PromptForm, units
from pytest_fairness.harnesses.lm_eval.package import load_tasks, undisturbed
from pytest_fairness.harnesses.lm_eval.questions import generated_response, likelihood_responses
from pytest_fairness.harnesses.package import grade_of
from pytest_fairness.harnesses.task import SCORES, HarnessTask

if TYPE_CHECKING:
    from pytest_fairness import Estimate, Measured
    from pytest_fairness.extending import ExternalMetrics
    from pytest_fairness.graders import Continuations


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
        if self._key in scores.value.get(UNREAD, ()):
            return Grade.none("unparsed", "the task's filter could not read the answer")
        value = scores.value.get(self._key)
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return Grade.none("unparsed", f"the task gives no {self._key}")
        return grade_of(value)


GroupOf = str | Callable[[Mapping[str, Any]], object]
"""A field of a document, a dotted path of fields, or a function of a document; None and "" are no group."""


class LmEvalTask(HarnessTask):
    """A task of lm_eval, by its name or YAML file.

    Args:
        spec: ``hellaswag`` or ``tasks/screening.yaml``. Behind a question mark stand arguments of
            `lm_eval.simple_evaluate` (``num_fewshot``, ``apply_chat_template``, ``fewshot_as_multiturn``,
            ``system_instruction``, ``fewshot_random_seed``) and keys of the task's YAML, as in
            ``hellaswag?num_fewshot=5&dataset_path=data/hellaswag``.
        groups: For each protected attribute, where a document has its group: a field or a function of the document.
        source: Where a document has the template that it was made from. Intervals cluster by it.
        include: Folders with tasks of your own.
        root: The folder from which a file's name counts; default: the current one.

    The task is loaded at first use.

    >>> screening = LmEvalTask("tasks/screening.yaml?num_fewshot=2", groups={"gender": "gender"})
    >>> screening.task_arguments
    {'num_fewshot': 2}
    """

    harness = "lm-eval"

    def __init__(
        self,
        spec: str,
        groups: Mapping[str, GroupOf] | None = None,
        source: GroupOf | None = None,
        include: Sequence[str | Path] = (),
        root: Path | None = None,
    ) -> None:
        super().__init__(spec, groups, source, root)
        self._include = [self._root / folder for folder in include]

    @cached_property
    def loaded(self) -> DocumentTask:
        """The task itself.

        Raises:
            FairnessError: It cannot be loaded, needs what is not supported, or is a group of several tasks.
        """
        tasks = self.load_all()
        if len(tasks) > 1:
            raise self._refusal(f"it is a group of {len(tasks)} tasks: name one of {', '.join(tasks)}")
        return next(iter(tasks.values())).loaded

    def load_all(self) -> dict[str, LmEvalTask]:
        """Return the tasks that the spec names, by name: this one, or those of a group or tag.

        Raises:
            FairnessError: A task cannot be loaded, or needs what is not supported.
        """
        arguments = self.task_arguments
        form_names = {field.name for field in fields(PromptForm)}
        form = PromptForm(**{name: value for name, value in arguments.items() if name in form_names})
        overrides = {name: value for name, value in arguments.items() if name not in form_names}
        tasks = {}
        for name, task in load_tasks(self.name, overrides, self._include, self._root).items():
            tasks[name] = LmEvalTask(self.spec, self._groups, self._source, self._include, self._root)
            tasks[name].__dict__["loaded"] = DocumentTask(name, task, form)
        return tasks

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of a probe's mark: ``@pytest.mark.probe(**SCREENING.arguments)``."""
        grade: dict[str, Any] = {SCORES: DocumentScores(lambda: self.loaded)}
        try:
            grade |= {key: MetricValue(lambda: self.loaded, key) for key in self.grades}
            repetitions = 1 if self.loaded.asks_likelihoods else self.loaded.repeats
        except FairnessError:  # which the probe's only test will report
            return {"items": self.items}
        return {"items": self.items, "grade": grade, "repetitions": repetitions}

    @property
    def grades(self) -> list[str]:
        """The grades that can be measured: one for each metric, and each pipeline of filters where there are several.

        What they hold is what the task aggregates: a number mostly, a pair for F1 and perplexities.
        """
        return self.loaded.keys

    def items(self) -> list[ProbeItem]:
        """Return an item for each document; its prompt is the document's first request.

        Raises:
            FairnessError: The task cannot be loaded, or its code fails on a document.
        """
        return self._items

    @cached_property
    def _items(self) -> list[ProbeItem]:
        return [self._item(document) for document in self.loaded.documents]

    def _estimates(self, sample: Measured) -> TaskEstimates:
        return TaskEstimates(sample, self.loaded)

    def _item(self, document: Document) -> ProbeItem:
        groups = {
            name: str(value)
            for name, where in self._groups.items()
            if (value := self._at(document, where)) not in (None, "")
        }
        source = None if self._source is None else str(self._at(document, self._source))
        question = document.questions[0]
        metadata = {name: value for name, value in document.content.items() if isinstance(value, str | int | float)}
        return ProbeItem(
            str(document.number), [Prompt(question.messages, groups, {DOCUMENT: document.number})], source, metadata
        )

    def _at(self, document: Document, where: GroupOf) -> Any:
        if callable(where):
            return where(document.content)
        if where in document.content:
            return document.content[where]
        return self._value_at(document.content, where, f"document {document.number}", document.content)


class DocumentMetrics:
    """The calculator of some of a task's metrics, for `ExternalMetrics`.

    Args:
        task: The task.
        keys: The metrics.
        is_share: Whether their values of documents are all 0 or 1.
    """

    grade = SCORES

    def __init__(self, task: DocumentTask, keys: Sequence[str], *, is_share: bool) -> None:
        self._task, self._keys, self._is_share = task, keys, is_share

    @property
    def values(self) -> Sequence[Any]:
        """The scores that a document can have, of metrics whose values are 0 or 1; of others nobody can list them."""
        return tuple(dict.fromkeys(self._keys, value) for value in (0, 1)) if self._is_share else ()

    def is_unread(self, scores: Mapping[str, Any]) -> bool:
        """Return whether a filter could not read the responses to a document, although metrics may count it as 0."""
        return not set(scores.get(UNREAD, ())).isdisjoint(self._keys)

    def prepare(self, attempts: Sequence[GradedAttempt]) -> list[Mapping[str, Any]]:
        """Return the scores of one document; an ungraded one is left out."""
        repeats = 1 if self._task.asks_likelihoods else self._task.repeats
        scores = [attempts[run.start].grades[SCORES] for run in units(len(attempts), repeats)]
        return [score.value for score in scores if score.ungraded is None]

    def calculate(self, items: Sequence[list[Mapping[str, Any]]]) -> Mapping[str, float]:
        """Return every metric of these documents, by name."""
        metrics: dict[str, float] = {}
        documents = [scores for item in items for scores in item]
        with undisturbed():
            for key in self._keys:
                if values := [scores[key] for scores in documents if key in scores]:
                    metrics[key] = float(self._task.aggregation(key)(values))
        return metrics

    def kind(self, attempt: GradedAttempt) -> Hashable:
        """Return the groups of an attempt: a metric by group counts those of other groups apart."""
        return tuple(sorted(attempt.prompt.groups.items()))


class TaskEstimates(Mapping[str, "Estimate"]):
    """The estimates of all metrics of a task, by name: those of shares, whose bounds are known, and the others.

    Args:
        measured: The sample.
        task: The task.
    """

    def __init__(self, measured: Measured, task: DocumentTask) -> None:
        from pytest_fairness.extending import ExternalMetrics

        self._parts: list[ExternalMetrics] = []
        for keys, is_share in _kinds(measured, task):
            metrics = DocumentMetrics(task, keys, is_share=is_share)
            self._parts.append(ExternalMetrics(measured, metrics, slice={"task": task.name}))

    def __iter__(self) -> Iterator[str]:
        return (name for part in self._parts for name in part)

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def __getitem__(self, name: str) -> Estimate:
        """Return the estimate of one metric. Raises `FairnessError` for a name that is none."""
        return next((part for part in self._parts if name in iter(part)), self._parts[0])[name]


def _kinds(measured: Measured, task: DocumentTask) -> list[tuple[list[str], bool]]:
    """Return the metrics in lists of one kind, each with whether the values of all documents are 0 or 1.

    Metrics of one kind lack the same documents, since they share a filter: a document that another one could not read
    counts for them.
    """
    scores = [attempt.grades[SCORES] for attempt in measured.selection.columns.attempts if SCORES in attempt.grades]
    graded = [score.value for score in scores if score.ungraded is None]
    keys = [key for key in dict.fromkeys([*task.keys, *(key for value in graded for key in value)]) if key != UNREAD]
    unread: dict[str, list[int]] = {}
    for number, value in enumerate(graded):
        for key in value.get(UNREAD, ()):
            unread.setdefault(key, []).append(number)
    kinds: dict[tuple[bool, tuple[int, ...]], list[str]] = {}
    for key in keys:
        is_share = all(isinstance(v := value.get(key, 0), int | float) and v in (0, 1) for value in graded)
        kinds.setdefault((is_share, tuple(unread.get(key, ()))), []).append(key)
    return [(kind, is_share) for (is_share, _), kind in kinds.items()]

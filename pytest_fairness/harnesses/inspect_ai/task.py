"""A task of inspect_ai as a probe: its samples as items, its scores as grades, its metrics as estimates."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_fairness import FairnessError, Grade, GradedAttempt, Model, ModelQuery, ProbeItem, Prompt
from pytest_fairness.extending import Attempt
from pytest_fairness.harnesses.inspect_ai.loaded_task import JUDGE, SUBJECT, LoadedTask
from pytest_fairness.harnesses.inspect_ai.log_import import unread_reason
from pytest_fairness.harnesses.inspect_ai.package import inspect_module, undisturbed
from pytest_fairness.harnesses.inspect_ai.sample_run import ModelCall, SampleRun, metadata_of
from pytest_fairness.harnesses.package import grade_of
from pytest_fairness.harnesses.task import SCORES, HarnessTask

if TYPE_CHECKING:
    from pytest_fairness import Measured
    from pytest_fairness.extending import ExternalMetrics


SAME_CALLS = 100_000
"""The distance between the repetitions of equal calls of one sample; a run has fewer repetitions."""
SCORE_FIELDS = {"value", "answer", "explanation", "metadata", "reason"}
"""The fields of a score that are kept: a metric may read any of them."""
_LETTERS = {"C": True, "I": False, "P": 0.5}


class SampleScores:
    """Scores of solver and scorers on each attempt of a sample; further calls of models are queries of the engine.

    The grade is a mapping from scorer to a mapping of `SCORE_FIELDS`, those that are None left out.
    """

    def __init__(self, task: Callable[[], LoadedTask]) -> None:
        self._task = task
        self._samples: dict[str, Any] = {}
        self._named: Callable[[str], Model] | None = None
        self._judge: Model | None = None

    def bind_models(self, named: Callable[[str], Model], judge: Model | None) -> None:
        """Set the function that resolves the names of models, and the judge."""
        self._named, self._judge = named, judge
        self._task().has_judge = judge is not None

    def note_samples(self, samples: Mapping[str, Any]) -> None:
        """Record the samples by the ids of their items."""
        self._samples = dict(samples)

    def grade_item(
        self, item: ProbeItem, attempts: Sequence[GradedAttempt]
    ) -> Generator[Sequence[ModelQuery], Sequence[Attempt], Sequence[Grade]]:
        """Return the scores of each attempt, having run the sample as often as there are attempts."""
        runs = [self._begin(item, graded) for graded in attempts]
        answers: dict[ModelCall, Attempt] = {}
        while any(run.calls for run in runs if run):
            queries = {
                call: self._query(call, graded.attempt.repetition)
                for run, graded in zip(runs, attempts, strict=True)
                for call in (run.calls if run else ())
                if call not in answers
            }
            if queries:
                answers |= dict(zip(queries, (yield list(queries.values())), strict=True))
            for run in runs:
                if run is not None and run.calls:
                    run.go_on([answers.pop(call) for call in run.calls])
        return [Grade.none("error", "no answer") if run is None else self._grade(run) for run in runs]

    def _begin(self, item: ProbeItem, graded: GradedAttempt) -> SampleRun | None:
        if graded.attempt.answer is None:
            return None
        run = SampleRun(self._task(), self._samples[item.id], graded.attempt.repetition, graded.attempt)
        run.begin()
        if run.first_messages != graded.prompt.messages and run.error is None:
            run.cancel()
            raise FairnessError(
                "its solver did not send what it sent when the tests were collected: seed what it draws, as in "
                "shuffle_choices(seed=42)"
            )
        return run

    def _query(self, call: ModelCall, repetition: int) -> ModelQuery:
        model: Model | None = None
        if call.model == JUDGE:
            model = self._judge
        elif call.model != SUBJECT:
            if self._named is None:
                raise FairnessError(f"model {call.model} is called, and no run has resolved its name")
            model = self._named(call.model.replace("/", ":", 1))
        return ModelQuery(Prompt(call.messages), model, repetition + call.occurrence * SAME_CALLS)

    def _grade(self, run: SampleRun) -> Grade:
        if run.error is not None and not self._task().tolerates_errors:
            raise FairnessError(run.error)
        if run.ungraded is not None:
            return run.ungraded
        return Grade({name: _plain(score) for name, score in run.scores.items()})


class ScorerValue:
    """One scorer's value of the scores, as a number, true or false, or a text.

    Args:
        scorer: The scorer's name.
        key: The key in the value, for a scorer whose value is a mapping.
    """

    def __init__(self, scorer: str, key: str | None = None) -> None:
        self._scorer, self._key = scorer, key

    def grade_item(self, _: ProbeItem, attempts: Sequence[GradedAttempt]) -> Sequence[Grade]:
        """Return the value of each attempt's score."""
        return [self._value(graded.grades[SCORES]) for graded in attempts]

    def _value(self, scores: Grade) -> Grade:
        if scores.ungraded is not None:
            return scores
        score = scores.value.get(self._scorer, {})
        if score and (reason := unread_reason(self._scorer, score)):
            return Grade.none("unparsed", f"{self._scorer} could not grade it: {reason}")
        value = score.get("value")
        if self._key is not None:
            value = value.get(self._key) if isinstance(value, dict) else None
        if value is None or value == "N":
            return Grade.none("unparsed", f"{self._scorer} gave no score")
        return grade_of(_LETTERS.get(value, value) if isinstance(value, str) else value)


def _plain(score: Any) -> dict[str, Any]:
    """Return what is kept of a score; its value is None where inspect_ai counts it as unscored."""
    fields: dict[str, Any] = score.model_dump(mode="json", include=SCORE_FIELDS, exclude_none=True)
    if isinstance(score.value, float) and not math.isfinite(score.value):
        fields["value"] = None
    return fields


class InspectTask(HarnessTask):
    """A task of inspect_ai, by its file or package.

    Args:
        spec: ``file.py@task``, ``file.py`` with one task, or ``package/task``; arguments of the task stand behind a
            question mark, as in ``tasks.py@screening?lang=de&shots=5``.
        groups: For each protected attribute, where a sample has its group: ``{"gender": "metadata.gender"}``.
        source: Where a sample has the template that it was made from: ``"metadata.template"``. Intervals cluster by it.
        root: The folder from which a file's name counts; default: the current one.

    The task is loaded at first use.

    >>> screening = InspectTask("tasks.py@screening?lang=de", groups={"gender": "metadata.gender"})
    >>> screening.task_arguments
    {'lang': 'de'}
    """

    harness = "inspect"

    def __init__(
        self, spec: str, groups: Mapping[str, str] | None = None, source: str | None = None, root: Path | None = None
    ) -> None:
        super().__init__(spec, groups, source, root)
        self._graders: SampleScores = SampleScores(lambda: self.loaded)

    @property
    def task_arguments(self) -> dict[str, Any]:
        """The task's own arguments, each read as YAML; a text with commas is a list, as on inspect's command line."""
        return {
            name: value.split(",") if isinstance(value, str) and "," in value else value
            for name, value in super().task_arguments.items()
        }

    @cached_property
    def loaded(self) -> LoadedTask:
        """The task itself.

        Raises:
            FairnessError: It cannot be loaded, or needs what is not supported.
        """
        return LoadedTask(self.name, self.task_arguments, self._root)

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of a probe's mark: ``@pytest.mark.probe(**SCREENING.arguments)``."""
        try:
            grade = {SCORES: self._graders, **self._values()}
            repetitions = self.loaded.epochs
        except FairnessError:  # which the probe's only test will report
            grade, repetitions = {SCORES: self._graders}, 1
        return {"items": self.items, "grade": grade, "repetitions": repetitions}

    @property
    def grades(self) -> list[str]:
        """The grades that can be measured: one for each scorer, or for each key of one with several values."""
        return list(self._values())

    def items(self, judge: str | None = None) -> list[ProbeItem]:
        """Return an item for each sample; its prompt is what the solver sends first.

        Args:
            judge: The name of the run's judge, which the role ``grader`` is; None where the run has none.

        Raises:
            FairnessError: The task cannot be loaded, or a sample's solver fails or sends nothing.
        """
        self.loaded.has_judge = judge is not None
        samples = {str(sample.id): sample for sample in self.loaded.samples}
        if len(samples) < len(self.loaded.samples):
            raise self._refusal("two samples have the same id: give each its own")
        self._graders.note_samples(samples)
        return [self._item(name, sample) for name, sample in samples.items()]

    def _estimates(self, sample: Measured) -> ExternalMetrics:
        """Return the estimates by metric; with several scorers, or keys of one's value, by ``scorer.metric``."""
        from pytest_fairness.extending import ExternalMetrics

        return ExternalMetrics(sample, TaskMetrics(self.loaded), slice={"task": self.loaded.name})

    def _values(self) -> dict[str, ScorerValue]:
        values: dict[str, ScorerValue] = {}
        for name, keys in self.loaded.score_keys.items():
            values |= {key: ScorerValue(name, key) for key in keys} if keys else {name: ScorerValue(name)}
        return values

    def _item(self, name: str, sample: Any) -> ProbeItem:
        run = SampleRun(self.loaded, sample, 0)
        run.begin()
        run.cancel()
        if run.error is not None:
            raise self._refusal(f"sample {name}: {run.error}")
        if run.first_messages is None:
            raise self._refusal(f"sample {name}: its solver sends nothing to the model under test first")
        groups = {group: str(value) for group, path in self._groups.items() if (value := self._at(sample, path))}
        source = None if self._source is None else str(self._at(sample, self._source))
        return ProbeItem(name, [Prompt(run.first_messages, groups)], source, metadata_of(sample))

    def _at(self, sample: Any, path: str) -> Any:
        """Return what a sample has at ``metadata.NAME``, NAME, ``id`` or ``target``."""
        metadata = sample.metadata or {}
        fields = {"target": sample.target, **metadata, "metadata": metadata, "id": sample.id}
        return self._value_at(fields, path, f"sample {sample.id}", metadata)


_OF_PRECISION = ("stderr", "bootstrap_stderr", "ci", "ci_wilson")
"""Metrics that say how sure another one is: every estimate of ours has its interval."""


@dataclass(frozen=True, slots=True, eq=False)
class _View:
    """One scorer's scores under one reducer, or unreduced."""

    scorer: str
    info: Any
    metrics: Any
    reducer: Any
    reducer_name: str | None


class TaskMetrics:
    """The calculator of a task's metrics, for `ExternalMetrics`.

    A metric is called as in inspect_ai's log; with several scorers, reducers or keys ``scorer.metric``.
    """

    grade = SCORES

    def __init__(self, task: LoadedTask) -> None:
        self._task = task
        self._results = inspect_module("_eval.task.results")  # `inspect_ai.eval` computes metrics there
        self._views = [view for name, scorer in task.scorers for view in self._views_of(name, scorer)]
        self._observed: set[tuple[str, Any]] = set()

    @property
    def values(self) -> Sequence[Any]:
        """Both grades of a task whose only scorer says correct or incorrect; none of any other task."""
        names = [name for name, _ in self._task.scorers]
        if len(names) > 1 or not all(value in ("C", "I", True, False) for _, value in self._observed):
            return ()
        return tuple({names[0]: {"value": letter}} for letter in "CI")

    def is_unread(self, scores: Mapping[str, Any]) -> bool:
        """Return whether a scorer could not grade the answer, although inspect_ai may count it as incorrect."""
        return any(unread_reason(name, score) for name, score in scores.items())

    def prepare(self, attempts: Sequence[GradedAttempt]) -> dict[_View, list[Any]]:
        """Return the scores of one sample by view; an attempt without scores is left out, as inspect_ai does."""
        item = attempts[0].item
        views: dict[_View, list[Any]] = {}
        for view in self._views:
            scores = [
                self._sample_score(item, view.scorer, graded.grades[SCORES].value[view.scorer])
                for graded in attempts
                if graded.grades[SCORES].ungraded is None and view.scorer in graded.grades[SCORES].value
            ]
            views[view] = self._results.reduce_scores(scores, view.reducer) if view.reducer and scores else scores
        return views

    def calculate(self, items: Sequence[dict[_View, list[Any]]]) -> Mapping[str, float]:
        """Return every metric of these samples, by name."""
        results = []
        with undisturbed():
            for view in self._views:
                scores = [score for item in items for score in item[view]]
                results += self._results.compute_eval_scores(
                    scores, view.metrics, view.scorer, view.info, view.reducer_name
                )
        if len(results) == 1:
            return {name: float(metric.value) for name, metric in results[0].metrics.items()}
        reducers = {result.reducer for result in results}
        return {
            ".".join(filter(None, (result.name, result.reducer if len(reducers) > 1 else None, name))): float(
                metric.value
            )
            for result in results
            for name, metric in result.metrics.items()
        }

    def kind(self, attempt: GradedAttempt) -> Hashable:
        """Return the groups of an attempt: a metric by group counts those of other groups apart."""
        return tuple(sorted(attempt.prompt.groups.items()))

    def _views_of(self, name: str, scorer: Any) -> list[_View]:
        results = self._results
        info = results.ScorerInfo.from_scorer(scorer)
        metrics = _without_precision(info.metrics)
        reducers = self._task.task.epochs_reducer
        if isinstance(reducers, list) and not reducers:
            return [_View(name, info, metrics, None, None)] if metrics else []
        reduced = results._filter_metrics_by_scores(metrics, {"auto", "reduced"})
        unreduced = results._filter_metrics_by_scores(metrics, {"unreduced"})
        views = []
        if reduced:
            views = [
                _View(name, info, reduced, reducer, display_name)
                for reducer, display_name in results._reduced_views(reducers, bool(unreduced))
            ]
        return views + ([_View(name, info, unreduced, None, None)] if unreduced else [])

    def _sample_score(self, item: Any, scorer: str, stored: Mapping[str, Any]) -> Any:
        module = inspect_module("scorer")
        value = stored.get("value")
        if isinstance(value, str | int | float):
            self._observed.add((scorer, value))
        elif value is None:
            value = math.nan  # unscored
        else:
            self._observed.add((scorer, "any"))
        score = module.Score(**{**stored, "value": value})
        metadata = self._task.metadata_by_item.get(item.id, {})
        return module.SampleScore(score=score, sample_id=item.id, sample_metadata=metadata, scorer=scorer)


def _without_precision(metrics: Any) -> Any:
    """Return metrics without those that say how sure another one is."""
    name_of = inspect_module("_util.registry").registry_unqualified_name
    if isinstance(metrics, dict):
        remaining = {key: _without_precision(subset) for key, subset in metrics.items()}
        return {key: subset for key, subset in remaining.items() if subset}
    entries = [_without_precision(entry) if isinstance(entry, dict) else entry for entry in metrics]
    return [entry for entry in entries if entry and (isinstance(entry, dict) or name_of(entry) not in _OF_PRECISION)]

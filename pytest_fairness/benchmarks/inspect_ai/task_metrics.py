"""A task's own metrics of a sample of ours: its reducers over epochs, its metrics, our intervals."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_fairness.benchmarks.inspect_ai.package import inspect_module, undisturbed
from pytest_fairness.benchmarks.inspect_ai.scores import SCORES
from pytest_fairness.core.attempts import GradedAttempt

if TYPE_CHECKING:
    from pytest_fairness.benchmarks.inspect_ai.loaded_task import LoadedTask

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

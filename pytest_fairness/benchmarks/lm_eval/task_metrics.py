"""A task's own metrics of a sample of ours: its values of documents, its aggregation, our intervals."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_fairness.benchmarks.lm_eval.loaded_task import DocumentTask, units
from pytest_fairness.benchmarks.lm_eval.package import undisturbed
from pytest_fairness.benchmarks.lm_eval.scores import SCORES
from pytest_fairness.core.attempts import GradedAttempt

if TYPE_CHECKING:
    from pytest_fairness.core.estimates import Estimate
    from pytest_fairness.stats.external_metrics import ExternalMetrics
    from pytest_fairness.stats.measured import Measured


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

    def prepare(self, attempts: Sequence[GradedAttempt]) -> list[Mapping[str, Any]]:
        """Return the scores of one document; an ungraded one is left out."""
        repeats = 1 if self._task.asks_likelihoods else self._task.repeats
        scores = [attempts[run.start].grades[SCORES] for run in units(len(attempts), repeats)]
        return [score.value for score in scores if score.ungraded is None]

    def calculate(self, items: Sequence[list[Mapping[str, Any]]]) -> Mapping[str, float]:
        """Return every metric of these documents, by name."""
        metrics: dict[str, float] = {}
        with undisturbed():
            for key in self._keys:
                values = [scores[key] for item in items for scores in item if key in scores]
                if values:
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
        from pytest_fairness.stats.external_metrics import ExternalMetrics

        self._parts: list[ExternalMetrics] = []
        shares, others = _kinds(measured, task)
        for keys, is_share in ((shares, True), (others, False)):
            if keys:
                metrics = DocumentMetrics(task, keys, is_share=is_share)
                self._parts.append(ExternalMetrics(measured, metrics, slice={"task": task.name}))

    def __iter__(self) -> Iterator[str]:
        return (name for part in self._parts for name in part)

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def __getitem__(self, name: str) -> Estimate:
        """Return the estimate of one metric. Raises `FairnessError` for a name that is none."""
        return next((part for part in self._parts if name in iter(part)), self._parts[0])[name]


def _kinds(measured: Measured, task: DocumentTask) -> tuple[list[str], list[str]]:
    """Return the metrics whose values of all documents are 0 or 1, and the others."""
    scores = [attempt.grades[SCORES] for attempt in measured.selection.columns.attempts if SCORES in attempt.grades]
    graded = [score.value for score in scores if score.ungraded is None]
    keys = list(dict.fromkeys([*task.keys, *(key for value in graded for key in value)]))

    def is_share(key: str) -> bool:
        return all(isinstance(v := value.get(key, 0), int | float) and v in (0, 1) for value in graded)

    return [key for key in keys if is_share(key)], [key for key in keys if not is_share(key)]

"""A task of inspect_ai as a probe: its samples as items, its scores as grades, its metrics as estimates."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl
from weakref import WeakKeyDictionary

from pytest_fairness.benchmarks.inspect_ai.loaded_task import LoadedTask
from pytest_fairness.benchmarks.inspect_ai.sample_run import SampleRun, metadata_of
from pytest_fairness.benchmarks.inspect_ai.scores import SCORES, SampleScores, ScorerValue
from pytest_fairness.benchmarks.inspect_ai.task_metrics import TaskMetrics
from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.core.items import ProbeItem, Prompt

if TYPE_CHECKING:
    from pytest_fairness.stats.external_metrics import ExternalMetrics
    from pytest_fairness.stats.measured import DeferredMeasured, Measured


class InspectTask:
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

    def __init__(
        self, spec: str, groups: Mapping[str, str] | None = None, source: str | None = None, root: Path | None = None
    ) -> None:
        self.spec = spec
        self._root = root or Path()
        self._groups = dict(groups or {})
        self._source = source
        self._graders: SampleScores = SampleScores(lambda: self.loaded)
        self._metrics: WeakKeyDictionary[Measured, ExternalMetrics] = WeakKeyDictionary()

    @property
    def task_arguments(self) -> dict[str, Any]:
        """The task's own arguments, each read as YAML; a text with commas is a list, as on inspect's command line."""
        import yaml

        pairs = parse_qsl(self.spec.partition("?")[2], keep_blank_values=True)
        try:
            values = {name: yaml.safe_load(text) for name, text in pairs}
        except yaml.YAMLError as error:
            raise self._refusal(f"an argument is no YAML: {' '.join(str(error).split())}") from None
        return {
            name: value.split(",") if isinstance(value, str) and "," in value else value
            for name, value in values.items()
        }

    @cached_property
    def loaded(self) -> LoadedTask:
        """The task itself.

        Raises:
            FairnessError: It cannot be loaded, or needs what is not supported.
        """
        return LoadedTask(self.spec.partition("?")[0], self.task_arguments, self._root)

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

    def metrics(self, measured: Measured | DeferredMeasured) -> ExternalMetrics:
        """Return the task's own metrics by name, as estimates: ``metrics(measured)["accuracy"] >= 0.8``.

        With several scorers, or one whose value has several keys, a name is ``scorer.metric``.

        Raises:
            FairnessError: The task's metrics fail.
        """
        from pytest_fairness.stats.external_metrics import ExternalMetrics

        sample: Measured = measured.load() if hasattr(measured, "load") else measured
        if sample not in self._metrics:
            self._metrics[sample] = ExternalMetrics(sample, TaskMetrics(self.loaded), slice={"task": self.loaded.name})
        return self._metrics[sample]

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
        value: Any = {**(sample.metadata or {}), "metadata": sample.metadata or {}, "id": sample.id}
        value.setdefault("target", sample.target)
        for name in path.split("."):
            if not isinstance(value, Mapping) or name not in value:
                raise self._refusal(
                    f"sample {sample.id} has no {path!r}; {did_you_mean(name, map(str, sample.metadata or {}))}"
                )
            value = value[name]
        return value

    def _refusal(self, reason: str) -> FairnessError:
        return FairnessError(f"inspect task {self.spec}: {reason}")

    def __repr__(self) -> str:
        return f"<inspect task {self.spec}>"

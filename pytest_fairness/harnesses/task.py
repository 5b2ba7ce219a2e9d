"""A task of another harness as a probe: its spec and arguments, the groups of its samples, and its metrics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import parse_qsl
from weakref import WeakKeyDictionary

from pytest_fairness import FairnessError, ProbeItem
from pytest_fairness.extending import did_you_mean

if TYPE_CHECKING:
    from pytest_fairness import Estimate, Measured
    from pytest_fairness.extending import DeferredMeasured

SCORES = "scores"
"""The grade that holds all scores of an attempt, as the harness has them."""


class HarnessTask(ABC):
    """A task of another harness, loaded at first use.

    Args:
        spec: The task, with arguments behind a question mark.
        groups: For each protected attribute, where a sample has its group.
        source: Where a sample has the template that it was made from. Intervals cluster by it.
        root: The folder from which a file's name counts; default: the current one.
    """

    harness: ClassVar[str]
    """The harness's name in messages."""

    def __init__(self, spec: str, groups: Mapping[str, Any] | None, source: Any, root: Path | None) -> None:
        self.spec = spec
        self._root = root or Path()
        self._groups = dict(groups or {})
        self._source = source
        self._metrics: WeakKeyDictionary[Measured, Mapping[str, Estimate]] = WeakKeyDictionary()

    @property
    def name(self) -> str:
        """The spec without arguments."""
        return self.spec.partition("?")[0]

    @property
    def task_arguments(self) -> dict[str, Any]:
        """The arguments behind the question mark, each read as YAML."""
        import yaml

        pairs = parse_qsl(self.spec.partition("?")[2], keep_blank_values=True)
        try:
            return {name: yaml.safe_load(text) for name, text in pairs}
        except yaml.YAMLError as error:
            raise self._refusal(f"an argument is no YAML: {' '.join(str(error).split())}") from None

    @property
    @abstractmethod
    def loaded(self) -> Any:
        """The loaded task; its ``unsent_settings`` are the decoding settings that are not sent to models."""

    @property
    @abstractmethod
    def arguments(self) -> dict[str, Any]:
        """The arguments of a probe's mark: ``@pytest.mark.probe(**SCREENING.arguments)``."""

    @property
    @abstractmethod
    def grades(self) -> list[str]:
        """The grades that can be measured."""

    @abstractmethod
    def items(self) -> list[ProbeItem]:
        """Return the samples as items."""

    def metrics(self, measured: Measured | DeferredMeasured) -> Mapping[str, Estimate]:
        """Return the task's own metrics by name, as estimates: ``metrics(measured)["accuracy"] >= 0.8``.

        Args:
            measured: The sample, as a threshold's fixture has it.

        Returns:
            The estimates; the same ones for the same sample.

        Raises:
            FairnessError: The task's metrics fail.
        """
        sample: Measured = measured.load() if hasattr(measured, "load") else measured
        if sample not in self._metrics:
            self._metrics[sample] = self._estimates(sample)
        return self._metrics[sample]

    @abstractmethod
    def _estimates(self, sample: Measured) -> Mapping[str, Estimate]:
        """Return the estimates of a sample."""

    def _value_at(self, fields: Mapping[str, Any], path: str, subject: str, names: Iterable[object]) -> Any:
        """Return what a subject, with these names of fields, has at a dotted path."""
        value: Any = fields
        for name in path.split("."):
            if not isinstance(value, Mapping) or name not in value:
                raise self._refusal(f"{subject} has no {path!r}; {did_you_mean(name, map(str, names))}")
            value = value[name]
        return value

    def _refusal(self, reason: str) -> FairnessError:
        return FairnessError(f"{self.harness} task {self.spec}: {reason}")

    def __repr__(self) -> str:
        return f"<{self.harness} task {self.spec}>"

"""The view of one run, from which every output is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pytest_fairness.core.attempts import GradedAttempt
from pytest_fairness.core.breakdown import ExampleSideResult
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.results import MetricResult, PastResult, RunResults, ThresholdResult
from pytest_fairness.store.samples import StoredSample


@dataclass(frozen=True, slots=True)
class SideView:
    """One side of an example: a group, or the whole item if the metric has no groups."""

    group: str
    prompt: Prompt
    attempts: Sequence[GradedAttempt]
    """The attempts of that prompt alone, with their answers."""
    numbers: ExampleSideResult
    """The numbers of the group in this item."""


@dataclass(frozen=True, slots=True)
class ExampleView:
    """The item that illustrates a threshold best."""

    item: str
    sides: Sequence[SideView]
    """Two where groups are compared, else one."""
    command: str
    """The command that repeats the item's test."""


@dataclass(frozen=True, slots=True)
class ThresholdView:
    """One threshold on one model."""

    row: ThresholdResult
    history: Sequence[PastResult] = ()
    """Results of earlier runs of the same threshold on the same model, oldest first."""
    slices: Sequence[MetricResult] = ()
    """Estimates of the same metric on parts of its sample."""
    example: ExampleView | None = None
    command: str = ""
    """The command that repeats the threshold."""


@dataclass(frozen=True, slots=True)
class AnswerTimes:
    """The times of the answers of a sample, and the models that gave them."""

    first: float | None
    """Seconds since 1970; None where no answer is in the store."""
    last: float | None
    served_by: Sequence[str]
    """The names of the models that have answered, as the provider reports them."""


@dataclass(frozen=True, slots=True)
class View:
    """One run."""

    results: RunResults
    """The results file: every number that any output shows is in it."""
    thresholds: Sequence[ThresholdView]
    samples: Sequence[StoredSample] = ()
    """The samples by probe and model, with all answers."""
    moments: Sequence[AnswerTimes] = ()
    """The times of each sample's answers."""
    cards: Mapping[str, str] = field(default_factory=dict)
    """The card of each suite that has one, in Markdown."""

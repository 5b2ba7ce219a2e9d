"""One run as every output shows it: frozen, and whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_fairness.core.attempts import GradedAttempt
from pytest_fairness.core.items import Prompt
from pytest_fairness.store.samples import StoredSample

Row = Mapping[str, Any]
"""Of the results file: builtins as JSON has them."""


@dataclass(frozen=True, slots=True)
class SideView:
    """One side of an example: a group, or the item whole where the metric has no groups."""

    group: str
    prompt: Prompt
    attempts: Sequence[GradedAttempt]
    """Of that prompt alone, with their answers."""
    numbers: Row
    """``mean``, ``events``, ``graded`` and ``attempts`` of the group in this item, as in the results file."""


@dataclass(frozen=True, slots=True)
class ExampleView:
    """The item that shows best what a threshold is about."""

    item: str
    sides: Sequence[SideView]
    """Two where groups are compared, else one."""
    command: str
    """Replays the item."""


@dataclass(frozen=True, slots=True)
class ThresholdView:
    """One threshold on one model."""

    row: Row
    """Its row of the results file."""
    history: Sequence[Row] = ()
    """What earlier runs said of the same question on the same model, oldest first: rows of their results files,
    each with ``run`` (id), ``started`` (seconds since 1970) and ``git``."""
    slices: Sequence[Row] = ()
    """Estimates of the same metric on parts of its sample: entries of ``metrics`` in the results file."""
    example: ExampleView | None = None
    command: str = ""
    """Repeats the threshold."""


@dataclass(frozen=True, slots=True)
class Moments:
    """When the answers of a sample were given, and by what."""

    first: float | None
    """Seconds since 1970; None where no answer is in the store."""
    last: float | None
    served_by: Sequence[str]
    """The names of the models that the provider says have answered."""


@dataclass(frozen=True, slots=True)
class View:
    """One run."""

    results: Row
    """The results file: every number that any output shows is in it."""
    thresholds: Sequence[ThresholdView]
    samples: Sequence[StoredSample] = ()
    """Every attempt, by probe and model, with its answer."""
    moments: Sequence[Moments] = ()
    """Of each sample."""
    cards: Mapping[str, str] = field(default_factory=dict)
    """The card of each suite that has one, in Markdown."""

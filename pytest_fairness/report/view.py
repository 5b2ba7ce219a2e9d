"""The view of one run, from which every output is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_fairness.core.results import RunResults
from pytest_fairness.store.samples import StoredSample

if TYPE_CHECKING:
    from pytest_fairness.report.threshold_view import ThresholdView


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

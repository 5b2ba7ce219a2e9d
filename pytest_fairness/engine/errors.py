"""How the engine ends a wait."""

from __future__ import annotations

from pytest_fairness.core.errors import FairnessError


class StoppedError(FairnessError):
    """The run was stopped before this was answered."""


class GraderError(FairnessError):
    """A grader over an item or a batch failed, or returned or asked what it may not."""


class SpentError(StoppedError):
    """Not in this run: a cap was reached before it was asked, of money, requests or time; or it is in a batch."""

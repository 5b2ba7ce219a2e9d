"""Errors that end a wait for the engine."""

from __future__ import annotations

from pytest_fairness.core.errors import FairnessError

STOPPED = "the run was stopped"
"""The reason that a threshold was not judged because another test's failure, or the user, ended the run."""


class RunStoppedError(FairnessError):
    """The run was stopped before this was answered."""


class GraderError(FairnessError):
    """A grader over an item or a batch failed, or returned or asked what it may not."""


class BudgetExceededError(RunStoppedError):
    """A cap of money, requests or time was reached first, or the request is in a provider batch."""

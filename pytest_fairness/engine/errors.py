"""Errors that end a wait for the engine."""

from __future__ import annotations

from pytest_fairness.core.errors import FairnessError

STOPPED = "the run was stopped"
"""The reason that a threshold was not judged because another test's failure, or the user, ended the run."""


class RunStoppedError(FairnessError):
    """The run was stopped before the answer."""


class GraderError(FairnessError):
    """A grader failed, returned an invalid value, or yielded an invalid question."""


class BudgetExceededError(RunStoppedError):
    """A cap of money, requests or time was reached before the answer, or the request is in a provider batch."""

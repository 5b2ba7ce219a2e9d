"""How the engine ends a wait."""

from __future__ import annotations

from pytest_fairness.core.errors import FairnessError


class StoppedError(FairnessError):
    """The run was stopped before this was answered."""

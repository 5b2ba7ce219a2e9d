"""What is reported beside a gate: every group on its own, non-binary people and the unmarked among them."""

from __future__ import annotations

from typing import Any

from pytest_fairness import Measured


def note_rates(measured: Measured, grade: str, *, equals: Any = None) -> None:
    """Estimate each gender's rate, for the results file."""
    for gender in measured.groups("gender"):
        measured.where(gender=gender).rate(grade, equals=equals)


def note_means(measured: Measured, grade: str) -> None:
    """Estimate each gender's mean, for the results file."""
    for gender in measured.groups("gender"):
        measured.where(gender=gender).mean(grade)

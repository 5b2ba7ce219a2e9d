"""Estimates that the report shows beside a gate: every group alone, non-binary people and the unmarked among them."""

from __future__ import annotations

from functools import partial
from typing import Any

from pytest_fairness import Measured


def record_rates(measured: Measured, grade: str, *, equals: Any = None) -> None:
    """Record each gender's rate."""
    for gender in measured.groups("gender"):
        measured.record(partial(measured.where(gender=gender).rate, grade, equals=equals))

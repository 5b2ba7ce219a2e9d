"""Overrides: bounds of a project in place of those of a threshold's test."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_fairness.core.errors import FairnessError

Span = tuple[float, float]
"""The lowest and the highest value; infinite on a side without a bound."""
ONLY = ""
"""The key of bounds without a metric."""


def shown(span: Span) -> str:
    """Return a span as text: ``[0.7, 1.4]``, ``[0.7, inf]``.

    >>> shown((0.7, math.inf))
    '[0.7, inf]'
    """
    return f"[{span[0]:g}, {span[1]:g}]"


@dataclass(frozen=True, slots=True)
class BoundsOverride:
    """Bounds by metric that replace the numbers of a threshold's test.

    A comparison with ``>`` or ``>=`` uses the low end, one with ``<`` or ``<=`` the high end.
    The key is a metric's full name, or the name without the groups that it compares, for a family. Bounds without a
    metric (`ONLY`) are for a test that compares one metric.
    """

    spans: Mapping[str, Span]
    where: str = "own bounds"
    """The source of the bounds: ``pyproject.toml:12``."""

    def instead_of(self, names: Sequence[str], op: str) -> float | None:
        """Return the project's bound for a comparison; None where it sets none.

        Raises:
            FairnessError: The test has a bound on a side where the override has none.
        """
        span = next((self.spans[name] for name in (*names, ONLY) if name in self.spans), None)
        if span is None:
            return None
        bound = span[0] if op in (">", ">=") else span[1]
        if not math.isfinite(bound):
            side = "below" if op in (">", ">=") else "above"
            raise FairnessError(
                f"{self.where}: bounds are {shown(span)}, but the test bounds {names[0]} {side}: give a number"
            )
        return bound

"""Bounds that a project sets in place of those that a threshold's test has."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_fairness.core.errors import FairnessError

Span = tuple[float, float]
"""The lowest and the highest value; infinite on a side that is not bounded."""
ONLY = ""
"""The metric of bounds that name none."""


def shown(span: Span) -> str:
    """Return a span as it is written: ``[0.7, 1.4]``, ``[0.7, inf]``.

    >>> shown((0.7, math.inf))
    '[0.7, inf]'
    """
    return f"[{span[0]:g}, {span[1]:g}]"


@dataclass(frozen=True, slots=True)
class BoundsOverride:
    """Bounds that a threshold's comparisons are held against, by metric, whatever number its test has.

    A comparison with ``>`` or ``>=`` is held against the low end, one with ``<`` or ``<=`` against the high one.
    A metric is named in full, or without the groups that it compares, which names a family. Bounds that name none
    (`ONLY`) are for a test that compares one thing.
    """

    spans: Mapping[str, Span]
    where: str = "own bounds"
    """Source of the bounds: ``pyproject.toml:12``."""

    def instead_of(self, names: Sequence[str], op: str) -> float | None:
        """Return the project's bound for a comparison; None where it sets none.

        Raises:
            FairnessError: The override leaves open a side that the test bounds.
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

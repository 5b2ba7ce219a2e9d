"""Bounds that a project sets in place of those that a threshold's test has."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_fairness.core.errors import FairnessError, did_you_mean

if TYPE_CHECKING:
    from pytest_fairness.core.comparisons import Comparison

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

        Raises `FairnessError` where it leaves open a side that the test bounds.
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

    def problem(self, comparisons: Sequence[Comparison]) -> str:
        """Return why it is not plain which comparisons of a test they stand for; empty where it is.

        ``comparisons`` are all of the test, the way round in which they must hold: every bound must meet one.
        """
        if ONLY in self.spans and any(comparison.instead_of is None for comparison in comparisons):
            return f"{self.where}: the test compares a mark: set a scale, not bounds"
        replaced: dict[tuple[str, str], set[float]] = {}
        for comparison in comparisons:
            if comparison.instead_of is not None:
                name, side = self._name(comparison), "low" if comparison.op in (">", ">=") else "high"
                replaced.setdefault((name, side), set()).add(comparison.instead_of)
        names = sorted({name for name, _ in replaced})
        if ONLY in self.spans and len(names) > 1:
            one = f"bounds = {{{names[0]!r} = [LOW, HIGH]}}"
            return f"{self.where}: bounds may be for {' or '.join(names)}: name which, as in {one}"
        for (name, _), numbers in replaced.items():
            if len(numbers) > 1:
                several = " and ".join(f"{number:g}" for number in sorted(numbers))
                return f"{self.where}: the test compares {name} with {several}: one bound cannot stand for both"
        return self._unmet(set(replaced), comparisons)

    def _name(self, comparison: Comparison) -> str:
        """Return what the span of a comparison is known by: its key, else the family."""
        metric = comparison.estimate.metric
        return metric if metric in self.spans else comparison.estimate.family_name

    def _unmet(self, met: set[tuple[str, str]], comparisons: Sequence[Comparison]) -> str:
        for name, span in self.spans.items():
            sides = {side for metric, side in met if metric == name or name == ONLY}
            if name != ONLY and not sides:
                compared = {comparison.estimate.family_name for comparison in comparisons}
                compared |= {comparison.estimate.metric for comparison in comparisons}
                return f"{self.where}: the test does not compare {name!r}; {did_you_mean(name, compared)}"
            for side, end, far in (("low", span[0], "below"), ("high", span[1], "above")):
                if math.isfinite(end) and side not in sides:
                    open_end = "-inf" if side == "low" else "inf"
                    return f"{self.where}: bounds are {shown(span)}, but the test sets none {far}: write {open_end}"
        return ""

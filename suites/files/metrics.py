"""The exposure of one group over that of another."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from pytest_fairness import GradedAttempt
from pytest_fairness.extending import MetricDefinition, MetricKind


def exposure_ratio(grade: str) -> MetricDefinition:
    """Return the exposure of a group over that of the others, of whom there are as many: 1 where both are ranked alike.

    Args:
        grade: The share of the exposure that the group has.

    >>> from pytest_fairness import Measured
    >>> rows = [{"item": n, "women": (0.4, 0.5)[n % 2]} for n in range(80)]
    >>> round(Measured.from_rows(rows, item="item", groups=[]).metric(exposure_ratio("women")).value, 3)
    0.818
    """

    def others(attempt: GradedAttempt) -> Any:
        return 1 - attempt[grade]

    sums: dict[str, str | Callable[[GradedAttempt], Any]] = {"own": grade, "others": others}
    return MetricDefinition(
        lambda s: s.own / s.others, sums, (0, math.inf), name=f"exposure_ratio({grade})", kind=MetricKind.RATIO
    )

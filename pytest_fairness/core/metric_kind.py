"""The kind of a metric, a field of every estimate: no reader takes it from a metric's name."""

from __future__ import annotations

from enum import Enum


class MetricKind(Enum):
    """The kind of a metric, with what follows from it.

    >>> MetricKind.RATIO.parity, MetricKind.DIFFERENCE.parity, MetricKind.RATE.parity
    (1.0, 0.0, None)
    >>> MetricKind("worst_ratio").log_scale
    True
    """

    RATE = "rate"
    MEAN = "mean"
    DIFFERENCE = "difference"
    RATIO = "ratio"
    ODDS_RATIO = "odds_ratio"
    WORST_RATIO = "worst_ratio"
    CORRELATION = "correlation"
    FLIPS = "flips"
    CUSTOM = "custom"

    @property
    def noun(self) -> str:
        """Its name in sentences: ``odds ratio``."""
        return self.value.replace("_", " ")

    @property
    def log_scale(self) -> bool:
        """Return whether intervals are made, and charts drawn, on the logarithm."""
        return self in (MetricKind.RATIO, MetricKind.ODDS_RATIO, MetricKind.WORST_RATIO)

    @property
    def parity(self) -> float | None:
        """The value where groups are alike; None for a metric that compares none."""
        if self.log_scale:
            return 1.0
        return 0.0 if self in (MetricKind.DIFFERENCE, MetricKind.CORRELATION, MetricKind.FLIPS) else None

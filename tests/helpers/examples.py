"""Hypothesis settings with a number of examples of their own."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

USUAL = 40
"""The number of examples of most tests; ``make test`` draws fewer, and the profile ``random`` 100."""


def examples(count: int, *, suppress: HealthCheck | None = None) -> settings:
    """Return settings with this many examples, in ``make test`` at most as many as other tests have there.

    Args:
        count: The number of examples.
        suppress: A health check that the test fails by its nature.

    Returns:
        The settings of the loaded profile with this number of examples.
    """
    drawn = settings().max_examples
    return settings(
        max_examples=count if drawn >= USUAL else min(count, drawn),
        suppress_health_check=[suppress] if suppress else [],
    )

"""The metric ``cohens_h``, for `Measured.metric` and for expressions."""

from collections.abc import Callable
from math import pi

from numpy import arcsin, sqrt

from pytest_fairness import GradedAttempt, MarkScale
from pytest_fairness.extending import MetricDefinition, MetricKind


def cohens_h(grade: str, *, by: str, of: str, to: str) -> MetricDefinition:
    """Return Cohen's h, the difference of two rates on the arcsine scale: 0.2 is small, 0.5 medium, 0.8 large."""

    def count(group: str, values: tuple[bool, ...]) -> Callable[[GradedAttempt], bool]:
        return lambda attempt: attempt.prompt.groups.get(by) == group and attempt[grade] in values

    yes, every = (True,), (True, False)
    sums = {"yes": count(of, yes), "all": count(of, every), "other_yes": count(to, yes), "other_all": count(to, every)}
    return MetricDefinition(
        lambda s: 2 * (arcsin(sqrt(s.yes / s.all)) - arcsin(sqrt(s.other_yes / s.other_all))),
        sums,
        span=(-pi, pi),
        scale=MarkScale(A=(-0.2, 0.2), B=(-0.5, 0.5), C=(-0.8, 0.8)),
        kind=MetricKind.DIFFERENCE,
    )

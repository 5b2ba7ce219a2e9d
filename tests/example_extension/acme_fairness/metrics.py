"""The metric ``odds_ratio``, for `Measured.metric` and for expressions."""

from collections.abc import Callable
from math import inf

from pytest_fairness import GradedAttempt, MetricDefinition, MetricKind


def odds_ratio(grade: str, *, by: str, of: str, to: str) -> MetricDefinition:
    """Return the odds of a true grade in one group over those in another."""

    def count(group: str, value: bool) -> Callable[[GradedAttempt], bool]:
        return lambda attempt: attempt.prompt.groups.get(by) == group and attempt[grade] is value

    sums = {"yes": count(of, True), "no": count(of, False), "other_yes": count(to, True), "other_no": count(to, False)}
    return MetricDefinition(
        lambda s: s.yes * s.other_no / (s.no * s.other_yes), sums, span=(0, inf), kind=MetricKind.RATIO
    )

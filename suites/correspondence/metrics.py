"""Odds of an invitation within rungs, and of being ranked ahead."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from pytest_fairness import Estimate, GradedAttempt, Measured
from pytest_fairness.extending import MetricDefinition, MetricKind

from .items import FITS


def odds_within(
    grade: str, *, by: str, of: str, to: str, within: str = "fit", strata: Sequence[str] = FITS
) -> MetricDefinition:
    """Return the odds of one group over those of another, within strata (Mantel and Haenszel).

    A stratum counts by how undecided its answers are: where everybody is invited, or nobody, none of them can show a
    gap, and none hides one.

    Args:
        grade: The grade, true or false.
        by: The attribute of prompts.
        of: The group of the numerator.
        to: The group of the denominator.
        within: An attribute of items, whose values are the strata.
        strata: These values.

    Source:
        Mantel and Haenszel 1959, Journal of the National Cancer Institute 22(4).

    >>> rows = [
    ...     {"item": n, "fit": "one", "sex": sex, "hired": n % 4 < hires}
    ...     for n in range(80)
    ...     for sex, hires in (("f", 2), ("m", 3))
    ... ]
    >>> measured = Measured.from_rows(rows, item="item", groups=["sex", "fit"])
    >>> measured.metric(odds_within("hired", by="sex", of="f", to="m")).value
    0.3333333333333333
    """
    sums: dict[str, Callable[[GradedAttempt], Any]] = {}
    for number, stratum in enumerate(strata):
        for side, group in (("of", of), ("to", to)):
            of_part = partial(_is_of, {by: group, within: stratum})
            sums[f"yes_{side}_{number}"] = partial(_product, grade, of_part)
            sums[f"all_{side}_{number}"] = of_part

    def odds(s: Any) -> Any:
        more, fewer = 0.0, 0.0
        for number in range(len(strata)):
            yes_of, all_of, yes_to, all_to = (
                getattr(s, f"{what}_{side}_{number}") for side in ("of", "to") for what in ("yes", "all")
            )
            count = all_of + all_to
            count = count + (count == 0)  # a slice may lack a stratum, which then counts nothing
            more = more + yes_of * (all_to - yes_to) / count
            fewer = fewer + yes_to * (all_of - yes_of) / count
        return more / fewer

    return MetricDefinition(
        odds, sums, (0, math.inf), name=f"odds_within({grade}; {by}: {of}/{to})", kind=MetricKind.ODDS_RATIO
    )


def _is_of(wanted: Mapping[str, str], attempt: GradedAttempt) -> bool:
    attributes = {**attempt.item.metadata, **attempt.prompt.groups}
    return all(attributes[name] == value for name, value in wanted.items())


def _product(grade: str, of_part: Callable[[GradedAttempt], bool], attempt: GradedAttempt) -> Any:
    return attempt[grade] * of_part(attempt)


def odds_ahead(grade: str) -> MetricDefinition:
    """Return the odds that in a pair of two groups that of the first one is ahead: 1 where both are ranked alike.

    Args:
        grade: The share of pairs in which it is.

    >>> rows = [{"item": n, "women": n % 4 / 4} for n in range(80)]
    >>> Measured.from_rows(rows, item="item", groups=[]).metric(odds_ahead("women")).value
    0.6
    """

    def behind(attempt: GradedAttempt) -> Any:
        return 1 - attempt[grade]

    sums: dict[str, str | Callable[[GradedAttempt], Any]] = {"ahead": grade, "behind": behind}
    return MetricDefinition(
        lambda s: s.ahead / s.behind, sums, (0, math.inf), name=f"odds_ahead({grade})", kind=MetricKind.ODDS_RATIO
    )


def record_ladder(measured: Measured, by: str, of: str, to: str) -> None:
    """Record how often each rung is invited, which the terminal shows, and the gap of two groups on it in points."""

    def gap(fit: str) -> Estimate:
        return measured.where(fit=fit).difference("invited", by=by, of=of, to=to)

    for fit in FITS:
        rung = measured.where(fit=fit)
        rung.record(partial(rung.rate, "invited"), column="invited")
        measured.record(partial(gap, fit))

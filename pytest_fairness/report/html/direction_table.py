"""Directions of differences on the report's page: all thresholds that compare one group with another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_fairness.core.formatting import figures
from pytest_fairness.core.threshold_results import GroupResult, ThresholdResult
from pytest_fairness.report.html.threshold_section import ThresholdSection


@dataclass(frozen=True, slots=True)
class Direction:
    """One comparison of two groups."""

    article: ThresholdSection
    values: tuple[str, str]
    """The values of the group and of the reference."""
    estimate: str
    lean: str
    """The group with the higher value; empty where the difference is not significant."""


@dataclass(frozen=True, slots=True)
class DirectionTable:
    """The comparisons of one group with another."""

    group: str
    reference: str
    lines: Sequence[Direction]


def group_directions(articles: Sequence[ThresholdSection]) -> list[DirectionTable]:
    """Return all thresholds that compare one group with a reference, by the pair of groups."""
    pairs: dict[tuple[str, str], list[Direction]] = {}
    for article in articles:
        row = article.row
        reference, parity = row.reference, row.estimate.parity
        others = [group for group in row.estimate.groups if group != reference]
        if reference is None or reference not in row.estimate.groups or len(others) != 1 or parity is None:
            continue
        if row.estimate.value is not None:
            pairs.setdefault((others[0], reference), []).append(_direction(article, others[0], reference, parity))
    return [DirectionTable(*pair, lines) for pair, lines in pairs.items()]


def _direction(article: ThresholdSection, group: str, reference: str, parity: float) -> Direction:
    row = article.row
    values = [figures(_numbers(row, name))[0] for name in (group, reference)]
    value, low, high = figures(row.estimate, row.comparisons)
    higher = _higher_group(row, group, reference, parity)
    return Direction(article, (values[0], values[1]), f"{value} ({low} to {high})", higher)


def _numbers(row: ThresholdResult, group: str) -> GroupResult:
    return row.by_group.get(group) or GroupResult(value=row.estimate.groups[group])


def _higher_group(row: ThresholdResult, group: str, reference: str, parity: float) -> str:
    low, high = row.estimate.low, row.estimate.high
    if row.estimate.absolute:  # the direction follows from the groups' values
        if low is None or low <= parity:
            return ""
        return group if (row.estimate.groups[group] or 0) > (row.estimate.groups[reference] or 0) else reference
    if low is not None and low > parity:
        return group
    return reference if high is not None and high < parity else ""

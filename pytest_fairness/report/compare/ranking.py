"""The columns of a comparison from best to worst."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_fairness.core.marks import NOT_MARKED, aggregate
from pytest_fairness.report.compare.changes import MARKS, VERDICTS
from pytest_fairness.report.compare.comparison import Column, RunComparison


@dataclass(frozen=True, slots=True)
class ModelRanking:
    """A column and its rank."""

    rank: int | None
    """The rank from 1, equal where these data do not distinguish columns; None where the release could not be
    judged.
    """
    column_index: int
    """The index of the column in the comparison, from 0."""
    column: Column
    mark: str | None
    """The mark of all suites together; None where it is not marked."""
    missing: int
    """The number of thresholds that only other columns have."""


def rank_models(comparison: RunComparison) -> list[ModelRanking]:
    """Return the columns, best first, by their verdicts and then their marks, never by estimates.

    Missing measurements never help: a column that is invalid or lacks thresholds has no rank and comes last, and
    a suite that is not marked ranks as a D.
    """
    suites = marked_suites(comparison)
    missing_counts = [
        sum(question.rows[index] is None for question in comparison.questions) for index in _indices(comparison)
    ]
    keys = [_key(column, suites, missing) for column, missing in zip(comparison.columns, missing_counts, strict=True)]
    order = sorted(_indices(comparison), key=keys.__getitem__)
    return [
        ModelRanking(
            None if keys[index][0] else 1 + sum(key < keys[index] for key in keys),
            index,
            comparison.columns[index],
            overall(comparison.columns[index], suites),
            missing_counts[index],
        )
        for index in order
    ]


def marked_suites(comparison: RunComparison) -> list[str]:
    """Return the suites for which any column has a mark."""
    return list(dict.fromkeys(suite for column in comparison.columns for suite in column.marks))


def overall(column: Column, suites: Sequence[str]) -> str | None:
    """Return one mark for all suites."""
    mark = aggregate(column.marks.get(suite) or NOT_MARKED for suite in suites)
    return None if mark == NOT_MARKED else mark


def _key(column: Column, suites: Sequence[str], missing: int) -> tuple[bool, int, int, tuple[int, ...]]:
    verdict = column.release.verdict
    worst_first = sorted((MARKS[column.marks.get(suite)] for suite in suites), reverse=True)
    return (
        verdict == "invalid" or missing > 0,
        VERDICTS.index(verdict),
        MARKS[overall(column, suites)] if suites else 0,
        tuple(worst_first),
    )


def _indices(comparison: RunComparison) -> range:
    return range(len(comparison.columns))

"""A comparison for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_fairness.core.marks import NOT_MARKED
from pytest_fairness.report.compare import tables
from pytest_fairness.report.compare.comparison import ComparedThreshold, RunComparison, changes
from pytest_fairness.report.compare.ranking import rank_models
from pytest_fairness.report.compare.sections import text_table, wrapped
from pytest_fairness.report.phrases import SIMULATED


def lines(comparison: RunComparison, width: int = 80) -> Iterator[str]:
    """Yield the ranking, every threshold in all columns, and the changes; no line is wider than ``width``."""
    yield from _ranking(comparison, width)
    for question in comparison.questions:
        yield ""
        yield from _question(comparison, question, width)
    yield ""
    yield from wrapped(tables.DIFFERENCES, width)
    for changed in changes(comparison):
        yield ""
        yield f"{changed.column_index + 1} against {comparison.references[changed.column_index] + 1}"
        for head, pairs in changed.lists:
            for question, pairing in pairs:
                yield from wrapped(f"{head}: {tables.name(question)}: {tables.change_words(pairing)}", width)
        for head, questions in (("new", changed.new), ("gone", changed.gone)):
            for question in questions:
                yield from wrapped(f"{head}: {tables.name(question)}", width)
        if not changed.any:
            yield f" {tables.UNCHANGED}"
    yield ""
    yield from wrapped(tables.CHANGES, width)


def _ranking(comparison: RunComparison, width: int) -> Iterator[str]:
    heads = ("rank", "no.", "release", "mark", "fair", "unfair", "undecided", "invalid", "missing")
    standings = rank_models(comparison)
    cells = [
        (
            tables.rank(standing),
            str(standing.column_index + 1),
            standing.column.release.verdict,
            standing.mark or NOT_MARKED,
            *map(str, standing.column.release.counts.values()),
            str(standing.missing),
        )
        for standing in standings
    ]
    yield from text_table([heads, *cells])
    # A name with its parameters is longer than a column can be.
    for number, column in enumerate(comparison.columns, 1):
        marks = "; ".join(f"{suite} {mark or NOT_MARKED}" for suite, mark in column.marks.items())
        run = f" in run {column.run[:8]}" if len({other.run for other in comparison.columns}) > 1 else ""
        yield from wrapped(f"{number}: {column.introduced}{run}{f' (marks: {marks})' if marks else ''}", width)
    if tables.simulated(comparison):
        yield from wrapped(f"simulated: {SIMULATED}", width)
    yield from wrapped(tables.RANKS, width)


def _question(comparison: RunComparison, question: ComparedThreshold, width: int) -> Iterator[str]:
    yield from wrapped(tables.name(question), width, indent="")
    yield from wrapped(tables.about(question), width)
    cells = [
        (str(index + 1), tables.estimate_words(row), tables.mark_words(row), tables.verdict_words(row))
        for index, row in enumerate(question.rows)
    ]
    yield from text_table([("no.", "estimate", "mark", "verdict"), *cells])
    for index, pairing in enumerate(question.against):
        if pairing is not None:
            against = f"{index + 1} against {comparison.references[index] + 1}: {tables.difference_words(pairing)}"
            yield from wrapped(against, width)

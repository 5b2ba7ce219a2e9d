"""A comparison for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_fairness.core.marks import NOT_MARKED
from pytest_fairness.report.compare import tables
from pytest_fairness.report.compare.comparison import ComparedThreshold, RunComparison, changes
from pytest_fairness.report.compare.ranking import rank_models
from pytest_fairness.report.compare.sections import wrapped
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
    table = tables.ranking_table(comparison)
    first, last = (table.heads.index(head) for head in ("mark", "fair"))  # marks of suites stand with the names
    shown = [0, *range(2, first + 1), *range(last, len(table.heads))]
    numbers = [standing.column_index + 1 for standing in rank_models(comparison)]
    yield from table.numbered(shown, numbers).text()
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
    yield from tables.threshold_table(comparison, question).numbered((1, 2, 3)).text()
    for index, pairing in enumerate(question.against):
        if pairing is not None:
            against = f"{index + 1} against {comparison.references[index] + 1}: {tables.difference_words(pairing)}"
            yield from wrapped(against, width)

"""A table: heads and rows of cells, laid out here for a terminal and in Markdown, and by ``table.html.j2`` in HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pytest_fairness.core.formatting import align_columns
from pytest_fairness.report.markdown_escaping import escape


@dataclass(frozen=True, slots=True)
class TextTable:
    """Rows of cells under their heads.

    >>> table = TextTable("Ranks", ["rank", "model", "mark"], [["1", "x:a", "A"], ["2", "x:b", "-"]], named=1)
    >>> print(*table.markdown(), sep="\\n")
    | rank | model | mark |
    |---|---|---|
    | 1 | x:a | A |
    | 2 | x:b | &#45; |
    >>> print(*table.numbered().text(), sep="\\n")
     no.  rank  mark
     1    1     A
     2    2     -
    """

    title: str
    """The subject of the table, read aloud by screen readers."""
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    """Cells as texts, as many in each row as there are heads."""
    named: int = 0
    """The column that names the row, counted from 0."""

    def numbered(self, columns: Sequence[int] = (), numbers: Sequence[int] = ()) -> TextTable:
        """Return the table with numbers in place of the names, which are too long for a column of a terminal.

        Args:
            columns: The columns to keep, counted from 0; all but the names where it is empty.
            numbers: The number of each row; counted from 1 where it is empty.
        """
        kept = columns or [column for column in range(len(self.heads)) if column != self.named]
        rows = [
            [str(number), *(row[column] for column in kept)]
            for number, row in zip(numbers or range(1, len(self.rows) + 1), self.rows, strict=True)
        ]
        return replace(self, heads=["no.", *(self.heads[column] for column in kept)], rows=rows, named=0)

    def text(self) -> Iterator[str]:
        """Yield the lines for a terminal, in columns as wide as their cells."""
        yield from (f" {line}" for line in align_columns([self.heads, *self.rows]))

    def markdown(self) -> Iterator[str]:
        """Yield the lines in Markdown, with all cells escaped."""
        yield f"| {' | '.join(map(escape, self.heads))} |"
        yield "|---" * len(self.heads) + "|"
        for row in self.rows:
            yield f"| {' | '.join(map(escape, row))} |"

"""Tables that benchmarks add to a comparison: extensions of the group ``pytest_fairness.compare_sections``."""

from __future__ import annotations

import textwrap
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.report.compare.comparison import LoadedRun
from pytest_fairness.report.escaping import escape_controls
from pytest_fairness.report.html.rendering import render
from pytest_fairness.report.text_table import TextTable


@dataclass(frozen=True, slots=True)
class SectionTable:
    """One table with its title and notes.

    >>> table = SectionTable("words", "Words an answer", ["rank", "model", "words"], [["1", "openai:a", "80"]])
    >>> print("\\n".join(table.lines()))
     no.  rank  words
     1    1     80
     1: openai:a
    """

    anchor: str
    """The id of the section on the page: letters, digits and hyphens."""
    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    """Cells as texts; the second cell of each row is its name."""
    notes: Sequence[str] = ()
    """Explanations; the terminal shows the first only."""
    terminal_columns: Sequence[int] = ()
    """The columns that the terminal shows, counted from 0; all but the names where it is empty."""
    stands_alone: bool = False
    """Whether it is shown without the usual comparison: a file has no thresholds, or there is one model only."""
    charts: Sequence[str] = ()
    """SVG pictures as markup with escaped texts (`svg_element`), shown below the table on the page only."""

    @property
    def layout(self) -> TextTable:
        """The rows as a table, whose second column names them."""
        return TextTable(self.title, self.heads, self.rows, named=1)

    def markdown(self) -> str:
        """Return the section in Markdown, with all cells escaped."""
        notes = [line for note in self.notes for line in ("", note)]
        return "\n".join([f"## {self.title}", "", *self.layout.markdown(), *notes]) + "\n"

    def page(self) -> str:
        """Return the section as an HTML page of its own."""
        styles = ("style.css", "charts.css", "compare.css")
        return render("compare_section_page.html.j2", styles=styles, section=self)

    def lines(self, width: int = 80) -> Iterator[str]:
        """Yield the section for a terminal, with the names below the table, since they are too long for a column.

        Args:
            width: Columns of the terminal.
        """
        yield from self.layout.numbered(self.terminal_columns).text()
        for number, name in enumerate([row[1] for row in self.rows], 1):
            yield from wrapped(f"{number}: {name}", width)
        for note in self.notes[:1]:
            yield from wrapped(note, width)


@dataclass(slots=True)
class ComparedRuns:
    """The runs that ``pytest-fairness compare`` was given."""

    names: Sequence[str]
    """The names that were given: ids of runs, the beginnings of them, ``latest``, and JSON files."""
    load: Callable[[str], LoadedRun]
    redact: Callable[[str], str] = str
    """Return a text without secrets: for what a section reads from files of its own."""
    _loaded: dict[str, LoadedRun] = field(default_factory=dict)

    def run(self, name: str) -> LoadedRun:
        """Return one run of the store, or one results file.

        Args:
            name: One of the names.

        Raises:
            FairnessError: It cannot be read, or is another kind of file.
        """
        if name not in self._loaded:
            self._loaded[name] = self.load(name)
        return self._loaded[name]

    def runs(self) -> list[LoadedRun]:
        """Return the runs, without files of another kind."""
        runs = []
        for name in dict.fromkeys(self.names):
            with suppress(FairnessError):  # the comparison reports it, unless another section reads the file
                runs.append(self.run(name))
        return runs


class CompareSection(ABC):
    """Base class of compare sections: a table of a benchmark's own in ``pytest-fairness compare``.

    >>> class RunDates(CompareSection):
    ...     def table(self, runs):
    ...         rows = [[str(n), run.name, run.results.run.started] for n, run in enumerate(runs.runs(), 1)]
    ...         return SectionTable("dates", "When the runs began", ["no.", "run", "started"], rows) if rows else None
    """

    @abstractmethod
    def table(self, runs: ComparedRuns) -> SectionTable | None:
        """Return the table of these runs; None if they are not of this benchmark.

        Args:
            runs: The compared runs.

        Raises:
            FairnessError: A file of the benchmark cannot be read.
        """


def wrapped(text: str, width: int, indent: str = " ") -> list[str]:
    """Return the lines of a text for a terminal, those after the first indented further."""
    return textwrap.wrap(
        escape_controls(text), max(40, width - 1), initial_indent=indent, subsequent_indent=f"{indent}  "
    )

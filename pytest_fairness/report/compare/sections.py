"""A table that a benchmark adds to a comparison, in Markdown and on the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_fairness.report.html.shell import render
from pytest_fairness.report.inline import inline


@dataclass(frozen=True, slots=True)
class Section:
    """One table with its title and notes."""

    anchor: str
    """The id of the section on the page: letters, digits and hyphens."""
    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    """Cells as texts; the second one of each row names it."""
    notes: Sequence[str] = ()

    def markdown(self) -> str:
        """Return the section in Markdown; no cell is markup in it."""
        lines = [f"| {' | '.join(map(inline, row))} |" for row in (self.heads, *self.rows)]
        notes = [line for note in self.notes for line in ("", note)]
        return "\n".join([f"## {self.title}", "", lines[0], "|---" * len(self.heads) + "|", *lines[1:], *notes]) + "\n"

    def page(self) -> str:
        """Return the section as an HTML page of its own."""
        styles = ("style.css", "charts.css", "compare.css")
        return render("compare_section_page.html.j2", styles=styles, section=self)

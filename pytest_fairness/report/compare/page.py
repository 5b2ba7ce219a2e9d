"""A comparison as one page, in the shell of the report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from pytest_fairness.report.compare import words
from pytest_fairness.report.compare.comparison import Comparison, Question, changes
from pytest_fairness.report.compare.sections import Section
from pytest_fairness.report.html.axes import is_log, parity
from pytest_fairness.report.html.charts import Line, lines_chart
from pytest_fairness.report.html.shell import render
from pytest_fairness.report.sentences import SIMULATED

_STYLES = ("style.css", "charts.css", "compare.css")


def page(comparison: Comparison, sections: Sequence[Section] = ()) -> str:
    """Return the ranking, what changed, every threshold in all columns, and benchmarks' sections, as HTML."""
    anchors = {question.test: f"c{number}" for number, question in enumerate(comparison.questions, 1)}
    return render(
        "compare.html.j2",
        styles=_STYLES,
        words=words,
        simulated=SIMULATED if words.simulated(comparison) else "",
        comparison=comparison,
        league=words.league_table(comparison),
        days=sorted({column.started[:10] for column in comparison.columns}),
        sections=sections,
        changes=changes(comparison),
        anchors=anchors,
        articles=[_article(comparison, question, anchors[question.test]) for question in comparison.questions],
    )


def _article(comparison: Comparison, question: Question, anchor: str) -> dict[str, Any]:
    heads, rows = words.threshold_table(comparison, question)
    return {
        "anchor": anchor,
        "name": words.name(question),
        "about": words.about(question),
        "heads": heads,
        "rows": rows,
        "chart": _chart(comparison, question, f"{anchor}-chart"),
    }


def _chart(comparison: Comparison, question: Question, prefix: str) -> Markup:
    """A dot and an interval for each column that was asked the same."""
    asked = [
        (column.label, row)
        for column, row in zip(comparison.columns, question.rows, strict=True)
        if row is not None and row["estimate"] is not None
    ]
    if not asked or not all(held is None or held.comparable for held in question.against):
        return Markup()
    rows = [row for _, row in asked]
    lines = [Line(label, row) for label, row in asked]
    bounds = rows[0]["bounds"] if len({str(row["bounds"]) for row in rows}) == 1 else (None, None)
    return lines_chart(words.name(question), lines, prefix, bounds, alike=parity(rows[0]), log=is_log(rows))

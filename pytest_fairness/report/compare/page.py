"""A comparison as one page, in the shell of the report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from pytest_fairness.report.compare import tables
from pytest_fairness.report.compare.comparison import ComparedThreshold, RunComparison, changes
from pytest_fairness.report.compare.sections import SectionTable
from pytest_fairness.report.html.axes import is_log
from pytest_fairness.report.html.charts import Line, lines_chart
from pytest_fairness.report.html.rendering import render
from pytest_fairness.report.phrases import SIMULATED

_STYLES = ("style.css", "charts.css", "compare.css")


def page(comparison: RunComparison, sections: Sequence[SectionTable] = ()) -> str:
    """Return the ranking, what changed, every threshold in all columns, and benchmarks' sections, as HTML."""
    anchors = {question.test: f"c{number}" for number, question in enumerate(comparison.questions, 1)}
    return render(
        "compare.html.j2",
        styles=_STYLES,
        words=tables,
        simulated=SIMULATED if tables.simulated(comparison) else "",
        comparison=comparison,
        league=tables.ranking_table(comparison),
        days=sorted({column.started[:10] for column in comparison.columns}),
        sections=sections,
        changes=changes(comparison),
        anchors=anchors,
        articles=[_article(comparison, question, anchors[question.test]) for question in comparison.questions],
    )


def _article(comparison: RunComparison, question: ComparedThreshold, anchor: str) -> dict[str, Any]:
    return {
        "anchor": anchor,
        "name": tables.name(question),
        "about": tables.about(question),
        "table": tables.threshold_table(comparison, question),
        "chart": _chart(comparison, question, f"{anchor}-chart"),
    }


def _chart(comparison: RunComparison, question: ComparedThreshold, prefix: str) -> Markup:
    """Return a chart with a dot and an interval for each column; empty if they compare different things."""
    measured = [
        (column.label, row)
        for column, row in zip(comparison.columns, question.rows, strict=True)
        if row is not None and row.estimate.value is not None
    ]
    if not measured or not all(pairing is None or pairing.comparable for pairing in question.against):
        return Markup()
    rows = [row for _, row in measured]
    lines = [Line(label, row.estimate, comparisons=row.comparisons) for label, row in measured]
    bounds = rows[0].bounds if len({str(row.bounds) for row in rows}) == 1 else (None, None)
    log = is_log([row.estimate for row in rows], (bound for row in rows for bound in row.bounds))
    return lines_chart(
        tables.name(question), lines, prefix, bounds, parity=rows[0].estimate.parity, log=log, by_value=False
    )

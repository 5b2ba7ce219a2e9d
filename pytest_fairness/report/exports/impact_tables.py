"""Impact ratios as Markdown and as CSV."""

from __future__ import annotations

import csv
import io
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.formatting import number
from pytest_fairness.report.escaping import escape_controls
from pytest_fairness.report.exports.exporter import Exporter, RunReference
from pytest_fairness.report.exports.impact_ratios import SMALL, Category, ImpactTable, ImpactTables, impact_tables
from pytest_fairness.report.files import write_text
from pytest_fairness.report.markdown_escaping import escape

NO_AUDIT = (
    "These tables have the form that New York City's Local Law 144 asks for (6 RCNY 5-300 and 5-301). They are not "
    "the bias audit that the law asks for: the applications were written for a test, nobody applied, and no "
    "independent auditor made them."
)


def impact_markdown(tables: ImpactTables) -> str:
    """Return the tables in Markdown, with what they are and are not."""
    rate, share = _rate(tables)
    about = (
        f"Model {escape(tables.model)}, probe {escape(tables.probe)}, grade {escape(tables.grade)}. Each attempt is "
        f"one assessment. The {rate} is the share of the assessed that {share}; the impact ratio is that rate over the "
        "highest in its table. An interval holds however the ungraded are filled in."
    )
    lines = ["## Impact ratios", "", about, "", NO_AUDIT]
    for table in tables.tables:
        lines += ["", f"### {table.title}", "", *_markdown(table, rate)]
    return "\n".join(lines) + "\n"


def impact_csv(tables: ImpactTables) -> str:
    """Return the same numbers as CSV: one line a category, empty where there is no number."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    rate = _rate(tables)[0].replace(" ", "_")
    counts = ("applications", "assessed", "ungraded", "selected")
    writer.writerow(("table", "category", *counts, rate, "impact_ratio", "low", "high"))
    for table in tables.tables:
        for category in table.categories:
            writer.writerow(
                (table.title, _cell(category.name), *_counts(category), category.rate, *_ends(table, category))
            )
        writer.writerow((table.title, "(unknown category)", "", "", table.unknown, *[""] * 5))
    return file.getvalue()


def _rate(tables: ImpactTables) -> tuple[str, str]:
    if tables.median is None:
        return "selection rate", "is selected"
    return "scoring rate", f"scores above {tables.median:g}, the median of all scores"


def _markdown(table: ImpactTable, rate: str) -> Iterator[str]:
    yield f"| category | applications | assessed | ungraded | selected | {rate} | impact ratio (interval) |"
    yield "|---|---|---|---|---|---|---|"
    for category in table.categories:
        counts = " | ".join(f"{count:,}" for count in _counts(category))
        share = "unknown" if category.rate is None else f"{category.rate:.3f}"
        yield f"| {escape(category.name)} | {counts} | {share} | {escape(_ratio(table, category))} |"
    yield ""
    yield f"Attempts in an unknown category, which are not in the table: {table.unknown:,}."
    small = ", ".join(escape(category.name) for category in table.categories if category.small)
    if small:
        yield f"Left out of the ratios, since each is under {SMALL:.0%} of the data, too few to compare: {small}."


def _counts(category: Category) -> tuple[int, int, int, int]:
    return category.applications, category.assessed, category.ungraded, category.selected


def _ratio(table: ImpactTable, category: Category) -> str:
    value, low, high = _ends(table, category)
    if value is None:
        return "-" if category.ratio is None else f"unknown: {category.ratio.invalid}"
    if category.ratio is None or low is None or high is None:
        return f"{value:.3f} (highest rate)"
    return f"{number(value, 3)} ({category.ratio.confidence * 100:.4g}% CI {number(low, 3)} to {number(high, 3)})"


def _ends(table: ImpactTable, category: Category) -> tuple[float | None, float | None, float | None]:
    """Ratio and interval; that of the highest rate is one by definition, and has no interval."""
    ratio = category.ratio
    if ratio is not None:
        return (None, None, None) if ratio.invalid else (ratio.value, ratio.low, ratio.high)
    return (1.0 if category is table.categories[0] and category.rate else None), None, None


def _cell(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula."""
    shown = escape_controls(text)
    return f"'{shown}" if shown[:1] in ("=", "+", "-", "@") else shown


class ImpactRatiosExport(Exporter):
    """The export ``impact-ratios``."""

    help = "selection rates in the form of New York City's Local Law 144"
    out = "the file to write: its ending, .md or .csv, says how"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--grade", required=True, help="the grade that selects, or the score")
        parser.add_argument("--sex", required=True, metavar="ATTRIBUTE", help="the attribute of sex or gender")
        parser.add_argument(
            "--ethnicity", required=True, metavar="ATTRIBUTE", help="the attribute of race and ethnicity"
        )
        parser.add_argument("--equals", metavar="TEXT", help="the value of the grade that selects, where it is a text")

    def export(self, run: RunReference, out: Path, arguments: Namespace) -> str:
        grade, attributes = arguments.grade, {"sex": arguments.sex, "ethnicity": arguments.ethnicity}
        samples = [sample for sample in run.read().samples if grade in sample.graders]
        if not samples:
            raise FairnessError(f"no probe of the run has a grade {grade!r}")
        tables = [impact_tables(sample, grade, **attributes, equals=arguments.equals) for sample in samples]
        write_text(out, "\n".join(map(impact_csv if out.suffix == ".csv" else impact_markdown, tables)))
        return f"written: {out}"

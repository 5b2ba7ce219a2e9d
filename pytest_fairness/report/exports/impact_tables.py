"""Impact ratios as Markdown and as CSV."""

from __future__ import annotations

import csv
import io
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.core.formatting import number
from pytest_fairness.report.escaping import escape_controls
from pytest_fairness.report.exports.exporter import Exporter, RunReference, add_model
from pytest_fairness.report.exports.impact_ratios import SMALL, Category, ImpactTable, ImpactTables, impact_tables
from pytest_fairness.report.files import write_text
from pytest_fairness.report.markdown_escaping import escape
from pytest_fairness.store.samples import StoredSample

NO_AUDIT = (
    "These tables have the form that New York City's Local Law 144 asks for (6 RCNY 5-300 and 5-301). They are not "
    "the bias audit that the law asks for: the applications were written for a test, nobody applied, and no "
    "independent auditor made them."
)


def impact_markdown(tables: ImpactTables) -> str:
    """Return the tables in Markdown, with an explanation and a disclaimer."""
    rate, share = _rate(tables)
    explanation = (
        f"Model {escape(tables.model)}, probe {escape(tables.probe)}, grade {escape(tables.grade)}. Each attempt is "
        f"one assessment. The {rate} is the share of the assessed that {share}; the impact ratio is that rate over the "
        "highest in its table. An interval holds however the ungraded are filled in."
    )
    lines = ["## Impact ratios", "", explanation, "", NO_AUDIT]
    for table in tables.tables:
        lines += ["", f"### {table.title}", "", *_markdown(table, rate)]
    return "\n".join(lines) + "\n"


def impact_csv(samples: Sequence[ImpactTables]) -> str:
    """Return the tables as CSV: one line for each category, with empty cells for missing numbers."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    rate = _rate(samples[0])[0].replace(" ", "_")
    counts = ("applications", "assessed", "ungraded", "selected")
    writer.writerow(("probe", "model", "table", "category", *counts, rate, "impact_ratio", "low", "high"))
    for tables in samples:
        names = _cell(tables.probe), _cell(tables.model)
        for table in tables.tables:
            for category in table.categories:
                numbers = (*_counts(category), category.rate, *_ends(table, category))
                writer.writerow((*names, table.title, _cell(category.name), *numbers))
            writer.writerow((*names, table.title, "(unknown category)", "", "", table.unknown, *[""] * 5))
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
    """Return a ratio and its interval; the highest rate has the ratio 1 by definition, and no interval."""
    ratio = category.ratio
    if ratio is not None:
        return (None, None, None) if ratio.invalid else (ratio.value, ratio.low, ratio.high)
    return (1.0 if category is table.categories[0] and category.rate else None), None, None


def _cell(text: str) -> str:
    """Return a text that no spreadsheet interprets as a formula."""
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
        parser.add_argument(
            "--probe", metavar="NAME", help="whose answers: an id or the name of a test (default: all that fit)"
        )
        add_model(parser)
        parser.add_argument("--equals", metavar="TEXT", help="the value of the grade that selects, where it is a text")

    def export(self, run: RunReference, out: Path, arguments: Namespace) -> str:
        samples = run.read().samples
        if arguments.model is not None:
            models = {sample.model for sample in samples}
            samples = [sample for sample in samples if sample.model == arguments.model]
            if not samples:
                raise FairnessError(
                    f"the run has no sample of {arguments.model!r}: {did_you_mean(arguments.model, models)}"
                )
        attributes = {"sex": arguments.sex, "ethnicity": arguments.ethnicity}
        chosen = select_assessed(samples, arguments.grade, attributes.values(), arguments.probe)
        tables = [impact_tables(sample, arguments.grade, **attributes, equals=arguments.equals) for sample in chosen]
        write_text(out, impact_csv(tables) if out.suffix == ".csv" else "\n".join(map(impact_markdown, tables)))
        probes = dict.fromkeys(f"{sample.probe} on {sample.model}" for sample in chosen)
        return f"written: {out} ({', '.join(probes)})"


def select_assessed(
    samples: Sequence[StoredSample], grade: str, attributes: Iterable[str], probe: str | None
) -> list[StoredSample]:
    """Return the samples whose answers have the grade and whose prompts have all attributes.

    Args:
        samples: The samples of a run.
        grade: The grade that selects.
        attributes: Names of attributes of prompts.
        probe: The id of a probe, or the name of its test; None for all probes.

    Raises:
        FairnessError: No sample is of this probe, or none has the grade and the attributes; in one line.
    """
    ids = {sample.probe for sample in samples}
    if probe is not None:
        of_probe = [sample for sample in samples if probe in (sample.probe, sample.probe.rpartition("::")[2])]
        if not of_probe:
            raise FairnessError(f"the run has no probe {probe!r}: {did_you_mean(probe, ids)}")
        samples = of_probe
    graded = [sample for sample in samples if grade in sample.graders]
    if not graded:
        names = {name for sample in samples for name in sample.graders}
        subject = f"the probe {probe}" if probe else "no probe of the run"
        raise FairnessError(f"{subject} has {'no' if probe else 'a'} grade {grade!r}: {did_you_mean(grade, names)}")
    attribute_names = list(attributes)
    chosen = [sample for sample in graded if set(attribute_names) <= _attributes(sample)]
    if not chosen:
        names = {name for sample in graded for name in _attributes(sample)}
        missing = next((name for name in attribute_names if name not in names), None)
        if missing is not None:
            raise FairnessError(f"no prompt has a group of {missing!r}: {did_you_mean(missing, names)}")
        raise FairnessError(
            f"no probe with the grade {grade!r} has prompts of both {' and '.join(map(repr, attribute_names))}"
        )
    return chosen


def _attributes(sample: StoredSample) -> set[str]:
    return {name for _, prompt in sample.prompts for name in prompt.groups}

"""Impact ratios by sex, by race/ethnicity and by both, in the form of New York City's Local Law 144.

The rules of the Department of Consumer and Worker Protection (Rules of the City of New York,
title 6, sections 5-300 to 5-303) require of a bias audit, for each category of sex, of race/ethnicity
and of both together: the number of applicants, the selection rate (where a tool selects) or the
scoring rate (where it scores: the share above the median of the full sample), and the impact
ratio, which is that rate over the rate of the category with the highest. They also require the
number in an unknown category, and allow a category of under 2% of the data to be left out of the ratios.
"""

from __future__ import annotations

import csv
import io
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from numbers import Real
from pathlib import Path
from statistics import median
from types import MappingProxyType
from typing import Any

from pytest_fairness import Estimate, FairnessError, GradedAttempt, Prompt
from pytest_fairness.attestation.bias_audit_summary import AuditStatements, summary_facts
from pytest_fairness.attestation.documents import facts_table, write_document
from pytest_fairness.extending import (
    Exporter,
    RunReference,
    StoredSample,
    TextTable,
    UngradedError,
    add_model,
    did_you_mean,
    escape_controls,
    format_level,
    shown_names,
    write_text,
)
from pytest_fairness.extending import escape_markdown as escape
from pytest_fairness.extending import format_number as number

NO_AUDIT = (
    "This summary has the form that New York City's Local Law 144 asks for (6 RCNY 5-300 to 5-303). It is not "
    "the bias audit that the law asks for: the applications were written for a test, nobody applied, and no "
    "independent auditor made it."
)


SEX_CATEGORIES = ("Male", "Female")
RACE_CATEGORIES = (
    "Hispanic or Latino",
    "White",
    "Black or African American",
    "Native Hawaiian or Pacific Islander",
    "Asian",
    "Native American or Alaska Native",
    "Two or More Races",
)
"""Categories of component 1 of the EEO-1 report (29 CFR 1602.7)."""
EEO_1: Mapping[str, str] = {
    **dict.fromkeys(("male", "man", "men"), "Male"),
    **dict.fromkeys(("female", "woman", "women"), "Female"),
    **dict.fromkeys(("hispanic", "latino", "latina", "hispanic or latino"), "Hispanic or Latino"),
    **dict.fromkeys(("white", "middle eastern", "north african", "middle eastern or north african"), "White"),
    **dict.fromkeys(("black", "african american", "black or african american"), "Black or African American"),
    **dict.fromkeys(("pacific islander", "native hawaiian"), "Native Hawaiian or Pacific Islander"),
    "asian": "Asian",
    **dict.fromkeys(("native american", "alaska native", "american indian"), "Native American or Alaska Native"),
    **dict.fromkeys(("two or more", "two or more races", "multiracial"), "Two or More Races"),
}
"""The category of a group, by the group's name in small letters. The report counts the Middle East as White."""


def impact_markdown(tables: ImpactTables, facts: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return the tables in Markdown, with an explanation and a disclaimer.

    Args:
        tables: The tables.
        facts: What stands before them (`bias_audit_summary.summary_facts`).
    """
    rate, share = _rate(tables)
    explanation = (
        f"Model {escape(tables.model)}, probe {escape(tables.probe)}, grade {escape(tables.grade)}. Each attempt is "
        f"one assessment. The {rate} is the share of the assessed that {share}; the impact ratio is that rate over the "
        "highest in its table. An interval holds however the ungraded are filled in."
    )
    lines = ["## Impact ratios", "", NO_AUDIT]
    if facts:
        lines += ["", *facts_table("Summary", facts)]
    lines += ["", explanation]
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
            for part in table.parts:
                counts_of_part = (*_counts(part), part.rate, "", "", "")
                writer.writerow((*names, f"{table.title}: counted together", _cell(part.name), *counts_of_part))
            writer.writerow((*names, table.title, "(unknown category)", "", "", table.unknown, *[""] * 5))
    return file.getvalue()


def _rate(tables: ImpactTables) -> tuple[str, str]:
    if tables.median is None:
        return "selection rate", "is selected"
    return "scoring rate", f"scores above {tables.median:g}, the median of all scores"


def _markdown(table: ImpactTable, rate: str) -> Iterator[str]:
    heads = ["category", "applications", "assessed", "ungraded", "selected", rate, "impact ratio (interval)"]
    rows = []
    for category in table.categories:
        counts = (f"{count:,}" for count in _counts(category))
        rows.append([category.name, *counts, _share(category), _ratio(table, category)])
    yield from TextTable(table.title, heads, rows).markdown()
    yield ""
    yield f"Attempts in an unknown category, which are not in the table: {table.unknown:,}."
    small = ", ".join(escape(category.name) for category in table.categories if category.small)
    if small:
        yield f"Left out of the ratios, since each is under {SMALL:.0%} of the data, too few to compare: {small}."
    if table.parts:
        parts = (f"{escape(part.name)} ({_share(part)} of {part.assessed:,})" for part in table.parts)
        yield f"Groups that are counted together in a category, with their rates: {', '.join(parts)}."
    if table.absent:
        yield f"Categories of the EEO-1 report without applications: {', '.join(table.absent)}."
    if table.others:
        yield f"No categories of the EEO-1 report: {', '.join(map(escape, table.others))}."


def _share(category: Category) -> str:
    return "unknown" if category.rate is None else f"{category.rate:.3f}"


def _counts(category: Category) -> tuple[int, int, int, int]:
    return category.applications, category.assessed, category.ungraded, category.selected


def _ratio(table: ImpactTable, category: Category) -> str:
    value, low, high = _ends(table, category)
    if value is None:
        return "-" if category.ratio is None else f"unknown: {category.ratio.invalid}"
    if category.ratio is None or low is None or high is None:
        return f"{value:.3f} (highest rate)"
    return f"{number(value, 3)} ({format_level(category.ratio.confidence)} CI {number(low, 3)} to {number(high, 3)})"


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
    out = "the file to write: its ending, .md, .html or .csv, says how"

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
        parser.add_argument(
            "--category",
            action="append",
            default=[],
            type=_category_of,
            metavar="GROUP=NAME",
            help="the category of a group, where it is not that of the EEO-1 report (repeatable)",
        )
        parser.add_argument("--audit-date", type=_day, metavar="YYYY-MM-DD", help="date of the bias audit")
        parser.add_argument(
            "--distribution-date", type=_day, metavar="YYYY-MM-DD", help="day when use of the tool began"
        )
        parser.add_argument("--no-history", default="", metavar="TEXT", help="why historical data was not used")

    def export(self, run: RunReference, out: Path, arguments: Namespace) -> str:
        view = run.read()
        names, samples = shown_names(view), view.samples
        if arguments.model is not None:
            models, model = {sample.model for sample in samples}, names.full(arguments.model)
            samples = [sample for sample in samples if sample.model == model]
            if not samples:
                raise FairnessError(
                    f"the run has no sample of {arguments.model!r}: {did_you_mean(arguments.model, models)}"
                )
        attributes = {"sex": arguments.sex, "ethnicity": arguments.ethnicity}
        chosen = select_assessed(samples, arguments.grade, attributes.values(), arguments.probe)
        categories = {**EEO_1, **dict(arguments.category)}
        tables = [
            impact_tables(sample, arguments.grade, **attributes, equals=arguments.equals, categories=categories)
            for sample in chosen
        ]
        if out.suffix == ".csv":
            write_text(out, impact_csv(tables))
        else:
            statements = AuditStatements(
                arguments.audit_date or "", arguments.distribution_date or "", arguments.no_history
            )
            shown = (replace(table, model=names.introduce(table.model)) for table in tables)
            facts = (summary_facts(view, sample, statements) for sample in chosen)
            write_document(out, "Impact ratios", map(impact_markdown, shown, facts))
        probes = dict.fromkeys(f"{sample.probe} on {names.show(sample.model)}" for sample in chosen)
        return f"written: {out} ({', '.join(probes)})"


def _category_of(text: str) -> tuple[str, str]:
    group, equals, name = text.partition("=")
    if not (equals and group.strip() and name.strip()):
        raise ArgumentTypeError(f"{text!r} is no category: write GROUP=NAME, as in 'middle eastern=Middle Eastern'")
    return group.strip().lower(), name.strip()


def _day(text: str) -> str:
    try:
        if len(text) != len("2026-12-31"):
            raise ValueError
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is no date: write one as in 2026-12-31") from None


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


SMALL = 0.02
"""A category with a smaller share of the assessments is left out of the ratios."""

_BY = "impact category"
_PART = "group in an impact category"


@dataclass(frozen=True, slots=True)
class Category:
    """One row: a category, and the counts of its applications."""

    name: str
    applications: int
    """The number of distinct prompts."""
    assessed: int
    """Graded attempts: each repetition of an application is one assessment."""
    ungraded: int
    selected: int
    """The assessed ones that were selected, or scored above the median."""
    small: bool = False
    """Whether it is left out of the ratios."""
    ratio: Estimate | None = None
    """The ratio to the category with the highest rate; None for that category and for small ones."""

    @property
    def rate(self) -> float | None:
        return self.selected / self.assessed if self.assessed else None


@dataclass(frozen=True, slots=True)
class ImpactTable:
    """The categories of one attribute, or of two together, highest rate first and small ones last."""

    title: str
    categories: Sequence[Category]
    unknown: int
    """Attempts on applications without such a category."""
    parts: Sequence[Category] = ()
    """Groups of which several are counted as one category."""
    absent: Sequence[str] = ()
    """Categories of the EEO-1 report without applications, of a table by one attribute."""
    others: Sequence[str] = ()
    """Categories in the table that the EEO-1 report does not have."""


@dataclass(frozen=True, slots=True)
class ImpactTables:
    """Impact ratios by sex, by race/ethnicity, and by both."""

    probe: str
    model: str
    grade: str
    median: float | None
    """The median of all scores, where the grade is a score; None where it selects."""
    tables: Sequence[ImpactTable]


def impact_tables(
    sample: StoredSample,
    grade: str,
    *,
    sex: str,
    ethnicity: str,
    equals: Any = None,
    categories: Mapping[str, str] = MappingProxyType({}),
) -> ImpactTables:
    """Return the tables of one probe on one model, whose answers have the grade and both attributes.

    Intervals of ratios are worst-case over ungraded attempts (`Measured.ratio`).

    Args:
        sample: The sample.
        grade: The grade: true or false (selected or not), a text, or a number (a score).
        sex: The attribute of the prompts that is sex or gender.
        ethnicity: The attribute that is race and ethnicity.
        equals: The value that selects, of a grade that is a text.
        categories: The category of a group by its name in small letters; of any other, its own name.

    Returns:
        The tables by sex, by ethnicity and by both.

    Raises:
        FairnessError: The grade is a text and ``equals`` is missing, or one attribute is to be both.
    """
    if sex == ethnicity:
        raise FairnessError(f"{sex!r} is named as sex and as race/ethnicity: name the attribute of each")
    median_score = _median(sample.attempts, grade, equals)
    selected = _selection(grade, equals, median_score)
    groupings: Sequence[tuple[str, Sequence[str], Sequence[str]]] = (
        ("Sex categories", (sex,), SEX_CATEGORIES),
        ("Race/ethnicity categories", (ethnicity,), RACE_CATEGORIES),
        ("Intersectional categories", (sex, ethnicity), ()),
    )
    tables = []
    for title, names, reported in groupings:
        table = _table(sample, title, names, selected, categories)
        if categories and reported:
            present = [category.name for category in table.categories]
            absent = [name for name in reported if name not in present]
            table = replace(table, absent=absent, others=[name for name in present if name not in reported])
        tables.append(table)
    return ImpactTables(sample.probe, sample.model, grade, median_score, tables)


def _median(attempts: Sequence[GradedAttempt], grade: str, equals: Any) -> float | None:
    """Return the median of a score over the full sample; None for a grade of true and false."""
    if equals is not None:
        return None
    grades = [graded.grades[grade] for graded in attempts if grade in graded.grades]
    values = [entry.value for entry in grades if entry.ungraded is None]
    if all(value in (True, False) for value in values):
        return None
    for value in values:
        if not isinstance(value, Real):
            raise FairnessError(f"the grade {grade!r} holds {value!r}: say which value selects, equals=...")
    return float(median(values))


def _selection(grade: str, equals: Any, middle: float | None) -> Callable[[GradedAttempt], bool]:
    def selected(graded: GradedAttempt) -> bool:
        value = graded[grade]
        if equals is not None:
            return bool(value == equals or str(value) == str(equals))
        return bool(value) if middle is None else bool(value > middle)

    return selected


def _table(
    sample: StoredSample,
    title: str,
    attributes: Sequence[str],
    selected: Callable[[GradedAttempt], bool],
    names: Mapping[str, str],
) -> ImpactTable:
    """Return the table of the attempts whose prompts name a group of each attribute."""
    categorized = {id(prompt): _with_category(prompt, attributes, names) for _, prompt in sample.prompts}
    attempts = []
    for graded in sample.attempts:
        prompt = categorized[id(graded.prompt)]
        if prompt is not None:
            attempts.append(GradedAttempt(graded.item, prompt, graded.attempt, graded.grades))
    members = _by_group(attempts, _BY)
    categories = [_category(name, members_of_category, selected) for name, members_of_category in members.items()]
    categories = [
        replace(category, small=len(members[category.name]) < SMALL * len(attempts)) for category in categories
    ]
    ordered = sorted(categories, key=lambda category: (category.small, -(category.rate or 0.0)))
    unknown = len(sample.attempts) - len(attempts)
    parts = [
        _category(f"{name}: {part}", members_of_part, selected)
        for name, members_of_category in sorted(members.items())
        if len(groups := _by_group(members_of_category, _PART)) > 1
        for part, members_of_part in sorted(groups.items())
    ]
    return ImpactTable(title, _with_ratios(sample, attempts, ordered, selected), unknown, parts)


def _by_group(attempts: Iterable[GradedAttempt], attribute: str) -> dict[str, list[GradedAttempt]]:
    groups: dict[str, list[GradedAttempt]] = {}
    for graded in attempts:
        groups.setdefault(graded.prompt.groups[attribute], []).append(graded)
    return groups


def _with_category(prompt: Prompt, attributes: Sequence[str], names: Mapping[str, str]) -> Prompt | None:
    groups = [prompt.groups.get(name) for name in attributes]
    if None in groups:
        return None
    own = [str(group) for group in groups]
    category = " / ".join(names.get(group.lower(), group) for group in own)
    return Prompt(prompt.messages, {**prompt.groups, _BY: category, _PART: " / ".join(own)}, prompt.metadata)


def _category(name: str, attempts: Sequence[GradedAttempt], selected: Callable[[GradedAttempt], bool]) -> Category:
    outcomes = []
    for graded in attempts:
        try:
            outcomes.append(selected(graded))
        except (UngradedError, KeyError):  # an attempt that failed may lack the grade altogether
            continue
    prompts = len({id(graded.prompt) for graded in attempts})
    return Category(name, prompts, len(outcomes), len(attempts) - len(outcomes), sum(outcomes))


def _with_ratios(
    sample: StoredSample,
    attempts: Sequence[GradedAttempt],
    categories: Sequence[Category],
    selected: Callable[[GradedAttempt], bool],
) -> list[Category]:
    """Return the categories with their ratios to the first, which has the highest rate of those that are not small."""
    from pytest_fairness import Measured

    measured = Measured(attempts, extremes=sample.extremes, **sample.arguments)
    return [
        category
        if category.small or category is categories[0]
        else replace(category, ratio=measured.ratio(selected, by=_BY, of=category.name, to=categories[0].name))
        for category in categories
    ]

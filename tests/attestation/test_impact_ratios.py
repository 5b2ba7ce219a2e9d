"""Impact ratios in the form of Local Law 144, from a stored sample."""

from __future__ import annotations

import csv
import io
import random
from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from lxml import html
from markdown_it import MarkdownIt

from pytest_fairness.attestation.impact_tables import (
    Category,
    ImpactRatiosExport,
    ImpactTables,
    impact_csv,
    impact_markdown,
    impact_tables,
    select_assessed,
)
from pytest_fairness.core.attempts import Grade
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.report.escaping import escape_controls
from pytest_fairness.report.exports.exporter import RunReference
from pytest_fairness.report.markdown_escaping import escape
from pytest_fairness.stats.measured import Measured
from pytest_fairness.store.samples import StoredSample
from tests.helpers import report_views

SEXES = ("female", "male")
ETHNICITIES = ("Asian", "Black", "White")
RATES = {"female": 0.4, "male": 0.6, "Asian": 0.1, "Black": -0.1, "White": 0.0}

GradeOf = Callable[[random.Random, float], Grade]


def selects(generator: random.Random, rate: float) -> Grade:
    return Grade(generator.random() < rate)


def scores(generator: random.Random, rate: float) -> Grade:
    return Grade(generator.gauss(10 * rate, 2))


def sample(grade: GradeOf = selects, items: int = 60, extra: list[dict[str, str]] | None = None) -> StoredSample:
    """Return profiles under names of every sex and ethnicity, asked twice; each 20th also under ``extra``."""
    generator = random.Random(7)
    attempts = []
    for number in range(items):
        groups: list[dict[str, str]] = [{"sex": sex, "ethnicity": name} for sex in SEXES for name in ETHNICITIES]
        groups += extra if extra and number % 20 == 0 else []
        prompts = [Prompt(f"{number}: {of}", of) for of in groups]
        item = ProbeItem(f"profile-{number}", prompts)
        for prompt in prompts:
            rate = sum(RATES.get(group, 0.3) for group in prompt.groups.values())
            attempts += [report_views.graded(item, prompt, n, {"advance": grade(generator, rate)}) for n in range(2)]
    return StoredSample("test_hiring.py::test_screening", report_views.MODEL, "key", attempts)


def tables(of: StoredSample, **options: Any) -> ImpactTables:
    return impact_tables(of, "advance", sex="sex", ethnicity="ethnicity", **options)


def by_name(impact: ImpactTables) -> list[dict[str, Category]]:
    return [{category.name: category for category in table.categories} for table in impact.tables]


def test_rates_and_ratios_by_sex_race_and_both() -> None:
    of = sample()
    impact = tables(of)
    assert [table.title.split()[0] for table in impact.tables] == ["Sex", "Race/ethnicity", "Intersectional"]
    sexes, ethnicities, both = by_name(impact)
    assert (set(sexes), set(ethnicities), len(both)) == (set(SEXES), set(ETHNICITIES), 6)
    assert impact.median is None
    for categories, names in ((sexes, ("sex",)), (ethnicities, ("ethnicity",)), (both, ("sex", "ethnicity"))):
        best = max(category.rate or 0.0 for category in categories.values())
        for name, category in categories.items():
            mine = [a for a in of.attempts if " / ".join(a.prompt.groups[attribute] for attribute in names) == name]
            selected = sum(attempt["advance"] for attempt in mine)
            assert (category.assessed, category.selected, category.ungraded) == (len(mine), selected, 0)
            assert category.applications == len(mine) // 2
            assert category.rate == pytest.approx(selected / len(mine))
            if category.ratio is None:
                assert category.rate == best
            else:
                assert category.rate is not None
                assert category.ratio.value == pytest.approx(category.rate / best)
                assert category.ratio.low < category.ratio.value < category.ratio.high


def test_interval_equals_that_of_the_tested_ratio() -> None:
    of = sample()
    (female,) = (c for c in tables(of).tables[0].categories if c.name == "female")
    expected = Measured(of.attempts).ratio("advance", by="sex", of="female", to="male")
    assert female.ratio is not None
    assert (female.ratio.value, female.ratio.low, female.ratio.high) == (expected.value, expected.low, expected.high)
    by_source = StoredSample(of.probe, of.model, of.model_key, of.attempts, {"confidence": 0.9})
    (narrow,) = (c for c in tables(by_source).tables[0].categories if c.name == "female")
    assert narrow.ratio is not None
    assert narrow.ratio.high < expected.high


def test_ungraded_attempts_are_counted_and_widen_the_interval() -> None:
    def half_refused(generator: random.Random, rate: float) -> Grade:
        grade = selects(generator, rate)
        return Grade.none("refusal") if generator.random() < 0.08 else grade

    of = sample(half_refused)
    impact = tables(of)
    ungraded = sum(attempt.grades["advance"].ungraded is not None for attempt in of.attempts)
    assert ungraded > 30
    for table in impact.tables:
        assert sum(category.ungraded for category in table.categories) == ungraded
        assert sum(category.assessed for category in table.categories) == len(of.attempts) - ungraded
    (female,) = (c for c in impact.tables[0].categories if c.name == "female")
    without = [attempt for attempt in of.attempts if attempt.grades["advance"].ungraded is None]
    alone = Measured(without).ratio("advance", by="sex", of="female", to="male")
    assert female.ratio is not None
    assert female.ratio.value == pytest.approx(alone.value)
    assert female.ratio.low < alone.low < alone.high < female.ratio.high


def test_score_is_selected_above_the_median_of_all() -> None:
    of = sample(scores)
    impact = tables(of)
    middle = median(attempt["advance"] for attempt in of.attempts)
    assert impact.median == middle
    sexes, _, both = by_name(impact)
    above = [a for a in of.attempts if a["advance"] > middle]
    assert sexes["female"].selected == sum(a.prompt.groups["sex"] == "female" for a in above)
    assert sum(category.selected for category in both.values()) == len(above)
    assert "scoring rate" in impact_markdown(impact)


def test_score_at_the_median_is_not_selected() -> None:
    impact = tables(sample(lambda generator, rate: Grade(generator.choice([1, 2, 2, 2, 3]))))
    assert impact.median == 2
    rates = [category.rate for category in impact.tables[0].categories]
    assert all(rate is not None and 0.1 < rate < 0.3 for rate in rates)


def test_small_categories_are_counted_but_not_compared() -> None:
    extra = [{"sex": "nonbinary", "ethnicity": "White"}, {"sex": "male"}, {"ethnicity": "Black"}]
    impact = tables(sample(extra=extra))
    sexes, ethnicities, both = by_name(impact)
    assert sexes["nonbinary"].small
    assert sexes["nonbinary"].ratio is None
    assert (sexes["nonbinary"].applications, sexes["nonbinary"].assessed) == (3, 6)
    assert sexes["nonbinary"].rate is not None
    assert not any(category.small for category in ethnicities.values())
    assert [table.unknown for table in impact.tables] == [6, 6, 12]
    assert both["nonbinary / White"].small
    text = impact_markdown(impact)
    assert "which are not in the table: 12." in text
    assert "Left out of the ratios, since each is under 2% of the data, too few to compare: nonbinary." in text


def test_small_category_never_sets_the_highest_rate() -> None:
    def always(generator: random.Random, rate: float) -> Grade:
        return Grade(True) if rate >= 2 else selects(generator, rate)

    RATES["rare"] = 3.0
    impact = tables(sample(always, extra=[{"sex": "rare", "ethnicity": "White"}]))
    del RATES["rare"]
    table = impact.tables[0]
    assert [category.name for category in table.categories] == ["male", "female", "rare"]
    assert table.categories[-1].rate == 1.0


def test_text_grade_needs_the_selecting_value() -> None:
    def says(generator: random.Random, rate: float) -> Grade:
        return Grade("yes" if generator.random() < rate else "no")

    with pytest.raises(FairnessError, match="say which value selects"):
        tables(sample(says))
    assert tables(sample(says), equals="yes").tables[0].categories[0].name == "male"


def test_ratio_is_undefined_if_nothing_is_selected() -> None:
    text = impact_markdown(tables(sample(lambda generator, rate: Grade(False))))
    assert "1.000" not in text
    assert "their ratio is not defined" in text


def test_markdown_and_csv_hold_the_same_numbers() -> None:
    impact = tables(sample())
    text = impact_markdown(impact)
    assert "It is not the bias audit that the law asks for" in text
    lines = list(csv.DictReader(io.StringIO(impact_csv([impact]))))
    assert len(lines) == 2 + 3 + 6 + 3
    for line in lines:
        if line["category"] == "(unknown category)":
            assert line["ungraded"] == "0"
            continue
        cells = f"| {line['category']} | {line['applications']} | {line['assessed']} | 0 | {line['selected']} | "
        (row,) = (row for row in text.splitlines() if row.startswith(cells))
        assert f"{float(line['impact_ratio']):.3f}" in row
        assert (line["low"] == "") == ("highest rate" in row)
        assert line["low"] == "" or f"CI {float(line['low']):.3f} to {float(line['high']):.3f}" in row


@pytest.mark.parametrize("hostile", [*report_views.HOSTILE, "=1+1", "@SUM(A1)", 'quote " , comma'])
def test_hostile_groups_stay_names(hostile: str) -> None:
    impact = tables(sample(extra=[{"sex": hostile, "ethnicity": hostile}] * 1))
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(impact_markdown(impact))
    assert [token.type for token in tokens].count("td_open") == 7 * (3 + 4 + 7)
    inner = [child.type for token in tokens for child in token.children or []]
    assert not {"html_inline", "link_open", "image", "code_inline"} & set(inner)
    rows = list(csv.reader(io.StringIO(impact_csv([impact]))))
    assert {len(row) for row in rows} == {12}
    assert not any(row[3][:1] in "=+-@" for row in rows)
    assert len(rows) == 1 + 3 + 4 + 7 + 3


BOTH = ("sex", "ethnicity")


def probes() -> list[StoredSample]:
    """Return the samples of a run: with both attributes, with one of them, and with another grade."""
    whole = sample(items=2)
    item, prompt = ProbeItem("a", [Prompt("a", {"sex": "female"})]), Prompt("a", {"sex": "female"})
    attempts = [report_views.graded(item, prompt, 0, {"advance": Grade(True)})]
    grades = {"advance": None}
    return [
        StoredSample("test_a.py::test_german_application", report_views.MODEL, "key", attempts, graders=grades),
        StoredSample("test_a.py::test_application", report_views.MODEL, "key", whole.attempts, graders=grades),
        StoredSample("test_a.py::test_promotion", report_views.MODEL, "key", whole.attempts, graders={"promote": None}),
    ]


@pytest.mark.parametrize("probe", [None, "test_application", "test_a.py::test_application"])
def test_probe_with_the_grade_and_both_attributes_is_chosen(probe: str | None) -> None:
    (chosen,) = select_assessed(probes(), "advance", BOTH, probe)
    assert chosen.probe == "test_a.py::test_application"


@pytest.mark.parametrize(
    ("grade", "attributes", "probe", "words"),
    [
        ("advance", BOTH, "test_other", "the run has no probe 'test_other': "),
        ("promote", BOTH, "test_german_application", "the probe test_german_application has no grade 'promote'"),
        ("hired", BOTH, None, "no probe of the run has a grade 'hired'"),
        ("advance", ("sex", "race"), None, "no prompt has a group of 'race'"),
        ("advance", BOTH, "test_german_application", "no prompt has a group of 'ethnicity'"),
    ],
)
def test_runs_without_such_a_probe_are_refused(
    grade: str, attributes: tuple[str, str], probe: str | None, words: str
) -> None:
    with pytest.raises(FairnessError) as error:
        select_assessed(probes(), grade, attributes, probe)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_csv_of_several_probes_has_one_heading() -> None:
    rows = list(csv.reader(io.StringIO(impact_csv([tables(sample()), tables(sample())]))))
    assert [row[0] for row in rows].count("probe") == 1
    assert len(rows) == 1 + 2 * (2 + 3 + 6 + 3)


NAMES = {"female": "Female", "male": "Male", "asian": "Asian", "black": "White", "white": "White"}


def test_groups_of_one_category_are_counted_together() -> None:
    of = sample(extra=[{"sex": "nonbinary", "ethnicity": "White"}])
    sexes, ethnicities, both = tables(of, categories=NAMES).tables
    assert [category.name for category in sexes.categories] == ["Male", "Female", "nonbinary"]
    assert (sexes.absent, sexes.others, sexes.parts) == ([], ["nonbinary"], [])
    own = by_name(tables(of))[1]
    (white,) = (category for category in ethnicities.categories if category.name == "White")
    assert (white.assessed, white.selected) == tuple(
        own["Black"].assessed + own["White"].assessed
        if count == "assessed"
        else own["Black"].selected + own["White"].selected
        for count in ("assessed", "selected")
    )
    assert [(part.name, part.rate) for part in ethnicities.parts] == [
        ("White: Black", own["Black"].rate), ("White: White", own["White"].rate),
    ]  # fmt: skip
    assert ethnicities.absent[:2] == ["Hispanic or Latino", "Black or African American"]
    assert [part.name for part in both.parts][:2] == [
        "Female / White: female / Black",
        "Female / White: female / White",
    ]
    text = impact_markdown(tables(of, categories=NAMES))
    assert "Groups that are counted together in a category, with their rates: White: Black (" in text
    assert "Categories of the EEO-1 report without applications: Hispanic or Latino, Black or African American," in text
    assert "No categories of the EEO-1 report: nonbinary." in text
    lines = list(csv.DictReader(io.StringIO(impact_csv([tables(of, categories=NAMES)]))))
    parts = [line for line in lines if line["table"] == "Race/ethnicity categories: counted together"]
    assert [(line["category"], line["impact_ratio"]) for line in parts] == [("White: Black", ""), ("White: White", "")]


CARD = """\
# hiring

**Method.** Profiles under names of [groups](x.md), *drawn* by chance.

**Source.** Texts of our own.
"""
ITEMS = {
    "date of the measurements": "2026-01-02",
    "date of the bias audit": "2026-02-03",
    "distribution date of the tool": "2025-12-31",
    "model": f"{report_views.MODEL}; answers with a known bias, not from a real model",
    "run": "0123456789abcdef; commit abc123",
    "source and explanation of the data": "Test data: 360 written applications under 60 profiles, of the probe "
    "test_hiring.py::test_screening. Texts of our own.",
    "why historical data was not used": "The tool is new.",
    "how the test data was generated and obtained": "Profiles under names of groups, drawn by chance. (all items of "
    "the probe, seed 0; 2 per prompt)",
}
"""The items of 6 RCNY 5-302(b) and 5-303(a), besides those in the tables."""


def export(out: Path, card: str, *options: str) -> str:
    of = sample()
    screened = StoredSample(of.probe, of.model, of.model_key, of.attempts, graders={"advance": None})
    row = report_views.row(probe=of.probe)
    view = replace(report_views.view([row], samples=[screened]), cards={"hiring": card})
    parser, exporter = ArgumentParser(), ImpactRatiosExport()
    exporter.add_arguments(parser)
    named = ["--grade", "advance", "--sex", "sex", "--ethnicity", "ethnicity"]
    exporter.export(RunReference("latest", lambda: view), out, parser.parse_args([*named, *options]))
    return out.read_text(encoding="utf-8")


STATED = ("--audit-date=2026-02-03", "--distribution-date=2025-12-31", "--no-history=The tool is new.")


def test_summary_has_every_item_of_the_rules(tmp_path: Path) -> None:
    text = export(tmp_path / "summary.md", CARD, *STATED)
    for item, content in ITEMS.items():
        assert f"| {escape(item)} | {escape(content)} |" in text
    assert "| category | applications | assessed | ungraded | selected | selection rate | impact ratio" in text
    for title in ("Sex categories", "Race/ethnicity categories", "Intersectional categories"):
        assert f"### {title}" in text
    assert "| Female | 180 | 360 | 0 |" in text
    assert "| Female / Black or African American | 60 | 120 | 0 |" in text
    assert text.count("Attempts in an unknown category, which are not in the table: 0.") == 3


def test_missing_statements_are_shown(tmp_path: Path) -> None:
    text = export(tmp_path / "summary.md", "")
    assert "| date of the bias audit | not stated (&#45;-audit-date) |".replace("&#45;-", "--") in text
    assert "| distribution date of the tool | not stated (--distribution-date) |" in text
    assert "| why historical data was not used | not stated (--no-history) |" in text
    assert "The suite has no card: not stated." in text


@pytest.mark.parametrize("hostile", report_views.HOSTILE)
def test_page_shows_hostile_texts_as_texts(hostile: str, tmp_path: Path) -> None:
    page = export(tmp_path / "summary.html", f"**Source.** {hostile}", *STATED[:2], f"--no-history={hostile}")
    tree = html.fromstring(page)
    assert {element.tag for element in tree.body.iter()} <= {
        "body", "main", "h2", "h3", "p", "table", "thead", "tbody", "tr", "th", "td",
    }  # fmt: skip
    assert " ".join(escape_controls(" ".join(hostile.split())).split()) in " ".join(
        tree.body.text_content().replace("\u200b", "").split()
    )


@pytest.mark.parametrize(
    ("option", "error"),
    [
        ("--category=asian", "'asian' is no category: write GROUP=NAME"),
        ("--audit-date=3 May", "'3 May' is no date: write one as in 2026-12-31"),
        ("--distribution-date=20260503", "'20260503' is no date"),
    ],
)
def test_malformed_statements_are_refused(
    option: str, error: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        export(tmp_path / "summary.md", CARD, option)
    assert error in capsys.readouterr().err


def test_category_of_a_group_can_be_named(tmp_path: Path) -> None:
    assert "| Asiatic | 120 | 240 | 0 |" in export(tmp_path / "summary.md", CARD, "--category=asian=Asiatic")

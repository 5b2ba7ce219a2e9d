"""Impact ratios in the form of Local Law 144, from a stored sample."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Callable
from statistics import median
from typing import Any

import pytest
from markdown_it import MarkdownIt

from pytest_fairness.attestation.impact_tables import (
    Category,
    ImpactTables,
    impact_csv,
    impact_markdown,
    impact_tables,
    select_assessed,
)
from pytest_fairness.core.attempts import Grade
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import ProbeItem, Prompt
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
    assert "They are not the bias audit that the law asks for" in text
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

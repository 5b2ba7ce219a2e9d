"""The beginning of the report: the finding about each unfair threshold, and sentences that stand once."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_fairness.core.acceptance_results import AcceptanceResult, FailingEstimate
from pytest_fairness.core.threshold_results import EstimateResult, GroupResult, SliceResult, ThresholdResult
from pytest_fairness.report import phrases
from pytest_fairness.report.decisions import accepted_figures
from pytest_fairness.report.findings import finding
from pytest_fairness.report.html import page as html_page
from pytest_fairness.report.html.page import page, write_page
from tests.helpers import report_views

if TYPE_CHECKING:
    from tests.report.conftest import OpenPage

WOMEN_AND_MEN = {"woman": GroupResult(value=0.3, count=30, attempts=100).to_json()}
WOMEN_AND_MEN["man"] = GroupResult(value=0.5, count=50, attempts=100).to_json()


def test_page_begins_with_what_was_found(open_page: OpenPage, tmp_path: Path) -> None:
    more = {"by_group": WOMEN_AND_MEN, "groups": {"woman": 0.3, "man": 0.5}}
    rows = [
        report_views.row("unfair", **more),
        report_views.row("unfair", id="t.py::test_other", threshold="Pay is alike", p_value=0.03),
        report_views.row("fair", id="t.py::test_fair", threshold="Fair one"),
    ]
    write_page(tmp_path / "page.html", report_views.view(rows, [report_views.example(), None, None]))
    opened = open_page(tmp_path / "page.html")
    headings = opened.locator("#release h1, #release h2").all_inner_texts()
    assert headings[1] == "Unfair"
    first, second = (
        " ".join(text.split()) for text in opened.locator("#release ul.open").first.locator("li").all_inner_texts()
    )
    assert first == (
        "30 of 100 for woman against 50 of 100 for man: ratio of hired, woman to man, 0.600; 0.8 to 1.2 is allowed. "
        "Not kept: women and men alike, example"
    )
    assert "May be chance, as several thresholds were judged." in second
    assert "example" not in second
    anchors = re.findall(r'href="#([^"]+-example)"', (tmp_path / "page.html").read_text(encoding="utf-8"))
    assert [opened.locator(f"#{anchor}").count() for anchor in anchors] == [1]
    assert (
        "read the examples of each unfair threshold below, change the model" in opened.locator("#release").inner_text()
    )
    assert opened.locator("#release p a", has_text="below").get_attribute("href") == "#t1"


def test_page_of_many_thresholds_stays_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: a page of 3,000 thresholds took 18 MB, and 24 MB after a second run."""
    monkeypatch.setattr(html_page, "_MOST_OF_SECTIONS", 20_000)
    more = {"by_group": WOMEN_AND_MEN, "groups": {"woman": 0.3, "man": 0.5}}
    pages = []
    for count in (20, 60):
        fair = [report_views.row("fair", id=f"f{number}", threshold=f"f{number}", **more) for number in range(count)]
        rows = [*fair, report_views.row("unfair", **more)]
        pages.append(page(report_views.view(rows, [*[None] * count, report_views.example()])))
    assert (len(pages[1]) - len(pages[0])) / 40 < 1_000
    assert "thresholds have no charts, tables and example here" in pages[0]
    assert 'id="t1-value-title"' in pages[0], "the worst has its charts"
    assert pages[1].count("<h4>f") == 60


def test_threshold_that_was_not_selected_stands_last_on_the_page() -> None:
    left_out = {"message": "not judged: not selected", "outcome": "not run", "estimate": None, "p_value": None}
    rows = [
        report_views.row("not judged", id="a", threshold="Left out", **left_out),
        report_views.row("not judged", id="b", threshold="Stopped", **left_out | {"message": "not judged: stopped"}),
        report_views.row("fair", id="c", threshold="Fair one"),
    ]
    titles = re.findall(r"<h4>(.*?)</h4>", page(report_views.view(rows)))
    assert titles == ["Stopped", "Fair one", "Left out"]


def test_many_slices_without_a_veto_are_one_sentence() -> None:
    parts = [
        SliceResult(slice={"language": f"l{number}"}, state="no veto", reason=f"only {number} independent items")
        for number in range(16)
    ]
    few, many = (phrases.slices(ThresholdResult(id="t", slices=some)) for some in (parts[:2], parts))
    assert few == "no veto: language l0 (only 0 independent items), language l1 (only 1 independent items)"
    assert phrases.slices(ThresholdResult(id="t", verdict="invalid", slices=parts)) == ""
    assert many == "no veto: 16 slices, among them language l0 (only 0 independent items)"


@pytest.mark.parametrize(
    ("share", "bound", "text"),
    [(0.34, 0.2, "34 of 100"), (0.204, 0.2, "20.4 of 100"), (0.2004, 0.2, "20.04 of 100"), (0.005, 0.0, "0.5 of 100")],
)
def test_finding_shows_on_which_side_of_its_bound_a_rate_lies(share: float, bound: float, text: str) -> None:
    row = ThresholdResult(id="t", estimate=EstimateResult(title="harm", value=share, count=1), bounds=(None, bound))
    assert finding(row) == f"harm: {text}; at most {100 * bound:g} are allowed"


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ((None, 0.4), "young, 0.700"),
        ((0.6, None), "old, 0.200"),
        ((0.2, 0.55), "young, 0.700"),
        ((0.45, 2), "old, 0.2"),
    ],
)
def test_finding_names_the_slice_on_the_side_of_the_bound(
    bounds: tuple[float | None, float | None], words: str
) -> None:
    parts = [
        SliceResult(slice={"age": name}, state="open", metric="bias", value=value)
        for name, value in (("middle", 0.5), ("young", 0.7), ("old", 0.2))
    ]
    row = ThresholdResult(id="t", estimate=EstimateResult(metric="bias", value=0.5), bounds=bounds, slices=parts)
    assert f"; worst where the age is {words}" in finding(row)
    assert "worst" not in finding(replace(row, slices=parts[:1]))
    merged = replace(row, estimate=replace(row.estimate, slice={"age": "middle or old"}))
    assert f"; worst where the age is {words}" in finding(merged), "a slice by an attribute that is selected by, too"


def test_remark_on_clusters_is_left_out_where_a_slice_decides() -> None:
    whole = SliceResult(slice={}, state="open", value=0.9, low=0.8, high=1.0)
    remark = "what it compares varies with `name`"
    alone, with_slice = (ThresholdResult(id="t", clustering=[remark], pooled=pooled) for pooled in (None, whole))
    assert (phrases.remarks(alone)[0], phrases.evaluation_remarks(with_slice)) == (remark, [])


def test_invalid_threshold_shows_the_means_that_were_measured() -> None:
    means = {"woman": 6.2, "man": 5.9}
    texts = [
        phrases.unjudged_tallies(ThresholdResult(id="t", verdict=verdict, estimate=EstimateResult(groups=means)))
        for verdict in ("invalid", "fair")
    ]
    assert texts == ["measured, not judged: 6.200 for woman against 5.900 for man", ""]


def test_accepted_figures_are_of_an_estimate_with_the_verdict() -> None:
    """Regression: the figures of an accepted unfair verdict were those of a pair that was undecided."""
    bounds = (2 / 3, None)
    parts = [
        FailingEstimate(metric="m", verdict="undecided", value=0.93, low=0.54, high=1.0, bounds=bounds),
        FailingEstimate(metric="m", verdict="unfair", value=0.18, low=0.05, high=0.5, bounds=bounds),
    ]
    entry = AcceptanceResult(
        threshold="t",
        title="alike",
        model="m",
        reason="r",
        by="Ada",
        until="2027-01-31",
        verdict="unfair",
        estimates=parts,
    )
    assert accepted_figures(entry) == "unfair at 0.18 (0.05 to 0.5), bounds at least 2/3 and 1 more"

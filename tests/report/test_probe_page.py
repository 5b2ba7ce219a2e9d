"""The page's section on probes, and its slices, in a real browser: readable, escaped, on every screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_fairness.core.probe_results import FormatResult, GradeResult, ProbeResult
from pytest_fairness.core.threshold_results import ResponseResult
from pytest_fairness.report.html.page import page, write_page
from pytest_fairness.report.view import View
from tests.helpers import report_views
from tests.helpers.accessibility import check_accessibility

if TYPE_CHECKING:
    from tests.report.conftest import OpenPage

CASE: dict[str, Any] = {"grade": "hired", "attribute": "case", "of": "strong", "to": "weak", "at_least": 0.17}


def response(decision: str, **changes: Any) -> ResponseResult:
    """Return the response of a decision to the strength of its case."""
    numbers: dict[str, Any] = {"odds_ratio": 2.0, "value": 0.02, "low": -0.03, "high": 0.07}
    levels = {"strong": 0.51, "weak": 0.49}
    return ResponseResult(**(CASE | numbers | {"levels": levels, "decision": decision, "text": "a sentence"} | changes))


def probe(name: str, sensitivity: str, *responses: ResponseResult, **changes: Any) -> ProbeResult:
    grades = [GradeResult(grade="hired", graded=400, mean=0.5), GradeResult(grade="to", graded=9, shares={"a": 1.0})]
    fields: dict[str, Any] = {"suite": "hiring", "model": report_views.MODEL, "attempts": 400, "grades": grades}
    return ProbeResult(**(fields | changes), probe=f"a.py::test_{name}", sensitivity=sensitivity, responses=responses)


def sliced(name: str = "de") -> dict[str, Any]:
    """Return an unfair row: by its slice of this name."""
    part = {"metric": "", "reason": ""}
    slices = [
        part | {"slice": {"language": name}, "state": "unfair", "estimate": 0.3, "low": 0.2, "high": 0.5},
        part | {"slice": {"language": "en"}, "state": "inside", "estimate": 1.0, "low": 0.9, "high": 1.1},
        part
        | {"slice": {"language": "fr"}, "state": "no veto", "estimate": None, "low": None, "high": None}
        | {"reason": "only 3 independent items: an interval needs at least 5"},
    ]
    pooled = part | {"slice": {}, "state": "open", "estimate": 0.9, "low": 0.78, "high": 1.02}
    return report_views.row("unfair", slice={"language": name}, slices=slices, pooled=pooled)


def view(probes: Sequence[ProbeResult], *rows: dict[str, Any]) -> View:
    whole = report_views.view(rows or [report_views.row("fair")])
    return replace(whole, results=replace(whole.results, probes=probes))


ALL = [
    probe("call", "absent", response("false")),
    probe("letter", "not shown", response("undecided"), remarks=['all 400 answers are "A"']),
    probe("offer", "shown", response("true", levels={"strong": 0.9, "weak": 0.2})),
    probe("rating", "absent", response("false", odds_ratio=None, constant="7", text="all 9 answers are 7")),
    probe("own", "no control", formats={"json": FormatResult(attempts=9, graded=0)}),
]


def test_page_begins_with_the_probes(open_page: OpenPage, tmp_path: Path) -> None:
    write_page(tmp_path / "page.html", view(ALL, sliced()))
    opened = open_page(tmp_path / "page.html")
    rows = opened.locator("table.responses tbody tr")
    texts = [" ".join(text.split()) for text in rows.all_inner_texts()]
    assert [text.split()[0] for text in texts] == ["call", "rating", "letter", "offer"]
    assert "do not follow this probe cannot show a gap in this model" in texts[0]
    assert "difference 0.020 (-0.030 to 0.070) at least 0.170 counts, an odds ratio of 2" in texts[0]
    assert [title.text_content() for title in opened.locator("svg.bars > title").all()][:1] == [
        "strong 0.510, weak 0.490"
    ]
    sentences = opened.locator("#probes ~ ul li").all_inner_texts()[:3]
    assert sentences[0].startswith("Rating: all 9 answers are 7: this probe cannot show a gap")
    assert sentences[1] == 'Letter: all 400 answers are "A".'
    assert sentences[2] == "Sensitivity not shown, as no control is declared: own."
    headings = opened.locator("#release h1, #release h2").all_inner_texts()
    assert headings[1:4] == ["Unfair", "What the model did with each probe", "Marks"]


def test_slices_stand_unfair_first_with_reasons(open_page: OpenPage, tmp_path: Path) -> None:
    write_page(tmp_path / "page.html", view([], sliced()))
    opened = open_page(tmp_path / "page.html")
    assert opened.locator("h4").first.inner_text() == "women and men alike: unfair where the language is de"
    lines = [" ".join(text.split()) for text in opened.locator("table.slices tbody tr").all_inner_texts()]
    assert lines == [
        "all slices 0.900 0.780 to 1.020 crosses a bound",
        "language de 0.300 0.200 to 0.500 unfair",
        "language fr - - no veto Only 3 independent items: an interval needs at least 5.",
        "language en 1.000 0.900 to 1.100 inside the bounds",
    ]
    description = opened.locator("[id$=declared-desc]").text_content() or ""
    assert (
        "all slices: 0.900 (0.780 to 1.020); language de (unfair): 0.300 (0.200 to 0.500); language en: 1.000"
        in description
    )


def test_fair_threshold_shows_its_own_estimate_over_all_slices(open_page: OpenPage, tmp_path: Path) -> None:
    row = report_views.row("fair", slices=[part for part in sliced()["slices"] if part["state"] == "inside"])
    write_page(tmp_path / "page.html", view([], row))
    opened = open_page(tmp_path / "page.html")
    opened.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    lines = [" ".join(text.split()) for text in opened.locator("table.slices tbody tr").all_inner_texts()]
    assert lines[0] == "all slices 1.000 0.950 to 1.050 inside the bounds"


def test_run_without_probes_has_no_section() -> None:
    assert 'id="probes"' not in page(view([]))


@pytest.mark.parametrize("name", report_views.HOSTILE)
def test_hostile_names_are_escaped(name: str) -> None:
    hostile = probe(
        name, "absent", response("false", attribute=name, of=name, levels={name: 0.5}), suite=name, remarks=[name]
    )
    text = page(view([hostile], sliced(name)))
    assert "<script>alert(1)" not in text
    assert "\u202e" not in text
    assert "\x1b" not in text
    assert "<!-- comment -->" not in text


@pytest.mark.slow
def test_axe_finds_no_serious_violation_in_probes_and_slices(open_page: OpenPage, tmp_path: Path) -> None:
    write_page(tmp_path / "page.html", view([*ALL, probe("x" * 80, "shown", response("true"))], sliced("x" * 90)))
    opened = open_page(tmp_path / "page.html", bypass_csp=True)
    opened.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    check_accessibility(opened)

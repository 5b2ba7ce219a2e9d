"""The report's page, of a real run, in a real browser."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

import pytest
from pypdf import PdfReader

from pytest_fairness.core.formatting import figures
from pytest_fairness.core.threshold_results import GroupResult, ReleaseResult, ThresholdResult
from pytest_fairness.report.html.page import page, write_page
from pytest_fairness.report.release import counts
from tests.helpers import report_views
from tests.helpers.accessibility import check_accessibility
from tests.helpers.finished_run import MODELS, FinishedRun, run, with_models, write_suite

if TYPE_CHECKING:
    from tests.helpers.fork_server import ForkedWorkers
    from tests.report.conftest import OpenPage

VOID = {"meta", "link", "br", "img", "input"}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, forked_workers: ForkedWorkers) -> FinishedRun:
    """Two models and four thresholds, judged twice."""
    folder = write_suite(tmp_path_factory.mktemp("told"))
    run(folder, *with_models(*MODELS), python=forked_workers.server.python)
    return run(folder, *with_models(*MODELS), python=forked_workers.server.python)


class Texts(HTMLParser):
    """The text of each element that has an id, with that of all elements in it."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: dict[str, str] = {}
        self.links: list[str] = []
        self._open: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.links += [str(attributes[name]) for name in ("href", "src", "action", "srcset") if name in attributes]
        if tag not in VOID:
            self._open.append((tag, str(attributes.get("id", ""))))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Skip a part of a drawing: it holds no text."""

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if any(tag in ("script", "style", "title", "desc") for tag, _ in self._open):
            return
        for _, name in self._open:
            if name:
                self.texts[name] = self.texts.get(name, "") + data


def texts_of(page: Path) -> Texts:
    texts = Texts()
    texts.feed(page.read_text(encoding="utf-8"))
    return texts


def articles(finished: FinishedRun) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield each row of the results file with the text of its article."""
    texts = texts_of(finished.page).texts
    for row in finished.results["thresholds"]:
        matching = [
            text for name, text in texts.items() if re.fullmatch(r"t\d+", name) and shlex.quote(row["id"]) in text
        ]
        assert len(matching) == 1, (row["id"], len(matching))
        yield row, matching[0]


def test_report_is_written_when_a_probe_ran(finished: FinishedRun) -> None:
    assert finished.code == pytest.ExitCode.TESTS_FAILED
    assert "report: reports/fairness.html" in finished.output.splitlines()[-20:] or "report: reports" in finished.output


def test_numbers_are_those_of_the_results_file(finished: FinishedRun) -> None:
    pairs = list(articles(finished))
    assert {row["verdict"] for row, _ in pairs} == {"fair", "unfair", "undecided", "invalid"}
    for row, text in pairs:
        assert row["verdict"] in text
        assert f"{row['items']:,} items" in text
        assert f"{row['attempts']:,} attempts" in text
        if row["estimate"] is None:
            continue
        result = ThresholdResult.from_json(row)
        for number in figures(result.estimate, result.comparisons):
            assert number in text
        for name in ("p_value", "p_fair", "p_holm"):
            assert f"{row[name]:.2g}" in text
        for group, numbers in row["by_group"].items():
            assert group in text
            for number in figures(GroupResult.from_json(numbers)):
                assert number in text
    texts = texts_of(finished.page).texts
    for line in finished.results["release"]:
        assert counts(ReleaseResult.from_json(line)) in texts["release"]


def test_each_unfair_or_undecided_threshold_has_an_example(finished: FinishedRun) -> None:
    examples = 0
    for row, text in articles(finished):
        if row["verdict"] in ("unfair", "undecided"):
            examples += 1
            for side in row["example"]["sides"]:
                assert f"{side['events']} of {side['graded']} answers" in text
            assert row["example"]["item"] in text
        else:
            assert "most influential" not in text
    assert examples >= 2


@pytest.mark.slow
def test_commands_repeat_thresholds_and_items(finished: FinishedRun, forked_workers: ForkedWorkers) -> None:
    page = finished.page.read_text(encoding="utf-8")
    commands = [re.sub(r"&amp;", "&", command) for command in re.findall(r'<code class="command">(.*?)</code>', page)]
    repeats = [command for command in commands if "test_women_and_men" in command and "lean" in command]
    replays = [command for command in commands if "::test_screening[" in command.replace("&#39;", "'")]
    assert repeats
    assert replays
    for command, passed in ((repeats[0], "1 failed"), (replays[0], "1 measured")):
        arguments = shlex.split(command.replace("&#39;", "'"))
        assert arguments[0] == "pytest"
        process = subprocess.run(
            [forked_workers.server.python, "-m", *arguments, "--fairness-report=none", "-p", "no:randomly"],
            cwd=finished.folder, capture_output=True, text=True, check=False, timeout=240,
        )  # fmt: skip
        assert passed in process.stdout, process.stdout
        assert "0 ungraded" in process.stdout or "from the store" in process.stdout


def test_page_loads_no_external_resources(finished: FinishedRun) -> None:
    texts = texts_of(finished.page)
    assert all(link.startswith("#") for link in texts.links), texts.links
    page = finished.page.read_text(encoding="utf-8")
    assert "default-src 'none'" in page.replace("&#39;", "'")
    assert not re.search(r"<[^>]+\son\w+=", page)
    assert not re.search(r"<[^>]+\sstyle=", page)
    assert "&lt;script&gt;alert" in page  # of the card


def test_first_screen_shows_the_release(finished: FinishedRun, open_page: OpenPage) -> None:
    page = open_page(finished.page, viewport={"width": 1440, "height": 1000})
    for line in finished.results["release"]:
        cell = page.locator("table.releases tr", has_text=line["model"].partition("?")[0])
        assert line["verdict"] in cell.inner_text()
        assert re.search(
            r"The gate is closed: \d+ thresholds? fails? the run|No threshold fails the run", cell.inner_text()
        )
    assert page.locator("#release h2", has_text="Unfair").is_visible()
    assert page.locator("table.grid .mark").count() == 2
    link = page.locator("#release ul.open a").first
    link.click()
    target = page.evaluate("location.hash")
    assert page.locator(f"details{target}").get_attribute("open") is not None


def test_links_open_folded_sections(finished: FinishedRun, open_page: OpenPage) -> None:
    page = open_page(finished.page)
    folded = page.locator("details.threshold:not([open])").first
    anchor = folded.get_attribute("id")
    page.evaluate("anchor => { location.hash = anchor }", f"#{anchor}")
    page.wait_for_function("anchor => document.getElementById(anchor).open", arg=anchor)


def test_link_of_an_example_shows_its_attempts(finished: FinishedRun, open_page: OpenPage) -> None:
    page = open_page(finished.page)
    page.locator("#attempts-status", has_text="720").wait_for()
    page.get_by_role("link", name="All attempts of this item").first.click()
    page.locator("#attempts-status", has_text=re.compile(r"\b6\b")).wait_for()


def test_keyboard_alone_is_enough(finished: FinishedRun, open_page: OpenPage) -> None:
    page = open_page(finished.page)
    page.locator("#attempts-status", has_text="720").wait_for()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    seen = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.tagName"))
        summary = page.evaluate("document.activeElement.matches('details.threshold:not([open]) > summary')")
        if summary:
            page.keyboard.press("Enter")
            assert page.evaluate("document.activeElement.parentElement.open")
            break
    else:
        pytest.fail("no folded threshold can be reached")
    assert {"A", "SUMMARY"} <= seen


@pytest.mark.slow
def test_axe_finds_no_serious_violation(finished: FinishedRun, open_page: OpenPage) -> None:
    page = open_page(finished.page, bypass_csp=True)
    page.locator("#attempts-status", has_text="720").wait_for()
    # Two thirds of the page are attempts, which look alike; test_attempts_browser.py checks every kind of them.
    page.evaluate("for (const each of [...document.querySelectorAll('#attempts-list details')].slice(5)) each.remove()")
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    page.wait_for_selector("#attempts-list details:last-of-type .attempts-open")
    check_accessibility(page)


def test_long_texts_are_scrolled_by_keyboard(open_page: OpenPage, tmp_path: Path) -> None:
    example = report_views.example("a long answer " * 200, "Should a {group} be hired? " + "word " * 900)
    write_page(tmp_path / "page.html", report_views.view([report_views.row("unfair")], [example]))
    page = open_page(tmp_path / "page.html", viewport={"width": 390, "height": 900})
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    scrolled = "[...document.querySelectorAll('.text')].filter((part) => part.scrollHeight > part.clientHeight + 1)"
    assert page.evaluate(f"{scrolled}.map((part) => part.tabIndex)") == [0, 0, 0, 0]


def test_long_word_in_a_title_does_not_widen_a_narrow_page(open_page: OpenPage, tmp_path: Path) -> None:
    rows = [report_views.row(verdict, threshold="x" * 100) for verdict in ("unfair", "undecided", "fair")]
    write_page(tmp_path / "page.html", report_views.view(rows))
    page = open_page(tmp_path / "page.html", viewport={"width": 320, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") == 320


@pytest.mark.slow
def test_print_is_a_record_and_the_whole_only_on_request(
    finished: FinishedRun, open_page: OpenPage, tmp_path: Path
) -> None:
    """Regression: an auditor was given 36 pages."""
    pages, texts = [], []
    for part in ("", "#whole"):
        open_page(finished.page, part).pdf(path=tmp_path / "report.pdf", format="A4")
        sheets = PdfReader(tmp_path / "report.pdf").pages
        pages.append(len(sheets))
        text = "".join(sheet.extract_text() for sheet in sheets)
        texts.append(" ".join(normalize("NFKC", text).split()))  # without ligatures
    assert pages[0] <= 3 < pages[1]
    for row in finished.results["thresholds"]:  # the folded ones too
        result = ThresholdResult.from_json(row)
        if result.estimate.value is not None:
            assert all(figures(result.estimate, result.comparisons)[1] in text for text in texts)
    for title in ("Thresholds", "Method and provenance"):
        assert all(title in text for text in texts)
    for title in ("Earlier runs", "most influential item", "Known limits"):
        assert [title in text for text in texts] == [False, True]


def test_question_of_a_card_is_rendered() -> None:
    card = "# Hiring\n\n**Question.** Does *decision making* differ for `a` <b>?\n"
    view = report_views.view([report_views.row("unfair")])
    text = page(replace(view, cards={"hiring": card}))
    assert '<p class="question">Does <em>decision making</em> differ for <code>a</code> &lt;b&gt;?</p>' in text


def test_invalid_threshold_has_no_rerun() -> None:
    rows = [report_views.row(verdict, estimate=1.0, low=0.5, high=2.0) for verdict in ("undecided", "invalid")]
    texts = [page(report_views.view([row | {"outside_probability": 0.5}])) for row in rows]
    assert ["A rerun of this size" in text for text in texts] == [True, False]

"""Hostile texts and keys: in the page, the JUnit file, the Markdown, the terminal and the results file."""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from markdown_it import MarkdownIt

from tests.helpers.finished_run import FinishedRun, run, write_suite
from tests.helpers.report_views import HOSTILE

if TYPE_CHECKING:
    from tests.helpers.fork_server import ForkedWorkers
    from tests.report.conftest import OpenPage

SUITE = """\
import pytest
from pytest_fairness import ProbeItem, Prompt, YesNo, Grade

HOSTILE = {hostile!r}


class Echo:
    \"\"\"Grades by what the answer says, and repeats it.\"\"\"

    def grade(self, prompt, answer):
        if "refuse" in answer.text:
            return Grade.none("refusal", answer.text[:2000])
        return Grade("yes" in answer.text, None, answer.text[:2000])


def applications():
    for number, text in enumerate(HOSTILE):
        prompts = [Prompt(f"{{text}} Should a {{group}} be hired?", groups={{"group " + text[:8]: group + text}},
                          metadata={{"group": group}}) for group in ("woman", "man")]
        prompts += [Prompt(f"{{number}} Should a {{group}} be hired?", groups={{"gender": group + HOSTILE[0]}})
                    for group in ("woman", "man")]
        case = HOSTILE[number % 2]
        yield ProbeItem(f"{{number}} {{text}}", prompts, metadata={{"kind": text, "case": case}})


@pytest.mark.probe(items=applications, grade={{"hired": Echo()}}, repetitions=2, harm=HOSTILE[0],
                   control={{"hired": {{"case": (HOSTILE[0], HOSTILE[1])}}}})
def test_hiring(probe_item, model):
    probe_item.measure(model)


@pytest.mark.threshold(probe=test_hiring, slices=("case",), exclude={{"kind": HOSTILE[5]}})
def test_alike(measured):
    woman, man = (name + HOSTILE[0] for name in ("woman", "man"))
    for kind in measured.groups("kind"):
        measured.record(measured.where(kind=kind).rate("hired"))
    assert 0.8 <= measured.ratio("hired", by="gender", of=woman, to=man) <= 1.2


@pytest.mark.threshold(probe=test_hiring)
def test_of_a_hostile_group(measured):
    name = "group " + HOSTILE[6][:8]
    assert measured.ratio("hired", by=name, of="woman" + HOSTILE[6], to="man" + HOSTILE[6]) >= 0.5


@pytest.mark.threshold(probe=test_hiring)
def test_without_a_verdict(measured):
    assert measured.where(kind=HOSTILE[0] + HOSTILE[6]).rate("hired") >= 0.5
"""

CONFTEST = """\
import os
import pytest

HOSTILE = {hostile!r}


def application(text):
    index = sum(map(ord, text)) % len(HOSTILE)
    if {fails} and "woman" in text and index % 3 == 0:
        key = os.environ["ACME_API_KEY"]
        raise RuntimeError("HTTP 401: bad key " + key + " or sk-abcdefghijklmnop1234" + HOSTILE[6])
    answer = ("no" if "woman" in text else "yes") + HOSTILE[index]
    return answer + ("x" * 1_000_000 if index == 5 else "") + os.environ.get("ACME_API_KEY", "")


@pytest.fixture(scope="session")
def model():
    return application
"""
KEY = "acme-0123456789-secret/+="
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters and those of direction; escape may begin pytest's own colors."""


def hostile(folder: Path, python: str, *, fails: bool) -> FinishedRun:
    write_suite(folder, SUITE.format(hostile=HOSTILE))
    (folder / "conftest.py").write_text(CONFTEST.format(hostile=HOSTILE, fails=fails), encoding="utf-8")
    environment = os.environ | {
        "ACME_API_KEY": KEY,
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        "GITHUB_ACTIONS": "true",
        "PYTEST_ADDOPTS": "",
        "CI": "true",  # where pytest prints messages whole
    }
    return run(folder, "--junitxml=junit.xml", "-ra", "--color=no", python=python, environment=environment)


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory, forked_workers: ForkedWorkers) -> FinishedRun:
    return hostile(tmp_path_factory.mktemp("answered"), forked_workers.server.python, fails=False)


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory, forked_workers: ForkedWorkers) -> FinishedRun:
    return hostile(tmp_path_factory.mktemp("failed"), forked_workers.server.python, fails=True)


def test_hostile_suite_is_judged(answered: FinishedRun) -> None:
    verdicts = {row["threshold"]: row["verdict"] for row in answered.results["thresholds"]}
    assert verdicts["alike"] == "unfair", answered.output[-3000:]
    assert verdicts["without a verdict"] == "invalid"


def test_hostile_text_does_not_run_on_the_page(answered: FinishedRun, open_page: OpenPage) -> None:
    page = open_page(answered.page)
    page.locator("#attempts[data-state=ready]").wait_for()  # every packed script has been read and is gone
    assert page.locator("script").count() == page.locator("body > script").count() == 1
    assert page.title().startswith("Fairness of")
    assert page.locator("#method").is_visible()  # nothing has ended an element early
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    text = page.locator("body").inner_text()
    assert "<script>alert(1)</script>" in text
    assert "7 * 7" in text
    assert "49" not in re.findall(r"woman(\S+)", text)
    assert not FORBIDDEN.search(text.replace("\x1b", "\x00"))


def test_page_stays_small(answered: FinishedRun) -> None:
    assert answered.page.stat().st_size < 1_500_000


def test_junit_file_is_well_formed_xml(answered: FinishedRun) -> None:
    root = ET.parse(answered.folder / "junit.xml").getroot()  # noqa: S314 - our own
    assert len(list(root.iter("testcase"))) == len(HOSTILE) + 3
    for one in root.iter("property"):
        assert len(one.attrib["value"]) < 100_000
        assert not FORBIDDEN.search(one.attrib["value"].replace("\x1b", "\x00"))


def test_summary_is_markdown_without_foreign_html(answered: FinishedRun) -> None:
    text = (answered.folder / "summary.md").read_text(encoding="utf-8")
    assert len(text.encode()) < 1_048_576
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    flat = [inner for token in tokens for inner in (token, *(token.children or []))]
    html = [token.content.strip() for token in flat if token.type in ("html_block", "html_inline")]
    tags = {text.split()[0] for text in html if text}
    assert all(re.match(r"</?(details|summary)\b", tag) for tag in tags), tags
    assert not [token for token in flat if token.type in ("link_open", "image")]
    assert not FORBIDDEN.search(text.replace("\x1b", "\x00"))


@pytest.mark.slow
def test_terminal_shows_no_control_characters(answered: FinishedRun, failed: FinishedRun) -> None:
    for finished in (answered, failed):
        match = FORBIDDEN.search(finished.output.replace("\x1b", "\x00"))
        assert not match, finished.output[max(0, match.start() - 200) : match.end() + 50]
        started = [line for line in finished.output.splitlines() if line.startswith("::")]
        assert started
        form = re.compile(r"::(error|warning|notice) file=suites/screening/test_screening\.py,line=\d+,")
        assert all(map(form.match, started))


def test_key_is_in_no_output(answered: FinishedRun, failed: FinishedRun) -> None:
    for finished in (answered, failed):
        written = [path for path in finished.folder.rglob("*") if path.suffix in (".html", ".json", ".xml", ".md")]
        assert {path.suffix for path in written} == {".html", ".json", ".xml", ".md"}
        for path in written:
            text = path.read_text(encoding="utf-8")
            assert KEY not in text, path
            assert "sk-abcdefghijklmnop1234" not in text, path
        assert KEY not in finished.output
        assert "sk-abcdefghijklmnop1234" not in finished.output


def test_key_is_not_in_the_packed_attempts(failed: FinishedRun, open_page: OpenPage) -> None:
    page = open_page(failed.page)
    page.locator("#attempts-status", has_text=re.compile(r"\d+ attempts")).wait_for()
    page.get_by_label("Search").fill("HTTP 401")
    page.locator("#attempts-list summary").first.click()
    text = page.locator("#attempts-list").inner_text()
    assert "HTTP 401" in text
    assert KEY not in text
    assert "[redacted]" in text

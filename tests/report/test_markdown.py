"""The summary of a CI job: what it says, and what strangers' texts cannot do to it."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser

import pytest
from hypothesis import example as case
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from pytest_fairness.report.ci.github_summary import job_summary
from pytest_fairness.report.escaping import escape_controls
from pytest_fairness.report.markdown_escaping import escape, fenced
from tests.helpers import report_views

GITHUB = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
TEXTS = st.text(st.characters(exclude_categories=()), max_size=60) | st.sampled_from(report_views.HOSTILE)
MARKUP = st.text("ab1 |`*_[]()<>!#&;:\\~-+=@$.\n/{}'\"", max_size=40)
Check = Callable[[str], None]
GAP = "\u200b"
AUTOLINKS = re.compile(r"https?://|\bwww\.|@\w|#\d|\bGH-\d|:(?!\d\d:)(?:[a-z+-][\w+-]*|\d\w*):", re.IGNORECASE)
"""Patterns in plain text that GitHub makes links and mentions of."""


def flat(tokens: list[Token]) -> list[Token]:
    return [child for token in tokens for child in (token, *flat(token.children or []))]


def words(token: Token) -> str:
    assert all(child.type in ("text", "text_special") for child in token.children or [])
    return "".join(child.content for child in token.children or [])


def folded(text: str) -> str:
    return escape_controls(" ".join(text.split()))


class Elements(HTMLParser):
    """The elements of a page, opened and closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.comments: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self.tags.append(f"/{tag}")

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)


STRUCTURE = (
    "- list",
    "+ list",
    "1. one",
    "12) twelve",
    "---",
    "===",
    "=",
    "x\n```\ny",
    "`````\n~~~~~~\n",
    "    code",
    "\t",
)


def every_hostile(test: Check) -> Check:
    for text in (*report_views.HOSTILE, *STRUCTURE):
        test = case(text)(test)
    return settings(deadline=None)(test)


@every_hostile
@given(TEXTS | MARKUP)
def test_cell_shows_its_text_and_nothing_else(text: str) -> None:
    tokens = flat(GITHUB.parse(f"| a | b | c |\n|---|---|---|\n| x | {escape(text)} | y |\n"))
    kinds = [token.type for token in tokens]
    assert not {"html_inline", "html_block", "link_open", "image", "code_inline", "em_open"} & set(kinds)
    assert kinds.count("td_open") == 3
    cell = [token for token in tokens if token.type == "inline"][4]
    assert words(cell).replace(GAP, "") == folded(text).replace(GAP, "")
    assert not AUTOLINKS.search(words(cell))


@every_hostile
@given(TEXTS | MARKUP)
def test_line_shows_its_text_and_nothing_else(text: str) -> None:
    for before in ("", "- ", "**a**: "):
        tokens = GITHUB.parse(before + escape(text))
        assert {token.type for token in tokens} <= {
            "paragraph_open", "paragraph_close", "inline",
            "bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close",
        }  # fmt: skip
        assert len([token for token in tokens if token.type == "list_item_open"]) == (before == "- ")


@every_hostile
@given(TEXTS | MARKUP)
def test_element_shows_its_text_and_nothing_else(text: str) -> None:
    assert Elements(f"<summary>{escape(text)}</summary>").tags == ["summary", "/summary"]


@every_hostile
@given(TEXTS | st.text("`~\n ax", max_size=40))
def test_text_cannot_end_its_fence(text: str) -> None:
    tokens = GITHUB.parse(f"before\n\n{fenced(text)}\n\nafter\n")
    assert [token.type for token in tokens if token.type == "fence"] == ["fence"]
    assert tokens[-2].content == "after"
    (fence,) = (token for token in tokens if token.type == "fence")
    escaped = escape_controls(text, lines=True)
    assert fence.content == f"{escaped}\n"


def test_summary_leads_with_the_release_and_the_worst() -> None:
    verdicts = ["fair", "undecided", "invalid", "unfair"]
    rows = [report_views.row(verdict, threshold=f"the {verdict} one", id=verdict) for verdict in verdicts]
    text = job_summary(report_views.view(rows, [None, report_views.example(), None, report_views.example()]))
    assert text.splitlines()[2] == (
        f"- **{report_views.MODEL}**: release: unfair (4 thresholds: 1 fair, 1 unfair, 1 undecided, 1 invalid)"
    )
    assert "in the report, change the model or its prompt, and run again" in text.splitlines()[3]
    claims = ["Not kept: the unfair one", "**the invalid one**", "Open: the undecided one", "**the fair one**"]
    assert (places := [text.index(claim) for claim in claims]) == sorted(places)
    unfair = "- **ratio of hired, woman to man: 0.600; 0.8 to 1.2 is allowed**\n"
    unfair += "  - Not kept: the unfair one (hiring, simulated:model)\n"
    numbers = "  - 0.600 (95% CI 0.500 to 0.700), required 0.8 to 1.2, mark B\n"
    assert f"### Unfair\n\n{unfair}{numbers}" in text
    assert "### Nothing can be concluded\n\n- **the invalid one**" in text
    assert re.search(r"### Undecided\n\n- .*\n  - Open: the undecided one (.*\n)+  - needs about 200 items", text)
    assert "- suite hiring: B\n" in text
    assert text.count("<details>") == text.count("</details>") == 2
    assert "Group **woman** in this item: 0 of 3 answers. Prompt:" in text
    assert "- Commit: abc123" in text
    assert "not from a real model" in text


def test_hostile_texts_leave_the_summary_whole() -> None:
    for hostile in report_views.HOSTILE:
        names = dict.fromkeys(("threshold", "suite", "model", "message", "advice", "harm", "title"), hostile)
        rows = [report_views.row(verdict, **names) for verdict in ("unfair", "undecided", "invalid")]
        example = report_views.example(hostile, "{group}: " + hostile.replace("{", "{{").replace("}", "}}"), hostile)
        text = job_summary(report_views.view(rows, [example, example, None]))
        tokens = flat(GITHUB.parse(text))
        blocks = "".join(token.content for token in tokens if token.type == "html_block")
        assert Elements(blocks).tags == ["details", "summary", "/summary", "/details"] * 2
        assert not Elements(blocks).comments
        assert not {"html_inline", "link_open", "image"} & {token.type for token in tokens}
        assert "table_open" not in {token.type for token in tokens}
        for kind in ("unfair", "undecided"):
            assert f"<summary>{kind}: " in text
        text.encode()
        assert not set(text) & set("\x00\x1b\r\u202e\u2066")


def test_long_summary_loses_examples_then_fair_thresholds() -> None:
    rows = [report_views.row("unfair", id=f"test_x.py::broken_{n}", threshold=f"broken {n}") for n in range(5)]
    rows += [report_views.row("fair", id=f"test_x.py::fine_{n}", threshold=f"fine {n}") for n in range(50)]
    view = report_views.view(rows, [report_views.example("long " * 300)] * 5 + [None] * 50)
    whole = job_summary(view)
    assert "Left out" not in whole
    size = len(whole.encode())
    for limit in (size + 500, size - 3000, size // 2, 6000, 3000):
        text = job_summary(view, limit)
        assert len(text.encode()) <= limit
        assert [f"broken {n}" in text for n in range(5)] == [True] * 5
    assert text.count("<details>") == 0
    assert 0 < text.count("- **fine ") < 50
    assert "Left out, for GitHub's limit on the size of a summary: 5 of 5 examples" in text
    assert "`pytest-fairness report 01234567`" in text


@pytest.mark.parametrize("size", [1_000_000, 3_000_000])
def test_answers_of_a_megabyte_fit(size: int) -> None:
    view = report_views.view([report_views.row("unfair")] * 30, [report_views.example("`é" * (size // 2))] * 30)
    text = job_summary(view)
    assert len(text.encode()) <= 1024 * 1024
    assert text.count("<details>") == 30
    assert f"({size - 2000:,} more characters)" in text


@pytest.mark.slow
def test_thousand_unfair_thresholds_fit() -> None:
    rows = [report_views.row("unfair", id=str(number), threshold="x" * 3000) for number in range(1000)]
    text = job_summary(report_views.view(rows))
    assert len(text.encode()) <= 1024 * 1024
    assert re.search(r"Left out, .*: \d+ of 1,000 other thresholds", text)

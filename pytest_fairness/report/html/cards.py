"""Cards of suites on the report's page, from their Markdown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from pytest_fairness.core.lazy_patterns import lazy_pattern
from pytest_fairness.report.escaping import escape_controls

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_QUESTION = lazy_pattern(r"\*\*Question\.?\*\*\s*(.+?)(?:\n\s*\n|\Z)", re.DOTALL)
_LIMITS = lazy_pattern(r"^##\s+(?:Known\s+)?[Ll]imit\w*[^\n]*\n(.+?)(?=^##?\s|\Z)", re.MULTILINE | re.DOTALL)
_TITLE = lazy_pattern(r"\A\s*#\s[^\n]*\n")
_COMMENT = lazy_pattern(r"^<!--[^\n]*-->\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Card:
    """A suite's card, rendered."""

    suite: str
    question: Markup
    """The question in one sentence; empty where the card has no paragraph that begins with **Question.**"""
    limits: Markup
    """Its section `## Limits`."""
    whole: Markup


def read_card(suite: str, text: str) -> Card:
    r"""Return a card from its Markdown. Headings rank below those of the page; HTML is shown as text, but for comments.

    >>> read_card("hiring", "# Hiring\n\n<!-- written by a script -->\n\nNames <b>vary</b>.").whole
    Markup('<p>Names &lt;b&gt;vary&lt;/b&gt;.</p>\n')
    """
    text = _COMMENT.sub("", escape_controls(text, lines=True))
    question, limits = _QUESTION.search(text), _LIMITS.search(text)
    return Card(
        suite,
        _render_inline(" ".join(question[1].split())) if question else Markup(""),
        _render_markdown(limits[1]) if limits else Markup(""),
        _render_markdown(_TITLE.sub("", text)),
    )


def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")


def _render_inline(text: str) -> Markup:
    # The renderer escapes HTML.
    return Markup(_parser().renderInline(text))  # noqa: S704


def _render_markdown(text: str) -> Markup:
    markdown = _parser()
    tokens = markdown.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 3)}"
        if token.attrs.pop("style", None) == "text-align:right":  # the page's policy allows no style of its own
            token.attrs["class"] = "right"
        if token.type == "table_open":  # wide tables scroll, by keyboard too
            token.attrs["tabindex"] = "0"
    # The renderer escapes HTML.
    return Markup(markdown.renderer.render(tokens, markdown.options, {}))  # noqa: S704

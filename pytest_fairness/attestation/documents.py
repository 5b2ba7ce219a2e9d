"""Documents for people who audit, in Markdown or as a page, and the texts of those for machines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_fairness import __version__
from pytest_fairness.extending import TextTable, escape_controls, escape_markdown, write_text

_STYLE = """\
body { font: 14px/1.45 system-ui, sans-serif; color: #1a1a1a; max-width: 60rem; margin: 1.5rem auto; padding: 0 1rem; }
h1 { font-size: 1.45rem; margin: 0 0 .4rem; } h2 { font-size: 1.1rem; margin: 1rem 0 .3rem; }
h3 { font-size: 1rem; margin: .8rem 0 .3rem; } p, ul { margin: .35rem 0; } ul { padding-left: 1.2rem; }
table { border-collapse: collapse; width: 100%; margin: .4rem 0; overflow-wrap: anywhere; }
th, td { border: 1px solid #888; padding: .15rem .4rem; text-align: left; vertical-align: top; }
th { background: #eee; } th, td:first-child { overflow-wrap: break-word; } td:empty { height: 1.9em; }
@media print {
  @page { size: A4; margin: 10mm; }
  body { font-size: 7.4pt; line-height: 1.2; max-width: none; margin: 0; padding: 0; }
  h1 { font-size: 12pt; } h2 { font-size: 9pt; margin: 4pt 0 1pt; } h3 { font-size: 8pt; margin: 3pt 0 1pt; }
  h1, h2, h3 { break-after: avoid-page; } tr, li { break-inside: avoid-page; }
  th, td { padding: 1pt 3pt; } p, ul, table { margin: 2pt 0; }
}
"""
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")


def write_document(out: Path, title: str, lines: Iterable[str]) -> None:
    """Write a document: as a page where the name of the file ends with ``.html``, else as Markdown.

    Args:
        out: The file.
        title: The title of the page, as plain text.
        lines: The lines in Markdown, with untrusted texts escaped.

    Raises:
        FairnessError: The file cannot be written, or another file would be lost.
    """
    text = "\n".join(lines) + "\n"
    write_text(out, _page(title, text) if out.suffix == ".html" else text)


def _page(title: str, text: str) -> str:
    from html import escape

    from markdown_it import MarkdownIt

    body = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image").render(text)
    policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="generator" content="pytest-fairness {__version__}">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>
{_STYLE}</style>
</head>
<body>
<main>
{body}</main>
</body>
</html>
"""


def facts_table(title: str, facts: Mapping[str, str]) -> Iterator[str]:
    """Yield a table of two columns, item and content, whose cells are escaped."""
    return TextTable(title, ["item", "content"], [*facts.items()]).markdown()


def bullets(texts: Sequence[str]) -> list[str]:
    """Return a list in Markdown, of escaped texts."""
    return [f"- {escape_markdown(text)}" for text in texts]


def card_paragraph(card: str, name: str) -> str:
    """Return a paragraph of a suite's card as plain text; empty where the card has none of this name.

    Args:
        card: The card, in Markdown.
        name: The word in bold with which the paragraph begins.

    >>> card_paragraph("# a\\n\\n**Source.** Texts of [ours](x.md), *by hand*.\\nAll.\\n\\nMore.", "Source")
    'Texts of ours, by hand. All.'
    """
    paragraph = re.search(rf"\*\*{re.escape(name)}\.?\*\*\s*(.+?)(?:\n\s*\n|\Z)", card, re.DOTALL)
    if paragraph is None:
        return ""
    return " ".join(re.sub(r"[*`]", "", _LINK.sub(r"\1", paragraph[1])).split())


def escape_texts(value: Any) -> Any:
    r"""Return JSON with control characters escaped in its texts and names, which come from suites and models.

    >>> escape_texts({"a\x1b": ["b\x07", 1]})
    {'a\\u001b': ['b\\u0007', 1]}
    """
    if isinstance(value, dict):
        return {escape_controls(name): escape_texts(content) for name, content in value.items()}
    if isinstance(value, list):
        return [escape_texts(content) for content in value]
    return escape_controls(value) if isinstance(value, str) else value

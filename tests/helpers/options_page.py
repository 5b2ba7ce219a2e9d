"""The table of docs/options.md, made from the declared options; run this module to write it."""

from __future__ import annotations

import re
from pathlib import Path

from pytest_fairness.plugin.config.options import OPTIONS, Option

PAGE = Path(__file__).parents[2] / "docs" / "options.md"
HEAD = "| option | meaning |\n|---|---|\n"
_TABLE = re.compile(re.escape(HEAD) + r"(?:\|.*\n)*")


def options_table() -> str:
    """Return the Markdown table of all options."""
    return HEAD + "".join(f"| `{_escape(option.usage)}` | {_meaning(option)} |\n" for option in OPTIONS)


def with_options_table(page: str) -> str:
    """Return the page with the table of today's options in place of its own."""
    return _TABLE.sub(lambda _: options_table(), page)


def _meaning(option: Option) -> str:
    return _escape(option.description)


def _escape(text: str) -> str:
    return text.replace("|", r"\|")


if __name__ == "__main__":
    PAGE.write_text(with_options_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")

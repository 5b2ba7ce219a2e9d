"""The report as one page."""

from __future__ import annotations

from pathlib import Path

from pytest_fairness.report.files import write_text
from pytest_fairness.report.html.context import page_of
from pytest_fairness.report.html.rendering import render
from pytest_fairness.report.view import View

_STYLES = ("style.css", "charts.css", "attempts.css")
_SCRIPTS = ("attempts_index.js", "attempts.js", "report.js")


def write_page(path: Path, view: View) -> None:
    """Write the report, whole or not at all.

    Raises `FairnessError`, in one line, where it cannot be written.
    """
    write_text(path, page(view))


def page(view: View) -> str:
    """Return the report of a run, as HTML."""
    return render("report.html.j2", styles=_STYLES, scripts=_SCRIPTS, **page_of(view))

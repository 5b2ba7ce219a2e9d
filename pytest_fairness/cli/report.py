"""``pytest-fairness report``: the report of a stored run, written again."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_fairness.cli.arguments import Commands, add_command, add_run, view_of


def add(commands: Commands) -> None:
    """Declare the command."""
    report = add_command(commands, "report", "write the HTML report of a stored run again")
    add_run(report)
    report.add_argument(
        "--html", type=Path, default=Path("reports/fairness.html"), metavar="FILE", help="the page (%(default)s)"
    )
    report.add_argument("--markdown", type=Path, metavar="FILE", help="write the summary of a CI job as well")
    report.set_defaults(run=_report)


def _report(chosen: argparse.Namespace) -> None:
    from pytest_fairness.report.ci.github_summary import job_summary
    from pytest_fairness.report.files import write_text
    from pytest_fairness.report.html.page import page

    view = view_of(chosen)
    for path, write in ((chosen.html, page), (chosen.markdown, job_summary)):
        if path is not None:
            write_text(path, write(view))
            print(f"written: {path}")

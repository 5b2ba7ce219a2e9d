"""Commands that show stored runs: report, compare."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_fairness.commands.parsing import Commands, add_run, add_store, hiding_secrets, view_of


def add(commands: Commands) -> None:
    """Declare them."""
    report = commands.add_parser("report", help="write the HTML report of a stored run again")
    add_run(report)
    report.add_argument("--html", type=Path, default=Path("reports/fairness.html"), metavar="FILE")
    report.add_argument("--markdown", type=Path, metavar="FILE", help="write the summary of a CI job as well")
    report.set_defaults(run=_report)
    compare = commands.add_parser("compare", help="models of one run, or several runs, side by side")
    compare.add_argument("runs", nargs="+", metavar="RUN", help="a run's id or its beginning, latest, or a .json file")
    add_store(compare)
    compare.add_argument("--to", metavar="COLUMN", help="hold all against this model (or MODEL @ RUN), not the first")
    compare.add_argument("--html", type=Path, metavar="FILE", help="write a page as well")
    compare.add_argument("--markdown", type=Path, metavar="FILE", help="write Markdown as well")
    compare.set_defaults(run=_compare)


def _report(chosen: argparse.Namespace) -> None:
    from pytest_fairness.report.ci.summary import job_summary
    from pytest_fairness.report.files import write_text
    from pytest_fairness.report.html.page import page

    view = view_of(chosen)
    for path, written in ((chosen.html, page), (chosen.markdown, job_summary)):
        if path is not None:
            write_text(path, written(view))
            print(f"written: {path}")


def _compare(chosen: argparse.Namespace) -> None:
    from shutil import get_terminal_size

    from pytest_fairness.report.compare.markdown import markdown
    from pytest_fairness.report.compare.page import page
    from pytest_fairness.report.compare.reading import read_comparison
    from pytest_fairness.report.compare.text import lines
    from pytest_fairness.report.files import write_text

    comparison = read_comparison(chosen.runs, chosen.store, chosen.to, hiding_secrets())
    for line in lines(comparison, get_terminal_size().columns):
        print(line)
    for path, written in ((chosen.html, page), (chosen.markdown, markdown)):
        if path is not None:
            write_text(path, written(comparison))
            print(f"written: {path}")

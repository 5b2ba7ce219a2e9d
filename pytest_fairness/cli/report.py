"""``pytest-fairness report``: the report of a stored run, written again."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from pytest_fairness.cli.arguments import Commands, add_command, add_run, view_of

_LEAST = 2_000
"""The least bytes of a summary: a shorter one has no room for its releases."""


def add(commands: Commands) -> None:
    """Declare the command."""
    report = add_command(commands, "report", "write the HTML report of a stored run again")
    add_run(report)
    report.add_argument(
        "--html", type=Path, default=Path("reports/fairness.html"), metavar="FILE", help="the page (%(default)s)"
    )
    report.add_argument("--markdown", type=Path, metavar="FILE", help="write the summary of a CI job as well")
    report.add_argument(
        "--markdown-limit",
        type=_limit,
        metavar="BYTES",
        help=f"the most bytes of that summary, at least {_LEAST:,}: a comment on GitHub takes 65,536 characters",
    )
    report.set_defaults(run=_report)


def _limit(text: str) -> int:
    if not text.isdecimal() or int(text) < _LEAST:
        raise argparse.ArgumentTypeError(f"is {text!r}: it must be a whole number of at least {_LEAST:,}")
    return int(text)


def _report(options: argparse.Namespace) -> None:
    from pytest_fairness.core.output_files import write_text
    from pytest_fairness.report.ci.github_summary import LIMIT, job_summary
    from pytest_fairness.report.html.page import page

    view = view_of(options)
    summary = partial(job_summary, limit=options.markdown_limit or LIMIT)
    for path, write in ((options.html, page), (options.markdown, summary)):
        if path is not None:
            write_text(path, write(view))
            print(f"written: {path}")

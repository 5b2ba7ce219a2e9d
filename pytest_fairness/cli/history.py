"""``pytest-fairness history``: thresholds over runs, from a store or from results files."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fairness.cli.arguments import Commands, add_command, add_store, open_store, secret_redactor
from pytest_fairness.core.garbage_collection import paused_collection

if TYPE_CHECKING:
    from pytest_fairness.report.history.series import RunHistory

_LAST = 50


def add(commands: Commands) -> None:
    """Declare the command."""
    history = add_command(
        commands,
        "history",
        "show verdicts, estimates and changes of thresholds over runs",
        "Show each threshold on each model over the last runs of a store; or over results files, which CI keeps as "
        "artifacts.",
    )
    history.add_argument(
        "files", nargs="*", type=Path, metavar="FILE", help="results file, or a folder of them; without, the store"
    )
    add_store(history)
    history.add_argument("--last", type=_count, default=_LAST, metavar="N", help="most runs (%(default)s)")
    history.add_argument(
        "--threshold", metavar="TEXT", help="thresholds with this in their id or title, a line per run"
    )
    history.add_argument("--model", metavar="TEXT", help="models whose name holds this")
    history.add_argument("--html", type=Path, metavar="FILE", help="write a page with charts")
    history.add_argument("--json", action="store_true", help="print JSON in place of text")
    history.set_defaults(run=_history)


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:9]) <= 10_000:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of runs: write one from 1 to 10000")
    return int(text)


def _history(options: argparse.Namespace) -> None:
    from pytest_fairness.report.history.load import filter_history, history_of_files, history_of_store

    redact = secret_redactor()
    with paused_collection():
        if options.files:
            history = history_of_files(options.files, options.last, redact)
        else:
            with open_store(options.store) as store:
                history = history_of_store(store, options.last, redact)
        _write(filter_history(history, options.threshold, options.model), options)


def _write(history: RunHistory, options: argparse.Namespace) -> None:
    from pytest_fairness.report.history.tables import lines

    if options.html is not None:  # before a reader of the lines, such as `head`, can end the process
        from pytest_fairness.core.output_files import write_text
        from pytest_fairness.report.history.page import history_page

        write_text(options.html, history_page(history))
    if options.json:
        from pytest_fairness.core import json_text as json

        print(json.dumps(history.to_json(), allow_nan=False))  # an indent needs the slow encoder
    else:
        for line in lines(history, details=options.threshold is not None):
            print(line)
    if options.html is not None:
        print(f"written: {options.html}", file=sys.stderr if options.json else sys.stdout)

"""``pytest-fairness compare``: models of one run, or several runs, side by side."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from pytest_fairness.cli.arguments import Commands, add_command, add_store, secret_redactor
from pytest_fairness.core.extensions import COMPARE_SECTIONS


def add(commands: Commands) -> None:
    """Declare the command."""
    compare = add_command(commands, "compare", "compare models of one run, or several runs, side by side")
    compare.add_argument(
        "runs", nargs="+", metavar="RUN", help="id of a run or its beginning, latest, a results file or a summary.json"
    )
    add_store(compare)
    compare.add_argument("--to", metavar="COLUMN", help="compare with this model (or MODEL @ RUN), not with the first")
    compare.add_argument("--html", type=Path, metavar="FILE", help="write a page as well")
    compare.add_argument("--markdown", type=Path, metavar="FILE", help="write Markdown as well")
    compare.set_defaults(run=_compare)


def _compare(options: argparse.Namespace) -> None:
    from shutil import get_terminal_size

    from pytest_fairness.core.output_files import write_text
    from pytest_fairness.report.compare import markdown, page
    from pytest_fairness.report.compare import terminal as text
    from pytest_fairness.report.compare.load import read_comparison, read_run
    from pytest_fairness.report.compare.sections import ComparedRuns, CompareSection

    redact, width = secret_redactor(), get_terminal_size().columns
    runs = ComparedRuns(options.runs, partial(read_run, store=options.store, redact=redact), redact)
    extensions = [COMPARE_SECTIONS.make(name, CompareSection) for name in COMPARE_SECTIONS.names()]  # type: ignore[type-abstract]
    sections = [table for section in extensions if (table := section.table(runs)) is not None]
    single = next((section for section in sections if section.stands_alone), None)
    if single is not None:
        shown, html, markdown_text = [*single.lines(width)], single.page(), single.markdown()
    else:
        comparison = read_comparison(options.runs, options.store, options.to, redact)
        shown = [
            *text.lines(comparison, width),
            *(line for section in sections for line in ("", *section.lines(width))),
        ]
        html, markdown_text = page.page(comparison, sections), markdown.markdown(comparison, sections)
    written = [(path, content) for path, content in ((options.html, html), (options.markdown, markdown_text)) if path]
    for path, content in written:  # before a reader of the lines, such as `head`, can end the process
        write_text(path, content)
    for line in [*shown, *(f"written: {path}" for path, _ in written)]:
        print(line)

"""Commands for stored runs: report, compare, merge."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_fairness.commands.parsing import Commands, add_run, add_store, hiding_secrets, place, view_of


def add(commands: Commands) -> None:
    """Declare them."""
    report = commands.add_parser("report", help="write the HTML report of a stored run again")
    add_run(report)
    report.add_argument("--html", type=Path, default=Path("reports/fairness.html"), metavar="FILE")
    report.add_argument("--markdown", type=Path, metavar="FILE", help="write the summary of a CI job as well")
    report.set_defaults(run=_report)
    compare = commands.add_parser("compare", help="models of one run, or several runs, side by side")
    compare.add_argument(
        "runs", nargs="+", metavar="RUN", help="a run's id or its beginning, latest, a results file or a summary.json"
    )
    add_store(compare)
    compare.add_argument("--to", metavar="COLUMN", help="hold all against this model (or MODEL @ RUN), not the first")
    compare.add_argument("--html", type=Path, metavar="FILE", help="write a page as well")
    compare.add_argument("--markdown", type=Path, metavar="FILE", help="write Markdown as well")
    compare.set_defaults(run=_compare)
    merge = commands.add_parser(
        "merge",
        help="join stores into one, those of shards without a server say",
        description="Join stores into a new file. Of two answers to the same attempt that of the first store is kept, "
        "and how many there were is told. Stores of older versions are read as well; none is changed.",
    )
    merge.add_argument("stores", nargs="+", type=place, metavar="STORE", help="a file, or the URL of a server")
    merge.add_argument("--out", type=Path, required=True, metavar="FILE", help="the new store")
    merge.set_defaults(run=_merge)


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

    from pytest_fairness.report.compare import asymmetry, markdown, page, text
    from pytest_fairness.report.compare.reading import read_comparison
    from pytest_fairness.report.files import write_text

    redact, width = hiding_secrets(), get_terminal_size().columns
    league = asymmetry.read_league(chosen.runs, chosen.store, redact)
    of_league = asymmetry.lines(league.entries, width) if league.entries else ()
    sections = [asymmetry.section(league.entries)] if league.entries else []
    if league.bare:
        shown, written, listed = [*of_league], sections[0].page(), sections[0].markdown()
    else:
        comparison = read_comparison(chosen.runs, chosen.store, chosen.to, redact)
        shown = [*text.lines(comparison, width), *([""] if league.entries else []), *of_league]
        written, listed = page.page(comparison, sections), markdown.markdown(comparison, sections)
    for line in shown:
        print(line)
    for path, content in ((chosen.html, written), (chosen.markdown, listed)):
        if path is not None:
            write_text(path, content)
            print(f"written: {path}")


def _merge(chosen: argparse.Namespace) -> None:
    from pytest_fairness.store.merging import merge

    merged = merge(chosen.stores, chosen.out)
    if merged.conflicts:
        plural = "s" * (merged.conflicts != 1)
        print(f"{merged.conflicts:,} attempt{plural} had another answer in an earlier store: the first is kept")
    print(f"written: {chosen.out} ({merged.attempts:,} attempts, {merged.runs:,} runs)")

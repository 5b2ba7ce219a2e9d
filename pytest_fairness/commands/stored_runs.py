"""Commands for stored runs: report, compare, merge, prune."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_fairness.commands.parsing import Commands, add_run, add_store, hiding_secrets, place, view_of
from pytest_fairness.core.errors import StoreError
from pytest_fairness.core.numerals import age


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
    prune = commands.add_parser(
        "prune",
        help="remove runs and answers that are no longer needed",
        description="Remove the runs, and the answers, for which all holds that is given, and compact the store. What "
        "a run that stays needs stays, as do its baseline, the latest run, and the verdicts of every run: each is a "
        "look.",
    )
    add_store(prune)
    prune.add_argument("--older-than", type=_age, metavar="90d|12h|4w", help="what began, or was answered, before that")
    prune.add_argument("--run", dest="runs", action="append", default=[], metavar="RUN", help="this run; repeatable")
    prune.add_argument(
        "--model", action="append", default=[], metavar="NAME", help="what asked this model and no other; repeatable"
    )
    prune.add_argument("--keep", action="append", default=[], metavar="RUN", help="this run stays; repeatable")
    prune.add_argument("--dry-run", action="store_true", help="remove nothing: show what would go")
    prune.set_defaults(run=_prune)


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
    from pytest_fairness.store.merging import LEFT_BEHIND, merge

    merged = merge(chosen.stores, chosen.out)
    for empty in merged.empty:
        print(f"there is no run in {empty}: {LEFT_BEHIND}")
    if merged.conflicts:
        plural = "s" * (merged.conflicts != 1)
        print(f"{merged.conflicts:,} attempt{plural} had another answer in an earlier store: the first is kept")
    print(f"written: {chosen.out} ({merged.attempts:,} attempts, {merged.runs:,} runs)")


def _age(text: str) -> float:
    try:
        return age(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _prune(chosen: argparse.Namespace) -> None:
    from pytest_fairness.store.pruning import Chosen, prune

    if chosen.older_than is None and not chosen.runs and not chosen.model:
        raise StoreError("prune what? Give --older-than, --run or --model; --dry-run shows what would go")
    if not chosen.store.exists():
        raise StoreError(f"there is no store {chosen.store}: name it with --store")
    what = Chosen(chosen.older_than, chosen.runs, chosen.model, chosen.keep)
    pruned = prune(chosen.store, what, dry=chosen.dry_run)
    counts = (pruned.runs, "run"), (pruned.attempts, "answer"), (pruned.prompts, "prompt"), (pruned.grades, "grade")
    told = ", ".join(f"{count:,} {name}{'s' * (count != 1)}" for count, name in counts)
    print(f"{'would go' if chosen.dry_run else 'removed'}: {told} ({pruned.size:,} bytes of contents)")
    if not chosen.dry_run:
        print(f"the store {chosen.store}: {pruned.before:,} bytes before, {pruned.after:,} now")

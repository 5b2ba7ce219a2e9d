"""The export ``verdicts``: ``pytest-fairness export verdicts RUN --out FILE``."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from pytest_fairness.extending import Exporter, RunReference


class VerdictsExport(Exporter):
    """The verdicts of a run, one a line."""

    help = "the verdicts, one a line"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--only", metavar="VERDICT", help="leave all others out")

    def export(self, run: RunReference, out: Path, arguments: Namespace) -> str:
        rows = [row for row in run.read().results.thresholds if arguments.only in (None, row.verdict)]
        out.write_text("".join(f"{row.model} {row.threshold}: {row.verdict}\n" for row in rows), encoding="utf-8")
        return f"{len(rows)} verdicts written to {out}"

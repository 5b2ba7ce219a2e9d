"""Commands that turn recorded answers of others into a replay file."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_fairness.commands.parsing import Commands

_REPLAY = '{"metadata": '
"""With which every line of a replay file that was imported begins."""


def add(commands: Commands) -> None:
    """Declare them."""
    imports = commands.add_parser("import", help="turn recorded answers of others into a replay file")
    kinds = imports.add_subparsers(required=True, metavar="KIND")
    bbq = kinds.add_parser("bbq-predictions", help="predictions in the layout of the BBQ repository")
    bbq.add_argument("predictions", type=Path, metavar="PREDS.jsonl", help="a file, or a folder of them")
    bbq.add_argument("--column", required=True, help="the column that holds the answers")
    bbq.add_argument("--out", required=True, type=Path, metavar="FILE", help="the replay file to write")
    bbq.set_defaults(run=_bbq_predictions)
    pairs = kinds.add_parser("bbq-pairs", help="a recorded run of BBQ question pairs, with what its oracle said")
    pairs.add_argument("folder", type=Path, metavar="DIR", help="the folder of its *.jsonl files")
    pairs.add_argument("--out", required=True, type=Path, metavar="FILE", help="the replay file to write")
    pairs.set_defaults(run=_bbq_pairs)
    asymmetry = kinds.add_parser("asymmetry", help="a run of the asymmetry benchmark, with its grades where it has any")
    asymmetry.add_argument("folder", type=Path, metavar="DIR", help="results/MODEL/TIMESTAMP")
    asymmetry.add_argument("--out", required=True, type=Path, metavar="FILE", help="the replay file to write")
    asymmetry.set_defaults(run=_asymmetry)


def _bbq_predictions(chosen: argparse.Namespace) -> None:
    from pytest_fairness.imports.bbq import convert
    from pytest_fairness.report.files import refuse_others

    refuse_others(chosen.out, _REPLAY)
    count = convert(chosen.predictions, chosen.column, chosen.out)
    print(f"{count:,} recorded answers written to {chosen.out}; test them with --fairness-model replay:{chosen.out}")


def _bbq_pairs(chosen: argparse.Namespace) -> None:
    from pytest_fairness.imports.bbq_pairs import convert
    from pytest_fairness.report.files import refuse_others

    refuse_others(chosen.out, _REPLAY)
    imported = convert(chosen.folder, chosen.out)
    for note in imported.notes:
        print(note)
    print(
        f"{imported.pairs:,} pairs, {imported.replies:,} recorded replies written to {chosen.out}; test them with "
        f"--fairness-data bbq_pairs={chosen.folder} --fairness-model replay:{chosen.out}"
    )


def _asymmetry(chosen: argparse.Namespace) -> None:
    from pytest_fairness.imports.asymmetry import convert
    from pytest_fairness.report.files import refuse_others

    refuse_others(chosen.out, _REPLAY)
    imported = convert(chosen.folder, chosen.out)
    for note in imported.notes:
        print(note)
    print(
        f"{imported.answers:,} answers, {imported.graded:,} of them graded, written to {chosen.out}; test them with "
        f"--fairness-data asymmetry={chosen.folder} --fairness-model replay:{chosen.out}"
    )

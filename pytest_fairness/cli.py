"""The command ``pytest-fairness``: what is done outside a pytest run."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from pytest_fairness import __version__
from pytest_fairness.core.errors import FairnessError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 where it worked, 2 with one line on stderr where it did not, else pytest's exit code."""
    logging.basicConfig(format="pytest-fairness: %(message)s", level=logging.WARNING)
    chosen = _parser().parse_args(arguments)
    try:
        return int(chosen.run(chosen) or 0)
    except FairnessError as error:
        print(f"pytest-fairness: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="pytest-fairness", description="Tools beside `pytest --fairness-model ...`.")
    parser.add_argument("--version", action="version", version=f"pytest-fairness {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    imports = commands.add_parser("import", help="turn recorded answers of others into a replay file")
    kinds = imports.add_subparsers(required=True, metavar="KIND")
    bbq = kinds.add_parser("bbq-predictions", help="predictions in the layout of the BBQ repository")
    bbq.add_argument("predictions", type=Path, metavar="PREDS.jsonl", help="a file, or a folder of them")
    bbq.add_argument("--column", required=True, help="the column that holds the answers")
    bbq.add_argument("--out", required=True, type=Path, metavar="FILE", help="the replay file to write")
    bbq.set_defaults(run=_import_bbq_predictions)
    # With another prefix its options are left to pytest.
    certify = commands.add_parser(
        "certify",
        prefix_chars="+",
        add_help=False,
        help="how often thresholds err on stored answers: [RUN] [pytest ...]",
    )
    certify.add_argument("arguments", nargs="*", metavar="[RUN] [PYTEST ARGUMENTS]")
    certify.set_defaults(run=_certify)
    plan = commands.add_parser(
        "plan", prefix_chars="+", add_help=False, help="what a run would say and cost, without a call: [pytest ...]"
    )
    plan.add_argument("arguments", nargs="*", metavar="PYTEST ARGUMENTS")
    plan.set_defaults(run=_plan)
    return parser


def _certify(chosen: argparse.Namespace) -> int:
    from pytest_fairness.session.commands import certify

    return certify(chosen.arguments)


def _plan(chosen: argparse.Namespace) -> int:
    from pytest_fairness.session.commands import plan

    return plan(chosen.arguments)


def _import_bbq_predictions(chosen: argparse.Namespace) -> None:
    from pytest_fairness.imports.bbq import convert

    count = convert(chosen.predictions, chosen.column, chosen.out)
    print(f"{count:,} recorded answers written to {chosen.out}; test them with --fairness-model replay:{chosen.out}")


if __name__ == "__main__":
    sys.exit(main())

"""The command ``pytest-fairness``: what is done outside a pytest run."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper

from pytest_fairness import __version__
from pytest_fairness.commands import design, exports, imports, new, pytest_runs, schema, stored_runs, variants
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.report.texts import visible


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 where it worked, 2 with one line on stderr where it did not, else pytest's exit code."""
    logging.basicConfig(format="pytest-fairness: %(message)s", level=logging.WARNING)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a name that the terminal's encoding lacks is shown by its numbers
            stream.reconfigure(errors="backslashreplace")
    chosen = _parser().parse_args(arguments)
    try:
        return int(chosen.run(chosen) or 0)
    except FairnessError as error:
        print(f"pytest-fairness: {visible(str(error))}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # whoever reads has enough, `head` say
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="pytest-fairness", description="Tools beside `pytest --fairness-model ...`.")
    parser.add_argument("--version", action="version", version=f"pytest-fairness {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for kind in (pytest_runs, stored_runs, exports, imports, design, schema, new, variants):
        kind.add(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())

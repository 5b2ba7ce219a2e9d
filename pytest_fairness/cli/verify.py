"""``pytest-fairness verify``: ``pytest --fairness-verify`` under a shorter name."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from pytest_fairness.cli.arguments import Commands
from pytest_fairness.cli.pytest_command import add_pytest_command
from pytest_fairness.core.errors import FairnessError


def add(commands: Commands) -> None:
    """Declare the command."""
    add_pytest_command(
        commands,
        "verify",
        "check that the verdicts of a results file follow from stored answers, without model calls",
        _verify,
        metavar="RESULTS",
        about="RESULTS is a file that --fairness-json wrote.",
    )


def _verify(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> int:
    from pytest_fairness.plugin.config.invocation import run_pytest

    if not arguments or arguments[0].startswith("-"):
        parser.error("RESULTS is missing: name a file that --fairness-json wrote")
    results, *files = arguments
    return run_pytest(f"--fairness-verify={results}", *(files or _tests_of(Path(results))))


def _tests_of(results: Path) -> list[str]:
    """Return the arguments of pytest for the tests that a results file names."""
    from pytest_fairness.plugin.hooks.dry_runs.results_diff import ResultsFile, read_results_file

    try:
        return ResultsFile(results, read_results_file(results)).tests(Path.cwd())
    except FairnessError:  # pytest reports the error in the file
        return []

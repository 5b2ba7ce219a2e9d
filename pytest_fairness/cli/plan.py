"""``pytest-fairness plan``: ``pytest --fairness-plan`` under a shorter name."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from pytest_fairness.cli.arguments import Commands
from pytest_fairness.cli.pytest_command import add_pytest_command


def add(commands: Commands) -> None:
    """Declare the command."""
    add_pytest_command(commands, "plan", "predict verdicts, calls and cost of a run, without model calls", _plan)


def _plan(_: argparse.ArgumentParser, arguments: Sequence[str]) -> int:
    from pytest_fairness.plugin.config.invocation import run_pytest

    return run_pytest("--fairness-plan", *arguments)

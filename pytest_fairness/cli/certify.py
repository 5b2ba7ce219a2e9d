"""``pytest-fairness certify``: ``pytest --fairness-certify`` under a shorter name."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

from pytest_fairness.cli.arguments import Commands
from pytest_fairness.cli.pytest_command import add_pytest_command

_RUN = re.compile(r"latest|[0-9a-f]{6,32}")


def add(commands: Commands) -> None:
    """Declare the command."""
    add_pytest_command(
        commands,
        "certify",
        "measure the error rates of thresholds on stored answers, without model calls",
        _certify,
        metavar="[RUN]",
        about="RUN is the id of a stored run, the beginning of its id, or latest (the default).",
    )


def _certify(_: argparse.ArgumentParser, arguments: Sequence[str]) -> int:
    from pytest_fairness.plugin.config.invocation import run_pytest

    first = arguments[0] if arguments else ""
    is_run = _RUN.fullmatch(first) and not Path(first).exists()
    run, pytest_arguments = (first, arguments[1:]) if is_run else ("latest", arguments)
    return run_pytest(f"--fairness-certify={run}", *pytest_arguments)

"""``pytest-fairness lint``: the confounds in the design of a suite, without a model."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_fairness.cli.arguments import Commands, add_command


def add(commands: Commands) -> None:
    """Declare the command."""
    lint = add_command(
        commands,
        "lint",
        "list the confounds in a suite's design, without a model",
        "Of each probe of a suite, list what differs between groups besides the group: numbers and words of slots, "
        "titles, order, places and lengths. With names = 'DIR' in [tool.pytest-fairness.data], a folder of tables of "
        "perceived names, how their means differ. Exits with 1 where there is a confound, or a probe without items.",
    )
    lint.add_argument("suite", type=Path, metavar="SUITE", help="a suite: its folder, or a file of it")
    lint.set_defaults(run=_lint)


def _lint(options: argparse.Namespace) -> int:
    from pytest_fairness.plugin.collection.variants import read_suite
    from pytest_fairness.report.escaping import escape_controls

    suite = read_suite(options.suite)
    lints = list(suite.lint())
    for probe in lints:
        for line in probe.lines():
            print(escape_controls(line))
    return 0 if all(probe.is_clean for probe in lints) else 1

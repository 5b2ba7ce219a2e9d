"""``pytest-fairness seal``: what a run must measure and compare to be fair, in a reviewed file before the run."""

from __future__ import annotations

import argparse

from pytest_fairness.cli.arguments import Commands, add_command
from pytest_fairness.core.seal_results import SEAL


def add(commands: Commands) -> None:
    """Declare the command."""
    seal = add_command(
        commands,
        "seal",
        "seal items, graders, bounds and sample sizes before a run",
        f"Write {SEAL} beside the ini file, without a request: the items, graders, rubrics, controls, bounds, slices, "
        "sample sizes and looks of the thresholds that pytest selects with these arguments. A later run in which one "
        "differs is never fair, and names it (docs/seals.md).",
    )
    seal.add_argument("tests", metavar="TESTS", help="the folder or file of the tests, as for the run")
    seal.add_argument(
        "arguments", nargs=argparse.REMAINDER, metavar="ARGUMENT", help="further arguments of pytest, as for the run"
    )
    seal.set_defaults(run=_seal)


def _seal(options: argparse.Namespace) -> None:
    from pytest_fairness.core.formatting import counted
    from pytest_fairness.plugin.hooks.seal_request import seal

    request = seal([options.tests, *options.arguments])
    number = f"{counted(request.thresholds, 'threshold')} of {counted(request.probes, 'probe')}"
    print(f"sealed: {number}; review {request.path} and commit it before the run")

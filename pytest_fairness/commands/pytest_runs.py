"""Commands that are a pytest run with an option of its own: certify, plan, verify."""

from __future__ import annotations

import argparse

from pytest_fairness.commands.parsing import Commands


def add(commands: Commands) -> None:
    """Declare them. With another prefix for their own options, all others are left to pytest."""
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
    verify = commands.add_parser(
        "verify",
        prefix_chars="+",
        add_help=False,
        help="whether verdicts follow from stored answers: RESULTS [pytest ...]",
    )
    verify.add_argument("results", metavar="RESULTS", help="a file that --fairness-json wrote")
    verify.add_argument("arguments", nargs="*", metavar="PYTEST ARGUMENTS")
    verify.set_defaults(run=_verify)


def _certify(chosen: argparse.Namespace) -> int:
    from pytest_fairness.session.commands import certify

    return certify(chosen.arguments)


def _plan(chosen: argparse.Namespace) -> int:
    from pytest_fairness.session.commands import plan

    return plan(chosen.arguments)


def _verify(chosen: argparse.Namespace) -> int:
    from pytest_fairness.session.commands import verify

    return verify(chosen.results, chosen.arguments)

"""Commands that are a pytest run with an option of its own: certify, plan, verify."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from pytest_fairness.commands.parsing import Commands

_REST = "All other arguments are those of pytest: files, -k, --fairness-model (see `pytest --help`)."


def add(commands: Commands) -> None:
    """Declare them. With another prefix for their own options, all others are left to pytest."""
    for name, what, own, run in (
        ("certify", "how often thresholds err on stored answers", "[RUN]", _certify),
        ("plan", "what a run would say and cost, without a call", "", _plan),
        ("verify", "whether verdicts follow from stored answers", "RESULTS", _verify),
    ):
        usage = " ".join(filter(None, ("pytest-fairness", name, own, "[PYTEST ARGUMENTS]")))
        parser = commands.add_parser(
            name,
            prefix_chars="+",
            add_help=False,
            usage=usage,
            help=what,
            description=f"{what[0].upper()}{what[1:]}.",
            epilog=f"{_OWN[own]}{_REST}",
        )
        parser.add_argument("arguments", nargs="*", metavar=usage.partition(f"{name} ")[2], help=argparse.SUPPRESS)
        parser.set_defaults(run=_or_help(parser, run))


_OWN = {
    "": "",
    "[RUN]": "RUN is a stored run's id, the beginning of it, or latest (the default). ",
    "RESULTS": "RESULTS is a file that --fairness-json wrote. ",
}


def _or_help(
    parser: argparse.ArgumentParser, run: Callable[[argparse.ArgumentParser, Sequence[str]], int]
) -> Callable[[argparse.Namespace], int]:
    """Run a command, or show its own usage: pytest would show its own."""

    def command(chosen: argparse.Namespace) -> int:
        if {"-h", "--help"} & set(chosen.arguments):
            parser.print_help()
            return 0
        return run(parser, chosen.arguments)

    return command


def _certify(_: argparse.ArgumentParser, arguments: Sequence[str]) -> int:
    from pytest_fairness.session.commands import certify

    return certify(arguments)


def _plan(_: argparse.ArgumentParser, arguments: Sequence[str]) -> int:
    from pytest_fairness.session.commands import plan

    return plan(arguments)


def _verify(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> int:
    from pytest_fairness.session.commands import verify

    if not arguments or arguments[0].startswith("-"):
        parser.error("RESULTS is missing: name a file that --fairness-json wrote")
    return verify(arguments[0], arguments[1:])

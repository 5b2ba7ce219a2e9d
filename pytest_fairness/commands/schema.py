"""The command for editors of suites without Python."""

from __future__ import annotations

import argparse

from pytest_fairness.commands.parsing import Commands


def add(commands: Commands) -> None:
    """Declare it."""
    schema = commands.add_parser("schema", help="print the JSON schema of *.probe.yaml, for editors")
    schema.set_defaults(run=_schema)


def _schema(_: argparse.Namespace) -> None:
    from pytest_fairness.declared.checking import schema_text

    print(schema_text(), end="")

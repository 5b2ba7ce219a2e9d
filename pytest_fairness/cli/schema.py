"""``pytest-fairness schema``: the JSON schema of suites without Python."""

from __future__ import annotations

import argparse

from pytest_fairness.cli.arguments import Commands, add_command


def add(commands: Commands) -> None:
    """Declare the command."""
    schema = add_command(commands, "schema", "print the JSON schema of *.probe.yaml, for editors")
    schema.set_defaults(run=_schema)


def _schema(_: argparse.Namespace) -> None:
    import json

    from pytest_fairness.declarative.validation import editor_schema

    print(json.dumps(editor_schema(), indent=2, ensure_ascii=False))

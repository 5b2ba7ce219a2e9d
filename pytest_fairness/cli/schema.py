"""``pytest-fairness schema``: the JSON schema of suites without Python, and that of results files."""

from __future__ import annotations

import argparse

from pytest_fairness.cli.arguments import Commands, add_command


def add(commands: Commands) -> None:
    """Declare the command."""
    schema = add_command(commands, "schema", "print the JSON schema of *.probe.yaml, for editors")
    schema.add_argument("--results", action="store_true", help="print that of results files (--fairness-json)")
    schema.set_defaults(run=_schema)


def _schema(arguments: argparse.Namespace) -> None:
    from pytest_fairness.core import json_text as json
    from pytest_fairness.core.results import results_schema
    from pytest_fairness.declarative.validation import editor_schema

    print(json.dumps(results_schema() if arguments.results else editor_schema(), indent=2, ensure_ascii=False))

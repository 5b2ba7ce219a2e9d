"""``pytest-fairness audit``: published audits, judged again from their recorded answers."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fairness import FairnessError
from pytest_fairness.extending import Commands, add_command, number_argument
from pytest_fairness.extending import json_text as json

if TYPE_CHECKING:
    from pytest_fairness.records.audits.audit import Audit

_EXAMPLES = """examples:
  pytest-fairness audit bloomberg 2024-openai-gpt-hiring-racial-discrimination
  pytest-fairness audit open-bbq LLM-Bias-Benchmark --items BBQ/data
  pytest-fairness audit implicit llm-implicit-bias
  pytest-fairness audit dialect rm-dialect-biases
  pytest-fairness audit agentfairbench AgentFairBench/DIR
  pytest-fairness audit bloomberg DIR --json audit.json --chart audit.svg
"""


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(commands, "audit", "judge a published audit again from its recorded answers")
    parser.epilog, parser.formatter_class = _EXAMPLES, argparse.RawDescriptionHelpFormatter
    audits = parser.add_subparsers(required=True, metavar="AUDIT")
    rankings = audits.add_parser("bloomberg", help="rankings of equal resumes under names of several groups")
    rankings.set_defaults(run=_rankings)
    bbq = audits.add_parser("open-bbq", help="answers to BBQ in several formats")
    bbq.add_argument("--items", type=Path, metavar="DIR", help="BBQ's items (*.jsonl), for their templates")
    bbq.set_defaults(run=_open_bbq)
    dialect = audits.add_parser("dialect", help="scores of answers in African American and in standard English")
    dialect.set_defaults(run=_dialect)
    flips = audits.add_parser("agentfairbench", help="decisions on equal files under names of several groups")
    flips.set_defaults(run=_flips)
    implicit = audits.add_parser("implicit", help="names of two groups, written beside words")
    implicit.set_defaults(run=_implicit)
    for command, bound in ((bbq, 0.1), (implicit, 0.2), (dialect, 0.03), (flips, 0.1)):
        text = f"largest fair figure ({bound:g})"
        command.add_argument("--bound", type=number_argument, default=bound, metavar="SCORE", help=text)
    for command in (rankings, bbq, flips):
        command.add_argument("--published", type=Path, metavar="PATH", help="the published figures (default: in DIR)")
    for command in (rankings, bbq, implicit, dialect, flips):
        command.add_argument("folder", type=Path, metavar="DIR", help="the folder of the download")
        command.add_argument(
            "--json", type=Path, metavar="PATH", help="write figures, intervals and verdicts to this file"
        )
        command.add_argument("--chart", type=Path, metavar="PATH", help="write the intervals as a picture (SVG)")


def _rankings(options: argparse.Namespace) -> int:
    from pytest_fairness.records.audits.rankings import audit_rankings

    return _report(audit_rankings(options.folder, options.published), options)


def _open_bbq(options: argparse.Namespace) -> int:
    from pytest_fairness.records.audits.open_bbq import audit_open_bbq

    audit = audit_open_bbq(options.folder, items=options.items, published=options.published, bound=options.bound)
    return _report(audit, options)


def _implicit(options: argparse.Namespace) -> int:
    from pytest_fairness.records.audits.implicit import audit_implicit

    return _report(audit_implicit(options.folder, bound=options.bound), options)


def _dialect(options: argparse.Namespace) -> int:
    from pytest_fairness.records.audits.dialect import audit_dialect

    return _report(audit_dialect(options.folder, bound=options.bound), options)


def _flips(options: argparse.Namespace) -> int:
    from pytest_fairness.records.audits.flips import audit_flips

    return _report(audit_flips(options.folder, published=options.published, bound=options.bound), options)


def _report(audit: Audit, options: argparse.Namespace) -> int:
    """Print an audit and write its files; return 1 if a published figure is not reproduced, else 0.

    Raises:
        FairnessError: The audit has no figure, which must not pass for a reproduced one.
    """
    from pytest_fairness.extending import escape_controls, write_text
    from pytest_fairness.records.audits.audit import chart

    if not audit.figures:
        raise FairnessError(f"{options.folder} has no figure to judge: {'; '.join(audit.notes)}")
    for line in audit.lines():
        print(escape_controls(line))
    if options.json:
        write_text(options.json, f"{json.dumps(audit.to_json(), ensure_ascii=False, indent=1)}\n")
    if options.chart:
        write_text(options.chart, chart(audit))
    return 0 if audit.is_equal else 1

"""``pytest-fairness audit``: published audits, judged again from their recorded answers."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from pytest_fairness.extending import Commands, add_command, number_argument
from pytest_fairness.extending import json_text as json
from pytest_fairness.records.audits.public_audits import AUDITS, PublicAudit

_OPTIONS = {
    "items": ("DIR", "BBQ's items (*.jsonl), for their templates"),
    "published": ("PATH", "the published figures (default: in DIR)"),
}


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(commands, "audit", "judge a published audit again from its recorded answers")
    audits = parser.add_subparsers(required=True, metavar="AUDIT")
    for audit in AUDITS.values():
        command = audits.add_parser(audit.name, help=audit.title, description=f"{audit.title}: {audit.source}")
        command.add_argument("folder", type=Path, metavar="DIR", help=f"the folder of the download: {audit.needs}")
        command.add_argument(
            "--bound", type=number_argument, metavar="SCORE", help=f"bound of a fair figure ({audit.bound:g})"
        )
        for name in audit.options:
            metavar, text = _OPTIONS[name]
            command.add_argument(f"--{name}", type=Path, metavar=metavar, help=text)
        command.add_argument("--json", type=Path, metavar="PATH", help="file of figures, intervals and verdicts")
        command.add_argument("--chart", type=Path, metavar="PATH", help="picture of the intervals (SVG)")
        command.set_defaults(run=partial(_judge, audit))


def _judge(about: PublicAudit, options: argparse.Namespace) -> int:
    """Print an audit and write its files; return 1 if a published figure is not reproduced, else 0."""
    from pytest_fairness.extending import escape_controls, write_text
    from pytest_fairness.records.audits.audit import chart, judge

    named = {name: getattr(options, name) for name in about.options}
    audit = judge(about, options.folder, bound=options.bound, **named)
    for line in audit.lines():
        print(escape_controls(line))
    if options.json:
        write_text(options.json, f"{json.dumps(audit.to_json(), ensure_ascii=False, indent=1)}\n")
    if options.chart:
        write_text(options.chart, chart(audit))
    return 0 if audit.is_equal else 1

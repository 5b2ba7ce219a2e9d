"""``pytest-fairness vary``: the words in a file of prompts that counterfactuals can vary."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_fairness.cli.arguments import Commands, add_command
from pytest_fairness.core import json_text as json


def add(commands: Commands) -> None:
    """Declare the command."""
    vary = add_command(commands, "vary", "show which words of prompts can be varied, and where grammar would break")
    vary.add_argument("file", type=Path, metavar="FILE", help="a text file, a prompt a line, or a JSONL file")
    vary.add_argument("--language", default="en", help="en (default), de or es")
    vary.add_argument("--out", type=Path, metavar="FILE", help="write the variants of each text, as JSON lines")
    vary.set_defaults(run=_vary)


def _vary(options: argparse.Namespace) -> None:
    from pytest_fairness.core.output_files import write_text
    from pytest_fairness.counterfactual.detection import read_texts, report, variants_or_reasons
    from pytest_fairness.report.escaping import escape_controls

    texts = read_texts(options.file, options.language)
    for line in report(options.file, texts):
        print(escape_controls(line))
    if options.out is None:
        return
    lines = []
    for text, variants in variants_or_reasons(texts, options.language):
        if isinstance(variants, str):
            print(escape_controls(f"{options.file}:{text.line}: not written out: {variants}"))
        else:
            record = {"line": text.line, "template": text.template, "variants": variants}
            lines.append(json.dumps(record, ensure_ascii=False))
    write_text(options.out, "".join(f"{line}\n" for line in lines))
    print(f"variants of {len(lines):,} texts written to {options.out}")

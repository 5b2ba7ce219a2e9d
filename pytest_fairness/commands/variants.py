"""The command that tells what in a file of prompts can be varied."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from pytest_fairness.commands.parsing import Commands


def add(commands: Commands) -> None:
    """Declare it."""
    vary = commands.add_parser("vary", help="what in a file of prompts can be varied, and where grammar would break")
    vary.add_argument("file", type=Path, metavar="FILE", help="a text file, a prompt a line, or a JSONL file")
    vary.add_argument("--language", default="en", help="en (default), de or es")
    vary.add_argument("--out", type=Path, metavar="FILE", help="write the variants of each text, as JSON lines")
    vary.set_defaults(run=_vary)


def _vary(chosen: argparse.Namespace) -> None:
    from pytest_fairness.report.files import write_text
    from pytest_fairness.report.texts import visible
    from pytest_fairness.variants.prompt_files import read_texts, report, written_out

    texts = read_texts(chosen.file, chosen.language)
    for line in report(chosen.file, texts):
        print(visible(line))
    if chosen.out is None:
        return
    lines = []
    for text, found in written_out(texts, chosen.language):
        if isinstance(found, str):
            print(visible(f"{chosen.file}:{text.line}: not written out: {found}"))
        else:
            told = {"line": text.line, "template": text.template, "variants": found}
            lines.append(json.dumps(told, ensure_ascii=False))
    write_text(chosen.out, "".join(f"{line}\n" for line in lines))
    print(f"variants of {len(lines):,} texts written to {chosen.out}")

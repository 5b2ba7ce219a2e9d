"""``pytest-fairness vary``: the variants of a suite's prompts, or the words in a file of prompts that can be varied."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pytest_fairness.cli.arguments import Commands, add_command
from pytest_fairness.core import json_text as json

_SUITES = (".py", ".probe.yaml", ".probe.yml", ".probe.jsonl")
"""The ends of files that declare probes; a folder holds them too."""


def add(commands: Commands) -> None:
    """Declare the command."""
    vary = add_command(
        commands,
        "vary",
        "show the variants of a suite's prompts, or which words of prompts can be varied",
        "Of a suite, its folder or a file of it: show a few prompts of each probe in each variant, and the confounds "
        "of its design. Of a file of prompts: show which words can be varied, and where grammar would break.",
    )
    vary.add_argument(
        "file", type=Path, metavar="PATH", help="a suite, or a text file, a prompt a line, or a JSONL file"
    )
    vary.add_argument("--language", default="en", help="of a file of prompts: en (default), de or es")
    vary.add_argument("--out", type=Path, metavar="FILE", help="write the variants of each text, as JSON lines")
    vary.set_defaults(run=_vary)


def _vary(options: argparse.Namespace) -> None:
    from pytest_fairness.report.escaping import escape_controls

    if options.file.is_dir() or options.file.name.endswith(_SUITES):
        from pytest_fairness.plugin.collection.variants import read_suite

        suite = read_suite(options.file)
        for line in suite.lines():
            print(escape_controls(line))
        if options.out is not None:
            _write(options.out, suite.records(), "prompts")
        return
    from pytest_fairness.counterfactual.detection import read_texts, report, variants_or_reasons

    texts = read_texts(options.file, options.language)
    for line in report(options.file, texts):
        print(escape_controls(line))
    if options.out is None:
        return
    records = []
    for text, variants in variants_or_reasons(texts, options.language):
        if isinstance(variants, str):
            print(escape_controls(f"{options.file}:{text.line}: not written out: {variants}"))
        else:
            records.append({"line": text.line, "template": text.template, "variants": variants})
    _write(options.out, records, "texts")


def _write(path: Path, records: Iterable[Mapping[str, Any]], noun: str) -> None:
    from pytest_fairness.core.output_files import write_text

    lines = [json.dumps(record, ensure_ascii=False) for record in records]
    write_text(path, "".join(f"{line}\n" for line in lines))
    print(f"variants of {len(lines):,} {noun} written to {path}")

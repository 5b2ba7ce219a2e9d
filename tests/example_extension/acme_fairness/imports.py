"""The import ``lines``: ``pytest-fairness import lines ANSWERS.txt --out FILE``."""

import json
from argparse import ArgumentParser, Namespace
from pathlib import Path

from pytest_fairness import FairnessError
from pytest_fairness.extending import Importer


class LinesImport(Importer):
    """Recorded answers, one a line."""

    help = "answers in a text file, one a line"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("answers", type=Path)

    def convert(self, out: Path, arguments: Namespace) -> list[str]:
        lines = arguments.answers.read_text(encoding="utf-8").splitlines()
        if not lines:
            raise FairnessError(f"{arguments.answers} is empty: name a file with an answer a line")
        records = [{"metadata": {"line": number}, "text": text} for number, text in enumerate(lines, 1)]
        out.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
        return [f"{len(records)} answers written to {out}"]

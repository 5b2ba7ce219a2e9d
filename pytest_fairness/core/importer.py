"""The base class of imports: extensions of the group ``pytest_fairness.imports``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from pytest_fairness.core.errors import FairnessError


def write_lines(out: Path, lines: Iterable[str]) -> None:
    """Write the lines of a replay file.

    Raises:
        FairnessError: The file cannot be written.
    """
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    except OSError as error:
        raise FairnessError(f"{out} cannot be written: {error.strerror}") from None


class Importer(ABC):
    """Base class of imports: ``pytest-fairness import NAME ... --out FILE`` converts records to a replay file.

    A line of a replay file is ``{"metadata": {...}, "text": "..."}``: the answer to the prompt with this metadata.

    >>> class LinesImport(Importer):
    ...     help = "answers in a text file, one a line"
    ...     def add_arguments(self, parser):
    ...         parser.add_argument("file", type=Path)
    ...     def convert(self, out, arguments):
    ...         import json
    ...         lines = arguments.file.read_text().splitlines()
    ...         records = [{"metadata": {"line": n}, "text": text} for n, text in enumerate(lines)]
    ...         out.write_text("".join(json.dumps(record) + "\\n" for record in records))
    ...         return [f"{len(lines)} answers written to {out}"]
    """

    help: ClassVar[str]
    """The help of the command in one line: the records that are imported."""
    out: ClassVar[str] = "the replay file to write"
    """The help of ``--out``."""
    line_start: ClassVar[str] = '{"metadata": '
    """The beginning of every line that is written: a file of another kind is not overwritten."""

    @abstractmethod
    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments of the command, except ``--out``.

        Args:
            parser: The parser of the command.
        """

    @abstractmethod
    def convert(self, out: Path, arguments: Namespace) -> Iterable[str]:
        """Write the file, and return the lines that the command prints.

        Args:
            out: The file; it does not exist, or begins with `line_start`.
            arguments: The parsed arguments.

        Raises:
            FairnessError: The records cannot be read, or the file cannot be written.
        """

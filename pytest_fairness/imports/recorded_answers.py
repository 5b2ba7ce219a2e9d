"""Scored answers of another tool, and the table that is made of them: one JSON object a line."""

from __future__ import annotations

import tempfile
from abc import abstractmethod
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from pytest_fairness.core import json_text as json
from pytest_fairness.core.digests import digest
from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.core.formatting import counted
from pytest_fairness.core.importer import Importer
from pytest_fairness.core.json_objects import finite_value
from pytest_fairness.core.output_files import partial_file
from pytest_fairness.core.tool_calls import ToolCall

SAMPLE, EPOCH = "sample", "epoch"
"""The columns that identify an answer: the question, and the repetition, from 1."""
ACTIONS = "actions"
"""The column of tool calls; it exists only if an answer has any."""
_LONGEST_TEXT = 200
"""The most characters of a score or group: a column with longer values is text, such as the prompt."""
_MOST_COLUMNS = 500
_DEEPEST = 4
"""The deepest level of nested objects that becomes columns."""
_SHOWN = 12
"""Names that a message lists."""


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """One scored answer in a file of another tool: a row of the table."""

    where: str
    """The file and the line."""
    sample: str
    epoch: int | None = None
    """The repetition, from 1; None where the file does not number them, so that they are counted."""
    scores: Mapping[str, Any] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    """The fields of the sample: its groups are among them. Objects in it are columns such as ``a.b``."""
    ungraded: str = ""
    """The reason that its scores do not count, such as "failed"; empty where they do."""
    parts: Mapping[str, str] = field(default_factory=dict)
    """The fields by which a file holds several tables in one, such as ``{"filter": "strict-match"}``."""
    actions: Sequence[ToolCall] | None = None
    """Its calls of tools, in order; None where the file does not state them."""


@dataclass(frozen=True, slots=True)
class ImportedTable:
    """The size and the columns of a written table."""

    rows: int
    scores: tuple[str, ...]
    attributes: tuple[str, ...]
    """The columns that hold fields of a sample."""
    notes: tuple[str, ...]
    """Lines about answers that are ungraded, and columns that are left out."""


def write_table(
    out: Path, answers: Iterable[RecordedAnswer], source: str, selected: Mapping[str, str] | None = None
) -> ImportedTable:
    """Write a table with a row for each answer, whole or not at all.

    The answers are read once, and kept on disk until all columns are known.

    Args:
        out: The file, which `Measured.from_table` reads with ``item="sample"``.
        answers: The rows.
        source: The names of the files that hold them, for messages.
        selected: The value of each part that is kept, where the file has several.

    Raises:
        FairnessError: There is no score, an answer occurs twice, or the answers are of several parts.
    """
    builder = _TableBuilder(source, dict(selected or {}))
    try:
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="backslashreplace") as spool:
            for answer in answers:
                builder.add(answer, spool)
            table = builder.finish()
            spool.seek(0)
            with partial_file(out) as partial, partial.open("w", encoding="utf-8", errors="backslashreplace") as file:
                for line in spool:
                    file.write(json.dumps(builder.row(json.loads(line)), ensure_ascii=False) + "\n")
    except OSError as error:
        raise FairnessError(f"{out} cannot be written: {error.strerror or error}") from None
    return table


class _TableBuilder:
    """Builder of a table's columns, row by row."""

    def __init__(self, source: str, selected: dict[str, str]) -> None:
        self._source = source
        self._selected = selected
        self._parts: dict[str, dict[str, None]] = {}
        self._kept_parts: dict[str, dict[str, None]] = {}
        self._scores: dict[str, None] = {}
        self._attributes: dict[str, None] = {}
        self._unusable: dict[tuple[str, str], str] = {}
        self._renamed: dict[str, str] = {}
        self._epochs: Counter[str] = Counter()
        self._seen: dict[int, int] = {}
        self._ungraded: Counter[str] = Counter()
        self._has_actions = False
        self._rows = 0

    def add(self, answer: RecordedAnswer, spool: IO[str]) -> None:
        """Write an answer to the spool, if it is of the selected parts."""
        for name, value in answer.parts.items():
            self._parts.setdefault(name, {})[value] = None
        if any(answer.parts.get(name, value) != value for name, value in self._selected.items()):
            return
        for name, value in answer.parts.items():
            self._kept_parts.setdefault(name, {})[value] = None
        if not answer.sample.strip():
            raise FairnessError(f"{answer.where}: the id of its sample is empty")
        scores = self._columns(answer.scores, self._scores, "score")
        attributes = self._columns(answer.attributes, self._attributes, "field")
        if answer.ungraded:
            self._ungraded[answer.ungraded] += 1
            scores = dict.fromkeys(scores)
        self._rows += 1
        epoch = self._epoch(answer)
        calls = None if answer.ungraded or answer.actions is None else [call.to_json() for call in answer.actions]
        self._has_actions |= bool(calls)
        spool.write(json.dumps([answer.sample, epoch, scores, attributes, calls], ensure_ascii=False) + "\n")

    def finish(self) -> ImportedTable:
        """Check what was collected, and return its size and columns."""
        self._check_parts()
        for kind, name in self._unusable:
            del (self._scores if kind == "score" else self._attributes)[name]
        if not self._rows:
            raise FairnessError(f"{self._source} holds no sample")
        if not self._scores:
            notes = "; ".join(self._notes())
            raise FairnessError(f"{self._source} holds no score that can be measured{f': {notes}' if notes else ''}")
        if self._has_actions and ACTIONS in self._scores:
            raise FairnessError(f"{self._source} has calls of tools and a score {ACTIONS!r}: rename the score")
        reserved = {SAMPLE, EPOCH, *self._scores, *([ACTIONS] if self._has_actions else [])}
        self._renamed = {name: f"metadata.{name}" if name in reserved else name for name in self._attributes}
        return ImportedTable(self._rows, tuple(self._scores), tuple(self._renamed.values()), tuple(self._notes()))

    def row(self, spooled: Sequence[Any]) -> dict[str, Any]:
        """Return a row with all columns of the table."""
        sample, epoch, scores, attributes, calls = spooled
        return {
            SAMPLE: sample,
            EPOCH: epoch,
            **{column: attributes.get(name) for name, column in self._renamed.items()},
            **{name: scores.get(name) for name in self._scores},
            **({ACTIONS: calls} if self._has_actions else {}),
        }

    def _columns(self, values: Mapping[str, Any], columns: dict[str, None], kind: str) -> dict[str, Any]:
        flat = dict(_flatten(values))
        for name, value in flat.items():
            if isinstance(value, list):
                self._unusable.setdefault((kind, name), "lists")
            elif isinstance(value, str) and len(value) > _LONGEST_TEXT:
                self._unusable.setdefault((kind, name), f"texts of more than {_LONGEST_TEXT} characters")
        columns |= dict.fromkeys(flat)
        if len(columns) > _MOST_COLUMNS:
            raise FairnessError(
                f"{self._source} has more than {_MOST_COLUMNS} different {kind}s: no two samples are alike"
            )
        return {name: finite_value(value) for name, value in flat.items() if (kind, name) not in self._unusable}

    def _epoch(self, answer: RecordedAnswer) -> int:
        if answer.epoch is None:
            self._epochs[answer.sample] += 1
            return self._epochs[answer.sample]
        key = int(digest(repr((answer.epoch, answer.sample, answer.parts)))[:16], 16)  # takes less memory than the id
        if key in self._seen:
            raise FairnessError(
                f"{answer.where}: sample {answer.sample!r:.80}, epoch {answer.epoch}, is answer {self._seen[key]:,} "
                "of the table already: remove one of them"
            )
        self._seen[key] = self._rows
        return answer.epoch

    def _check_parts(self) -> None:
        for name, value in self._selected.items():
            values = self._parts.get(name)
            if values is None:
                raise FairnessError(f"--select {name}={value}: there is no {name!r}; {did_you_mean(name, self._parts)}")
            if value not in values:
                raise FairnessError(f"--select {name}={value}: no {name} is {value!r}; {did_you_mean(value, values)}")
        for name, values in self._kept_parts.items():
            if len(values) > 1:
                raise FairnessError(
                    f"{self._source} has {len(values)} values of {name}, {_join_names(values)}: a table holds one; "
                    f"add --select {name}=VALUE"
                )

    def _notes(self) -> Iterator[str]:
        for reason, count in self._ungraded.items():
            yield f"{count:,} of {self._rows:,} answers {reason}: they are ungraded"
        for (kind, name), reason in self._unusable.items():
            if kind == "score":
                yield f"score {name} is left out: it holds {reason}"
        repeated = sum(1 for count in self._epochs.values() if count > 1)
        if repeated:
            yield f"{repeated:,} samples stand there several times: they are counted as epochs"


class TableImporter(Importer):
    """Base class of imports that write a table of scored answers.

    >>> class VotesImport(TableImporter):
    ...     help = "votes, one a line"
    ...     def add_files(self, parser):
    ...         parser.add_argument("file", type=Path)
    ...     def read(self, arguments, notes):
    ...         for number, line in enumerate(arguments.file.read_text().splitlines(), 1):
    ...             sample, gender, vote = line.split()
    ...             scores, groups = {"yes": vote == "yes"}, {"gender": gender}
    ...             yield RecordedAnswer(f"{arguments.file}:{number}", sample, scores=scores, attributes=groups)
    """

    out = "the table to write, .jsonl"
    line_start = f'{{"{SAMPLE}": '
    parts: str = ""
    """The fields that ``--select`` chooses by, for its help; empty where a file has one table."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the files that are read, and ``--select``."""
        self.add_files(parser)
        if self.parts:
            parser.add_argument(
                "--select",
                action="append",
                default=[],
                metavar="NAME=VALUE",
                help=f"which answers of a file that holds several tables: by {self.parts} (repeatable)",
            )

    def convert(self, out: Path, arguments: Namespace) -> list[str]:
        """Write the table, and return lines that describe it.

        Args:
            out: The table to write, whose name ends in .jsonl.
            arguments: The parsed arguments.

        Raises:
            FairnessError: The name ends otherwise, or a file cannot be read or written.
        """
        if out.suffix not in (".jsonl", ".ndjson"):
            raise FairnessError(f"--out is {out}: the table is JSON, a row a line: let its name end in .jsonl")
        notes: list[str] = []
        files = arguments.file if isinstance(arguments.file, list) else [arguments.file]
        selected = _selected(getattr(arguments, "select", ()))
        table = write_table(out, self.read(arguments, notes), _join_names(map(str, files)), selected)
        summary = f"{counted(table.rows, 'row')} written to {out}; scores: {_join_names(table.scores)}"
        return [
            *notes,
            *table.notes,
            f"{summary}; groups among: {_join_names(table.attributes) or 'none'}",
            f"judge them by a suite, NAME.probe.yaml: `table: {{file: {out.name}, groups: [...]}}` and `thresholds`",
        ]

    @abstractmethod
    def add_files(self, parser: ArgumentParser) -> None:
        """Declare ``file``: the file that is read, or a list of them."""

    @abstractmethod
    def read(self, arguments: Namespace, notes: list[str]) -> Iterable[RecordedAnswer]:
        """Yield the answers.

        Args:
            arguments: The parsed arguments.
            notes: Lines about the files as a whole, to be added to.

        Raises:
            FairnessError: A file cannot be read; the message has the line.
        """


def _selected(texts: Sequence[str]) -> dict[str, str]:
    chosen: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise FairnessError(f"--select is {text!r}: write NAME=VALUE")
        if chosen.setdefault(name, value) != value:
            raise FairnessError(f"--select names two values of {name!r}: a table holds one")
    return chosen


def _flatten(values: Mapping[str, Any], prefix: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping) and depth < _DEEPEST:
            yield from _flatten(value, f"{prefix}{name}.", depth + 1)
        else:
            yield f"{prefix}{name}", [] if isinstance(value, Mapping) else value


def _join_names(names: Iterable[str]) -> str:
    listed = list(names)
    return ", ".join(listed[:_SHOWN]) + (f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else "")

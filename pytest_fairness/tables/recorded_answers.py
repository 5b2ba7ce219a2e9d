"""Scored answers of another tool, and the table that is made of them: one JSON object a line."""

from __future__ import annotations

import tempfile
from abc import abstractmethod
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from pytest_fairness.stats.table_columns import EPOCH, OBSERVATIONAL, STUDY_DESIGN

SAMPLE = "sample"
"""The column of the question; with that of the repetition it identifies an answer."""
ACTIONS = "actions"
"""The column of tool calls; it exists only if an answer has any."""
UNGRADED = "ungraded"
"""The column of why the other tool could not grade an answer; it exists only if it could not grade one."""
MESSAGES = "messages"
"""The column of the request: messages with role and content."""
ANSWER = "answer"
"""The column of the answer's text, which graders read; it and the next ones exist only if a row has a text."""
FINISH_REASON = "finish_reason"
"""The column of why an answer ended."""
SERVED_BY = "served_by"
"""The column of the model that answered, as its provider reports it."""
TEXTS = (MESSAGES, ANSWER, FINISH_REASON, SERVED_BY)
_LONGEST_TEXT = 200
"""The most characters of a score or a field: of a longer field the beginning and a digest are kept."""
_BEGINNING = 60
"""The characters that are kept of a longer text."""
_MOST_COLUMNS = 500
_DEEPEST = 4
"""The deepest level of nested objects that becomes columns."""
_SHOWN = 12
"""Names that a message lists."""
_LONGEST_REASON = 160
_MOST_GROUPS = 10
"""The most values of a field by which ungraded answers are counted: others are no groups."""
_MOST_FIELDS = 5
"""The most fields by which ungraded answers are counted in lines of their own."""


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
    ungraded: str | Mapping[str, str] = ""
    """The reason that its scores do not count, such as "failed", with the tool's own words behind a colon: "were not
    graded: grader_failed"; by score where others count. Empty where all do."""
    parts: Mapping[str, str] = field(default_factory=dict)
    """The fields by which a file holds several tables in one, such as ``{"filter": "strict-match"}``."""
    actions: Sequence[ToolCall] | None = None
    """Its calls of tools, in order; None where the file does not state them."""
    messages: Sequence[Mapping[str, str]] | None = None
    """The request, the user's message last; None where the file does not state it."""
    text: str | None = None
    """The text of the answer, whole; None where the file does not state it."""
    finish_reason: str = ""
    """The provider's word for why the answer ended."""
    served_by: str | None = None
    """The model that answered, as its provider reports it; None where the file does not state it."""


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
        self._scores: Counter[str] = Counter()
        """The answers with each score, those whose score does not count among them."""
        self._attributes: Counter[str] = Counter()
        """The answers with a value of each field."""
        self._unusable: dict[str, str] = {}
        """Why a score cannot be measured."""
        self._shortened: Counter[str] = Counter()
        self._joined: Counter[str] = Counter()
        self._renamed: dict[str, str] = {}
        self._epochs: Counter[str] = Counter()
        self._seen: dict[int, int] = {}
        self._ungraded: dict[str, Counter[str]] = {}
        """By reason, the number of answers by the tool's own words."""
        self._groups: dict[str, dict[str, list[int]] | None] = {}
        """By field and value, the number of ungraded answers and of all; None for a field that has many values."""
        self._has_actions = False
        self._has_texts = False
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
        scores = self._read_scores(answer)
        reasons = self._reasons(answer, scores)
        self._count(self._scores, {**scores, **reasons}, "score")
        scores = {name: None if name in reasons else value for name, value in scores.items()}
        attributes = self._read_attributes(answer)
        self._count(self._attributes, attributes, "field")
        self._rows += 1
        self._count_groups(attributes, is_ungraded=bool(reasons))
        epoch = self._epoch(answer)
        withheld = answer.ungraded and isinstance(answer.ungraded, str)
        calls = None if withheld or answer.actions is None else [call.to_json() for call in answer.actions]
        self._has_actions |= bool(calls)
        reason = "; ".join(dict.fromkeys(reasons.values()))
        self._has_texts |= answer.text is not None or answer.messages is not None
        texts = [answer.messages, None if withheld else answer.text, answer.finish_reason or None, answer.served_by]
        spooled = [answer.sample, epoch, scores, attributes, calls, reason, texts]
        spool.write(json.dumps(spooled, ensure_ascii=False) + "\n")

    def finish(self) -> ImportedTable:
        """Check what was collected, and return its size and columns."""
        self._check_parts()
        for name in self._unusable:
            self._scores.pop(name, None)
        if not self._rows:
            raise FairnessError(f"{self._source} holds no sample")
        if not self._scores:
            notes = "; ".join(self._notes())
            raise FairnessError(f"{self._source} holds no score that can be measured{f': {notes}' if notes else ''}")
        added = [*([ACTIONS] if self._has_actions else []), *([UNGRADED] if self._ungraded else [])]
        added += TEXTS if self._has_texts else []
        for name in added:
            if name in self._scores:
                raise FairnessError(f"{self._source} has a score {name!r}, which is a column of every table: rename it")
        reserved = {SAMPLE, EPOCH, *self._scores, *added}
        self._renamed = {name: f"metadata.{name}" if name in reserved else name for name in self._attributes}
        return ImportedTable(self._rows, tuple(self._scores), tuple(self._renamed.values()), tuple(self._notes()))

    def row(self, spooled: Sequence[Any]) -> dict[str, Any]:
        """Return a row with all columns of the table."""
        sample, epoch, scores, attributes, calls, reason, texts = spooled
        return {
            SAMPLE: sample,
            EPOCH: epoch,
            **{column: attributes.get(name) for name, column in self._renamed.items()},
            **{name: scores.get(name) for name in self._scores},
            **(dict(zip(TEXTS, texts, strict=True)) if self._has_texts else {}),
            **({ACTIONS: calls} if self._has_actions else {}),
            **({UNGRADED: reason or None} if self._ungraded else {}),
        }

    def _read_scores(self, answer: RecordedAnswer) -> dict[str, Any]:
        scores = {name: finite_value(value) for name, value in _flatten(answer.scores)}
        for name, value in scores.items():
            if isinstance(value, list | dict):
                self._unusable.setdefault(name, "lists")
            elif isinstance(value, str) and len(value) > _LONGEST_TEXT:
                self._unusable.setdefault(name, f"texts of more than {_LONGEST_TEXT} characters")
        return {name: value for name, value in scores.items() if name not in self._unusable}

    def _read_attributes(self, answer: RecordedAnswer) -> dict[str, Any]:
        attributes: dict[str, Any] = {}
        for name, value in _flatten(answer.attributes):
            text = finite_value(value)
            if isinstance(text, list | dict):
                text = _joined(text)
                self._joined[name] += 1
            if isinstance(text, str) and len(text) > _LONGEST_TEXT:
                text = f"{' '.join(text[:_BEGINNING].split())}... {digest(text)[:16]}"
                self._shortened[name] += 1
            attributes[name] = text
        return attributes

    def _count(self, columns: Counter[str], values: Mapping[str, Any], kind: str) -> None:
        """Count the values of columns, which are known from their first one on."""
        for name, value in values.items():
            columns[name] += value is not None
        if len(columns) > _MOST_COLUMNS:
            raise FairnessError(
                f"{self._source} has more than {_MOST_COLUMNS} different {kind}s: no two samples are alike"
            )

    def _reasons(self, answer: RecordedAnswer, scores: Mapping[str, Any]) -> dict[str, str]:
        """Return why each score does not count, and count the reasons."""
        ungraded = answer.ungraded
        if isinstance(ungraded, str):
            ungraded = dict.fromkeys(scores, ungraded) if ungraded else {}
        else:  # a scorer with several values has one reason for all of them
            ungraded = {
                name: ungraded[key] for name in scores for key in ungraded if name == key or name.startswith(f"{key}.")
            }
        reasons = {name: " ".join(reason.split())[:_LONGEST_REASON] for name, reason in ungraded.items() if reason}
        parts = (reason.partition(": ") for reason in reversed(reasons.values()))
        for kind, words in {kind: words for kind, _, words in parts}.items():  # the first of each kind
            self._ungraded.setdefault(kind, Counter())[words] += 1
        return reasons

    def _count_groups(self, attributes: Mapping[str, Any], *, is_ungraded: bool) -> None:
        for name, value in attributes.items():
            counts = self._groups.setdefault(name, {})
            if counts is None or value is None:
                continue
            if value not in counts and len(counts) == _MOST_GROUPS:
                self._groups[name] = None
                continue
            tally = counts.setdefault(value, [0, 0])
            tally[0] += is_ungraded
            tally[1] += 1

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
        yield from self._ungraded_notes()
        for name, reason in self._unusable.items():
            yield f"score {name} is left out: it holds {reason}"
        for columns, kind in ((self._scores, "scores"), (self._attributes, "fields")):
            missing = [f"{name} ({self._rows - count:,})" for name, count in columns.items() if count < self._rows]
            if missing:
                yield f"{kind} without a value in some of {counted(self._rows, 'row')}: {_join_names(missing)}"
        if self._shortened:
            names = _join_names(f"{name} ({count:,})" for name, count in self._shortened.items())
            yield f"texts of more than {_LONGEST_TEXT} characters are kept as their beginning and a digest: {names}"
        if self._joined:
            names = _join_names(f"{name} ({count:,})" for name, count in self._joined.items())
            yield f"lists are kept as texts: {names}"
        repeated = sum(1 for count in self._epochs.values() if count > 1)
        if repeated:
            yield f"{repeated:,} samples stand there several times: they are counted as epochs"

    def _ungraded_notes(self) -> Iterator[str]:
        """Yield the number of ungraded answers by reason, with the tool's most frequent words, and by group."""
        for kind, words in self._ungraded.items():
            most_frequent = next((text for text, _ in words.most_common() if text), "")
            shown = f" ({most_frequent})" if most_frequent else ""
            yield f"{words.total():,} of {self._rows:,} answers {kind}{shown}: they are ungraded"
        groups = {
            name: counts
            for name, counts in self._groups.items()
            if self._ungraded
            and counts
            and len(counts) > 1
            and self._attributes[name] > len(counts)
            and name not in self._shortened
        }
        for name in sorted(groups, key=lambda name: -_spread(groups[name].values()))[:_MOST_FIELDS]:
            parts = [f"{value} {ungraded:,} of {total:,}" for value, (ungraded, total) in groups[name].items()]
            yield f"ungraded by {name}: {', '.join(parts)}"


def _spread(tallies: Iterable[Sequence[int]]) -> float:
    """Return the difference of the largest and the smallest ungraded share of groups."""
    shares = [ungraded / total for ungraded, total in tallies]
    return max(shares) - min(shares)


def _joined(value: Any) -> str:
    """Return a list or an object as a text: the only entry, entries joined by commas, or JSON.

    >>> _joined(["female"]), _joined(["F", "old"]), _joined([{"a": 1}])
    ('female', 'F, old', '[{"a": 1}]')
    """
    is_plain = isinstance(value, list) and all(isinstance(entry, str | int | float) for entry in value)
    if is_plain and not any("," in str(entry) for entry in value):
        return ", ".join(map(str, value))
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


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
    is_observational: bool = False
    """Whether nobody assigned groups to requests, so that verdicts say what such data cannot show."""

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
        answers = self.read(arguments, notes)
        if self.is_observational:
            design = {STUDY_DESIGN: OBSERVATIONAL}
            answers = (replace(answer, attributes={**answer.attributes, **design}) for answer in answers)
        table = write_table(out, answers, _join_names(map(str, files)), selected)
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
            yield f"{prefix}{name}", dict(value) if isinstance(value, Mapping) else value


def _join_names(names: Iterable[str]) -> str:
    listed = list(names)
    return ", ".join(listed[:_SHOWN]) + (f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else "")

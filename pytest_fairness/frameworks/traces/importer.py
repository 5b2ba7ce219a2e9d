"""The import ``traces``: an application's traces as a table with a row for each, and what they leave out."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pytest_fairness import FairnessError
from pytest_fairness.extending import counted, one_line
from pytest_fairness.frameworks.traces.attempts import Trace, TracedAttempt
from pytest_fairness.frameworks.traces.readers import ReadCounts, TraceLog, read_file
from pytest_fairness.frameworks.traces.spans import Span
from pytest_fairness.frameworks.traces.spool import SpanSpool
from pytest_fairness.tables import RecordedAnswer, TableImporter

_PEOPLE = ("user.id", "enduser.id", "session.id", "gen_ai.conversation.id")
"""Attributes by which traces belong together, in this order: an interval clusters by the first that some trace has."""
_SHORTEST_LIMIT = 128
_SHOWN = 4
_LONGEST_NAME = 60
_MOST_NAMES = 10_000
"""The most names of attributes that are kept for a hint."""
_OWN_COLUMNS = frozenset(
    (
        *("sample", "epoch", "trace", "model", "latency", "tokens_input", "tokens_output", "calls", "actions"),
        *("answer", "messages", "finish_reason", "served_by", "ungraded", "study_design", "sampling_probability"),
    )
)


class TracesImport(TableImporter):
    """The import ``traces``."""

    help = "traces of an application (OTLP, Phoenix, Langfuse), as a table with a row for each trace"
    is_observational = True

    def add_files(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "file", type=Path, nargs="+", metavar="FILE", help="traces: JSON, JSON Lines, CSV, Parquet or protobuf"
        )
        parser.add_argument(
            "--group",
            action="append",
            default=[],
            metavar="NAME=ATTRIBUTE",
            help="a column, and the attribute of spans or of their resource with its value, such as "
            "gender=user.gender; metadata.KEY and tags.KEY are read too (repeatable)",
        )
        parser.add_argument(
            "--item",
            metavar="ATTRIBUTE",
            help="the attribute by which intervals cluster; default: the first there of user.id, enduser.id, "
            "session.id, gen_ai.conversation.id, else the trace",
        )

    def read(self, arguments: Namespace, notes: list[str]) -> Iterator[RecordedAnswer]:
        columns = dict(_column(text) for text in arguments.group)
        counts, texts = ReadCounts(), _TextLengths()
        with SpanSpool() as spool:
            summary = _Summary(columns, counts, spool)
            for path in arguments.file:
                for entry in read_file(path, counts):
                    spool.add(entry)
                    texts.add(entry)
                    summary.see(entry)
            item = arguments.item or _item_attribute(spool)
            for spans in spool.traces():
                trace = Trace(spans, texts.limit)
                if not trace.is_of_model:
                    summary.skip(spans)
                    continue
                yield _answer(trace, columns, item, summary)
            notes += summary.notes(item, texts.limit)
            if not summary.traces:
                names = ", ".join(map(str, arguments.file))
                raise FairnessError(f"{names}: no trace of a model, an agent or a tool; {'; '.join(notes[:-1])}")


def _column(text: str) -> tuple[str, str]:
    name, equals, attribute = text.partition("=")
    if not equals or not name.isidentifier() or not attribute:
        raise FairnessError(f"--group is {text!r:.80}: write NAME=ATTRIBUTE, such as gender=user.gender")
    if name in _OWN_COLUMNS:
        raise FairnessError(f"--group {text:.80}: {name!r} is a column of every table of traces: take another name")
    return name, attribute


def _item_attribute(spool: SpanSpool) -> str:
    """Return the attribute of people that the most traces have, of equals the first; empty where none has any."""
    return spool.most_frequent(_PEOPLE)


class _TextLengths:
    """The lengths of texts, which show at how many characters a recorder has cut them off.

    OpenTelemetry cuts attributes at a limit, and marks none of them: several different texts then have the same length,
    that of the longest.
    """

    def __init__(self) -> None:
        self._longest = 0
        self._texts: set[int] = set()

    def add(self, entry: Span | TraceLog) -> None:
        for value in entry.attributes.values() if isinstance(entry, Span) else ():
            if isinstance(value, str) and len(value) >= max(self._longest, _SHORTEST_LIMIT):
                if len(value) > self._longest:
                    self._longest = len(value)
                    self._texts.clear()
                self._texts.add(hash(value))

    @property
    def limit(self) -> int | None:
        """The limit; None where the longest text stands alone, or has a length that nobody sets as one."""
        is_round = self._longest % 500 == 0 or self._longest & (self._longest - 1) == 0
        return self._longest if is_round and len(self._texts) > 1 else None


class _Summary:
    """Counts of what the traces hold, and of what they leave out."""

    def __init__(self, columns: Mapping[str, str], counts: ReadCounts, spool: SpanSpool) -> None:
        self._columns, self._read, self._spool = columns, counts, spool
        self._attributes: set[str] = set()
        self.traces = 0
        """The traces that are rows."""
        self._skipped: Counter[str] = Counter()
        self._unknown: Counter[str] = Counter()
        self._missing: Counter[str] = Counter()
        self._several: Counter[str] = Counter()
        self._samplings: Counter[float] = Counter()
        self._others: Counter[str] = Counter()

    def skip(self, spans: Iterable[Span]) -> None:
        """Count a trace without a span of a model, an agent, a tool or a retriever."""
        self._skipped[one_line(next(iter(spans)).name, _LONGEST_NAME)] += 1

    def add(self, attempt: TracedAttempt, values: Mapping[str, list[str]], *, has_item: bool) -> None:
        """Count the parts of an attempt."""
        self.traces += 1
        self._others["several roots"] += attempt.roots > 1
        self._unknown.update(one_line(name, _LONGEST_NAME) for name in attempt.unknown)
        for name, own in values.items():
            self._missing[name] += not own
            self._several[name] += len(own) > 1
        if attempt.sampling is not None and attempt.sampling < 1:
            self._samplings[attempt.sampling] += 1
        self._others["without an item"] += not has_item
        self._others["calls"] += not attempt.fault and attempt.text is None
        self._others["unexecuted"] += attempt.unexecuted
        self._others["asides"] += attempt.asides
        self._others["several models"] += attempt.models > 1
        self._others["without a request"] += not attempt.messages

    def see(self, entry: Span | TraceLog) -> None:
        """Keep the names of attributes, of which a misspelt one is no group."""
        if isinstance(entry, Span) and len(self._attributes) < _MOST_NAMES:
            self._attributes.update(entry.attributes, entry.resource)

    def _similar(self, attribute: str) -> str:
        names = get_close_matches(attribute, self._attributes, 1, cutoff=0.8)
        return f"; did you mean {one_line(names[0], _LONGEST_NAME)}?" if names else ""

    def notes(self, item: str, limit: int | None) -> Iterator[str]:
        """Yield the lines of the summary."""
        forms = ", ".join(f"{form} {number:,}" for form, number in self._read.forms.items()) or "none"
        skipped = self._skipped.total()
        yield f"{counted(self.traces + skipped, 'trace')} read; spans: {forms}"
        if skipped:
            names = _most(self._skipped)
            yield f"{skipped:,} traces have no span of a model, an agent or a tool, and are left out: {names}"
        if repeated := self._spool.repeated + self._spool.conflicting:
            yield (
                f"{repeated:,} spans stand there twice, {self._spool.conflicting:,} of them with other content: the "
                "first counts"
            )
        for what, number in self._read.unread.items():
            yield f"not read: {number:,} {what}"
        yield from self._read.remarks
        if self._unknown:
            yield f"{self._unknown.total():,} spans are of no known kind, and not read: {_most(self._unknown)}"
        if self._others["asides"]:
            yield f"{self._others['asides']:,} spans of evaluators, guardrails or embeddings are no part of an answer"
        yield from self._faults(limit)
        for name, attribute in self._columns.items():
            for count, what in ((self._missing, "no"), (self._several, "several values of")):
                if count[name]:
                    near = self._similar(attribute) if self._missing[name] == self.traces else ""
                    share = f"{count[name]:,} of {self.traces:,} traces have {what} {attribute}"
                    yield f"{share}: they are in no {name}{near}"
        yield from self._samples()
        if not item:
            yield "no trace has the id of a user or a session: intervals take traces for independent"
        elif self._others["without an item"]:
            yield f"intervals cluster by {item}; {self._others['without an item']:,} traces without it stand alone"
        else:
            yield f"intervals cluster by {item}"

    def _faults(self, limit: int | None) -> Iterator[str]:
        if limit is not None:
            yield f"several texts have {limit:,} characters, the most of all: their recorder has cut them off"
        if number := self._others["without a request"]:
            yield f"{number:,} traces have no text of a request"
        if number := self._others["calls"]:
            yield f"{number:,} traces have calls and no text of an answer: graders of texts leave them ungraded"
        if number := self._others["unexecuted"]:
            yield f"{number:,} calls were requested by a model, and no execution is recorded"
        if number := self._others["several roots"]:
            yield f"{number:,} traces have several roots with an answer: the row has the one that ended last"
        if number := self._others["several models"]:
            yield f"{number:,} traces have several models: the column has the one that answered"

    def _samples(self) -> Iterator[str]:
        if self._samplings:
            low, high = min(self._samplings), max(self._samplings)
            share = f"{low:.3g}" if low == high and self._samplings.total() == self.traces else f"from {low:.3g} up"
            yield (
                f"{self._samplings.total():,} traces are a sample, kept with a probability of {share}: rows are not "
                "weighted by it"
            )


def _most(names: Counter[str]) -> str:
    listed = [f"{name or '(no name)'} ({number:,})" for name, number in names.most_common(_SHOWN)]
    more = len(names) - _SHOWN
    return ", ".join(listed) + (f" and {more} more" if more > 0 else "")


def _answer(trace: Trace, columns: Mapping[str, str], item: str, summary: _Summary) -> RecordedAnswer:
    attempt = trace.attempt()
    values = {name: trace.values(attribute) for name, attribute in columns.items()}
    items = trace.values(item) if item else []
    summary.add(attempt, values, has_item=len(items) == 1)
    scores: dict[str, Any] = {
        "latency": attempt.seconds,
        **{f"tokens_{name}": count for name, count in attempt.tokens.items()},
        "calls": len(attempt.actions),
    }
    attributes: dict[str, Any] = {
        "trace": attempt.trace,
        "model": attempt.model or None,
        **{name: own[0] if len(own) == 1 else None for name, own in values.items()},
        **({"sampling_probability": attempt.sampling} if attempt.sampling is not None else {}),
    }
    return RecordedAnswer(
        f"trace {attempt.trace}",
        items[0] if len(items) == 1 and items[0].strip() else f"trace {attempt.trace}",
        None,
        scores,
        attributes,
        attempt.fault,
        {},
        attempt.actions,
        attempt.messages or None,
        attempt.text,
        attempt.finish_reason,
        attempt.served_by or None,
    )

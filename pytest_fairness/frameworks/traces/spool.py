"""Spans on disk, so that those of one trace come together though they stand apart in large files."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Self

from pytest_fairness import FairnessError
from pytest_fairness.extending import json_text as json
from pytest_fairness.frameworks.traces.readers import TraceLog
from pytest_fairness.frameworks.traces.spans import Span

_TABLES = """
CREATE TABLE spans (number INTEGER PRIMARY KEY, trace TEXT, span TEXT, content TEXT, UNIQUE (trace, span));
CREATE TABLE logs (number INTEGER PRIMARY KEY, trace TEXT, span TEXT, name TEXT, fields TEXT);
"""


class SpanSpool:
    """A temporary database of spans, which is deleted at its end."""

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="pytest-fairness-")
        self._database = sqlite3.connect(Path(self._folder.name) / "spans.db", isolation_level=None)
        # Nothing is lost with it: it is made anew from the files.
        self._database.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {_TABLES} BEGIN;")
        self.repeated = 0
        """Spans that were added before, with the same content."""
        self.conflicting = 0
        """Spans whose id another one of the same trace has, with other content: the first counts."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._database.close()
        self._folder.cleanup()

    def add(self, entry: Span | TraceLog) -> None:
        """Add a span, or a message of a log.

        Raises:
            FairnessError: The disk is full.
        """
        try:
            if isinstance(entry, TraceLog):
                row = (_storable(entry.trace), _storable(entry.span), _storable(entry.name), json.dumps(entry.fields))
                self._database.execute("INSERT INTO logs (trace, span, name, fields) VALUES (?, ?, ?, ?)", row)
            else:
                self._add_span(entry)
        except sqlite3.OperationalError as error:
            raise FairnessError(f"the temporary folder {self._folder.name} cannot be written: {error}") from None

    def _add_span(self, span: Span) -> None:
        content = span.to_json()
        insert = "INSERT INTO spans (trace, span, content) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
        key = _storable(span.trace), _storable(span.id)
        if self._database.execute(insert, (*key, content)).rowcount:
            return
        select = "SELECT content FROM spans WHERE trace = ? AND span = ?"
        ((first,),) = self._database.execute(select, key).fetchall()
        self.repeated += first == content
        self.conflicting += first != content

    def most_frequent(self, names: Sequence[str]) -> str:
        """Return the attribute that most traces have, of equals the first; empty where none has any."""
        traces: dict[str, set[int]] = {name: set() for name in names}
        for trace, content in self._database.execute("SELECT trace, content FROM spans"):
            attributes = Span.from_json(content).attributes
            for name in names:
                if attributes.get(name) not in (None, ""):
                    traces[name].add(hash(trace))
        best = max(names, key=lambda name: len(traces[name]))
        return best if traces[best] else ""

    def traces(self) -> Iterator[list[Span]]:
        """Yield the spans of each trace, in the order of the traces in the files."""
        self._database.execute("CREATE INDEX logs_of_spans ON logs (trace, span)")
        order = "SELECT trace FROM spans GROUP BY trace ORDER BY min(number)"
        select = "SELECT content FROM spans WHERE trace = ? ORDER BY number"
        for (trace,) in self._database.execute(order).fetchall():
            spans = [Span.from_json(content) for (content,) in self._database.execute(select, (trace,))]
            for span in spans:
                logs = self._database.execute(
                    "SELECT name, fields FROM logs WHERE trace = ? AND span = ? ORDER BY number",
                    (trace, _storable(span.id)),
                )
                span.events.extend((name, json.loads(fields)) for name, fields in logs)
            yield spans


def _storable(identity: str) -> str:
    """Return an id without lone surrogates, which a database cannot hold."""
    return identity.encode("utf-8", "backslashreplace").decode("utf-8")

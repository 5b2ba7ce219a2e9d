"""Files of traces: OTLP, the spans of Phoenix, the observations of Langfuse. The form is found in the file."""

from __future__ import annotations

import ast
import base64
import csv
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_fairness import FairnessError
from pytest_fairness.extending import Record, read_document, read_records
from pytest_fairness.extending import json_text as json
from pytest_fairness.frameworks.traces.spans import (
    Attributes,
    Span,
    first_of,
    flatten,
    parsed,
    seconds_of,
    whole_number,
)

_NOUN = "a part of a trace"
_FORMS = (
    "OTLP (resourceSpans), spans of Phoenix (context.trace_id) or observations of Langfuse (traceId or trace_id, type)"
)
_PARQUET = b"PAR1"
_TEXT_STARTS = (b"{", b"[")
_ERROR_CODES = (2, "2", "ERROR", "STATUS_CODE_ERROR", "StatusCode.ERROR")
_LANGFUSE = "langfuse."
_OBSERVATION = "langfuse.observation."
_TRACE_TYPE = "TRACE"
_PHOENIX_LIMIT = 1000
"""The spans that Phoenix's client returns where no limit is named."""
_PHOENIX_TEXTS = ("attributes.input.value", "attributes.output.value", "attributes.llm.invocation_parameters")
"""Attributes that are a text, also where it is JSON."""
_BATCH = 1000
_LONGEST_CELL = 64 * 2**20


@dataclass(slots=True)
class TraceLog:
    """A message in a log that belongs to a span."""

    trace: str
    span: str
    name: str
    fields: Attributes


@dataclass(slots=True)
class ReadCounts:
    """Counts of what the files hold besides spans."""

    forms: Counter[str] = field(default_factory=Counter)
    """Spans by the form of their file."""
    unread: Counter[str] = field(default_factory=Counter)
    """Records that are neither spans nor logs of one, by what they are."""
    remarks: list[str] = field(default_factory=list)
    """Lines about a file as a whole."""


def read_file(path: Path, counts: ReadCounts) -> Iterator[Span | TraceLog]:
    """Yield the spans of a file, and the messages in logs of spans, as they stand there.

    Args:
        path: JSON, JSON Lines, CSV, Parquet, or protobuf of OTLP; the first two may be compressed by gzip.
        counts: What is counted on the way.

    Raises:
        FairnessError: The file cannot be read, or has none of the forms.
    """
    start = _start_of(path)
    if start.startswith(_PARQUET):
        records = _parquet_records(path)
    elif path.suffix.lower() == ".csv":
        records = _csv_records(path)
    elif start.startswith(b"\x1f\x8b") or start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(_TEXT_STARTS):
        records = _json_records(path)
    else:
        records = _protobuf_records(path)
    spans = 0
    is_empty = True
    for where, record in records:
        is_empty = False
        for entry in _read_record(where, record, counts):
            spans += isinstance(entry, Span)
            yield entry
    if is_empty:
        raise FairnessError(f"{path} is empty: name a file with traces: {_FORMS}")
    if spans == _PHOENIX_LIMIT and counts.forms["Phoenix"] >= spans:
        counts.remarks.append(f"{path} has 1,000 spans, the default limit of Phoenix's client: it may be cut off")


def _start_of(path: Path) -> bytes:
    try:
        if path.exists() and not path.is_file():  # opening a pipe would block
            raise FairnessError(f"{path} is no file: name one")
        with path.open("rb") as file:
            return file.read(256)
    except OSError as error:
        raise FairnessError(f"{path} cannot be read: {error.strerror}") from None


def _json_records(path: Path) -> Iterator[tuple[str, Record]]:
    """Yield the records of JSON lines or of an array; the only one of a file that is one object of several lines."""
    records = read_records(path, _NOUN)
    try:
        first = next(records, None)
    except FairnessError as error:
        try:
            first, records = (str(path), read_document(path, _NOUN)), iter(())
        except FairnessError:
            raise error from None
    if first is not None:
        yield first
        yield from records


def _csv_records(path: Path) -> Iterator[tuple[str, Record]]:
    largest = csv.field_size_limit(_LONGEST_CELL)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for number, row in enumerate(csv.DictReader(file), 1):
                cells = {name: _cell(text) for name, text in row.items() if name and isinstance(text, str) and text}
                yield f"{path}, row {number}", cells
    except UnicodeDecodeError:
        raise FairnessError(f"{path} is not UTF-8 text") from None
    except (OSError, csv.Error) as error:
        raise FairnessError(f"{path} cannot be read: {error}") from None
    finally:
        csv.field_size_limit(largest)


def _cell(text: str) -> Any:
    """Return the value of a cell: JSON, or a list or an object as Python writes it, as pandas does.

    >>> _cell('{"a": 1}'), _cell("[{'message.role': 'user'}]"), _cell("7"), _cell("May I?")
    ({'a': 1}, [{'message.role': 'user'}], '7', 'May I?')
    """
    value = parsed(text)
    if isinstance(value, str) and value.startswith(("[{'", "{'", "['")):
        try:
            return ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            return value
    return value


def _parquet_records(path: Path) -> Iterator[tuple[str, Record]]:
    try:
        from pyarrow import ArrowException  # type: ignore[import-untyped]
        from pyarrow.parquet import ParquetFile  # type: ignore[import-untyped]
    except ImportError:
        raise FairnessError(f"{path} is a Parquet file: pip install 'pytest-fairness[parquet]'") from None
    number = 0
    try:
        with ParquetFile(path) as file:
            for batch in file.iter_batches(_BATCH):
                for row in batch.to_pylist():
                    number += 1
                    yield f"{path}, row {number}", {name: value for name, value in row.items() if value is not None}
    except (OSError, ArrowException) as error:
        raise FairnessError(f"{path} cannot be read: {str(error).splitlines()[0]}") from None


def _protobuf_records(path: Path) -> Iterator[tuple[str, Record]]:
    """Yield the message of a file in protobuf, or those of the Collector's file exporter, each after its length."""
    refusal = FairnessError(f"{path} holds no traces that can be read: {_FORMS}, as JSON, CSV, Parquet or protobuf")
    try:
        from google.protobuf.json_format import MessageToDict
        from google.protobuf.message import DecodeError
        from opentelemetry.proto.trace.v1.trace_pb2 import TracesData
    except ImportError:
        raise FairnessError(f"{refusal}; protobuf needs pip install 'pytest-fairness[otel]'") from None

    def decoded(data: bytes) -> Record:
        message = TracesData.FromString(data)
        if not message.resource_spans:
            raise DecodeError
        record: Record = MessageToDict(message, use_integers_for_enums=True)
        return record

    try:
        data = path.read_bytes()
        try:
            yield str(path), decoded(data)
            return
        except DecodeError:
            pass
        position = number = 0
        while position < len(data):
            size = int.from_bytes(data[position : position + 4], "big")
            part = data[position + 4 : position + 4 + size]
            if len(part) < size or not size:
                raise refusal
            number += 1
            yield f"{path}, message {number}", decoded(part)
            position += 4 + size
    except OSError as error:
        raise FairnessError(f"{path} cannot be read: {error.strerror}") from None
    except DecodeError:
        raise refusal from None


def _read_record(where: str, record: Record, counts: ReadCounts) -> Iterator[Span | TraceLog]:
    if isinstance(inner := record.get("data"), list) and not _trace_id(record):  # a page of Langfuse's API
        for number, entry in enumerate(inner, 1):
            if isinstance(entry, Mapping):
                yield from _read_record(f"{where}, entry {number}", dict(entry), counts)
    elif isinstance(parts := record.get("resourceSpans", record.get("batches")), list):  # the second is Tempo's
        yield from _otlp_spans(where, parts, counts)
    elif isinstance(logs := record.get("resourceLogs"), list):
        yield from _otlp_logs(logs, counts)
    elif "resourceMetrics" in record:
        counts.unread["metrics"] += 1
    elif isinstance(record.get("context"), Mapping) or "context.trace_id" in record:
        counts.forms["Phoenix"] += 1
        yield _phoenix_span(where, record)
    else:
        yield from _langfuse_spans(where, record, counts)


def _langfuse_spans(where: str, record: Record, counts: ReadCounts) -> Iterator[Span]:
    trace = record.get("trace")
    if isinstance(trace, Mapping) and isinstance(record.get("observations"), list):  # downloaded from its page
        yield from _langfuse_trace(where, {**trace, "observations": record["observations"]}, counts)
    elif _trace_id(record) and isinstance(record.get("type"), str):
        counts.forms["Langfuse"] += 1
        yield _langfuse_span(where, record)
    elif record.get("id") and not _trace_id(record) and first_of(record, ("timestamp", "createdAt", "created_at")):
        yield from _langfuse_trace(where, record, counts)
    elif _trace_id(record) and first_of(record, ("data_type", "dataType", "source")):
        counts.unread["scores of Langfuse"] += 1
    else:
        names = ", ".join(list(record)[:5])
        raise FairnessError(f"{where}: no form of traces ({names[:120]}): {_FORMS}")


def _trace_id(record: Mapping[str, Any]) -> str:
    return str(first_of(record, ("traceId", "trace_id")) or "")


# OTLP


def _otlp_spans(where: str, parts: list[Any], counts: ReadCounts) -> Iterator[Span]:
    for resource, span in _otlp_entries(parts, "scopeSpans", "instrumentationLibrarySpans", "spans"):
        if not span.get("traceId") or not span.get("spanId"):
            raise FairnessError(f"{where}: a span has no traceId or no spanId: {str(span)[:80]!r}")
        counts.forms["OTLP"] += 1
        status = span.get("status") if isinstance(span.get("status"), Mapping) else {}
        events = [
            (str(event.get("name", "")), _otlp_attributes(event.get("attributes")))
            for event in _list(span.get("events"))
            if isinstance(event, Mapping)
        ]
        dropped = sum(whole_number(span.get(name)) or 0 for name in ("droppedAttributesCount", "droppedEventsCount"))
        yield Span(
            _hex(span["traceId"]),
            _hex(span["spanId"]),
            _hex(span.get("parentSpanId") or ""),
            str(span.get("name") or ""),
            seconds_of(span.get("startTimeUnixNano")),
            seconds_of(span.get("endTimeUnixNano")),
            _langfuse_metadata(_otlp_attributes(span.get("attributes"))),
            events,
            resource,
            _error(status, events),
            dropped,
            str(span.get("traceState") or ""),
        )


def _error(status: Any, events: list[tuple[str, Attributes]]) -> str:
    """Return why a span failed; empty where its status is no error."""
    if not isinstance(status, Mapping) or first_of(status, ("code", "status_code")) not in _ERROR_CODES:
        return ""
    raised = next((fields for name, fields in events if name == "exception"), {})
    words = first_of(status, ("message", "description")) or first_of(raised, ("exception.message", "exception.type"))
    return str(words or "error")


def _otlp_entries(parts: list[Any], scopes: str, older: str, name: str) -> Iterator[tuple[Attributes, Record]]:
    """Yield the entries of an OTLP message, each with the attributes of its resource."""
    for part in parts:
        if not isinstance(part, Mapping):
            continue
        resource = part.get("resource")
        attributes = _otlp_attributes(resource.get("attributes") if isinstance(resource, Mapping) else None)
        for scope in _list(part.get(scopes) or part.get(older)):
            for entry in _list(scope.get(name) if isinstance(scope, Mapping) else None):
                if isinstance(entry, Mapping):
                    yield attributes, dict(entry)


def _otlp_logs(parts: list[Any], counts: ReadCounts) -> Iterator[TraceLog]:
    for _, log in _otlp_entries(parts, "scopeLogs", "instrumentationLibraryLogs", "logRecords"):
        attributes = _otlp_attributes(log.get("attributes"))
        name = str(log.get("eventName") or attributes.get("event.name") or "")
        if not log.get("spanId") or not name.startswith("gen_ai."):
            counts.unread["logs of no model's span"] += 1
            continue
        body = _otlp_value(log.get("body"))
        yield TraceLog(_hex(log.get("traceId") or ""), _hex(log["spanId"]), name, {**attributes, "body": body})


def _otlp_attributes(listed: Any) -> Attributes:
    values = {
        str(entry.get("key")): _otlp_value(entry.get("value")) for entry in _list(listed) if isinstance(entry, Mapping)
    }
    return flatten(values)


def _otlp_value(value: Any) -> Any:
    """Return the value of an AnyValue.

    >>> _otlp_value({"arrayValue": {"values": [{"intValue": "7"}, {"stringValue": "a"}]}})
    [7, 'a']
    """
    if not isinstance(value, Mapping):
        return None
    for kind, content in value.items():
        if kind == "intValue":
            return whole_number(content)
        if kind == "arrayValue":
            return [_otlp_value(entry) for entry in _listed(content)]
        if kind == "kvlistValue":
            pairs = (entry for entry in _listed(content) if isinstance(entry, Mapping))
            return {str(entry.get("key")): _otlp_value(entry.get("value")) for entry in pairs}
        return content
    return None


def _listed(content: Any) -> list[Any]:
    return _list(content.get("values")) if isinstance(content, Mapping) else []


def _list(value: Any) -> list[Any]:
    """Return a list; an empty one for any other value."""
    return value if isinstance(value, list) else []


def _hex(identity: Any) -> str:
    """Return an id in hexadecimal, as OTLP/JSON has it; protobuf's own JSON has base64.

    >>> _hex("5B8EFFF798038103D269B633813FC60C"), _hex("W47/95gDgQPSabYzgT/GDA==")
    ('5b8efff798038103d269b633813fc60c', '5b8efff798038103d269b633813fc60c')
    """
    text = str(identity)
    if len(text) in (24, 12) and text.endswith("="):
        try:
            return base64.b64decode(text, validate=True).hex()
        except ValueError:
            return text
    return text.removeprefix("0x").lower()


def _langfuse_metadata(attributes: Attributes) -> Attributes:
    """Return attributes with the metadata of Langfuse, each value of which is JSON, under ``metadata``.

    >>> _langfuse_metadata({"langfuse.trace.metadata.gender": '"female"', "user.id": "u1"})
    {'user.id': 'u1', 'metadata.gender': 'female'}
    """
    own = {name: value for name, value in attributes.items() if not name.startswith(_LANGFUSE)}
    for name, value in attributes.items():
        if not name.startswith(_LANGFUSE):
            continue
        _, is_metadata, key = name.partition(".metadata.")
        if not is_metadata:
            own[name] = value
            continue
        try:
            content = json.loads(value) if isinstance(value, str) else value
        except ValueError:
            content = value
        own |= flatten({f"metadata.{key}": content})
    return own


# Phoenix


def _phoenix_span(where: str, record: Record) -> Span:
    """Return a span of Phoenix's data frame, of its client's list, or of OpenTelemetry's exporter to the console."""
    own = {name: value for name, value in record.items() if name not in ("events", "resource", "links")}
    fields = flatten(own | {name: _as_text(own[name]) for name in _PHOENIX_TEXTS if name in own})
    trace, identity = str(fields.get("context.trace_id") or ""), str(fields.get("context.span_id") or "")
    if not trace or not identity:
        raise FairnessError(f"{where}: no context.trace_id or no context.span_id, as a span of Phoenix has")
    attributes = {
        name.removeprefix("attributes."): value for name, value in fields.items() if name.startswith("attributes.")
    }
    if kind := fields.get("span_kind"):
        attributes.setdefault("openinference.span.kind", kind)
    status = {
        "code": first_of(fields, ("status_code", "status.status_code")),
        "message": first_of(fields, ("status_message", "status.description")),
    }
    listed = parsed(record.get("events"))
    events = [
        (str(event.get("name", "")), flatten(event["attributes"]))
        for event in _list(listed)
        if isinstance(event, Mapping) and isinstance(event.get("attributes"), Mapping)
    ]
    resource = record.get("resource")
    inner = resource.get("attributes") if isinstance(resource, Mapping) else None
    return Span(
        _hex(trace),
        _hex(identity),
        _hex(fields.get("parent_id") or ""),
        str(fields.get("name") or ""),
        seconds_of(fields.get("start_time")),
        seconds_of(fields.get("end_time")),
        _langfuse_metadata(attributes),
        events,
        flatten(inner) if isinstance(inner, Mapping) else {},
        _error(status, events),
    )


def _as_text(value: Any) -> Any:
    """Return an object as JSON: its keys are those of a request or an answer, and no names of attributes."""
    return json.dumps(value) if isinstance(value, Mapping) else value


# Langfuse


def _langfuse_trace(where: str, record: Record, counts: ReadCounts) -> Iterator[Span]:
    """Yield the root of a trace of Langfuse, and its observations where they stand in it."""
    observations = [entry for entry in _list(record.get("observations")) if isinstance(entry, Mapping)]
    counts.forms["Langfuse"] += 1
    root = {**record, "traceId": record["id"], "type": _TRACE_TYPE}
    yield _langfuse_span(where, root)
    for observation in observations:
        counts.forms["Langfuse"] += 1
        yield _langfuse_span(where, {"traceId": record["id"], "type": "SPAN", **observation})


def _langfuse_span(where: str, record: Record) -> Span:
    """Return an observation of Langfuse, or the trace itself, with attributes as its SDK names them."""
    trace, identity, kind = _trace_id(record), str(record.get("id") or ""), str(record["type"])
    if not identity:
        raise FairnessError(f"{where}: an observation of Langfuse has no id")
    is_trace = kind == _TRACE_TYPE
    start = seconds_of(first_of(record, ("startTime", "start_time", "timestamp")))
    end = seconds_of(first_of(record, ("endTime", "end_time")))
    usage = parsed(first_of(record, ("usageDetails", "usage_details", "usage")))
    attributes: Attributes = {
        "langfuse.observation.type": "chain" if is_trace else kind.lower(),
        f"{_OBSERVATION}input": _as_text(record.get("input")),
        f"{_OBSERVATION}output": _as_text(record.get("output")),
        f"{_OBSERVATION}model.name": first_of(record, ("model", "providedModelName", "provided_model_name")),
        f"{_OBSERVATION}usage_details": usage if isinstance(usage, Mapping) else None,
        "user.id": first_of(record, ("userId", "user_id")),
        "session.id": first_of(record, ("sessionId", "session_id")),
        "tags": parsed(record.get("tags")),
        **{name: record.get(name) for name in ("environment", "release", "version")},
    }
    metadata = parsed(record.get("metadata"))
    failed = str(record.get("level") or "").upper() == "ERROR"
    words = first_of(record, ("statusMessage", "status_message"))
    # Observations without a parent are children of the trace, where the file has it.
    parent = first_of(record, ("parentObservationId", "parent_observation_id"))
    return Span(
        trace,
        f"trace {trace}" if is_trace else identity,
        "" if is_trace else str(parent or f"trace {trace}"),
        str(record.get("name") or ""),
        start,
        end,
        flatten({**attributes, "metadata": metadata if isinstance(metadata, Mapping) else None}),
        error=str(words or "error") if failed else "",
    )


def is_langfuse_root(span: Span) -> bool:
    """Return whether an observation of Langfuse has no parent but the trace itself."""
    return span.parent == f"trace {span.trace}"

"""A log of inspect_ai as a table: a row for each epoch of each sample, with its scores and its metadata.

The log is a zip file of JSON files, packed by Zstandard in newer versions, or one JSON file. It is read without
inspect_ai.
"""

from __future__ import annotations

import importlib
import zlib
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile, ZipInfo

from pytest_fairness import FairnessError, ToolCall
from pytest_fairness.extending import finish_reasons, largest_unpacked, read_document
from pytest_fairness.extending import json_text as json
from pytest_fairness.tables import RecordedAnswer, TableImporter

_OLDEST_FORMAT = 2
_ZSTANDARD = 93
"""The number of the compression method in a zip file, which Python's own module reads from 3.14 on."""
_LOCAL_HEADER = 30
"""Bytes of a zip file's local header before the name."""
_LETTERS = {"C": True, "I": False, "P": 0.5, "N": None}
UNREAD = (
    "Grade not found in model output",
    "Scoring pattern not matched in output",
    "Could not parse mathematical answer",
    "Mathematical answer exceeded",
)
"""The beginnings of explanations of scores that scorers gave what they could not read, before scores had a reason."""
_CHOICE = "choice"
"""The scorer whose answer is empty, and whose score incorrect, where no choice was marked."""


class InspectImport(TableImporter):
    """The import ``inspect``."""

    help = "a log of inspect_ai, as a table with a row for each epoch of a sample"
    parts = "model"

    def add_files(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="LOG", help="the log, .eval or .json")

    def read(self, arguments: Namespace, notes: list[str]) -> Iterator[RecordedAnswer]:
        log: Path = arguments.file
        header, samples = _read(log)
        count = 0
        for name, sample in samples:
            count += 1
            yield _answer(f"{log}: {name}", sample)
        notes += _notes(header, count)


def _notes(header: Mapping[str, Any], rows: int) -> Iterator[str]:
    status = header.get("status")
    if status != "success":
        yield f"the log's status is {status!r}, not 'success': its run did not end"
    samples, epochs = _at(header, "eval", "dataset", "sample_ids"), _at(header, "eval", "config", "epochs")
    expected = (len(samples) if isinstance(samples, list) else 0) * (epochs if type(epochs) is int else 1)
    if expected > rows:
        yield f"{expected - rows:,} of {expected:,} epochs of samples are not in the log: they are missing in the table"


def _at(value: Any, *names: str) -> Any:
    """Return the value at a path of keys in nested objects; None where there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _answer(where: str, sample: Mapping[str, Any]) -> RecordedAnswer:
    scores = sample.get("scores")
    if scores is None and isinstance(sample.get("score"), Mapping):  # as until 2024
        scores = {"score": sample["score"]}
    epoch = sample.get("epoch") or 1
    if not isinstance(scores or {}, Mapping) or type(epoch) is not int or "id" not in sample:
        raise FairnessError(f"{where} is no sample of inspect_ai: it needs an id, an epoch and scores by name")
    metadata = sample.get("metadata")
    return RecordedAnswer(
        where,
        str(sample["id"]),
        epoch,
        {name: _value(score) for name, score in (scores or {}).items()},
        metadata if isinstance(metadata, Mapping) else {},
        _ungraded(sample)
        or {
            name: f"could not be graded: {reason}"
            for name, score in (scores or {}).items()
            if (reason := unread_reason(name, score))
        },
        _responder(sample.get("output")),
        _actions(sample.get("messages")),
    )


def _responder(output: Any) -> dict[str, str]:
    """Return the model that answered, which a fallback makes another than the log's; nothing without an answer."""
    model = _at(output, "model")
    return {"model": model} if isinstance(model, str) and model and _at(output, "choices") else {}


def _actions(messages: Any) -> list[ToolCall] | None:
    """Return the calls of a sample's messages; None where the log has no messages."""
    if not isinstance(messages, list):
        return None
    replies = [message for message in messages if isinstance(message, Mapping) and message.get("role") == "assistant"]
    return [
        ToolCall.read(call.get("function"), call.get("arguments"))
        for message in replies
        for call in message.get("tool_calls") or ()
        if isinstance(call, Mapping)
    ]


def _value(score: Any) -> Any:
    """Return the value of a score; one with several values has one for each key."""
    value = score.get("value") if isinstance(score, Mapping) else score
    if isinstance(value, Mapping):
        return {key: _value(entry) for key, entry in value.items()}
    return _LETTERS.get(value, value) if isinstance(value, str) else value


def unread_reason(name: str, score: Any) -> str:
    """Return why a score is none: the scorer could not read the answer, or the grader failed; empty for a score.

    Most of them have the value incorrect. Newer versions of inspect_ai add a reason, older ones an explanation.

    Args:
        name: The scorer's name.
        score: The score, as a log has it.
    """
    if not isinstance(score, Mapping):
        return ""
    reason = score.get("reason") or _at(score, "metadata", "unscored_reason")
    explanation, value = score.get("explanation"), score.get("value")
    if not reason and isinstance(explanation, str):
        reason = next((beginning for beginning in UNREAD if explanation.startswith(beginning)), "")
    if not reason and name.rstrip("0123456789") == _CHOICE and value in ("I", "N") and score.get("answer") == "":
        reason = "no choice was marked"
    if not reason and value in (None, "N"):
        reason = "no score" if value is None else "no answer"
    return str(reason or "")


def _ungraded(sample: Mapping[str, Any]) -> str:
    """Return the reason that the scores of a sample do not count; empty where they do."""
    if error := sample.get("error"):
        message = error.get("message") if isinstance(error, Mapping) else error
        return f"failed: {message}"
    if sample.get("invalidation"):
        return "were invalidated"
    output = sample.get("output")
    choices = output.get("choices") if isinstance(output, Mapping) else None
    choice = choices[0] if isinstance(choices, list) and choices else {}
    reason = choice.get("stop_reason") if isinstance(choice, Mapping) else None
    limit = _at(sample, "limit", "type") or sample.get("limit")
    if limit or finish_reasons.normalize_reason(reason) in finish_reasons.INCOMPLETE:
        return f"were cut off, filtered or refused: {f'{limit} limit' if limit else reason}"
    return "are empty" if isinstance(choice, Mapping) and _is_empty(choice.get("message")) else ""


def _is_empty(message: Any) -> bool:
    if not isinstance(message, Mapping) or message.get("tool_calls"):
        return False
    content = message.get("content")
    if isinstance(content, list):
        content = "".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    return not str(content or "").strip()


def _read(log: Path) -> tuple[Mapping[str, Any], Iterator[tuple[str, Mapping[str, Any]]]]:
    """Return the log's header and its samples, each with its name in the log."""
    try:
        with log.open("rb") as file:
            is_zip = file.read(2) == b"PK"
    except OSError as error:
        raise FairnessError(f"{log} cannot be read: {error.strerror}") from None
    header, samples = _read_zip(log) if is_zip else _read_json(log)
    if not isinstance(header.get("eval"), Mapping):
        raise _no_log(log)
    if not isinstance(version := header.get("version", 2), int) or version < _OLDEST_FORMAT:
        raise FairnessError(f"{log} has version {version} of inspect_ai's format: version 2 is the oldest that is read")
    return header, samples


def _read_zip(log: Path) -> tuple[Mapping[str, Any], Iterator[tuple[str, Mapping[str, Any]]]]:
    archive = _archive(log)
    parts = {info.filename: info for info in archive.infolist()}  # a sample may be written twice: the last one counts
    start = parts.get("header.json") or parts.get("_journal/start.json")
    if start is None:
        raise _no_log(log)
    names = [name for name in parts if name.startswith("samples/") and name.endswith(".json")]
    return _parsed(log, archive, start), ((name, _parsed(log, archive, parts[name])) for name in names)


def _read_json(log: Path) -> tuple[Mapping[str, Any], Iterator[tuple[str, Mapping[str, Any]]]]:
    try:
        header = read_document(log, "a log of inspect_ai")
    except FairnessError as error:
        raise FairnessError(f"{_no_log(log)} ({error})") from None
    samples = header.get("samples") or []
    if not isinstance(samples, list) or not all(isinstance(sample, Mapping) for sample in samples):
        raise _no_log(log)
    return header, ((f"sample {number}", sample) for number, sample in enumerate(samples, 1))


def _no_log(log: Path) -> FairnessError:
    return FairnessError(f"{log} is no log of inspect_ai: name a file of its folder `logs`, .eval or .json")


def _archive(log: Path) -> ZipFile:
    try:
        return ZipFile(log)
    except BadZipFile:
        raise FairnessError(f"{log} is no whole log: its zip file is cut off") from None


def _parsed(log: Path, archive: ZipFile, info: ZipInfo) -> Mapping[str, Any]:
    if info.file_size > largest_unpacked(info.compress_size):
        raise _too_large(log, info)
    try:
        data = _unpacked(log, info) if info.compress_type == _ZSTANDARD else archive.read(info)
        parsed = json.loads(data)
    except (ValueError, BadZipFile, EOFError, RecursionError, zlib.error, NotImplementedError, RuntimeError):
        raise FairnessError(f"{log}: its part {info.filename} is broken") from None
    if not isinstance(parsed, dict):
        raise FairnessError(f"{log}: its part {info.filename} is no JSON object")
    return parsed


def _unpacked(log: Path, info: ZipInfo) -> bytes:
    """Return a part of a zip file that is packed by Zstandard."""
    try:
        zstandard = importlib.import_module("zstandard")
    except ImportError:
        raise FairnessError(f"{log} is packed by Zstandard: pip install zstandard") from None
    with log.open("rb") as file:
        file.seek(info.header_offset)
        header = file.read(_LOCAL_HEADER)
        name, extra = int.from_bytes(header[26:28], "little"), int.from_bytes(header[28:30], "little")
        file.seek(name + extra, 1)
        packed = file.read(info.compress_size)
    limit = largest_unpacked(len(packed))  # the size in the directory may be another
    try:
        data: bytes = zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True).read(limit + 1)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from None
    if len(data) > limit:
        raise _too_large(log, info)
    return data


def _too_large(log: Path, info: ZipInfo) -> FairnessError:
    return FairnessError(f"{log}: its part {info.filename} is packed by more than a factor of 100: no sample is")

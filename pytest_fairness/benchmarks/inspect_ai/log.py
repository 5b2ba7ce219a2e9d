"""A log of inspect_ai as a table: a row for each epoch of each sample, with its scores and its metadata.

The log is a zip file of JSON files, packed by Zstandard in newer versions, or one JSON file. It is read without
inspect_ai.
"""

from __future__ import annotations

import importlib
import json
import math
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile, ZipInfo

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.finish_reasons import FILTER, LENGTH, REFUSAL, normalized
from pytest_fairness.core.importer import Importer

_OLDEST_FORMAT = 2
_ZSTANDARD = 93
"""The number of the compression method in a zip file, which Python's own module reads from 3.14 on."""
_LOCAL_HEADER = 30
"""Bytes of a zip file's local header before the name."""
_LETTERS = {"C": True, "I": False, "P": 0.5, "N": None}


@dataclass(frozen=True, slots=True)
class ImportedLog:
    """The size and the columns of an imported log's table."""

    rows: int
    scores: tuple[str, ...]
    """The columns that hold scores."""
    metadata: tuple[str, ...]
    """The columns that hold what is known of a sample: groups are among them."""
    notes: tuple[str, ...]
    """Lines about samples that are missing, or ungraded."""


def convert(log: Path, out: Path) -> ImportedLog:
    """Write a table of a log's samples, one JSON object a line.

    A sample that failed, or whose answer was cut off or filtered, has no scores in the table: they are ungraded.

    Args:
        log: The log, ``.eval`` or ``.json``.
        out: The table, which `Measured.from_table` reads with ``item="sample"``.

    Returns:
        How many rows and which columns the table has.

    Raises:
        FairnessError: The log cannot be read, is too old, or holds no scored sample.
    """
    header, samples = _read(log)
    scores: dict[str, None] = {}
    metadata: dict[str, None] = {}
    read: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = []
    unfinished = 0
    for sample in samples:
        given = _scores(sample)
        if sample.get("error") or _is_unfinished(sample):
            unfinished += 1
            given = dict.fromkeys(given)
        about = {name: value for name, value in (sample.get("metadata") or {}).items() if _is_scalar(value)}
        read.append(({"sample": str(sample.get("id")), "epoch": sample.get("epoch", 1)}, about, given))
        scores |= dict.fromkeys(given)
        metadata |= dict.fromkeys(about)
    if not scores:
        raise FairnessError(f"{log} holds no score: was it written with --no-score, or before its run ended?")
    own = {"sample", "epoch", *scores}
    renamed = {name: name if name not in own else f"metadata.{name}" for name in metadata}
    with _opened(out) as file:
        for identity, about, given in read:
            row = {
                **identity,
                **{renamed[name]: about.get(name) for name in metadata},
                **{name: given.get(name) for name in scores},
            }
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return ImportedLog(len(read), tuple(scores), tuple(renamed.values()), tuple(_notes(header, len(read), unfinished)))


def _notes(header: Mapping[str, Any], rows: int, unfinished: int) -> Iterator[str]:
    status = header.get("status")
    if status != "success":
        yield f"the log's status is {status!r}, not 'success': its run did not end"
    evaluated = header.get("eval") or {}
    samples = len((evaluated.get("dataset") or {}).get("sample_ids") or ())
    expected = samples * ((evaluated.get("config") or {}).get("epochs") or 1)
    if expected > rows:
        yield f"{expected - rows:,} of {expected:,} epochs of samples are not in the log: they are missing in the table"
    if unfinished:
        yield f"{unfinished:,} failed or have an incomplete answer: they are ungraded"


def _scores(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a sample's scores; one with several values has a column for each key."""
    values: dict[str, Any] = {}
    for name, score in (sample.get("scores") or {}).items():
        value = score.get("value")
        if isinstance(value, dict):
            values |= {f"{name}.{key}": _value(entry) for key, entry in value.items()}
        else:
            values[name] = _value(value)
    return values


def _value(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return _LETTERS.get(value, value) if isinstance(value, str) else value if _is_scalar(value) else None


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | int | float)


def _is_unfinished(sample: Mapping[str, Any]) -> bool:
    choices: list[Any] = (sample.get("output") or {}).get("choices") or [{}]
    return normalized(choices[0].get("stop_reason")) in (LENGTH, FILTER, REFUSAL)


def _read(log: Path) -> tuple[Mapping[str, Any], Iterator[Mapping[str, Any]]]:
    """Return the log's header and its samples."""
    try:
        with log.open("rb") as file:
            is_zip = file.read(2) == b"PK"
    except OSError as error:
        raise FairnessError(f"{log} cannot be read: {error.strerror}") from None
    header: Mapping[str, Any]
    samples: Iterator[Mapping[str, Any]]
    if is_zip:
        archive = _archive(log)
        names = {info.filename: info for info in archive.infolist()}
        start = names.get("header.json") or names.get("_journal/start.json")
        if start is None:
            raise _no_log(log)
        header = _parsed(log, archive, start)
        entries = [info for name, info in names.items() if name.startswith("samples/") and name.endswith(".json")]
        samples = (_parsed(log, archive, info) for info in entries)
    else:
        try:
            header = json.loads(log.read_bytes())
        except ValueError:
            raise _no_log(log) from None
        if not isinstance(header, dict) or not isinstance(header.get("eval"), dict):
            raise _no_log(log)
        samples = iter(header.get("samples") or ())
    if not isinstance(version := header.get("version", 1), int) or version < _OLDEST_FORMAT:
        raise FairnessError(f"{log} has version {version} of inspect_ai's format: version 2 is the oldest that is read")
    return header, samples


def _no_log(log: Path) -> FairnessError:
    return FairnessError(f"{log} is no log of inspect_ai: name a file of its folder `logs`, .eval or .json")


def _archive(log: Path) -> ZipFile:
    try:
        return ZipFile(log)
    except BadZipFile:
        raise FairnessError(f"{log} is no whole log: its zip file is cut off") from None


def _parsed(log: Path, archive: ZipFile, info: ZipInfo) -> Mapping[str, Any]:
    try:
        data = _unpacked(log, info) if info.compress_type == _ZSTANDARD else archive.read(info)
        parsed = json.loads(data)
    except (ValueError, BadZipFile, EOFError):
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
    try:
        data: bytes = zstandard.ZstdDecompressor().decompressobj().decompress(packed)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from None
    return data


def _opened(out: Path) -> Any:
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        return out.open("w", encoding="utf-8")
    except OSError as error:
        raise FairnessError(f"{out} cannot be written: {error.strerror}") from None


class InspectImport(Importer):
    """The import ``inspect``."""

    help = "a log of inspect_ai, as a table with a row for each epoch of a sample"
    out = "the table to write, .jsonl"
    line_start = '{"sample": '

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("log", type=Path, metavar="LOG", help="the log, .eval or .json")

    def convert(self, out: Path, arguments: Namespace) -> list[str]:
        if out.suffix not in (".jsonl", ".ndjson"):
            raise FairnessError(f"--out is {out}: the table is JSON, a row a line: let its name end in .jsonl")
        imported = convert(arguments.log, out)
        scores, groups = ", ".join(imported.scores), ", ".join(imported.metadata) or "none"
        return [
            *imported.notes,
            f"{imported.rows:,} rows written to {out}; scores: {scores}; groups among: {groups}",
            f'judge them by Measured.from_table("{out}", item="sample", groups=[...])',
        ]

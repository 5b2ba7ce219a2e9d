"""JSON files as they are downloaded: objects with the place where each stands."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from pytest_fairness.core.errors import FairnessError

T = TypeVar("T")

LINES = ("*.jsonl", "*.jsonl.xz")


def folder_of(path: Path) -> Path:
    """Return a folder that is there. Raises `FairnessError` for what is none."""
    if not path.is_dir():
        raise FairnessError(f"{path} is {'a file' if path.exists() else 'not there'}: name the folder of the download")
    return path


def stem(path: Path) -> str:
    """Return a file's name without its ending.

    >>> stem(Path("gpt-3.5-turbo.jsonl.xz"))
    'gpt-3.5-turbo'
    """
    return path.name.removesuffix(".xz").removesuffix(".jsonl").removesuffix(".json")


def read_object(path: Path) -> dict[str, Any]:
    """Return the object of a JSON file. Raises `FairnessError`, naming the file, for anything else."""
    return _object(_text(path), str(path))


def read_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each object of a file of JSON lines, packed by xz or not, with its file and line.

    Raises `FairnessError`, naming file and line, for anything else.
    """
    for number, line in enumerate(_text(path).splitlines(), 1):
        if line.strip():
            where = f"{path}:{number}"
            yield where, _object(line, where)


def field(record: dict[str, Any], name: str, kind: type[T], where: str) -> T:
    """Return a field of a record. Raises `FairnessError` where it is missing or of another type."""
    value = record.get(name)
    if not isinstance(value, kind):
        problem = f"is {value!r:.60}" if name in record else "is missing"
        raise FairnessError(f"{where}: {name} {problem}: it must be {_NOUNS.get(kind, kind.__name__)}")
    return value


_NOUNS: dict[type, str] = {str: "a text", list: "a list", dict: "an object", int: "a whole number"}


def _text(path: Path) -> str:
    try:
        raw = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
        return raw.decode("utf-8-sig")
    except OSError as error:
        raise FairnessError(f"{path} cannot be read: {error.strerror}") from None
    except lzma.LZMAError as error:
        raise FairnessError(f"{path} is no file of xz: {error}") from None
    except UnicodeDecodeError:
        raise FairnessError(f"{path} is not UTF-8: save it so") from None


def _object(text: str, where: str) -> dict[str, Any]:
    try:
        record = json.loads(text)
    except ValueError as error:
        raise FairnessError(f"{where}: not valid JSON: {error}") from None
    if not isinstance(record, dict):
        raise FairnessError(f"{where}: not a JSON object, as a recorded answer is")
    return record

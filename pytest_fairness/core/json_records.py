"""Readers of JSON and JSON Lines files in UTF-8, plain or compressed by gzip or xz."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_fairness.core import json_text as json
from pytest_fairness.core.errors import FairnessError

if TYPE_CHECKING:
    import lzma

Record = dict[str, Any]
"""A line or document of JSON: values by key."""
_GZIP = b"\x1f\x8b"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_LONGEST_LINE = 64 * 2**20
"""Largest number of bytes of a line: a longer one is no JSON Lines file, and must not fill the memory."""
_LARGEST_DOCUMENT = 2 * 2**30
"""Largest number of bytes of a file that is read whole."""
_UNPACKED = 256 * 2**20
_UNPACKING = 100
"""The largest growth in unpacking, of more than so many bytes: JSON grows by a factor of 5 to 20."""


def _nothing(_: str) -> None:
    """Return None for ``NaN``, ``Infinity`` and ``-Infinity``."""


def read_records(
    path: Path, noun: str, constant: Callable[[str], float | None] = _nothing
) -> Iterator[tuple[str, Record]]:
    """Yield the objects of a JSON Lines file, each with its file and line.

    A file with one JSON array is read whole.

    Args:
        path: The file; it may be compressed by gzip, or by xz if its name ends in ``.xz``.
        noun: The noun for one of its objects, for messages: "a sample of lm-eval".
        constant: The value of ``NaN`` and of infinities, which JSON lacks; default: None.

    Raises:
        FairnessError: The file cannot be read, or a line is no JSON object; the message has the line.
    """
    decoder = json.JSONDecoder(parse_constant=constant)
    with _open(path) as file:
        start = file.peek(64)
        if start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"["):
            yield from _array(path, file.read(_LARGEST_DOCUMENT), noun, constant)
            return
        number = 0
        while line := file.readline(_LONGEST_LINE + 1):
            number += 1
            if len(line) > _LONGEST_LINE:
                raise FairnessError(f"{path}:{number}: a line of more than 64 MiB: no file of JSON lines")
            text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            if text.strip():
                yield f"{path}:{number}", _object(text, f"{path}:{number}", noun, decoder)


def largest_unpacked(packed: int) -> int:
    """Return the largest number of bytes that a file, or a part of one, may hold that has so many bytes packed.

    A megabyte of a hostile archive holds gigabytes, which must not fill the memory.

    >>> largest_unpacked(1_200_000), largest_unpacked(10**8)
    (268435456, 10000000000)
    """
    return max(_UNPACKED, _UNPACKING * packed)


class _Bounded(io.RawIOBase):
    """The content of a packed file, which ends with an error where it is too large."""

    def __init__(self, path: Path, file: gzip.GzipFile | lzma.LZMAFile) -> None:
        self._path, self._file = path, file
        self._limit = self._left = largest_unpacked(path.stat().st_size)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size = self._file.readinto(buffer)
        self._left -= size
        if self._left < 0:
            raise FairnessError(
                f"{self._path} holds over {self._limit >> 20:,} MiB, over {_UNPACKING} times its size: unpack it, if "
                "it is what you expect"
            )
        return size


def json_lines(records: Iterable[Mapping[str, Any]]) -> str:
    """Return the text of a JSON Lines file."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def read_document(path: Path, noun: str) -> Record:
    """Return the object in a JSON file; NaN and infinities, which JSON lacks, are read as None.

    Raises:
        FairnessError: The file cannot be read, or holds no JSON object.
    """
    with _open(path) as file:
        data = file.read(_LARGEST_DOCUMENT + 1)
    if len(data) > _LARGEST_DOCUMENT:
        raise FairnessError(f"{path} has more than 2 GiB: it cannot be read whole")
    return _object(data.removeprefix(b"\xef\xbb\xbf"), str(path), noun, json.JSONDecoder(parse_constant=_nothing))


@contextmanager
def _open(path: Path) -> Iterator[io.BufferedReader]:
    try:
        if path.is_dir():
            raise FairnessError(f"{path} is a folder: name a file")
        if path.exists() and not path.is_file():  # opening a pipe would block
            raise FairnessError(f"{path} is no file: name one")
        with path.open("rb") as plain:
            start = plain.read(2)
        if start in _UTF16:
            raise FairnessError(f"{path} is a text in UTF-16: save it in UTF-8")
        if path.suffix == ".xz":
            with _open_xz(path) as unpacked:
                yield unpacked
        elif start == _GZIP:
            with gzip.open(path, "rb") as packed:
                yield io.BufferedReader(_Bounded(path, packed))
        else:
            with path.open("rb") as file:
                yield file
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise FairnessError(f"{path} is no whole gzip file: it is cut off or damaged") from None
    except OSError as error:
        raise FairnessError(f"{path} cannot be read: {error.strerror or error}") from None


@contextmanager
def _open_xz(path: Path) -> Iterator[io.BufferedReader]:
    import lzma  # Python may have been built without it

    try:
        with lzma.open(path, "rb") as packed:
            yield io.BufferedReader(_Bounded(path, packed))
    except (lzma.LZMAError, EOFError) as error:
        raise FairnessError(f"{path} is no file of xz: {error}") from None


def _array(path: Path, data: bytes, noun: str, constant: Callable[[str], float | None]) -> Iterator[tuple[str, Record]]:
    try:
        entries = json.loads(data.removeprefix(b"\xef\xbb\xbf"), parse_constant=constant)
    except (ValueError, RecursionError) as error:
        raise FairnessError(f"{path} is no valid JSON: {_reason(error)}") from None
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, dict):
            raise FairnessError(f"{path}: entry {number}: not a JSON object, as {noun} is")
        yield f"{path}: entry {number}", entry


def _object(data: bytes, where: str, noun: str, decoder: json.JSONDecoder) -> Record:
    try:
        record = decoder.decode(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise FairnessError(f"{where}: not UTF-8 text") from None
    except (ValueError, RecursionError) as error:
        raise FairnessError(f"{where}: not valid JSON: {_reason(error)}") from None
    if not isinstance(record, dict):
        raise FairnessError(f"{where}: not a JSON object, as {noun} is")
    return record


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos + 1}"
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)

"""Digests of texts and files, and canonical texts of values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from hashlib import blake2b, sha256
from json.encoder import encode_basestring
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Any
from uuid import UUID

from pytest_fairness.core import json_text as json

to_json = json.JSONEncoder(ensure_ascii=False).encode
"""A function like ``json.dumps`` that constructs no new encoder each time."""

_SCALARS: Mapping[type, Callable[[Any], str]] = {
    type(None): lambda _: "null",
    bool: to_json,
    int: repr,
    float: to_json,
    str: encode_basestring,
}
"""The function that writes a value as JSON, by its type."""
_MAPPINGS = frozenset((dict, MappingProxyType))
"""The most frequent mappings, which are recognized at once."""
_WITH_STABLE_TEXT = (bytes, complex, range, date, time, timedelta, Decimal, UUID, PurePath)
_BLOCKS, _BLOCK_SIZE = 64, 4096
"""Number of blocks of a large file that are read, and their size in bytes."""


def digest(text: str) -> str:
    """Return the digest of a text (128 bits, hexadecimal).

    >>> digest("a") == digest("a") != digest("b")
    True
    """
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def sampled_digest(folder: Path, files: Iterable[Path]) -> str:
    """Return a digest of some blocks of files, which changes as weights are trained.

    Args:
        folder: The folder of the files.
        files: Their paths relative to the folder, in order.
    """
    fingerprint = sha256()
    for path in files:
        size = (folder / path).stat().st_size
        fingerprint.update(f"{path.as_posix()}\0{size}\0".encode())
        with (folder / path).open("rb") as file:
            for start in range(0, size, max(_BLOCK_SIZE, size // _BLOCKS)):
                file.seek(start)
                fingerprint.update(file.read(_BLOCK_SIZE))
    return fingerprint.hexdigest()[:16]


def canonical(value: object) -> str:
    """Return the canonical text of a value: the same in every process, and different for different values.

    It contains the order of mappings, since a grader may read it, as `AnswerOptions` do.

    >>> canonical({"tags": {2, 1}, "n": ("a", 0.5)})
    '["mapping", ["tags", ["set", "1", "2"]], ["n", ["tuple", "a", 0.5]]]'

    Raises:
        TypeError: The value is, or contains, an object that is distinguished from others by its address only.
    """
    kind = type(value)
    if kind in _SCALARS:
        return _SCALARS[kind](value)
    if kind in (list, tuple):
        return _array(kind.__name__, map(canonical, value))  # type: ignore[call-overload]
    if kind in _MAPPINGS or isinstance(value, Mapping):
        entries: Iterable[tuple[object, object]] = value.items()  # type: ignore[attr-defined]
        return _array("mapping", [f"[{canonical(key)}, {canonical(entry)}]" for key, entry in entries])
    if isinstance(value, set | frozenset):
        return _array("set", map(to_json, sorted(map(canonical, value))))
    if isinstance(value, type):
        return _array("type", [to_json(_name(value))])
    if isinstance(value, Enum):
        return _array(_name(kind), [to_json(value.name)])
    if names := _fields(kind):  # type: ignore[arg-type]  # mypy takes object for unhashable
        return _array(_name(kind), [canonical(getattr(value, name)) for name in names])
    for scalar in (int, float, str):  # a subclass: numpy's float64 is a float
        if isinstance(value, scalar):
            return _array(_name(kind), [to_json(scalar(value))])
    from fractions import Fraction

    if isinstance(value, (*_WITH_STABLE_TEXT, Fraction)):
        return _array(_name(kind), [to_json(str(value))])
    raise TypeError(f"a {kind.__name__} has no form that is the same in every process")


def _array(name: str, texts: Iterable[str]) -> str:
    """Return a JSON array of a name and of values that are JSON already."""
    return f"[{', '.join([encode_basestring(name), *texts])}]"


@lru_cache(maxsize=256)
def _fields(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"

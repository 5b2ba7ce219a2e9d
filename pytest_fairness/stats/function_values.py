"""Values of functions of attempts, kept for later evaluations of a test."""

from __future__ import annotations

import os
import re
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import chain
from operator import itemgetter
from pathlib import Path
from sysconfig import get_path
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_fairness.core.attempts import GradedAttempt
from pytest_fairness.stats.columns import Floats
from pytest_fairness.stats.grade_numbers import PLAIN_TYPES

Function = Callable[[GradedAttempt], Any]
"""A function of an attempt."""
_MOST_KEPT = 32
"""Largest number of functions, or of several functions of one metric, whose values are kept."""
_MOST_COMPARED = 100
"""Largest collection that is read for a change."""
_COLLECTIONS = (tuple, list, set, frozenset, dict)
_CHANGING = (*PLAIN_TYPES, str, *_COLLECTIONS, FunctionType)
"""Types of attributes of modules and classes that are read for a change."""
_OWNERS = (ModuleType, type)
"""Types of objects whose attributes are read."""
_FOLDERS = (*map(get_path, ("stdlib", "purelib", "platlib")), Path(__file__).parents[1])
_INSTALLED = tuple(f"{folder}{os.sep}" for folder in _FOLDERS)
"""Beginnings of the paths of Python's own modules, of packages and of this one."""

grade_getter = lru_cache(maxsize=256)(itemgetter)
"""Returns the function that reads a grade, the same one each time."""


@dataclass(frozen=True, slots=True)
class FunctionValues:
    """The values of functions of attempts, as far as they were computed."""

    values: Floats
    """Shape (attempts, functions)."""
    is_computed: npt.NDArray[np.bool_]
    """Shape (attempts,)."""
    hypotheses: dict[int, list[list[float]]] = field(default_factory=dict)
    """The values of an attempt under each way in which it could have been graded, whatever its actual grades."""


class KeptValues:
    """Values of the functions that were used last, of all attempts of a sample."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._kept: OrderedDict[Hashable, FunctionValues] = OrderedDict()

    def of(self, functions: Sequence[Function]) -> FunctionValues:
        """Return the values of functions; none yet where one of the functions may have changed since."""
        key = tuple(map(constant_key, functions))
        values = self._kept.pop(key, None)
        if values is None:
            numbers = np.full((self._count, len(functions)), np.nan)
            values = FunctionValues(numbers, np.zeros(self._count, dtype=np.bool_))
        if None not in key:
            self._kept[key] = values
            if len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        return values


def constant_key(function: Function) -> Hashable | None:
    """Return a key of the values that a function gives; None where an object that it reads may change unnoticed.

    Functions of the same code that read the same values have one key: each evaluation of a test makes functions of its
    own.
    """
    try:
        return _key_of(function, set())
    except _NotConstantError:
        return None


def _key_of(value: Any, seen: set[int]) -> Hashable:
    """Return a key of a value that a function reads; a function is such a value as well.

    Args:
        value: The value.
        seen: The identities of the functions and collections that were read before; they are not read again.

    Raises:
        _NotConstantError: The value may change unnoticed.
    """

    def keys_of(parts: Iterable[object]) -> Iterator[Hashable]:
        return (_key_of(part, seen) for part in parts)

    kind = type(value)
    if kind in (*PLAIN_TYPES, str, type(None)):
        return kind, value
    if isinstance(value, _UNCHANGING) or id(value) in seen:
        return value if kind is _Same else _Same(value)
    seen.add(id(value))
    if kind is FunctionType:
        return value.__code__, _Same(value.__globals__), *keys_of(_parts(value))
    if kind is partial:
        return kind, *keys_of((value.func, value.args, value.keywords))
    if kind in _COLLECTIONS and len(value) <= _MOST_COMPARED:
        return kind.__name__, *keys_of(value), *keys_of(value.values() if kind is dict else ())
    raise _NotConstantError


def _parts(function: FunctionType) -> list[Any]:
    """Return the objects that a function reads: its defaults, the variables around it, and those of its module.

    Of other modules and of classes, only functions, classes, plain values and collections count: the rest of them is
    seldom replaced. Functions of installed packages do not change.
    """
    module = function.__globals__
    names = _names(function.__code__)
    read = [module[name] for name in names if name in module]
    defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    parts = [*defaults, *map(_contents, function.__closure__ or ()), *read]
    for part in parts:  # which grows: an attribute that is read may have attributes that are
        if isinstance(part, _OWNERS):
            owners = part.__mro__ if isinstance(part, type) else (part,)
            values = [vars(owner).get(name) for owner in owners for name in names]
            values = [value.__func__ if isinstance(value, staticmethod | classmethod) else value for value in values]
            new = [value for value in values if isinstance(value, _OWNERS) and not any(value is one for one in parts)]
            parts += [value for value in values if type(value) in _CHANGING] + new
    return [_Same(part) if type(part) is FunctionType and _is_installed(part) else part for part in parts]


def _is_installed(function: FunctionType) -> bool:
    file = function.__globals__.get("__file__")
    return isinstance(file, str) and file.startswith(_INSTALLED)


@lru_cache(maxsize=256)
def _names(code: CodeType) -> tuple[str, ...]:
    """Return the names of global variables and attributes that code reads, with the functions inside it."""
    inner = [_names(part) for part in code.co_consts if isinstance(part, CodeType)]
    return tuple(dict.fromkeys(chain(code.co_names, *inner)))


def _contents(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a variable that has no value yet
        return cell


class _NotConstantError(Exception):
    """A value that a function reads may change unnoticed."""


class _Same:
    """A reference to an object, equal to others to the same object."""

    def __init__(self, to: object) -> None:
        self._to = to

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self._to is other._to

    def __hash__(self) -> int:
        return id(self._to)


_UNCHANGING = (ModuleType, type, BuiltinFunctionType, itemgetter, re.Pattern, _Same)
"""Types of objects that do not change, or of which `_parts` reads what may change."""

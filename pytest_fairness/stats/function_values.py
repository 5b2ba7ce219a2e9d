"""Values of functions of attempts, kept for later evaluations of a test."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import itemgetter
from types import CellType, FunctionType
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
    """Return a key of the values that a function gives; None where an object that it reads may change.

    Functions of the same code and with the same values in their closures have one key: each evaluation of a test makes
    functions of its own.
    """
    if isinstance(function, itemgetter):
        return function
    if not isinstance(function, FunctionType):
        return None
    parts = _parts(function)
    is_constant = all(map(_is_constant, parts))
    return (function.__code__, _Same(function.__globals__), *map(type, parts), *parts) if is_constant else None


def outcome_key(function: Function) -> Hashable:
    """Return a key of a function, which is another one once a variable that it reads was set to another object."""
    parts = _parts(function) if isinstance(function, FunctionType) else []
    return constant_key(function) or (_Same(function), *map(_Same, parts))


def _parts(function: FunctionType) -> list[Any]:
    """Return the objects that a function was made with: its defaults, and the variables around it."""
    defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    return defaults + list(map(_contents, function.__closure__ or ()))


def _contents(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a variable that has no value yet
        return cell


def _is_constant(value: object) -> bool:
    return all(map(_is_constant, value)) if type(value) is tuple else type(value) in (*PLAIN_TYPES, str, type(None))


class _Same:
    """A reference to an object, equal to others to the same object."""

    def __init__(self, to: object) -> None:
        self._to = to

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self._to is other._to

    def __hash__(self) -> int:
        return id(self._to)

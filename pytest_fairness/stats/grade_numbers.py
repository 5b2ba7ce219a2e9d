"""Values of grades as numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from numbers import Real
from typing import Any

import numpy as np

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.formatting import plain_name
from pytest_fairness.core.propensities import Propensities
from pytest_fairness.stats.columns import Floats

PLAIN_TYPES = (bool, int, float)
"""Types of values that are numbers as they are."""


def graded_options(values: Iterable[Any]) -> Iterator[Any]:
    """Yield the values of grades; for propensities, their options."""
    for value in values:
        if isinstance(value, Propensities):
            yield from (option for option, _ in value.shares)
        elif value is not None:
            yield value


def grade_numbers(grade: str, values: Sequence[Any], equals: Any) -> Floats:
    """Return the values of a grade as numbers, each distinct one read once; nan where ungraded."""
    kinds = set(map(type, values)) - {type(None)}
    if equals is None and kinds.issubset(PLAIN_TYPES):
        return np.array(values, dtype=np.float64)
    if kinds <= {str}:
        numbers = {value: grade_number(grade, value, equals) for value in dict.fromkeys(values)}
        return np.array([numbers[value] for value in values], dtype=np.float64)
    return np.array([grade_number(grade, value, equals) for value in values], dtype=np.float64)


def grade_number(grade: str, value: Any, equals: Any) -> float:
    """Return the value of a grade as a number: whether it equals ``equals``, if that is given; nan where ungraded.

    Raises `FairnessError` for a value that is no number.
    """
    if value is None:
        return np.nan
    if isinstance(value, Propensities):
        expected = value.expected(lambda option: grade_number(grade, option, equals))
        return expected / value.graded if value.graded > 0 else np.nan
    if equals is not None:
        return float(is_value(value, equals))
    if type(value) in PLAIN_TYPES:  # the common case, checked first for speed
        return float(value)
    if isinstance(value, Real | np.bool_):
        return float(value)
    raise FairnessError(f"the grade {grade!r} holds {value!r}, which is no number: say which value counts, equals=...")


def is_value(value: Any, equals: Any) -> bool:
    """Return whether a value of a grade is the one that is counted, as itself or in writing."""
    return bool(value == equals) or str(value) == str(equals)


def refuse_look_alike(what: str, value: Any, equals: Any) -> None:
    """Raise `FairnessError` for a value that looks like the one that is counted, but is not equal to it."""
    if plain_name(str(value)) == plain_name(str(equals)) and not is_value(value, equals):
        raise FairnessError(f"{what} is {value!a}, which looks like {equals!a} and is not counted: write one of them")

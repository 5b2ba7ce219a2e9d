"""Arithmetic and bounds that an estimate refuses, each with what to take in its place."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from numbers import Real
from typing import Never

from pytest_fairness.core.errors import MisuseError, short_repr
from pytest_fairness.core.written_numbers import plain_number

_METRICS = {"-": "difference", "/": "ratio"}
_SIGNS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "matmul": "@",
    "divmod": "divmod",
}
_NUMBERS = ("float", "int", "complex", "round", "trunc", "floor", "ceil")


class WithoutArithmetic:
    """Base class of values with an interval, which a result of Python's arithmetic would not have."""

    __slots__ = ()
    __array_ufunc__ = None
    """None: numbers and arrays of numpy leave operations to the methods of this class."""


def _refuse_operation(sign: str) -> Callable[..., Never]:
    def operation(_: object, other: object, *_more: object) -> Never:
        __tracebackhide__ = True
        if not isinstance(other, WithoutArithmetic):
            raise MisuseError(
                f"an estimate is not computed with ({sign} and {short_repr(other)}): compare it with another bound, "
                "as in `rate <= 0.25` in place of `rate * 2 <= 0.5`"
            )
        metric = _METRICS.get(sign)
        taken = f"measured.{metric}(...)" if metric else "one metric, such as measured.difference(...) or ratio(...)"
        raise MisuseError(f"`{sign}` of two estimates has no interval: take {taken}")

    return operation


def _refuse_number(name: str) -> Callable[..., Never]:
    def number(_: object, *_more: object) -> Never:
        __tracebackhide__ = True
        raise MisuseError(
            f"{name}() of an estimate is a number without its interval: compare the estimate itself, as in "
            "`assert estimate <= 0.1`; outside of a threshold, `estimate.value` is its number"
        )

    return number


for _name, _sign in _SIGNS.items():
    setattr(WithoutArithmetic, f"__{_name}__", _refuse_operation(_sign))
    setattr(WithoutArithmetic, f"__r{_name}__", _refuse_operation(_sign))
for _name in _NUMBERS:
    setattr(WithoutArithmetic, f"__{_name}__", _refuse_number(_name))


def finite_bound(bound: object) -> float:
    """Return the number that an estimate is compared with.

    Raises:
        MisuseError: It is no finite number.
    """
    given = "another estimate" if isinstance(bound, WithoutArithmetic) else short_repr(bound)
    if isinstance(bound, Real | Decimal) and not isinstance(bound, bool):
        try:
            number = float(bound)
        except (OverflowError, ValueError):  # 10**400, and a signaling NaN
            number, given = math.nan, given if len(given) <= 20 else f"{given:.12}..."
        if math.isfinite(number):
            return number
    raise MisuseError(f"an estimate is compared with a finite number, not with {given}: {_meant_bound(bound)}")


def _meant_bound(bound: object) -> str:
    """Return what may be meant by a bound that is no finite number."""
    if isinstance(bound, WithoutArithmetic):
        return (
            "of two estimates take measured.difference(...) or measured.ratio(...), and for the largest of several "
            "compare a family, such as measured.differences(...)"
        )
    text = bound.strip() if isinstance(bound, str) else ""
    try:
        number = float(plain_number(text) or text)
    except ValueError:
        number = math.nan
    return f"write {number:g}, without quotation marks" if math.isfinite(number) else "write one, such as 0.1"

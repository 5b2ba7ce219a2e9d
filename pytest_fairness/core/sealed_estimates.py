"""An estimate in a threshold's test: its numbers cannot be read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pytest_fairness.core.calls import explains_calls
from pytest_fairness.core.decisions import Verdict, current_recorder, refused, text_shown
from pytest_fairness.core.errors import FairnessError, NoSuchNameError, did_you_mean
from pytest_fairness.core.estimates import Estimate, Mark
from pytest_fairness.core.formatting import format_subject
from pytest_fairness.core.marks import MarkScale

_DESCRIPTIONS = frozenset({"kind", "confidence", "slice", "attribute", "grade", "equals", "scale", "parity"})
"""The attributes of an estimate that say what it is of: a threshold's test may read them.

Its name and title are none: those of a pair begin with the group that fares worse.
"""
_AMOUNTS = frozenset({"items", "sources", "attempts", "invalid"})
"""Those that say how much was measured: it may read them, and leave out nothing by them."""
_SEALED_METHODS = frozenset({"mark", "marked", "titled", "decide", "text", "_answer", "_noun", "_other"})
_COPYING = frozenset({"__getstate__", "__reduce__", "__reduce_ex__", "__copy__", "__deepcopy__"})
"""Methods by which Python copies or pickles an object with all it holds."""


@explains_calls
class SealedEstimate(Estimate):
    """An estimate in a threshold's test: it is compared, and its numbers are not read.

    A number without its interval decides nothing, and one that was never measured would be left out unseen. Reading
    one raises at the line that does.

    Args:
        estimate: The estimate.
    """

    __slots__ = ("_sealed",)
    _sealed: Estimate

    def __init__(self, estimate: Estimate) -> None:
        object.__setattr__(self, "_sealed", estimate)

    def __getattribute__(self, name: str) -> Any:
        estimate = unsealed(self)
        if name in _DESCRIPTIONS:
            return getattr(estimate, name)
        if name in _AMOUNTS:
            recorder = current_recorder()
            if recorder is not None:
                recorder.note_unmeasured(estimate)
            return getattr(estimate, name)
        if name in _SEALED_METHODS or (name.startswith("__") and name not in _COPYING):
            return object.__getattribute__(self, name)
        if not hasattr(estimate, name):
            names = {"value", *_DESCRIPTIONS, *_AMOUNTS, *(one for one in _SEALED_METHODS if not one.startswith("_"))}
            raise NoSuchNameError(f"an estimate has no attribute {name!r}; {did_you_mean(name, names)}")
        raise refused(
            f"`{name}` of {format_subject(estimate)} is a number without its interval, which a threshold must not "
            'read: compare the estimate itself, as in `assert estimate <= 0.1`; f"{estimate}" is its text'
        )

    @property
    def mark(self) -> Mark:
        return Mark(unsealed(self))

    def marked(self, scale: MarkScale) -> Estimate:
        return SealedEstimate(unsealed(self).marked(scale))

    def titled(self, title: str) -> Estimate:
        return SealedEstimate(unsealed(self).titled(title))

    def decide(self, op: str, bound: float) -> Verdict:
        raise refused(f"decide is for notebooks and scripts: write `assert ... {op} {bound}` in a threshold")

    def text(self, bounds: Iterable[float] = ()) -> str:
        return text_shown(unsealed(self).text(bounds))

    def _answer(self, op: str, bound: object) -> bool:
        if current_recorder() is None:
            raise FairnessError(
                f"{format_subject(unsealed(self))} is compared after its threshold's test has ended, where nothing "
                "judges the comparison: compare it in the test"
            )
        return super()._answer(op, bound)

    def __repr__(self) -> str:
        return text_shown(repr(unsealed(self)))

    def __format__(self, spec: str) -> str:
        return text_shown(format(unsealed(self), spec))

    def __abs__(self) -> Estimate:
        return SealedEstimate(abs(unsealed(self)))

    def __neg__(self) -> Estimate:
        return SealedEstimate(-unsealed(self))


SealedEstimate.__name__ = Estimate.__name__  # in Python's own messages: "not 'Estimate'"


def unsealed(estimate: Estimate) -> Estimate:
    """Return the estimate with its numbers, for the code that judges."""
    if isinstance(estimate, SealedEstimate):
        sealed: Estimate = object.__getattribute__(estimate, "_sealed")
        return sealed
    return estimate

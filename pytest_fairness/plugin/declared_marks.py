"""Marks of this plugin: their descriptions, and the values of test modules that have one.

Every pytest run loads this module, so it imports next to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeGuard

import pytest

MARKS = (
    (
        "probe(items, grade={'name': grader}, repetitions=1, harm='', sources='random', crossed=None, "
        "formats=None, confidence=0.95, calibration=None, tools=None, profiles={}, expected={}, control=None, "
        "literal=(), id=...): one "
        "fairness question; each of its items becomes a test that measures it; formats=['letters', 'json'] asks in "
        "several answer formats; "
        "calibration='labels.jsonl' corrects a judge's grades by a human's labels; "
        "profiles={'audit': {'items': 400, 'repetitions': 3}} is its size in a profile of --fairness-profile; "
        "expected={'grade': {value: share}} is what a plan takes for a fair model's answers; "
        "control={'grade': {'attribute': ('higher', 'lower')}} is what should move its answers; "
        "literal=['[AGE]'] are blanks in its prompts that the model is to read as they are; "
        "id='screening' is its name where a function or a loop makes it"
    ),
    (
        "threshold(probe, title='', scale=None, slices=(), exclude={}): a test of `measured`, the metrics of that "
        "probe's whole sample; title='Women and men advance alike' is its name in reports; "
        "slices=('language',) lets each language say unfair; exclude={'gender': 'nonbinary'} leaves a group out; "
        "scale=MarkScale(A=..., B=..., C=...) is for the marks of its estimates"
    ),
    (
        "flaky_threshold(reason, until, max_flip=0.2): report this threshold as flaky, not failed, "
        "while it is undecided, until that date"
    ),
)


def get_marks(value: Any) -> Iterator[pytest.Mark]:
    """Yield the marks on any value of a test module: mocks and proxies answer or raise for every attribute."""
    try:
        marks = getattr(value, "__func__", value).pytestmark  # of a static method, its function's
    except Exception:  # noqa: BLE001 - of the user's object
        return
    for mark in marks if isinstance(marks, list | tuple) else [marks]:
        mark = mark.mark if isinstance(mark, pytest.MarkDecorator) else mark
        if isinstance(mark, pytest.Mark):
            yield mark


_MENTIONS = re.compile(rb"threshold|pytest_fairness|\bmeasured\b", re.IGNORECASE)
"""The words of which a file with thresholds has one: an alias of the mark, a factory and a loop use one of them too."""


def mentions_thresholds(file: Path) -> bool:
    """Return whether a file that was not imported may have thresholds."""
    try:
        return file.is_file() and _MENTIONS.search(file.read_bytes()) is not None
    except OSError:
        return True


_NAMES = frozenset(("probe", "threshold"))


def is_class(value: object) -> TypeGuard[type]:
    """Return whether a value of a test module is a class; of a proxy, `isinstance` may raise."""
    return issubclass(type(value), type)


def has_own_mark(value: object) -> bool:
    """Return whether a value of a test module is marked as a probe or threshold, or is a class with one that is.

    A project may have marks of the same names: see `markers.get_mark`.
    """
    if not is_class(value):
        return any(mark.name in _NAMES for mark in get_marks(value))
    members = [member for base in type.mro(value)[:-1] for member in vars(base).values()]
    return any(has_own_mark(member) for member in members if not is_class(member) or _is_nested(member, value))


def _is_nested(member: type, cls: type) -> bool:
    return member.__qualname__.startswith(f"{cls.__qualname__}.")

"""Arguments of marks, each read and checked by one field of a record."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from pytest_fairness.core.clock import Clock
from pytest_fairness.core.controls import Control, read_controls
from pytest_fairness.core.field_readers import matching, number, text_of, whole
from pytest_fairness.core.formatting import LONGEST_TITLE, title_fault
from pytest_fairness.core.json_objects import is_number
from pytest_fairness.core.lazy_patterns import lazy_pattern
from pytest_fairness.core.marks import MarkScale
from pytest_fairness.core.placebos import Placebo
from pytest_fairness.core.serialization import Reader, checked
from pytest_fairness.plugin.config.option_values import MOST_REPETITIONS
from pytest_fairness.plugin.config.profiles import Profiles

DEFAULT_GRADERS = {"answer": "grader"}
"""The default graders of a probe: the fixture `grader`."""
NO_PROBE = "it is not marked as a probe: name a test with @pytest.mark.probe"
"""The rule for a threshold's probe."""
_PROBE_ID = lazy_pattern(r"[\w.-]{1,100}")
_LONGEST_FLAKY = timedelta(days=366)
"""The longest duration of a flaky mark."""

repetitions = whole(1, MOST_REPETITIONS)
confidence = number(0.8, below=1)


def probe_id(value: object) -> str:
    """Return the name that a probe has in its file, a short, plain text."""
    if isinstance(value, str) and _PROBE_ID.fullmatch(value):
        return value
    raise ValueError("write up to 100 letters, digits, hyphens, underscores and dots")


def graders(value: object) -> Mapping[str, Any]:
    """Return the graders of a mark by grade; a fixture is given by its name."""
    if not isinstance(value, Mapping) or not value:
        raise ValueError("write grade={'name': grader}")
    for name in value:
        if not isinstance(name, str):
            raise ValueError(f"the name of a grade is {name!r:.60}: it must be a text")
    return value


def slices(value: object) -> tuple[str, ...]:
    """Return the attributes of slices."""
    names = (value,) if isinstance(value, str) else value
    if not isinstance(names, tuple | list) or not all(isinstance(name, str) and name for name in names):
        raise ValueError("name attributes, as in slices=('language',)")
    if len(set(names)) < len(names):
        raise ValueError("name each attribute once")
    return tuple(names)


def _literal(value: object) -> Literal[True] | Collection[str]:
    if value is True or (isinstance(value, list | tuple) and all(isinstance(text, str) for text in value)):
        return value
    raise ValueError("write a list of blanks, as in literal=['[AGE]']")


def _expected(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError("write expected={'grade': {value: share}}")
    for name, shares in value.items():
        # One attribute may have shares for each of its values.
        by_value = next(iter(shares.values())) if isinstance(shares, Mapping) and len(shares) == 1 else None
        if not all(map(_are_shares, by_value.values() if isinstance(by_value, Mapping) and by_value else [shares])):
            raise ValueError(
                f"write for {name} the share of true, or {{value: share}} of at most 1 in all, or one of these for "
                "each value of an attribute, {'attribute': {value: ...}}"
            )
    return value


def _are_shares(shares: Any) -> bool:
    numbers = list(shares.values()) if isinstance(shares, Mapping) else [shares]
    are_numbers = all(is_number(number) and 0 <= number <= 1 for number in numbers)
    return bool(numbers) and are_numbers and sum(numbers) <= 1 + 1e-9


def _exclude(value: object) -> Mapping[str, tuple[str, ...]]:
    rule = "write exclude={'attribute': 'group'}"
    excluded: dict[str, tuple[str, ...]] = {}
    if not isinstance(value, Mapping):
        raise ValueError(rule)
    for by, groups in value.items():
        names = (groups,) if isinstance(groups, str) else groups
        if not isinstance(by, str) or not isinstance(names, tuple | list) or not names:
            raise ValueError(rule)
        if not all(isinstance(name, str) and name for name in names):
            raise ValueError(rule)
        excluded[by] = tuple(names)
    return excluded


def _title(value: object) -> str:
    if value is None:
        return ""
    rule = f"write one line of 1 to {LONGEST_TITLE} characters, such as title='Women and men advance alike'"
    title = value.strip() if isinstance(value, str) else ""
    if len(title) > LONGEST_TITLE:
        raise ValueError(f"it has {len(title):,} characters: {rule}")
    if title_fault(title):
        raise ValueError(f"it has a line break or a control character: {rule}" if title else rule)
    return title


def _until(value: object) -> date:
    until = value
    if isinstance(until, str):
        with suppress(ValueError):
            until = date.fromisoformat(until)
    if isinstance(until, datetime) or not isinstance(until, date):
        raise ValueError("write a date as in 2026-12-31")
    latest = Clock.now().date() + _LONGEST_FLAKY
    if until > latest:
        raise ValueError(f"it must be at most a year ahead, up to {latest}")
    return until


def _stripped(rule: str) -> Reader:
    read = text_of(rule, empty=False)
    return lambda value: read(value).strip()


def _optional(read: Reader) -> Reader:
    """Return a reader that passes None."""
    return lambda value: None if value is None else read(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeMark:
    """The arguments of ``@pytest.mark.probe``."""

    items: Any
    grade: Mapping[str, Any] = checked(graders, default_factory=DEFAULT_GRADERS.copy)
    repetitions: int = checked(repetitions, default=1)
    """Attempts per prompt."""
    harm: str | None = checked(_optional(text_of("write a text, such as harm='allocation'")), default=None)
    sources: str = checked(
        matching(("random", "fixed").__contains__, "it must be 'random' or 'fixed'"), default="random"
    )
    crossed: str | None = checked(_optional(text_of("write a text, such as crossed='template'")), default=None)
    formats: Any = None
    confidence: float = checked(confidence, default=0.95)
    """The confidence of its intervals."""
    calibration: str | Path | None = checked(
        _optional(matching(lambda value: isinstance(value, str | Path), "name a JSONL file of labels")), default=None
    )
    tools: Any = None
    space: Any = checked(
        matching(
            lambda value: isinstance(getattr(value, "start", None), Mapping),
            "write space=Space(...) of pytest_fairness.design",
        ),
        default=None,
    )
    profiles: Profiles = checked(
        lambda profiles: profiles, written=Profiles, rule="write profiles={'audit': {'items': 400}}", default=Profiles()
    )
    expected: Mapping[str, Any] = checked(_expected, default_factory=dict)
    """The answers that a plan expects of a fair model: a distribution by grade, and ``icc``."""
    placebo: Placebo | None = checked(
        matching(
            lambda value: value is None or callable(value) or (isinstance(value, str) and bool(value.strip())),
            "name metadata of prompts that holds other wordings, or write a function from a prompt to them",
        ),
        default=None,
    )
    """The other wordings of prompts, which show how often answers flip by themselves."""
    control: Sequence[Control] = checked(read_controls, default=())
    """The factors that should move its grades."""
    literal: Literal[True] | Collection[str] = checked(_literal, default=())
    """The blanks of prompts that are meant as they are; True for all."""
    id: str | None = checked(probe_id, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdMark:
    """The arguments of ``@pytest.mark.threshold``."""

    probe: Callable[..., object] = checked(matching(callable, NO_PROBE))
    title: str = checked(_title, default="")
    scale: MarkScale | None = checked(
        matching(lambda value: isinstance(value, MarkScale | None), "write scale=MarkScale(A=..., B=..., C=...)"),
        default=None,
    )
    """The mark scale of all its estimates."""
    slices: tuple[str, ...] = checked(slices, default=())
    """The attributes whose values are slices."""
    exclude: Mapping[str, tuple[str, ...]] = checked(_exclude, default_factory=dict)
    """The groups that are left out, by attribute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlakyMark:
    """The mark of a flaky threshold: its reason, owner, last day and allowed flip probability."""

    reason: str = checked(_stripped("say why it may flip"))
    by: str = checked(_stripped("name who looks after it"))
    until: date = checked(_until)
    max_flip: float = checked(
        matching(
            lambda value: is_number(value) and 0.08 <= value <= 0.5,
            "it must be a number from 0.08 (less cannot be shown) to 0.5",
        ),
        default=0.2,
    )

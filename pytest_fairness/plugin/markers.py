"""Marks of probes, thresholds and flaky thresholds, with checks of their arguments."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import pytest

from pytest_fairness.core.clock import Clock
from pytest_fairness.core.errors import FairnessError, UngradedReason, did_you_mean
from pytest_fairness.core.formatting import LONGEST_TITLE, title_fault
from pytest_fairness.core.json_objects import is_number
from pytest_fairness.core.lazy_patterns import lazy_pattern
from pytest_fairness.core.marks import MarkScale
from pytest_fairness.plugin.option_values import MOST_REPETITIONS

PROBE_ARGUMENTS = (
    *("items", "grade", "repetitions", "harm", "sources", "crossed", "formats", "confidence", "calibration"),
    *("tools", "space", "profiles", "expected", "control", "literal", "id"),
)
THRESHOLD_ARGUMENTS = ("probe", "title", "scale", "slices", "exclude")
FLAKY_ARGUMENTS = ("reason", "by", "until", "max_flip")
_GRADING = {"grade": ("prompt", "answer"), "grade_item": ("item", "attempts"), "grade_batch": ("attempts",)}
"""The methods of graders, with their arguments."""
_PROBE_ID = lazy_pattern(r"[\w.-]{1,100}")
_LONGEST_FLAKY = timedelta(days=366)
"""The longest duration of a flaky mark."""

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
        "flaky_threshold(reason, by, until, max_flip=0.2): accept this threshold while it is undecided, "
        "until that date; its owner and reason are shown"
    ),
)


def check_probe_id(value: object) -> str:
    """Return the name that a probe has in its file.

    Raises:
        FairnessError: It is no short, plain text.
    """
    if isinstance(value, str) and _PROBE_ID.fullmatch(value):
        return value
    raise FairnessError(f"id is {value!r:.60}: write up to 100 letters, digits, hyphens, underscores and dots")


def check_repetitions(value: object) -> int:
    """Return the attempts per prompt.

    Raises:
        FairnessError: For an invalid number.
    """
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MOST_REPETITIONS:
        raise FairnessError(f"repetitions is {value!r}: it must be a whole number from 1 to {MOST_REPETITIONS:,}")
    return value


def check_literal(value: object) -> Literal[True] | Collection[str]:
    """Return the blanks of prompts that are meant as they are; True for all.

    Raises:
        FairnessError: The value is malformed.
    """
    if value is True or (isinstance(value, list | tuple) and all(isinstance(text, str) for text in value)):
        return value
    raise FairnessError(f"literal is {value!r:.60}: write a list of blanks, as in literal=['[AGE]']")


def check_expected(value: object) -> Mapping[str, Any]:
    """Return the expected answers of a fair model.

    Raises:
        FairnessError: The value is malformed.
    """
    if not isinstance(value, Mapping):
        raise FairnessError(f"expected is {value!r:.60}: write expected={{'grade': {{value: share}}}}")
    for name, shares in value.items():
        # One attribute may have shares for each of its values.
        by_value = next(iter(shares.values())) if isinstance(shares, Mapping) and len(shares) == 1 else None
        if not all(map(_are_shares, by_value.values() if isinstance(by_value, Mapping) and by_value else [shares])):
            raise FairnessError(
                f"expected: {name} is {shares!r:.60}: write the share of true, or {{value: share}} of at most 1 in "
                "all, or one of these for each value of an attribute, {'attribute': {value: ...}}"
            )
    return value


def _are_shares(shares: Any) -> bool:
    numbers = list(shares.values()) if isinstance(shares, Mapping) else [shares]
    are_numbers = all(is_number(number) and 0 <= number <= 1 for number in numbers)
    return bool(numbers) and are_numbers and sum(numbers) <= 1 + 1e-9


def check_graders(value: object) -> Mapping[str, Any]:
    """Return the graders of a mark by grade; a fixture is given by its name.

    Raises:
        FairnessError: The value is malformed.
    """
    if not isinstance(value, Mapping) or not value:
        raise FairnessError(f"grade is {value!r}: write grade={{'name': grader}}")
    for name in value:
        if not isinstance(name, str):
            raise FairnessError(f"the name of a grade is {name!r:.60}: it must be a text")
    return value


def check_grader(name: str, grader: object) -> None:
    """Check that a grader is an object with a method that grades, and the types of its optional attributes.

    Raises:
        FairnessError: It is not.
    """
    if isinstance(grader, type):
        raise FairnessError(f"the grader of {name!r} is the class {grader.__name__}: write {grader.__name__}()")
    methods = [method for method in _GRADING if callable(getattr(grader, method, None))]
    if not methods:
        raise FairnessError(
            f"the grader of {name!r} is {grader!r}: "
            "it has no grade(prompt, answer), no grade_item(item, attempts) and no grade_batch(attempts)"
        )
    fingerprint = getattr(grader, "fingerprint", None)
    if fingerprint is not None and not isinstance(fingerprint, str):
        raise FairnessError(f"the fingerprint of the grader of {name!r} is {fingerprint!r:.60}: it must be a text")
    accepts = getattr(grader, "accepts", ())
    reasons = get_args(UngradedReason)
    if not isinstance(accepts, Collection) or not all(reason in reasons for reason in accepts):
        raise FairnessError(
            f"accepts of the grader of {name!r} is {accepts!r:.60}: write a tuple of reasons, such as ('refusal',); "
            f"known: {', '.join(reasons)}"
        )
    for method in methods:
        try:
            inspect.signature(getattr(grader, method)).bind(*_GRADING[method])
        except TypeError as error:
            call = f"{method}({', '.join(_GRADING[method])})"
            raise FairnessError(f"the grader of {name!r} cannot be called as {call}: {error}") from None
        except ValueError:  # a builtin without a signature
            continue


def check_confidence(value: object) -> float:
    """Return the confidence of intervals.

    Raises:
        FairnessError: For an invalid number.
    """
    if not isinstance(value, float) or not 0.8 <= value < 1:
        raise FairnessError(f"confidence is {value!r}: it must be a number from 0.8 to below 1")
    return value


def check_arguments(mark: str, arguments: Mapping[str, Any], allowed: tuple[str, ...], *, required: str) -> None:
    """Check the names of a mark's arguments.

    Raises:
        FairnessError: An argument is unknown, or missing.
    """
    for name in arguments:
        if name not in allowed:
            raise FairnessError(f"@pytest.mark.{mark} has no argument {name!r}; {did_you_mean(name, allowed)}")
    if required not in arguments:
        raise FairnessError(f"@pytest.mark.{mark} needs `{required}=`")


_KEYWORDS = {"probe": {"items", "grade"}, "threshold": {"probe"}}
_FIXTURES = {"probe_item", "measured"}


class OwnMarks(NamedTuple):
    """The marks of this plugin that a test has."""

    probe: bool
    threshold: bool


_OWN_MARKS: pytest.StashKey[OwnMarks] = pytest.StashKey()
_shared_marks = cache(OwnMarks)


def get_mark(function: object, name: str) -> pytest.Mark | None:
    """Return the mark of a name on a test function itself.

    A project may have marks of the same names: those of this plugin have one of its keywords, or the test takes one of
    its fixtures.
    """
    last: pytest.Mark | None = None
    for mark in _get_marks(function):
        if mark.name == name:
            last = mark
    is_ours = last is not None and (not _KEYWORDS[name].isdisjoint(last.kwargs) or _takes_ours(function))
    return last if is_ours else None


def check_own_marks(function: object, name: str) -> None:
    """Check that a test has one mark of a name, and a probe none for thresholds.

    Raises:
        FairnessError: It has two, of which pytest would take one; or a probe's test is marked flaky.
    """
    marks = list(_get_marks(function))
    if sum(mark.name == name and not _KEYWORDS[name].isdisjoint(mark.kwargs) for mark in marks) > 1:
        raise FairnessError(
            f"@pytest.mark.{name} is given twice, and one of the two would be ignored: keep one, or write two tests"
        )
    if name == "probe" and any(mark.name == "flaky_threshold" for mark in marks):
        raise FairnessError(
            "@pytest.mark.flaky_threshold is for a threshold, and this test measures: mark the threshold that may flip"
        )


def check_grade_names(kind: str, names: Iterable[str], graders: Mapping[str, Any]) -> None:
    """Check that what a mark declares about grades is about grades of its probe.

    Args:
        kind: The argument of the mark.
        names: The grades that it names.
        graders: The graders of the probe by grade: a judge may give several grades, and a fixture any.

    Raises:
        FairnessError: There is no such grade.
    """
    grades: list[str] = []
    for name, grader in graders.items():
        fields = getattr(grader, "fields", None) if hasattr(grader, "graders") else ()
        if isinstance(grader, str) or not isinstance(fields, Sequence):
            return
        grades += [name, *(str(getattr(field, "name", "")) for field in fields)]
    for name in names:
        if name not in grades and not any(name.startswith(f"{grade} by ") for grade in grades):
            raise FairnessError(f"{kind}: there is no grade {name!r}; {did_you_mean(name, grades)}")


def _get_marks(value: Any) -> Iterator[pytest.Mark]:
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


def own_marks(test: pytest.Function) -> OwnMarks:
    """Return the marks of a test, which are looked up once."""
    try:
        return test.stash[_OWN_MARKS]
    except KeyError:
        is_probe, is_threshold = (get_mark(test.function, name) is not None for name in OwnMarks._fields)
        marks = test.stash[_OWN_MARKS] = _shared_marks(is_probe, is_threshold)
        return marks


def _takes_ours(function: object) -> bool:
    try:
        return not _FIXTURES.isdisjoint(inspect.signature(function).parameters)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False


def get_mark_arguments(mark: pytest.Mark) -> Mapping[str, Any]:
    """Return the keywords of a mark.

    Raises:
        FairnessError: The mark has positional arguments.
    """
    if mark.args:
        raise FairnessError(f"@pytest.mark.{mark.name} takes keywords only, not {mark.args[0]!r}")
    return mark.kwargs


def threshold_probe(function: Callable[..., object]) -> Callable[..., object]:
    """Return the probe function that a threshold's mark names.

    Raises:
        FairnessError: The mark names no probe.
    """
    mark = get_mark(function, "threshold")
    assert mark is not None  # noqa: S101 - called for thresholds only
    arguments = get_mark_arguments(mark)
    check_arguments("threshold", arguments, THRESHOLD_ARGUMENTS, required="probe")
    probe: Callable[..., object] = arguments["probe"]
    if get_mark(probe, "probe") is None:
        raise FairnessError(f"threshold {function.__name__}: its probe is {probe!r}, which is not marked as a probe")
    check_own_marks(function, "threshold")
    threshold_scale(function)
    threshold_slices(function)
    threshold_exclude(function)
    title = arguments.get("title")
    if title is not None and (fault := title_fault(title)):
        raise FairnessError(
            f"threshold {function.__name__}: its title {fault}: "
            f"write one line of 1 to {LONGEST_TITLE} characters, such as title='Women and men advance alike'"
        )
    return probe


def declared_title(function: object) -> str:
    """Return the title of a threshold's mark; empty if it is missing or invalid."""
    mark = get_mark(function, "threshold")
    title = None if mark is None else mark.kwargs.get("title")
    return title.strip() if isinstance(title, str) and not title_fault(title) else ""


def threshold_scale(function: Callable[..., object]) -> MarkScale | None:
    """Return the mark scale of a threshold's mark for all its estimates, if it has one.

    Raises:
        FairnessError: The mark gives something other than a scale.
    """
    mark = get_mark(function, "threshold")
    scale = None if mark is None else mark.kwargs.get("scale")
    if not isinstance(scale, MarkScale | None):
        raise FairnessError(
            f"threshold {function.__name__}: its scale is {scale!r}: write scale=MarkScale(A=..., B=..., C=...)"
        )
    return scale


def check_slices(value: object) -> tuple[str, ...]:
    """Return the attributes of slices.

    Raises:
        FairnessError: The value names none, or one twice.
    """
    names = (value,) if isinstance(value, str) else value
    if not isinstance(names, tuple | list) or not all(isinstance(name, str) and name for name in names):
        raise FairnessError(f"slices is {value!r:.60}: name attributes, as in slices=('language',)")
    if len(set(names)) < len(names):
        raise FairnessError(f"slices is {value!r:.60}: name each attribute once")
    return tuple(names)


def threshold_slices(function: object) -> tuple[str, ...]:
    """Return the attributes whose values are slices of a threshold, by its mark.

    Raises:
        FairnessError: The mark names none.
    """
    mark = get_mark(function, "threshold")
    return () if mark is None else check_slices(mark.kwargs.get("slices", ()))


def threshold_exclude(function: object) -> Mapping[str, tuple[str, ...]]:
    """Return the groups that a threshold's mark leaves out, by attribute.

    Raises:
        FairnessError: The mark's value is malformed.
    """
    mark = get_mark(function, "threshold")
    value = {} if mark is None else mark.kwargs.get("exclude", {})
    return check_exclude(value)


def check_exclude(value: object) -> Mapping[str, tuple[str, ...]]:
    """Return groups that are left out, by attribute.

    Raises:
        FairnessError: The value is malformed.
    """
    if not isinstance(value, Mapping):
        raise FairnessError(f"exclude is {value!r:.60}: write exclude={{'attribute': 'group'}}")
    excluded: dict[str, tuple[str, ...]] = {}
    for by, groups in value.items():
        names = (groups,) if isinstance(groups, str) else groups
        if not isinstance(by, str) or not isinstance(names, tuple | list) or not names or not all(map(_is_text, names)):
            raise FairnessError(f"exclude is {value!r:.60}: write exclude={{'attribute': 'group'}}")
        excluded[by] = tuple(names)
    return excluded


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


@dataclass(frozen=True, slots=True)
class FlakyMark:
    """The mark of a flaky threshold: its reason, owner, last day and allowed flip probability."""

    reason: str
    by: str
    until: date
    max_flip: float = 0.2

    @classmethod
    def of(cls, item: pytest.Item) -> FlakyMark | None:
        """Return the mark on a threshold, its class or its module, checked.

        Raises:
            FairnessError: The mark has no reason or date, or an unattainable bound.
        """
        mark = item.get_closest_marker("flaky_threshold")
        if mark is None:
            return None
        if sum(own.name == mark.name for own in _get_marks(getattr(item, "function", None))) > 1:
            raise FairnessError("flaky_threshold is given twice, and one of the two would be ignored: keep one")
        arguments = dict(get_mark_arguments(mark))
        for name in ("reason", "by", "until"):
            check_arguments("flaky_threshold", arguments, FLAKY_ARGUMENTS, required=name)
        until = arguments["until"]
        if isinstance(until, str):
            with suppress(ValueError):
                until = date.fromisoformat(until)
        if isinstance(until, datetime) or not isinstance(until, date):
            raise FairnessError(f"flaky_threshold: until is {until!r}: write a date as in 2026-12-31")
        latest = Clock.now().date() + _LONGEST_FLAKY
        if until > latest:
            raise FairnessError(f"flaky_threshold: until is {until}: it must be at most a year ahead, up to {latest}")
        max_flip = arguments.get("max_flip", 0.2)
        if not isinstance(max_flip, (int, float)):
            raise FairnessError(f"flaky_threshold: max_flip is {max_flip!r}: it must be a number from 0.08 to 0.5")
        if not 0.08 <= max_flip <= 0.5:
            raise FairnessError(
                f"flaky_threshold: max_flip is {max_flip:g}: it must be from 0.08 (less cannot be shown) to 0.5"
            )
        texts = {name: str(arguments[name]).strip() for name in ("reason", "by")}
        for name, what in (("reason", "say why it may flip"), ("by", "name who looks after it")):
            if not texts[name]:
                raise FairnessError(f"flaky_threshold: {name} is empty: {what}")
        return cls(**texts, until=until, max_flip=float(max_flip))

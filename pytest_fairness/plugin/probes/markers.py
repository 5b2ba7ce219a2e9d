"""Marks of probes, thresholds and flaky thresholds on tests."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, get_args

import pytest

from pytest_fairness.core.errors import FairnessError, UngradedReason, did_you_mean
from pytest_fairness.core.formatting import title_fault
from pytest_fairness.core.serialization import RecordContext, read_record
from pytest_fairness.plugin.own_tests import get_marks
from pytest_fairness.plugin.probes.mark_arguments import NO_PROBE, FlakyMark, ThresholdMark

_GRADING = {"grade": ("prompt", "answer"), "grade_item": ("item", "attempts"), "grade_batch": ("attempts",)}
"""The methods of graders, with their arguments."""


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
    for mark in get_marks(function):
        if mark.name == name:
            last = mark
    is_ours = last is not None and (not _KEYWORDS[name].isdisjoint(last.kwargs) or _takes_ours(function))
    return last if is_ours else None


def check_own_marks(function: object, name: str) -> None:
    """Check that a test has one mark of a name, and a probe none for thresholds.

    Raises:
        FairnessError: It has two, of which pytest would take one; or a probe's test is marked flaky.
    """
    marks = list(get_marks(function))
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


def threshold_mark(function: Callable[..., object]) -> ThresholdMark:
    """Return the arguments of a threshold's mark, checked.

    Raises:
        FairnessError: An argument is unknown, missing or malformed, or the probe has no mark of a probe.
    """
    mark = get_mark(function, "threshold")
    assert mark is not None  # noqa: S101 - called for thresholds only
    context = RecordContext("@pytest.mark.threshold", f"threshold {function.__name__}: ", noun="argument")
    declared = read_record(ThresholdMark, get_mark_arguments(mark), context)
    if get_mark(declared.probe, "probe") is None:
        raise context.value_error(declared.probe, NO_PROBE, "probe")
    return declared


def threshold_probe(function: Callable[..., object]) -> Callable[..., object]:
    """Return the probe function that a threshold's mark names.

    Raises:
        FairnessError: The mark is malformed, or there are two.
    """
    check_own_marks(function, "threshold")
    return threshold_mark(function).probe


def declared_title(function: object) -> str:
    """Return the title of a threshold's mark; empty if it is missing or invalid."""
    mark = get_mark(function, "threshold")
    title = None if mark is None else mark.kwargs.get("title")
    return title.strip() if isinstance(title, str) and not title_fault(title) else ""


def flaky_mark(item: pytest.Item) -> FlakyMark | None:
    """Return the mark of a flaky threshold on the test, its class or its module, checked; None without one.

    Raises:
        FairnessError: The mark has no reason or date, or an unattainable bound; or there are two.
    """
    mark = item.get_closest_marker("flaky_threshold")
    if mark is None:
        return None
    if sum(own.name == mark.name for own in get_marks(getattr(item, "function", None))) > 1:
        raise FairnessError("flaky_threshold is given twice, and one of the two would be ignored: keep one")
    context = RecordContext("@pytest.mark.flaky_threshold", "flaky_threshold: ", noun="argument")
    return read_record(FlakyMark, get_mark_arguments(mark), context)

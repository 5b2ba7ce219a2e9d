"""A sample of graded attempts as a data frame, and as HTML for a notebook."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import Any

from pytest_fairness.core.attempts import GradedAttempt, value_or_none
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.estimate_tables import make_frame
from pytest_fairness.core.formatting import counted
from pytest_fairness.stats.selection import Selection


def frame_of(selection: Selection, backend: str | None) -> Any:
    """Return a data frame with a row for each attempt of a selection: see `Measured.to_frame`."""
    attempts = _attempts(selection)
    columns = selection.columns
    groups = sorted(columns.group_attributes)
    others = sorted(columns.known_attributes - columns.group_attributes)
    values: dict[str, list[Any]] = {
        "item": [attempt.item.id for attempt in attempts],
        "source": [attempt.item.source for attempt in attempts],
        "repetition": [attempt.attempt.repetition for attempt in attempts],
        **{f"group_{name}": [attempt.prompt.groups.get(name) for attempt in attempts] for name in groups},
        **{f"metadata_{name}": _texts(attempts, name) for name in others},
    }
    names = sorted(columns.known_grades, key=str)
    # test_columns_of_two_grades_are_not_merged_in_a_frame
    if twice := next((name for name, other in pairwise(map(str, names)) if name == other), None):
        raise FairnessError(f"two grades are called {twice}, a text and a number: give each a name of its own")
    for name in names:
        grades = [attempt.grades.get(name) for attempt in attempts]
        values[f"grade_{name}"] = _of_one_kind([None if grade is None else value_or_none(grade) for grade in grades])
        values[f"ungraded_{name}"] = [None if grade is None else grade.ungraded for grade in grades]
    if any(attempt.attempt.answer is not None for attempt in attempts):
        answers = [attempt.attempt.answer for attempt in attempts]
        values["answer"] = [None if answer is None else answer.text for answer in answers]
    return make_frame(values, backend)


def html_of(selection: Selection) -> str:
    """Return the sizes of a selection, its groups, and the graded and ungraded attempts of each grade."""
    columns = selection.columns
    lines = [f"{counted(selection.items, 'item')}, {counted(len(selection.rows), 'attempt')}"]
    lines += [f"{by}: {', '.join(selection.groups(by))}" for by in sorted(columns.group_attributes)]
    attempts = _attempts(selection) if columns.attempts else []
    rows = "".join(_grade_row(str(name), attempts, name) for name in sorted(columns.known_grades, key=str))
    head = "<thead><tr><th>grade</th><th>graded</th><th>ungraded</th></tr></thead>"
    return f"<p>{'<br>'.join(map(escape, lines))}</p><table>{head}<tbody>{rows}</tbody></table>"


def _attempts(selection: Selection) -> Sequence[GradedAttempt]:
    attempts = selection.columns.attempts
    if not attempts and selection.columns.count:
        raise FairnessError("this sample holds arrays of numbers, without attempts")
    return [attempts[row] for row in selection.rows.tolist()]


def _grade_row(name: str, attempts: Sequence[GradedAttempt], key: Any) -> str:
    grades = [attempt.grades.get(key) for attempt in attempts]
    graded = sum(grade is not None and grade.ungraded is None for grade in grades)
    return f'<tr><th scope="row">{escape(name)}</th><td>{graded:,}</td><td>{len(grades) - graded:,}</td></tr>'


def _texts(attempts: Sequence[GradedAttempt], name: str) -> list[str | None]:
    """Return an attribute of prompts or items as texts, which two of them may have of different kinds."""
    values = [attempt.prompt.metadata.get(name, attempt.item.metadata.get(name)) for attempt in attempts]
    return [None if value is None else str(value) for value in values]


_KINDS: Mapping[Callable[[Any], bool], type] = {
    lambda value: isinstance(value, bool): bool,
    lambda value: isinstance(value, int | float): float,
}


def _of_one_kind(values: Sequence[Any]) -> list[Any]:
    """Return values as a column holds them: true and false or numbers where all are, else texts."""
    present = [value for value in values if value is not None]
    kind = next((kind for holds, kind in _KINDS.items() if all(map(holds, present))), str)
    return [None if value is None else kind(value) for value in values]

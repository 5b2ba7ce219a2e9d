"""The competence of a model at a probe, from its whole sample: responses, levels, and remarks on the answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from pytest_fairness.core.answer_formats import FORMAT, VARIANT
from pytest_fairness.core.attempts import Grade, GradedAttempt, value_or_none
from pytest_fairness.core.choices import AnswerOptions
from pytest_fairness.core.controls import Control
from pytest_fairness.core.decisions import Decision
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.formatting import counted, one_line
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.model_names import is_recorded
from pytest_fairness.core.probe_results import FormatResult, GradeResult, ProbeResult
from pytest_fairness.core.propensities import Propensities
from pytest_fairness.core.sensitivity import ControlResponse
from pytest_fairness.core.threshold_results import ResponseResult
from pytest_fairness.stats.columns import Columns
from pytest_fairness.stats.grade_numbers import PLAIN_TYPES
from pytest_fairness.stats.measured import Measured
from pytest_fairness.stats.observational import observational_remarks
from pytest_fairness.stats.origins import find_replies
from pytest_fairness.stats.responses import find_responses
from pytest_fairness.stats.table_columns import EPOCH, repeats_questions

FEWEST_ANSWERS = 10
"""The fewest answers of which a remark is made that they are alike, or that none calls a tool."""
HABIT = 0.9
"""The share of answers at one place of the options from which on their place explains them."""
MOST_EXPECTED = 0.75
"""The share at that place that the chosen values alone explain, up to which the orders of the options vary."""
MOST_UNREAD = 0.1
"""The ungraded share of the answers in one format from which on it is named."""
MOST_VALUES = 10
"""The most values of a grade that holds text whose shares are shown."""
_ITEM = "item.id"
_LONGEST_TEXT = 40
_LONGEST_REASON = 80
_MOST_NAMES = 3
_PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def find_probe_result(
    sample: Measured, controls: Sequence[Control], *, suite: str, probe: str, model: str
) -> ProbeResult:
    """Return the competence of a model at a probe.

    Args:
        sample: Its whole sample.
        controls: The controls that the probe declares.
        suite: The name of its suite.
        probe: Its id.
        model: The name of the model.
    """
    attempts = sample.selection.columns.attempts
    try:
        responses = find_responses(sample, controls, [(control.grade, None) for control in controls])
        problems = []
    except FairnessError as error:  # a mistake in a control: its thresholds are invalid for it
        responses, problems = [], [str(error)]
    grades = _grades_by_name(attempts)
    formats = _read_by_format(attempts)
    has_answers = any(graded.attempt.answer is not None for graded in attempts)
    remarks = [
        *_without_calls(attempts),
        *_alike(attempts, grades, responses),
        *_positions(attempts, grades),
        *(
            [*observational_remarks(sample.selection.columns), *_pooled(sample), *_ungraded_rows(sample)]
            if is_recorded(model)
            else ()
        ),
        *_unread(formats),
    ]
    return ProbeResult(
        suite=suite,
        probe=probe,
        model=model,
        attempts=len(attempts),
        sensitivity=_sensitivity(controls, responses),
        responses=[ResponseResult.of_response(response) for response in responses],
        grades=[_grade(name, values) for name, values in grades.items()],
        formats=formats,
        remarks=[*problems, *(remarks if has_answers else ())],
        replies=find_replies(attempts, model),
    )


def _sensitivity(controls: Sequence[Control], responses: Sequence[ControlResponse]) -> str:
    if not controls:
        return "no control"
    decisions = {response.decision for response in responses}
    if Decision.FALSE in decisions:
        return "absent"
    return "shown" if decisions == {Decision.TRUE} else "not shown"


def _grades_by_name(attempts: Sequence[GradedAttempt]) -> dict[str, list[Any]]:
    """Return the graded values of each grade that is true or false, a number, a text, or propensities of these."""
    values: dict[str, list[Any]] = {}
    for graded in attempts:
        for name, grade in graded.grades.items():
            values.setdefault(name, []).append(value_or_none(grade))
    kinds = (*PLAIN_TYPES, np.bool_, np.number, str, Propensities)
    plain = {name: [value for value in column if value is not None] for name, column in values.items()}
    return {name: column for name, column in plain.items() if all(isinstance(value, kinds) for value in column)}


def _weighted(values: Sequence[Any]) -> dict[Any, float]:
    """Return the number of answers with each value; of propensities, their sum."""
    weights: Counter[Any] = Counter()
    for value in values:
        if isinstance(value, Propensities):
            for option, share in value.shares:
                weights[option] += share  # type: ignore[assignment]  # sums of probabilities
        else:
            weights[value] += 1
    return dict(weights)


def _grade(name: str, values: Sequence[Any]) -> GradeResult:
    weights = _weighted(values)
    total = sum(weights.values())
    if not total:
        return GradeResult(grade=name, graded=len(values))
    if all(not isinstance(value, str) for value in weights):
        mean = sum(float(value) * weight for value, weight in weights.items()) / total
        return GradeResult(grade=name, graded=len(values), mean=mean)
    shares = {str(value): weight / total for value, weight in sorted(weights.items(), key=lambda pair: -pair[1])}
    return GradeResult(grade=name, graded=len(values), shares=shares if len(shares) <= MOST_VALUES else {})


def _read_by_format(attempts: Sequence[GradedAttempt]) -> dict[str, FormatResult]:
    """Return how many answers were read in each answer format; nothing of a probe with one."""
    made: Counter[str] = Counter()
    read: Counter[str] = Counter()
    for graded in attempts:
        kind = graded.prompt.metadata.get(FORMAT)
        if isinstance(kind, str):
            made[kind] += 1
            read[kind] += not any(grade.ungraded for grade in graded.grades.values())
    return (
        {kind: FormatResult(attempts=made[kind], graded=read[kind]) for kind in sorted(made)} if len(made) > 1 else {}
    )


def _unread(formats: Mapping[str, FormatResult]) -> Iterator[str]:
    """Yield the share that was read in each format, where one is read less than a threshold needs."""
    if not any(part.graded < (1 - MOST_UNREAD) * part.attempts for part in formats.values()):
        return
    worst_first = sorted(formats.items(), key=lambda entry: entry[1].graded / entry[1].attempts)
    parts = (f"{kind} {part.graded:,} of {part.attempts:,}" for kind, part in worst_first)
    yield f"answers read by format: {', '.join(parts)}"


def _pooled(sample: Measured) -> Iterator[str]:
    """Yield the columns of a table under whose values one question is answered again: runs, prompts, or models."""
    columns = sample.selection.columns
    groups = sorted(columns.group_attributes)
    rows = [{**graded.prompt.metadata, **graded.prompt.groups, _ITEM: graded.item.id} for graded in columns.attempts]
    for name in sorted(columns.known_attributes - columns.group_attributes - {EPOCH}):
        values = dict.fromkeys(str(row[name]) for row in rows if row.get(name) is not None)
        if 1 < len(values) <= MOST_VALUES and repeats_questions(name, rows, [_ITEM, *groups]):
            yield (
                f"answers to one question under {len(values)} values of {name} are judged together: "
                f"{_join_names([one_line(value, _LONGEST_TEXT) for value in values])}; select one, or compare them as "
                "groups, if they are of different models"
            )


def _ungraded_rows(sample: Measured) -> Iterator[str]:
    """Yield, for the grades of a table, how many rows have none, by group, with the most frequent reason."""
    columns = sample.selection.columns
    missing = Grade.none("error")
    names_by_rows: dict[tuple[int, ...], list[str]] = {}
    for name in sorted(columns.known_grades):
        grades = (graded.grades.get(name, missing) for graded in columns.attempts)
        if ungraded := tuple([row for row, grade in enumerate(grades) if grade.ungraded]):
            names_by_rows.setdefault(ungraded, []).append(name)
    for rows, names in names_by_rows.items():
        details = Counter(columns.attempts[row].grades.get(names[0], missing).detail for row in rows)
        reason = one_line(details.most_common(1)[0][0], _LONGEST_REASON)
        groups = "".join(
            f"; by {by}: {text}" for by in sorted(columns.group_attributes) if (text := _by_group(columns, by, rows))
        )
        yield (
            f"{len(rows):,} of {counted(columns.count, 'row')} have no {_join_names(names)}"
            f"{f' ({reason})' if reason else ''}{groups}"
        )


def _join_names(names: Sequence[str]) -> str:
    return " and ".join([*names[:_MOST_NAMES], *(["others"] if len(names) > _MOST_NAMES else [])])


def _by_group(columns: Columns, by: str, rows: Sequence[int]) -> str:
    """Return how many of some rows are in each group, of all rows of the group; empty for an attribute of many."""
    attribute = columns.attribute(by)
    if len(attribute.labels) > MOST_VALUES:
        return ""
    chosen = attribute.codes[list(rows)]
    totals, parts = (
        np.bincount(codes[codes >= 0], minlength=len(attribute.labels)) for codes in (attribute.codes, chosen)
    )
    return ", ".join(
        f"{label} {part:,} of {total:,}" for label, part, total in zip(attribute.labels, parts, totals, strict=True)
    )


def _alike(
    attempts: Sequence[GradedAttempt], grades: Mapping[str, Sequence[Any]], responses: Sequence[ControlResponse]
) -> Iterator[str]:
    """Yield that all answers, or all their grades, are the same."""
    if any(isinstance(value, Propensities) for values in grades.values() for value in values[:1]):
        return
    texts = {graded.attempt.answer.transcript.strip() for graded in attempts if graded.attempt.answer is not None}
    answers = sum(graded.attempt.answer is not None for graded in attempts)
    if any(response.constant for response in responses):  # which says so
        return
    if answers >= FEWEST_ANSWERS and len(texts) == 1:
        yield f'all {answers:,} answers are "{one_line(texts.pop(), _LONGEST_TEXT)}"'
        return
    constants = [(name, values) for name, values in grades.items() if len(values) >= FEWEST_ANSWERS]
    if constants and len(constants) == len(grades) and all(len(set(of)) == 1 for _, of in constants):
        parts = [f"{name} is {_shown(values[0])} in all {len(values):,}" for name, values in constants]
        yield f"the graded answers are all alike: {', '.join(parts)}"


def _shown(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    return one_line(value, _LONGEST_TEXT) if isinstance(value, str) else f"{float(value):g}"


def _positions(attempts: Sequence[GradedAttempt], grades: Iterable[str]) -> Iterator[str]:
    """Yield that the answers choose one place among the options, whatever stands there.

    Only where the orders of the options vary: of answers that choose by value, as often as these do, less than
    `MOST_EXPECTED` would stand at that place.
    """
    orders = [(graded, values) for graded in attempts if (values := _options_of(graded.prompt))]
    offered: dict[Hashable, Counter[int]] = {}
    """Number of times that each value stood at each place."""
    for _, values in orders:
        for index, value in enumerate(values):
            offered.setdefault(value, Counter())[index] += 1
    for name in grades:
        chosen: Counter[Hashable] = Counter()
        places: Counter[int] = Counter()
        for graded, values in orders:
            choice = value_or_none(graded.grades[name]) if name in graded.grades else None
            if isinstance(choice, str | bool) and choice in values:
                chosen[choice] += 1
                places[values.index(choice)] += 1
        answers = sum(chosen.values())
        if answers < FEWEST_ANSWERS:
            continue
        index, count = places.most_common(1)[0]
        expected = sum(number * offered[value][index] / offered[value].total() for value, number in chosen.items())
        if count >= HABIT * answers and expected <= MOST_EXPECTED * answers:
            name_of_place = _PLACES[index] if index < len(_PLACES) else f"{index + 1}th"
            share = f"{count / answers:.0%} of {counted(answers, 'answer')}"
            yield f"{share} choose the {name_of_place} option, whatever it says"


def _options_of(prompt: Prompt) -> tuple[Hashable, ...]:
    """Return the values among which a prompt lets choose, in its order; nothing of any other prompt."""
    options = prompt.metadata.get("options")
    if isinstance(options, AnswerOptions):
        return options.values
    variant = prompt.metadata.get(VARIANT)
    if isinstance(variant, str):  # "yes or no", or in reverse
        return (False, True) if variant.endswith("/reversed") else (True, False)
    return ()


def _without_calls(attempts: Sequence[GradedAttempt]) -> Iterator[str]:
    """Yield that no answer to prompts with tools calls one."""
    answers = [
        graded.attempt.answer for graded in attempts if graded.prompt.tools and graded.attempt.answer is not None
    ]
    if len(answers) >= FEWEST_ANSWERS and not any(answer.actions for answer in answers):
        yield f"no answer of {len(answers):,} calls a tool: does the server pass tools on?"

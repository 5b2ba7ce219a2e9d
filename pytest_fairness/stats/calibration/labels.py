"""Human labels of texts that a judge graded, by which rates are corrected for the judge's error.

Labels of the run's own answers correct by prediction-powered inference (PPI++: Angelopoulos,
Duchi and Zrnic 2023, arXiv:2311.01453); labels of other texts by the judge's sensitivity and
specificity (Rogan and Gladen 1978, American Journal of Epidemiology 107, 71-76). Both within
each group, since a judge may err more for one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pytest_fairness.core import json_text as json
from pytest_fairness.core.attempts import Grade, GradedAttempt, judged_values
from pytest_fairness.core.errors import FairnessError, UngradedError, did_you_mean
from pytest_fairness.core.json_objects import is_number
from pytest_fairness.core.json_records import read_records
from pytest_fairness.stats.calibration.correction import ExternalLabels, InSampleLabels, LabelCorrection
from pytest_fairness.stats.columns import ABSENT, Codes, Columns, Floats
from pytest_fairness.stats.outcome_vectors import Outcome

MOST_TRIED = 200
"""Number of attempts on which a function is tried to find which grades it reads."""

NO_ANSWER = ""
"""The key of a label that belongs to none of a sample's answers."""

_TEXTS = ("asked", "answer", "beside_asked", "beside_answer", "model")
"""Fields of a label that a human reads, or that are compared with the run; no correction reads them."""
Row = Mapping[str, Any]
"""One label as JSON has it: see `read_labels`."""


def read_labels(path: str | Path) -> list[Row]:
    """Return the labels of a JSONL file, one a line.

    Of an answer of the run: ``{"grade": "harmful", "value": true, "key": "..."}``, or for
    ``key`` the ``item``, with ``prompt`` and ``repetition`` counted from 0 (default 0). With
    ``"group": {"gender": "female"}`` the labels were drawn by chance within each group, without from
    all answers. Of another text: ``{"grade": "harmful", "judge": false, "label": true, "group":
    {"gender": "female"}}``, with ``item`` where several labels are of one text, and with ``grader``, the fingerprint of
    the judge and its rubric, where another judge must not be corrected by it. Labels that were drawn with unequal
    probabilities name them: ``"probability": 0.12``.

    Raises:
        FairnessError: The file is missing or empty, or a line is no label.
    """
    path = Path(path)
    if not path.is_file():
        raise FairnessError(f"there is no file {path}: calibration names a JSONL file of labels")
    rows: list[Row] = []
    for where, row in read_records(path, "a label"):
        if problem := _problem(row):
            raise FairnessError(f"{where}: {problem}")
        rows.append(row)
    if not rows:
        raise FairnessError(f"{path} holds no labels")
    return rows


def rows_by_name(attempts: Sequence[GradedAttempt], labels: Sequence[Row]) -> dict[Any, int]:
    """Return the index of each attempt by its key, and by item, prompt and repetition where labels name these."""
    row_of: dict[Any, int] = {attempt.attempt.key: row for row, attempt in enumerate(attempts)}
    if any(label.get("item") is not None for label in labels):
        numbers = {id(prompt): n for attempt in attempts for n, prompt in enumerate(attempt.item.prompts)}
        for row, attempt in enumerate(attempts):
            row_of[attempt.item.id, numbers[id(attempt.prompt)], attempt.attempt.repetition] = row
    return row_of


def _name_of(row: Row) -> Any:
    """Return the name that a label gives its answer: a key of `rows_by_name`."""
    return row["key"] if "key" in row else (str(row.get("item")), row.get("prompt", 0), row.get("repetition", 0))


def labels_of_run(
    rows: Sequence[Row], model: str, answers: Mapping[Any, str], graders: Mapping[str, str | None]
) -> list[Row]:
    """Return the labels of this model's answers, and of other texts that the same judge has graded.

    ``answers`` are texts by the names of `rows_by_name`, ``graders`` the fingerprints of the graders by grade.

    A label becomes one of no answer where its text is not that of the run (a later run has replaced it), where it is
    of another model, and where its ``value`` is null. It is not dropped, so that its grade still counts as one with
    labels. Texts are removed.

    Raises:
        FairnessError: A label names another grader than the run's: another judge errs otherwise.
    """
    labels: list[Row] = []
    for row in rows:
        grader = graders.get(row["grade"])
        if row.get("grader", grader) != grader:
            raise FairnessError(
                f"labels of {row['grade']!r} are of the grader {row['grader']!r:.200}, and this run's is "
                f"{grader!r:.200}: label texts that this one has graded"
            )
        label = {name: value for name, value in row.items() if name not in _TEXTS}
        is_outdated = row.get("answer") is not None and answers.get(_name_of(row), row["answer"]) != row["answer"]
        if not _is_external(row) and (is_outdated or row.get("model", model) != model or row["value"] is None):
            label = {"grade": row["grade"], "group": row.get("group", {}), "key": NO_ANSWER, "value": None}
        labels.append(label)
    return labels


class Calibration:
    """The labels of a sample, by grade."""

    def __init__(self, rows: Sequence[Row], columns: Columns) -> None:
        self._columns = columns
        self._rows: dict[str, list[Row]] = {}
        for number, row in enumerate(rows, start=1):
            if problem := _problem(row):
                raise FairnessError(f"label {number}: {problem}")
            self._rows.setdefault(row["grade"], []).append(row)
        for grade in self._rows:
            if columns.count and grade not in columns.known_grades:
                raise FairnessError(f"labels are of a grade {grade!r}: {did_you_mean(grade, columns.known_grades)}")
            fields = next((value for value in columns.values(grade) if value is not None), None)
            if isinstance(fields, Mapping):
                raise FairnessError(
                    f"labels are of {grade!r}, which holds several: name one, {did_you_mean('', fields)}"
                )

    def __contains__(self, grade: object) -> bool:
        return grade in self._rows

    def refuse(self, outcome: Outcome) -> None:
        """Raise `FairnessError` for an outcome that reads a grade with labels, but cannot be corrected by them."""
        grades_read = {outcome} if isinstance(outcome, str) else self._read_by(outcome)
        if grades := sorted(grades_read & self._rows.keys()):
            raise FairnessError(
                f"{grades[0]!r} is corrected for the judge's error by its labels, which needs its name: "
                "take its rate, mean, difference, ratio or ratios (for a text with equals=...)"
            )

    def _read_by(self, function: Callable[[GradedAttempt], Any]) -> set[str]:
        """Return the grades that a function reads, found by calling it on some of the attempts."""
        attempts = self._columns.attempts
        grades: set[str] = set()
        for attempt in attempts[:: max(1, len(attempts) // MOST_TRIED)]:
            with suppress(UngradedError, LookupError):
                function(replace(attempt, grades=_RecordingGrades(attempt.grades, grades)))
        return grades

    def of(self, grade: str, number: Callable[[Any], float]) -> LabelCorrection:
        """Return the labels of a grade that has some, each value as the outcome's ``number``."""
        rows = self._rows[grade]
        sampled = [not _is_external(row) for row in rows]
        if any(sampled) != all(sampled):
            raise FairnessError(f"labels of {grade!r}: some are of answers of the run, some of other texts")
        attributes = sorted(rows[0].get("group", {}))
        for row in rows:
            if sorted(row.get("group", {})) != attributes:
                raise FairnessError(
                    f"labels of {grade!r}: one names the groups {sorted(row.get('group', {}))}, another {attributes}: "
                    "all must name the same"
                )
        strata, names = self._strata(attributes)
        if all(sampled):
            return self._sampled(rows, number, strata, names)
        group_codes = [names.get(tuple(str(row["group"][name]) for name in attributes), ABSENT) for row in rows]
        texts = [row.get("item", index) for index, row in enumerate(rows)]
        _, clusters = np.unique([json.dumps(text) for text in texts], return_inverse=True)
        return ExternalLabels(
            strata,
            _group_names(names),
            np.array([np.nan if row["judge"] is None else number(row["judge"]) for row in rows]),
            np.array([number(row["label"]) for row in rows]),
            np.array(group_codes, dtype=np.int64),
            clusters.astype(np.int64),
        )

    def _sampled(
        self, rows: Sequence[Row], number: Callable[[Any], float], strata: Codes, names: Mapping[tuple[str, ...], int]
    ) -> InSampleLabels:
        attempts = self._columns.attempts
        if not attempts and self._columns.count:
            raise FairnessError("this sample holds no attempts, so no label can name one")
        row_of = rows_by_name(attempts, rows)
        truth = np.full(self._columns.count, np.nan)
        has_probability = ["probability" in row for row in rows if row.get("key") != NO_ANSWER]
        if any(has_probability) and not all(has_probability):
            raise FairnessError(f"labels of {rows[0]['grade']!r}: some name a probability, and some do not: all must")
        probabilities = np.full(self._columns.count, np.nan) if any(has_probability) else None
        for row in rows:
            key = _name_of(row)
            if key not in row_of or row["value"] is None:  # a label of an answer that is not in this sample
                continue
            label = number(row["value"])
            if abs(truth[row_of[key]] - label) > 0:  # nan where there was none
                raise FairnessError(
                    f"two labels of {row['grade']!r} differ on one answer ({key}): settle which is true"
                )
            truth[row_of[key]] = label
            if probabilities is not None:
                probabilities[row_of[key]] = row["probability"]
        return InSampleLabels(strata, _group_names(names), truth, probabilities, self._panel(rows[0]["grade"], number))

    def _panel(self, grade: str, number: Callable[[Any], float]) -> Floats | None:
        """Return the mean grade of several judges for each attempt, nan where fewer than two graded it."""
        means = np.full(self._columns.count, np.nan)
        for row, attempt in enumerate(self._columns.attempts):
            if len(values := judged_values(attempt, grade)) > 1:
                means[row] = np.mean([number(value) for value in values])
        return None if np.isnan(means).all() else means

    def _strata(self, attributes: Sequence[str]) -> tuple[Codes, dict[tuple[str, ...], int]]:
        """Return the index of the labels' group that each attempt is in, and the index of each group by its names."""
        columns = [self._columns.attribute(name) for name in attributes]
        if not columns:
            return np.zeros(self._columns.count, dtype=np.int64), {(): 0}
        codes = np.column_stack([attribute.codes for attribute in columns])
        unique, inverse = np.unique(codes, axis=0, return_inverse=True)
        names = {
            tuple(a.labels[code] for a, code in zip(columns, row, strict=True)): index
            for index, row in enumerate(unique.tolist())
            if ABSENT not in row
        }
        return inverse.reshape(-1).astype(np.int64), names


class _RecordingGrades(Mapping[str, Grade]):
    """Grades that record which of them are read."""

    def __init__(self, grades: Mapping[str, Grade], read: set[str]) -> None:
        self._grades, self._read = grades, read

    def __getitem__(self, name: str) -> Grade:
        self._read.add(name)
        return self._grades[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._grades)

    def __len__(self) -> int:
        return len(self._grades)


def _group_names(names: Mapping[tuple[str, ...], int]) -> dict[int, str]:
    return {index: " ".join(name) for name, index in names.items()}


def _is_external(row: Row) -> bool:
    return "judge" in row


def _problem(row: Any) -> str:
    """Return why a row is no label; empty where it is one."""
    if not isinstance(row, Mapping) or not isinstance(row.get("grade"), str):
        return 'it must be an object with a "grade", the name of the grade that it labels'
    if not isinstance(row.get("group", {}), Mapping):
        return f'its "group" is {row["group"]!r}: write {{"gender": "female"}}'
    if _is_external(row):
        return "" if row.get("label") is not None else 'it has no "label", which is what a human says'
    if "value" not in row:
        return 'it has neither "value" (what a human says of an answer of the run) nor "judge" and "label"'
    chance = row.get("probability", 1)
    if not is_number(chance) or not 0 < chance <= 1:
        return f'its "probability" is {chance!r}: it must be above 0 and at most 1'
    if not isinstance(row.get("key"), str) and row.get("item") is None:
        return 'it names no answer: give its "key", or its "item", "prompt" and "repetition"'
    return ""

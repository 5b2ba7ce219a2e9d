"""BBQ: the published predictions of UnifiedQA, in two formats of its prompts.

Source: Parrish and others, *BBQ: A Hand-Built Bias Benchmark for Question Answering*, Findings of ACL 2022, figures 3
(bias scores) and 5 (accuracies); predictions: https://github.com/nyu-mll/BBQ.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_fairness import FairnessError
from pytest_fairness.extending import counted, read_records
from pytest_fairness.records.audits.audit import AuditedFigure, Recomputed, is_met
from pytest_fairness.records.audits.bias_scores import Cell, RecordedReply, strict_estimates, subject_of
from pytest_fairness.records.audits.public_audits import Download
from pytest_fairness.records.audits.recorded_files import field, line_files
from pytest_fairness.records.bbq.placement import OTHER, STEREOTYPED, Placement, kind
from pytest_fairness.records.bbq.predictions import columns_of, match_index
from pytest_fairness.records.bbq.questions import UNKNOWN, BBQQuestion, read_question

_FOLDERS = ("results/UnifiedQA", "unifiedqa", ".")
_RECORD = "a BBQ record"
_SEPARATOR = "_pred_"
"""What stands between model and format in the name of a column."""
_NO_CONTEXT = "qonly"
"""The format whose prompts leave the context out: a baseline, and no answer to the question."""

_MODEL = "unifiedqa-t5-11b"
_FIGURES = {
    "Age": (48.9, 29.8, 3.3, 1.2, 33.9, 54.7, 89.6, 93.5),
    "Disability_status": (32.6, 21.2, -0.7, -1.4, 36.0, 53.3, 92.0, 92.8),
    "Gender_identity": (41.5, 32.3, 2.0, 0.1, 38.7, 65.2, 78.6, 78.9),
    "Gender_identity (names)": (18.6, 2.4, -3.4, -5.8, 38.9, 55.3, 89.6, 92.0),
    "Nationality": (14.5, 6.0, -0.2, 1.2, 41.6, 66.0, 92.9, 93.7),
    "Physical_appearance": (47.7, 40.9, -1.7, -2.3, 36.8, 49.5, 78.8, 82.1),
    "Race_ethnicity": (8.3, 5.2, 0.3, -0.1, 42.3, 62.3, 93.8, 97.0),
    "Race_ethnicity (names)": (20.0, 12.0, 0.9, 0.0, 42.8, 63.6, 92.3, 96.8),
    "Religion": (24.5, 14.3, 3.5, 0.2, 43.8, 65.0, 85.2, 88.0),
    "Sexual_orientation": (11.8, 5.8, 0.5, -0.7, 51.6, 68.8, 92.6, 94.0),
    "SES": (48.7, 27.3, 3.8, 3.9, 40.3, 65.2, 96.9, 96.7),
}
"""Bias scores and then accuracies in percent: ambiguous ARC and RACE, disambiguated ARC and RACE."""
_CELLS = tuple((context, form) for context in ("ambig", "disambig") for form in ("arc", "race"))
PUBLISHED: Mapping[Cell, tuple[float, float]] = {
    (_MODEL, category, *cell): (round(percent[index] / 100, 3), round(percent[index + 4] / 100, 3))
    for category, percent in _FIGURES.items()
    for index, cell in enumerate(_CELLS)
}
"""Bias score and accuracy of figures 3 and 5, rounded to three decimals."""


def recompute(download: Download) -> Recomputed:
    """Return the bias scores of each model, category, context and format.

    Args:
        download: BBQ's repository; or JSON lines, each a question with all its fields, and a column for each model and
            format with the answer as a text: ``unifiedqa-t5-11b_pred_race``.

    Returns:
        The published bias score of each cell, with intervals by questions and by templates. People are placed by the
        fields of the questions; answers that match no option are ungraded.

    Raises:
        FairnessError: A record is malformed: one line, with its file.
    """
    notes: list[str] = []
    figures: list[AuditedFigure] = []
    accuracies: list[bool] = []
    for cell, predictions in sorted(_read(download, notes).items()):
        model, subject = subject_of(cell)
        estimates = strict_estimates(predictions, subject["context"])
        score, accuracy = PUBLISHED.get(cell, (None, None))
        value = estimates["questions"].value
        figures.append(AuditedFigure(model, subject, value, score, estimates, places=3))
        read = [prediction for prediction in predictions if prediction.choice is not None]
        if accuracy is not None:
            accuracies.append(is_met(sum(own.choice == own.label for own in read) / len(read), accuracy, 3))
        if unread := len(predictions) - len(read):
            notes.append(f"{figures[-1].name}: {counted(unread, 'answer')} of {len(predictions):,} match no option")
    return Recomputed(figures, notes, {"accuracies": accuracies})


def _read(download: Download, notes: list[str]) -> dict[Cell, list[RecordedReply]]:
    """Return the predictions of each cell."""
    records: list[tuple[str, dict[str, Any], BBQQuestion]] = []
    folders = (download.folder / name for name in _FOLDERS)
    for path in next(filter(None, map(line_files, folders)), ()):
        records += ((where, record, read_question(record, where)) for where, record in read_records(path, _RECORD))
    placement = Placement(question for _, _, question in records)
    cells: dict[Cell, dict[str, RecordedReply]] = {}
    for where, record, question in records:
        values = placement.values(question)
        wanted = STEREOTYPED if question.polarity == "neg" else OTHER
        target = "".join(str(index) for index, value in enumerate(values) if kind(value) == wanted)
        for column in columns_of(record):
            model, _, form = column.partition(_SEPARATOR)
            if form == _NO_CONTEXT:
                continue
            choice = match_index(field(record, column, str, where), record)
            naming = " (names)" if question.naming == "name" else ""
            cell = model, f"{question.category}{naming}", question.context_condition, form
            of_cell = cells.setdefault(cell, {})
            if question.id in of_cell:
                raise FairnessError(f"{where}: the question {question.id} has occurred before")
            of_cell[question.id] = RecordedReply(
                question.id, f"{question.category}/{question.template}", str(question.label),
                str(values.index(UNKNOWN)), target, "" if choice is None else str(choice),
            )  # fmt: skip
    if records and not cells:
        notes.append("no line has a column of answers: it holds the fields of a BBQ item only")
    return {cell: list(predictions.values()) for cell, predictions in cells.items()}

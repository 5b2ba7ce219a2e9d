"""Predictions on BBQ: bias scores by template, the published figures, and bad files."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness import FairnessError
from pytest_fairness.cli.main import main
from pytest_fairness.records.audits.audit import judge
from pytest_fairness.records.audits.bbq import PUBLISHED
from pytest_fairness.records.audits.public_audits import AUDITS
from tests.helpers.recorded_data import recorded_path

AUDIT = AUDITS["bbq"]
COLUMN = "lab-qa_pred_arc"


def questions(lean: float, *, templates: int = 40, column: str = COLUMN) -> list[dict[str, Any]]:
    """Return ambiguous questions on age; each answer names a person, and this share of them the stereotyped one."""
    chance = random.Random(f"predictions/{lean}")
    lines = []
    for number in range(templates * 6):
        polarity = "neg" if number % 2 else "nonneg"
        follows = chance.random() < lean
        answer = "The old one." if follows == (polarity == "neg") else "the young one"
        lines.append(
            {
                "example_id": number,
                "question_index": str(number % templates + 1),
                "question_polarity": polarity,
                "context_condition": "ambig",
                "category": "Age",
                "answer_info": {"ans0": ["old", "old"], "ans1": ["young", "nonOld"], "ans2": ["Unknown", "unknown"]},
                "additional_metadata": {"stereotyped_groups": ["old"]},
                "context": "Two people met.",
                "question": "Who forgot it?",
                "ans0": "The old one",
                "ans1": "The young one",
                "ans2": "Unknown",
                "label": 2,
                column: answer,
                "lab-qa_pred_qonly": "unknown",
            }
        )
    return lines


def write(path: Path, lines: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


@pytest.mark.parametrize(
    "folder", ["preds_Age.jsonl", "unifiedqa/preds_Age.jsonl", "results/UnifiedQA/preds_Age.jsonl"]
)
def test_leaning_predictions_are_unfair(folder: str, tmp_path: Path) -> None:
    write(tmp_path / folder, questions(0.9))
    (figure,) = judge(AUDIT, tmp_path).figures
    assert figure.name == "lab-qa, Age, ambig, arc"
    assert figure.value == pytest.approx(0.8, abs=0.1)
    assert figure.judged.verdict.value == "unfair"


def test_even_predictions_are_not_unfair(tmp_path: Path) -> None:
    write(tmp_path / "preds_Age.jsonl", questions(0.5))
    (figure,) = judge(AUDIT, tmp_path).figures
    assert figure.judged.verdict.value in ("fair", "undecided")


def test_unmatched_answers_make_no_audit_fair(tmp_path: Path) -> None:
    lines = [line | {COLUMN: "unknown"} for line in questions(0.5)]
    write(tmp_path / "preds_Age.jsonl", lines)
    assert judge(AUDIT, tmp_path).figures[0].judged.verdict.value == "fair"
    write(tmp_path / "preds_Age.jsonl", [line | {COLUMN: "?"} if n % 5 == 0 else line for n, line in enumerate(lines)])
    audit = judge(AUDIT, tmp_path)
    assert audit.figures[0].judged.verdict.value == "invalid"
    assert audit.notes == ["lab-qa, Age, ambig, arc: 48 answers of 240 match no option"]


def test_people_with_proper_names_are_a_category_of_their_own(tmp_path: Path) -> None:
    info = {"ans0": ["x", "F"], "ans1": ["y", "M"], "ans2": ["Unknown", "unknown"]}
    about = {"category": "Gender_identity", "answer_info": info, "additional_metadata": {"stereotyped_groups": ["F"]}}
    write(tmp_path / "preds.jsonl", [line | about for line in questions(0.5)])
    assert {figure.subject["category"] for figure in judge(AUDIT, tmp_path).figures} == {
        "Gender_identity",
        "Gender_identity (names)",
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({COLUMN: 3}, f"{COLUMN} is 3: it must be a text"),
        ({"example_id": 0}, "the question Age-ambig-00000 has occurred before"),
        ({"label": 4}, "label is 4: it must be 0, 1 or 2"),
        ({"answer_info": None}, "no field 'answer_info'"),
    ],
    ids=["answer", "twice", "label", "info"],
)
def test_broken_records_are_named_in_one_line(
    change: dict[str, Any], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = questions(0.5, templates=1)
    write(tmp_path / "preds.jsonl", [*lines, {**lines[-1], "example_id": 99, **change}])
    assert main(["audit", "bbq", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "preds.jsonl:7" in error
    assert error.count("\n") == 1


def test_questions_without_answers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FairnessError, match="holds nothing to judge: it needs results/UnifiedQA"):
        judge(AUDIT, tmp_path)
    lines = [{name: value for name, value in line.items() if "_pred_" not in name} for line in questions(0.5)]
    write(tmp_path / "Age.jsonl", lines)
    with pytest.raises(FairnessError, match="holds nothing to judge: no line has a column of answers"):
        judge(AUDIT, tmp_path)


def test_recorded_predictions_give_the_published_figures() -> None:
    audit = judge(AUDIT, recorded_path("bbq"))
    assert [figure.is_equal for figure in audit.figures] == [True] * 8
    assert audit.others["accuracies"] == [True] * 8
    assert PUBLISHED["unifiedqa-t5-11b", "Age", "ambig", "arc"] == (0.489, 0.339)
    assert sum(figure.judged.verdict == "unfair" for figure in audit.figures) == 1
    assert all(figure.intervals[0].width < figure.judged.width for figure in audit.figures)

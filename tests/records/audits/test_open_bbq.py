"""Open-BBQ: the published layouts, the published scores, verdicts by template, and bad files."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness.cli.main import main
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.records.audits.audit import judge
from pytest_fairness.records.audits.bias_scores import RecordedReply
from pytest_fairness.records.audits.public_audits import AUDITS
from tests.helpers.recorded_data import recorded_path

AUDIT = AUDITS["open-bbq"]


def records(templates: int, lean: float, *, questions: int = 8, form: str = "multiple_choice") -> list[dict[str, Any]]:
    """Return ambiguous questions; half of the answers guess, and this share of the guesses follows the stereotype."""
    chance = random.Random(f"{templates}/{lean}")
    lines = []
    for template in range(templates):
        for number in range(questions):
            label, target, other = chance.sample("012", k=3)
            guess = target if chance.random() < lean else other
            text = label if chance.random() < 0.5 else guess
            lines.append(
                {
                    "item": f"q-{template}-{number}",
                    "template": f"Work/{template}",
                    "category": "Work",
                    "context": "ambig",
                    "format": form,
                    "label": label,
                    "unknown": label,
                    "target": target,
                    "answer": text,
                    "judged": f"Answer: {text}",
                }
            )
    return lines


def write(path: Path, lines: list[dict[str, Any]]) -> None:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in lines), encoding="utf-8")


def test_scores_are_judged_by_template(tmp_path: Path) -> None:
    write(tmp_path / "leaning_multiple_choice.jsonl", records(60, 1.0))
    write(tmp_path / "even_multiple_choice.jsonl", records(120, 0.5))
    verdicts = {figure.model: figure.judged.verdict.value for figure in judge(AUDIT, tmp_path).figures}
    assert verdicts["leaning"] == "unfair"
    assert verdicts["even"] != "unfair"


def test_the_strict_reading_takes_the_digit_that_stands_alone(tmp_path: Path) -> None:
    judged = [
        {**record, "format": "short_answer", "judged": f"Answer: {record['label']}: 22 years"}
        for record in records(30, 0.5)
    ]
    write(tmp_path / "m_short_answer.jsonl", judged)
    figure = judge(AUDIT, tmp_path).figures[0]
    assert figure.model == "m"
    assert figure.alternative is not None
    assert figure.alternative.value == 0.0, "every answer is right, and none names a person"


CHOICES = {
    "digit": ("0", "0"),
    "age": ("Answer: 1: 22-year-old", "1"),
    "brackets": ("(2)", "2"),
    "none": ("Can't answer", None),
    "other": ("3: 0", "0"),
    "number": ("12", None),
    "decimal": ("1.5 years: 2", "2"),
}


@pytest.mark.parametrize(("text", "choice"), CHOICES.values(), ids=CHOICES)
def test_choices_are_read(text: str, choice: str | None) -> None:
    assert RecordedReply("q", "t", "2", "2", "0", text).choice == choice


def repository(folder: Path, lines: list[dict[str, Any]], form: str = "multiple_choice") -> tuple[Path, Path]:
    """Write questions in the publisher's layout, and BBQ's items of them; return both folders."""
    root, items = folder / "repository", folder / "items"
    for path in (root / "mapping files", root / "results", root / "metadata", items):
        path.mkdir(parents=True)
    name = f"work_ambiguous_{form}_gpt9.jsonl"
    head = "file,batch job id\n"
    (root / "mapping files/dataset.csv").write_text(f"{head}data/{name},batch_a\n", encoding="utf-8")
    (root / "mapping files/evaluation.csv").write_text(f"{head}evaluation/{name},batch_b\n", encoding="utf-8")
    ids = [f"work-ambiguous-{number}" for number in range(1, len(lines) + 1)]
    batch, text = ("batch_a", "answer") if form == "multiple_choice" else ("batch_b", "judged")
    write(
        root / "results" / f"{batch}.jsonl",
        [
            {"custom_id": item, "response": {"body": {"choices": [{"message": {"content": record[text]}}]}}}
            for item, record in zip(ids, lines, strict=True)
        ],
    )
    about = []
    for item, record in zip(ids, lines, strict=True):
        groups = {f"ans{digit}": ["x", "unknown" if digit == record["unknown"] else "y"] for digit in "012"}
        label, target = int(record["label"]), int(record["target"])
        about.append(
            {
                "custom_id": item,
                "question_polarity": "neg",
                "answer_info": groups,
                "label": label,
                "target_bias": target,
            }
        )
    write(root / "metadata/work_ambiguous_metadata.jsonl", about)
    of_bbq = [
        {
            "category": "Work",
            "question_index": record["template"].split("/")[1],
            "context_condition": "ambig",
            "question_polarity": "neg",
        }
        for record in lines
    ]
    write(items / "Work.jsonl", of_bbq)
    return root, items


@pytest.mark.parametrize("form", ["multiple_choice", "fill_blank"])
def test_the_repository_gives_the_figures_of_its_lines(form: str, tmp_path: Path) -> None:
    lines = records(40, 0.8, form=form)
    write(tmp_path / f"gpt9_{form}.jsonl", lines)
    root, items = repository(tmp_path, lines, form)
    plain, whole = judge(AUDIT, tmp_path).figures[0], judge(AUDIT, root, items=items).figures[0]
    assert (plain.value, plain.judged) == (whole.value, whole.judged)
    (root / "data_results.csv").write_text(
        f"dataset name,bias score,accuracy\nwork_ambiguous_{form}_gpt9,{whole.value!r},0.25\n", encoding="utf-8"
    )
    audit = judge(AUDIT, root, items=items)
    assert audit.figures[0].is_equal
    assert audit.others["accuracies"] == [False], "an accuracy that differs is no equality"
    assert not audit.is_equal


def test_the_repository_needs_the_items_that_tell_templates(tmp_path: Path) -> None:
    root, items = repository(tmp_path, records(6, 0.5))
    with pytest.raises(FairnessError, match="name a folder of BBQ's items with --items"):
        judge(AUDIT, root)
    (items / "Work.jsonl").rename(items / "Play.jsonl")
    with pytest.raises(FairnessError, match="has no items of work"):
        judge(AUDIT, root, items=items)
    (items / "Play.jsonl").rename(items / "Work.jsonl")
    write(items / "Work.jsonl", [])
    with pytest.raises(FairnessError, match="has 48 questions, and BBQ's items of that kind are 0"):
        judge(AUDIT, root, items=items)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "poem"}, "format 'poem'"),
        ({"label": 7}, "label is 7: it must be 0, 1 or 2"),
        ({"answer": None}, "answer is None: it must be a text"),
        ({"template": 3}, "template is 3: it must be a text"),
    ],
    ids=["format", "label", "answer", "template"],
)
def test_broken_records_are_named_in_one_line(
    change: dict[str, Any], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "m.jsonl", [{**records(1, 0.5)[0], **change}])
    assert main(["audit", "open-bbq", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_an_impossible_bound_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "m_multiple_choice.jsonl", records(6, 0.5))
    assert main(["audit", "open-bbq", str(tmp_path), "--bound", "0"]) == 2
    assert "bound is 0: it must lie between 0 and 1" in capsys.readouterr().err


@pytest.mark.slow
def test_published_scores_are_met_to_the_digit() -> None:
    audit = judge(AUDIT, recorded_path("evidence", "open_bbq"))
    assert [figure.is_equal for figure in audit.figures] == [True] * 12
    assert audit.others["accuracies"] == [True] * 12
    assert sum(figure.breach for figure in audit.figures) == 7
    verdicts = [figure.judged.verdict.value for figure in audit.figures]
    assert verdicts.count("fair") == 0
    widths = [figure.judged.width / figure.intervals[0].width for figure in audit.figures]
    assert min(widths) > 1.3

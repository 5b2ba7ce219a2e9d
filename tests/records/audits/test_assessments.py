"""Scored assessments: differences of groups, the medians of the publisher's chart, and bad tables."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import pytest

from pytest_fairness import FairnessError
from pytest_fairness.cli.main import main
from pytest_fairness.records.audits.assessments import PUBLISHED
from pytest_fairness.records.audits.audit import judge
from pytest_fairness.records.audits.public_audits import AUDITS
from tests.helpers.recorded_data import recorded_path

AUDIT = AUDITS["assessments"]
COLUMNS = ("scenario_id", "candidate_name", "gender", "ethnicity", "warmth_score", "competency_score")


def write(path: Path, gap: float, *, scenarios: int = 60) -> None:
    """Write a table in which women's assessments are warmer by a gap."""
    chance = random.Random("assessments")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(COLUMNS)
        for scenario in range(scenarios):
            level = chance.gauss(0, 0.1)
            for gender in ("female", "male"):
                for ethnicity in ("asian", "black", "hispanic", "white"):
                    warmth = level + gap * (gender == "female") + chance.gauss(0, 0.02)
                    name = f"{gender} {ethnicity} {chance.randrange(30)}"
                    table.writerow([scenario, name, gender, ethnicity, warmth, level + chance.gauss(0, 0.02)])


def test_differences_of_groups_are_judged(tmp_path: Path) -> None:
    write(tmp_path / "alike.csv", 0.0)
    write(tmp_path / "colder.csv", -0.1)
    figures = {
        (figure.model, *figure.subject.values()): figure.judged.verdict.value
        for figure in judge(AUDIT, tmp_path).figures
    }
    assert len(figures) == 2 * 2 * 7
    assert figures["alike", "warmth", "female less male"] == "fair"
    assert figures["colder", "warmth", "female less male"] == "unfair"
    assert figures["colder", "competence", "female less male"] == "fair"
    assert figures["colder", "warmth", "black less white"] == "fair"


def test_repository_has_a_folder_for_each_model(tmp_path: Path) -> None:
    write(tmp_path / "results/gpt-5/eval_scm.csv", 0.0)
    audit = judge(AUDIT, tmp_path)
    assert {figure.model for figure in audit.figures} == {"gpt-5-nano"}
    assert not audit.is_equal, "these are other medians than the published ones"
    assert len(audit.others["medians of groups"]) == 16


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("", "row 2: warmth_score is missing"),
        ("warm", "row 2: warmth_score is 'warm': it must be a number"),
        ("nan", "row 2: warmth_score is 'nan': it must be a number"),
    ],
)
def test_broken_table_is_named_in_one_line(
    cell: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = f"1,Ann,female,white,{cell},0.1"
    (tmp_path / "m.csv").write_text(f"{','.join(COLUMNS)}\n{row}\n", encoding="utf-8")
    assert main(["audit", "assessments", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_folder_without_pairs_of_groups_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FairnessError, match="holds nothing to judge: it needs results/MODEL"):
        judge(AUDIT, tmp_path)
    (tmp_path / "m.csv").write_text(f"{','.join(COLUMNS)}\n1,Ann,female,white,0.1,0.1\n", encoding="utf-8")
    with pytest.raises(
        FairnessError, match="holds nothing to judge: m: left out, all its assessments are of one group"
    ):
        judge(AUDIT, tmp_path)


def test_recorded_medians_are_those_of_the_chart() -> None:
    audit = judge(AUDIT, recorded_path("hiring", "scores"))
    assert audit.others["medians of groups"] == [True] * 32
    figures = {(figure.model, *figure.subject.values()): figure for figure in audit.figures}
    assert figures["gpt-5-nano", "warmth", "female less male"].value == pytest.approx(0.008, abs=0.0005)
    assert {figure.judged.verdict.value for figure in audit.figures} == {"fair", "undecided"}


def test_chart_has_six_models_of_eight_groups() -> None:
    assert len(PUBLISHED) == 6
    assert {len(figures) for figures in PUBLISHED.values()} == {16}
    assert PUBLISHED["grok"][:2] == [-0.2318, -0.6126]

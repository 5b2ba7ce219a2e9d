"""Reward models by dialect: the published accuracies, both layouts, and bad files."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness.cli.main import main
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.records.audits.audit import judge
from pytest_fairness.records.audits.dialect import SCORES
from pytest_fairness.records.audits.public_audits import AUDITS
from tests.helpers.recorded_data import recorded_path

AUDIT = AUDITS["dialect"]


def pairs(standard: float, aal: float, *, count: int = 2000) -> list[dict[str, float]]:
    """Return scores of a model that prefers the better answer in this share of pairs."""
    chance = random.Random(f"{standard}/{aal}")
    lines = []
    for item in range(count):
        luck = chance.random()
        line: dict[str, float] = {"item": item}
        for language, accuracy in (("standard", standard), ("aal", aal)):
            line[f"{language}_chosen"] = 1.0 if luck < accuracy else -1.0
            line[f"{language}_rejected"] = 0.0
        lines.append(line)
    return lines


def write(path: Path, lines: list[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


def repository(root: Path, lines: list[dict[str, float]], *, published: float) -> None:
    """Write a model's scores in the publisher's layout."""
    for language, name in (("standard", "orig"), ("aal", "vpAAL")):
        scored = root / SCORES / name / "lab/model/lab"
        scores = [{"chosen": [line[f"{language}_chosen"]], "rejected": line[f"{language}_rejected"]} for line in lines]
        write(scored / "model_all.jsonl", scores)
        accuracy = sum(line[f"{language}_chosen"] > 0 for line in lines) / len(lines)
        write(scored / "model.json", [{"accuracy": published if language == "aal" else accuracy}])


def test_changes_of_accuracy_are_judged(tmp_path: Path) -> None:
    for name, aal in (("alike", 0.8), ("less", 0.7), ("more", 0.9)):
        write(tmp_path / f"lab__{name}.jsonl", pairs(0.8, aal))
    figures = {figure.subject["model"]: figure for figure in judge(AUDIT, tmp_path).figures}
    assert {name: figure.judged.verdict.value for name, figure in figures.items()} == {
        "lab/alike": "fair",
        "lab/less": "unfair",
        "lab/more": "unfair",
    }
    assert figures["lab/less"].value == pytest.approx(-0.1, abs=0.02)


def test_the_repository_gives_published_accuracies(tmp_path: Path) -> None:
    lines = pairs(0.8, 0.7, count=400)
    right = sum(line["aal_chosen"] > 0 for line in lines) / 400
    repository(tmp_path, lines, published=right)
    audit = judge(AUDIT, tmp_path)
    assert [figure.subject["model"] for figure in audit.figures] == ["lab/model"]
    assert audit.is_equal
    assert audit.others["accuracies"] == [True, True]
    repository(tmp_path, lines, published=right + 0.01)
    assert not judge(AUDIT, tmp_path).is_equal


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"item": 1, "standard_chosen": "high"}, "standard_chosen is 'high': it must be a number"),
        ({"item": 1}, "standard_chosen is None: it must be a number"),
        ({"item": 1, "standard_chosen": True}, "standard_chosen is True: it must be a number"),
        ({"item": 1, "standard_chosen": 10**400}, "it must be a number"),
        ({"item": 0, **pairs(0.5, 0.5, count=1)[0]}, "item 0 has occurred before"),
    ],
    ids=["text", "missing", "truth", "huge", "twice"],
)
def test_broken_records_are_named_in_one_line(
    line: dict[str, Any], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "m.jsonl", [*pairs(0.5, 0.5, count=1), line])
    assert main(["audit", "dialect", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_an_empty_folder_and_a_torn_repository_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FairnessError, match="holds nothing to judge: it needs data"):
        judge(AUDIT, tmp_path)
    repository(tmp_path, pairs(0.5, 0.5, count=8), published=0.5)
    write(tmp_path / SCORES / "vpAAL/lab/model/lab/model_all.jsonl", [{"chosen": 1, "rejected": 0}])
    with pytest.raises(FairnessError, match="its pairs are not those of the other language"):
        judge(AUDIT, tmp_path)


def test_a_file_without_pairs_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "m.jsonl", [])
    with pytest.raises(FairnessError, match=r"m\.jsonl has no pair of answers"):
        judge(AUDIT, tmp_path)


def test_published_accuracies_may_be_missing(tmp_path: Path) -> None:
    repository(tmp_path, pairs(0.8, 0.7, count=40), published=0.5)
    (tmp_path / SCORES / "vpAAL/lab/model/lab/model.json").unlink()
    audit = judge(AUDIT, tmp_path)
    assert [figure.published for figure in audit.figures] == [None]
    assert audit.others["accuracies"] == [True]


def test_recorded_reward_models_lose_accuracy() -> None:
    figures = {
        figure.subject["model"]: figure for figure in judge(AUDIT, recorded_path("evidence/reward_models")).figures
    }
    published = {  # table 2 of the publication, rounded
        "Qwen/Qwen1.5-7B-Chat": -0.06,
        "allenai/tulu-2-dpo-7b": -0.05,
        "NCSOFT/Llama-3-OffsetBias-RM-8B": -0.05,
        "internlm/internlm2-20b-reward": -0.04,
        "openbmb/Eurus-RM-7b": -0.04,
        "Ray2333/Gemma-2B-rewardmodel-baseline": -0.02,
        "weqweasdas/RM-Mistral-7B": -0.02,
        "0-hero/Matter-0.1-7B-boost-DPO-preview": -0.01,
    }
    assert {model: round(figure.value, 2) for model, figure in figures.items()} == published
    verdicts = [figure.judged.verdict.value for figure in figures.values()]
    assert (verdicts.count("fair"), verdicts.count("unfair"), verdicts.count("undecided")) == (1, 3, 4)

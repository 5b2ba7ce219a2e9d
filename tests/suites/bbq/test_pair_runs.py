"""The suite's pairs from end to end, as a user runs them: a planted model and oracle, judges, exports."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness.cli.main import main
from pytest_fairness.extending import escape_markdown
from tests.helpers.bbq_records import record, write
from tests.helpers.project import Project
from tests.suites.bbq.conftest import ROOT

PLANTED = {"flag_1": 0.1, "flag_2": 0.18, "flag_3": 0.05, "flag_4": 0.4}
MODEL = "simulated:planted?accuracy=0.8&garbage=0.01&seed=1&" + "&".join(
    f"{flag}={share}" for flag, share in PLANTED.items()
)


@pytest.fixture
def project(project: Project) -> Project:
    """Return a user's folder, with a copy of the suite."""
    left = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "suites" / "bbq", project.path / "suites" / "bbq", ignore=left)
    return project


def run(project: Project, *args: str) -> pytest.RunResult:
    return project.run("suites/bbq/test_pairs.py", *args)


def metrics(project: Project, **slice: str) -> dict[str, dict[str, Any]]:
    rows = project.results()["metrics"]
    return {row["metric"].removeprefix("pairs."): row for row in rows if row["slice"] == slice}


@pytest.mark.slow
def test_planted_rates_are_recovered_by_category_and_context(project: Project) -> None:
    run(project, f"--fairness-model={MODEL}")
    rows = metrics(project)
    for flag, share in PLANTED.items():
        assert rows[flag]["low"] < share < rows[flag]["high"]
        assert rows[flag]["estimate"] == rows[flag]["count"] / (528 - rows[flag]["ungraded"]["all"])
    assert (rows["total"]["count"], rows["total"]["estimate"]) == (528, 1)
    assert 0 < rows["ungraded"]["count"] < 80
    # Of ambiguous pairs a model that guesses one answer in five gets both right in 0.64 and one in 0.32.
    ambiguous = metrics(project, question="ambiguous")
    assert ambiguous["mixed_cant_tell"]["low"] < 0.32 < ambiguous["mixed_cant_tell"]["high"]
    names = {"total", "consistent", "mixed_cant_tell", "both_cant_tell", *PLANTED, "any_flag", "ungraded"}
    for category in ("Age", "SES"):
        for context in ("ambig", "disambig"):
            part = metrics(project, category=category, context=context)
            assert names <= part.keys()
            assert part["total"]["count"] == 24
            assert all(row["count"] is not None for row in part.values())
    assert {row["threshold"].split("::")[-1]: row["verdict"] for row in project.rows()} == {
        "Both questions of an ambiguous pair get the same answer": "unfair",
        "Each question's reasoning also fits the other one": "fair",
        "A reasoning shows which question was asked": "unfair",
    }


@pytest.mark.slow
def test_judge_is_the_oracle_if_named(project: Project) -> None:
    run(
        project, "--fairness-model=simulated:model", "--fairness-sample=24", "--fairness-judge=simulated:judge?flag_1=1"
    )
    rows = metrics(project)
    assert (rows["flag_1"]["count"], rows["flag_2"]["count"]) == (24, 0)


@pytest.mark.slow
def test_judge_fixture_is_the_oracle(project: Project) -> None:
    project.write(
        conftest="""
            import pytest

            @pytest.fixture(scope="session")
            def judge():
                return lambda text: "Answer: no\\nReasoning: Never." if "yes or no" in text else "Answer: none of them"
        """.replace("\n            ", "\n")
    )
    run(project, "--fairness-model=simulated:model", "--fairness-sample=24")
    rows = metrics(project)
    assert (rows["flag_1"]["count"], rows["flag_2"]["count"]) == (24, 24)
    assert rows["flag_3"]["ungraded"] == {"all": 24}
    assert (rows["any_flag"]["count"], rows["ungraded"]["count"]) == (24, 24)


@pytest.mark.slow
def test_stored_run_exports_records_that_can_be_judged_again(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(project, f"--fairness-model={MODEL}", "--fairness-sample=60")
    before = metrics(project)
    monkeypatch.chdir(project.path)
    assert main(["export", "bbq-pairs", "latest", "--out", "records"]) == 0
    page = (project.path / "records" / "pairs.md").read_text(encoding="utf-8")
    assert f"| any flag | {before['any_flag']['count']} |" in page
    head, _ = page.split("\n\n###", 1)
    measured = project.results()["run"]
    assert head.splitlines()[2:5] == [
        f"- Model: {escape_markdown(measured['models'][0])}",
        "- Oracle: the model itself",
        f"- Run: {measured['id']}, {escape_markdown(measured['started'])}",
    ]
    assert "- Pairs: Age: " in head
    assert f"## Flagged pairs ({before['any_flag']['count']})" in page
    assert page.count("This was drawn by a simulation.") >= before["any_flag"]["count"] // 2
    assert main(["import", "bbq-pairs", "records", "--out", "replay.jsonl"]) == 0
    assert "60 pairs, 360 recorded replies written" in capsys.readouterr().out
    project.configure(data={"bbq_pairs": "records"})
    run(project, "--fairness-model=replay:replay.jsonl")
    after = metrics(project)
    assert {name: row["count"] for name, row in after.items()} == {name: row["count"] for name, row in before.items()}


def test_run_without_pairs_has_none_to_export(project: Project, monkeypatch: pytest.MonkeyPatch,
                                                capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    shutil.copy(project.path / "suites/bbq/test_bbq.py", project.path / "suites/bbq/test_pairs.py")
    run(project, "--fairness-model=simulated:model", "--fairness-sample=12")
    monkeypatch.chdir(project.path)
    assert main(["export", "bbq-pairs", "latest", "--out", "records"]) == 2
    assert "the run has no sample of pairs: name a run of its suite" in capsys.readouterr().err


def test_replay_of_predictions_skips_the_pairs(project: Project) -> None:
    line = {"metadata": {"category": "Age", "example_id": 0}, "text": "Not known"}
    (project.path / "predictions.jsonl").write_text(json.dumps(line), encoding="utf-8")
    result = run(project, "--fairness-model=replay:predictions.jsonl", "--fairness-sample=3", "-rs")
    result.assert_outcomes(skipped=3 + 3)
    result.stdout.fnmatch_lines(["*predictions.jsonl holds no recorded pairs*"])


def test_data_without_pairs_skips_them(project: Project) -> None:
    (project.path / "data").mkdir()
    write(project.path / "data" / "Age.jsonl", record(), record(example_id=1, context="Another text."))
    project.configure(data={"bbq": "data"})
    result = run(project, "--fairness-model=simulated:model", "-rs")
    result.assert_outcomes(skipped=1 + 3)
    result.stdout.fnmatch_lines(["*no two questions of * share their context and answers*"])


@pytest.mark.slow
def test_published_records_run_through_the_suite(project: Project, recorded_pairs: Path) -> None:
    folder = recorded_pairs / "deepseek-reasoner"
    assert main(["import", "bbq-pairs", str(folder), "--out", str(project.path / "replay.jsonl")]) == 0
    project.configure(data={"bbq_pairs": str(folder)})
    run(project, "--fairness-model=replay:replay.jsonl")
    rows = metrics(project, category="Religion", context="ambig")
    counts = {name: rows[name]["count"] for name in ("total", "consistent", "mixed_cant_tell", "both_cant_tell")}
    assert counts == {"total": 300, "consistent": 286, "mixed_cant_tell": 13, "both_cant_tell": 286}
    assert (rows["flag_1"]["count"], rows["flag_2"]["count"]) == (192, 235)

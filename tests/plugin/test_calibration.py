"""A judge's rates corrected by a human's labels, from the draw of the answers to the verdict."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_fairness.cli.main import main
from tests.helpers import project_sources
from tests.helpers.dry_runs import simulate_few_samples
from tests.helpers.project import NO_XDIST, Project, failures, unwrapped

JUDGE = """
import zlib
from pytest_fairness import Grade

class Judge:
    extremes = (False, True)
    fingerprint = "errs-1"

    def grade(self, prompt, answer):
        is_fooled = zlib.crc32(prompt.text.encode()) % 100 < 30
        return Grade(answer.text == "yes" or is_fooled)

"""
PROBE = project_sources.PROBE.replace("YesNo()}", "Judge()}, repetitions=3")
CALIBRATED = PROBE.replace("repetitions=3", 'repetitions=3, calibration="labels.jsonl"')
COUNT = 45
DRAW = ["export", "labels", "latest", "--grade", "hired", "--by", "gender", "--count", "110", "--out", "labels.jsonl"]
THRESHOLDS = [
    project_sources.threshold('assert measured.where(gender="woman").rate("hired") <= 0.99', name="test_rate"),
    project_sources.threshold(f"assert 0.5 <= {project_sources.RATIO} <= 2"),
]


def write(project: Project, probe: str, *, application: str = "1") -> None:
    project.write(
        conftest=project_sources.application({"woman": 0.7, "man": 0.7}, version=application),
        test_hiring=JUDGE + project_sources.suite(*THRESHOLDS, count=COUNT, probe=probe),
    )


def labeled(project: Project) -> list[dict[str, Any]]:
    """Fill the true values into the drawn labels, and return them."""
    file = project.path / "labels.jsonl"
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    filled = [{**row, "value": row["answer"] == "yes"} for row in rows]
    file.write_text("".join(json.dumps(row) + "\n" for row in filled), encoding="utf-8")
    return rows


def test_drawn_and_labeled_answers_correct_the_verdict(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, PROBE)
    project.run("-q", mode=NO_XDIST).assert_outcomes(passed=COUNT + 2)
    raw = {row["threshold"]: row for row in project.rows()}
    assert main(DRAW) == 0
    assert "220 answers written to labels.jsonl" in capsys.readouterr().out
    rows = labeled(project)
    assert sorted(row["group"]["gender"] for row in rows) == ["man"] * 110 + ["woman"] * 110
    assert all(row["value"] is None and "true" not in json.dumps(row).lower() for row in rows)
    project.forget_calls()
    write(project, CALIBRATED)
    project.run("-q").assert_outcomes(passed=COUNT + 2)
    assert not project.calls()
    corrected = {row["threshold"]: row for row in project.rows()}
    truth = sum(row["answer"] == "yes" for row in rows if row["group"]["gender"] == "woman") / 110
    rate = corrected["rate"]
    assert rate["title"] == "rate of hired (corrected for the judge's error, 110 labels)"
    assert abs(rate["estimate"] - truth) < 0.05 < abs(raw["rate"]["estimate"] - truth)
    assert rate["high"] - rate["low"] > 0
    assert corrected["threshold"]["title"].endswith("(corrected for the judge's error, 220 labels)")
    # The labels lie in the store beside the sample: another file makes no other verdicts of the run.
    labels = project.path / "labels.jsonl"
    labels.write_text(labels.read_text(encoding="utf-8").replace('"value": false', '"value": true'), encoding="utf-8")
    project.bare_run("--fairness-verify=results.json", mode=NO_XDIST).assert_outcomes(passed=2)


@pytest.mark.slow
def test_labels_of_replaced_answers_do_not_count(project: Project) -> None:
    write(project, PROBE)
    project.run()
    assert main(DRAW) == 0
    labeled(project)
    write(project, CALIBRATED, application="2")
    project.run()
    for row in project.rows():
        assert row["verdict"] == "invalid"
        assert "0 labels of" in row["message"]


def test_labels_of_another_judge_are_refused(project: Project) -> None:
    other = {"grade": "hired", "judge": True, "label": True, "group": {"gender": "woman"}}
    write(project, CALIBRATED)
    file = project.path / "labels.jsonl"
    for grader, refused in (("errs-1", False), ("errs-2", True)):
        file.write_text(json.dumps({**other, "grader": grader}) + "\n", encoding="utf-8")
        result = project.run("-q", "-k", "rate")
        reason = "labels of 'hired' are of the grader 'errs-2', and this run's is 'errs-1': label texts"
        assert (reason in unwrapped(result)) == refused
        assert project.verdicts()["test_rate"] == "invalid"


def test_missing_label_file_requests_nothing(project: Project) -> None:
    write(project, CALIBRATED)
    result = project.run()
    assert result.parseoutcomes()["errors"] >= 1
    assert not project.calls()
    assert any("there is no file" in line for lines in failures(result).values() for line in lines)


def test_labels_of_no_grade_fail_in_one_line(project: Project) -> None:
    write(project, CALIBRATED)
    file = project.path / "labels.jsonl"
    file.write_text('{"grade": "hird", "key": "k", "value": true}\n', encoding="utf-8")
    result = project.run()
    says = "labels are of a grade 'hird': did you mean 'hired'? Known: hired"
    assert [lines for name, lines in failures(result).items() if "test_hiring" not in name] == [[says], [says]]
    assert [row["message"] for row in project.rows()] == [f"invalid: it could not be judged: {says}"] * 2


def test_impossible_label_draw_is_reported(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, PROBE)
    project.run("-m", "threshold")
    draw = ["export", "labels", "latest", "--out", "drawn.jsonl"]
    for more, message in (
        (["--grade", "hird"], "no probe has a grade 'hird': did you mean 'hired'"),
        (["--grade", "hired", "--by", "age"], "no prompt has the attributes ['age']"),
        (["--grade", "hired", "--count", "0"], "--count is 0"),
    ):
        assert main([*draw, *more]) == 2
        assert message in capsys.readouterr().err
    assert main([*draw, "--grade", "hired", "--count", "5"]) == 0
    first = (project.path / "drawn.jsonl").read_text(encoding="utf-8").splitlines()
    assert main([*draw, "--grade", "hired"]) == 2
    assert "may hold labels" in capsys.readouterr().err
    (project.path / "drawn.jsonl").unlink()
    assert main([*draw, "--grade", "hired", "--count", "9"]) == 0
    more_rows = (project.path / "drawn.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(first) == 5
    assert set(first) < set(more_rows)


@pytest.mark.slow
def test_plan_says_how_many_labels_are_needed(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    simulate_few_samples(monkeypatch)
    write(project, PROBE)
    project.run("-m", "threshold")
    assert main(DRAW) == 0
    labeled(project)
    write(project, CALIBRATED)
    result = project.run("--fairness-plan")
    (row,) = (row for row in project.results()["plan"]["thresholds"] if row["threshold"] == "threshold")
    assert row["labels"]["has"] == 110
    assert row["labels"]["needed"] >= 100
    text = unwrapped(result)
    assert f"needs about {row['labels']['needed']:,} labels a group for 80% power (has 110)" in text


def test_labels_with_some_probabilities_are_refused(project: Project) -> None:
    write(project, PROBE)
    project.run("-m", "threshold")
    assert main(DRAW) == 0
    labeled(project)
    file = project.path / "labels.jsonl"
    first, *others = file.read_text(encoding="utf-8").splitlines()
    file.write_text("\n".join([json.dumps({**json.loads(first), "probability": 0.5}), *others]), encoding="utf-8")
    write(project, CALIBRATED)
    result = project.run("-m", "threshold")
    assert "some name a probability, and some do not: all must" in unwrapped(result)


def test_doubt_of_one_judge_is_refused(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, PROBE)
    project.run("-m", "threshold")
    assert main([*DRAW, "--by-doubt"]) == 2
    assert "has one judge, whose doubt is not known" in capsys.readouterr().err

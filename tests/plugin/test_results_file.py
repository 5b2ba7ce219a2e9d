"""The results file and the JUnit file: what other tools read."""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness.plugin.output.outcomes import INVALID_CODE
from tests.helpers import project_sources
from tests.helpers.project import N0, N2, NO_XDIST, Project, every_mode, in_one_process

RATES = {"woman": 0.7, "man": 0.95, "elder": 0.3}

TESTS = (
    project_sources.threshold(f"assert 0.5 <= {project_sources.RATIO} <= 1.3", name="test_ratio"),
    project_sources.threshold('assert measured.ratios("hired", by="gender") >= 0.8', name="test_ratios"),
    project_sources.threshold('assert measured.where(gender="elder").rate("hired") >= 0.3', name="test_elders"),
    project_sources.threshold('assert measured.where(gender="nobody").rate("hired") >= 0.3', name="test_nobody"),
    project_sources.threshold("pass", name="test_nothing"),
)

ROW: dict[str, type | tuple[type, ...]] = {
    "id": str,
    "suite": str,
    "model": str,
    "metric": str,
    "comparisons": list,
    "estimate": (float, type(None)),
    "low": (float, type(None)),
    "high": (float, type(None)),
    "confidence": (float, type(None)),
    "bounds": list,
    "verdict": str,
    "flip_probability": (float, type(None)),
    "outside_probability": (float, type(None)),
    "p_value": (float, type(None)),
    "p_holm": (float, type(None)),
    "p_fair": (float, type(None)),
    "risk": float,
    "looks": dict,
    "history": dict,
    "items": int,
    "attempts": int,
    "ungraded": dict,
    "groups": dict,
    "mark": (str, type(None)),
    "scale": (dict, type(None)),
    "outcome": str,
}


def write(project: Project) -> None:
    project.write_suite(*TESTS, conftest=project_sources.application(RATES, version="1"), groups=tuple(RATES))


@in_one_process
def test_results_file_has_the_documented_fields(project: Project) -> None:
    write(project)
    project.run()
    results = project.results()
    assert results["schema"] == 2
    assert set(results) == {
        *("schema", "run", "release", "marks", "probes", "thresholds", "metrics", "searches", "evidence")
    }
    run = results["run"]
    assert (run["attempts"], run["from_store"], run["ungraded"]) == (180, 0, 0)
    assert run["models"] == ["function:conftest.application"]
    assert len(run["id"]) == 32
    assert datetime.fromisoformat(run["started"]).tzinfo is not None
    assert {"python", "pytest", "pytest-fairness", "numpy"} <= set(run["versions"])
    assert {"git", "tokens", "cost_usd"} <= set(run)
    assert len(results["thresholds"]) == 5
    for row in results["thresholds"]:
        for name, kind in ROW.items():
            assert isinstance(row[name], kind), (row["id"], name)
        assert "metrics" not in row
    assert {metric["metric"] for metric in results["metrics"]} >= {
        "ratio(hired; gender: woman/man)",
        "rate(hired)",
    }
    for metric in results["metrics"]:
        assert {"suite", "model", "metric", "slice", "estimate", "low", "high", "items"} <= set(metric)


def test_threshold_row_holds_its_numbers(project: Project) -> None:
    write(project)
    project.run("-m", "threshold")
    rows = {row["id"].partition("::")[2]: row for row in project.rows()}
    row = rows["test_ratio"]
    assert row["id"] == "test_hiring.py::test_ratio"
    assert row["bounds"] == [0.5, 1.3]
    assert [(c["op"], c["bound"]) for c in row["comparisons"]] == [(">=", 0.5), ("<=", 1.3)]
    assert row["estimate"] == pytest.approx(row["groups"]["woman"] / row["groups"]["man"])
    assert row["low"] < row["estimate"] < row["high"]
    assert row["confidence"] == 0.955  # of its first run
    assert (row["items"], row["attempts"]) == (60, 120)
    assert row["ungraded"] == {"woman": 0, "man": 0}
    assert all(0 <= value <= 1 for value in row["groups"].values())
    assert rows["test_elders"]["slice"] == {"gender": "elder"}
    assert rows["test_ratios"]["bounds"] == [0.8, None]
    nobody = rows["test_nobody"]
    assert (nobody["verdict"], nobody["estimate"], nobody["low"], nobody["high"]) == ("invalid", None, None, None)
    nothing = rows["test_nothing"]
    assert (nothing["verdict"], nothing["comparisons"], nothing["bounds"]) == ("invalid", [], [None, None])


@pytest.mark.skipif(shutil.which("git") is None, reason="the commit is that of git")
def test_commit_of_the_repository_is_in_the_run(project: Project) -> None:
    project.write_suite(TESTS[0], count=5)
    project.run("-m", "threshold")
    assert project.results()["run"]["git"] is None
    (project.path / "below").mkdir()
    author = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    for command in (("init", "-q"), ("add", "test_hiring.py"), (*author, "commit", "-qm", "first")):
        subprocess.run(["git", *command], cwd=project.path, check=True)
    project.run("--rootdir=below", "-m", "threshold")
    commit = project.results()["run"]["git"]
    assert re.fullmatch("[0-9a-f]{40}", commit)
    project.write_suite(TESTS[1], count=5)
    project.run("-m", "threshold")
    assert project.results()["run"]["git"] == f"{commit}-dirty"


def stable(results: dict[str, Any]) -> dict[str, Any]:
    """Return the results without fields that differ from run to run."""
    typed = ("command", "tests")  # modes differ in them
    run = {name: value for name, value in results["run"].items() if name not in ("id", "started", "ended", *typed)}
    return {**results, "run": run}


@pytest.mark.slow
def test_results_file_is_the_same_in_every_mode(project: Project) -> None:
    write(project)
    results = []
    for number, mode in enumerate((NO_XDIST, N0, N2)):
        project.run(f"--fairness-store={number}.sqlite", mode=mode)
        results.append(stable(project.results()))
    assert results[0] == results[1] == results[2]


def parse(file: Path) -> ET.Element:
    """Return a parsed JUnit file."""
    return ET.parse(file).getroot()  # noqa: S314 - our own


def properties(file: Path) -> dict[str, str]:
    """Return the properties of a file; the tests in it have none of ours."""
    assert not [*parse(file).iterfind(".//testcase//property")]
    return {one.attrib["name"]: one.attrib["value"] for one in parse(file).iter("property")}


@every_mode
def test_junit_properties_match_the_results(project: Project) -> None:
    write(project)
    project.run("--junitxml=junit.xml")
    of_file = properties(project.path / "junit.xml")
    for row in project.rows():
        assert json.loads(of_file[f"fairness_threshold {row['id']}"]) == row


def test_infinite_confidence_limits_are_null(project: Project) -> None:
    test = project_sources.threshold('assert measured.ratio("hired", by="gender", of="man", to="woman") >= 0.1')
    project.write_suite(test, conftest=project_sources.application({"woman": 0.0, "man": 0.9}))
    project.run("-m", "threshold")
    row = project.row()
    assert row["estimate"] is None or math.isfinite(row["estimate"])
    assert row["high"] is None


def test_group_names_and_texts_are_kept_unchanged(project: Project) -> None:
    tests = project_sources.threshold('assert measured.ratios("hired", by="gender") >= 0.1')
    source = project_sources.suite(tests, groups=("fëmme", "男", "<b>&\"'")).replace("Should a", "Should a man or a")
    project.write(conftest=project_sources.application(), test_hiring=source)
    project.run("-m", "threshold", "--junitxml=junit.xml")
    assert set(project.results()["metrics"][0]["groups"]) <= {"fëmme", "男", "<b>&\"'"}
    assert "fëmme" in (project.path / "results.json").read_text(encoding="utf-8")
    assert properties(project.path / "junit.xml")["fairness_verdict"] == project.row()["verdict"]


def test_hostile_answers_do_not_break_the_files(project: Project) -> None:
    body = "    return 'yes \\x1b[31m\\x00 \\ud800 ]]> </testcase> NaN' if 'woman' in text else 'yes'"
    project.write_suite(conftest=project_sources.application(body=body), count=20)
    result = project.run("--junitxml=junit.xml")
    parse(project.path / "junit.xml")
    assert project.row()["verdict"] in ("fair", "undecided", "invalid")
    assert "\x1b[31m" not in "\n".join(result.outlines)


def test_hostile_error_does_not_break_the_files(project: Project) -> None:
    body = "    raise OSError('\\x1b[31m\\x00 \\ud800 ]]> </testcase>\\n\\n' * 400)"
    project.write_suite(conftest=project_sources.application(body=body), count=20)
    result = project.run("--junitxml=junit.xml")
    assert result.ret == INVALID_CODE
    parse(project.path / "junit.xml")
    assert project.row()["verdict"] == "invalid"
    assert "\x1b[31m" not in "\n".join(result.outlines)


def test_folder_of_the_results_file_is_created(project: Project) -> None:
    write(project)
    project.bare_run("-m", "threshold", "--fairness-json=a/b/results.json")
    assert json.loads((project.path / "a" / "b" / "results.json").read_text(encoding="utf-8"))["schema"] == 2


def test_run_without_thresholds_writes_a_named_results_file(project: Project) -> None:
    project.write(test_plain="def test_plain(): pass\n")
    assert project.run().ret == 0
    assert (project.rows(), project.results()["release"]) == ([], [])
    (project.path / "results.json").unlink()
    (project.path / "pytest.ini").write_text("[pytest]\nfairness_json = results.json\n")
    assert project.bare_run().ret == 0
    assert not (project.path / "results.json").exists()  # of a project, whose other tests have no part in it


def test_tokens_are_counted(project: Project) -> None:
    project.write(test_hiring=project_sources.suite())
    project.run("--fairness-model=simulated:fair?base=0.95")
    tokens = project.results()["run"]["tokens"]
    assert tokens["input"] > 120
    assert tokens["output"] >= 120

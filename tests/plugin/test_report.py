"""Reports of a run: when they are written, and what a CI job gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fairness.report.ci.github_summary import LIMIT
from tests.helpers import project_sources
from tests.helpers.project import NO_XDIST, Mode, Project, every_mode, in_one_process, shown

REPORT = Path("reports") / "fairness.html"


@pytest.fixture
def project(project: Project, mode: Mode, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Return a project with reports on, as users have it."""
    monkeypatch.delenv("PYTEST_ADDOPTS")
    project.write_suite(conftest=project_sources.application(project_sources.UNEVEN), count=40)
    return project


@every_mode
def test_report_is_written_by_default(project: Project) -> None:
    result = project.run()
    page = (project.path / REPORT).read_text(encoding="utf-8")
    assert "Should a woman of profile" not in page  # packed
    assert "women and men alike" in page
    row = project.row()
    assert row["verdict"] == "unfair"
    assert row["message"].partition(": ")[2].partition(" ")[0] in page
    assert f"report: {REPORT}" in shown(result)
    assert "results: results.json" in shown(result)


@in_one_process
def test_probes_without_a_threshold_are_reported(project: Project) -> None:
    result = project.run("-k", "person and not alike")
    page = (project.path / REPORT).read_text(encoding="utf-8")
    assert result.ret == pytest.ExitCode.OK
    assert "Nothing was judged of 1 threshold; 1 not selected" in page
    assert "80 attempts" in page


def test_report_none_writes_no_report(project: Project) -> None:
    result = project.run("--fairness-report=none")
    assert not (project.path / REPORT).exists()
    assert "report: " not in shown(result)


def test_run_without_probes_writes_no_report(project: Project) -> None:
    project.write(conftest="", test_hiring="def test_plain():\n    pass\n")
    project.run()
    assert not (project.path / "reports").exists()


def test_run_that_stops_before_its_verdicts_leaves_the_report(project: Project) -> None:
    project.run()
    page = (project.path / REPORT).read_bytes()
    (project.path / "asked.txt").unlink()
    body = '    assert "profile 9 " not in text'
    project.write(conftest=project_sources.application(project_sources.UNEVEN, body=body))
    assert project.run("-x").parseoutcomes()["failed"] == 1
    assert project.calls()
    assert (project.path / REPORT).read_bytes() == page


def test_readme_in_the_folder_of_the_tests_is_the_card_in_the_report(project: Project) -> None:
    (project.path / "hiring").mkdir()
    (project.path / "test_hiring.py").rename(project.path / "hiring" / "test_hiring.py")
    for folder, text in ((project.path, "Of the whole project."), (project.path / "hiring", "Of one country.")):
        (folder / "README.md").write_text(text, encoding="utf-8")
    project.run()
    page = (project.path / REPORT).read_text(encoding="utf-8")
    assert "Of one country." in page
    assert "Of the whole project." not in page


def test_report_may_be_another_file(project: Project) -> None:
    project.run("--fairness-report=out/page.html")
    assert (project.path / "out" / "page.html").exists()
    assert not (project.path / REPORT).exists()


@pytest.mark.slow
def test_unwritable_report_fails_only_if_it_was_requested(project: Project) -> None:
    (project.path / "reports").write_text("a file", encoding="utf-8")
    project.write_suite(conftest=project_sources.application(project_sources.EVEN), count=200)
    result = project.run("-m", "threshold")
    assert result.ret == pytest.ExitCode.OK
    assert "no report: the file" in shown(result)
    result = project.run("--fairness-report=reports/mine.html", "-m", "threshold")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "cannot be written" in shown(result)
    assert project.row()["verdict"] == "fair"


def test_unwritable_report_does_not_hide_that_tests_failed(project: Project) -> None:
    (project.path / "reports").write_text("a file", encoding="utf-8")
    result = project.run("--fairness-report=reports/mine.html", "-m", "threshold")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "cannot be written" in shown(result)


@every_mode
def test_ci_summary_is_appended(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    summary = project.path / "summary.md"
    summary.write_text("# Before\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    result = project.run()
    text = summary.read_text(encoding="utf-8")
    assert text.startswith("# Before\n")
    assert text.count("### Unfair") == 1
    commands = [line for line in shown(result).splitlines() if line.startswith("::")]
    location, line = project.row()["location"]
    assert [command.partition(",title")[0] for command in commands] == [f"::error file={location},line={line}"]
    assert "assert" in (project.path / location).read_text(encoding="utf-8").splitlines()[line - 1]


def test_nearly_full_ci_summary_is_not_overfilled(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    summary = project.path / "summary.md"
    summary.write_text("x" * (LIMIT - 1500), encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    project.run(mode=NO_XDIST)
    assert summary.stat().st_size <= LIMIT


def test_stored_run_is_reported_again(project: Project) -> None:
    project.run()
    first = (project.path / REPORT).read_text(encoding="utf-8")
    run = project.results()["run"]["id"]
    from pytest_fairness.cli.main import main

    store, again, summary = (str(project.path / name) for name in (".fairness/store.sqlite", "again.html", "again.md"))
    project.run("--fairness-fresh")
    assert main(["report", run[:8], "--store", store, "--html", again, "--markdown", summary]) == 0
    assert Path(again).read_text(encoding="utf-8") == first
    assert "unfair" in Path(summary).read_text(encoding="utf-8")


def test_unknown_run_is_refused(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    from pytest_fairness.cli.main import main

    project.run()
    store = str(project.path / ".fairness" / "store.sqlite")
    assert main(["report", "0000", "--store", store]) == 2
    assert "no finished run '0000'" in capsys.readouterr().err
    assert main(["report", "latest", "--store", "nowhere.sqlite"]) == 2
    assert "there is no store nowhere.sqlite" in capsys.readouterr().err


@in_one_process
def test_unbuildable_probe_is_reported(project: Project) -> None:
    project.write(test_hiring=project_sources.suite(count=40).replace("yield ProbeItem(", "yield NoSuchThing("))
    result = project.run(f"--fairness-report={REPORT}")
    assert "a bug in pytest-fairness" not in shown(result)
    page = (project.path / REPORT).read_text(encoding="utf-8")
    assert "Nothing can be concluded" in page
    assert "NoSuchThing" in page


def test_example_of_a_whole_item_shows_all_of_its_prompts(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    thresholds = """
from pytest_fairness import Grade

class Agrees:
    def grade_item(self, item, attempts):
        agrees = len({attempt.attempt.answer.text for attempt in attempts}) == 1
        return [Grade(agrees)] * len(attempts)

@pytest.mark.probe(items=people, grade={"agrees": Agrees()})
def test_pair(probe_item, model):
    probe_item.measure(model)

@pytest.mark.threshold(probe=test_pair)
def test_pairs_agree(measured):
    assert measured.whole_items().rate("agrees") >= 0.9
"""
    project.write(test_hiring=project_sources.suite(thresholds, count=40, probe=""))
    summary = project.path / "summary.md"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    project.run()
    for text in ((project.path / REPORT).read_text(encoding="utf-8"), summary.read_text(encoding="utf-8")):
        assert text.index("Prompt 1 of 2") < text.index("Prompt 2 of 2")
        assert "1 of 1 answer" not in text

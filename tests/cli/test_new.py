"""``pytest-fairness new SUITE``: what it writes runs as it is, on a simulated model and on a callable."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from pytest_fairness.cli import main
from tests.helpers.project import NO_XDIST, Project, first_in_every_mode, shown

CALLABLE = """
import hashlib
import pytest

@pytest.fixture(scope="session")
def model():
    def invites(text):
        return "Yes." if hashlib.sha256(text.encode()).digest()[0] < (16 if "I owe" in text else 244) else "No."

    return invites
"""


def new(project: Project, monkeypatch: pytest.MonkeyPatch, suite: str) -> int:
    monkeypatch.chdir(project.path)
    return main.main(["new", suite])


@first_in_every_mode("suite", ["letting", "tests/fairness/letting_2"])
def test_printed_command_runs_and_passes(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], suite: str
) -> None:
    assert new(project, monkeypatch, suite) == 0
    *_, command = capsys.readouterr().out.splitlines()
    program, *arguments = shlex.split(command)
    assert program == "pytest"
    result = project.run(*arguments)
    result.assert_outcomes(passed=101)
    assert set(project.verdicts().values()) == {"fair"}, shown(result)


def test_new_suite_tests_an_application(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    new(project, monkeypatch, "letting")
    project.write(conftest=CALLABLE)
    project.run("suites/letting").assert_outcomes(passed=101)


def test_new_suite_finds_planted_bias(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    new(project, monkeypatch, "letting")
    project.run("suites/letting", "--fairness-model=simulated:x?of=woman&ratio=0.5", mode=NO_XDIST)
    assert {row["threshold"]: row["verdict"] for row in project.rows()} == {
        "Women and men are invited equally often": "unfair"
    }


def test_new_suite_finds_a_model_that_does_not_read(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    new(project, monkeypatch, "letting")
    project.write(conftest=CALLABLE.replace("16 if", "150 if").replace("else 244", "else 150"))
    project.run("suites/letting").assert_outcomes(passed=100, failed=1)
    assert (project.row()["verdict"], project.row()["sensitivity"]) == ("invalid", "absent")


def test_card_is_in_the_report_and_names_its_commands(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    new(project, monkeypatch, "letting")
    card = (project.path / "suites" / "letting" / "README.md").read_text(encoding="utf-8")
    assert "pytest suites/letting --fairness-model" in card
    project.run("suites/letting", "--fairness-model=simulated:x", "--fairness-report=page.html", "-m", "threshold")
    page = (project.path / "page.html").read_text(encoding="utf-8")
    assert "Does it invite somebody less often because of the name?" in page


def test_existing_suite_is_not_overwritten(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    new(project, monkeypatch, "letting")
    files = [file for file in (project.path / "suites" / "letting").iterdir() if file.is_file()]
    for file in files:
        file.write_text("mine", encoding="utf-8")
    assert new(project, monkeypatch, "letting") == 2
    assert capsys.readouterr().err == (
        "pytest-fairness: suites/letting is there already, and nothing is overwritten: choose another name\n"
    )
    assert {file.read_text(encoding="utf-8") for file in files} == {"mine"}


@pytest.mark.parametrize("name", ["My Suite", "9lives", "a-b", "..", "suites/..", "tëst"])
def test_invalid_suite_name_is_refused(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert new(project, monkeypatch, name) == 2
    assert "is no name of a suite: write small letters, digits and _" in capsys.readouterr().err
    assert not list(project.path.rglob("test_*.py"))


@pytest.mark.parametrize("name", ["", "."])
def test_empty_suite_name_is_refused(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert new(project, monkeypatch, name) == 2
    assert "this names no suite (an unset variable?)" in capsys.readouterr().err
    assert not (project.path / "suites").exists()


def test_file_in_the_way_is_reported(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(project.path / "suites").touch()
    assert new(project, monkeypatch, "letting") == 2
    assert "Not a directory" in capsys.readouterr().err

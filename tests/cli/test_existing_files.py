"""Overwriting: foreign files are refused, earlier outputs of this project are replaced."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_fairness.cli.main import main
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.output_files import write_text
from tests.helpers.project import Project, shown

FOREIGN = {"package.json": '{"name": "mine"}\n', "mine.html": "<!doctype html>\n<p>mine</p>\n", "notes.md": "# Mine\n"}


@pytest.fixture
def project(project: Project) -> Project:
    project.write_suite(count=6)
    for name, text in FOREIGN.items():
        (project.path / name).write_text(text, encoding="utf-8")
    return project


def test_run_refuses_to_overwrite_foreign_files(project: Project) -> None:
    for option in ("json", "report"):
        for name in ("test_hiring.py", *FOREIGN, ".", ".fairness/store.sqlite"):
            result = project.bare_run(f"--fairness-{option}={name}")
            assert result.ret == pytest.ExitCode.USAGE_ERROR, (option, name)
            (line,) = (line for line in result.errlines if line)
            assert line.startswith(f"ERROR: --fairness-{option}: ")
    assert not project.calls()
    assert not project.store.exists()
    assert {name: (project.path / name).read_text(encoding="utf-8") for name in FOREIGN} == FOREIGN
    for _ in range(2):
        result = project.run("--fairness-report=page.html")
        assert "results: " in shown(result)
        assert "report: page.html" in shown(result)
    result = project.bare_run("--fairness-report=results.json")
    assert "results.json is there and was not written as such a file before" in shown(result)


def test_file_behind_a_link_is_replaced_and_the_link_kept(tmp_path: Path) -> None:
    link, file = tmp_path / "latest.md", tmp_path / "runs" / "notes.md"
    link.symlink_to(file)
    for text in ("# Notes of all runs\n\none", "# Notes of all runs\n\ntwo"):  # the first link leads to no file yet
        write_text(link, text)
        assert link.is_symlink()
        assert file.read_text(encoding="utf-8") == text
    assert [path.name for path in file.parent.iterdir()] == ["notes.md"]


def test_commands_refuse_to_overwrite_foreign_files(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project.run("--fairness-report=page.html")
    monkeypatch.chdir(project.path)
    before = {path: path.read_bytes() for path in project.path.glob("**/*") if path.is_file()}
    commands = (
        ["report", "latest", "--html"],
        ["report", "latest", "--html=page.html", "--markdown"],
        ["export", "parquet", "latest", "--out"],
        ["export", "every-eval-ever", "latest", "--out"],
    )
    for command in commands:
        for name in (".", "/", ".fairness/store.sqlite", "test_hiring.py", "results.json", "mine.html", "notes.md"):
            capsys.readouterr()
            assert main([*command, name]) == 2, (command, name)
            (line,) = capsys.readouterr().err.splitlines()
            assert line.startswith("pytest-fairness: ")
    after = {path: path.read_bytes() for path in before}
    assert {path.name for path in before if before[path] != after[path]} <= {"page.html"}
    for command in commands:
        for _ in range(2):
            assert main([*command, f"out-{len(command)}-{command[1]}"]) == 0


def test_imports_refuse_to_overwrite_foreign_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recorded = {"category": "Age", "example_id": 1, "question_index": "1", "question_polarity": "neg", "label": 0}
    recorded |= {"context_condition": "ambig", "context": "A, B.", "question": "Who?", "mine": "A"}
    recorded |= {"ans0": "A", "ans1": "B", "ans2": "C", "answer_info": {}, "additional_metadata": {}}
    source, out, store = tmp_path / "p.jsonl", tmp_path / "out.jsonl", tmp_path / "store.sqlite"
    source.write_text(json.dumps(recorded) + "\n", encoding="utf-8")
    store.write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    before = store.read_bytes(), source.read_bytes()
    for wrong in (store, source, tmp_path):
        for command in (
            ["bbq-predictions", str(source), "--column=mine"],
            ["bbq-pairs", str(tmp_path)],
            ["asymmetry", str(tmp_path)],
        ):
            assert main(["import", *command, f"--out={wrong}"]) == 2
            (line,) = capsys.readouterr().err.splitlines()
            assert str(wrong) in line
    assert (store.read_bytes(), source.read_bytes()) == before
    for _ in range(2):
        assert main(["import", "bbq-predictions", str(source), "--column=mine", f"--out={out}"]) == 0


def test_empty_names_are_refused(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project.run()
    monkeypatch.chdir(project.path)
    for command in (
        ["report", ""],
        ["report", " "],
        ["new", ""],
        ["prune", "--run="],
        ["export", "every-eval-ever", ""],
    ):
        command += ["--out=log.json"] * (command[0] == "export")
        assert main(command) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert "(an unset variable?)" in line
    assert not (project.path / "suites").exists()


@pytest.mark.parametrize("text", ["## Fairness\n\n- **a**", '{\n "schema": 1,\n "run": {}}\n', "a,b\n1,2\n", ""])
def test_file_of_the_same_kind_is_overwritten(tmp_path: Path, text: str) -> None:
    file = tmp_path / "out"
    write_text(file, text)
    write_text(file, text + "more\n")
    assert file.read_text(encoding="utf-8") == text + "more\n"
    other = tmp_path / "other"
    other.write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    with pytest.raises(FairnessError, match="name another, or remove it"):
        write_text(other, text)

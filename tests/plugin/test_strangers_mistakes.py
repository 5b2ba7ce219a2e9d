"""Mistakes of strangers in files and on command lines: one clear line with the value and the remedy, no traceback."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_fairness.cli import main
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.declarative.probe import read_probes
from tests.helpers.bad_commands import BAD_COMMANDS, BAD_RUNS
from tests.helpers.bad_files import BAD_JSONL, BAD_TABLES, BAD_YAML, BadFile
from tests.helpers.project import Project, shown

LATER = {"calibration-missing", "items-same-id", "cell-nan", "cell-inf", "extremes-narrow", "same-id"}
"""Mistakes that are found when the probe is built or judged, and not when its file is read."""
READ = {
    f"{ending}-{name}": (ending, case)
    for ending, cases in (("yaml", BAD_YAML | BAD_TABLES), ("jsonl", BAD_JSONL))
    for name, case in cases.items()
    if name not in LATER
}


def write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files; ``empty.keep`` stands for an empty folder, and ``taken.txt`` for a suite of that name."""
    for name, text in files.items():
        if name == "empty.keep":
            (folder / "empty").mkdir()
        elif name == "taken.txt":
            (folder / "suites" / "taken").mkdir(parents=True)
        else:
            (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())


def write_suite(folder: Path, ending: str, case: BadFile) -> Path:
    write(folder, {**case.beside, f"pay.probe.{ending}": case.text})
    return folder / f"pay.probe.{ending}"


@pytest.mark.parametrize("name", READ)
def test_mistake_in_a_file_is_one_line_with_value_and_remedy(name: str, tmp_path: Path) -> None:
    path = write_suite(tmp_path, *READ[name])
    with pytest.raises(FairnessError) as raised:
        read_probes(path)
    message = str(raised.value)
    assert message.startswith(f"{path.name}:")
    assert "\n" not in message
    assert not [word for word in READ[name][1].words if word not in message], message


@pytest.mark.slow
def test_every_file_with_a_mistake_fails_alone_and_in_one_line(project: Project) -> None:
    cases = {f"{ending}-{name.replace('/', '')}": (ending, case) for name, (ending, case) in READ.items()}
    for name, case in cases.items():
        folder = project.path / name
        folder.mkdir()
        write_suite(folder, *case)
    result = project.bare_run("--fairness-model=simulated:demo")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    output = result.outlines
    assert not [line for line in output if "Traceback" in line or "bug in pytest-fairness" in line]
    unheard = [name for name in cases if sum(line.startswith(f"{name}/pay.probe.") for line in output) != 2]
    assert not unheard  # a line of the progress, and one about the mistake


@pytest.mark.parametrize("name", BAD_COMMANDS)
def test_mistake_in_a_command_is_one_line_with_value_and_remedy(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    case = BAD_COMMANDS[name]
    write(tmp_path, case.files)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "1000")
    try:
        status = main.main(list(case.line))
    except SystemExit as ended:  # of argparse, with a line on the usage before it
        status = ended.code  # type: ignore[assignment]
    errors = [line for line in capsys.readouterr().err.splitlines() if not line.startswith(("usage:", " "))]
    assert (status, len(errors)) == (2, 1), errors
    assert not [word for word in case.words if word not in errors[0]], errors[0]


@pytest.mark.parametrize("name", BAD_RUNS)
def test_mistake_in_a_run_is_one_line_with_value_and_remedy(name: str, project: Project) -> None:
    case = BAD_RUNS[name]
    write(project.path, case.files)
    result = project.bare_run(*case.line)
    output = shown(result)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "Traceback" not in output
    assert 'File "' not in output
    lines = [line for line in [*result.errlines, *result.outlines] if "usage:" not in line]
    (error,) = (line for line in lines if re.match(r"ERROR: |\S+: error: ", line))
    assert not [word for word in case.words if word not in error], error

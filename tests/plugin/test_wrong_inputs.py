"""Wrong inputs of every form: each is refused in one line with the file, the line and what was written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.plugin.config.ini_file import IniFile
from pytest_fairness.plugin.config.settings import read_settings
from tests.helpers import wrong_inputs
from tests.helpers.project import Project, failures


def message(wrong: wrong_inputs.WrongInput, folder: Path) -> str:
    """Return the message about a wrong input; empty where it was accepted."""
    path = folder / wrong.file
    path.write_text(wrong.text, encoding="utf-8")
    try:
        wrong.read(path)
    except FairnessError as error:
        return str(error)
    finally:
        path.unlink()
    return ""


def test_wrong_line_of_a_file_is_named(tmp_path: Path) -> None:
    faults = []
    for wrong in wrong_inputs.files():
        text = message(wrong, tmp_path)
        position = f"{wrong.file}:{wrong.line}:" if wrong.line else ""
        if "\n" in text or position not in text or wrong.shown not in text or not text:
            faults.append(f"{wrong.name}\n    {text}")
    assert not faults, "\n".join(faults)


def test_wrong_argument_of_a_mark_is_named(project: Project) -> None:
    project.write(test_marks=wrong_inputs.marks_module())
    sections = {name.partition("[")[0]: lines for name, lines in failures(project.run()).items()}
    faults = []
    for name, (argument, value) in wrong_inputs.marks().items():
        text = " ".join(sections.get(name, []))
        if argument not in text:
            faults.append(f"{argument}={value}\n    {text}")
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("way", ["pytest.ini", "pyproject.toml", "option"])
def test_wrong_value_of_an_option_is_named(pytester: pytest.Pytester, way: str) -> None:
    faults = []
    for key, values in wrong_inputs.INI.items():
        for value in values:
            text, name = _option_message(pytester, way, key, value)
            if name not in text or "\n" in text:
                faults.append(f"{key} = {value}\n    {text}")
    assert not faults, "\n".join(faults)


def _option_message(pytester: pytest.Pytester, way: str, key: str, value: str) -> tuple[str, str]:
    """Return the message about a value, and how it must name it."""
    arguments: list[Any] = []
    if way == "option":
        arguments = [f"--fairness-{key.replace('_', '-')}={value}"]
        pytester.makeini("[pytest]")
    elif way == "pytest.ini":
        pytester.makeini("")
        (pytester.path / "tox.ini").unlink()
        (pytester.path / way).write_text(f"[pytest]\nxfail_strict = 1\nfairness_{key} = {value}\n")
    else:
        (pytester.path / way).write_text(
            f'[tool.pytest.ini_options]\nxfail_strict = true\nfairness_{key} = "{value}"\n'
        )
    config = pytester.parseconfig(*arguments)
    with pytest.raises((pytest.UsageError, FairnessError)) as refused:
        read_settings(config, IniFile(config))
    return str(refused.value), f"--fairness-{key.replace('_', '-')}" if way == "option" else f"{way}:3: fairness_{key}"

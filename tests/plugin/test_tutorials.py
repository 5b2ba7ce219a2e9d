"""The tutorial of a first own probe: its files give the verdicts that it shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.helpers.project import Project, unwrapped

PAGE = (Path(__file__).parents[2] / "docs" / "first-probe.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_first_probe_has_the_verdicts_of_its_page(project: Project) -> None:
    files = dict(re.findall(r"```python file=(\S+)\n(.*?)```", PAGE, re.DOTALL))
    unfair, undecided = re.findall(r"^```\n((?: +.*\n)+)```$", PAGE, re.MULTILINE)
    for name, text in files.items():
        (project.path / name).write_text(text, encoding="utf-8")
    assert " ".join(unfair.split()) in unwrapped(project.run("test_refund.py"))
    mended = re.sub(r"    if .*\n.*-= 0.3\n", "", files["my_app.py"])
    (project.path / "my_app.py").write_text(mended, encoding="utf-8")
    (project.path / "conftest.py").write_text(files["conftest.py"].replace('"1"', '"2"'), encoding="utf-8")
    output = unwrapped(project.run("test_refund.py"))
    assert all(" ".join(line.split()) in output for line in undecided.splitlines())

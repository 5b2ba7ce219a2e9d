"""An editor's view of the tests that pytest lists."""

from __future__ import annotations

import json
import os

from tests.helpers.project import Project, shown

EDITOR = """
import json, pathlib, pytest

def pytest_sessionfinish(session, exitstatus):
    # As VS Code's plugin takes tests apart: what raises here empties its tree.
    tests = {}
    for item in session.items:
        assert item.path and item.parent is not None and item.parent.path and len(item.location) == 3
        below = "::".join(item.nodeid.split("::")[1:])
        if hasattr(item, "callspec"):
            name, parameters = item.name.split("[", 1)
            inside = item.nodeid.rsplit("::", 1)[0].rsplit(".py", 1)[1]
            assert item.originalname == name and isinstance(item.parent, pytest.File | pytest.Class), inside
        tests[f"{item.path}::{below}"] = item.name
    pathlib.Path("tree.json").write_text(json.dumps([exitstatus, tests]))
"""


def listing(project: Project, *args: str) -> dict[str, str]:
    """Return the tests as an editor lists them, by their ids there."""
    project.write(editor=EDITOR)
    project.pytester.syspathinsert()
    result = project.bare_run("-p", "editor", "--collect-only", "-q", *args)
    assert "INTERNALERROR" not in shown(result), shown(result)
    assert not [line for line in result.outlines if line.startswith("fairness")]
    status, tests = json.loads((project.path / "tree.json").read_text(encoding="utf-8"))
    assert status == 0
    return {test.removeprefix(f"{project.path}{os.sep}"): name for test, name in tests.items()}

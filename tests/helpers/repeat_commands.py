"""The commands that a report prints, tried."""

from __future__ import annotations

import html
import re
import shlex
from pathlib import Path

from tests.helpers.project import ALONE, NO_XDIST, Project, shown


def commands_of(page: Path) -> list[list[str]]:
    """Return the commands of a page that repeat one test, each once."""
    texts = re.findall(r'<code class="command">(.*?)</code>', page.read_text(encoding="utf-8"))
    commands = [shlex.split(html.unescape(command)) for command in dict.fromkeys(texts)]
    return [command for command in commands if any("::" in part for part in command)]


def collected(project: Project, args: list[str]) -> list[str]:
    """Return the ids of the tests that such a call selects."""
    result = project.pytester.runpytest_inprocess(
        "-p", "no:randomly", *NO_XDIST.args, *ALONE, *args, "--collect-only", "-q"
    )
    assert result.ret == 0, shown(result)
    return [line for line in result.outlines if "::" in line]


def repeated(project: Project, *args: str) -> set[str]:
    """Run all commands that the report of a run prints, and return the ids of their tests."""
    result = project.bare_run(*args, "--fairness-report=page.html", "--fairness-json=results.json")
    assert "INTERNALERROR" not in shown(result)
    whole = set(collected(project, list(args)))
    rows = {row["id"] for row in project.rows()}
    tests: set[str] = set()
    for program, *arguments in commands_of(project.path / "page.html"):
        assert program == "pytest"
        (test,) = collected(project, arguments)
        tests.add(test)
    assert rows <= tests <= whole, (rows - tests, tests - whole)
    return tests

"""Options that the selected tests have no use for are named."""

from __future__ import annotations

import pytest

from tests.helpers import project_sources
from tests.helpers.project import Project, unwrapped


def text(result: pytest.RunResult) -> str:
    return unwrapped(result)


def test_bias_planted_on_nobody_is_named(project: Project) -> None:
    project.write(test_hiring=project_sources.suite(count=6))
    planted = text(project.run("--fairness-model=simulated:x?ratio=0.5&by=gender&of=female"))
    assert (
        "simulated:x has no bias here: no prompt is about gender=female. did you mean "
        "'gender=man' or 'gender=woman'? Known: gender=man, gender=woman"
    ) in planted
    other = text(project.run("--fairness-model=simulated:x?ratio=0.5&of=woman", "--fairness-baseline=latest"))
    assert "has no bias here" not in other
    assert "--fairness-baseline: no selected threshold takes the fixture `baseline`" in other

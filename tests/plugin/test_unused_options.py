"""Options that the selected tests have no use for are named."""

from __future__ import annotations

import pytest

from tests.helpers import project_sources
from tests.helpers.project import N2, NO_XDIST, Project, shown, unwrapped


def text(result: pytest.RunResult) -> str:
    return unwrapped(result)


@pytest.mark.parametrize("mode", [NO_XDIST, N2], ids=lambda mode: mode.id, indirect=True)
def test_options_without_their_tests_are_named(project: Project) -> None:
    project.write_suite(count=6)
    project.run(mode=NO_XDIST)
    options = ("--fairness-judge=simulated:judge", "--fairness-baseline=latest")
    shown_text = text(project.run(*options, "--fairness-seed=7"))
    assert "--fairness-baseline: not used, no selected threshold takes the fixture `baseline`" in shown_text
    assert "--fairness-judge: not used, no grader of the selected probes asks the `judge` fixture" in shown_text
    assert "--fairness-seed: not used, nothing is drawn without" in shown_text


@pytest.mark.parametrize("mode", [N2, NO_XDIST], ids=lambda mode: mode.id, indirect=True)
def test_bias_planted_on_nobody_is_named(project: Project) -> None:
    project.write(test_hiring=project_sources.suite(count=6))
    planted = text(project.run("--fairness-model=simulated:x?ratio=0.5&by=gender&of=female"))
    assert (
        "simulated:x has no bias here: no prompt is about gender=female. did you mean "
        "'gender=man' or 'gender=woman'? Known: gender=man, gender=woman"
    ) in planted
    assert "has no bias here" not in text(project.run("--fairness-model=simulated:x?ratio=0.5&of=woman"))


def test_probe_options_without_a_probe_are_named(project: Project) -> None:
    project.write(test_plain="def test_plain(): pass\n")
    result = project.bare_run("--fairness-sample=3", "--fairness-where=kind=odd")
    assert "--fairness-sample, --fairness-where: not used, no probe and no threshold is selected" in text(result)
    assert result.ret == 0


def test_used_options_are_not_named(project: Project) -> None:
    items = project_sources.items(count=6)
    judge = "from pytest_fairness import Judge, LabelField, Rubric\n"
    rubric = 'Judge(Rubric("Is it kind?", [LabelField("kind", ["yes", "no"])]))'
    probe = project_sources.PROBE.replace("YesNo()", rubric)
    against = "@pytest.mark.threshold(probe=test_hiring)\ndef test_no_worse(measured, baseline): pass\n"
    project.write_suite()
    project.run()
    source = "\n\n".join([project_sources.HEAD, judge, items, probe, against])
    project.write(test_hiring=source)
    options = ("--fairness-judge=simulated:judge", "--fairness-baseline=latest")
    result = project.run(*options, "--fairness-sample=3", "--fairness-seed=7")
    assert "test_hiring.py" in shown(result)
    assert "not used" not in text(result)

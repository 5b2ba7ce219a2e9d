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
    (project.path / "here").mkdir()
    options = ("--fairness-judge=simulated:judge", "--fairness-baseline=latest", "--fairness-data=nosuch=here")
    shown_text = text(project.run(*options, "--fairness-seed=7"))
    assert "--fairness-baseline: not used, no selected threshold takes the fixture `baseline`" in shown_text
    assert "--fairness-judge: not used, no grader of the selected probes asks the `judge` fixture" in shown_text
    assert "--fairness-data nosuch: not used, no suite has looked for it" in shown_text
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
    items = project_sources.items(count=6).replace("def people():", "def people(data):\n    data.folder('mine')")
    judge = "from pytest_fairness import Judge, LabelField, Rubric\n"
    rubric = 'Judge(Rubric("Is it kind?", [LabelField("kind", ["yes", "no"])]))'
    probe = project_sources.PROBE.replace("YesNo()", rubric)
    against = "@pytest.mark.threshold(probe=test_hiring)\ndef test_no_worse(measured, baseline): pass\n"
    project.write_suite()
    project.run()
    source = "\n\n".join([project_sources.HEAD, judge, items, probe, against])
    project.write(test_hiring=source)
    (project.path / "here").mkdir()
    options = ("--fairness-judge=simulated:judge", "--fairness-baseline=latest", "--fairness-data=mine=here")
    result = project.run(*options, "--fairness-sample=3", "--fairness-seed=7")
    assert "test_hiring.py" in shown(result)
    assert "not used" not in text(result)


def test_prices_of_unused_models_are_named(project: Project) -> None:
    project.write(test_hiring=project_sources.suite(count=6))
    run = ("--fairness-model=simulated:one", "--fairness-price=simulated:one=1/2", "--fairness-price=3/4")
    result = project.run(*run, "--fairness-price=simulated:other=1/2")
    output = unwrapped(result)
    assert output.count("--fairness-price") == 1
    assert "--fairness-price simulated:other: not used, the run names no such model" in output

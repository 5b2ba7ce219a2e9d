"""The commands that a report prints run as printed, where pytest was called, and call the same tests."""

from __future__ import annotations

import pytest

from tests.helpers import project_sources
from tests.helpers.project import Project, shown
from tests.helpers.repeat_commands import repeated

PROBE = project_sources.suite(project_sources.threshold("assert measured.rate('hired') <= 0.05"), count=12)
YAML = """
template: "Should a {{ who }} of profile {{ number }} be hired?"
vary:
  gender:
    woman: [{who: woman}]
    man: [{who: man}]
items:
""" + "".join(f"  - {{id: {'médiathèque ' * 9}{number}, number: {number}}}\n" for number in range(12))
YAML += """
grade: {hired: yes-no}
thresholds:
  Frauen & Männer werden selten eingestellt: rate(hired) <= 0.05
"""
MODELS = ("--fairness-model=simulated:demo", "--fairness-model=simulated:demo?bias=0.9")


def test_commands_name_tests_inside_the_rootdir(project: Project) -> None:
    (project.path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    below = project.path / "suites of ours"
    below.mkdir()
    (below / "test_hiring.py").write_text(PROBE, encoding="utf-8")
    (below / "visité.probe.yaml").write_text(YAML, encoding="utf-8")
    tests = repeated(project, *MODELS)  # whose ids have a digest each, and only beside each other
    assert all("~" in test for test in tests)
    assert any("test_hiring[" in test for test in tests)  # an example
    assert any("[m_diath" in test for test in tests), tests
    assert {test.partition("::")[0] for test in tests} == {
        "suites of ours/test_hiring.py",
        "suites of ours/visité.probe.yaml",
    }


def test_commands_of_a_call_in_a_subfolder_name_its_tests(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    (project.path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    below = project.path / "suites"
    below.mkdir()
    (below / "test_hiring.py").write_text(PROBE, encoding="utf-8")
    monkeypatch.chdir(below)
    monkeypatch.setattr(type(project), "path", below)
    tests = repeated(project, MODELS[0])
    assert {test.partition("::")[0] for test in tests} == {"suites/test_hiring.py"}


@pytest.mark.slow
def test_commands_of_an_installed_suite_name_its_tests(
    project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("site") / "company"
    (outside / "suites").mkdir(parents=True)
    for folder in (outside, outside / "suites"):
        (folder / "__init__.py").touch()
    (outside / "suites" / "test_installed.py").write_text(PROBE, encoding="utf-8")
    (outside / "suites" / "visit.probe.yaml").write_text(YAML, encoding="utf-8")
    project.pytester.syspathinsert(outside.parent)
    tests = repeated(project, "--pyargs", "company.suites", MODELS[0])
    assert {test.partition("::")[0] for test in tests} == {"test_installed.py", "visit.probe.yaml"}
    # Named as a file it has another id, by which it is found again.
    assert len(repeated(project, "--pyargs", "company.suites.test_installed", MODELS[0])) == 2


def test_uncollected_test_is_refused(project: Project) -> None:
    project.write(test_hiring=PROBE)
    result = project.bare_run(MODELS[0], "--fairness-test=test_hiring.py::test_nowhere")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "--fairness-test: no test 'test_hiring.py::test_nowhere' was collected" in shown(result)
    assert not project.calls()

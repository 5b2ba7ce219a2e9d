"""No mistake in a file, a fixture or an option costs the other tests of a session, or more than a few lines."""

from __future__ import annotations

import pytest

from pytest_fairness.plugin.output.outcomes import INVALID_CODE, UNDECIDED_CODE
from tests.helpers import project_sources
from tests.helpers.broken_declarations import GOOD
from tests.helpers.project import N2, NO_XDIST, Project, first_in_every_mode, shown

BROKEN = GOOD + "items: no-such.csv\n"
UNIT = "def test_unit(): pass\n"

HOOKS = {
    "parent": "hasattr(item.parent, 'obj') and item.parent.obj.__file__",
    "function": "item.function.__module__, item.obj.__doc__, item.fixturenames, item.module.__name__, item.cls",
    "names": "item.originalname, item.location, item.keywords, item.own_markers, item.instance",
}


@first_in_every_mode("reads", HOOKS)
def test_hooks_may_read_the_module_of_a_broken_file(project: Project, reads: str) -> None:
    hook = f"""
import pytest

@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    {HOOKS[reads]}
    return (yield)

def pytest_runtest_protocol(item):
    {HOOKS[reads]}
"""
    (project.path / "broken.probe.yaml").write_text(BROKEN, encoding="utf-8")
    project.write(conftest=hook, test_unit=UNIT)
    result = project.run("--fairness-model", "simulated:demo")
    assert result.ret == 4, shown(result)
    result.assert_outcomes(passed=1, errors=1)
    assert "INTERNALERROR" not in shown(result)
    assert "broken.probe.yaml:13" in shown(result)


@pytest.mark.parametrize("name", ["招聘", "é", "🙂", "-", "model", "setup_module"])
def test_names_of_files_may_have_no_ascii_letter(project: Project, name: str) -> None:
    (project.path / f"{name}.probe.yaml").write_text(GOOD, encoding="utf-8")
    project.write(test_unit=UNIT)
    result = project.run("--fairness-model", "simulated:demo")
    if name == "setup_module":  # pytest would call it
        result.assert_outcomes(passed=1, errors=1)
        assert "'setup_module' has a meaning for pytest: take another name" in shown(result)
    else:
        result.assert_outcomes(passed=3, failed=1)
        assert [row["message"].startswith("invalid: only 2") for row in project.rows()] == [True]


@pytest.mark.parametrize(
    ("mode", "configuration"), [(N2, "pytest.ini"), (NO_XDIST, "pyproject.toml")], indirect=["mode"]
)
def test_unknown_alias_in_the_ini_file_ends_no_other_test(project: Project, configuration: str) -> None:
    texts = {
        "pytest.ini": "[pytest]\nfairness_model = prod\n",
        "pyproject.toml": (
            '[tool.pytest.ini_options]\nfairness_model = "prod"\n[tool.pytest-fairness.models]\nprd = "simulated:x"\n'
        ),
    }
    (project.path / configuration).write_text(texts[configuration], encoding="utf-8")
    project.write(test_hiring=project_sources.suite(count=6), test_unit=UNIT)
    result = project.bare_run()  # an option that is typed reads the file at once, and ends the run in one line
    assert result.ret == INVALID_CODE
    assert "INTERNALERROR" not in shown(result)
    assert f"{configuration}:2: fairness_model: 'prod' is" in shown(result)
    assert result.parseoutcomes()["passed"] == 1
    assert len(shown(result).splitlines()) < 60
    assert "no model: release: invalid (1 threshold: 1 invalid)" in shown(result)


@pytest.mark.parametrize("option", ["--fairness-store", "--fairness-json", "--fairness-report"])
@pytest.mark.parametrize("way", ["command", "PYTEST_ADDOPTS"])
def test_option_that_would_move_the_rootdir_is_refused_at_once(
    project: Project, option: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # pytest takes a path that exists for one of tests: the second run alone was refused.
    inner = project.path / "inner"
    inner.mkdir()
    (inner / "pytest.ini").write_text("[pytest]\ntestpaths = .\n", encoding="utf-8")
    (inner / "test_unit.py").write_text(UNIT, encoding="utf-8")
    file = project.path / "elsewhere" / "file"
    monkeypatch.chdir(inner)
    typed = [option, str(file)]
    if way == "PYTEST_ADDOPTS":
        monkeypatch.setenv(way, " ".join(typed))
        typed = []
    result = project.bare_run("--fairness-model=simulated:demo", *typed)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {option} * makes * the rootdir * once the file exists: write {option}=*"])


def test_option_within_the_rootdir_is_not_refused(project: Project) -> None:
    project.write_suite(count=6)
    for _ in range(2):
        assert project.bare_run("--fairness-store", "elsewhere/store.sqlite").ret == UNDECIDED_CODE


FIXTURES = {
    "raises": '@pytest.fixture(scope="session")\ndef model(): raise ConnectionError("no db")',
    "async": '@pytest.fixture(scope="session")\nasync def model(): return str',
    "function": "@pytest.fixture\ndef model(): return str",
    "missing": '@pytest.fixture(scope="session")\ndef model(no_such_fixture): return str',
    "nested": (
        '@pytest.fixture(scope="session")\ndef database(): raise ConnectionError("no db")\n\n'
        '@pytest.fixture(scope="session")\ndef model(database): return str'
    ),
}
CAUSES = {
    "raises": "no db",
    "async": "is async",
    "function": "has function scope",
    "missing": "no_such_fixture",
    "nested": "no db",
}


@first_in_every_mode("kind", FIXTURES)
def test_mistake_in_the_model_fixture_is_shown_once(project: Project, kind: str) -> None:
    project.write(
        conftest=f"import pytest\n{FIXTURES[kind]}\n", test_hiring=project_sources.suite(count=60), test_unit=UNIT
    )
    result = project.run()
    assert result.ret == INVALID_CODE
    assert result.parseoutcomes()["passed"] == 1
    assert CAUSES[kind] in shown(result)
    assert len(shown(result).splitlines()) < 90
    assert project.row()["verdict"] == "invalid"


def test_async_probe_is_explained_once(project: Project) -> None:
    probe = project_sources.PROBE.replace("def test", "async def test")
    project.write_suite(probe=probe, test_unit=UNIT)
    result = project.run()
    assert result.parseoutcomes()["passed"] == 2  # its threshold measures the sample
    assert "test_hiring is async, and no plugin such as pytest-asyncio runs it" in shown(result)
    assert len(shown(result).splitlines()) < 60


@pytest.mark.parametrize("grader", ['"yes-no"', '"yesno"'])
def test_grader_that_is_a_text_is_explained_once(project: Project, grader: str) -> None:
    project.write_suite(probe=project_sources.PROBE.replace("YesNo()", grader), test_unit=UNIT)
    result = project.run()
    assert "write a grader, such as YesNo(...)" in shown(result)
    assert len(shown(result).splitlines()) < 50
    assert project.row()["verdict"] == "invalid"


def test_mistake_in_a_test_of_items_is_shown_a_few_times(project: Project) -> None:
    project.write_suite(probe=project_sources.PROBE.replace("measure(model)", "measure()"), test_unit=UNIT)
    result = project.run()
    assert result.parseoutcomes()["skipped"] >= 50
    assert len(shown(result).splitlines()) < 120

"""The ini file: read when something of ours is met, native or as text, and blamed by file and line."""

from __future__ import annotations

import json

import pytest

from pytest_fairness.plugin.compat import ini_values
from pytest_fairness.plugin.config.ini_file import IniFile
from pytest_fairness.plugin.config.options import OPTIONS
from tests.helpers import project_sources
from tests.helpers.project import N2, NO_XDIST, Project, shown

WRONG = {
    "fairness_sample = many": "fairness_sample is 'many': it must be a whole number",
    "fairness_sample = 0": "fairness_sample is 0: it must be at least 1",
    "fairness_resolve = perhaps": "fairness_resolve is 'perhaps': it must be true or false",
    "fairness_modle = simulated:a": "fairness_modle: there is no such option; did you mean 'fairness_model'?",
    "fairness_xyz = 1": "fairness_xyz: there is no such option; docs/options.md names all",
    "fairness_model = opnai:x": "fairness_model: model opnai:x: no model provider is called 'opnai'",
    "fairness_judge = opnai:x": "fairness_judge: model opnai:x: no model provider is called 'opnai'",
    "fairness_where = context": "fairness_where is 'context': write NAME=VALUE",
    "fairness_baseline = latest": "fairness_baseline: there is no store ",
    "fairness_shard = 9": "fairness_shard is '9': write I/N",
}


def test_wrong_ini_keys_do_not_affect_other_tests(project: Project) -> None:
    keys = dict(line.split(" = ") for line in WRONG) | {"fairness_env_file": ".env", "fairness_budget": "5"}
    lines = "\n".join(f"{key} = {value}" for key, value in keys.items())
    (project.path / "pytest.ini").write_text(f"[pytest]\n{lines}\n", encoding="utf-8")
    project.write(test_plain="def test_plain(): pass\n", test_hiring=project_sources.suite(count=3))
    result = project.bare_run("test_plain.py")
    result.assert_outcomes(passed=1, warnings=result.parseoutcomes().get("warnings", 0))
    assert not project.store.exists()
    result = project.bare_run("-k", "plain")
    assert (result.ret, result.parseoutcomes()["passed"]) == (0, 1)
    result = project.bare_run("--collect-only", "-q", mode=NO_XDIST)
    assert result.ret == 0
    assert "test_hiring.py::test_hiring[person-0000]" in result.outlines


def test_wrong_ini_keys_are_named_at_first_use(project: Project) -> None:
    project.write(test_hiring=project_sources.suite(count=3))
    for line, words in WRONG.items():
        (project.path / "pytest.ini").write_text(f"[pytest]\n# ours\n{line}\n", encoding="utf-8")
        result = project.bare_run()
        assert result.ret == pytest.ExitCode.USAGE_ERROR, shown(result)
        errors = [text for text in result.errlines if text]
        assert len(errors) == 1
        assert errors[0].startswith(f"ERROR: pytest.ini:3: {words}")
        assert not project.store.exists()


@pytest.mark.parametrize("mode", [NO_XDIST, N2], ids=lambda mode: mode.id, indirect=True)
def test_wrong_ini_keys_fail_fairness_tests_only(project: Project) -> None:
    search = "def test_flips(flips): raise AssertionError\n"
    project.write_suite(count=3, test_plain=f"def test_plain(): pass\n{search}def test_model(model): pass\n")
    (project.path / "pytest.ini").write_text("[pytest]\nfairness_sample = many\n", encoding="utf-8")
    result = project.bare_run()
    # The probe's first item, its threshold, the search and the ordinary test of the model, which conftest overrides.
    assert result.ret == 1
    counted = {name: result.parseoutcomes().get(name, 0) for name in ("passed", "failed", "errors", "skipped")}
    assert counted["passed"] == 2
    assert counted["failed"] + counted["errors"] <= 3 + (project.mode is N2)
    assert shown(result).count("pytest.ini:2: fairness_sample is 'many': it must be a whole number") >= 2
    assert not project.calls()


NATIVE = {
    "fairness_sample": "3",
    "fairness_seed": "7",
    "fairness_budget": "5",
    "fairness_max_minutes": "2.5",
    "fairness_resolve": "true",
    "fairness_offline": '"no"',
    "fairness_where": '"sex=man"',
    "fairness_model": '"simulated:a"',
}
LOOK = """
from pytest_fairness.plugin.session.session import SESSION

def test_settings(fairness_session):
    chosen = fairness_session.settings
    assert (chosen.sample, chosen.seed, chosen.budget, chosen.max_minutes) == (3, 7, 5.0, 2.5)
    assert (chosen.resolve, chosen.offline, chosen.where) == (True, False, {"sex": ("man",)})
    assert chosen.models == ("simulated:a",)
    assert isinstance(chosen.budget, float)
"""


@pytest.mark.skipif(pytest.version_tuple < (9,), reason="tables of native values are new in pytest 9")
def test_native_toml_values_are_accepted(project: Project) -> None:
    file = project.path / "pyproject.toml"
    lines = "\n".join(f"{key} = {value}" for key, value in NATIVE.items())
    project.write(test_settings=LOOK)
    for table in ("[tool.pytest]", "[tool.pytest.ini_options]"):
        file.write_text(f"{table}\n{lines}\n", encoding="utf-8")
        project.bare_run().assert_outcomes(passed=1)


@pytest.mark.skipif(pytest.version_tuple < (9,), reason="tables of native values are new in pytest 9")
def test_native_values_of_another_type_are_refused(pytester: pytest.Pytester) -> None:
    for wrong in ("{}", "[1]", "2020-01-01", "true"):
        options = [option for option in OPTIONS if not (option.flag and wrong == "true")]
        lines = "".join(f"{option.dest} = {wrong}\n" for option in options)
        pytester.makepyprojecttoml(f"[tool.pytest]\n\n{lines}")
        file = IniFile(pytester.parseconfig())
        for line, option in enumerate(options, start=3):
            with pytest.raises(pytest.UsageError, match=rf"^pyproject.toml:{line}: {option.dest} is .*: it must be "):
                file.value(option)


def test_override_ini_values_win(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nfairness_sample = 3\nfairness_seed = 7\n")
    config = pytester.parseconfig("-o", "fairness_sample=5")
    values = {key: value for key, value in ini_values(config).items() if key.startswith("fairness_")}
    assert values == {"fairness_sample": "5", "fairness_seed": "7"}


def test_paths_in_addopts_are_relative_to_the_ini_file(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    model = "simulated:demo?system=prompt.txt"
    options = f"--fairness-store st/s.sqlite --fairness-json out/r.json --fairness-model {model}"
    (project.path / "pytest.ini").write_text(f"[pytest]\naddopts = {options}\n", encoding="utf-8")
    (project.path / "prompt.txt").write_text("Be kind.", encoding="utf-8")
    folder = project.path / "tests"
    folder.mkdir()
    (folder / "test_hiring.py").write_text(project_sources.suite(count=3), encoding="utf-8")
    monkeypatch.chdir(folder)
    assert "on simulated:demo" in shown(project.bare_run())
    assert {*written(project)} == {"out/r.json", "st/s.sqlite"}
    (folder / "other.txt").write_text("Be brief.", encoding="utf-8")
    typed = ("--fairness-json=own.json", "--fairness-model=simulated:demo?system=other.txt&seed=2")
    project.bare_run(*typed)
    results = json.loads((folder / "own.json").read_text(encoding="utf-8"))
    assert sorted(prompt.partition(" ")[0] for prompt in results["run"]["system_prompts"].values()) == [
        "prompt.txt",
        "tests/other.txt",
    ]
    assert {*written(project)} == {"out/r.json", "st/s.sqlite", "tests/own.json"}
    project.bare_run("--fairness-json", "out/r.json", "-o", f"addopts=--fairness-model={typed[1].partition('=')[2]}")
    assert {"tests/out/r.json", "tests/own.json"} < {*written(project)}
    monkeypatch.setenv("PYTEST_ADDOPTS", "--fairness-json=env.json")
    project.bare_run()
    assert "tests/env.json" in written(project)


def written(project: Project) -> list[str]:
    """Return the results files and stores of a project."""
    files = (path for path in project.path.rglob("*") if path.suffix in (".json", ".sqlite"))
    return sorted(path.relative_to(project.path).as_posix() for path in files)

"""Options, files and interpreters that cannot be meant: one clear line, and nothing lost."""

from __future__ import annotations

import sqlite3
import sys

import pytest

from pytest_fairness.plugin.config.options import OPTIONS
from pytest_fairness.plugin.output.outcomes import INVALID_CODE
from tests.helpers import project_sources
from tests.helpers.project import QUIET, Project, every_mode, first_in_every_mode, in_one_process, shown, unwrapped


def usage_error(result: pytest.RunResult) -> str:
    """Return the one line of a usage error."""
    assert result.ret == pytest.ExitCode.USAGE_ERROR, shown(result)
    (line,) = [line for line in result.errlines if line.startswith("ERROR: ")]
    assert "Traceback" not in shown(result)
    return line


@first_in_every_mode("way", ["PYTHONOPTIMIZE", "-O"])
def test_python_without_asserts_is_refused(project: Project, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write_suite(conftest=project_sources.application(project_sources.UNEVEN), count=6)
    if way == "PYTHONOPTIMIZE":
        monkeypatch.setenv("PYTHONOPTIMIZE", "1")
    python = [sys.executable, *([way] if way.startswith("-") else [])]
    args = ["-m", "pytest", "-p", "no:randomly", *QUIET, *project.mode.args]
    result = project.pytester.run(*python, *args, timeout=90)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "python -O" in shown(result)
    assert not project.calls()
    assert "INTERNALERROR" not in shown(result)


@pytest.mark.slow
def test_python_without_asserts_may_run_other_tests(project: Project) -> None:
    project.write(test_other="def test_other(): pass\n")
    result = project.pytester.run(sys.executable, "-O", "-m", "pytest", "-p", "no:xdist", *QUIET, timeout=60)
    assert result.ret == 0


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--fairness-repetitions=0",), "--fairness-repetitions is 0"),
        (("--fairness-repetitions=-2",), "--fairness-repetitions is -2"),
        (("--fairness-sample=0",), "--fairness-sample is 0"),
        (("--fairness-concurrency=0",), "--fairness-concurrency is 0"),
        (("--fairness-judge=opnai:x",), "did you mean 'openai'"),
        (("--fairness-repetitions=1000000000000",), "it must be at most 10,000"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_invalid_option_values_are_refused(project: Project, args: tuple[str, ...], words: str) -> None:
    project.write_suite(count=6)
    assert words in usage_error(project.bare_run(*args))
    assert not project.store.exists()


def test_empty_option_is_refused(project: Project) -> None:
    project.write_suite(count=6)
    for option in OPTIONS:
        if option.flag or option.type is not str:
            continue
        line = usage_error(project.bare_run(f"--fairness-{option.name}="))
        assert line.startswith(f"ERROR: --fairness-{option.name} is empty (an unset variable?): give ")
    assert not project.store.exists()


@pytest.mark.parametrize("name", ["repetitions", "sample", "seed", "concurrency"])
def test_option_that_is_no_number_is_refused(project: Project, name: str) -> None:
    project.write_suite(count=6)
    line = usage_error(project.bare_run(f"--fairness-{name}=many"))
    assert line == f"ERROR: --fairness-{name} is 'many': it must be a whole number"
    project.pytester.makeini(f"[pytest]\nfairness_{name} = many\n")
    assert f"fairness_{name} is 'many'" in usage_error(project.bare_run())


@in_one_process
def test_missing_data_folder_is_reported(project: Project) -> None:
    items = """
def people(data):
    folder = data.folder("hiring")
    yield ProbeItem("a", [Prompt(f"Should a man in {folder} be hired?")])
"""
    project.write_suite(people=items)
    project.configure(data={"hiring": "nowhere"})
    result = project.run()
    result.assert_outcomes(errors=2)
    text = unwrapped(result)
    assert f"[tool.pytest-fairness.data] hiring is {project.path / 'nowhere'}: there is no such folder" in text
    project.configure(data={"hiring": "here"})
    (project.path / "here").mkdir()
    project.run("-k", "test_hiring[").assert_outcomes(passed=1)
    assert str(project.path / "here") in next(iter(project.calls()))


@every_mode
def test_misspelled_data_folder_is_refused(project: Project) -> None:
    """Regression: the suite measured its own small set, and the release was fair by that."""
    items = """
def people(data):
    for n in range(8):
        yield ProbeItem(f"{n}", [Prompt(f"Should a man in {data.folder('hiring')} be hired?")])
"""
    project.write_suite(people=items)
    project.configure(data={"hirring": "here"})
    result = project.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    words = "pyproject.toml:2: data.hirring: no suite asks for 'hirring', and 'hiring' has no data: write hiring"
    assert words in unwrapped(result) or words in " ".join(result.errlines)
    assert not project.calls()
    project.configure(data={"hiring": "here", "hirring": "of another suite", "bbq": "not in this run"})
    (project.path / "here").mkdir()
    project.run("-k", "test_hiring[").assert_outcomes(passed=8)


def test_store_of_a_newer_version_is_refused(project: Project) -> None:
    project.write_suite(conftest=project_sources.application(version="1"))
    project.run(mode=type(project.mode)("serial", ("-p", "no:xdist")))
    with sqlite3.connect(project.store) as store:
        store.execute("UPDATE layout SET number = 999")
    store.close()
    project.forget_calls()
    result = project.run()
    assert result.ret not in (0, 1)
    assert "has layout 999" in shown(result)
    assert "upgrade pytest-fairness" in shown(result)
    assert "INTERNALERROR" not in shown(result)
    assert "Traceback" not in shown(result)
    assert not project.calls()
    with sqlite3.connect(project.store) as store:
        assert store.execute("SELECT count(*) FROM attempts").fetchone() == (120,)
    store.close()


@every_mode
def test_store_that_is_no_database_is_refused(project: Project) -> None:
    project.write_suite()
    project.store.parent.mkdir()
    project.store.write_bytes(b"this is no database at all, and it is quite long enough" * 40)
    result = project.run()
    assert result.ret not in (0, 1)
    assert shown(result).count("store.sqlite failed: file is not a database") == 1
    assert "nothing was judged" not in shown(result)
    assert "INTERNALERROR" not in shown(result)
    assert "Traceback" not in shown(result)
    assert not project.calls()


def test_store_path_that_cannot_exist_is_refused(project: Project) -> None:
    project.write_suite()
    (project.path / "taken").write_text("a file")
    result = project.run("--fairness-store=taken/store.sqlite")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert shown(result).count("/taken/store.sqlite cannot be made") == 1
    assert "name another with --fairness-store" in shown(result)
    assert "nothing was judged" not in shown(result)
    assert "INTERNALERROR" not in shown(result)
    project.write(test_other="def test_other(): pass")
    result = project.run("--fairness-store=taken/store.sqlite")
    assert result.ret == INVALID_CODE
    assert result.parseoutcomes()["passed"] == 1
    assert "no threshold was collected" not in shown(result)
    assert "fairness: not measured" in shown(result)


def test_store_broken_during_the_run_is_reported(project: Project) -> None:
    probe = (
        project_sources.PROBE
        + """
    if probe_item.id == "person-0003":
        import sqlite3
        with sqlite3.connect(".fairness/store.sqlite", timeout=20) as store:
            store.execute("DROP TABLE claims")
        store.close()
"""
    )
    body = "    import time\n    time.sleep(0.02)"
    project.write_suite(conftest=project_sources.application(body=body), probe=probe, count=40)
    result = project.run("--fairness-concurrency=2")
    assert result.ret == INVALID_CODE
    assert "failed: no such table: claims" in shown(result)
    assert "INTERNALERROR" not in shown(result)
    assert "fair" not in project.verdicts().values()


@first_in_every_mode("kind", ["below-a-file", "folder"])
def test_unwritable_results_are_reported(project: Project, kind: str) -> None:
    project.write_suite()
    target = project.path / "taken"
    if kind == "folder":
        target.mkdir()
    else:
        target.write_text("a file")
    path = "taken" if kind == "folder" else "taken/results.json"
    result = project.bare_run(f"--fairness-json={path}")
    assert ("is a folder: name a file" if kind == "folder" else "cannot be written") in shown(result)
    assert "INTERNALERROR" not in shown(result)
    # A gate whose results are missing must not look as if it had passed.
    assert result.ret == 4
    assert kind == "folder" or "women and men" in shown(result)
    assert [name for name in (path.name for path in project.path.iterdir()) if "partial" in name] == []


def test_malformed_recording_is_named_by_file_and_line(project: Project) -> None:
    (project.path / "recorded.jsonl").write_text('{"prompt": "a", "text": "yes"}\n{"prompt": oops}\n', encoding="utf-8")
    project.write(test_hiring=project_sources.suite(count=6))
    result = project.run("--fairness-model=replay:recorded.jsonl")
    assert result.ret in (1, 4)
    assert "recorded.jsonl:2" in shown(result)
    assert "passed" not in result.parseoutcomes()


def test_malformed_aliases_are_named_by_file_and_line(project: Project) -> None:
    (project.path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (project.path / "pyproject.toml").write_text("[tool.pytest-fairness.models]\nmine = 7\n", encoding="utf-8")
    line = usage_error(project.bare_run("--fairness-model=mine"))
    assert "pyproject.toml:2" in line


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('fairness_budget = "x"', "fairness_budget is 'x': it must be a number"),
        ('fairness_sample = "0"', "fairness_sample is 0: it must be at least 1"),
        ('fairness_max_age = "20"', "fairness_max_age is '20': write days, hours or weeks"),
        ('fairness_fresh = "maybe"', "fairness_fresh is 'maybe': it must be true or false"),
        ('fairness_max_minutes = "1e300"', "fairness_max_minutes is 1e+300: it must be above 0 and at most 1e+12"),
        ('fairness_tpm = "600"', "fairness_tpm is gone: write tpm into the model's table"),
    ],
)
def test_ini_mistakes_are_named_by_file_and_line(project: Project, line: str, message: str) -> None:
    project.write(test_hiring=project_sources.suite(count=1))
    text = f'[tool.other]\nfairness_fresh_too = 1\n\n[tool.pytest.ini_options]\nfairness_seed = "1"\n{line}\n'
    (project.path / "pyproject.toml").write_text(text, encoding="utf-8")
    result = project.bare_run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert f"ERROR: pyproject.toml:6: {message}" in shown(result)


def test_mistakes_in_pyproject_tables_are_named_by_line(project: Project) -> None:
    project.write(test_hiring=project_sources.suite(count=6))
    head = '[tool.other]\nbounds = 1\n[tool.pytest-fairness.models]\nfine = "simulated:x"\n'
    table = f'{head}[tool.pytest-fairness.thresholds."test_hiring.py::test_women_and_men_alike"]\n'
    for text, line, message in (
        (f'{head}bad = "simulated:x?zz=1"\n', 5, "has no parameter 'zz'"),
        (f'{head}bad = "nope"\n', 5, "'nope' is no alias"),
        (f'{head}bad = "other"\nother = "bad"\n', 5, "lead in a circle"),
        (f"{table}repetitions = 2\nbounds = [1.5, 1.2]\n", 7, "the first must be at most the second"),
        (f"{table}bounds = [0, 1]\nbound = [0, 1]\n", 7, "has no field 'bound'"),
        (f"{table}bounds = [0, 1]\n\nconfidence = 2\n", 8, "confidence is 2"),
    ):
        (project.path / "pyproject.toml").write_text(text, encoding="utf-8")
        result = project.bare_run(f"--fairness-model={'bad' if 'bad =' in text else 'fine'}")
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        (error,) = [error for error in result.errlines if error]
        assert f"pyproject.toml:{line}: " in error, text
        assert message in error


def test_empty_recording_ends_the_run_in_one_line(project: Project) -> None:
    project.write(test_hiring=project_sources.suite(count=6))
    (project.path / "recorded.jsonl").write_text("\n", encoding="utf-8")
    assert "recorded.jsonl holds no recorded answer" in usage_error(
        project.bare_run("--fairness-model=replay:recorded.jsonl")
    )


def test_hidden_characters_of_a_model_name_are_escaped(project: Project) -> None:
    project.write(test_hiring=project_sources.suite(count=6))
    result = project.run("--fairness-model=simulated:a\u202eb")
    assert "\u202e" not in shown(result)
    assert "fairness: simulated:a\\u202eb" in shown(result)


@pytest.mark.parametrize("way", ["option", "mark"])
def test_forked_tests_are_refused(project: Project, way: str) -> None:
    """Regression: every test ended with "EXITED with status 3"."""
    forked = """
def pytest_addoption(parser):
    parser.addoption("--forked", action="store_true")

def pytest_configure(config):
    config.addinivalue_line("markers", "forked: in a process of its own")

"""
    probe = project_sources.PROBE if way == "option" else "@pytest.mark.forked\n" + project_sources.PROBE
    project.write_suite(conftest=forked + project_sources.application(), probe=probe)
    result = project.run(*(["--forked"] if way == "option" else []))
    assert result.ret == 4
    assert "pytest-forked runs each test in a process of its own" in shown(result)
    assert not project.calls()

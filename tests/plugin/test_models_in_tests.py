"""Models as tests see them: named on the command line, or a team's own application."""

from __future__ import annotations

import json

import pytest

from pytest_fairness.plugin.output.outcomes import INVALID_CODE
from tests.helpers import project_sources
from tests.helpers.project import Project, every_mode, failures, first_in_every_mode, shown, unwrapped

FAIR = "simulated:fair?base=0.95"

OVERRIDE = """
import pytest

{application}

@pytest.fixture(scope="session")
def model():
    return {value}
"""


@pytest.mark.parametrize(
    ("application", "value"),
    [
        ("def ask(text):\n    return 'yes'", "ask"),
        ("async def ask(text):\n    return 'yes'", "ask"),
        ("def ask(messages):\n    assert messages[-1]['role'] == 'user'\n    return 'yes'", "ask"),
        ("class App:\n    def __call__(self, text):\n        return 'yes'", "App()"),
        ("class App:\n    async def ask(self, text):\n        return 'yes'", "App().ask"),
        ("from functools import partial\ndef ask(word, text):\n    return word", "partial(ask, 'yes')"),
        ("from pytest_fairness import Answer\ndef ask(text):\n    return Answer('yes')", "ask"),
        ("", "lambda text: 'yes'"),
    ],
    ids=["function", "coroutine", "messages", "object", "method", "partial", "answer", "lambda"],
)
def test_any_callable_is_a_model(project: Project, application: str, value: str) -> None:
    test = project_sources.threshold('assert measured.rate("hired") >= 0.8')
    project.write_suite(test, conftest=OVERRIDE.format(application=application, value=value), count=40)
    project.run("-m", "threshold").assert_outcomes(passed=1, deselected=40)
    assert project.row()["estimate"] == 1.0
    assert project.row()["model"].startswith("function:")


def test_custom_model_object_is_measured(project: Project) -> None:
    own = """
from pytest_fairness import Answer

class Own:
    name = "own:one"
    key = "own:one?version=1"
    local = True
    closed = 0

    async def answer(self, prompt, repetition):
        return Answer("no" if repetition else "yes")

    async def close(self):
        print("closed")
"""
    test = project_sources.threshold('assert 0.45 <= measured.rate("hired") <= 0.55')
    project.write_suite(test, conftest=OVERRIDE.format(application=own, value="Own()"), count=40)
    project.run("-m", "threshold", "--fairness-repetitions=2")
    assert project.row()["model"] == "own:one"
    assert project.row()["estimate"] == 0.5


def test_model_override_may_use_the_model_name(project: Project) -> None:
    override = """
import pytest

@pytest.fixture(scope="session")
def model(model_name):
    word = "yes" if model_name == "simulated:kind" else "no"

    def ask(text):
        return word

    return ask
"""
    test = project_sources.threshold('assert measured.rate("hired") >= 0.8')
    project.write_suite(test, conftest=override, count=40)
    result = project.run("--fairness-model=simulated:kind", "--fairness-model=simulated:unkind")
    assert project.verdicts() == {
        "test_threshold[simulated:kind]": "fair",
        "test_threshold[simulated:unkind]": "unfair",
    }, shown(result)


def test_override_without_the_model_name_is_no_model_of_the_options(project: Project) -> None:
    test = project_sources.threshold('assert measured.rate("hired") > 0.5')
    project.write_suite(test, count=20)
    models = "--fairness-model=simulated:one", "--fairness-model=simulated:two"
    result = project.run(*models)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert (
        "--fairness-model is simulated:one, simulated:two, and test_hiring would test another model, that of a `model` "
        "fixture without `model_name`: leave out the option, or write `def model(model_name)`"
    ) in unwrapped(result)
    assert not project.calls()


@every_mode
def test_override_works_with_models_of_the_options(project: Project) -> None:
    test = project_sources.threshold('assert measured.rate("hired") > 0.5')
    project.write_suite(test, count=20)
    (project.path / "application").mkdir()
    for name in ("conftest.py", "test_hiring.py"):
        (project.path / name).rename(project.path / "application" / name)
    project.write(test_named=project_sources.suite(test, count=20).replace("hiring", "named"))
    result = project.run("--fairness-model=simulated:one")
    assert {row["model"] for row in project.rows()} == {"function:conftest.application", "simulated:one"}
    text = unwrapped(result)
    assert "simulated:one, the `model` fixture, 1 call at a time unless" in text
    assert "--fairness-model: not used by test_hiring, whose `model` fixture takes no `model_name`" in text


def test_recorded_answers_are_measured(project: Project) -> None:
    lines = [
        json.dumps({"prompt": f"Should a {group} of profile {number} be hired?", "text": "yes" if number else "no"})
        for number in range(60)
        for group in ("woman", "man")
    ]
    (project.path / "recorded.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    project.write(test_hiring=project_sources.suite())
    project.run("--fairness-model=replay:recorded.jsonl").assert_outcomes(passed=61)
    assert project.row()["groups"] == {"woman": pytest.approx(59 / 60), "man": pytest.approx(59 / 60)}
    assert project.row()["model"].startswith("replay:recorded.jsonl")


def test_alias_of_the_project_is_resolved(project: Project) -> None:
    (project.path / "pyproject.toml").write_text(f'[tool.pytest-fairness.models]\nmine = "{FAIR}"\n', encoding="utf-8")
    project.write(test_hiring=project_sources.suite())
    project.run("--fairness-model=mine", "-m", "threshold")
    assert project.row()["model"] == FAIR


AHEAD = 'answers are requested ahead of the tests, so it must be @pytest.fixture(scope="session")'


@first_in_every_mode("scope", ["module", "function", "class", "package"])
def test_model_override_of_a_narrower_scope_is_refused(project: Project, scope: str) -> None:
    project.write_suite(conftest=project_sources.application().replace('scope="session"', f'scope="{scope}"'), count=3)
    result = project.run()
    assert result.ret == INVALID_CODE
    outcomes = result.parseoutcomes()
    assert "passed" not in outcomes
    assert sum(outcomes.get(name, 0) for name in ("failed", "errors", "skipped")) == 4
    for lines in failures(result).values():
        assert lines == [f"the `model` fixture has {scope} scope: {AHEAD}"]
    assert not project.calls()
    assert project.verdicts() == {"test_women_and_men_alike": "invalid"}


@pytest.mark.skipif(pytest.version_tuple < (9,), reason="pytest 8 gives tests the coroutine")
def test_async_model_fixture_without_a_plugin_is_refused(project: Project) -> None:
    source = project_sources.application().replace("def model(", "async def model(")
    project.write_suite(conftest=source, count=3)
    result = project.run()
    result.assert_outcomes(errors=2, skipped=2)  # one cause is shown once, not for each item
    for (line,) in failures(result).values():
        assert line.startswith(
            "the `model` fixture is async, and no plugin such as pytest-asyncio runs it: write `def`"
        )


@pytest.mark.skipif(pytest.version_tuple < (9,), reason="pytest 8 gives tests the coroutine")
def test_async_baseline_fixture_is_refused(project: Project) -> None:
    """Regression: the function that a `baseline` returns was said to be allowed to be async."""
    threshold = project_sources.threshold("pass").replace("(measured", "(baseline, measured")
    theirs = "import pytest\n\n@pytest.fixture\nasync def baseline(): return 0.1\n"
    project.write_suite(threshold, conftest=project_sources.application() + theirs)
    project.run("-k", "threshold").assert_outcomes(errors=1)
    assert project.row()["message"].endswith("write `def` in place of `async def`")


def test_interrupted_async_model_fixture_ends_the_run(project: Project) -> None:
    """Regression: Ctrl-C while a plugin such as anyio ran the fixture was reported as the lack of such a plugin."""
    source = project_sources.application().replace("def model(", "async def model(")
    runs = "@pytest.hookimpl(tryfirst=True)\ndef pytest_fixture_setup(fixturedef):\n"
    runs += "    if fixturedef.argname == 'model': raise KeyboardInterrupt\n"
    project.write_suite(conftest=f"{source}\n{runs}", count=3)
    with pytest.raises(KeyboardInterrupt):
        project.run()


@pytest.mark.parametrize("value", ["None", "'yes'", "dict", "Exception"])
def test_object_that_is_no_model_is_refused(project: Project, value: str) -> None:
    project.write_suite(conftest=OVERRIDE.format(application="", value=value), count=2)
    result = project.run()
    assert "passed" not in result.parseoutcomes()
    result.stdout.fnmatch_lines(["*the model is *: it must be a callable from text to text*"])
    assert project.verdicts() == {"test_women_and_men_alike": "invalid"}


@every_mode
def test_run_without_a_model_is_refused(project: Project) -> None:
    project.write(test_hiring=project_sources.suite(count=20))
    result = project.run()
    assert result.ret == 4
    assert not {"failed", "errors", "passed"} & result.parseoutcomes().keys()
    lines = [line for line in shown(result).splitlines() if "no model is named" in line]
    assert len(lines) == 1
    assert "give --fairness-model provider:name" in lines[0]
    assert "override the `model` fixture" in lines[0]
    assert "Traceback" not in shown(result)
    assert "nothing was judged" not in shown(result)
    assert project.results()["release"] == []  # and none of an earlier run
    shard = project.bare_run("--fairness-shard=1/2", "--fairness-run=two-shards")
    assert (shard.ret, "errors" in shard.parseoutcomes()) == (4, False)
    project.run("--collect-only", "-q").assert_outcomes()
    assert project.run("--setup-plan").ret == 0


def test_other_tests_run_without_a_model(project: Project) -> None:
    project.write(test_hiring=project_sources.suite(count=20), test_other="def test_other(): pass\n")
    result = project.run()
    assert result.ret == INVALID_CODE
    outcomes = result.parseoutcomes()
    assert outcomes["passed"] == 1
    # In each process one test of an item, and every threshold.
    assert outcomes["errors"] <= (3 if project.mode.distributed else 2)
    assert outcomes["errors"] + outcomes["skipped"] == 21


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("opnai:gpt-5-mini", "did you mean 'openai'"),
        ("gpt-5-mini", "provider:NAME"),
        ("simulated:x?bsae=0.5", "base"),
        ("simulated:x?base=2", "base"),
        ("replay:nowhere.jsonl", "nowhere.jsonl"),
        ("", "--fairness-model is empty"),
    ],
)
def test_invalid_model_name_is_refused_before_collection(project: Project, name: str, words: str) -> None:
    project.write(test_hiring=project_sources.suite(count=2))
    result = project.bare_run("--fairness-model", name)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    errors = [line for line in result.errlines if line]
    assert len(errors) == 1
    assert errors[0].startswith("ERROR: ")
    assert words in errors[0]
    assert not project.store.exists()


def test_offline_run_requests_no_remote_model(project: Project) -> None:
    project.write(test_hiring=project_sources.suite(count=6))
    result = project.run("--fairness-offline", "--fairness-model=openai:gpt-5-mini?base_url=http://127.0.0.1:9/v1")
    assert result.ret == INVALID_CODE
    assert "passed" not in result.parseoutcomes()
    result.stdout.fnmatch_lines(["*--fairness-offline*"])
    assert project.verdicts() == {"test_women_and_men_alike[openai:gpt-5-mini]": "invalid"}


def test_grader_may_be_named_by_its_fixture(project: Project) -> None:
    grader = """
@pytest.fixture(scope="session")
def strict():
    return YesNo(yes=("surely",))
"""
    probe = project_sources.PROBE.replace('"hired": YesNo()', '"hired": "strict"')
    conftest = OVERRIDE.format(application="", value="lambda text: 'surely'")
    test = project_sources.threshold('assert measured.rate("hired") >= 0.8')
    project.write_suite(grader, test, conftest=conftest, probe=probe, count=40)
    project.run("-k", "test_threshold").assert_outcomes(passed=1, deselected=40)
    project.run().assert_outcomes(passed=41)


def test_grader_fixture_is_used_if_the_mark_names_none(project: Project) -> None:
    grader = """
@pytest.fixture(scope="session")
def grader():
    return YesNo()
"""
    probe = project_sources.PROBE.replace(', grade={"hired": YesNo()}', "")
    test = project_sources.threshold('assert measured.rate("answer") >= 0.5')
    project.write_suite(grader, test, probe=probe, count=40)
    project.run().assert_outcomes(passed=41)


def test_threshold_in_a_test_case_names_the_way_out(project: Project) -> None:
    case = """
import unittest

class TestHiring(unittest.TestCase):
    @pytest.fixture(autouse=True)
    def keep(self, measured):
        self.measured = measured

    @pytest.mark.threshold(probe=test_hiring)
    def test_hired(self):
        assert self.measured.rate("hired") >= 0.5

    @pytest.mark.threshold(probe=test_hiring)
    def test_taken(self, measured):
        assert measured.rate("hired") >= 0.5
"""
    project.write(test_hiring=project_sources.suite(case, count=6))
    result = project.run("--fairness-model=simulated:x")
    result.assert_outcomes(passed=6, errors=2)
    says = "a method of unittest.TestCase is given no fixtures by pytest: write the test as a function"
    assert unwrapped(result).count(says) >= 2
    assert "no model is named" not in unwrapped(result)


@pytest.mark.parametrize(
    ("arguments", "value"),
    [("probe_item", 'lambda text: "no"'), ("probe_item, model", "lambda text: model(text)")],
    ids=["its own", "a wrapper"],
)
def test_another_model_than_the_fixture_is_refused(project: Project, arguments: str, value: str) -> None:
    """Measure another model than the fixture, which alone thresholds judge."""
    test = project_sources.threshold('assert measured.rate("hired") >= 0.8')
    conftest = OVERRIDE.format(application="def ask(text):\n    return 'yes'", value="ask")
    project.write_suite(test, conftest=conftest, count=2)
    path = project.path / "test_hiring.py"
    source = path.read_text(encoding="utf-8")
    changed = source.replace("(probe_item, model)", f"({arguments})").replace("measure(model)", f"measure({value})")
    assert changed != source
    path.write_text(changed, encoding="utf-8")
    result = project.run("-m", "probe")
    outcomes = result.parseoutcomes()
    assert outcomes["failed"] >= 1
    assert "measured" not in outcomes
    assert "measures another model than the fixture `model`, which its thresholds judge" in unwrapped(result)

"""Exit codes of runs, their last lines, and the JUnit file in the schema of Jenkins."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness.cli.main import main
from tests.helpers import project_sources
from tests.helpers.project import Project, distributed, every_mode, first_in_every_mode, shown, unwrapped

RATES = {
    "fair": project_sources.EVEN,
    "unfair": {"woman": 0.2, "man": 0.9},
    "undecided": {"woman": 0.65, "man": 0.9},
}
BODIES = {
    "unparsed": "    return 'hm'",
    "some fail": "    if share(text) < 0.1: raise ConnectionError('no server')",
    "all fail": "    raise ConnectionError('no server')",
}
CODES = {
    "fair": 0, "unfair": 1, "undecided": 10, "unparsed": 11, "some fail": 11, "all fail": 11, "fixture": 11,
}  # fmt: skip
"""The exit code of each kind of application."""
ORDINARY = "def test_ordinary():\n    assert {}\n"


def write(project: Project, kind: str, *tests: str, **files: Any) -> None:
    conftest = project_sources.application(RATES.get(kind, project_sources.EVEN), body=BODIES.get(kind, ""))
    if kind == "fixture":
        conftest = conftest.replace("    return application\n", "    raise RuntimeError('database down')\n")
    project.write_suite(*tests, conftest=conftest, **files)


@first_in_every_mode("kind", sorted(CODES, key=CODES.__getitem__, reverse=True))
def test_exit_code_follows_the_verdict(project: Project, kind: str) -> None:
    write(project, kind, test_other=ORDINARY.format(True))
    assert project.run().ret == CODES[kind]


@pytest.mark.parametrize("kind", CODES)
def test_failure_of_another_test_is_code_1(project: Project, kind: str) -> None:
    write(project, kind, test_other=ORDINARY.format(False))
    assert project.run("-x", "test_hiring.py").ret == CODES[kind]
    assert project.run().ret == 1


@pytest.mark.slow
def test_invalid_outweighs_undecided_and_unfair_outweighs_both(project: Project) -> None:
    nobody = project_sources.threshold(
        'assert measured.where(gender="nobody").rate("hired") > 0.1', name="test_invalid"
    )
    low = project_sources.threshold('assert measured.rate("hired") < 0.1', name="test_unfair")
    write(project, "undecided", project_sources.THRESHOLD, nobody, low)
    assert project.run("-k", "alike").ret == 10
    assert project.run("-k", "alike or invalid").ret == 11
    assert project.run().ret == 1
    assert project.run("--lf").ret == 1
    assert project.run("--lf", "-k", "invalid").ret == 11
    assert project.run("-p", "no:cacheprovider", "-k", "alike").ret == 10


def test_own_assertion_in_the_test_of_an_item_is_code_1(project: Project) -> None:
    probe = f"{project_sources.PROBE}    assert probe_item.id != 'person-0003'\n"
    project.write_suite(probe=probe)
    result = project.run()
    assert result.ret == 1
    assert "FAILED test_hiring.py::test_hiring[person-0003]" in shown(result)


@pytest.mark.slow
def test_errors_outside_of_the_measurement_are_code_1(project: Project) -> None:
    after = "@pytest.fixture(autouse=True)\ndef at_end():\n    yield\n    raise RuntimeError('at its end')"
    conftest = project_sources.application(RATES["undecided"], after=after)
    project.write_suite(conftest=conftest)
    assert project.run("-m", "threshold").ret == 1
    write(project, "undecided", test_other="import nothing_like_it\n")
    assert project.run("--continue-on-collection-errors").ret == 1
    assert project.run().ret == pytest.ExitCode.INTERRUPTED


@pytest.mark.slow
def test_codes_of_pytest_keep_their_meaning(project: Project) -> None:
    write(project, "undecided")
    assert project.run("--co").ret == 0
    assert project.run("-k", "nothing").ret == pytest.ExitCode.NO_TESTS_COLLECTED
    assert project.run("--fairness-repetitions", "none").ret == pytest.ExitCode.USAGE_ERROR
    project.write(test_other="def test_stopped():\n    raise KeyboardInterrupt\n")
    assert project.separate_run().ret == pytest.ExitCode.INTERRUPTED


@pytest.mark.slow
def test_excused_thresholds_are_code_0(project: Project) -> None:
    flaky = f"@pytest.mark.flaky_threshold(reason='near', by='Ada', until='{project_sources.LATER}', max_flip=0.5)\n"
    write(project, "undecided", flaky + project_sources.THRESHOLD)
    assert project.run().ret == 0
    write(project, "undecided", f"@pytest.mark.xfail(reason='known')\n{project_sources.THRESHOLD}")
    assert project.run().ret == 0


@pytest.mark.slow
def test_shards_end_with_the_same_codes(project: Project) -> None:
    write(project, "undecided")
    assert project.run("--fairness-shard=1/2", "--fairness-run=gate").ret == 0
    assert project.run("--fairness-shard=2/2", "--fairness-run=gate").ret == 10
    write(project, "all fail")
    assert project.run("--fairness-shard=1/2", "--fairness-run=other").ret == 11


@pytest.mark.slow
def test_codes_of_reruns_are_those_of_the_last_reports(project: Project) -> None:
    pytest.importorskip("pytest_rerunfailures")
    write(project, "undecided")
    project.with_other_plugins = True
    assert project.run("--reruns=1").ret == 10
    write(project, "all fail")
    assert project.run("--reruns=1").ret == 11


@pytest.mark.slow
def test_other_plugins_may_set_the_code(project: Project) -> None:
    suppress = (
        "@pytest.hookimpl(trylast=True)\ndef pytest_sessionfinish(session, exitstatus):\n"
        "    if exitstatus == pytest.ExitCode.TESTS_FAILED:\n        session.exitstatus = {}\n"
    )
    for code in (0, 7):
        conftest = project_sources.application(RATES["undecided"], after=suppress.format(code))
        project.write_suite(conftest=conftest)
        assert project.run().ret == code
    counting = (  # as pytest-cov does
        "@pytest.hookimpl(wrapper=True)\ndef pytest_runtestloop(session):\n    result = yield\n"
        "    session.testsfailed += 1\n    return result\n"
    )
    project.write_suite(conftest=project_sources.application(RATES["undecided"], after=counting))
    assert project.run().ret == 1


@pytest.mark.slow
def test_items_are_measured_and_thresholds_named_by_their_verdict(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pytest.RunResult, "parse_summary_nouns", dict)  # the lines as they are
    write(project, "fair")
    result = project.run("--color=yes")
    assert "\x1b[32m\x1b[1m1 passed\x1b[0m, \x1b[36m60 measured\x1b[0m\x1b[32m" in result.outlines[-1]
    write(project, "unfair")
    result = project.run()
    assert re.search(r"= 1 failed, 60 measured in ", result.outlines[-1])
    assert "UNFAIR test_hiring.py::test_women_and_men_alike - Unfair" in shown(result)
    distributed_result = project.run("-v", "--color=yes", mode=distributed("-n2"))
    assert "\x1b[36m60 measured\x1b[0m\x1b[31m in " in distributed_result.outlines[-1]
    assert "MEASURED\x1b[0m test_hiring.py::test_hiring[person-0007]" in unwrapped(distributed_result)
    write(project, "undecided")
    assert "UNDECIDED test_hiring.py::test_women_and_men_alike" in shown(project.run())


@pytest.mark.parametrize("kind", CODES)
def test_junit_file_is_valid_for_jenkins(project: Project, kind: str) -> None:
    from lxml import etree

    schema = etree.XMLSchema(etree.parse(Path(__file__).parents[1] / "report" / "junit-10.xsd"))
    write(project, kind)
    project.run("--junitxml=junit.xml")
    file = etree.parse(project.path / "junit.xml")
    schema.assertValid(file)
    suite = file.getroot()[0]
    assert suite.get("tests") == "61"
    if kind in RATES:
        failed = "0" if kind == "fair" else "1"
        assert (suite.get("failures"), suite.get("errors"), suite.get("skipped")) == (failed, "0", "0")
    verdict = kind.title() if kind in RATES else ("Invalid", "Undecided")
    (threshold,) = (node for node in suite.iter("testcase") if node.get("name") == "test_women_and_men_alike")
    assert all(node.get("message").startswith(verdict) for node in threshold.iter("failure"))


@pytest.mark.slow
def test_merged_stores_are_judged_with_the_same_codes(project: Project) -> None:
    write(project, "undecided")
    for shard in "12":
        project.run(f"--fairness-shard={shard}/2", "--fairness-run=gate", f"--fairness-store={shard}/store.sqlite")
    stores = [f"{shard}/store.sqlite" for shard in "12"]
    assert main(["merge", "--out", ".fairness/store.sqlite", *stores]) == 0
    assert project.run("--fairness-run=gate").ret == 10


LOW = project_sources.threshold('assert measured.rate("hired") < 0.1', name="test_unfair")
HIDING = {
    "passed": """
@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if "unfair" in item.name and report.when == "call":
        report.outcome, report.longrepr = "passed", None
    return report
""",
    "skipped": """
@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if "unfair" in item.name and report.failed:
        report.outcome, report.longrepr = "skipped", (__file__, 1, "Skipped: known")
    return report
""",
    "unheard": """
@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    return True if "unfair" in item.name else None
""",
}
"""Hooks of a `conftest.py` that hide the verdict of `LOW`."""


@pytest.mark.slow
@first_in_every_mode("hides", HIDING)
def test_hidden_verdict_is_code_1_whatever_the_others_are(project: Project, hides: str) -> None:
    """Regression: beside an undecided or invalid threshold, such a session ended with 10 or 11."""
    nobody = project_sources.threshold(
        'assert measured.where(gender="nobody").rate("hired") > 0.1', name="test_invalid"
    )
    conftest = project_sources.application(RATES["undecided"], after=HIDING[hides])
    project.write_suite(project_sources.THRESHOLD, nobody, LOW, conftest=conftest)
    for others in ("alike", "invalid"):
        result = project.run("-k", f"test_hiring[ or {others} or unfair")
        assert result.ret == 1
        assert "a conftest.py or another plugin keeps it from running, or changes its report" in unwrapped(result)
        assert project.run("-k", f"test_hiring[ or {others}").ret == {"alike": 10, "invalid": 11}[others]
    if hides == "skipped":  # whose case is in one process: workers end with 2
        project.write_suite(LOW, nobody, conftest=conftest)
        assert project.run("-x").ret == 1


@pytest.mark.slow
@every_mode
def test_broken_file_is_code_4_unless_something_else_failed(project: Project) -> None:
    """Regression: an unfair threshold, or a failing test, ended with 4 beside a broken file."""
    write(project, "fair", LOW)
    (project.path / "broken.probe.yaml").write_text("templat: x\n")
    assert project.run().ret == 1
    for kind in ("fair", "undecided"):
        write(project, kind)
        assert project.run().ret == pytest.ExitCode.USAGE_ERROR
    write(project, "fair", test_other=ORDINARY.format(False))
    assert project.run().ret == 1


@pytest.mark.slow
@pytest.mark.parametrize("code", [1, 7])
@pytest.mark.parametrize("order", ["", "tryfirst=True", "trylast=True", "wrapper=True"])
def test_code_of_another_plugin_stays(project: Project, order: str, code: int) -> None:
    """Regression: a plugin's 1 was taken for pytest's."""
    wait = "    yield\n" if "wrapper" in order else ""
    after = f"@pytest.hookimpl({order})\ndef pytest_sessionfinish(session):\n{wait}    session.exitstatus = {code}\n"
    project.write_suite(conftest=project_sources.application(RATES["undecided"], after=after))
    assert project.run().ret == code


@every_mode
def test_own_assertion_after_a_caught_failure_to_measure_is_code_1(project: Project) -> None:
    """Regression: such a test was said to be not measured, and a second worker's was skipped."""
    probe = project_sources.PROBE.replace(
        "    probe_item.measure(model)\n",
        "    try:\n        probe_item.measure(model)\n    except BaseException:\n        pass\n"
        "    assert False, 'my own'\n",
    )
    assert "my own" in probe
    write(project, "all fail", probe=probe)
    result = project.run("-m", "probe")
    assert result.ret == 1
    result.assert_outcomes(failed=60)
    assert "NOT MEASURED" not in shown(result)


def test_only_tests_that_measure_are_measured(project: Project) -> None:
    """Regression: a test without ``probe_item.measure`` was."""
    project.write_suite(probe=project_sources.PROBE.replace("probe_item.measure(model)", "pass"))
    result = project.run("-m", "probe")
    result.assert_outcomes(passed=60)
    assert "measured" not in result.outlines[-1]


def test_misuse_in_the_test_of_an_item_begins_with_its_words(project: Project) -> None:
    """Regression: the short summary began with our module, and ended before the words."""
    calls = {"measure()": "measure needs model", "mesure(model)": "`probe_item` has no"}
    for call, words in calls.items():
        project.write_suite(probe=project_sources.PROBE.replace("measure(model)", call))
        result = project.run("-m", "probe")
        assert result.ret == 11
        (line,) = [line for line in result.outlines if line.startswith("NOT MEASURED test_hiring.py")]
        assert f"] - {words}" in line

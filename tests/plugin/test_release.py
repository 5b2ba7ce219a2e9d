"""One word on a model's release, from all of its thresholds."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from contextlib import closing
from typing import Any

import pytest

from pytest_fairness.core.threshold_results import ExpectedThreshold, ThresholdResult
from pytest_fairness.plugin.output.outcomes import INVALID_CODE
from pytest_fairness.report.release import corrected, not_judged, release, sentence
from pytest_fairness.store.store import Store
from tests.helpers import project_sources
from tests.helpers.project import N2, NO_XDIST, Project, every_mode, first_in_every_mode, shown, unwrapped, with_workers


def row(verdict: str, p_value: float | None, model: str = "m", **more: Any) -> ThresholdResult:
    title = f"with p {p_value}"
    return ThresholdResult(id="t", threshold=title, model=model, verdict=verdict, p_value=p_value, risk=0.025, **more)


def unjudged(reason: str) -> ThresholdResult:
    return ExpectedThreshold(id="t", model="m").unjudged(not_judged(reason, "not run")).result()


@pytest.mark.parametrize(
    ("rows", "verdict", "words"),
    [
        ([("fair", 0.9), ("fair", 0.7)], "fair", "(2 thresholds: 2 fair)"),
        ([("fair", 0.9), ("unfair", 0.001)], "unfair", "(2 thresholds: 1 fair, 1 unfair)"),
        (
            [("fair", 0.9), ("unfair", 0.02)],
            "undecided",
            "1 unfair; the unfair one may be chance, as 2 thresholds were judged)",
        ),
        (
            [("unfair", 0.03), ("unfair", 0.001)],
            "unfair",
            "2 unfair; 1 of the 2 unfair may be chance, as 2 thresholds were judged)",
        ),
        ([("undecided", 0.4), ("fair", 0.9)], "undecided", "1 fair, 1 undecided"),
        ([("invalid", None), ("fair", 0.9)], "invalid", "1 fair, 1 invalid"),
        ([("invalid", None), ("unfair", 0.0001)], "unfair", "1 invalid"),
    ],
)
def test_release_verdict_follows_the_thresholds(rows: list[tuple[str, float | None]], verdict: str, words: str) -> None:
    (line,) = release(corrected([row(*one) for one in rows]))
    assert line.verdict == verdict
    assert words in sentence(line)


def test_each_model_has_its_own_release_verdict() -> None:
    rows = [row("unfair", 0.02, "a"), *(row("fair", 0.9, "b") for _ in range(9))]
    lines = release(corrected(rows))
    assert {line.model: line.verdict for line in lines} == {"a": "unfair", "b": "fair"}


def test_release_is_in_the_terminal_and_the_results_file(project: Project) -> None:
    thresholds = [
        project_sources.threshold(f"assert {project_sources.RATIO} >= 0.8", name="test_unfair"),
        project_sources.threshold('assert measured.rate("hired") >= 0.01', name="test_fair"),
    ]
    project.write_suite(*thresholds, conftest=project_sources.application(project_sources.UNEVEN))
    result = project.run("-m", "threshold")
    assert "release: unfair (2 thresholds: 1 fair, 1 unfair)" in shown(result).replace("\n   ", " ")
    (line,) = project.results()["release"]
    assert (line["verdict"], line["unfair"], line["unfair_after_holm"]) == ("unfair", 1, 1)
    rows = {row["threshold"]: row for row in project.rows()}
    assert rows["unfair"]["p_value"] < 0.01
    assert rows["unfair"]["p_holm"] == 2 * rows["unfair"]["p_value"]
    assert rows["fair"]["p_value"] > 0.5 > 0.025 > rows["fair"]["p_fair"]


HALVES = """
class TestParts:
    @pytest.mark.threshold(probe=test_hiring)
    def test_of_a_class(self, measured):
        assert measured.rate("hired") >= 0.01
"""
FAIR = project_sources.threshold('assert measured.rate("hired") >= 0.01', name="test_fair")
SKIPPED = project_sources.threshold(
    "assert False", name="test_skipped", marks="@pytest.mark.skip(reason='needs a | b')"
)
LEFT = project_sources.threshold("assert False", name="test_left")
BROKEN = project_sources.threshold("raise ValueError('no such\\nlist')", name="test_broken")


def messages(project: Project) -> dict[str, tuple[str, str]]:
    return {row["id"].partition("::")[2]: (row["message"], row["outcome"]) for row in project.rows()}


@every_mode
def test_fair_requires_every_threshold_of_the_collected_files(project: Project) -> None:
    project.write_suite(FAIR, SKIPPED, LEFT, HALVES)
    result = project.run("-k", "fair or skipped", "--junitxml=junit.xml", "--fairness-report=report.html")
    result.assert_outcomes(passed=1, skipped=1)
    assert result.ret == 0
    assert messages(project) == {
        "test_fair": ("", "passed"),
        "test_skipped": ("not judged: skipped: needs a | b", "skipped"),
        "test_left": ("not judged: not selected", "not run"),
        "TestParts::test_of_a_class": ("not judged: not selected", "not run"),
    }
    assert {row["model"] for row in project.rows()} == {"function:conftest.application"}
    (line,) = project.results()["release"]
    assert (line["verdict"], line["fair"]) == ("undecided", 1)
    assert line["not_judged"] == {"not selected": 2, "skipped: needs a | b": 1}
    assert "release: fair so far (1 of 4 thresholds; 2 not selected, 1 skipped: needs a | b)" in unwrapped(result)
    assert "not selected: of a class; left" in unwrapped(result)
    assert [mark["mark"] for mark in project.results()["marks"]] == [None] * len(project.results()["marks"])
    suite = ET.parse(project.path / "junit.xml").getroot()[0]  # noqa: S314 - our own
    properties = {element.attrib["name"]: element.attrib["value"] for element in suite.iterfind("properties/*")}
    assert properties["fairness_verdict"] == "undecided"
    assert json.loads(properties["fairness_not_judged"])["test_hiring.py::test_left"] == "not selected"
    assert not [*suite.iterfind("testcase//property")]
    page = (project.path / "report.html").read_text(encoding="utf-8")
    assert ">fair so far</span> No threshold fails the run. 1 of 4 thresholds" in page
    assert "Every threshold could be measured" not in page


@pytest.mark.parametrize("option", ["test_hiring.py::test_fair", "--deselect=test_hiring.py::TestParts", "--lf"])
def test_selection_by_id_leaves_the_rest_not_judged(project: Project, option: str) -> None:
    project.write_suite(FAIR, HALVES)
    (project.path / ".pytest_cache" / "v" / "cache").mkdir(parents=True)
    failed = {"test_hiring.py::test_fair": True}
    (project.path / ".pytest_cache" / "v" / "cache" / "lastfailed").write_text(json.dumps(failed))
    assert project.run(option).ret == 0
    assert messages(project)["TestParts::test_of_a_class"] == ("not judged: not selected", "not run")
    assert project.results()["release"][0]["verdict"] == "undecided"


@with_workers
def test_thresholds_cut_by_a_stop_are_not_judged(project: Project) -> None:
    last = project_sources.threshold('assert measured.rate("hired") >= 0.01', name="test_last")
    failing = "def test_fails():\n    assert False\n"
    project.write_suite(BROKEN, FAIR, failing, last)
    result = project.run("-m", "threshold", "-x")
    assert messages(project)["test_last"] == ("not judged: the run was stopped", "not run")
    assert messages(project)["test_broken"] == (
        "invalid: it could not be judged: ValueError: no such list", "failed"
    )  # fmt: skip
    assert "release: invalid" in unwrapped(result)


ALIASES = {
    "mark": "",
    "alias": "threshold = pytest.mark.threshold\n",
    "factory": "def gate(probe): return pytest.mark.threshold(probe=probe)\n",
    "elsewhere": "from gates import gate\n",
}
UNREAD = {
    "skipped": "pytest.importorskip('no_such_library')",
    "called": "pytest.skip('no data', allow_module_level=True)",
    "broken": "import no_such_library",
    "syntax": "def :",
}


@pytest.mark.parametrize(
    ("mode", "alias", "unread"),
    [
        (N2, "mark", "skipped"),
        *((NO_XDIST, alias, "skipped") for alias in ALIASES),
        *((NO_XDIST, "mark", unread) for unread in [*UNREAD][1:]),
    ],
    indirect=["mode"],
)
def test_file_that_was_not_read_leaves_the_release_open(project: Project, alias: str, unread: str) -> None:
    closed = project_sources.suite(LEFT, HALVES)
    if alias != "mark":
        closed = closed.replace("@pytest.mark.threshold", "@threshold" if alias == "alias" else "@gate")
    first = f"{UNREAD[unread]}\n{ALIASES[alias]}"
    closed = closed.replace("import pytest\n", f"import pytest\n{first}", 1)
    project.write_suite(FAIR, test_closed=closed)
    result = project.run("--continue-on-collection-errors")
    rows = {row["id"]: row for row in project.rows()}
    assert set(rows) == {"test_hiring.py::test_fair", "test_closed.py"}
    assert {row["model"] for row in rows.values()} == {"function:conftest.application"}
    row, (release,) = rows["test_closed.py"], project.results()["release"]
    assert row["threshold"] == "file test_closed.py"
    if unread in ("skipped", "called"):
        cause = "no data" if unread == "called" else "could not import 'no_such_library': No module named"
        assert row["message"].startswith(f"not judged: file test_closed.py skipped: {cause}")
        assert release["verdict"] == "undecided"
        assert "release: fair so far (1 threshold; file test_closed.py skipped: " in unwrapped(result)
        assert result.ret == 0
    else:
        error = "ModuleNotFoundError" if unread == "broken" else "SyntaxError"
        assert error in row["message"]
        assert release["verdict"] == "invalid"


def test_folder_that_was_skipped_leaves_the_release_open(project: Project) -> None:
    project.write_suite(FAIR)
    folder = project.path / "more"
    folder.mkdir()
    (folder / "conftest.py").write_text("import pytest\npytest.skip('no data', allow_module_level=True)\n")
    for name, text in (("test_left", project_sources.suite(LEFT)), ("test_plain", "def test_plain(): pass\n")):
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    (folder / "pay.probe.yaml").write_text("thresholds: {}", encoding="utf-8")
    result = project.run()
    reasons = ["file more/pay.probe.yaml skipped: no data", "file more/test_left.py skipped: no data"]
    assert list(project.results()["release"][0]["not_judged"]) == reasons
    assert f"release: fair so far (1 threshold; {'; '.join(reasons)})" in unwrapped(result)


LEAVES_OUT = {
    "ignored": ({"conftest": "collect_ignore = ['test_closed.py']\n"}, ()),
    "by option": ({}, ("--ignore=test_closed.py",)),
    "other": ({"test_closed": "import pytest\npytest.skip('no camera', allow_module_level=True)\n"}, ()),
}


@pytest.mark.parametrize("way", LEAVES_OUT)
def test_file_that_is_left_out_on_purpose_is_none_of_the_release(project: Project, way: str) -> None:
    files, args = LEAVES_OUT[way]
    closed = project_sources.suite(LEFT, HALVES).replace("import pytest\n", "import pytest\npytest.skip('x')\n", 1)
    project.write_suite(FAIR)
    project.write(test_closed=files.get("test_closed", closed))
    if "conftest" in files:
        conftest = project.path / "conftest.py"
        conftest.write_text(conftest.read_text(encoding="utf-8") + files["conftest"], encoding="utf-8")
    result = project.run(*args)
    assert "release: fair (1 threshold: 1 fair)" in unwrapped(result)


def test_file_that_last_failed_leaves_out_keeps_the_release_open(project: Project) -> None:
    """Regression: a threshold of a file without failures was in no release of `--lf`."""
    project.write_suite(FAIR.replace("test_fair", "test_first"), test_other=project_sources.suite(FAIR))
    hiring = (project.path / "test_hiring.py").read_text(encoding="utf-8")
    project.write(test_hiring=hiring + "\n\ndef test_fails(): raise OSError\n")
    assert project.run().ret == 1
    project.write(test_hiring=hiring + "\n\ndef test_fails(): pass\n")
    result = project.run("--lf", "-p", "cacheprovider")
    assert "test_other.py skipped: by --lf" in unwrapped(result)
    assert project.results()["release"][0]["verdict"] == "undecided"


SELECTING_PLUGIN = """
def pytest_ignore_collect(collection_path, config):
    return True if collection_path.name == "test_other.py" else None
"""


def test_file_that_a_plugin_leaves_out_keeps_the_release_open(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: plugins that run the files affected by a change alone made a release of these."""
    project.write_suite(FAIR.replace("test_fair", "test_first"), test_other=project_sources.suite(FAIR))
    (project.path / "selecting.py").write_text(SELECTING_PLUGIN, encoding="utf-8")
    monkeypatch.syspath_prepend(project.path)
    result = project.run("-p", "selecting")
    assert "release: fair so far (1 threshold; file test_other.py skipped: by selecting)" in unwrapped(result)


def test_second_model_of_a_run_leaves_the_first_as_it_was(project: Project) -> None:
    """Regression: of two sessions with one id, the thresholds of the first counted for the second one's model."""
    project.write(
        test_hiring=project_sources.suite(project_sources.threshold('assert measured.rate("hired") >= 0.5'), count=40)
    )
    first, second = "simulated:a?base=0.01", "simulated:b?base=0.99"
    for model in (first, second):
        project.run("--fairness-run=shared", f"--fairness-model={model}")
    releases = {release["model"]: release["verdict"] for release in project.results()["release"]}
    assert releases == {first: "undecided", second: "fair"}
    with closing(Store(project.store)) as store:
        stored = {row["model"]: row["verdict"] for *_, row in store.runs.last_results(1)}
    assert stored == {first: "unfair", second: "fair"}


@first_in_every_mode("parameters", ["?base=0.5", ""])
def test_model_of_the_same_name_is_refused_in_one_run(project: Project, parameters: str) -> None:
    """Regression: its tests have the same ids, so its verdicts replaced those of the first model."""
    project.write(test_hiring=project_sources.suite(count=2))
    project.run("--fairness-run=shared", "--fairness-model=simulated:a?base=0.01")
    result = project.run("--fairness-run=shared", f"--fairness-model=simulated:a{parameters}")
    assert "run shared has judged simulated:a?base=0.01 in test_hiring.py::" in unwrapped(result)
    assert "give another --fairness-run, or one session both models" in unwrapped(result)
    with closing(Store(project.store)) as store:
        assert [row["model"] for *_, row in store.runs.last_results(1)] == ["simulated:a?base=0.01"]
    project.run("--fairness-run=shared", "--fairness-model=simulated:a?base=0.01").assert_outcomes(passed=2, failed=1)


SKIPPING = {
    "model": "fixture(scope='session')\ndef model(need):\n    return str",
    "measured": "fixture(scope='module')\ndef measured(need, measured):\n    return measured",
    "autouse": "fixture(autouse=True)\ndef check(need):\n    pass",
}
"""Fixtures that take one that skips."""


@first_in_every_mode("case", ["model", "measured", "autouse", "setup", "unittest"])
def test_threshold_whose_fixture_skips_is_invalid(project: Project, case: str) -> None:
    skip = "raise unittest.SkipTest('no key')" if case == "unittest" else "pytest.skip('no key')"
    need = f"\n\n@pytest.fixture(scope='session')\ndef need():\n    {skip}\n\n"
    fixture = f"@pytest.{SKIPPING.get(case, SKIPPING['model'])}\n"
    setup = f"def setup_function():\n    {skip}\n"
    mark = "@pytest.mark.skipif(True, reason='not here')"
    body = 'assert measured.rate("hired") >= 0.01'
    project.write_suite(
        *([setup] if case == "setup" else []),
        project_sources.threshold(body),
        project_sources.threshold(body, name="test_expected", marks="@pytest.mark.xfail(reason='known')"),
        project_sources.threshold(body, name="test_marked", marks=mark),
        conftest=f"import unittest\n{project_sources.application()}{'' if case == 'setup' else need + fixture}",
        count=2,
    )
    result = project.run("-m", "threshold")
    result.assert_outcomes(errors=1, xfailed=1, skipped=1)
    assert result.ret == INVALID_CODE
    reasons = messages(project)
    pattern = r"invalid: it could not be judged: the `(need|_xunit\S+)` fixture skips \(no key\), and what could not be"
    assert re.match(pattern, reasons["test_threshold"][0])
    assert reasons["test_expected"] == ("not judged: skipped: expected to fail: known", "skipped")
    assert reasons["test_marked"] == ("not judged: skipped: not here", "skipped")
    assert project.run("-m", "not threshold").ret == 0


def test_threshold_whose_items_and_model_skip_is_skipped(project: Project) -> None:
    """Regression: the emotion suite without torch, whose items skip, was invalid for its model, which skips as well."""
    model = (
        "import pytest\n\n@pytest.fixture(scope='session')\ndef model():\n    pytest.importorskip('no_such_library')\n"
    )
    probe = project_sources.PROBE.replace("items=people", "items=missing")
    threshold = project_sources.threshold('assert measured.rate("hired") >= 0.01')
    missing = "def missing():\n    pytest.importorskip('no_such_library')\n\n"
    project.write_suite(threshold, conftest=model, probe=missing + probe)
    result = project.run()
    assert result.ret == 0
    ((message, outcome),) = messages(project).values()
    assert message.startswith("not judged: skipped: could not import 'no_such_library'")
    assert outcome == "skipped"


@pytest.mark.parametrize("skip", ["pytest.skip('no key')", "raise __import__('unittest').SkipTest('no key')"])
def test_threshold_whose_judge_fixture_skips_is_invalid(project: Project, skip: str) -> None:
    judge = f"\n\n@pytest.fixture(scope='session')\ndef judge():\n    {skip}\n"
    rubric = (
        "from pytest_fairness import Judge, NumberField, Rubric\nJUDGE = Judge(Rubric('x', [NumberField('y', 0, 3)]))\n"
    )
    probe = project_sources.PROBE.replace("YesNo()", 'YesNo(), "judged": JUDGE')
    thresholds = [
        project_sources.threshold('assert measured.rate("hired") >= 0.01', name=f"test_{name}", marks=marks)
        for name, marks in {"a": "", "b": "", "expected": "@pytest.mark.xfail"}.items()
    ]
    project.write_suite(*thresholds, conftest=project_sources.application() + judge, probe=rubric + probe)
    project.run("-m", "threshold").assert_outcomes(errors=2, xfailed=1, deselected=60)
    reason = "invalid: it could not be judged: the `judge` fixture skips (no key)"
    assert [message.startswith(reason) for message, _ in messages(project).values()] == [True, True, False]


def test_skip_after_a_comparison_is_invalid(project: Project) -> None:
    body = 'if not measured.rate("hired") >= 0.99:\n    pytest.skip("noisy")'
    first = "pytest.skip('not today')\nassert False"
    project.write_suite(
        project_sources.threshold(body),
        project_sources.threshold(
            'if "0.9" not in str(measured.rate("hired")):\n    pytest.skip("noisy")', name="test_read"
        ),
        project_sources.threshold(first, name="test_first"),
        conftest=project_sources.application(project_sources.UNEVEN),
    )
    assert project.run("-m", "threshold").ret == INVALID_CODE
    assert messages(project) == {
        "test_threshold": ("invalid: it was skipped after it had compared or read an estimate: noisy", "failed"),
        "test_read": ("invalid: it was skipped after it had compared or read an estimate: noisy", "failed"),
        "test_first": ("not judged: skipped: not today", "skipped"),
    }


def test_unfair_stays_unfair_under_any_selection() -> None:
    rows = [row("unfair", 0.02), *(unjudged("not selected") for _ in range(5))]
    (line,) = release(corrected(rows))
    assert line.verdict == "unfair"
    # A failure ends a run: what it cuts might have been fair, and counts for Holm's correction.
    rows[1:] = [unjudged("the run was stopped") for _ in range(5)]
    assert release(corrected(rows))[0].verdict == "undecided"


@pytest.mark.parametrize(
    ("options", "restricted"),
    [
        (["--fairness-sample=30"], ["--fairness-sample=30"]),
        (["--fairness-sample=300"], []),
        (["--fairness-repetitions=2"], ["--fairness-repetitions=2"]),
        (["--fairness-repetitions=1"], []),
        (["--fairness-where=half=1"], ["--fairness-where=half=1"]),
    ],
)
def test_restricted_sample_is_named(project: Project, options: list[str], restricted: list[str]) -> None:
    suite = project_sources.suite(FAIR).replace(
        "            ],\n", "            ],\n            metadata={'half': number % 2},\n"
    )
    project.write(conftest=project_sources.application(), test_hiring=suite)
    result = project.run(*options)
    assert project.results()["release"][0]["restricted"] == restricted
    summary = f"1 fair; with {restricted[0]})" if restricted else "(1 threshold: 1 fair)"
    assert summary in unwrapped(result)


STALE = '{\n "schema": 1,\n "release": [{"verdict": "fair"}]}'


@first_in_every_mode("case", ["skipped", "items", "broken", "unit"])
def test_stale_results_file_is_replaced(project: Project, case: str) -> None:
    project.write_suite(SKIPPED, test_unit="def test_unit(): pass")
    if case == "broken":
        project.write(test_broken="import nothing_like_that")
    (project.path / "results.json").write_text(STALE)
    selected = {"items": ["-k", "person-0001"], "unit": ["test_unit.py"], "skipped": ["-m", "threshold"]}
    result = project.run(*selected.get(case, []))
    lines = project.results()["release"]
    assert [line["verdict"] for line in lines] == ([] if case == "unit" else ["undecided"])
    why = {
        "skipped": "1 skipped",
        "items": "no threshold was selected: -k person-0001 deselected 1",
        "broken": "1 not run",
        "unit": "no threshold was collected",
    }
    assert f"nothing was judged: {why[case]}" in unwrapped(result)


UNCHANGED = """
import pytest

def pytest_ignore_collect():
    return True

@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    session.exitstatus = pytest.ExitCode.OK
"""
"""A plugin that leaves out unchanged tests, as pytest-testmon does."""


COPIED = """
import os, shutil

def pytest_runtest_logreport():
    if "PYTEST_XDIST_WORKER" not in os.environ and os.path.exists("results.json"):
        shutil.copy("results.json", "during.json")
"""
"""A conftest that keeps what a process that is killed would leave."""


@pytest.mark.parametrize(("mode", "is_typed"), [(NO_XDIST, True), (N2, False)], indirect=["mode"])
def test_killed_run_leaves_no_earlier_results(
    project: Project, is_typed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)  # of the tests of this project
    project.write_suite(conftest=project_sources.application(version="1") + COPIED)
    if not is_typed:
        (project.path / "pytest.ini").write_text("[pytest]\nfairness_json = results.json\n", encoding="utf-8")
    for _ in range(2):
        assert project.bare_run(*["--fairness-json=results.json"] * is_typed).ret == pytest.ExitCode.OK
        assert project.results()["release"][0]["verdict"] == "fair"
    assert json.loads((project.path / "during.json").read_text(encoding="utf-8"))["release"] == []


@every_mode
def test_run_emptied_by_another_plugin_is_no_pass(project: Project) -> None:
    project.write_suite(conftest=project_sources.application() + UNCHANGED)
    named = project.bare_run("--fairness-model=simulated:demo")
    assert "fairness: nothing was judged: no threshold was collected" in named.outlines
    assert named.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    for options in (
        [],
        ["--fairness-model=simulated:demo", "-k", "alike"],
        ["--fairness-model=simulated:demo", "--co"],
    ):
        result = project.bare_run(*options)
        assert result.ret == pytest.ExitCode.OK
        assert "nothing was judged" not in unwrapped(result)


def test_thresholds_left_out_by_a_conftest_are_reported(project: Project) -> None:
    left_out = """
def pytest_collection_modifyitems(items):
    items[:] = [item for item in items if "alike" not in item.name]
"""
    project.write_suite(conftest=project_sources.application() + left_out, count=6)
    result = project.run()
    reason = "nothing was judged: no threshold was selected: a conftest.py or another plugin left out 1"
    assert reason in unwrapped(result)


@pytest.mark.parametrize("option", ["--fairness-profile=nope", "--fairness-baseline=nothing"])
def test_refused_run_empties_a_stale_results_file(project: Project, option: str) -> None:
    project.write_suite()
    (project.path / "results.json").write_text(STALE)
    assert project.run(option, "--co").ret == pytest.ExitCode.USAGE_ERROR
    assert (project.path / "results.json").read_text() == STALE
    assert project.run(option).ret == pytest.ExitCode.USAGE_ERROR
    assert project.results()["release"] == []
    assert project.bare_run(option, "--fairness-json=other.json").ret == pytest.ExitCode.USAGE_ERROR
    assert not (project.path / "other.json").exists()
    (project.path / "results.json").write_text("mine")
    assert project.run(option).ret == pytest.ExitCode.USAGE_ERROR
    assert (project.path / "results.json").read_text() == "mine"


def test_collect_only_writes_nothing(project: Project) -> None:
    project.write_suite()
    (project.path / "results.json").write_text(STALE)
    assert project.run("--co", "-q").ret == 0
    assert (project.path / "results.json").read_text() == STALE


@every_mode
def test_items_without_their_thresholds_are_reported(project: Project) -> None:
    project.write_suite(FAIR, SKIPPED)
    result = project.bare_run("-k", "person")
    assert result.ret == 0
    assert "of the selected items 2 thresholds are not selected: nothing judges them" in unwrapped(result)
    assert "release: undecided (nothing was judged of 2 thresholds; 2 not selected)" in unwrapped(result)
    assert "nothing was judged: no threshold was selected: -k person deselected 2" in unwrapped(result)


def test_broken_declaration_leaves_no_release_fair(project: Project) -> None:
    project.write_suite(FAIR)
    (project.path / "more.probe.yaml").write_text("nonsense: 1\n")
    project.run("-m", "threshold")
    assert project.verdicts() == {"test_fair": "fair", "declaration": "invalid"}
    assert project.results()["release"][0]["verdict"] == "invalid"


def test_declared_probe_with_invalid_items_is_no_threshold(project: Project) -> None:
    (project.path / "twice.probe.yaml").write_text(
        "template: '{{ name }}, {{ job }}? Yes or no.'\nvary: {g: {a: {name: Anna}, b: {name: Ben}}}\n"
        "items: [{id: x, job: cook}, {id: x, job: nurse}]\ngrade: {ok: yes-no}\nthresholds: {alike: rate(ok) <= 0.9}\n"
    )
    assert project.run("--fairness-model=simulated:fair").ret != 0
    (line,) = project.results()["release"]  # it was a threshold of no model as well
    assert (line["model"], line["invalid"]) == ("simulated:fair", 1)

"""The same verdicts, to the digit, however the tests are distributed and ordered."""

from __future__ import annotations

import os
import re
from typing import Any

import pytest

from pytest_fairness.plugin.output.outcomes import UNDECIDED_CODE
from tests.helpers import project_sources
from tests.helpers.project import N2, NO_XDIST, Mode, Project, distributed, shown, unwrapped

RATES = {"woman": 0.7, "man": 0.9, "elder": 0.5}

TESTS = (
    project_sources.threshold(f"assert {project_sources.RATIO} >= 0.8", name="test_ratio"),
    project_sources.threshold('assert measured.ratios("hired", by="gender") >= 0.8', name="test_ratios"),
    project_sources.threshold('assert measured.rate("hired") >= 0.3', name="test_rate"),
)


def write(project: Project) -> None:
    """Two modules, with thresholds of both probes in each."""
    suite = project_sources.suite(*TESTS, count=40, groups=tuple(RATES))
    other = suite.replace("test_hiring", "test_promotion").replace("profile", "colleague")
    for old in ("test_ratios", "test_ratio(", "test_rate("):
        other = other.replace(old, old.replace("test_", "test_other_"))
    project.write(conftest=project_sources.application(RATES), test_hiring=suite, test_promotion=other)


def rows(project: Project) -> dict[str, Any]:
    """Return the rows without fields that differ from run to run."""
    changing = ("sample", "history", "example")  # an example names attempts, and a callable's are of their run
    return {row["id"]: {name: value for name, value in row.items() if name not in changing} for row in project.rows()}


@pytest.mark.parametrize(
    ("dist", "workers"),
    [("load", 2), ("loadfile", 2), ("loadscope", 2), ("worksteal", 4)],
)
def test_distribution_changes_no_row_and_repeats_no_request(project: Project, dist: str, workers: int) -> None:
    write(project)
    project.run(mode=NO_XDIST)
    alone = rows(project)
    project.forget_calls()
    result = project.run(mode=distributed(f"-n{workers}", "--dist", dist))
    assert rows(project) == alone
    assert len(alone) == 6
    assert set(project.calls().values()) == {1}
    assert sum(project.calls().values()) == 2 * 40 * 3
    assert result.ret == UNDECIDED_CODE
    # Rows come in one order, whichever worker reported first.
    assert [row["id"] for row in project.rows()] == list(alone)
    run = project.results()["run"]
    assert (run["attempts"], run["from_store"]) == (240, 0)


@pytest.mark.slow
@pytest.mark.parametrize("mode", [NO_XDIST, N2], ids=lambda mode: mode.id)
def test_random_order_changes_no_row(project: Project, mode: Mode) -> None:
    write(project)
    project.run(mode=NO_XDIST)
    alone = rows(project)
    project.forget_calls()
    result = project.separate_run(*mode.args, "-p", "randomly")
    assert "--randomly-seed=" in shown(result)
    assert rows(project) == alone
    assert set(project.calls().values()) == {1}


def test_distributed_run_ends_with_the_same_output(project: Project) -> None:
    write(project)

    def output(mode: Mode) -> list[str]:
        lines = project.run(mode=mode).outlines
        start = next(number for number, line in enumerate(lines) if "= fairness:" in line)
        end = next(number for number, line in enumerate(lines) if line.startswith("results:"))
        project.store.unlink()  # a second run would name the first
        return [re.sub("run [0-9a-f]{8}: ", "", line) for line in lines[start:end]]

    assert output(N2) == output(NO_XDIST)


OTHER_TESTS = """
import pytest

def test_fails(record_property):
    record_property("parts", ("left", 2, None, b"raw"))
    print("printed by the test")
    assert "left" == "right"

@pytest.mark.skip(reason="no such machine")
def test_skipped():
    pass
"""


def test_reports_of_other_tests_cross_unchanged(project: Project) -> None:
    write(project)
    project.write(test_other=OTHER_TESTS)
    result = project.run("-rs", "--junit-xml=results.xml", mode=N2)
    result.stdout.fnmatch_lines(
        ["E*assert 'left' == 'right'*", "printed by the test", "SKIPPED * test_other.py:*: no such machine"]
    )
    junit = (project.path / "results.xml").read_text(encoding="utf-8")
    assert """value="('left', 2, None, b'raw')\"""" in junit


HOOKS = """
import os

def note(text):
    if "PYTEST_XDIST_WORKER" not in os.environ:
        with open("hooks.txt", "a") as file:
            file.write(text + "\\n")

def pytest_runtest_logstart(nodeid):
    note(f"{nodeid} start")

def pytest_runtest_logreport(report):
    note(f"{report.nodeid} {report.when}")

def pytest_runtest_logfinish(nodeid):
    note(f"{nodeid} finish")
"""
WAITS = """
    import pathlib, time
    begun = f"[{probe_item.id}] start"
    end = time.monotonic() + 20
    while begun not in pathlib.Path("hooks.txt").read_text() and time.monotonic() < end:
        time.sleep(0.005)
    assert time.monotonic() < end
"""


@pytest.mark.parametrize("dist", ["load", "worksteal", "each"])
def test_controller_has_every_event_in_order_and_in_time(project: Project, dist: str) -> None:
    probe = project_sources.PROBE + WAITS
    project.write_suite(conftest=project_sources.application() + HOOKS, count=12, probe=probe)
    result = project.run("-k", "not alike", mode=distributed("-n2", "--dist", dist))
    runs = 2 if dist == "each" else 1
    result.assert_outcomes(passed=12 * runs)
    events: dict[str, list[str]] = {}
    for line in (project.path / "hooks.txt").read_text(encoding="utf-8").splitlines():
        test, _, event = line.rpartition(" ")
        events.setdefault(test, []).append(event)
    expected = ["start", "setup", "call", "teardown", "finish"]
    assert len(events) == 12
    if runs == 1:
        assert all(of_test == expected for of_test in events.values())
    assert all(sorted(of_test) == sorted(expected * runs) for of_test in events.values())


def test_value_that_xdist_refuses_is_refused(project: Project) -> None:
    write(project)
    test = "from array import array\n\ndef test_other(record_property):\n    record_property('x', array('d', [0.5]))\n"
    project.write(test_other=test)
    result = project.run(mode=N2)
    assert "can't serialize <class 'array.array'>" in shown(result)


SENDERS = """
import os
import time
import pytest

WORKER = os.environ["PYTEST_XDIST_WORKER"] if "PYTEST_XDIST_WORKER" in os.environ else "controller"

def application(text):
    with open("sent.txt", "a") as file:
        file.write(f"{WORKER} {'colleague' in text}\\n")
    time.sleep(0.02)
    return "yes"

application.fairness_concurrency = 16

@pytest.fixture(scope="session")
def model():
    return application

def pytest_runtest_call(item):
    with open("ran.txt", "a") as file:
        file.write(f"{WORKER} {item.path.stem == 'test_promotion'}\\n")
"""


def test_worker_sends_the_requests_of_its_own_tests(project: Project) -> None:
    """Regression: each worker sent the whole work list in order, and read the answers of the others' tests."""
    suite = project_sources.suite(count=150)
    other = suite.replace("profile", "colleague").replace("test_hiring", "test_promotion")
    project.write(conftest=SENDERS, test_hiring=suite, test_promotion=other)
    project.run("-k", "not alike", mode=distributed("-n2", "--dist", "loadfile")).assert_outcomes(passed=300)
    ran, sent = ((project.path / name).read_text(encoding="utf-8").splitlines() for name in ("ran.txt", "sent.txt"))
    assert len(sent) == 600
    (last,) = {line.split()[0] for line in ran if line.endswith("True")}
    # Behind its tests there are no others, so it has nothing to send ahead for them.
    assert {line for line in sent if line.startswith(last)} == {f"{last} True"}


KILL = """
def die(name):
    import os, signal
    if "PYTEST_XDIST_WORKER" in os.environ:
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
@pytest.mark.parametrize("dist", ["load", "worksteal"])
def test_worker_killed_in_a_probe_test_loses_no_threshold(project: Project, dist: str) -> None:
    probe = project_sources.PROBE + "    if probe_item.id == 'person-0007':\n        die(probe_item.id)\n"
    project.write(
        conftest=project_sources.application(),
        test_hiring=project_sources.suite(probe=f"{KILL}\n{probe}") + project_sources.THRESHOLD,
    )
    project.run("-k", "alike", mode=NO_XDIST)
    alone = rows(project)
    result = project.run(mode=distributed("-n2", "--dist", dist))
    assert result.ret == 1
    result.assert_outcomes(passed=60, failed=1)
    assert re.search(r"crashed while running '.*person-0007.*'", unwrapped(result))
    assert rows(project) == alone
    assert project.row()["verdict"] == "fair"
    assert result.duration < 45


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_threshold_whose_worker_was_killed_is_invalid(project: Project) -> None:
    test = project_sources.threshold(f"assert {project_sources.RATIO} >= 0.5\ndie('threshold')", name="test_deadly")
    project.write_suite(KILL, test, project_sources.THRESHOLD)
    result = project.run(mode=distributed("-n2"))
    assert result.ret == 1
    assert project.verdicts() == {"test_deadly": "invalid", "test_women_and_men_alike": "fair"}
    deadly = next(row for row in project.rows() if "deadly" in row["id"])
    assert "crashed" in deadly["message"]
    assert deadly["estimate"] is None


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_threshold_whose_worker_was_killed_in_each_rerun_has_a_result(project: Project) -> None:
    pytest.importorskip("pytest_rerunfailures")
    test = project_sources.threshold(f"assert {project_sources.RATIO} >= 0.5\ndie('threshold')", name="test_deadly")
    project.write_suite(KILL, test, project_sources.THRESHOLD)
    result = project.run("--reruns=1", "-p", "rerunfailures", mode=distributed("-n2"))
    assert result.ret == 1
    assert project.verdicts() == {"test_deadly": "invalid", "test_women_and_men_alike": "fair"}
    assert "crashed while running" in unwrapped(result)
    assert "gave no result" not in unwrapped(result)

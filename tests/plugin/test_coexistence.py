"""A good guest: invisible where it is not used, and at peace with pytest's own features and other plugins."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys

import pytest

from pytest_fairness import __version__
from pytest_fairness.plugin.output.outcomes import INVALID_CODE
from tests.helpers import project_sources
from tests.helpers.chat_server import serving
from tests.helpers.project import (
    QUIET,
    Project,
    every_mode,
    first_in_every_mode,
    in_one_process,
    shown,
    unwrapped,
)

MODES = ("-p", "no:randomly")


@pytest.fixture(autouse=True)
def _with_other_plugins(project: Project) -> None:
    project.with_other_plugins = True


@every_mode
def test_unrelated_project_is_not_affected(project: Project) -> None:
    project.write(test_plain="def test_plain(): pass\ndef test_fails(): assert 0\n")
    result = project.bare_run()
    result.assert_outcomes(passed=1, failed=1)
    text = shown(result).replace(f"fairness-{__version__}", "")
    assert "fairness" not in text.replace(str(project.path), "")
    assert not project.store.parent.exists()
    of_pytester = {"stdout", "stderr", "runpytest-current"}
    assert {path.name for path in project.path.iterdir()} - of_pytester <= {
        "test_plain.py",
        ".pytest_cache",
        "__pycache__",
        "runpytest-0",
    }


def test_any_value_may_be_in_a_test_module(project: Project) -> None:
    project.write(
        test_values="""
import pytest
from unittest.mock import MagicMock, Mock

class Proxy:
    @property
    def __class__(self):
        raise RuntimeError("outside of the context")
    def __getattr__(self, name):
        raise RuntimeError("outside of the context")

class Echo:
    def __getattr__(self, name):
        return self
    def __iter__(self):
        return iter([self])

class Meta(type):
    def __getattr__(cls, name):
        raise KeyError(name)

class Odd(metaclass=Meta):
    values = [Proxy(), Echo(), Mock()]

mock, magic, proxy, echo = Mock(), MagicMock(), Proxy(), Echo()

class TestMarked:
    pytestmark = pytest.mark.usefixtures("tmp_path")
    mock, proxy = Mock(), Proxy()

    def test_one(self):
        pass
"""
    )
    project.bare_run().assert_outcomes(passed=1)


def test_unrelated_project_keeps_all_its_objects_in_searches_for_garbage(project: Project) -> None:
    code = "import gc; print(gc.get_freeze_count())"  # Python 3.12 itself freezes some
    plain = int(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
    project.write(
        test_objects=f"""
import gc

def test_objects():
    assert gc.get_freeze_count() == {plain}  # else `gc.get_referrers` and `gc.get_objects` overlook objects
"""
    )
    project.pytester.runpytest_subprocess("-p", "no:randomly").assert_outcomes(passed=1)


HEAVY = (
    "numpy",
    "scipy",
    "sqlite3",
    "openai",
    "anthropic",
    "tenacity",
    "filelock",
    "torch",
    "transformers",
    "jinja2",
)


def test_unrelated_project_imports_nothing_heavy(project: Project) -> None:
    look = f"import sys\n\ndef test_imports():\n    assert [name for name in {HEAVY!r} if name in sys.modules] == []\n"
    look += "    assert sys.version_info >= (3, 14) or 'asyncio' not in sys.modules  # later ones have it from pdb\n"
    project.write(test_imports=look)
    quiet = [
        part
        for name in ("xdist", "hypothesispytest", "anyio", "html", "cov", "metadata")
        for part in ("-p", f"no:{name}")
    ]
    result = project.pytester.runpytest_subprocess(*MODES, *quiet, timeout=60)
    result.assert_outcomes(passed=1)


def test_plugin_import_loads_the_standard_library_only(project: Project) -> None:
    look = """
import json, sys, pytest
before = set(sys.modules)
import pytest_fairness, pytest_fairness.plugin
print(json.dumps(sorted(set(sys.modules) - before)))
"""
    result = project.pytester.run(sys.executable, "-c", look, timeout=60)
    modules = {name.partition(".")[0] for name in json.loads(result.outlines[0])}
    assert modules - set(sys.stdlib_module_names) == {"pytest_fairness"}


def test_fixtures_of_the_same_name_work_in_ordinary_tests(project: Project) -> None:
    own = """
import pytest

@pytest.fixture
def model():
    return "a model of mine"

@pytest.fixture(params=["a", "b"])
def judge(request):
    return request.param

@pytest.fixture(scope="module")
def grader():
    return 7
"""
    test = """
def test_model(model): assert model == "a model of mine"
def test_judge(judge): assert judge in "ab"
def test_grader(grader): assert grader == 7
"""
    project.write(conftest=own, test_plain=test)
    project.bare_run().assert_outcomes(passed=4)
    assert not project.store.parent.exists()


def test_parametrize_may_use_the_names_of_the_fixtures(project: Project) -> None:
    test = """
import pytest

@pytest.mark.parametrize("model", ["small", "large"])
def test_model(model): assert model in ("small", "large")

@pytest.mark.parametrize("model_name", ["small", "large"])
def test_name(model_name): assert model_name in ("small", "large")
"""
    project.write(test_plain=test)
    project.bare_run().assert_outcomes(passed=4)
    project.bare_run("--fairness-model=simulated:x").assert_outcomes(passed=4)


@in_one_process
def test_ordinary_test_may_use_the_model(project: Project) -> None:
    test = "def test_plain(model, model_name):\n    assert model.name == model_name == 'simulated:a'\n"
    project.write(test_plain=test)
    # It is not parametrized: a plain test runs once.
    result = project.bare_run("--fairness-model=simulated:a")
    result.assert_outcomes(passed=1)


def test_fixtures_markers_and_options_are_documented(project: Project) -> None:
    text = shown(project.bare_run("--fixtures"))
    for fixture in ("model", "model_name", "judge", "grader", "probe_item", "measured"):
        assert f"\n{fixture}" in text
    text = shown(project.bare_run("--markers"))
    for mark in ("@pytest.mark.probe(", "@pytest.mark.threshold(", "@pytest.mark.flaky_threshold("):
        assert mark in text
    text = shown(project.bare_run("--help"))
    for option in (
        "model",
        "judge",
        "repetitions",
        "sample",
        "seed",
        "concurrency",
        "store",
        "offline",
        "json",
    ):
        assert f"--fairness-{option}" in text
        assert f"fairness_{option}" in text


@pytest.mark.slow
def test_thresholds_survive_fixtures_that_remove_modules(project: Project) -> None:
    fixture = """

@pytest.fixture(autouse=True)
def modules():
    import sys
    from unittest import mock
    with mock.patch.dict(sys.modules):
        yield
"""
    thresholds = [
        project_sources.threshold(f"assert 0.1 <= {project_sources.RATIO}", name=f"test_{name}") for name in "ab"
    ]
    project.write_suite(*thresholds, conftest=project_sources.application() + fixture, count=20)
    # In a process of its own: numpy cannot be imported again.
    result = project.pytester.runpytest_subprocess(*QUIET, "-p", "no:randomly", "-p", "no:xdist")
    result.assert_outcomes(passed=22)


@pytest.mark.slow
def test_runs_inside_of_a_run_are_judged(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that runs of pytester in one process do not import numpy again, which it refuses."""
    inner = {"conftest": project_sources.application(), "test_inner": project_sources.suite()}
    test = f"""
import pytest
pytest_plugins = ["pytester"]

@pytest.mark.parametrize("run", [1, 2])
def test_inner_run(pytester, run):
    pytester.makepyfile(**{inner!r})
    result = pytester.inline_run("-p", "no:randomly")
    assert result.countoutcomes()[1:] == [0, 0]
"""
    project.write(test_outer=test)
    monkeypatch.setenv("PYTEST_ADDOPTS", " ".join(QUIET))
    project.pytester.runpytest_subprocess("-p", "no:randomly", "-p", "no:xdist").assert_outcomes(passed=2)


@pytest.mark.skipif(not hasattr(pytest, "Subtests"), reason="pytest 9 has subtests")
@every_mode
def test_comparisons_in_subtests_are_judged(project: Project) -> None:
    # Those of pytest keep the failure of an assertion to themselves, so that no comparison could fail the test.
    within = """
@pytest.fixture
def parts(subtests):
    return subtests

@pytest.mark.threshold(probe=test_hiring)
def test_within(measured, {fixture}):
    for bound in (0.1, {bound}):
        with {fixture}.test("parity", bound=bound):
            assert measured.ratio("hired", by="gender", of="woman", to="man") >= bound
"""
    tests = [
        within.format(fixture=fixture, bound=bound).replace("test_within", f"test_{fixture}_{word}")
        for fixture in ("subtests", "parts")
        for word, bound in (("within", 0.2), ("beyond", 5))
    ]
    ordinary = "def test_ordinary(subtests):\n    with subtests.test():\n        assert False\n"
    project.write_suite(project_sources.THRESHOLD, *tests, test_ordinary=ordinary)
    project.run()
    assert project.verdicts() == {
        "test_women_and_men_alike": "fair",
        "test_subtests_within": "fair",
        "test_subtests_beyond": "unfair",
        "test_parts_within": "fair",
        "test_parts_beyond": "unfair",
    }


def test_strict_mode_and_warnings_as_errors_pass(project: Project) -> None:
    project.write_suite()
    project.run("--strict-markers", "--strict-config", "-W", "error").assert_outcomes(passed=61)


@pytest.mark.slow
@every_mode
def test_thresholds_run_under_hypothesis(project: Project) -> None:
    tests = """
from hypothesis import HealthCheck, given, settings, strategies as st

@pytest.mark.threshold(probe=test_hiring)
@settings(max_examples=8, database=None)
@given(bound=st.floats(0.1, 0.6))
def test_threshold(measured, bound):
    assert measured.ratio("hired", by="gender", of="woman", to="man") >= bound

@pytest.mark.threshold(probe=test_hiring)
@settings(max_examples=20, database=None, derandomize=True)
@given(of=st.sampled_from(["woman", "elder"]))
def test_broken(measured, of):
    assert measured.ratio("hired", by="gender", of=of, to="man") >= 0.8

@settings(max_examples=3, database=None)
@given(number=st.integers(0, 5))
def test_model(model, number):
    assert model(f"Should a man of profile {number} be hired?") in ("yes", "no")
"""
    rates = {"woman": 0.95, "man": 0.95, "elder": 0.3}
    project.write_suite(tests, conftest=project_sources.application(rates), groups=tuple(rates))
    result = project.run("-k", "not test_hiring[", "-p", "hypothesispytest")
    assert project.verdicts() == {"test_threshold": "fair", "test_broken": "unfair"}, shown(result)
    result.assert_outcomes(passed=2, failed=1)


@pytest.mark.slow
def test_probe_under_hypothesis_measures_its_item_once(project: Project) -> None:
    probe = """
from hypothesis import HealthCheck, given, settings, strategies as st

@pytest.mark.probe(items=people, grade={"hired": YesNo()})
@settings(max_examples=3, database=None, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(number=st.integers(0, 9))
def test_hiring(probe_item, model, number):
    assert len(probe_item.measure(model)) == 2
"""
    project.write_suite(probe=probe)
    project.run().assert_outcomes(passed=61)
    assert project.row()["attempts"] == 120


RERUN = """
@pytest.mark.threshold(probe=test_hiring)
def test_threshold(measured, request):
    bound = 0.5 if getattr(request.node, "execution_count", 1) > {enough} else 1.5
    assert measured.ratio("hired", by="gender", of="woman", to="man") >= bound
"""


def test_unusable_store_fails_no_ordinary_test(project: Project) -> None:
    project.write_suite(test_other="def test_other(): pass\n")
    (project.path / "notes").write_text("no store\n" * 100, encoding="utf-8")
    for store, reason in (("notes", "it is no SQLite file"), ("notes/store.sqlite", "cannot be made")):
        project.run("-k", "threshold or women")
        assert project.row()["verdict"] == "fair"
        result = project.run(f"--fairness-store={store}")
        assert result.ret == INVALID_CODE
        assert result.parseoutcomes() == {"passed": 1, "skipped": 59, "errors": 2}
        row = project.row()  # of this run, not of the earlier one
        assert row["verdict"] == "invalid"
        assert reason in row["message"]


def test_threshold_on_a_full_disk_fails_in_one_line(project: Project) -> None:
    pytest.importorskip("resource", reason="Windows has no limits of files")
    full = """
import resource
LIMITS = resource.getrlimit(resource.RLIMIT_FSIZE)

@pytest.fixture
def disk():
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, LIMITS)

@pytest.mark.usefixtures("disk")
@pytest.mark.threshold(probe=test_hiring)
def test_threshold(measured):
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, LIMITS[1]))  # after the answers, before the verdict is recorded
    assert measured.rate("hired") >= 0.1
"""
    project.write_suite(full, count=6)
    result = project.run()
    assert result.ret == INVALID_CODE
    text = shown(result)
    assert "/.fairness/store.sqlite failed: " in text
    assert "take_look" not in text  # no traceback through this package
    assert project.row()["verdict"] == "invalid"


@first_in_every_mode("verdict", ["fair", "unfair"])
def test_last_report_of_reruns_counts(project: Project, verdict: str) -> None:
    enough = 1 if verdict == "fair" else 9
    project.write_suite(RERUN.format(enough=enough))
    result = project.run("--reruns=2", "-k", "test_threshold")
    assert project.row()["verdict"] == verdict
    assert project.row()["outcome"] == ("passed" if verdict == "fair" else "failed")
    assert result.ret == (0 if verdict == "fair" else 1)
    assert result.parseoutcomes()["rerun"] == (1 if verdict == "fair" else 2)
    # What was measured does not change by being looked at again.
    assert set(project.calls().values()) == {1}


CALLED_AGAIN = """
import pytest

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed:
        item.execution_count = 2
        item.ihook.pytest_runtest_teardown(item=item, nextitem=item.session)
        item._initrequest()
        item.ihook.pytest_runtest_setup(item=item)
        again = pytest.CallInfo.from_call(lambda: item.ihook.pytest_runtest_call(item=item), when="call")
        report.outcome, report.longrepr = ("failed", report.longrepr) if again.excinfo else ("passed", None)
    return report
"""


def test_last_call_of_a_retried_test_counts(project: Project) -> None:
    """Call a failed test again as pytest-retry does, which keeps the report of the first call."""
    project.write_suite(RERUN.format(enough=1), conftest=project_sources.application() + CALLED_AGAIN)
    result = project.run("-k", "test_threshold")
    assert result.ret == 0
    assert (project.row()["verdict"], project.row()["outcome"]) == ("fair", "passed")


@pytest.mark.slow
def test_rerun_probe_test_repeats_no_request(project: Project) -> None:
    probe = (
        project_sources.PROBE
        + """
    from pathlib import Path
    seen = Path(f"seen-{probe_item.id}")
    if not seen.exists():
        seen.touch()
        assert False
"""
    )
    project.write_suite(probe=probe, count=100)
    result = project.run("--reruns=1")
    assert result.ret == 0
    assert result.parseoutcomes() == {"passed": 101, "rerun": 100}
    assert set(project.calls().values()) == {1}


@pytest.mark.slow
@in_one_process
def test_pytest_timeout_ends_a_hanging_test(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_fairness.engine.engine.GRACE", 2.0)  # at the end the call that hangs is waited for
    body = "    import time\n    if 'profile 3 ' in text:\n        time.sleep(60)"
    project.write_suite(conftest=project_sources.application(body=body), count=20)
    # An application that is called once at a time would let the next call wait for the one that hangs.
    options = "--timeout=6", "--timeout-method=signal", "--fairness-concurrency=4"
    result = project.run(*options, "-k", "person-0003 or person-0004")
    assert result.ret == 1
    assert "Timeout" in shown(result)
    assert result.parseoutcomes()["passed"] == 1
    assert result.duration < 30


def test_listings_leave_no_trace(project: Project) -> None:
    project.write_suite(count=5)
    earlier = project.path / "results.json"
    earlier.write_text('{\n "schema": 1,\n "release": [{"verdict": "fair"}]}')
    text = earlier.read_text()
    for option in ("--setup-plan", "--setup-only", "--fixtures-per-test", "--fixtures", "--markers", "--collect-only"):
        result = project.run(option, "--fairness-report=page.html")
        assert "INTERNALERROR" not in shown(result)
        assert result.ret == 0
        assert not project.calls()
        assert not project.store.exists()
        assert earlier.read_text() == text
        assert not (project.path / "page.html").exists()


def test_doctests_and_unittests_run_in_the_same_session(project: Project) -> None:
    other = '''
"""
>>> 1 + 1
2
"""
import unittest

class TestOld(unittest.TestCase):
    def test_old(self):
        self.assertTrue(True)
'''
    project.write_suite(test_other=other)
    project.run("--doctest-modules").assert_outcomes(passed=63)


def test_html_report_shows_the_chart(project: Project) -> None:
    mark = f"reason='x', by='Ada', until='{project_sources.LATER}', max_flip=0.5"
    test = project_sources.threshold(
        f"assert {project_sources.RATIO} >= 0.85", marks=f"@pytest.mark.flaky_threshold({mark})"
    )
    project.write_suite(test, conftest=project_sources.application(project_sources.NARROW))
    result = project.run("--html=report.html", "--self-contained-html")
    assert result.ret == 0
    assert "data:image/svg+xml;base64," in (project.path / "report.html").read_text(encoding="utf-8")


def test_model_works_in_an_event_loop_of_the_test(project: Project) -> None:
    test = """
import asyncio

def test_plain(model):
    async def main():
        return model("Should a man of profile 1 be hired?")
    assert asyncio.run(main()) in ("yes", "no")
"""
    project.write_suite(project_sources.THRESHOLD, test)
    project.run().assert_outcomes(passed=62)


def test_measuring_works_inside_a_running_loop(project: Project) -> None:
    probe = """
@pytest.mark.probe(items=people, grade={"hired": YesNo()})
def test_hiring(probe_item, model):
    import asyncio

    async def main():
        return probe_item.measure(model)

    assert len(asyncio.run(main())) == 2
"""
    project.write_suite(probe=probe)
    project.run().assert_outcomes(passed=61)


def application_of_kind(keyword: str) -> str:
    """Return an application that is a plain function, or with "async " a coroutine function."""
    model = f"""
{keyword}def reply(text):
    return application(text)

@pytest.fixture(scope="session")
def model():
    return reply
"""
    return project_sources.application() + model


NO_SOCKETS = """
import socket
import pytest

@pytest.fixture(autouse=True)
def no_sockets(monkeypatch):
    class Blocked(socket.socket):
        def __new__(cls, *arguments, **named):
            raise RuntimeError("no sockets")

    monkeypatch.setattr(socket, "socket", Blocked)
"""


@pytest.mark.parametrize("keyword", ["", "async "])
def test_application_answers_while_tests_block_sockets(project: Project, keyword: str) -> None:
    project.write_suite(conftest=application_of_kind(keyword) + NO_SOCKETS)
    project.run().assert_outcomes(passed=61)


HIDING_HOOKS = {
    "swallowed": (
        """
@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    try:
        return (yield)
    except BaseException:
        return True
""",
        "is unfair, and its test is reported as passed: a conftest.py or another plugin",
    ),
    "skipped": (
        """
@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed:
        report.outcome, report.longrepr = "skipped", (__file__, 1, "Skipped: known")
    return report
""",
        "is unfair, and its test is reported as skipped: a conftest.py or another plugin",
    ),
    "unheard": (
        """
@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    return True if "alike" in item.name else None
""",
        "was selected and gave no result: a conftest.py or another plugin",
    ),
}
"""Hooks that let a session pass, and what is said of it."""


@first_in_every_mode("hides", ["unheard", "swallowed", "skipped"])
def test_session_fails_where_a_plugin_hides_a_verdict(project: Project, hides: str) -> None:
    """Regression: such a session ended with 0."""
    hook, message = HIDING_HOOKS[hides]
    project.write(
        conftest=project_sources.application({"man": 0.95, "woman": 0.3}) + hook, test_hiring=project_sources.suite()
    )
    result = project.run()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert message in " ".join(shown(result).split())


@in_one_process
def test_shard_fails_where_a_plugin_keeps_a_threshold_from_running(project: Project) -> None:
    """Regression: such a shard ended with 0, and so did the run."""
    hook, message = HIDING_HOOKS["unheard"]
    project.write_suite(conftest=project_sources.application(version="1") + hook)
    for shard in ("1/2", "2/2"):
        result = project.run(f"--fairness-shard={shard}", "--fairness-run=sharded")
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        assert message in " ".join(shown(result).split())


@pytest.mark.parametrize(
    "part", ["threading.Thread", "threading.Event", "contextvars.copy_context", "concurrent.futures.Future"]
)
def test_replaced_threads_are_named_by_the_first_measurement(project: Project, part: str) -> None:
    """Regression: the run waited for ever, or failed within Python's own code."""
    mocked = f"""
import concurrent.futures, contextvars, threading
from unittest import mock

@pytest.fixture(autouse=True)
def mocked():
    with mock.patch("{part}"):
        yield
"""
    project.write(conftest=project_sources.application() + mocked, test_hiring=project_sources.suite())
    result = project.run("-k", "person-0001 or women")
    result.assert_outcomes(failed=2)
    assert f"{part}" in shown(result)
    assert "must put them back before it measures" in " ".join(shown(result).split())


NO_ASYNCIO = """
import asyncio
import pytest

@pytest.fixture(autouse=True)
def no_asyncio(monkeypatch):
    for name in {names!r}:
        monkeypatch.setattr(asyncio, name, lambda *_, **__: pytest.fail("a test waits"))
"""


@pytest.mark.parametrize("keyword", ["", "async "])
def test_application_answers_while_tests_replace_asyncio(project: Project, keyword: str) -> None:
    names = [name for name in asyncio.__all__ if callable(getattr(asyncio, name)) and name != "DefaultEventLoopPolicy"]
    project.write_suite(conftest=application_of_kind(keyword) + NO_ASYNCIO.format(names=names))
    project.run().assert_outcomes(passed=61)


def test_engine_is_imported_while_tests_replace_asyncio() -> None:
    source = """
import asyncio, threading
import pytest_fairness.core.event_loops
for name in asyncio.__all__:
    setattr(asyncio, name, None)
import pytest_fairness.engine.engine
from pytest_fairness.engine.event_loop import new_event_loop
new_event_loop(threading.Event()).close()
"""
    subprocess.run([sys.executable, "-c", source], check=True, timeout=60)


@pytest.mark.slow
def test_requests_are_repeated_while_tests_replace_asyncio(project: Project) -> None:
    project.write_suite(conftest=NO_ASYNCIO.format(names=["sleep", "gather", "wait_for"]))
    with serving(refuses=3, status=503) as server:
        project.run(f"--fairness-model={server.model}", "-m", "probe").assert_outcomes(passed=60)


@pytest.mark.parametrize("name", ["json.dumps", "json.loads", "pathlib.Path.exists"])
def test_answers_are_stored_while_tests_replace_functions(project: Project, name: str) -> None:
    fixture = f"""

@pytest.fixture(autouse=True)
def replaced(monkeypatch):
    monkeypatch.setattr({name!r}, lambda *_, **__: None)
"""
    project.write_suite(conftest=project_sources.application() + fixture)
    project.run().assert_outcomes(passed=61)
    assert project.row()["attempts"] == 120


def test_run_in_a_subfolder_of_the_rootdir_works(project: Project) -> None:
    project.pytester.makeini("[pytest]\n")
    below = project.path / "suites" / "hiring"
    below.mkdir(parents=True)
    (below / "conftest.py").write_text(project_sources.application(), encoding="utf-8")
    (below / "test_screening.py").write_text(project_sources.suite(), encoding="utf-8")
    result = project.run("suites/hiring")
    result.assert_outcomes(passed=61)
    assert project.store.exists()
    assert project.row()["suite"] == "hiring"
    assert project.row()["id"] == "suites/hiring/test_screening.py::test_women_and_men_alike"


def test_plugin_can_be_disabled(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTEST_ADDOPTS")  # it holds an option of the plugin's
    project.write(test_plain="def test_plain(): pass\n")
    result = project.bare_run("-p", "no:fairness")
    result.assert_outcomes(passed=1)


OTHER_PLUGIN = """
import pytest

@pytest.fixture
def model(): return "theirs"

@pytest.fixture
def judge(): return "theirs"

@pytest.fixture
def grader(): return "theirs"

@pytest.fixture
def baseline(): return "theirs"

@pytest.fixture
def measured(): return "theirs"

@pytest.fixture
def flips(): return "theirs"

@pytest.fixture
def model_name(): return "theirs"
"""

OTHER_TESTS = """
import pytest

@pytest.mark.probe
def test_bare(): pass

@pytest.mark.probe("hw0", speed=3)
def test_hardware(): pass

@pytest.mark.threshold(5)
def test_limit(): pass

@pytest.mark.threshold(seconds=5)
class TestLimits:
    def test_limit(self): pass

@pytest.mark.parametrize("name", ["model", "judge", "grader", "baseline", "measured", "flips", "model_name"])
def test_fixtures(request, name):
    assert request.getfixturevalue(name) == "theirs"

def test_closure(model, judge, grader, baseline, measured): pass
"""


def test_marks_and_fixtures_of_other_plugins_keep_working(project: Project) -> None:
    project.pytester.makeini("[pytest]\nmarkers =\n    probe: a probe of ours\n    threshold: a limit of ours\n")
    project.write(their_plugin=OTHER_PLUGIN, test_theirs=OTHER_TESTS)
    project.pytester.syspathinsert()
    result = project.bare_run("-p", "their_plugin", "--fairness-model=simulated:a", "--strict-markers")
    result.assert_outcomes(passed=12)
    assert not project.store.exists()


@pytest.mark.parametrize(
    ("fixture", "reason"),
    [
        ("measured", "the `measured` fixture is overridden by one that returns 0.9, and a threshold needs that of"),
        ("model", "the `model` fixture has function scope: answers are requested ahead of the tests"),
    ],
)
def test_fixture_that_a_threshold_cannot_take_is_explained(project: Project, fixture: str, reason: str) -> None:
    """Regression: an `AssertionError` without a word, and pytest's ScopeMismatch."""
    threshold = project_sources.threshold('assert measured.rate("hired") <= 1')
    theirs = f"import pytest\n\n@pytest.fixture\ndef {fixture}(): return 0.9\n"
    project.write_suite(threshold, conftest=project_sources.application() + theirs)
    result = project.run("-k", "threshold")
    result.assert_outcomes(errors=1)
    assert project.row()["message"].startswith(f"invalid: it could not be judged: {reason}")


@pytest.mark.parametrize("scope", ["session", "function"])
def test_fixture_called_measured_is_explained_to_thresholds_alone(project: Project, scope: str) -> None:
    """Regression: probe tests with one errored, and a threshold after another test had an `AssertionError`."""
    threshold = project_sources.threshold('assert measured.rate("hired") <= 1', name="test_rate")
    theirs = f"import pytest\n\n@pytest.fixture(scope={scope!r})\ndef measured(): return 0.9\n"
    suite = project_sources.suite(threshold, count=2).replace("(probe_item,", "(measured, probe_item,")
    project.write(
        conftest=project_sources.application() + theirs,
        test_hiring=f"def test_plain(measured): assert measured == 0.9\n\n{suite}",
    )
    project.run().assert_outcomes(passed=3, errors=1)
    assert "the `measured` fixture is overridden by one that returns 0.9" in project.row()["message"]


def test_baseline_of_the_project_is_any_value(project: Project) -> None:
    """Regression: with interim looks, its number was asked for the runs that it covers."""
    threshold = project_sources.threshold('assert measured.rate("hired") <= baseline').replace(
        "(measured", "(baseline, measured"
    )
    theirs = "import pytest\n\n@pytest.fixture\ndef baseline(): return 0.1\n"
    project.write_suite(threshold, conftest=project_sources.application() + theirs)
    project.run("--fairness-resolve")
    assert project.row()["verdict"] == "unfair"


def test_threshold_mark_on_a_class_is_explained(project: Project) -> None:
    test = "@pytest.mark.threshold(probe=test_hiring)\nclass TestAll:\n    def test_ratio(self, measured): pass\n"
    project.write_suite(test, count=6)
    result = project.run("-k", "test_ratio", "-p", "no:capture")
    assert "is on a class or a module: write it on each test function" in unwrapped(result)
    assert "INTERNALERROR" not in shown(result)


PORTAL = """
class Portal:
    def process_results(self, item, report):
        self.note(item, "report", report.outcome, report.longreprtext)

    def post_log(self, item, message, level, attachment):
        self.note(item, level, message, attachment["name"], attachment["data"].decode())

    def note(self, item, *texts):
        with Path(__file__).with_name("portal.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps([item.name, *texts]) + "\\n")


def pytest_configure(config):
    config._rp_enabled, config.py_test_service = True, Portal()
"""
"""Attributes that pytest-reportportal puts on the configuration."""


@in_one_process
def test_report_portal_gets_the_verdict_and_the_chart(project: Project) -> None:
    flaky = f"@pytest.mark.flaky_threshold(reason='new model', by='Ada', until='{project_sources.LATER}', max_flip=0.5)"
    source = project_sources.suite(
        project_sources.threshold('assert measured.rate("hired") >= 0.1', name="test_fair"),
        project_sources.threshold(f"assert {project_sources.RATIO} >= 0.8", name="test_flaky", marks=flaky),
    )
    application = project_sources.application({"woman": 0.7, "man": 0.95}, version="1")
    project.write(conftest=f"import json\n{application}\n{PORTAL}", test_hiring=source)
    project.run("-m", "threshold")
    lines = (project.path / "portal.jsonl").read_text(encoding="utf-8").splitlines()
    fair, skipped, flaky_log = map(json.loads, lines)
    assert fair[:2] == ["test_fair", "INFO"]
    assert ": fair. Rate of hired: " in fair[2]
    assert fair[3] == "fairness.svg"
    assert fair[4].startswith("<svg ")
    assert skipped[:3] == ["test_flaky", "report", "skipped"]
    assert "accepted as flaky until " in skipped[3]
    assert ": undecided. Ratio of hired" in flaky_log[2]


LOOPONFAIL = """
class WorkerFailSession:
    def pytest_collection(self, session):
        session.perform_collect()
        session.config.hook.pytest_collection_finish(session=session)
        return True

def pytest_addoption(pluginmanager):
    pluginmanager.register(WorkerFailSession())
"""
"""The session that xdist repeats for ``--looponfail``: it ends the collection twice."""


def test_session_repeated_on_changes_writes_no_report(project: Project) -> None:
    project.write_suite(conftest=project_sources.application() + LOOPONFAIL)
    result = project.bare_run()
    result.assert_outcomes(passed=61)
    assert "1 probe, 60 items, 120 attempts" in shown(result)
    assert not (project.path / "reports").exists()
    assert project.bare_run("--fairness-report=mine.html").ret == pytest.ExitCode.OK
    assert (project.path / "mine.html").exists()

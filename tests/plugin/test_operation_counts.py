"""Numbers of operations of the plugin in each test: counted, since time depends on the machine."""

from __future__ import annotations

import gc

import pytest

from pytest_fairness.core import garbage_collection
from pytest_fairness.plugin.hooks import common_hooks, measurement_hooks
from tests.helpers.fork_server import set_constants
from tests.helpers.project import N2, NO_XDIST, Mode, Project

CONFTEST = """
import gc
import pytest

COUNTS = {"lookups": 0, "fixtures": set(), "paused": []}

@pytest.fixture(scope="session")
def model():
    return lambda text: "Yes."

@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session):
    manager = session.config.pluginmanager.get_plugin("funcmanage")
    original = manager.getfixturedefs
    def counted(*arguments):
        COUNTS["lookups"] += 1
        return original(*arguments)
    manager.getfixturedefs = counted

def pytest_pycollect_makeitem():
    COUNTS["paused"].append(not gc.isenabled())

def pytest_runtest_setup(item):
    COUNTS["fixtures"] |= set(item.fixturenames)

def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"fixtures: {sorted(COUNTS['fixtures'])}")
    terminalreporter.write_line(f"paused: {any(COUNTS['paused'])}, then {not gc.isenabled()}")
    terminalreporter.write_line(f"threshold: {gc.get_threshold()[0]}")
    terminalreporter.write_line(f"lookups: {COUNTS['lookups']}")
"""
SUITE = """
import pytest
from pytest_fairness import ProbeItem, Prompt, YesNo

def cases():
    return [ProbeItem(f"case {{n}}", [Prompt(f"Is case {{n}} approved?")]) for n in range({items})]

@pytest.mark.probe(items=cases, grade={{"approved": YesNo()}})
def test_case(probe_item, model):
    probe_item.measure(model)

def test_other():
    pass
"""


def lookups(project: Project, items: int) -> int:
    """Return how often fixtures are looked up by name in a run of so many items."""
    project.write(conftest=CONFTEST, test_cases=SUITE.format(items=items))
    result = project.bare_run("-q", mode=NO_XDIST)
    result.assert_outcomes(passed=items + 1)
    return int(result.stdout.str().rpartition("lookups: ")[2].split()[0])


def test_fixtures_are_looked_up_once_for_all_items(project: Project) -> None:
    """Count the look-ups, of which each searches all levels of the collection: each test made ten."""
    assert lookups(project, 12) <= lookups(project, 4)


def test_fixtures_of_a_probe_take_no_request(project: Project) -> None:
    """Check the fixtures that each test uses: pytest makes a new `request` for each that takes it, and inspects it."""
    project.write(conftest=CONFTEST.replace("def model():", "def judge():"), test_cases=SUITE.format(items=2))
    result = project.bare_run("-q", "--fairness-model", "simulated:yes-no", mode=NO_XDIST)
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["fixtures: ['model', 'model_name', 'probe_item']"])


LOCATIONS = """
import pytest

LOOKUPS = []
original = pytest.Function.reportinfo

def counted(self):
    LOOKUPS.append(self)
    return original(self)

pytest.Function.reportinfo = counted

def pytest_runtest_logfinish(nodeid, location):
    LOOKUPS.append((nodeid, location))

def pytest_sessionfinish(session):
    finished = dict(entry for entry in LOOKUPS if isinstance(entry, tuple))
    print("\\nlookups of the probe:", sum("test_case" in getattr(entry, "name", "") for entry in LOOKUPS))
    for item in session.items:
        path, line, name = item.reportinfo()
        assert finished[item.nodeid] == (path.name, line, name)
"""
CLASS = SUITE.replace(
    "def test_other",
    """class TestGroup:
    @pytest.mark.probe(items=cases, grade={{"approved": YesNo()}})
    def test_case(self, probe_item, model):
        probe_item.measure(model)

def test_other""",
)


def test_location_is_looked_up_once_for_all_items(project: Project) -> None:
    """Check it against pytest's own, in a module and in a class: pytest looks it up for each test."""
    project.write(conftest=CONFTEST + LOCATIONS, test_cases=CLASS.format(items=5))
    result = project.bare_run("-q", "-s", mode=NO_XDIST)
    result.assert_outcomes(passed=11)
    result.stdout.fnmatch_lines(["lookups of the probe: 2"])


def test_listing_of_fixtures_leaves_the_garbage_collector_on(project: Project) -> None:
    last_hook = "\ndef pytest_unconfigure():\n    print('enabled:', gc.isenabled())\n"
    project.write(conftest=CONFTEST + last_hook, test_cases=SUITE.format(items=2))
    result = project.bare_run("--fixtures-per-test", mode=NO_XDIST)
    result.stdout.fnmatch_lines(["*fixtures used by test_case*", "enabled: True"])


@pytest.mark.parametrize("mode", [NO_XDIST, N2], ids=["no-xdist", "n2"])
def test_garbage_is_searched_as_often_as_before_after_the_run(
    project: Project, mode: Mode, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: a process that called pytest.main(), as an editor does, kept ten times its threshold."""
    for hooks in (measurement_hooks, common_hooks):
        set_constants(monkeypatch, hooks, MANY_TESTS=2)
    project.write(conftest=CONFTEST, test_cases=SUITE.format(items=2))
    before = gc.get_threshold()
    result = project.bare_run("-q", mode=mode)
    result.stdout.fnmatch_lines([f"threshold: {10 * before[0]}"])
    assert gc.get_threshold() == before


@pytest.mark.parametrize("broken", [False, True], ids=["collected", "broken"])
def test_garbage_is_not_searched_while_items_are_collected(project: Project, *, broken: bool) -> None:
    project.write(conftest=CONFTEST, test_cases=SUITE.format(items=2))
    if broken:
        project.write(test_zz="import missing_module")
    result = project.bare_run("-q", "-k", "test_other", mode=NO_XDIST)
    assert result.ret == (pytest.ExitCode.INTERRUPTED if broken else pytest.ExitCode.OK)
    result.stdout.fnmatch_lines(["paused: True, then False"])


THRESHOLD = """
@pytest.mark.threshold(probe=test_case)
def test_approved(measured):
    assert measured.rate("approved") >= 0.5
"""
SEARCHED = """
@pytest.hookimpl(tryfirst=True)
def pytest_terminal_summary(terminalreporter):
    searched = [one for one in gc.get_objects() if type(one).__name__ in ("Attempt", "GradedAttempt")]
    terminalreporter.write_line(f"searched: {len(searched)}")
"""


@pytest.mark.parametrize("many", [13, 12], ids=["few", "many"])
def test_very_many_attempts_are_left_out_of_searches_for_garbage(
    project: Project, monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    set_constants(monkeypatch, garbage_collection, MANY_ATTEMPTS=many)
    project.write(conftest=CONFTEST.partition("@pytest.hookimpl")[0] + SEARCHED)
    project.write(test_cases=SUITE.format(items=12) + THRESHOLD)
    result = project.bare_run("-q", "-k", "test_approved", mode=NO_XDIST)
    result.stdout.fnmatch_lines([f"searched: {0 if many == 12 else 24}"])
    assert gc.isenabled()

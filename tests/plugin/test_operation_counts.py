"""Numbers of operations of the plugin in each test: counted, since time depends on the machine."""

from __future__ import annotations

import pytest

from tests.helpers.project import NO_XDIST, Project

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


def test_listing_of_fixtures_leaves_the_garbage_collector_on(project: Project) -> None:
    last_hook = "\ndef pytest_unconfigure():\n    print('enabled:', gc.isenabled())\n"
    project.write(conftest=CONFTEST + last_hook, test_cases=SUITE.format(items=2))
    result = project.bare_run("--fixtures-per-test", mode=NO_XDIST)
    result.stdout.fnmatch_lines(["*fixtures used by test_case*", "enabled: True"])


@pytest.mark.parametrize("broken", [False, True], ids=["collected", "broken"])
def test_garbage_is_not_searched_while_items_are_collected(project: Project, *, broken: bool) -> None:
    project.write(conftest=CONFTEST, test_cases=SUITE.format(items=2))
    if broken:
        project.write(test_zz="import missing_module")
    result = project.bare_run("-q", "-k", "test_other", mode=NO_XDIST)
    assert result.ret == (pytest.ExitCode.INTERRUPTED if broken else pytest.ExitCode.OK)
    result.stdout.fnmatch_lines(["paused: True, then False"])

"""Numbers of operations of the plugin in each test: counted, since time depends on the machine."""

from __future__ import annotations

from tests.helpers.project import NO_XDIST, Project

CONFTEST = """
import pytest

COUNTS = {"lookups": 0}

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

def pytest_terminal_summary(terminalreporter):
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
"""


def lookups(project: Project, items: int) -> int:
    """Return how often fixtures are looked up by name in a run of so many items."""
    project.write(conftest=CONFTEST, test_cases=SUITE.format(items=items))
    result = project.bare_run("-q", mode=NO_XDIST)
    result.assert_outcomes(passed=items)
    return int(result.stdout.str().rpartition("lookups: ")[2].split()[0])


def test_fixtures_are_looked_up_once_for_all_items(project: Project) -> None:
    """Count the look-ups, of which each searches all levels of the collection: each test made ten."""
    assert lookups(project, 12) <= lookups(project, 4)

"""The way of an estimate: the modules that it passes from its threshold to the terminal and the report."""

from __future__ import annotations

from pathlib import Path

import pytest

import pytest_fairness
from tests.helpers import project_sources
from tests.helpers.project import NO_XDIST, Project

CONFTEST = """
import inspect, sys
import pytest

PACKAGE = {package!r}
FORMS = {{
    "LinearEstimate", "Estimate", "Comparison", "Condition", "Dependence", "Evaluation", "Judgment", "EstimateResult",
    "MetricResult", "ThresholdResult", "RunResults", "ThresholdView", "View", "ThresholdSection",
}}
modules = set()

@pytest.fixture(scope="session")
def model():
    return lambda text: "Yes." if int(text.split()[1]) % 3 else "No."

def is_form(value, depth=0):
    kind = type(value)
    if depth < 2 and kind in (list, tuple, dict):
        return any(is_form(part, depth + 1) for part in list(value.values() if kind is dict else value)[:3])
    return kind.__name__ in FORMS

def profile(frame, event, returned):
    code = frame.f_code
    is_ours = code.co_filename.startswith(PACKAGE) and code.co_filename.endswith(".py")
    if not is_ours or not code.co_flags & inspect.CO_OPTIMIZED or event not in ("call", "return"):
        return
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    values = [returned] if event == "return" else [frame.f_locals.get(name) for name in names]
    if any(map(is_form, values)):
        modules.add(code.co_filename[len(PACKAGE) + 1 :])

def pytest_runtest_setup(item):
    if item.get_closest_marker("threshold"):
        sys.setprofile(profile)

def pytest_unconfigure(config):
    sys.setprofile(None)
    (config.rootpath / "modules.txt").write_text("\\n".join(sorted(modules)))
"""


@pytest.mark.slow
def test_estimate_passes_at_most_50_modules(project: Project) -> None:
    """Count the modules with a function that is given an estimate, or what is made of it, or returns one."""
    project.write(
        conftest=CONFTEST.format(package=str(Path(pytest_fairness.__file__).parent)),
        test_cases=project_sources.ONE_THRESHOLD,
    )
    project.bare_run("--fairness-report=report.html", mode=NO_XDIST).assert_outcomes(passed=41)
    modules = (project.path / "modules.txt").read_text(encoding="utf-8").split()
    walked = {"plugin/judgment/thresholds.py", "plugin/output/terminal_summary.py", "report/html/threshold_section.py"}
    assert walked <= set(modules)
    assert len(modules) <= 50, modules

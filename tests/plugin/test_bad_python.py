"""Mistakes in Python and in options: one clear line each, no frame of this package, and few lines for many items."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from pytest_fairness.plugin.output.outcomes import INVALID_CODE
from pytest_fairness.plugin.samples import probe_item
from tests.helpers import bad_inputs
from tests.helpers.project import Project, failures, first_in_every_mode, shown

HEAD = """\
import decimal, math, statistics
import numpy
import pytest
from pytest_fairness import *

class Size:
    extremes = 1, 5

    def grade(self, prompt, answer):
        return Grade(1 + len(prompt.text) % 5)

def items():
    for n in range(COUNT):
        prompts = [Prompt(f"Question {n}: may {who} come in?", {"gender": who[0]}) for who in ("fay", "max")]
        yield ProbeItem(f"q{n}", prompts)
"""
PROBE = """
@pytest.mark.probe(items=items, grade={"ok": YesNo(), "size": Size()})
def test_probe(probe_item, model):
    probe_item.measure(model)
"""
THRESHOLD = """
@pytest.mark.threshold(probe=test_probe)
def test_threshold(measured):
    assert measured.difference("ok", by="gender", of="f", to="m") <= 0.2
"""
MODEL = """
import pytest

@pytest.fixture(scope="session")
def model():
    return lambda text: "yes" if len(text) % 2 else "no"
"""
FRAME = re.compile(r"pytest_fairness/\w+/\S*\.py")
"""The place of a frame of this package, as tracebacks show it."""


def find_fault(case: str, lines: list[str], words: str, most: int) -> list[str]:
    """Return what is wrong with the lines that tell a mistake, if anything is."""
    text = "\n".join(lines)
    faults = {
        "words": words not in " ".join(text.split()),
        "frames": bool(FRAME.search(text)),
        "length": len(lines) > most,
        "chain": "During handling" in text,
    }
    return [f"{case}: {fault}: {words}\n{text}" for fault, is_there in faults.items() if is_there]


@pytest.mark.slow
def test_wrong_assertion_is_one_line_at_the_users_line(project: Project) -> None:
    source = HEAD.replace("COUNT", "40") + PROBE
    for number, assertion in enumerate(bad_inputs.ASSERTIONS):
        body = f"@pytest.mark.threshold(probe=test_probe)\ndef test_{number}(measured):\n    assert {assertion}\n"
        source += f"\n{body}"
    project.write(conftest=MODEL, test_bad=source)
    result = project.run("-k", "not test_probe")
    assert result.ret == INVALID_CODE
    assert set(project.verdicts().values()) == {"invalid"}
    sections = failures(result)
    faults: list[str] = []
    for number, (assertion, words) in enumerate(bad_inputs.ASSERTIONS.items()):
        faults += find_fault(assertion, sections[f"test_{number}"], words, most=10)
    assert not faults, "\n".join(faults)


@pytest.mark.slow
def test_wrong_expression_of_a_module_is_one_line(project: Project) -> None:
    table = "ROWS = [{'item': n, 'g': 'ab'[n % 2], 'score': 1} for n in range(4)]\n"
    names = "from pytest_fairness import *\nfrom pytest_fairness.graders import *\n"
    cases = [(f"{names}{table}{code}\n", code, words) for code, words in bad_inputs.EXPRESSIONS.items()]
    cases += [(f"from pytest_fairness import {name}\n", name, words) for name, words in bad_inputs.IMPORTS.items()]
    project.write(**{f"test_{number}": source for number, (source, _, _) in enumerate(cases)})
    result = project.bare_run()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    sections = failures(result)
    faults: list[str] = []
    for number, (_, case, words) in enumerate(cases):
        faults += find_fault(case, sections[f"ERROR collecting test_{number}.py"], words, most=10)
    assert not faults, "\n".join(faults)


def test_wrong_option_is_one_line(project: Project) -> None:
    project.write(conftest=MODEL, test_bad=HEAD.replace("COUNT", "2") + PROBE + THRESHOLD)
    faults: list[str] = []
    for options, words in bad_inputs.OPTIONS.items():
        faults += usage_faults(project, options, words, options.split())
    for line, words in bad_inputs.INI.items():
        (project.path / "pytest.ini").write_text(f"[pytest]\n{line}\n", encoding="utf-8")
        faults += usage_faults(project, line, words, [])
    (project.path / "pytest.ini").unlink()
    project.pytester.makepyprojecttoml('[tool.pytest_fairness.models]\nprod = "simulated:demo"\n')
    words = "pyproject.toml:1: [tool.pytest_fairness] is not read: write [tool.pytest-fairness]"
    faults += usage_faults(project, "underscore", words, ["--fairness-model=prod"])
    assert not faults, "\n".join(faults)
    assert not project.store.exists()


def usage_faults(project: Project, case: str, words: str, args: list[str]) -> list[str]:
    result = project.bare_run(*args)
    if result.ret != pytest.ExitCode.USAGE_ERROR:
        return [f"{case}: exit {result.ret}: {words}\n{shown(result)}"]
    return find_fault(case, [line for line in result.errlines if line.strip()], words, most=1)


@pytest.mark.parametrize(
    "option", ["--fairness-sample=1e1", "--fairness-max-minutes=$5", "--fairness-max-requests=60,000"]
)
def test_numbers_are_read_as_people_write_them(project: Project, option: str) -> None:
    project.write(conftest=MODEL, test_bad=HEAD.replace("COUNT", "12") + PROBE)
    items = 10 if "sample" in option else 12
    project.bare_run(option).assert_outcomes(passed=items)


@pytest.mark.slow
def test_wrong_mark_is_one_line(project: Project) -> None:
    cases: dict[str, tuple[str, str, str]] = {}
    for mark, words in bad_inputs.PROBE_MARKS.items():
        name = f"test_p{len(cases)}"
        probe = f"@pytest.mark.probe({mark})\ndef {name}(probe_item, model):\n    probe_item.measure(model)\n"
        cases[name] = mark, words, probe
    for mark, words in bad_inputs.THRESHOLD_MARKS.items():
        name, probe = f"test_t{len(cases)}", f"test_p{len(cases)}"
        threshold = THRESHOLD.replace("test_threshold", name).replace(
            "@pytest.mark.threshold(probe=test_probe)", mark.format(probe=probe)
        )
        cases[name] = mark, words.format(), PROBE.replace("test_probe", probe) + threshold
    head = HEAD.replace("COUNT", "2")
    project.write(conftest=MODEL, **{f"{name}_file": head + source for name, (_, _, source) in cases.items()})
    result = project.bare_run()
    assert result.ret in (1, INVALID_CODE)
    faults: list[str] = []
    sections = failures(result)
    for name, (mark, words, _) in cases.items():
        lines = sections.get(f"{name}[items]") or sections.get(name) or []
        faults += find_fault(mark, lines, words, most=1)
    assert not faults, "\n".join(faults)


def write_cause(project: Project, case: str, count: int) -> str:
    """Write a project with one cause for all of its items, and return its words."""
    fixtures, replacement, words = bad_inputs.FIXTURES[case]
    probe = PROBE
    if replacement == "async def":
        probe = probe.replace("def", replacement)
    elif replacement.startswith("'"):
        probe = probe.replace("YesNo()", replacement)
    elif replacement == "modle":
        probe = probe.replace("probe_item, model)", "probe_item, modle)").replace("(model)", "(modle)")
    elif replacement:
        probe = probe.replace("measure(model)", replacement)
    conftest = fixtures if "def model" in fixtures else MODEL + fixtures
    project.write(conftest=f"import pytest\n{conftest}", test_bad=HEAD.replace("COUNT", str(count)) + probe + THRESHOLD)
    return words


@pytest.mark.slow
@first_in_every_mode("case", bad_inputs.FIXTURES)
def test_one_cause_is_shown_once_for_all_items(project: Project, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = write_cause(project, case, count=100)
    monkeypatch.setenv("COLUMNS", "80")
    result = project.run()
    assert result.ret in (1, INVALID_CODE)
    faults = find_fault(case, [line for line in result.outlines if line.strip()], words, most=50)
    assert not faults, "\n".join(faults)
    outcomes = result.parseoutcomes()
    failed = outcomes.get("failed", 0) + outcomes.get("errors", 0)
    assert failed <= 2, shown(result)
    if case not in ("grader-missing",):  # found at collection
        assert failed + outcomes.get("skipped", 0) + outcomes.get("passed", 0) == 101
    if bad_inputs.FIXTURES[case][0]:
        assert project.row()["verdict"] == "invalid"


def test_a_bug_of_this_package_keeps_its_frames(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe_item, "SampleCounts", None)
    project.write(conftest=MODEL, test_bad=HEAD.replace("COUNT", "1") + PROBE)
    result = project.bare_run()
    assert FRAME.search(shown(result))
    result.stdout.fnmatch_lines(["E *'NoneType' object has no attribute 'of'"])


def test_table_of_bad_inputs_is_long() -> None:
    tables: list[Mapping[str, object]] = [
        bad_inputs.ASSERTIONS, bad_inputs.EXPRESSIONS, bad_inputs.IMPORTS, bad_inputs.OPTIONS, bad_inputs.INI,
        bad_inputs.FIXTURES, bad_inputs.PROBE_MARKS, bad_inputs.THRESHOLD_MARKS,
    ]  # fmt: skip
    assert sum(map(len, tables)) >= 250

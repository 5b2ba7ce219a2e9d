"""Failures to measure: failed attempts, empty answers, refusals and missing groups never help."""

from __future__ import annotations

import pytest

from pytest_fairness.plugin.output.outcomes import INVALID_CODE
from pytest_fairness.plugin.session.failure_causes import MOST_ALIKE
from tests.helpers import project_sources
from tests.helpers.project import Project, every_mode, failures, in_one_process, shown

GROUPS = project_sources.threshold(f"assert 0.8 <= {project_sources.RATIO} <= 1.25", name="test_alike")
RATE = project_sources.threshold('assert measured.rate("hired") >= 0.5', name="test_rate")
FEW = project_sources.threshold('assert measured.rate("hired") <= 0.6', name="test_few")


def write(project: Project, body: str, *tests: str, rates: dict[str, float] | None = None) -> None:
    project.write_suite(
        *(tests or (GROUPS, RATE)), conftest=project_sources.application(rates or project_sources.EVEN, body=body)
    )


@every_mode
def test_application_that_always_raises_is_invalid(project: Project) -> None:
    write(project, "    raise OSError('no line to the model')")
    result = project.run()
    assert result.ret == INVALID_CODE
    outcomes, messages = result.parseoutcomes(), failures(result)
    assert outcomes["failed"] + outcomes["skipped"] == 62
    assert outcomes["failed"] == len(messages) <= 2 + MOST_ALIKE * (2 if project.mode.distributed else 1)
    for name, lines in messages.items():
        if name.startswith("test_hiring["):
            assert len(lines) == 1
            assert lines[0].startswith("2 of 2 attempts could not be made: ")
            assert lines[0].endswith("OSError: no line to the model")
    assert set(project.verdicts().values()) == {"invalid"}
    assert set(project.calls().values()) == {1}


@in_one_process
def test_application_that_raises_for_one_group_is_invalid(project: Project) -> None:
    write(project, "    if 'woman' in text:\n        raise OSError('no line to the model')")
    result = project.run()
    assert result.ret == INVALID_CODE
    assert project.verdicts() == {"test_alike": "invalid", "test_rate": "invalid"}
    assert project.rows()[0]["ungraded"] == {"woman": 60, "man": 0}


@pytest.mark.parametrize(
    ("answer", "share", "who"),
    [
        ("''", 1.0, "woman"),
        ("'   '", 0.2, "woman"),
        ('"I am sorry, but I cannot help with that."', 1.0, "everybody"),
        ("'perhaps, perhaps not'", 0.2, "everybody"),
        ("'yes and no'", 0.2, "woman"),
    ],
    ids=["empty", "blank", "refusal", "unreadable", "both"],
)
def test_ungraded_answers_make_nothing_fair(project: Project, answer: str, share: float, who: str) -> None:
    here = "'woman' in text and" if who == "woman" else ""
    write(project, f"    if {here} share('again' + text) < {share}:\n        return {answer}", GROUPS, RATE, FEW)
    result = project.run("-m", "threshold")
    assert result.ret in (1, INVALID_CODE)  # a bound may be missed, however the others are graded
    verdicts = project.verdicts()
    if share < 0.5 and who == "woman":
        # So few that the rate over everybody is fair however they are filled in.
        del verdicts["test_rate"]
    assert "fair" not in verdicts.values()


@pytest.mark.parametrize(("conversion", "verdict"), [("", "invalid"), (", extremes=(0, 10)", "fair")])
def test_ungraded_numbers_need_ends(project: Project, conversion: str, verdict: str) -> None:
    """Two answers without a number could have had any: nobody says how far that moves the mean."""
    silent = "'woman of profile 1 ' in text or 'woman of profile 2 ' in text"
    body = f"    return 'I cannot say.' if {silent} else f'{{7 + round(share(text))}} of 10'"
    gap = 'assert abs(measured.difference("hired", by="gender", of="woman", to="man")) <= 1.5'
    probe = project_sources.PROBE.replace("YesNo()", rf"Regex(r'(\d+) of 10', convert=int{conversion})")
    source = project_sources.suite(project_sources.threshold(gap), probe=probe)
    source = source.replace("import ProbeItem, Prompt, YesNo", "import ProbeItem, Prompt")
    source = f"from pytest_fairness.graders import Regex\n{source}"
    project.write(conftest=project_sources.application(body=body), test_hiring=source)
    project.run("-m", "threshold")
    row = project.row()
    assert 0 < row["ungraded"]["woman"] < 5
    assert row["verdict"] == verdict
    assert ("nobody says which values they could have had" in str(row["message"])) == (verdict == "invalid")


def test_ungraded_answer_is_not_a_failed_attempt(project: Project) -> None:
    write(project, "    return 'I cannot help with that.'")
    project.run("-m", "probe").assert_outcomes(passed=60, deselected=2)
    assert project.results()["run"]["ungraded"] == 120


def test_few_evenly_spread_refusals_allow_a_verdict(project: Project) -> None:
    write(project, "    if share('again' + text) < 0.03:\n        return 'I cannot help with that.'", RATE)
    project.run("-m", "threshold")
    row = project.row()
    assert row["verdict"] == "fair"
    assert 0 < row["ungraded"]["all"] < 8
    assert project.results()["run"]["ungraded"] == row["ungraded"]["all"]


def test_group_without_prompts_is_invalid(project: Project) -> None:
    test = project_sources.threshold('assert measured.ratio("hired", by="gender", of="nobody", to="man") >= 0.1')
    project.write_suite(test)
    result = project.run("-m", "threshold")
    assert result.ret == INVALID_CODE
    assert project.verdicts() == {"test_threshold": "invalid"}


def test_family_of_one_group_is_invalid(project: Project) -> None:
    test = project_sources.threshold('assert measured.ratios("hired", by="gender") >= 0.1')
    project.write_suite(test, groups=("man",))
    result = project.run("-m", "threshold")
    assert result.ret == INVALID_CODE
    assert project.verdicts() == {"test_threshold": "invalid"}


def test_failed_attempts_are_repeated_in_the_next_run(project: Project) -> None:
    broken = "    if share('broken' + text) < 0.3:\n        raise OSError('no line')"
    project.write_suite(conftest=project_sources.application(version="1", body=broken))
    result = project.run()
    assert result.ret == INVALID_CODE
    failed = result.parseoutcomes()["failed"]
    project.forget_calls()
    project.write(conftest=project_sources.application(version="1"))
    result = project.run()
    result.assert_outcomes(passed=61)
    assert failed - 1 <= sum(project.calls().values()) < 60
    assert project.row()["verdict"] == "fair"


@pytest.mark.parametrize("returned", ["None", "7", "b'yes'", "['yes']"])
def test_application_that_returns_no_text_is_reported(project: Project, returned: str) -> None:
    write(project, f"    return {returned}")
    result = project.run("-k", "person-0001 or alike")
    result.assert_outcomes(failed=2, deselected=60)
    assert "it must return a text or an Answer" in shown(result)


@pytest.mark.parametrize(
    "ending", ["import sys\n    sys.exit()", "import pytest\n    pytest.skip('no')", "raise KeyError('x')"]
)
def test_application_that_exits_fails_its_test(project: Project, ending: str) -> None:
    write(project, f"    {ending}")
    result = project.run("-k", "person-0001 or alike")
    result.assert_outcomes(failed=2, deselected=60)
    assert project.verdicts() == {"test_alike": "invalid"}


@in_one_process
def test_grader_that_raises_is_invalid(project: Project) -> None:
    grader = """
class Broken:
    def grade(self, prompt, answer):
        raise ZeroDivisionError("my grader")
"""
    probe = grader + project_sources.PROBE.replace("YesNo()", "Broken()")
    project.write_suite(probe=probe, count=6)
    result = project.run()
    assert result.ret == INVALID_CODE
    result.assert_outcomes(failed=1 + MOST_ALIKE, skipped=3)
    text, _, _ = shown(result).partition("short test summary info")  # where CI cuts no line
    assert text.count("my grader") == 2 + MOST_ALIKE  # the threshold is in the table as well
    assert project.verdicts() == {"test_women_and_men_alike": "invalid"}


def test_error_of_many_lines_is_shown_in_one(project: Project) -> None:
    write(project, "    raise OSError('no line\\nto the model\\n' * 40)")
    result = project.run("-k", "person-0001")
    (line,) = failures(result)["test_hiring[person-0001]"]
    assert "no line to the model no line" in line


@pytest.mark.parametrize("value", ["nan", "inf"])
def test_number_that_is_none_is_named_as_the_cause(project: Project, value: str) -> None:
    """Regression: the message said that all answers were ungraded, and not why."""
    grader = f"""
from pytest_fairness import Grade

class Measured:
    extremes = (0.0, 1.0)

    def grade(self, prompt, answer):
        return Grade(float("{value}"))
"""
    threshold = project_sources.threshold(f"assert {project_sources.RATIO} >= 0.8")
    two_grades = project_sources.PROBE.replace("YesNo()", "Measured(), 'again': Measured()")  # of the same 12 attempts
    project.write_suite(threshold, probe=grader + two_grades, count=6)
    project.run()
    cause = f"not read by the grader of hired: the grader gave {value} as the value"
    assert f"; 12 of 12 answers {cause}" in project.row()["message"]

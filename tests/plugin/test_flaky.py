"""Thresholds that may be undecided for a while: reported in their own words, never hiding what is unfair."""

from __future__ import annotations

import re
import time
import xml.etree.ElementTree as ET
from datetime import UTC, datetime, timedelta

import pytest

from pytest_fairness.plugin.output.outcomes import INVALID_CODE, UNDECIDED_CODE
from tests.helpers import project_sources
from tests.helpers.chat_server import serving
from tests.helpers.project import Project, every_mode, failures, in_one_process, shown, unwrapped

LATER = project_sources.LATER
EARLIER = "2020-12-31"

OPEN = f"assert {project_sources.RATIO} >= 0.8"
BY_FAR = f"assert {project_sources.RATIO} >= 0.1"
SLICE = 'assert measured.where(gender="nobody").rate("hired") >= 0.1'


def flaky(arguments: str, body: str = OPEN, *, marks: str = "") -> str:
    return project_sources.threshold(body, marks=f"{marks}\n@pytest.mark.flaky_threshold({arguments})".strip())


def write(project: Project, *tests: str) -> None:
    project.write_suite(*tests, conftest=project_sources.application(RATES))


RATES = {"woman": 0.7, "man": 0.9}
GOOD = f"reason='new model', by='Ada', until='{LATER}', max_flip=0.5"


@every_mode
def test_undecided_flaky_threshold_does_not_fail_the_run(project: Project) -> None:
    write(project, flaky(GOOD))
    result = project.run("--junitxml=junit.xml", "-v" if project.mode.distributed else "-q")
    assert result.ret == 0
    assert result.parseoutcomes() == {"passed": 60, "accepted": 1}
    assert project.row()["verdict"] == "undecided"
    assert project.row()["outcome"] == "accepted"
    (skipped,) = ET.parse(project.path / "junit.xml").iter("skipped")  # noqa: S314 - our own
    assert skipped.attrib["message"].startswith("accepted as flaky until ")
    assert "undecided (accepted)" in shown(result)


def test_flaky_mark_is_one_of_the_accepted_verdicts(project: Project) -> None:
    write(project, flaky(GOOD))
    assert "accepted as flaky until " in shown(project.run("-m", "threshold"))
    (entry,) = project.results()["acceptances"]
    assert (entry["state"], entry["by"], entry["reason"], entry["flaky"]) == ("accepted", "Ada", "new model", True)
    result = project.run("-m", "threshold", "--fairness-accepted=fail")
    assert result.ret == UNDECIDED_CODE, "the pipeline of a final release accepts nothing"


def test_letter_and_word_of_an_accepted_test_are_shown(project: Project) -> None:
    write(project, flaky(GOOD))
    assert any(line.startswith("test_hiring.py a") for line in project.run("-k", "threshold").outlines)
    project.run("-k", "threshold", "-v").stdout.fnmatch_lines(["test_hiring.py::test_threshold ACCEPTED*"])


@in_one_process
def test_flaky_mark_does_not_hide_unfair_or_invalid(project: Project) -> None:
    unfair = flaky(GOOD, f"assert {project_sources.RATIO} >= 1.3").replace("test_threshold", "test_unfair")
    invalid = flaky(GOOD, SLICE).replace("test_threshold", "test_invalid")
    nothing = flaky(GOOD, "pass").replace("test_threshold", "test_nothing")
    write(project, unfair, invalid, nothing)
    result = project.run("-m", "threshold")
    assert result.ret == 1
    result.assert_outcomes(failed=3)
    assert project.verdicts() == {"test_unfair": "unfair", "test_invalid": "invalid", "test_nothing": "invalid"}


def test_flaky_mark_does_not_excuse_what_was_not_asked(project: Project) -> None:
    body = '    if "profile 59 " in text:\n        raise FatalError("out of credit")'
    ends = f"from pytest_fairness.core.errors import FatalError\n{project_sources.application(RATES, body=body)}"
    project.write_suite(flaky(GOOD), conftest=ends)
    result = project.run("-m", "threshold")
    assert result.ret == INVALID_CODE
    row = project.row()
    assert row["verdict"] in ("undecided", "invalid")  # by how many calls waited behind the one that failed
    assert row["outcome"] == "failed"
    assert re.search(r"out of credit \(\d+ attempts not measured\)", row["message"])


def test_fair_flaky_threshold_passes(project: Project) -> None:
    write(project, flaky(GOOD, BY_FAR))
    project.run("-m", "threshold").assert_outcomes(passed=1, deselected=60)
    assert project.row()["outcome"] == "passed"


@in_one_process
def test_expired_flaky_mark_fails_the_run(project: Project) -> None:
    write(project, flaky(f"reason='old model', by='Ada', until='{EARLIER}', max_flip=0.5"))
    result = project.run("-m", "threshold")
    assert result.ret == UNDECIDED_CODE
    assert project.row()["verdict"] == "undecided"
    assert project.row()["outcome"] == "failed"
    assert f"its flaky mark ended on {EARLIER}" in shown(result)
    (entry,) = project.results()["acceptances"]
    assert (entry["state"], entry["by"], entry["reason"]) == ("expired", "Ada", "old model"), "in the report too"


@pytest.mark.slow
@pytest.mark.parametrize("scope", ["function", "session"])
def test_stopped_time_neither_stops_a_run_nor_revives_a_mark(project: Project, scope: str) -> None:
    stopped = f"""
import pytest
from freezegun import freeze_time

@pytest.fixture(autouse=True, scope="{scope}")
def stopped_time():
    with freeze_time("2020-01-01"):
        yield
"""
    mark = flaky(
        f"reason='old model', by='Ada', until='{EARLIER}', max_flip=0.5", f"assert {project_sources.RATIO} >= 0.99"
    )
    project.write_suite(mark, conftest=stopped, count=6)
    with serving() as server:
        result = project.separate_run(f"--fairness-model={server.model}")
    assert result.ret == UNDECIDED_CODE
    assert f"its flaky mark ended on {EARLIER}" in shown(result)
    assert project.results()["run"]["started"] > "2021"


def test_flaky_mark_holds_on_its_last_day(project: Project) -> None:
    day = datetime.now(UTC).date()
    write(project, flaky(f"reason='x', by='Ada', until='{day}', max_flip=0.5"))
    result = project.run("-m", "threshold")
    assert result.ret == 0 or datetime.now(UTC).date() > day


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the time zone of this system is no variable")
def test_flaky_mark_ends_at_the_same_moment_in_all_time_zones(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = []
    for zone, days in (("XXX-14", 0), ("XXX+12", 1)):  # at any hour one of them has another day than UTC
        day = datetime.now(UTC).date() - timedelta(days)
        write(project, flaky(f"reason='x', by='Ada', until='{day}', max_flip=0.5"))
        with monkeypatch.context() as patch:
            patch.setenv("TZ", zone)
            time.tzset()
            results.append(project.run("-m", "threshold").ret)
        time.tzset()
    assert results == [0, UNDECIDED_CODE]


def test_until_may_be_a_date(project: Project) -> None:
    write(
        project,
        "from datetime import date",
        flaky(f"reason='x', by='Ada', until=date.fromisoformat('{LATER}'), max_flip=0.5"),
    )
    assert project.run("-m", "threshold").ret == 0


@pytest.mark.parametrize(("days", "code"), [(366, 0), (368, INVALID_CODE)])
def test_until_is_at_most_a_year_ahead(project: Project, days: int, code: int) -> None:
    until = datetime.now(UTC).date() + timedelta(days=days)
    write(project, flaky(f"reason='x', by='Ada', until='{until}', max_flip=0.5"))
    assert project.run("-m", "threshold").ret == code


def test_flaky_threshold_that_flips_too_often_fails_the_run(project: Project) -> None:
    write(project, flaky(f"reason='x', by='Ada', until='{LATER}', max_flip=0.08"))
    result = project.run("-m", "threshold")
    assert result.ret == UNDECIDED_CODE
    assert project.row()["flip_probability"] > 0.08
    assert "over the 8% of its flaky mark" in shown(result)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (f"until='{LATER}'", "needs `reason=`"),
        ("reason='x'", "needs `by=`"),
        ("reason='x', by='Ada'", "needs `until=`"),
        (f"reason='x', by=' ', until='{LATER}'", "by is ' ': name who"),
        ("", "needs `reason=`"),
        (f"reason=' ', by='Ada', until='{LATER}'", "reason is ' ': say why"),
        ("reason='x', by='Ada', until='soon'", "until is 'soon'"),
        ("reason='x', by='Ada', until=7", "until is 7"),
        ("reason='x', by='Ada', until='2999-12-31'", "until is '2999-12-31': it must be at most a year ahead"),
        (f"reason='x', by='Ada', until='{LATER}', max_flip=0.9", "max_flip is 0.9"),
        (f"reason='x', by='Ada', until='{LATER}', max_flip=0.01", "max_flip is 0.01"),
        (f"reason='x', by='Ada', until='{LATER}', max_flip='often'", "max_flip"),
        (f"reason='x', by='Ada', untill='{LATER}'", "has no argument 'untill'; did you mean 'until'?"),
        (f"'x', until='{LATER}'", "keywords only"),
    ],
)
def test_invalid_flaky_mark_is_reported(project: Project, arguments: str, words: str) -> None:
    write(project, flaky(arguments))
    result = project.run("-m", "threshold")
    assert result.ret == INVALID_CODE
    assert words in shown(result)
    assert "INTERNALERROR" not in shown(result)
    assert "pytest_fairness/" not in shown(result)
    assert project.verdicts() == {"test_threshold": "invalid"}


def test_invalid_flaky_mark_has_one_result_in_any_order(project: Project) -> None:
    """Regression: its `sample` was that of the threshold before it, if one of the same probe was selected."""
    write(project, project_sources.threshold(BY_FAR, name="test_first"), flaky("reason='x', by='Ada', until='soon'"))
    rows = []
    for selection in ("first or threshold", "test_threshold"):
        project.run("-m", "threshold", "-k", selection)
        rows += [row for row in project.rows() if row["verdict"] == "invalid"]
    assert rows[0] == rows[1]


def test_invalid_flaky_mark_fails_a_fair_threshold_too(project: Project) -> None:
    write(project, flaky("reason='x', by='Ada', until='soon'", BY_FAR))
    result = project.run("-m", "threshold")
    assert result.ret == INVALID_CODE
    assert any("until is 'soon'" in line for line in failures(result)["test_threshold"])


@in_one_process
@pytest.mark.parametrize("strict", [False, True])
def test_flaky_mark_combines_with_xfail(project: Project, strict: bool) -> None:
    write(project, flaky(GOOD, marks=f"@pytest.mark.xfail(strict={strict}, reason='known')"))
    result = project.run("-m", "threshold")
    outcomes = result.parseoutcomes()
    outcomes.pop("deselected", None)
    # It neither failed nor passed: whatever pytest calls it, the build is as with xfail alone.
    assert len(outcomes) == 1
    assert project.row()["verdict"] == "undecided"
    assert "INTERNALERROR" not in shown(result)
    assert result.ret == 0


def test_flaky_mark_on_a_plain_test_changes_nothing(project: Project) -> None:
    plain = f"@pytest.mark.flaky_threshold({GOOD})\ndef test_plain():\n    assert False\n"
    write(project, plain)
    result = project.run("-k", "test_plain")
    result.assert_outcomes(failed=1, deselected=60)


def test_flaky_mark_of_a_module_or_class_is_not_ignored(project: Project) -> None:
    module = f"pytestmark = pytest.mark.flaky_threshold({GOOD})\n"
    write(project, module, project_sources.threshold(OPEN))
    result = project.run("-m", "threshold")
    # Either it counts or it is refused; silently ignored it would mislead.
    assert result.parseoutcomes().get("accepted") == 1 or "flaky_threshold" in shown(result)


@pytest.mark.parametrize("until", [EARLIER, LATER], ids=["ended", "open"])
def test_control_characters_of_a_reason_do_not_reach_the_terminal(project: Project, until: str) -> None:
    """Regression: a reason with an escape sequence cleared the screen, in the message and in the short summary."""
    reason = r"new \x1b[2J\x1b[31m model\u202e"
    write(project, flaky(f'reason="{reason}", by="Ada", until="{until}", max_flip=0.08'))
    result = project.run("-rA")
    assert "flaky mark" in unwrapped(result)
    assert not {"\x1b", "\u202e"} & set(shown(result))

"""Graders over a whole item that ask a model: the same manners as the attempts of a probe have."""

from __future__ import annotations

import os
import re

import pytest

from pytest_fairness.plugin.output.outcomes import INVALID_CODE
from tests.helpers import project_sources
from tests.helpers.project import (
    N2,
    NO_XDIST,
    Project,
    every_mode,
    failures,
    in_one_process,
    shown,
    with_workers,
)
from tests.plugin.test_interrupts import asked_twice, start, wait_for

GRADER = """
from pytest_fairness import Grade, ModelQuery, YesNo

class Oracle:
    extremes = (False, True)

    def __init__(self, about, model=None):
        self.about, self.model = about, model

    def grade_item(self, item, attempts):
        answers = " and ".join(f"a {attempt.prompt.groups['gender']} {attempt['hired']}" for attempt in attempts)
        question = f"{self.about} of {item.id}, {answers}?"
        for round in range(2):
            (reply,) = yield [ModelQuery(Prompt(question), self.model)]
            if reply.answer is None:
                return [Grade.none("error", reply.error)] * len(attempts)
            grade = YesNo().grade(Prompt(question), reply.answer)
            if grade.ungraded is None:
                break
            question = f"Yes or no: {question}"
        return [grade] * len(attempts)

"""

PROBE = project_sources.PROBE.replace("YesNo()}", "YesNo(), 'alike': Oracle('Alike'), 'fits': Oracle('Fits')}")
RATE = project_sources.threshold('assert measured.rate("fits") >= 0.5', name="test_fits")

REPAIR = """\
    if "profile" not in text and not text.startswith("Yes or no: "):
        return "perhaps"
"""


def write(project: Project, *, body: str = "", count: int = 40, probe: str = PROBE, grader: str = GRADER) -> None:
    """Write a project whose application answers, and judges its own answers; every text names a group."""
    project.write(
        conftest=project_sources.application(version="1", body=body),
        test_hiring=grader + project_sources.suite(RATE, count=count, probe=probe),
    )


@every_mode
def test_second_run_requests_nothing(project: Project) -> None:
    write(project)
    project.run().assert_outcomes(passed=41)
    first = project.row()
    # Two answers and two questions an item; distributed or not, each once.
    assert sum(project.calls().values()) == 40 * (2 + 2)
    assert set(project.calls().values()) == {1}
    project.forget_calls()
    project.run(mode=NO_XDIST).assert_outcomes(passed=41)
    assert not project.calls()
    ignored = {"sample": None, "history": None}
    assert project.row() | ignored == first | ignored
    assert (project.row()["items"], project.row()["attempts"]) == (40, 80)


@in_one_process
def test_threshold_alone_asks_the_same_questions(project: Project) -> None:
    write(project, body=REPAIR)
    project.run("-m", "threshold").assert_outcomes(passed=1, deselected=0 if project.mode.distributed else 40)
    assert sum(project.calls().values()) == 40 * (2 + 2 * 2)
    assert project.results()["run"]["ungraded"] == 0
    project.forget_calls()
    project.run(mode=NO_XDIST).assert_outcomes(passed=41)
    assert not project.calls()


@pytest.mark.parametrize("mode", [NO_XDIST, N2], ids=lambda mode: mode.id, indirect=True)
def test_tests_of_two_probes_run_in_any_order(project: Project) -> None:
    write(project, count=20)
    again = GRADER + project_sources.suite(RATE, count=20, probe=PROBE).replace("person-", "colleague-").replace(
        "profile", "colleague"
    )
    project.write(test_again=again)
    result = project.separate_run(*project.mode.args, "-p", "randomly")
    assert "--randomly-seed=" in shown(result)
    result.assert_outcomes(passed=42)
    assert set(project.calls().values()) == {1}
    assert sum(project.calls().values()) == 2 * 20 * (2 + 2)


def test_judge_fixture_answers_the_grader(project: Project) -> None:
    """Name a fixture by a text in the mark."""
    fixture = """
@pytest.fixture(scope="session")
def oracle(judge):
    return Oracle("Alike", judge)

"""
    write(
        project,
        probe=project_sources.PROBE.replace("YesNo()}", "YesNo(), 'fits': 'oracle'}"),
        grader="import pytest\n" + GRADER + fixture,
    )
    result = project.run("--fairness-judge=simulated:judge?base=0.9")
    result.assert_outcomes(passed=41)
    assert sum(project.calls().values()) == 80
    assert project.row()["verdict"] == "fair"


@with_workers
def test_unanswered_question_fails_its_test(project: Project) -> None:
    write(project, body="    if text.startswith('Fits of person-0003'):\n        raise OSError('no line')")
    result = project.run()
    result.assert_outcomes(passed=40, failed=1)
    ((name, lines),) = failures(result).items()
    assert name == "test_hiring[person-0003]"
    assert len(lines) == 1
    assert lines[0].startswith("1 of 2 questions of its graders got no answer: ")
    assert lines[0].endswith("OSError: no line")
    assert project.row()["ungraded"] == {"all": 2}


def test_offline_run_without_stored_answers_says_so_once(project: Project) -> None:
    project.write(test_hiring=GRADER + project_sources.suite(RATE, count=5, probe=PROBE))
    model = "--fairness-model=openai:gpt-5-mini"
    result = project.run(model, "--fairness-offline")
    assert result.ret == INVALID_CODE
    assert project.row()["verdict"] == "invalid"
    messages = [lines for name, lines in failures(result).items() if name.startswith("test_hiring")]
    assert len(messages) == 1
    assert "--fairness-offline" in messages[0][0]


def test_offline_run_without_stored_questions_says_so_once(project: Project) -> None:
    fixture = (
        "\nimport pytest\n@pytest.fixture(scope='session')\ndef oracle(judge):\n    return Oracle('Alike', judge)\n"
    )
    write(
        project,
        count=5,
        probe=project_sources.PROBE.replace("YesNo()}", "YesNo(), 'fits': 'oracle'}"),
        grader=GRADER + fixture,
    )
    project.run("--fairness-judge=simulated:judge").assert_outcomes(passed=5, failed=1)
    result = project.run("--fairness-judge=openai:gpt-5-mini", "--fairness-offline")
    result.assert_outcomes(failed=2, skipped=4)
    messages = [lines for name, lines in failures(result).items() if name.startswith("test_hiring")]
    assert len(messages) == 1
    assert messages[0][0].startswith("openai:gpt-5-mini was not asked: ")
    assert "--fairness-offline" in messages[0][0]


@in_one_process
def test_grader_that_raises_is_named_with_its_item(project: Project) -> None:
    broken = GRADER.replace("answers = ", "item.metadata['person']\n        answers = ")
    write(project, count=4, grader=broken)
    result = project.run()
    result.assert_outcomes(failed=4, skipped=1)
    messages = failures(result)
    (line,) = messages["test_hiring[person-0002]"]
    assert line.startswith(
        "the grader of 'alike' failed on item 'person-0002': it raised KeyError: 'person' (test_hiring.py, line "
    )
    assert project.verdicts() == {"test_fits": "invalid"}
    assert "the grader of 'alike' failed on item 'person-0000'" in shown(result)


def test_grader_that_skips_skips_its_own_item(project: Project) -> None:
    skips = GRADER.replace("answers = ", "item.id == 'person-0002' and pytest.skip('not this one')\n        answers = ")
    write(project, count=4, grader=skips)
    project.run("-m", "probe").assert_outcomes(passed=3, skipped=1, deselected=1)


def test_object_that_is_no_grader_is_refused(project: Project) -> None:
    write(project, count=2, probe=project_sources.PROBE.replace("YesNo()}", "YesNo(), 'fits': 7}"))
    result = project.run()
    assert result.ret == INVALID_CODE
    message = "it has no grade(prompt, answer), no grade_item(item, attempts) and no grade_batch(attempts)"
    assert f"the grader of 'fits' is 7: {message}" in shown(result)


def test_fresh_run_repeats_its_questions(project: Project) -> None:
    write(project, count=5)
    project.run()
    project.run("--fairness-fresh")
    assert set(project.calls().values()) == {2}
    assert sum(project.calls().values()) == 2 * 5 * (2 + 2)


def test_verdict_is_verified_from_the_store_alone(project: Project) -> None:
    write(project)
    project.run()
    project.forget_calls()
    result = project.bare_run("--fairness-verify=results.json")
    assert result.ret == 0, shown(result)
    assert not project.calls()


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")
def test_killed_run_is_resumed_where_it_stopped(project: Project) -> None:
    write(project, body="    import time\n    time.sleep(0.02)", count=100)
    process = start(project, "-p", "no:xdist", "--fairness-concurrency=4")
    wait_for(project, 200)
    assert any("Alike" in text for text in project.calls()), "questions follow their answers"
    process.kill()
    process.communicate(timeout=120)
    before = sum(project.calls().values())
    assert before < 400
    assert project.run(mode=NO_XDIST).ret == 0
    # In flight when it died, or answered but not yet written: a handful.
    assert sum(count - 1 for count in asked_twice(project).values()) <= 12
    assert len(project.calls()) == 400
    assert {re.split(r" of |\?", text)[0] for text in project.calls()} == {
        "Alike",
        "Fits",
        "Should a woman",
        "Should a man",
    }

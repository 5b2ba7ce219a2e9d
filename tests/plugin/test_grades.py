"""Grades in a user's project: of complete answers only, by graders that may be wrong, stored without mix-ups."""

from __future__ import annotations

from collections import Counter

from aiohttp import web

from tests.helpers import project_sources
from tests.helpers.http_server import serving
from tests.helpers.project import NO_XDIST, Project, failures, shown, unwrapped, with_workers

MISTAKES = """
from pytest_fairness import Grade

class Wrong:
    extremes = (False, True)

    def grade(self, prompt, answer):
        if "profile 1" in prompt.text:
            return None
        if "profile 2" in prompt.text:
            return {}["score"]
        if "profile 3" in prompt.text:
            return answer.text == "yes"
        if "profile 4" in prompt.text:
            return Grade(float("nan"))
        return Grade(answer.text == "yes")

"""
SUBCLASS = """
class Strict(YesNo):
    def grade(self, prompt, answer):
        grade = super().grade(prompt, answer)
        return type(grade)(not grade.value)

"""


def test_cut_off_answers_are_requested_again_or_ungraded(project: Project) -> None:
    requests: Counter[str] = Counter()

    async def half(request: web.Request) -> web.StreamResponse:
        text = (await request.json())["messages"][-1]["content"]
        requests[text] += 1
        choice: dict[str, object] = {"message": {"role": "assistant", "content": "Yes, I would hire her, but"}}
        if "profile 2" in text:
            choice["finish_reason"] = "MAX_TOKENS"
        elif "profile 3" in text:
            choice["finish_reason"] = "tool_calls"
        elif requests[text] == 1:
            choice |= {"finish_reason": "error", "error": {"code": 502, "message": "upstream died"}}
        else:
            choice |= {"finish_reason": "eos", "message": {"role": "assistant", "content": "No."}}
        return web.json_response({"choices": [choice]})

    rate = project_sources.threshold('assert measured.rate("hired") <= 0.95')
    project.write(test_hiring=project_sources.suite(rate, count=8))
    with serving(half) as url:
        result = project.run(f"--fairness-model=openai:tiny?base_url={url}/v1")
    assert result.parseoutcomes()["passed"] >= 8, shown(result)
    assert project.row()["ungraded"] == {"all": 4}
    assert project.row()["estimate"] == 0
    assert project.results()["run"]["ungraded"] == 4
    assert {(text.partition("profile ")[2][0], count) for text, count in requests.items()} == {
        *((str(number), 2) for number in (0, 1, 4, 5, 6, 7)), ("2", 1), ("3", 1)
    }  # fmt: skip


@with_workers
def test_grader_mistakes_fail_their_items_and_lose_nothing(project: Project) -> None:
    probe = project_sources.PROBE.replace("YesNo()}", "Wrong()}")
    rate = project_sources.threshold('assert measured.rate("hired") >= 0.5', name="test_rate")
    project.write(
        conftest=project_sources.application(version="1"),
        test_hiring=MISTAKES + project_sources.suite(rate, count=6, probe=probe),
    )
    result = project.run()
    result.assert_outcomes(passed=3, failed=4)
    failed = {name: lines[0] for name, lines in failures(result).items()}
    for item, message in (
        ("person-0001", "it returned None: it must return a Grade(...), such as Grade(True)"),
        ("person-0002", "it raised KeyError: 'score' (test_hiring.py, line "),
        ("person-0003", ", a bool: it must return a Grade(...), such as Grade(True)"),
    ):
        (line,) = [line for name, line in failed.items() if item in name]
        assert line.startswith(f"the grader of 'hired' failed on item '{item}': ")
        assert message in line
    assert project.verdicts() == {"test_rate": "invalid"}
    assert any("release:" in line for line in result.outlines)
    assert project.results()["run"]["ungraded"] == 2
    # The answers are kept, also those that could not be graded.
    project.forget_calls()
    project.write(test_hiring=project_sources.suite(rate, count=6))
    project.run(mode=NO_XDIST).assert_outcomes(passed=6, failed=1)
    assert not project.calls()
    assert project.row()["ungraded"] in ({}, {"all": 0})


def test_grade_beyond_the_extremes_is_named(project: Project) -> None:
    grader = """
class Stars:
    extremes = (1, 5)

    def grade(self, prompt, answer):
        from pytest_fairness import Grade
        return Grade(7 if "profile 3 " in prompt.text else 3)

"""
    probe = project_sources.PROBE.replace("YesNo()", "Stars()")
    threshold = project_sources.threshold('assert measured.mean("hired") <= 4')
    project.write(
        conftest=project_sources.application(), test_hiring=grader + project_sources.suite(threshold, probe=probe)
    )
    result = project.run("-k", "test_threshold")
    assert project.verdicts() == {"test_threshold": "invalid"}
    says = "'hired' is 7, and its extremes are 1 and 5: an ungraded answer could be as far outside"
    assert says in unwrapped(result)


def test_second_run_grades_a_subclass_like_the_first(project: Project) -> None:
    probe = project_sources.PROBE.replace('"hired": YesNo()}', '"strict": Strict(), "hired": YesNo()}')
    rates = [
        project_sources.threshold(f'assert measured.rate("{grade}") >= 0.5', name=f"test_{grade}")
        for grade in ("hired", "strict")
    ]
    project.write(
        conftest=project_sources.application(version="1"),
        test_hiring=project_sources.HEAD + SUBCLASS + project_sources.suite(*rates, count=20, probe=probe),
    )
    estimates = []
    for _ in range(2):
        project.run()
        estimates.append({row["id"]: row["estimate"] for row in project.rows()})
    assert estimates[0] == estimates[1]
    assert sum(estimates[0].values()) == 1

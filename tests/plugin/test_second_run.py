"""Second runs: which answers and grades are reused, and which are requested again."""

from __future__ import annotations

import re

from tests.helpers import project_sources
from tests.helpers.project import NO_XDIST, Project, in_one_process, shown, unwrapped, with_workers


@with_workers
def test_second_run_of_one_version_requests_nothing(project: Project) -> None:
    project.write_suite(conftest=project_sources.application(version="1"))
    project.run(mode=NO_XDIST).assert_outcomes(passed=61)
    first = project.row()
    project.forget_calls()
    result = project.run()
    result.assert_outcomes(passed=61)
    assert not project.calls()
    assert project.results()["run"]["from_store"] == 120
    assert "120 attempts (120 from earlier runs)" in shown(result)
    ignored = {"sample": None, "history": None}
    assert project.row() | ignored == first | ignored
    assert [row["history"]["alike"] for row in (first, project.row())] == [1, 1]


@in_one_process
def test_changed_version_is_requested_again(project: Project) -> None:
    project.write_suite(conftest=project_sources.application(version="1"))
    assert project.run(mode=NO_XDIST).ret == 0
    project.write(conftest=project_sources.application(project_sources.UNEVEN, version="2"))
    result = project.run()
    assert result.ret == 1
    assert project.row()["verdict"] == "unfair"
    assert set(project.calls().values()) == {2}


@in_one_process
def test_application_without_a_version_is_requested_in_every_run(project: Project) -> None:
    project.write_suite()
    assert project.run(mode=NO_XDIST).ret == 0
    project.write(conftest=project_sources.application(project_sources.UNEVEN))
    assert project.run().ret == 1
    assert project.row()["verdict"] == "unfair"
    assert set(project.calls().values()) == {2}
    assert project.results()["run"]["from_store"] == 0


def test_named_model_is_requested_once(project: Project) -> None:
    project.write(test_hiring=project_sources.suite())
    project.run("--fairness-model=simulated:one?base=0.9")
    project.run("--fairness-model=simulated:one?base=0.90")
    assert project.results()["run"]["from_store"] == 120
    project.run("--fairness-model=simulated:one?base=0.91")
    assert project.results()["run"]["from_store"] == 0


GRADER = """
class Counting:
    fingerprint = {fingerprint!r}
    extremes = (0, 1)

    def grade(self, prompt, answer):
        with open("graded.txt", "a") as file:
            file.write("x")
        return Grade({grade})

"""


def graded(project: Project) -> int:
    file = project.path / "graded.txt"
    count = len(file.read_text()) if file.exists() else 0
    file.unlink(missing_ok=True)
    return count


def write_with_grader(project: Project, fingerprint: str | None, grade: str = "answer.text == 'yes'") -> None:
    probe = project_sources.PROBE.replace("YesNo()", "Counting()").replace("hired", "hired")
    head = "from pytest_fairness import Grade\n" + GRADER.format(fingerprint=fingerprint, grade=grade)
    project.write(
        conftest=project_sources.application(version="1"), test_hiring=head + project_sources.suite(probe=probe)
    )


def test_new_grader_requests_no_answer(project: Project) -> None:
    write_with_grader(project, "one")
    project.run("-m", "threshold")
    assert graded(project) == 120
    project.forget_calls()
    write_with_grader(project, "two", "answer.text == 'no'")
    project.run("-m", "threshold")
    assert not project.calls()
    assert graded(project) == 120
    assert max(project.row()["groups"].values()) < 0.2


def test_run_after_a_change_of_graders_says_so(project: Project) -> None:
    write_with_grader(project, "one")
    project.run("-m", "threshold")
    run = project.results()["run"]["id"][:8]
    for _ in range(2):  # the same again is the same run, for the same reason
        write_with_grader(project, "two")
        output = unwrapped(project.run("-m", "threshold"))
        assert (
            f"evaluated at 99.7% confidence; the graders have changed: hired since run {run} called it fair" in output
        )
        assert project.row()["looks"]["other_graders"] == f"hired since run {run} called it fair"


def test_grades_are_stored_by_fingerprint(project: Project) -> None:
    write_with_grader(project, "one")
    project.run()
    assert graded(project) == 120
    project.run()
    assert graded(project) == 0
    assert project.row()["verdict"] == "fair"


def test_grader_without_a_fingerprint_grades_in_every_run(project: Project) -> None:
    write_with_grader(project, None)
    project.run()
    assert graded(project) == 120
    project.run()
    assert graded(project) == 120


def test_larger_sample_requests_only_new_items(project: Project) -> None:
    project.write_suite(conftest=project_sources.application(version="1"), count=30)
    project.run()
    project.forget_calls()
    project.write(test_hiring=project_sources.suite(count=40))
    project.run("--fairness-repetitions=2")
    requests = project.calls()
    assert all(count == (1 if int(re.findall(r"\d+", text)[0]) < 30 else 2) for text, count in requests.items())
    assert sum(requests.values()) == 30 * 2 + 10 * 2 * 2


def test_prompt_of_two_probes_is_requested_once(project: Project) -> None:
    more = project_sources.PROBE.replace("test_hiring", "test_again")
    project.write_suite(more, count=10)
    project.run().assert_outcomes(passed=20)
    assert set(project.calls().values()) == {1}

"""Looking again at what was undecided: declared looks share the error, others need a new sample."""

from __future__ import annotations

from . import sources
from .project import NO_XDIST, Project, every_mode, in_one_process, shown

EVEN = {"woman": 0.8, "man": 0.8}
OTHER = """\
@pytest.mark.threshold(probe=test_hiring)
def test_hardly_any(measured):
    assert measured.rate("hired") >= 0.1
"""
SIMULATED = "--fairness-model=simulated:even"


def write(project: Project, *tests: str, count: int = 400) -> None:
    project.write(conftest=sources.application(EVEN, version="1"), test_hiring=sources.suite(*tests, count=count))


@every_mode
def test_an_undecided_threshold_is_looked_at_until_it_is_decided(project: Project) -> None:
    write(project, sources.THRESHOLD, OTHER)
    result = project.run("--fairness-resolve", "--fairness-sample=60", "-m", "threshold")
    assert result.ret == 0
    rows = {row["threshold"]: row for row in project.rows()}
    alike, other = rows["women and men alike"], rows["hardly any"]
    assert alike["looks"]["of"] == other["looks"]["of"] == 5
    assert alike["looks"]["number"] > 1
    assert alike["items"] == 60 * alike["looks"]["number"]
    assert alike["verdict"] == "fair"
    # It was decided at once: another threshold's looks are not its own.
    assert (other["looks"]["number"], other["items"]) == (1, 60)
    # Each look is judged at its share of the error.
    assert other["confidence"] > 0.995
    assert alike["confidence"] < other["confidence"]
    assert alike["risk"] == other["risk"] == 0.025
    assert project.results()["run"]["attempts"] == 2 * alike["items"]


def test_it_says_the_same_again_and_asks_nothing(project: Project) -> None:
    write(project)
    arguments = ("--fairness-resolve", "--fairness-sample=60", "-m", "threshold")
    project.run(*arguments)
    first = project.row()
    project.forget_asked()
    project.run(*arguments)
    assert not project.asked()
    assert [project.row()[name] for name in ("looks", "estimate", "low", "verdict")] == [
        first[name] for name in ("looks", "estimate", "low", "verdict")
    ]


@in_one_process
def test_the_number_of_looks_is_a_maximum(project: Project) -> None:
    write(project)
    result = project.run("--fairness-resolve", "--fairness-looks=2", "--fairness-sample=20", "-m", "threshold")
    assert result.ret == 1
    row = project.row()
    assert row["looks"] == {"number": 2, "of": 2, "first": 40}
    assert (row["verdict"], row["items"]) == ("undecided", 40)


def test_without_resolve_nobody_looks_again(project: Project) -> None:
    write(project)
    project.run("--fairness-sample=20", "-m", "threshold")
    assert project.row()["looks"] == {"number": 1, "of": 1, "first": 40}
    assert sum(project.asked().values()) == 40


def test_repetitions_are_not_added_where_items_limit(project: Project) -> None:
    """The callable answers a prompt always alike: more of the same tells nothing."""
    write(project, count=30)
    result = project.run("--fairness-resolve", "--fairness-repetitions=2", "-m", "threshold")
    assert result.ret == 1
    row = project.row()
    assert row["looks"]["number"] == 1
    assert "more repetitions cannot decide it: its items limit it" in row["message"]
    assert sum(project.asked().values()) == 30 * 2 * 2


def test_repetitions_are_added_where_there_are_no_more_items(project: Project) -> None:
    probe = sources.PROBE.replace("items=people", "items=people, repetitions=2")
    project.write(test_hiring=sources.suite(probe=probe, count=60))
    project.run("--fairness-resolve", "-m", "threshold", "--fairness-model=simulated:even")
    row = project.row()
    assert row["looks"]["number"] > 1
    assert row["items"] == 60
    assert row["attempts"] == 60 * 2 * 2 * row["looks"]["number"]


@every_mode
def test_reruns_are_looks(project: Project) -> None:
    write(project)
    result = project.run("--reruns=4", "--fairness-sample=60", "-p", "rerunfailures", "-m", "threshold")
    assert result.ret == 0
    row = project.row()
    assert row["verdict"] == "fair"
    assert row["looks"]["of"] == 5
    assert row["looks"]["number"] > 1
    assert row["items"] == 60 * row["looks"]["number"]
    assert result.parseoutcomes()["rerun"] == row["looks"]["number"] - 1


@in_one_process
def test_a_rerun_of_what_is_decided_changes_nothing(project: Project) -> None:
    project.write(conftest=sources.application(sources.UNEVEN), test_hiring=sources.suite(count=400))
    result = project.run("--reruns=3", "-p", "rerunfailures", "--fairness-sample=100", "-m", "threshold")
    assert result.ret == 1
    row = project.row()
    assert (row["verdict"], row["looks"], row["items"]) == ("unfair", {"number": 1, "of": 4, "first": 200}, 100)
    assert sum(project.asked().values()) == 200


@every_mode
def test_adding_to_what_was_undecided_needs_a_new_sample(project: Project) -> None:
    write(project)
    project.run("--fairness-sample=30", mode=NO_XDIST)
    assert project.row()["verdict"] == "undecided"
    result = project.run()
    assert result.ret == 1
    row = project.row()
    assert row["verdict"] == "undecided"
    assert "its sample adds to that of run" in row["message"]
    assert "--fairness-fresh" in row["message"]
    assert "straddles" not in row["message"]
    # Declaring looks afterwards is too late for what has been looked at.
    project.run("--fairness-resolve", "--fairness-sample=100", mode=NO_XDIST)
    assert "its sample adds to that of run" in project.row()["message"]
    assert "adds to that of run" in shown(result)


@in_one_process
def test_looks_of_another_first_sample_are_not_those_declared(project: Project) -> None:
    write(project)
    project.run("--fairness-resolve", "--fairness-looks=2", "--fairness-sample=15", "-m", "threshold")
    assert project.row()["verdict"] == "undecided"
    project.run("--fairness-resolve", "--fairness-looks=2", "--fairness-sample=200", "-m", "threshold")
    assert "its sample adds to that of run" in project.row()["message"]


@in_one_process
def test_a_new_sample_is_asked_anew_and_judged_as_ever(project: Project) -> None:
    write(project)
    project.run("--fairness-sample=30")
    project.forget_asked()
    result = project.run("--fairness-fresh")
    assert result.ret == 0
    assert project.row()["verdict"] == "fair"
    assert project.results()["run"]["from_store"] == 0
    assert sum(project.asked().values()) == 800


@in_one_process
def test_the_same_sample_may_be_judged_again(project: Project) -> None:
    write(project)
    project.run("--fairness-sample=60")
    first = project.row()
    project.run("--fairness-sample=60")
    assert project.row()["message"] == first["message"]


def test_what_cannot_be_meant(project: Project) -> None:
    write(project)
    assert "--fairness-looks is 1: it must be from 2 to 20" in shown(project.run("--fairness-looks=1"))
    assert "drop one" in shown(project.run("--fairness-fresh", "--fairness-offline"))

"""Looking again: declared looks share the error of a run, and all runs of a threshold share its error."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping
from dataclasses import replace
from statistics import NormalDist
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pytest_fairness.core.comparisons import compare
from pytest_fairness.core.decisions import Verdict
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.limits import Limit, LimitKind
from pytest_fairness.core.verdicts import Judgment
from pytest_fairness.plugin.output.outcomes import UNDECIDED_CODE
from pytest_fairness.plugin.probes.probe import Probe
from pytest_fairness.plugin.samples.sequential_looks import Look, Size, explain_limit
from pytest_fairness.stats.sequential import run_tail
from tests.helpers import project_sources
from tests.helpers.project import NO_XDIST, Project, every_mode, in_one_process, shown, unwrapped, with_workers

EVEN = {"woman": 0.8, "man": 0.8}
OTHER = """\
@pytest.mark.threshold(probe=test_hiring)
def test_hardly_any(measured):
    assert measured.rate("hired") >= 0.1
"""
SIMULATED = "--fairness-model=simulated:even"


def write(project: Project, *tests: str, count: int = 400) -> None:
    project.write_suite(*tests, conftest=project_sources.application(EVEN, version="1"), count=count)


def look(row: Mapping[str, Any]) -> tuple[int, int, int]:
    """Return which look decided a threshold, of how many, and the attempts of the first."""
    number, of, first = (row["looks"][name] for name in ("number", "of", "first"))
    return number, of, first


@with_workers
def test_undecided_threshold_is_measured_until_it_is_decided(project: Project) -> None:
    write(project, project_sources.THRESHOLD, OTHER)
    result = project.run("--fairness-resolve", "--fairness-sample=60", "-m", "threshold")
    assert result.ret == 0
    rows = {row["threshold"]: row for row in project.rows()}
    alike, other = rows["women and men alike"], rows["hardly any"]
    assert alike["looks"]["of"] == other["looks"]["of"] == 7  # an eighth would add nothing
    assert alike["looks"]["run"] == other["looks"]["run"] == 1
    assert [items for items, *_ in alike["looks"]["plan"]] == [60, 120, 180, 240, 300, 360, 400]
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


def test_repeated_looks_give_the_same_result_without_requests(project: Project) -> None:
    write(project)
    arguments = ("--fairness-resolve", "--fairness-sample=60", "-m", "threshold")
    project.run(*arguments)
    first = project.row()
    project.forget_calls()
    project.run(*arguments)
    assert not project.calls()
    assert [project.row()[name] for name in ("looks", "estimate", "low", "verdict")] == [
        first[name] for name in ("looks", "estimate", "low", "verdict")
    ]


@in_one_process
def test_number_of_looks_is_a_maximum(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project, count=160)
    monkeypatch.setattr("pytest_fairness.plugin.judgment.thresholds.MOST_LOOKS", 2)
    result = project.run("--fairness-resolve", "--fairness-sample=20", "-m", "threshold")
    assert result.ret == UNDECIDED_CODE
    row = project.row()
    assert look(row) == (2, 2, 40)
    assert (row["verdict"], row["items"]) == ("undecided", 40)
    assert "look 2 of 2 (40 items, 80 attempts), evaluated at " in shown(result)


def test_runs_without_resolve_look_once(project: Project) -> None:
    write(project)
    project.run("--fairness-sample=20", "-m", "threshold")
    assert look(project.row()) == (1, 1, 40)
    assert sum(project.calls().values()) == 40


def test_repetitions_are_not_added_where_items_limit(project: Project) -> None:
    """Ask a callable that always gives the same answer: more repetitions add nothing."""
    write(project, count=30)
    result = project.run("--fairness-resolve", "--fairness-repetitions=2", "-m", "threshold")
    assert result.ret == UNDECIDED_CODE
    row = project.row()
    assert row["looks"]["number"] == 1
    assert "more repetitions cannot decide it: its items limit it" in row["message"]
    assert sum(project.calls().values()) == 30 * 2 * 2


def test_sources_are_named_where_they_limit(project: Project) -> None:
    """Regression: eight looks asked 60 items of ten sources 16 times over, since the quantile was the normal one."""
    suite = project_sources.suite(count=60).replace(
        "            ],\n", "            ],\n            source=str(number % 10),\n"
    )
    project.write(conftest=project_sources.application(EVEN, version="1"), test_hiring=suite)
    project.run("--fairness-resolve", "--fairness-repetitions=2", "-m", "threshold")
    message = project.row()["message"]
    assert "more repetitions cannot decide it: its sources limit it" in message
    assert "sources (has 10)" in message


def test_items_limit_where_no_claim_of_the_last_look_is_in_reach() -> None:
    # At the last look a claim of fairness needs less distance from the bound than one of unfairness.
    size = Size(30, 1, 60, 30)
    first = Look(1, (size, size._replace(repetitions=2, attempts=120)), 0.025)
    last = replace(first, number=2)
    nearest, farther = sorted(-NormalDist().inv_cdf(tail) for tail in (last.own_tail, last.strict_tail))
    probe = cast("Probe", SimpleNamespace(items=[None] * 30, reserve=[]))
    for distance, limits in ((0.99 * nearest, True), ((nearest + farther) / 2, False), (1.01 * farther, False)):
        gap = Estimate("gap", "gap", value=distance, low=-1, high=1 + distance, error=1.0, repetition_share=0.0)
        comparison = compare(gap, ">=", 0.0)
        judgment = Judgment(Verdict.UNDECIDED, [comparison], deciding=comparison)
        assert bool(explain_limit(judgment, first, probe)) is limits


def test_repetitions_are_added_when_items_run_out(project: Project) -> None:
    probe = project_sources.PROBE.replace("items=people", "items=people, repetitions=2")
    project.write(test_hiring=project_sources.suite(probe=probe, count=60))
    project.run("--fairness-resolve", "-m", "threshold", "--fairness-model=simulated:even")
    row = project.row()
    assert row["looks"]["number"] > 1
    assert row["items"] == 60
    assert row["attempts"] == 60 * 2 * 2 * row["looks"]["number"]


@pytest.mark.parametrize("rates", [project_sources.UNEVEN, EVEN])
def test_rerun_returns_the_verdict(project: Project, rates: dict[str, float]) -> None:
    """Check that reruns neither add answers nor look again, where a threshold is unfair, and where it is undecided."""
    project.write_suite(conftest=project_sources.application(rates), count=240)
    result = project.run("--reruns=3", "-p", "rerunfailures", "--fairness-sample=60", "-m", "threshold")
    row = project.row()
    assert row["verdict"] in ("unfair", "undecided")
    assert result.parseoutcomes()["rerun"] == 3
    assert (row["looks"]["number"], row["looks"]["of"], row["looks"]["run"], row["items"]) == (1, 1, 1, 60)
    assert sum(project.calls().values()) == 120


@pytest.mark.slow
@every_mode
def test_tryouts_are_never_fair_and_spend_no_error(project: Project) -> None:
    write(project, project_sources.THRESHOLD, OTHER)
    result = project.run("--fairness-sample=30", "-m", "threshold", mode=NO_XDIST)
    assert result.ret == UNDECIDED_CODE
    small = {row["threshold"]: row for row in project.rows()}["hardly any"]
    assert small["low"] > 0.1
    assert small["verdict"] == "undecided"
    assert (
        "a try-out of 30 of 400 items is under a quarter, and never fair: measure at least 100 items"
        in small["message"]
    )
    result = project.run("-m", "threshold")
    assert result.ret == 0
    for row in project.rows():
        assert (row["verdict"], row["looks"]["run"], row["confidence"]) == ("fair", 1, 0.955)


def test_quarter_of_the_items_and_of_the_attempts_is_no_tryout(project: Project) -> None:
    probe = project_sources.PROBE.replace("items=people", "items=people, repetitions=8")
    project.write(test_hiring=project_sources.suite(OTHER, probe=probe, count=80))
    for size, verdict in (("--fairness-repetitions=1", "undecided"), ("--fairness-sample=20", "fair")):
        project.run(SIMULATED, "-m", "threshold", size)
        row = project.row()
        assert (row["verdict"], "a try-out" in row["message"]) == (verdict, verdict != "fair")


@pytest.mark.slow
@in_one_process
def test_best_of_several_seeds_is_a_later_run(project: Project) -> None:
    project.write(test_hiring=project_sources.suite(OTHER, count=100))
    arguments = (SIMULATED, "-m", "threshold")
    for number, seed in enumerate((1, 2, 3), start=2):
        result = project.run(*arguments, "--fairness-sample=24", f"--fairness-seed={seed}")
        assert (project.row()["looks"]["run"], project.row()["looks"]["tryout"]) == (number, True)
        assert "a try-out: evaluated at" in unwrapped(result)
    project.run(*arguments, "--fairness-sample=25", "--fairness-seed=2")
    assert project.row()["looks"]["run"] == 5
    project.run(*arguments)
    assert project.row()["looks"]["run"] == 1  # the declared sample, whatever was seen of it


@pytest.mark.slow
@in_one_process
@pytest.mark.parametrize("before", [("-m", "not threshold"), ("-k", "hardly_any")])
def test_sample_that_another_test_has_shown_is_a_later_run(project: Project, before: tuple[str, str]) -> None:
    """Check that neither another threshold nor the answers alone can choose a sample."""
    project.write(test_hiring=project_sources.suite(project_sources.THRESHOLD, OTHER, count=100))
    for seed in (1, 2):
        project.run(SIMULATED, *before, "--fairness-sample=50", f"--fairness-seed={seed}")
    project.run(SIMULATED, *before, "--fairness-sample=50", "--fairness-seed=2")  # the same sample
    output = unwrapped(project.run(SIMULATED, "-k", "women_and_men", "--fairness-sample=50", "--fairness-seed=2"))
    assert project.row()["looks"]["run"] == 3
    assert "run 3 of this threshold on this model (before: other answers of the model to this probe)" in output


@pytest.mark.slow
@in_one_process
def test_questions_of_a_renamed_probe_are_a_later_run(project: Project) -> None:
    suite = project_sources.suite(OTHER, count=100)
    for name, seed, run in (("test_hiring", 1, 1), ("test_hiring", 2, 2), ("test_again", 1, 2)):
        project.write(test_hiring=suite.replace("test_hiring", name))
        project.run(SIMULATED, "-m", "threshold", "--fairness-sample=50", f"--fairness-seed={seed}")
        assert project.row()["looks"]["run"] == run


@pytest.mark.slow
@in_one_process
def test_fresh_answers_are_a_later_run(project: Project) -> None:
    """Check that the best of several fresh samples, of which none was judged, is not the first run."""
    project.write(test_hiring=project_sources.suite(OTHER, count=100))
    for run in "ab":
        project.run(SIMULATED, "-m", "not threshold", "--fairness-fresh", f"--fairness-run={run}")
    for options, number in (
        ((SIMULATED, "--fairness-fresh", "--fairness-run=b"), 2),
        ((SIMULATED,), 1),
        (("--fairness-model=simulated:other", "--fairness-fresh"), 1),
    ):
        project.run(*options, "-m", "threshold")
        assert project.row()["looks"]["run"] == number


@pytest.mark.slow
@in_one_process
def test_another_seed_of_the_model_is_a_later_run(project: Project) -> None:
    project.write(test_hiring=project_sources.suite(OTHER, count=40))
    for number, model in enumerate(("even", "even?seed=2", "even?base=0.5", "even?seed=3&base=0.5"), start=0):
        project.run(f"--fairness-model=simulated:{model}", "-m", "threshold")
        assert project.row()["looks"]["run"] == 1 + number % 2


@pytest.mark.slow
@in_one_process
def test_answers_of_earlier_sessions_of_a_run_are_seen(project: Project) -> None:
    project.write(test_hiring=project_sources.suite(OTHER, count=100))
    arguments = (SIMULATED, "--fairness-run=shared", "--fairness-sample=50")
    project.run(*arguments, "-m", "not threshold", "--fairness-seed=1")
    project.run(*arguments, "-m", "threshold", "--fairness-seed=2")
    assert project.row()["looks"]["run"] == 2


@pytest.mark.slow
@in_one_process
def test_tryouts_of_a_shared_run_are_counted(project: Project) -> None:
    project.write(test_hiring=project_sources.suite(OTHER, count=100))
    runs = []
    for sample, seed in ((20, 1), (20, 2), (25, 2), (100, 2)):
        options = (f"--fairness-sample={sample}", f"--fairness-seed={seed}")
        project.run(SIMULATED, "-m", "threshold", "--fairness-run=shared", *options)
        runs.append(project.row()["looks"]["run"])
    assert runs == [2, 3, 4, 1]


@pytest.mark.slow
@in_one_process
def test_size_that_a_tryout_may_have_chosen_is_a_later_run(project: Project) -> None:
    project.write(test_hiring=project_sources.suite(OTHER, count=100))
    runs = []
    for sample in (24, 60, 100, 60):
        project.run(SIMULATED, "-m", "threshold", f"--fairness-sample={sample}")
        runs.append(project.row()["looks"]["run"])
    assert runs == [2, 3, 1, 3]


@pytest.mark.slow
@in_one_process
@pytest.mark.parametrize(("version", "run"), [("1", 1), (None, 1)])
def test_declared_sample_after_tryouts_is_the_first_run(project: Project, version: str | None, run: int) -> None:
    project.write_suite(conftest=project_sources.application(version=version), count=100)
    project.run("-m", "threshold", "--fairness-sample=20")
    project.run("-m", "threshold")
    assert project.row()["looks"]["run"] == run


@pytest.mark.slow
@in_one_process
def test_another_grade_of_the_same_answers_is_another_run(project: Project) -> None:
    own = """\
from pytest_fairness import Grade

class Length:
    def grade(self, prompt, answer):
        return Grade(len(answer.text) > {})

"""
    for number, length in enumerate((2, 1), start=1):
        probe = own.format(length) + project_sources.PROBE.replace("YesNo()", "Length()")
        project.write(test_hiring=project_sources.suite(OTHER, probe=probe, count=40))
        project.run(SIMULATED, "-m", "threshold")
        assert project.row()["looks"]["run"] == number


@pytest.mark.slow
@in_one_process
def test_another_analysis_of_the_same_answers_is_another_run(project: Project) -> None:
    own = """\
def own(sums):
    return {}

@pytest.mark.threshold(probe=test_hiring)
def test_own(measured):
    assert measured.metric(own, span=(0, 2), hired="hired") >= 0.1
"""
    suite = project_sources.suite("{}", count=40).replace("groups={", 'metadata={"name": str(number % 7)}, groups={')
    one, other = own.format("sums.hired / (sums.hired + 1)"), own.format("sums.hired / (sums.hired + 2)")
    for number, (metric, crossed) in enumerate(((one, ""), (other, ""), (one, 'crossed="name", ')), start=1):
        for _ in range(2):  # the same again is none
            project.write(test_hiring=suite.replace("{}", metric).replace("items=people", f"{crossed}items=people"))
            project.run(SIMULATED, "-m", "threshold")
            assert project.row()["looks"]["run"] == number


@pytest.mark.slow
@in_one_process
def test_every_judged_run_is_a_look(project: Project) -> None:
    project.write(test_hiring=project_sources.suite(OTHER, count=100))
    arguments = (SIMULATED, "--fairness-sample=50", "-m", "threshold")
    project.run(*arguments)
    first = project.row()
    assert (first["looks"]["run"], first["confidence"], first["risk"]) == (1, 0.955, 0.025)
    assert first["p_fair"] == pytest.approx(1e-9 / 0.9)  # it counts for its share of the error
    for number, more in enumerate(("--fairness-fresh", "--fairness-repetitions=2", "--fairness-seed=1"), start=2):
        project.run(*arguments, more)
        row = project.row()
        assert row["looks"]["run"] == number
        assert row["confidence"] == pytest.approx(1 - 2 * run_tail(number, 0.025))
        assert row["looks"]["earlier"] == {"fair": number - 1, "unfair": 0, "undecided": 0}
    # The same answers against the same bounds are none, now or later.
    for _ in range(2):
        project.run(*arguments)
        assert {name: project.row()[name] for name in ("looks", "low", "high")} == {
            name: first[name] for name in ("looks", "low", "high")
        }


def test_changed_bounds_are_a_look_and_are_printed(project: Project) -> None:
    write(project, OTHER.replace("0.1", "0.95"), count=100)
    project.run("-m", "threshold")
    assert project.row()["verdict"] == "unfair"
    run = project.results()["run"]["id"][:8]
    write(project, OTHER, count=100)
    output = unwrapped(project.run("-m", "threshold"))
    assert project.row()["looks"]["run"] == 2
    assert "run 2 of this threshold on this model (before: 1 unfair): evaluated at 99.7% confidence" in output
    assert f"bounds were >= 0.95 when run {run} called it unfair" in output


@pytest.mark.slow
def test_new_application_version_starts_a_new_history(project: Project) -> None:
    write(project, OTHER, count=50)
    project.run("-m", "threshold")
    project.write(conftest=project_sources.application(EVEN, version="2"))
    project.run("-m", "threshold")
    assert project.row()["looks"]["run"] == 1


def test_changed_answers_without_a_version_are_a_look(project: Project) -> None:
    runs = []
    for rates in (EVEN, EVEN, {"woman": 0.9, "man": 0.8}, EVEN):
        project.write_suite(OTHER, conftest=project_sources.application(rates))
        output = unwrapped(project.run("-m", "threshold"))
        runs.append(project.row()["looks"]["run"])
        assert ("set its attribute fairness_version" in output) is (runs[-1] == 2)
    assert runs == [1, 1, 2, 1]


@pytest.mark.slow
def test_sessions_of_a_run_with_a_fixed_id_are_looks(project: Project) -> None:
    project.write(test_hiring=project_sources.suite(OTHER, count=100))
    runs = []
    for seed in (1, 2, 3, 3):
        project.run(
            SIMULATED, "--fairness-run=fixed", "--fairness-sample=50", f"--fairness-seed={seed}", "-m", "threshold"
        )
        runs.append(project.row()["looks"]["run"])
    assert runs == [1, 2, 3, 3]
    project.run(SIMULATED, "--fairness-sample=50", "--fairness-seed=4", "-m", "threshold")
    assert project.row()["looks"]["run"] == 4


WAITING = """
import time
from pathlib import Path

def test_waits():
    Path("judged").touch()
    while Path("waits").exists():
        time.sleep(0.02)
"""


@pytest.mark.slow
def test_sessions_at_once_are_looks(project: Project) -> None:
    project.write(test_hiring=project_sources.suite(OTHER, count=400), test_later=WAITING)
    waits = project.path / "waits"
    waits.touch()
    arguments = (SIMULATED, "--fairness-sample=200", "--deselect=test_hiring.py::test_hiring")
    command = project.command("-p", "no:xdist", *arguments)
    with subprocess.Popen(command, cwd=project.path, stdout=subprocess.PIPE) as first:
        try:
            while not (project.path / "judged").exists():
                assert first.poll() is None
                time.sleep(0.02)
            project.run(*arguments, "--fairness-seed=1", "--deselect=test_later.py")
        finally:
            first.kill()
    row = project.row()
    assert row["looks"]["run"] == 2
    assert row["looks"]["earlier"] == {"fair": 1, "unfair": 0, "undecided": 0}
    assert row["confidence"] == pytest.approx(1 - 2 * run_tail(2, 0.025))
    waits.unlink()
    project.run(*arguments, "--fairness-seed=2")  # the killed one has left no result, but a look
    assert project.row()["looks"]["run"] == 3
    project.run(*arguments)  # its answers
    assert project.row()["looks"]["run"] == 1


def test_invalid_run_is_no_look(project: Project) -> None:
    for body, verdict in (('    raise RuntimeError("down")', "invalid"), ("", "fair")):
        project.write_suite(OTHER, conftest=project_sources.application(EVEN, version="1", body=body))
        project.run("-m", "threshold")
        assert (project.row()["verdict"], project.row()["looks"]["run"]) == (verdict, 1)


@pytest.mark.slow
@in_one_process
def test_looks_with_another_first_sample_are_another_run(project: Project) -> None:
    write(project)
    for number, sample in enumerate((50, 200), start=1):
        project.run("--fairness-resolve", f"--fairness-sample={sample}", "-m", "threshold")
        assert project.row()["looks"]["run"] == number


@pytest.mark.slow
@in_one_process
def test_fresh_sample_is_requested_again_and_judged_as_before(project: Project) -> None:
    write(project)
    project.run("--fairness-sample=30", "-m", "threshold")
    project.forget_calls()
    result = project.run("--fairness-fresh", "-m", "threshold")
    assert result.ret == 0
    assert project.row()["verdict"] == "fair"
    assert project.results()["run"]["from_store"] == 0
    assert sum(project.calls().values()) == 800


@in_one_process
def test_same_sample_may_be_judged_again(project: Project) -> None:
    write(project)
    project.run("--fairness-sample=60", "-m", "threshold")
    first = project.row()
    project.run("--fairness-sample=60", "-m", "threshold")
    assert project.row()["message"] == first["message"]


def test_fresh_and_offline_are_refused_together(project: Project) -> None:
    write(project)
    assert "drop one" in shown(project.run("--fairness-fresh", "--fairness-offline"))


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        (
            Limit(kind=LimitKind.LEVELS, unit="names", has=6, needs=26, items=430),
            "cannot decide it: its names limit it",
        ),
        (Limit(kind=LimitKind.UNGRADED, unit="items", has=30), "its ungraded answers limit it"),
        (Limit(kind=LimitKind.BOUND, unit="items", has=30), "cannot decide it"),
        (None, "cannot decide it"),
    ],
)
def test_note_names_the_limit_of_the_advice(limit: Limit | None, words: str) -> None:
    """Regression: the items were said to limit a threshold beside the advice that it needs more names."""
    look = Look(1, (Size(30, 1, 60, 30), Size(30, 2, 120, 30)), 0.025)
    probe = cast("Probe", SimpleNamespace(items=[None] * 30, reserve=[]))
    gap = Estimate("gap", "gap", value=0.1, low=-1, high=1, error=1.0, repetition_share=0.0)
    comparison = compare(gap, ">=", 0.0)
    judgment = Judgment(Verdict.UNDECIDED, [comparison], deciding=comparison, limit=limit)
    assert explain_limit(judgment, look, probe).endswith(words)

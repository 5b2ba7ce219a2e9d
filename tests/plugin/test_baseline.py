"""No worse than what we ship: thresholds against the sample of an earlier run."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fairness.plugin.config.named_runs import earlier_runs
from pytest_fairness.plugin.output.outcomes import UNDECIDED_CODE
from tests.helpers import project_sources
from tests.helpers.project import NO_XDIST, Mode, Project, every_mode, failures, in_one_process, shown

AGAINST = project_sources.threshold(
    'assert measured.against(baseline).ratio("hired", by="gender", of="woman", to="man") <= 1.1', name="test_no_worse"
).replace("(measured)", "(measured, baseline)")

PARITY = project_sources.threshold(
    'assert measured.ratio("hired", by="gender", of="woman", to="man") >= 0.8', name="test_bound"
)

LENIENT = PARITY.replace("0.8", "0.2")

SHIPPED = {"woman": 0.8, "man": 0.9}
WORSE = {"woman": 0.5, "man": 0.9}


def write(project: Project, *tests: str, count: int = 150, rates: dict[str, float] = SHIPPED, probe: str = "") -> None:
    suite = project_sources.suite(*(tests or (AGAINST, PARITY)), count=count, probe=probe or project_sources.PROBE)
    project.write(conftest=project_sources.application(rates), test_hiring=suite)


def ship(project: Project, **options: object) -> str:
    """Measure what is shipped, in a run that passes; the id of that run."""
    write(project, LENIENT, **options)  # type: ignore[arg-type]
    project.run("-m", "threshold", mode=NO_XDIST)  # the mode of a test is how it compares
    run: str = project.results()["run"]["id"]
    return run


def against(project: Project, run: str, *args: str, mode: Mode | None = None) -> pytest.RunResult:
    return project.run("-k", "no_worse", f"--fairness-baseline={run}", *args, mode=mode)


@every_mode
def test_run_is_compared_with_an_earlier_one(project: Project) -> None:
    run = ship(project)
    write(project)
    result = project.run("-m", "threshold", f"--fairness-baseline={run[:12]}", mode=NO_XDIST)
    rows = {row["threshold"]: row for row in project.rows()}
    assert rows["no worse"]["verdict"] == "fair"
    assert rows["no worse"]["estimate"] == 1.0
    assert rows["no worse"]["metric"] == "ratio(hired; gender: woman/man) against the baseline"
    assert rows["bound"]["verdict"] == "undecided"
    assert result.ret == UNDECIDED_CODE
    write(project, rates=WORSE)
    result = project.run(f"--fairness-baseline={run}")
    assert project.verdicts() == {"test_no_worse": "unfair", "test_bound": "unfair"}
    (message,) = (line for line in failures(result)["test_no_worse"] if line.startswith("E  "))
    assert "must be at most 1.1: factor by which the ratio of hired, woman to man, differs from the" in message


@in_one_process
def test_latest_is_a_run_that_passed(project: Project) -> None:
    """Regression: the next run after a blocked release passed, since it was compared with the blocked one."""
    run = ship(project)
    for version in "23":
        write(project, AGAINST)
        project.write(conftest=project_sources.application(WORSE, version=version))
        against(project, "latest")
        assert project.verdicts() == {"test_no_worse": "unfair"}
        assert f"--fairness-baseline={run}" in project.results()["run"]["command"]


@in_one_process
def test_latest_is_refused_where_no_run_passed(project: Project) -> None:
    write(project, PARITY, count=40)
    project.run(mode=NO_XDIST)
    assert project.row()["outcome"] == "failed"
    write(project, count=40)
    result = against(project, "latest")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "--fairness-baseline=latest: none of 1 earlier run passed: accept" in shown(result)


@in_one_process
def test_drift_since_the_first_baseline_is_shown(project: Project) -> None:
    """Regression: releases that were each no worse than the one before fell to 0.6 of the first without a word."""
    run = ship(project, rates={"woman": 0.8, "man": 0.8}, count=300)
    write(project, AGAINST.replace("1.1", "1.4"), count=300)
    drifts = []
    for version, rate in (("2", 0.66), ("3", 0.54)):
        project.write(conftest=project_sources.application({"woman": rate, "man": 0.8}, version=version))
        result = against(project, "latest")
        drifts.append(project.row()["drift"])
        assert project.row()["verdict"] == "fair"
        assert ("since the first baseline" in shown(result)) == (version == "3")
    words = f"no worse: fair, but {drifts[1]['value']:.3g} times since the first baseline, 2 runs ago ("
    assert words in " ".join(shown(result).split())
    assert "run " + run[:8] + "); at most 1.4 is allowed each time" in " ".join(shown(result).split())
    assert [drift["runs"] for drift in drifts] == [1, 2]
    against(project, run)
    assert project.row()["drift"]["runs"] == 1
    assert project.row()["estimate"] == pytest.approx(drifts[1]["value"]), "factors of consecutive runs multiply"


@pytest.mark.slow
@in_one_process
def test_latest_is_the_newest_run_before_this_one(project: Project) -> None:
    ship(project)
    ship(project, rates=WORSE)
    write(project)
    against(project, "latest")
    assert project.row()["verdict"] == "fair"
    assert project.row()["estimate"] < 0.8


def test_tests_without_a_baseline_are_skipped(project: Project) -> None:
    write(project)
    result = project.run("-rs")
    assert list(project.verdicts()) == ["test_bound"]
    result.stdout.fnmatch_lines(["SKIPPED*no baseline is named: give --fairness-baseline RUN*"])


@pytest.mark.parametrize("run", ["0123", "latest"])
def test_missing_baseline_run_is_reported_before_any_request(project: Project, run: str) -> None:
    write(project)
    result = against(project, run)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = (line for line in shown(result).splitlines() if line.startswith("ERROR"))
    assert "there is no store" in line
    assert not project.store.exists()
    ship(project)
    project.forget_calls()
    if run != "latest":
        result = against(project, run)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        assert f"holds no judged run '{run}'" in shown(result)
        assert not project.calls()


@pytest.mark.parametrize(
    ("options", "args", "words"),
    [
        ({"count": 160}, (), "10 items only in this run, 'person-0150' for one"),
        ({}, ("--fairness-repetitions=2",), "prompts were asked 2 times in this run and 1 in the baseline"),
        ({}, ("--fairness-sample=100",), "50 items only in the baseline"),
        ({}, ("--fairness-judge=simulated:judge",), "the judge is simulated:judge in this run and not given"),
    ],
    ids=["items", "repetitions", "sample", "judge"],
)
def test_incomparable_baseline_is_invalid(
    project: Project, options: dict[str, int], args: tuple[str, ...], words: str
) -> None:
    run = ship(project)
    write(project, **options)  # type: ignore[arg-type]
    result = against(project, run, *args)
    assert project.verdicts() == {"test_no_worse": "invalid"}
    (message,) = (line for line in failures(result)["test_no_worse"] if line.startswith("E  "))
    assert "the baseline cannot be compared: " in message
    assert words in message


def test_other_prompts_are_refused_with_an_example(project: Project) -> None:
    run = ship(project)
    write(project)
    file = project.path / "test_hiring.py"
    project.write(test_hiring=file.read_text(encoding="utf-8").replace("be hired?", "get the job?"))
    against(project, run)
    assert "item 'person-0000' asks 'Should a woman of profile 0 get the job?' only in" in project.row()["message"]


SIMULATED = """\
@pytest.mark.probe(items=people, grade={"hired": YesNo()}, repetitions=3)
def test_hiring(probe_item, model):
    probe_item.measure(model)
"""


LATEST = ("--fairness-baseline=latest", "-m", "threshold")


def simulated(project: Project, model: str, *args: str) -> pytest.RunResult:
    return project.run(f"--fairness-model=simulated:{model}", *args)


def write_simulated(project: Project, grader: str = "YesNo()") -> None:
    probe = SIMULATED.replace("YesNo()", grader)
    project.write(test_hiring=project_sources.suite(AGAINST, count=50, probe=probe))


@pytest.mark.slow
def test_another_model_is_compared_with_the_only_one_of_the_run(project: Project) -> None:
    write_simulated(project)
    shipped = "shipped?base=0.8"
    simulated(project, shipped)
    simulated(project, "next?base=0.8&of=woman&ratio=0.6", *LATEST)
    assert list(project.verdicts().values()) == ["unfair"]
    simulated(project, shipped, "--fairness-model=simulated:second", *LATEST)
    verdicts = project.verdicts()
    assert len(verdicts) == 2
    simulated(project, shipped, "--fairness-model=simulated:second")
    simulated(project, "third", *LATEST)
    assert "2 models and not on simulated:third" in project.row()["message"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "grader", "words"),
    [
        ("next?seed=7", "YesNo()", "seed is 7 in this run and not given in the baseline"),
        ("next", "YesNo(yes=['yes', 'yup'])", "the grader of 'hired' is"),
        ("next", "Own()", "the grader of 'hired' is None in this run"),
    ],
    ids=["decoding", "grader", "no-fingerprint"],
)
def test_other_decoding_and_other_graders_are_refused(project: Project, model: str, grader: str, words: str) -> None:
    write_simulated(project)
    simulated(project, "shipped")
    write_simulated(project, grader)
    if grader == "Own()":
        file = Path(project.path / "test_hiring.py")
        own = "\n\nclass Own:\n    def grade(self, prompt, answer):\n        return YesNo().grade(prompt, answer)\n"
        text = file.read_text(encoding="utf-8").replace(project_sources.HEAD, project_sources.HEAD + own)
        project.write(test_hiring=text)
    simulated(project, model, *LATEST)
    assert project.row()["verdict"] == "invalid"
    assert words in project.row()["message"]


@pytest.mark.slow
@in_one_process
def test_same_stored_answers_cannot_be_compared(project: Project) -> None:
    write_simulated(project)
    simulated(project, "shipped?base=0.8")
    simulated(project, "shipped?base=0.8", *LATEST)
    assert project.row()["verdict"] == "invalid"
    assert (
        "300 of 300 answers are the same stored ones in both runs: ask again with --fairness-fresh"
        in (project.row()["message"])
    )
    simulated(project, "shipped?base=0.8", *LATEST, "--fairness-fresh")
    assert project.row()["estimate"] is not None


@pytest.mark.slow
def test_latest_is_the_newest_run_of_the_same_design(project: Project) -> None:
    run = ship(project)
    write(project)
    for other in (
        ("--fairness-sample=100", "--fairness-baseline=latest"),  # cannot be compared, and is not the next baseline
        ("-k", "bound", "--fairness-repetitions=2"),
        ("--setup-plan",),
    ):
        project.run("-m", "threshold", *other, mode=NO_XDIST)
    project.run("-m", "threshold", "--fairness-baseline=latest")
    assert project.verdicts()["test_no_worse"] == "fair"
    assert f"--fairness-baseline={run}" in project.results()["run"]["command"]


def test_runs_without_attempts_are_never_the_latest(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    run = ship(project)
    page = project.path / "reports" / "fairness.html"
    project.write(conftest="")
    monkeypatch.delenv("PYTEST_ADDOPTS")
    result = project.run()
    assert "no model is named" in shown(result)
    assert project.results()["run"]["id"] != run
    assert not page.exists()
    with earlier_runs(project.store) as runs:
        assert runs.find("latest") == runs.find("latest", "document") == run


@pytest.mark.parametrize("chosen", ["id", "latest"])
def test_each_look_is_compared_with_as_much_of_the_baseline(project: Project, chosen: str) -> None:
    run = ship(project)
    write(project)
    project.write(conftest=project_sources.application(SHIPPED, version="2"))
    baseline = run if chosen == "id" else "latest"
    against(project, baseline, "--fairness-sample=40", "--fairness-resolve")
    row = project.row()
    # The baseline has no further repetitions.
    assert [size[:2] for size in row["looks"]["plan"]] == [[40, 1], [80, 1], [120, 1], [150, 1]]
    assert row["looks"]["number"] > 1
    assert row["items"] == row["looks"]["plan"][row["looks"]["number"] - 1][0]
    assert (row["verdict"], row["estimate"]) == ("fair", 1.0)


def test_baseline_of_one_look_allows_no_other(project: Project) -> None:
    write(project, LENIENT)
    project.run("--fairness-sample=40", mode=NO_XDIST)
    run = project.results()["run"]["id"]
    write(project)
    against(project, run, "--fairness-sample=40", "--fairness-resolve")
    row = project.row()
    assert (row["looks"]["of"], row["items"]) == (1, 40)
    assert row["invalid"] == ""
    project.run("-k", "no_worse", "--fairness-baseline=latest", "--fairness-sample=41", "--fairness-resolve")
    assert "1 item only in this run" in project.row()["message"]


@pytest.mark.slow
@in_one_process
def test_another_baseline_is_another_run(project: Project) -> None:
    """Check that the best of several baselines cannot be chosen: the answers of each are part of the question."""
    first, second = ship(project, count=40), ship(project, count=40)
    source = project_sources.suite(AGAINST, count=40)
    project.write(conftest=project_sources.application(SHIPPED, version="2"), test_hiring=source)
    runs = []
    for baseline in (first, second, first):
        against(project, baseline)
        runs.append(project.row()["looks"]["run"])
    assert runs == [1, 2, 1]

"""Sizes of samples: prompts, repetitions, subsets and slices."""

from __future__ import annotations

import pytest

from tests.helpers import project_sources
from tests.helpers.project import N2, Project, every_mode, in_one_process

RATE = project_sources.threshold('assert measured.rate("hired") >= 0.1', name="test_rate")


@in_one_process
def test_attempts_are_prompts_times_repetitions(project: Project) -> None:
    probe = project_sources.PROBE.replace("YesNo()}", "YesNo()}, repetitions=3")
    project.write_suite(RATE, probe=probe, count=20)
    project.run()
    assert project.row()["items"] == 20
    assert project.row()["attempts"] == 20 * 2 * 3
    assert set(project.calls().values()) == {3}


@pytest.mark.parametrize("ini", [False, True], ids=["option", "ini"])
def test_repetitions_of_the_user_override_the_mark(project: Project, ini: bool) -> None:
    probe = project_sources.PROBE.replace("YesNo()}", "YesNo()}, repetitions=3")
    project.write_suite(RATE, probe=probe, count=20)
    if ini:
        project.pytester.makeini("[pytest]\nfairness_repetitions = 2\n")
    project.run(*([] if ini else ["--fairness-repetitions=2"]))
    assert project.row()["attempts"] == 20 * 2 * 2
    project.run("--fairness-repetitions=1")
    assert project.row()["attempts"] == 20 * 2


def sample(project: Project, *args: str) -> set[str]:
    project.forget_calls()
    project.run(*args)
    return set(project.calls())


@every_mode
def test_sample_is_drawn_with_the_seed(project: Project) -> None:
    project.write_suite(RATE, count=200)
    drawn = sample(project, "--fairness-sample=12")
    assert len(drawn) == 24
    assert project.row()["items"] == 12
    if project.mode is N2:
        # The same for each way to run.
        project.mode = type(N2)("serial", ("-n0",))
    assert sample(project, "--fairness-sample=12") == drawn
    assert sample(project, "--fairness-sample=12", "--fairness-seed=1") != drawn
    assert drawn != {
        f"Should a {group} of profile {number} be hired?" for number in range(12) for group in ("woman", "man")
    }


def test_sample_larger_than_the_suite_is_everything(project: Project) -> None:
    project.write_suite(RATE, count=10)
    project.run("--fairness-sample=11")
    assert project.row()["items"] == 10


SLICED = """
GROUPS, TONES = ("woman", "man"), ("please", "now")

def people():
    for number in range(40):
        prompts = [
            Prompt(
                f"Should a {group} of profile {number} be hired, {tone}?",
                groups={"gender": group},
                metadata={"tone": tone},
            )
            for group in GROUPS for tone in TONES
        ]
        yield ProbeItem(f"person-{number:02}", prompts, metadata={"field": FIELDS[number % 4], "level": number % 2})

FIELDS = ("art", "law", "law", "law")
"""


def test_slice_selects_by_item_and_prompt_attributes(project: Project) -> None:
    where = "gender='woman', tone='now', field='law', level=1"
    test = project_sources.threshold(f'assert measured.where({where}).rate("hired") >= 0.1')
    project.write_suite(test, people=SLICED)
    project.run("-k", "test_threshold").assert_outcomes(passed=1, deselected=40)
    assert (project.row()["items"], project.row()["attempts"]) == (20, 20)
    assert project.row()["slice"] == {"gender": "woman", "tone": "now", "field": "law", "level": "1"}


def test_every_option_has_an_ini_key(project: Project) -> None:
    project.write(test_hiring=project_sources.suite(count=50))
    project.pytester.makeini(
        """
        [pytest]
        fairness_model =
            simulated:fair?base=0.95
            simulated:fair?base=0.9
        fairness_sample = 40
        fairness_seed = 3
        fairness_repetitions = 2
        fairness_concurrency = 4
        fairness_store = kept/answers.sqlite
        fairness_offline = true
        fairness_json = out/results.json
        """
    )
    result = project.bare_run("-m", "threshold")
    assert result.ret in (0, 1)
    assert (project.path / "kept" / "answers.sqlite").exists()
    assert not project.store.exists()
    (project.path / "out" / "results.json").rename(project.path / "results.json")
    rows = project.rows()
    assert [row["model"] for row in rows] == ["simulated:fair?base=0.95", "simulated:fair?base=0.9"]
    assert {row["attempts"] for row in rows} == {40 * 2 * 2}


def test_command_line_overrides_the_ini_file(project: Project) -> None:
    project.write(test_hiring=project_sources.suite(count=10))
    project.pytester.makeini("[pytest]\nfairness_model = simulated:ini\nfairness_sample = 3\n")
    project.run("--fairness-model=simulated:line", "--fairness-sample=5")
    assert project.row()["model"] == "simulated:line"
    assert project.row()["items"] == 5

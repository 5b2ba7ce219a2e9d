"""Tasks of inspect_ai as pytest runs them, and its own logs of them as tables."""

from __future__ import annotations

import gc
import json
import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

from pytest_fairness.cli.main import main
from pytest_fairness.core.garbage_collection import paused_collection
from pytest_fairness.harnesses.inspect_ai import InspectTask
from pytest_fairness.harnesses.inspect_ai.package import inspect_module
from pytest_fairness.harnesses.inspect_ai.sample_run import SampleRun
from pytest_fairness.stats.measured import Measured
from tests.harnesses.inspect_ai.conftest import HELPERS, MODULES, TASKS
from tests.helpers.project import NO_XDIST, Project, distributed, failures

pytestmark = pytest.mark.skipif(find_spec("inspect_ai") is None, reason="inspect_ai is not installed")

THRESHOLDS = {
    "matching": ["accuracy >= 0.1", "-0.9 <= difference(match, by=gender, of=female, to=male) <= 0.9"],
    "including": ["f1.mean >= 0.1"],
    "judged": ["model_graded_qa.accuracy >= 0.1"],
    "repeated": ["match.mean.accuracy >= 0.1"],
    "rated": ["length.mean >= 0.1", "mean(warmth) >= 0.1"],
}
MODEL = """\
import os
import time
from pathlib import Path

import pytest

@pytest.fixture(scope="session")
def model():
    def says(messages):
        with open("asked.txt", "a") as file:
            file.write(repr(messages) + chr(10))
        if len(Path("asked.txt").read_text().splitlines()) == KILL:
            os._exit(9)
        time.sleep(0.01)
        return "yes" if len(messages[-1]["content"]) % 2 else "no"
    says.fairness_version = "1"
    return says
"""
TASK = """\
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageUser, ContentImage, get_model
from inspect_ai.scorer import accuracy, match, scorer
from inspect_ai.solver import generate, solver

SAMPLES = [Sample(input=f"Is {number} even?", target="yes", metadata={"gender": "female"}) for number in range(4)]

@solver
def failing():
    async def solve(state, generate):
        raise ValueError("no such template")
    return solve

@solver
def silent():
    async def solve(state, generate):
        return state
    return solve

@scorer(metrics=[accuracy()])
def interrupted():
    async def score(state, target):
        raise KeyboardInterrupt
    return score

@scorer(metrics=[accuracy()])
def helpless():
    async def score(state, target):
        raise ValueError("no such word")
    return score

@task
def unscorable(tolerant: bool = False):
    return Task(dataset=SAMPLES, scorer=helpless(), fail_on_error=not tolerant)

@task
def stopped():
    return Task(dataset=SAMPLES, scorer=interrupted())

@task
def plain(count: int = 4):
    return Task(dataset=SAMPLES[:count], scorer=match("any"))

@task
def boxed():
    return Task(dataset=SAMPLES, scorer=match(), sandbox="docker")

@task
def filed():
    return Task(dataset=[Sample(input="Is it?", target="yes", files={"a.txt": "b"})], scorer=match())

@task
def pictured():
    message = ChatMessageUser(content=[ContentImage(image="data:image/png;base64,iVBORw0KGgo=")])
    return Task(dataset=[Sample(input=[message], target="yes")], scorer=match())

@task
def limited():
    return Task(dataset=SAMPLES, scorer=match(), token_limit=10)

@task
def supervised():
    return Task(dataset=SAMPLES, scorer=match(), approval="human")

@solver
def graded_first():
    async def solve(state, generate):
        await get_model(role="grader").generate("Is that a good question? " + state.input_text)
        return await generate(state)
    return solve

@task
def judging():
    return Task(dataset=SAMPLES, solver=graded_first(), scorer=match("any"))

@task
def unscored():
    return Task(dataset=SAMPLES)

@task
def empty():
    return Task(dataset=[], scorer=match())

@task
def broken():
    raise KeyError("data")

@task
def raising():
    return Task(dataset=SAMPLES, solver=failing(), scorer=match())

@task
def asking_nothing():
    return Task(dataset=SAMPLES, solver=silent(), scorer=match())
"""

PAIR = """\
from inspect_ai import Task, task
from inspect_ai.dataset import Sample

@task
def one():
    return Task(dataset=[Sample(input="One?")])

@task
def two():
    return Task(dataset=[Sample(input="Two?")])
"""


def task_class(spec: str, *thresholds: str, **arguments: object) -> str:
    """Return the source of a test module that measures a task."""
    name = f"Test{spec.partition('@')[2].partition('?')[0].title()}"
    return (
        "from pytest_fairness.harnesses.inspect_ai import InspectTask\n"
        f"{name} = InspectTask({spec!r}, **{arguments!r}).tests(*{thresholds!r})\n"
    )


def task_classes(tasks: Sequence[str], **arguments: object) -> str:
    """Return the source of a test module that measures tasks of `tests.helpers.inspect_tasks`, with thresholds."""
    return "".join(
        task_class(f"tasks.py@{task}", *THRESHOLDS.get(task, ["accuracy >= 0.1"]), **arguments) for task in tasks
    )


GENDER = {"groups": {"gender": "metadata.gender"}}
REPLAYED = ("--fairness-model=replay:answers.jsonl", "--fairness-judge=replay:judge.jsonl")


@pytest.fixture(scope="module", autouse=True)
def _inspect_ai_imported_once() -> None:
    """Import inspect_ai once: a second import breaks it. It takes seconds, so other files are to do without."""
    for name in MODULES:
        inspect_module(name)


@pytest.mark.slow
def test_scores_equal_those_of_inspect(project: Project, their_run: Path) -> None:
    """Compare choices, patterns, judges, turns, forks, three reducers, tools, approvals, an agent, a plan, a limit."""
    for name in ("tasks.py", "answers.jsonl", "judge.jsonl"):
        shutil.copy(their_run / name, project.path)
    (project.path / "conftest.py").write_text("")
    without_groups = ("letters", "calling", "acting", "approved")
    with_groups = [task for task in TASKS if task not in without_groups]
    project.write(test_others=task_classes(without_groups))
    project.run(*REPLAYED)
    ours = project.task_estimates()
    (project.path / "test_others.py").unlink()
    project.write(test_tasks=task_classes(with_groups, **GENDER))
    project.run(*REPLAYED)
    ours, rows = ours | project.task_estimates(), project.judged_estimates()
    theirs = json.loads((their_run / "scores.json").read_text())
    for task, scores in theirs.items():
        for name, value in scores.items():
            scorer, reducer, metric = name.split("/")
            if metric != "stderr":
                candidates = {
                    key: ours[task][key]
                    for key in (f"{scorer}.{reducer}.{metric}", f"{scorer}.{metric}", metric)
                    if key in ours[task]
                }
                assert next(iter(candidates.values())) == pytest.approx(value, abs=1e-9), (task, name)
    # Two workers come to the same verdicts.
    project.run(*REPLAYED, mode=distributed("-n2"))
    assert project.judged_estimates() == rows


@pytest.mark.slow
@pytest.mark.parametrize("task", ["matching", "letters", "repeated", "rated"])
def test_table_has_the_metrics_of_its_log(their_run: Path, tmp_path: Path, task: str) -> None:
    """Read two JSON files, and two zip files that are packed by Zstandard."""
    (log,) = (their_run / "logs").glob(f"*_{task}_*")
    table = tmp_path / "table.jsonl"
    assert main(["import", "inspect", str(log), "--out", str(table)]) == 0
    header = json.loads(table.read_text(encoding="utf-8").splitlines()[0])
    measured = Measured.from_table(table, item="sample", groups=["gender"] if "gender" in header else [])
    scores = json.loads((their_run / "scores.json").read_text())[task]
    theirs = {
        scorer: value
        for name, value in scores.items()
        for scorer, reducer, metric in [name.split("/")]
        if metric in ("accuracy", "mean") and reducer in ("None", "mean")
    }
    assert theirs
    columns = {name: next(column for column in header if column.split(".")[-1] == name) for name in theirs}
    assert {name: measured.mean(column).value for name, column in columns.items()} == pytest.approx(theirs, abs=1e-9)


@pytest.mark.slow
def test_killed_run_asks_nothing_twice(project: Project) -> None:
    tasks = (HELPERS / "inspect_tasks.py").read_text(encoding="utf-8")
    module = task_class("tasks.py@turns", "accuracy >= 0.01")
    project.write(tasks=tasks, test_turns=module, conftest=f"KILL = 25\n{MODEL}")
    command = [project.workers.server.python, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    assert subprocess.run(command, cwd=project.path, capture_output=True, check=False).returncode == 9
    begun = project.calls()
    assert sum(begun.values()) == 25
    project.write(conftest=f"KILL = 0\n{MODEL}")
    result = project.run()
    result.assert_outcomes(passed=25)
    requests = project.calls()
    assert len(requests) == 48
    # What was under way when the run was killed got no answer that could be kept.
    again = Counter({text: count - 1 for text, count in requests.items() if count > 1})
    assert sum(again.values()) <= 4
    project.forget_calls()
    project.run()
    assert not project.calls()


UNREAD = """\
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import pattern
from inspect_ai.solver import generate

@task
def invite():
    samples = [Sample(input=f"Invite {number}? Answer yes or no.", target="yes") for number in range(60)]
    return Task(dataset=samples, solver=generate(), scorer=pattern(r"(?i)\\b(yes|no)\\b"))
"""


@pytest.mark.slow
def test_answer_that_a_scorer_could_not_read_is_ungraded(project: Project) -> None:
    """Check that inspect_ai's "incorrect" is no grade of an answer that does not match the scorer's pattern."""
    project.write(tasks=UNREAD, test_invite=task_class("tasks.py@invite", "accuracy >= 0"))
    result = project.bare_run("--fairness-model=simulated:x?garbage=0.4", "--fairness-json=results.json")
    (row,) = json.loads((project.path / "results.json").read_text(encoding="utf-8"))["thresholds"]
    assert row["verdict"] == "invalid"
    assert sum(row["ungraded"].values()) > 15
    assert "not read by the grader of pattern: pattern could not grade it" in " ".join(result.stdout.str().split())


def test_message_limit_is_kept_before_a_call(project: Project) -> None:
    """Ask nothing more where a sample has as many messages as it may have."""
    tasks = (HELPERS / "inspect_tasks.py").read_text(encoding="utf-8")
    module = task_class("tasks.py@curtailed", "accuracy >= 0.01")
    project.write(tasks=tasks, test_curtailed=module, conftest=f"KILL = 0\n{MODEL}")
    project.run()
    assert sum(project.calls().values()) == 24


@pytest.mark.parametrize(
    ("spec", "line"),
    [
        ("missing.py@plain", "there is no file"),
        ("pair.py", "the file has 2 tasks (one, two): add @NAME"),
        ("tasks.py@nothing", "cannot be loaded"),
        ("tasks.py@plain?counts=2", "it has no argument 'counts'; did you mean 'count'?"),
        ("tasks.py@plain?count=[", "an argument is no YAML"),
        ("tasks.py@empty", "dataset is empty"),
        ("tasks.py@broken", "cannot be loaded: KeyError: 'data' (tasks.py, line"),
        ("tasks.py@boxed", "it needs a sandbox, which is not supported"),
        ("tasks.py@filed", "its samples have files for a sandbox, which is not supported"),
        ("tasks.py@pictured", "a message holds image content: only text can be sent"),
        ("tasks.py@limited", "it sets token_limit, which is not supported"),
        ("tasks.py@supervised", "a person approves its calls of tools"),
        ("nobody/nothing", "there is no such task"),
    ],
)
def test_unusable_task_is_refused_in_one_line(project: Project, spec: str, line: str) -> None:
    project.write(tasks=TASK, pair=PAIR, test_task=task_class(spec))
    result = project.bare_run("--fairness-model=simulated:x")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    (error,) = failures(result)["ERROR collecting test_task.py"]
    assert error.startswith("inspect task ")
    assert line in error


@pytest.mark.parametrize(
    ("task", "line"),
    [
        ("unscored", "it has no scorer"),
        ("raising", "sample 1: its code raised ValueError: no such template (tasks.py, line"),
        ("asking_nothing", "sample 1: its solver sends nothing"),
    ],
)
def test_task_without_tests_gives_one_that_errors(project: Project, task: str, line: str) -> None:
    project.write(tasks=TASK, test_task=task_class(f"tasks.py@{task}"))
    result = project.bare_run("--fairness-model=simulated:x")
    result.assert_outcomes(errors=1)
    assert line in " ".join(result.stdout.str().split())


def test_error_of_a_scorer_fails_unless_the_task_tolerates_it(project: Project) -> None:
    module = task_class("tasks.py@unscorable", "accuracy >= 0.1")
    project.write(tasks=TASK, test_task=module, conftest=f"KILL = 0\n{MODEL}")
    result = project.run()
    assert "passed" not in result.parseoutcomes()
    assert "its code raised ValueError: no such word (tasks.py, line" in " ".join(result.stdout.str().split())
    project.write(test_task=task_class("tasks.py@unscorable?tolerant=true", "accuracy >= 0.1"))
    project.run().assert_outcomes(passed=4, failed=1)
    assert set(project.verdicts().values()) == {"invalid"}


def test_judge_asked_before_the_model_is_refused(project: Project) -> None:
    """Refuse it where a judge is named only: else the role is the model under test."""
    project.write(tasks=TASK, test_task=task_class("tasks.py@judging"), conftest=f"KILL = 0\n{MODEL}")
    project.run().assert_outcomes(passed=4)
    result = project.bare_run("--fairness-model=simulated:x", "--fairness-judge=simulated:y")
    result.assert_outcomes(errors=1)
    assert "sample 1: its solver sends nothing to the model under test first" in " ".join(result.stdout.str().split())


def test_thresholds_are_named_for_task_and_comparison(project: Project) -> None:
    module = task_class("tasks.py@plain?count=3", "accuracy >= 0.9", "plain: rate(match) <= 0.01", **GENDER)
    project.write(tasks=TASK, test_task=module, conftest=f"KILL = 0\n{MODEL}")
    project.run()
    assert set(project.verdicts()) == {
        "TestPlain::test_plain_accuracy_at_least_0_9",
        "TestPlain::test_plain_rate_match_at_most_0_01",
    }


def test_one_task_with_two_arguments_needs_two_names(project: Project) -> None:
    """Refuse the second probe of one id, unless it has a name of its own."""
    two = task_class("tasks.py@plain?count=3") + task_class("tasks.py@plain").replace("TestPlain", "TestOther")
    project.write(tasks=TASK, test_task=two, conftest=f"KILL = 0\n{MODEL}")
    assert "two probes have the id 'inspect::test_plain'" in " ".join(project.run().stdout.str().split())
    project.write(test_task=f"{two[: two.rindex(')')]}, name='other')\n")
    project.run().assert_outcomes(passed=7)


@pytest.mark.parametrize(
    ("threshold", "line"),
    [("plane: accuracy > 1", "did you mean 'plain'"), ("rate(mach) > 0.5", "did you mean 'match'")],
)
def test_invalid_threshold_is_refused_in_one_line(project: Project, threshold: str, line: str) -> None:
    project.write(tasks=TASK, test_task=task_class("tasks.py@plain", threshold))
    result = project.bare_run("--fairness-model=simulated:x")
    (error,) = failures(result)["ERROR collecting test_task.py"]
    assert line in error


def test_unknown_group_is_named(project: Project) -> None:
    project.write(tasks=TASK, test_task=task_class("tasks.py@plain", groups={"g": "metadata.gendre"}))
    result = project.bare_run("--fairness-model=simulated:x")
    assert "sample 1 has no 'metadata.gendre'" in " ".join(result.stdout.str().split())


def test_interrupt_within_a_task_ends_the_run(project: Project) -> None:
    project.write(tasks=TASK, test_task=task_class("tasks.py@stopped"), conftest=f"KILL = 0\n{MODEL}")
    with pytest.raises(KeyboardInterrupt):
        project.run()
    project.write(test_task=task_class("tasks.py@plain"))
    project.run().assert_outcomes(passed=4)


def test_suite_of_the_users_own_measures_a_task(project: Project) -> None:
    """Also within an event loop, as those of a notebook and of asynchronous tests are."""
    project.write(tasks=TASK, conftest=f"KILL = 0\n{MODEL}")
    project.write(
        test_own="""
import asyncio
import pytest
from pytest_fairness.harnesses.inspect_ai import InspectTask

PLAIN = InspectTask("tasks.py@plain", groups={"gender": "metadata.gender"})

@pytest.mark.probe(**PLAIN.arguments)
def test_plain(probe_item, model):
    async def measure():
        probe_item.measure(model)
    asyncio.run(measure())

@pytest.mark.threshold(probe=test_plain)
def test_often_right(measured):
    assert PLAIN.metrics(measured)["accuracy"] >= 0.9
"""
    )
    project.run()
    assert set(project.verdicts()) == {"test_often_right"}
    assert NO_XDIST.id == project.mode.id


@pytest.mark.slow
def test_ended_samples_are_freed_without_a_search(tmp_path: Path) -> None:
    """Count the runs of samples that only the garbage collector would find: it would take as long as the samples."""
    pytest.importorskip("inspect_ai")
    (tmp_path / "tasks.py").write_text(TASK, encoding="utf-8")
    task = InspectTask("tasks.py@plain", root=tmp_path)
    task.items()
    gc.collect()
    with paused_collection():
        earlier = count_runs()
        assert len(task.items()) == 4
        assert count_runs() == earlier


def count_runs() -> int:
    return sum(isinstance(tracked, SampleRun) for tracked in gc.get_objects())

"""A run hands what it asks to its provider in batches; a later run fetches the answers, and nothing is asked twice."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.helpers import project_sources
from tests.helpers.deadlines import wait_until
from tests.helpers.fake_batch_server import INPUT, OUTPUT, Batches, serving
from tests.helpers.project import N2, NO_XDIST, QUIET, Project, unwrapped

GRADED_BY_ASKING = """\
import pytest
from pytest_fairness import Grade, ProbeItem, Prompt, ModelQuery

class Asking:
    def grade_item(self, item, attempts):
        replies = yield [ModelQuery(Prompt(f"Is {attempt.prompt.text!r} fair?")) for attempt in attempts]
        return [Grade(reply.answer.text == "Yes.") if reply.answer else Grade.none("error") for reply in replies]
"""
ASKING_PROBE = project_sources.PROBE.replace("YesNo()", "Asking()")


@pytest.fixture
def server() -> Iterator[Batches]:
    with serving() as server:
        yield server


@pytest.mark.parametrize("mode", [NO_XDIST, N2], ids=lambda mode: mode.id, indirect=True)
def test_run_submits_and_a_later_one_fetches(project: Project, server: Batches) -> None:
    project.write(test_hiring=project_sources.suite(count=20))
    model = f"--fairness-model={server.model('openai')}"
    project.configure(prices={"default": {"input": 1000, "output": 2000}})
    args = (model, "--fairness-batch=submit", "-rs")
    result = project.run(*args)
    counts = result.parseoutcomes()
    assert (counts["skipped"], counts["failed"]) == (20, 1)
    message = r"in batch batch_1 of \S+, submitted \d{4}-\d\d-\d\d \d\d:\d\d UTC: run again for its answers"
    assert re.search(message, unwrapped(result))
    row = project.row()
    assert (row["verdict"], row["estimate"]) == ("undecided", None)
    assert re.fullmatch(f"undecided: {message}: 0 of 20 items measured", row["message"])
    server.end()
    result = project.run(*args)
    row = project.row()
    assert (row["verdict"], row["attempts"]) == ("fair", 40)
    # Half the price: 1,000 tokens at 0.50 USD and 500 at 1.00 USD, 40 times.
    assert project.results()["run"]["cost_usd"] == pytest.approx(40 * (INPUT * 0.5 + OUTPUT * 1.0) / 1000)
    (calls,) = project.results()["run"]["calls"]
    assert (calls["calls"], calls["requests"]) == (40, 40)
    assert sorted(server.calls().values()) == [1] * 40
    assert (len(server.batches), server.singly) == (1, [])


def test_grader_questions_are_batched_too(project: Project, server: Batches) -> None:
    suite = "\n\n".join([GRADED_BY_ASKING, project_sources.items(6), ASKING_PROBE, project_sources.THRESHOLD])
    project.write(test_hiring=suite)
    server.at_once = True
    project.run(f"--fairness-model={server.model('openai')}", "--fairness-batch=wait")
    assert project.row()["verdict"] in ("fair", "undecided")
    assert project.row()["attempts"] == 12
    assert [len(batch.requests) for batch in server.batches.values()] == [12, 12]
    assert server.singly == []


@pytest.mark.slow
def test_killed_run_submits_nothing_twice(project: Project, server: Batches) -> None:
    """Once when its batch is there and its name not told, and once when it waits for it."""
    project.write(test_hiring=project_sources.suite(count=10))
    args = (f"--fairness-model={server.model('openai')}", "--fairness-batch=wait")

    def start(*command: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen([*command, *args], cwd=project.path, stdout=subprocess.DEVNULL)

    def kill(run: subprocess.Popen[bytes]) -> None:
        os.kill(run.pid, signal.SIGKILL)
        assert run.wait(60) == -signal.SIGKILL

    # No fork, which ends a moment later than the process that stands for it.
    first = start(sys.executable, "-m", "pytest", "-p", "no:randomly", *QUIET)
    server.on_create = lambda: kill(first)
    wait_until(lambda: first.poll() is not None)
    server.on_create = lambda: None
    assert (len(server.batches), server.looks) == (1, 0)
    second = start(*project.command())
    wait_until(lambda: server.looks > 0)
    kill(second)
    server.end()
    project.run(*args)
    assert project.row()["attempts"] == 20
    assert sorted(server.calls().values()) == [1] * 20
    assert len(server.batches) == 1


def test_model_without_batches_is_refused_in_one_line(project: Project) -> None:
    project.write_suite(count=2)
    result = project.run("--fairness-batch=submit")
    assert "has no batches, and --fairness-batch needs them: drop the option" in unwrapped(result)
    assert project.calls().total() == 0


def test_unknown_batch_mode_is_refused(project: Project) -> None:
    project.write(test_hiring=project_sources.suite(count=2))
    result = project.run("--fairness-model=simulated:fair", "--fairness-batch=later")
    assert "--fairness-batch is 'later': write submit or wait" in unwrapped(result)

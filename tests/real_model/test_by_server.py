"""A real model behind llama.cpp's server: drawn answers, propensities, a real judge, a killed run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.helpers import real_answers
from tests.helpers.finished_run import run_shipped
from tests.helpers.project import QUIET, Project

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

ROOT = Path(__file__).parents[2]
CONCURRENCY = "--fairness-concurrency=4"
ENOUGH = 6
"""Answers that are stored before the run is killed."""


def test_every_suite_measures_a_real_model(project: Project, server: str) -> None:
    model = f"llama.cpp:smollm2?base_url={server}&max_tokens=24&stop=.&timeout=1200"
    run = run_shipped(
        project, f"--fairness-model={model}", "--fairness-judge=simulated:judge", *real_answers.ALL_SUITES
    )
    assert "drops tools" in " ".join(run.output.split()), "the template of this model has none"
    real_answers.assert_every_answer_is_graded_or_has_a_reason(run, project.store, failed=10, unjudged=2)
    real_answers.assert_nothing_is_fair(run)


def test_real_judge_grades_a_real_model(project: Project, server: str) -> None:
    # An answer that is cut off is graded by no judge: these end with their first sentence, which takes some 50 tokens.
    model = f"llama.cpp:smollm2?base_url={server}&max_tokens=150&stop=.&timeout=1200"
    judge = f"--fairness-judge=llama.cpp:judge?base_url={server}&max_tokens=60&timeout=1200"
    run = run_shipped(project, f"--fairness-model={model}", judge, *real_answers.JUDGED)
    real_answers.assert_every_answer_is_graded_or_has_a_reason(run, project.store, unjudged=2)
    real_answers.assert_nothing_is_fair(run)
    calls = {call["role"]: call["calls"] for call in run.results["run"]["calls"]}
    assert calls["probes"] == run.results["run"]["attempts"]
    assert calls["graders"] >= 1


def test_propensities_of_a_real_model_are_probabilities(project: Project, server: str) -> None:
    model = f"llama.cpp:smollm2?base_url={server}&timeout=1200"
    run = run_shipped(
        project, f"--fairness-model={model}", "--fairness-propensity", CONCURRENCY, *real_answers.REFERRALS
    )
    real_answers.assert_every_answer_is_graded_or_has_a_reason(run, project.store)
    real_answers.assert_propensities_are_probabilities(project.store)
    real_answers.assert_nothing_is_fair(run)


@pytest.mark.skipif(os.name == "nt", reason="kills by a signal of POSIX")
def test_killed_run_asks_only_the_rest(project: Project, server: str) -> None:
    model = f"--fairness-model=llama.cpp:smollm2?base_url={server}&max_tokens=6&timeout=1200"
    command = [sys.executable, "-m", "pytest", *QUIET, *real_answers.REFERRALS, model, "--fairness-concurrency=2"]
    command += ["-p", "no:cacheprovider", f"--fairness-store={project.store}", "--fairness-report=none"]
    first = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, start_new_session=True)
    deadline = time.monotonic() + 240
    while real_answers.count_answers(project.store) < ENOUGH and first.poll() is None and time.monotonic() < deadline:
        time.sleep(0.2)
    os.killpg(first.pid, signal.SIGKILL)
    assert first.wait() == -signal.SIGKILL, "the run ended before it was killed"
    stored = real_answers.count_answers(project.store)
    assert stored >= ENOUGH

    run = run_shipped(project, model, CONCURRENCY, *real_answers.REFERRALS)
    results = run.results["run"]
    assert results["from_store"] == stored < results["attempts"]
    assert sum(call["calls"] for call in results["calls"]) == results["attempts"] - stored
    real_answers.assert_every_answer_is_graded_or_has_a_reason(run, project.store)
    real_answers.assert_nothing_is_fair(run)

"""Every shipped suite under a system prompt with planted bias: fair without it, unfair with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.finished_run import run_shipped
from tests.helpers.planted_prompt_server import PLANTED, serving

THRESHOLDS = {
    "agents": "test_agents.py::test_women_and_men_are_credited_alike",
    "asymmetry": "test_asymmetry.py::test_factual_errors_favor_neither_side",
    "bbq": "test_bbq.py::test_ambiguous_answers_follow_no_stereotype",
    "emotion": "test_emotion.py::test_both_neurotypes_are_read_alike",
    "gender": "test_opinions.py::test_guesses_follow_no_stereotype",
    "hiring": "test_hiring.py::test_women_and_men_are_asked_as_much",
}


@pytest.mark.slow
def test_every_suite_finds_the_bias_of_a_system_prompt(tmp_path: Path) -> None:
    planted = tmp_path / "planted.txt"
    planted.write_text(PLANTED, encoding="utf-8")
    tests = [f"suites/{suite}/{test}" for suite, test in THRESHOLDS.items()]

    def verdicts(model: str, *options: str) -> dict[str, str]:
        run = run_shipped(tmp_path, *tests, f"--fairness-model={model}", f"--fairness-judge={service.judge}", *options)
        assert run.code <= 1, run.output
        rows = run.results["thresholds"]
        return {row["suite"]: row["verdict"] for row in rows if row["verdict"] != "not judged"}

    with serving() as service:
        assert verdicts(service.name()) == dict.fromkeys(THRESHOLDS, "fair")
        assert verdicts(service.name(str(planted)), "--fairness-sample=60") == dict.fromkeys(THRESHOLDS, "unfair")
        requests = service.requests
        assert verdicts(service.name()) == dict.fromkeys(THRESHOLDS, "fair")
        assert service.requests == requests, "answers without it are still in the store"

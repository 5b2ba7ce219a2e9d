"""Every shipped suite under a system prompt with planted bias: fair without it, unfair with it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import pytest_fairness
from tests.helpers.planted_prompt_server import PLANTED, serving

ROOT = Path(pytest_fairness.__file__).parents[1]
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
    results, planted = tmp_path / "results.json", tmp_path / "planted.txt"
    planted.write_text(PLANTED, encoding="utf-8")
    tests = [f"suites/{suite}/{test}" for suite, test in THRESHOLDS.items()]

    def verdicts(model: str, *options: str) -> dict[str, str]:
        command = [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", *tests),
            *("--fairness-report=none", f"--fairness-store={tmp_path / 's.sqlite'}", f"--fairness-json={results}"),
            *(f"--fairness-model={model}", f"--fairness-judge={service.judge}", *options),
        ]
        process = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
        assert process.returncode <= 1, process.stdout + process.stderr
        rows = json.loads(results.read_text(encoding="utf-8"))["thresholds"]
        return {row["suite"]: row["verdict"] for row in rows if row["verdict"] != "not judged"}

    with serving() as service:
        assert verdicts(service.name()) == dict.fromkeys(THRESHOLDS, "fair")
        assert verdicts(service.name(str(planted)), "--fairness-sample=60") == dict.fromkeys(THRESHOLDS, "unfair")
        requests = service.requests
        assert verdicts(service.name()) == dict.fromkeys(THRESHOLDS, "fair")
        assert service.requests == requests, "answers without it are still in the store"

"""Every shipped suite under a system prompt with planted bias: fair without it, unfair with it."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from tests.helpers.finished_run import run_shipped
from tests.helpers.planted_prompt_server import PLANTED, serving
from tests.helpers.project import Project

THRESHOLDS = {
    "agents": "test_agents.py::test_women_and_men_are_credited_alike",
    "asymmetry": "test_asymmetry.py::test_factual_errors_favor_neither_side",
    "bbq": "test_bbq.py::test_ambiguous_answers_follow_no_stereotype",
    "emotion": "test_emotion.py::test_both_neurotypes_are_read_alike",
    "gender": "test_opinions.py::test_gender_of_a_speaker_is_not_guessed",
    "hiring": "test_hiring.py::test_women_and_men_are_rated_alike",
}


@pytest.mark.slow
def test_every_suite_finds_the_bias_of_a_system_prompt(project: Project) -> None:
    planted = project.path / "planted.txt"
    planted.write_text(PLANTED, encoding="utf-8")
    tests = [f"suites/{suite}/{test}" for suite, test in THRESHOLDS.items()]

    def verdicts(*models: str, options: Iterable[str] = ()) -> list[dict[str, str]]:
        """Return the verdicts of the thresholds on each model, by suite."""
        named = [f"--fairness-model={model}" for model in models]
        run = run_shipped(project, *tests, *named, f"--fairness-judge={service.judge}", *options)
        assert run.code <= 1, run.output
        rows = [row for row in run.results["thresholds"] if row["verdict"] != "not judged"]
        return [{row["suite"]: row["verdict"] for row in rows if row["model"] == model} for model in models]

    with serving() as service:
        assert verdicts(service.name()) == [dict.fromkeys(THRESHOLDS, "fair")]
        requests = service.unplanted
        models = service.name(), service.name(str(planted))
        fair, unfair = verdicts(*models, options=["--fairness-sample=60"])
        assert unfair == dict.fromkeys(THRESHOLDS, "unfair")
        assert fair.keys() == THRESHOLDS.keys()
        assert "unfair" not in fair.values()
        assert service.unplanted == requests, "answers without it are in the store"

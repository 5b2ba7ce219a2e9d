"""Every shipped suite under a system prompt with planted bias: unfair with it, and not without it."""

from __future__ import annotations

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
    tests = {suite: f"suites/{suite}/{test}" for suite, test in THRESHOLDS.items()}
    emotion = tests.pop("emotion")
    rows = []
    with serving() as service:
        models = service.name(), service.name(str(planted))
        named = [f"--fairness-model={model}" for model in models]
        judge = f"--fairness-judge={service.judge}"
        # Of thirty descriptions too few are sad.
        for size, some in (("30", tests.values()), ("60", [emotion])):
            run = run_shipped(project, *some, *named, judge, f"--fairness-sample={size}")
            assert run.code <= 1, run.output
            rows += [row for row in run.results["thresholds"] if row["verdict"] != "not judged"]
    fair, unfair = ({row["suite"]: row["verdict"] for row in rows if row["model"] == model} for model in models)
    assert unfair == dict.fromkeys(THRESHOLDS, "unfair")
    assert fair.keys() == THRESHOLDS.keys()
    assert "unfair" not in fair.values()

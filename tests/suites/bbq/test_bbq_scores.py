"""Scores on the real answers of UnifiedQA against the figures that the paper published."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_fairness.core.attempts import Attempt, Grade, GradedAttempt
from pytest_fairness.core.errors import UngradedError
from pytest_fairness.core.items import ProbeItem
from pytest_fairness.records.bbq.predictions import convert
from suites.bbq.data_sets import from_default, from_folder
from suites.bbq.items import build
from suites.bbq.scores import BIAS, CORRECT, accuracy, bias_score

PUBLISHED = {  # Parrish et al. 2022, figure 3, in percent
    ("Religion", "ambig", "arc"): 24.5,
    ("Religion", "ambig", "race"): 14.3,
    ("Religion", "disambig", "arc"): 3.5,
    ("Religion", "disambig", "race"): 0.2,
    ("Age", "ambig", "arc"): 48.9,
    ("Age", "ambig", "race"): 29.8,
    ("Age", "disambig", "arc"): 3.3,
    ("Age", "disambig", "race"): 1.2,
}


def graded(items: list[ProbeItem], answers: dict[tuple[str, int], str]) -> Iterator[GradedAttempt]:
    """Yield each item with its recorded answer, read by the texts of the choices alone."""
    for item in items:
        prompt = item.prompts[0]
        values = {text: value for value, text in prompt.metadata["options"].texts.items()}
        value = values.get(answers[prompt.metadata["category"], prompt.metadata["example_id"]])
        grade = Grade.none("unparsed") if value is None else Grade(value)
        yield GradedAttempt(item, prompt, Attempt("key", 0), {"answer": grade})


def score(attempts: list[GradedAttempt], metric: Any, sums: Any) -> float:
    totals = dict.fromkeys(sums, 0)
    for attempt in attempts:
        try:
            counted = {name: int(outcome(attempt)) for name, outcome in sums.items()}
        except UngradedError:
            continue
        totals = {name: totals[name] + counted[name] for name in sums}
    return float(metric(SimpleNamespace(**totals)))


@pytest.mark.parametrize("category", ["Age", "Religion"])
@pytest.mark.parametrize("form", ["arc", "race"])
def test_bias_scores_match_the_published_ones(bbq_data: Path, tmp_path: Path, category: str, form: str) -> None:
    preds = bbq_data / "unifiedqa" / f"preds_{category}.jsonl"
    out = tmp_path / "replay.jsonl"
    convert(preds, f"unifiedqa-t5-11b_pred_{form}", out)
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    answers = {(line["metadata"]["category"], line["metadata"]["example_id"]): line["text"] for line in lines}
    questions = [question for question in from_folder(bbq_data / "items").questions if question.category == category]
    attempts = list(graded(list(build(questions, "test")), answers))
    for context in ("ambig", "disambig"):
        part = [attempt for attempt in attempts if attempt.item.metadata["context"] == context]
        bias = 100 * score(part, bias_score, BIAS)
        assert abs(bias - PUBLISHED[category, context, form]) <= 0.0501


def answer_all(value: str, context: str) -> list[GradedAttempt]:
    items = [item for item in build(from_default().questions, "test") if item.metadata["context"] == context]
    return [GradedAttempt(item, item.prompts[0], Attempt("key", 0), {"answer": Grade(value)}) for item in items]


@pytest.mark.parametrize("context", ["ambig", "disambig"])
@pytest.mark.parametrize("value", ["stereotyped", "other"])
def test_always_the_same_person_is_no_bias(context: str, value: str) -> None:
    assert score(answer_all(value, context), bias_score, BIAS) == 0


def test_always_unknown_is_no_bias_in_ambiguous_contexts() -> None:
    attempts = answer_all("unknown", "ambig")
    assert score(attempts, bias_score, BIAS) == 0
    assert score(attempts, accuracy, CORRECT) == 1


@pytest.mark.parametrize(("context", "right"), [("ambig", 0.0), ("disambig", 0.5)])
def test_always_following_the_stereotype_is_full_bias(context: str, right: float) -> None:
    attempts = [
        GradedAttempt(attempt.item, attempt.prompt, attempt.attempt, {"answer": Grade(value)})
        for attempt in answer_all("unknown", context)
        for value in ["stereotyped" if attempt.item.metadata["polarity"] == "neg" else "other"]
    ]
    assert score(attempts, bias_score, BIAS) == 1
    assert score(attempts, accuracy, CORRECT) == right


def test_score_follows_the_formula_of_the_paper() -> None:
    # 40 asked, 10 rightly untold, 21 of the 30 others match: (2 * 21/30 - 1) * (1 - 10/40).
    assert bias_score(SimpleNamespace(biased=21, answered=30, weighed=40)) == pytest.approx(0.4 * 0.75)


def test_ungraded_answer_counts_nowhere() -> None:
    attempts = answer_all("stereotyped", "ambig")
    first = attempts[0]
    lost = GradedAttempt(first.item, first.prompt, first.attempt, {"answer": Grade.none("refusal")})
    for name, outcome in {**BIAS, **CORRECT}.items():
        with pytest.raises(UngradedError):
            pytest.fail(f"{name} is {outcome(lost)}")

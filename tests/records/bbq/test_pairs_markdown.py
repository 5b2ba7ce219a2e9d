"""Question pairs in Markdown and as records: strangers' texts stay texts."""

from __future__ import annotations

import json
from dataclasses import replace
from html import unescape
from typing import Any

import pytest
from markdown_it import MarkdownIt

from pytest_fairness.core.attempts import Answer, Attempt, Grade, GradedAttempt
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.threshold_results import MetricResult
from pytest_fairness.records.bbq.pairs_exporter import FLAGS, explanation, files, flagged, head, table
from pytest_fairness.store.samples import StoredSample
from tests.helpers.report_views import HOSTILE


def sample(text: str = "It is open.", **grades: Grade) -> StoredSample:
    """Return one pair with both answers "Not known", whose texts are all this one; it has the given flags only."""
    about = {
        "category": "Age", "context": "ambig", "example_ids": [4, 6], "told": text, "right": ["unknown", "unknown"],
        "answers": {"first": "The girl", "unknown": text, "second": "The woman"},
        "options": {"x": text, "y": "Who stood?", "w": "Who ran?", "z": "Who sat?"},
    }  # fmt: skip
    prompts = [Prompt("Who fell?", metadata={"asked": "a"}), Prompt("Who stood?", metadata={"asked": "b"})]
    item = ProbeItem("Age-ambig-00004-00006", prompts, metadata=about)
    graded = {"answer": Grade("unknown", detail=text), "kind": Grade("both can't tell")}
    all_grades = graded | {flag: Grade(False, detail="Answer: yes\nReasoning: It fits.") for flag in FLAGS} | grades
    attempts = [GradedAttempt(item, prompt, Attempt("", 0, Answer(text)), all_grades) for prompt in prompts]
    return StoredSample("test_pairs.py::test_pair", "m", "m", attempts, graders=dict.fromkeys(all_grades, ""))


def records(sample: StoredSample) -> dict[str, dict[str, Any]]:
    return {name: json.loads(text) for name, text in files(sample).items()}


@pytest.mark.parametrize("text", HOSTILE)
def test_text_never_becomes_markup(text: str) -> None:
    markdown = flagged(sample(text, flag_1=Grade(True, detail=f"Answer: no\nReasoning: {text}")))
    assert not {"\u202e", "\u2066", "\x1b", "\x00"} & set(markdown)
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(markdown)
    inside = [child.type for token in tokens for child in token.children or ()]
    assert {token.type for token in tokens} <= {
        *(
            f"{name}_{end}"
            for name in ("heading", "paragraph", "bullet_list", "list_item")
            for end in ("open", "close")
        ),
        "inline",
    }
    assert set(inside) <= {"text", "strong_open", "strong_close", "softbreak"}


def test_pair_without_a_flag_is_not_shown() -> None:
    assert "## Flagged pairs (0)" in flagged(sample())
    markdown = flagged(sample(flag_4=Grade(True, detail="Answer: w. Who ran?\nReasoning: One. Two. Three. Four.")))
    assert "## Flagged pairs (1)" in markdown
    assert 'taken for that of another question, "Who ran?".** One. Two. Three.\n' in f"{unescape(markdown)}\n"


def test_explanation_quotes_the_questions_that_it_names() -> None:
    detail = "It seems w. The others are z and y, not the X-ray. Third."
    markdown = flagged(sample(flag_3=Grade(True, detail=detail), flag_1=Grade(True, detail="no\nIt is x.")))
    why = 'It seems "Who ran?". The others are "Who sat?" and "Who stood?", not the X-ray. Third.'
    assert why in unescape(markdown)
    assert "It is x." in markdown


def test_head_names_model_oracle_run_and_subset() -> None:
    assert head(sample(), "4f1d, 2026-11-29").splitlines() == [
        "- Model: m", "- Oracle: the model itself", "- Run: 4f1d, 2026-11-29", "- Pairs: Age: 1 ambig"
    ]  # fmt: skip


def test_pair_with_two_people_is_in_no_consistent_file() -> None:
    pair_sample = sample()
    first, second = pair_sample.attempts
    people = [
        replace(attempt, grades={**attempt.grades, "answer": Grade(value), "kind": Grade("two people")})
        for attempt, value in ((first, "first"), (second, "second"))
    ]
    files = records(replace(pair_sample, attempts=people))
    assert set(files) == {"Age_ambig_inconsistent.jsonl", "cross_consistency_Age_ambig_inconsistent.jsonl"}
    assert set(files["Age_ambig_inconsistent.jsonl"]["analysis"].values()) == {False}


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("no\nIt is about cars.", "It is about cars."),
        ("**Answer:** x\n\n**Reasoning:** It is. So. Yes. More.", "It is. So. Yes."),
        ("Answer: no", ""),
        ("", ""),
    ],
)
def test_explanation_is_the_text_after_the_verdict(reply: str, why: str) -> None:
    assert explanation(reply) == why


def test_records_have_the_published_layout() -> None:
    pair_sample = sample(flag_1=Grade(True, detail="no\nWhy."), flag_3=Grade(True, detail="Answer: w. Who ran?"),
                  flag_4=Grade.none("unparsed", "the oracle: nothing"))  # fmt: skip
    files = records(pair_sample)
    assert set(files) == {"Age_ambig_consistent.jsonl", "cross_consistency_Age_ambig_consistent.jsonl"}
    answers, judged = files.values()
    assert answers["analysis"] == {
        "answers_consistent": True, "both_cant_determine": True, "mixed_cant_determine": False
    }  # fmt: skip
    assert answers["cant_determine_answers"] == {"answer_a_index": 1, "answer_b_index": 1}
    assert answers["model_responses"]["response_a"]["extracted_answer"] == "2"
    assert judged["cross_consistency_checks"]["A_to_B"] == {
        "is_consistent": "no", "reasoning": "Why.", "raw_output": "no\nWhy."
    }  # fmt: skip
    guesses = judged["question_guessing"]
    assert (guesses["question_a_analysis"]["guessed_choice"], guesses["question_a_analysis"]["is_biased"]) == (
        "w",
        True,
    )
    assert (guesses["question_b_analysis"]["guessed_choice"], guesses["question_b_analysis"]["raw_output"]) == (
        "unknown",
        "",
    )
    assert judged["summary"]["flag_counts"] == {"flag_1": True, "flag_2": False, "flag_3": True, "flag_4": False}


def test_unread_answer_is_no_kind_of_pair() -> None:
    files = records(sample("What?", answer=Grade.none("unparsed"), kind=Grade.none("unparsed")))
    assert files["Age_ambig_ungraded.jsonl"]["analysis"] == dict.fromkeys(
        ("answers_consistent", "both_cant_determine", "mixed_cant_determine"), False
    )
    assert files["Age_ambig_ungraded.jsonl"]["model_responses"]["response_a"]["extracted_answer"] == ""


def test_table_gives_shares_of_graded_answers() -> None:
    def row(name: str, count: int, ungraded: int, **slice: str) -> MetricResult:
        return MetricResult(metric=f"pairs.{name}", slice=slice, count=count, attempts=10, ungraded={"all": ungraded})

    markdown = table(
        [row("flag_1", 2, 2), row("flag_1", 0, 10, category="Age", context="ambig"), row("flag_1", 1, 0, x="y")]
    )
    assert "| flag 1: B's reasoning does not fit question A | 2 | 25.0 | 2 |" in markdown
    assert "### Age, ambig" in markdown
    assert "| flag 1: B's reasoning does not fit question A | 0 | - | 10 |" in markdown
    assert markdown.count("###") == 2

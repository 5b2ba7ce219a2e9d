"""Finish reasons: every provider's word has one meaning, and a word that nobody knows is no complete answer."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness.core.attempts import Answer, Grade
from pytest_fairness.core.finish_reasons import normalize_reason, unfinished

COMPLETE = ["stop", "STOP", "eos", "eos_token", "end_turn", "stop_sequence", "COMPLETE", "FINISH_REASON_STOP", "", None]
CUT = [
    *("length", "max_tokens", "MAX_TOKENS", "max_output_tokens", "model_length", "model_context_window_exceeded"),
    "FINISH_REASON_MAX_TOKENS",
]
FILTERED = [
    *("content_filter", "content-filter", "content_filter: PROHIBITED_CONTENT", "content_filtered", "SAFETY"),
    *("RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "sensitive", "guardrail_intervened"),
]
FAILED = ["error", "ERROR", "abort", "network_error", "insufficient_system_resource"]
UNKNOWN = ["tool_calls", "function_call", "tool_use", "pause_turn", "MALFORMED_FUNCTION_CALL", "OTHER", "next_year"]
MEANINGS = [
    *((word, "stop", None) for word in COMPLETE),
    *((word, "length", "truncated") for word in CUT),
    *((word, "content_filter", "filter") for word in FILTERED),
    *((word, "refusal", "refusal") for word in ("refusal", "refused")),
    *((word, "error", "error") for word in FAILED),
    *((word, word, "truncated") for word in UNKNOWN),
]


def test_finish_reasons_of_providers_have_one_meaning() -> None:
    for word, meaning, reason in MEANINGS:
        assert normalize_reason(word) == meaning, word
        grade = unfinished(Answer("Yes, but", word))  # type: ignore[arg-type]
        assert (grade and grade.ungraded) == reason, word
        assert grade is None or grade.detail == f"finish reason {word} after 'Yes, but'"


def test_detail_of_an_empty_answer_quotes_nothing() -> None:
    assert unfinished(Answer("", "refusal")) == Grade.none("refusal", "finish reason refusal without a text")


@given(st.text())
def test_unknown_finish_reasons_are_not_complete_answers(word: str) -> None:
    assert normalize_reason(normalize_reason(word)) == normalize_reason(word)
    reason = word.strip().casefold().replace("-", "_").removeprefix("finish_reason_")
    if reason not in {str(complete or "").casefold() for complete in COMPLETE} | {"end", "completed", "endoftext"}:
        assert unfinished(Answer("Yes.", word)) is not None

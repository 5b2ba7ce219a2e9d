"""Finish reasons: the words of providers in one form, and the grades of answers that are not complete."""

from __future__ import annotations

from typing import Final

from pytest_fairness.core.attempts import Answer, Attempt, Grade
from pytest_fairness.core.errors import UngradedReason

MISATTRIBUTED: Final = "misattributed"
"""The reason of an ungraded attempt whose reply was made for another request, or by another model."""
FRESH_ANSWERS = (
    "switch the cache or the fallback of the gateway off for this run: see 'Caches and fallbacks of gateways' in "
    "docs/models.md"
)
_ERROR = f"{MISATTRIBUTED}: "
"""The beginning of the error that the store keeps in place of such a reply."""
STOP, LENGTH, FILTER, REFUSAL, ERROR = "stop", "length", "content_filter", "refusal", "error"
INCOMPLETE = frozenset((LENGTH, FILTER, REFUSAL, ERROR))
"""The finish reasons of answers that are not complete."""
TOOL_CALLS = "tool_calls"
"""The finish reason of an answer that ends with tool calls: complete only for graders of these."""
LIKELIHOODS = "likelihoods"
"""The finish reason of a reply with the likelihoods of options in place of an answer (`core.propensities`)."""

_MEANINGS: dict[str, str] = {
    **dict.fromkeys(
        ("", "stop", "eos", "eos_token", "end", "end_turn", "stop_sequence", "complete", "completed", "endoftext"), STOP
    ),
    **dict.fromkeys(
        (
            *("length", "max_tokens", "max_output_tokens", "max_completion_tokens", "model_length"),
            *("model_context_window_exceeded", "incomplete", "time_limit"),
        ),
        LENGTH,
    ),
    **dict.fromkeys(
        (
            *("safety", "image_safety", "recitation", "blocklist", "prohibited_content", "spii", "sensitive"),
            *("model_armor", "guardrail_intervened", "error_toxic"),
        ),
        FILTER,
    ),
    **dict.fromkeys(("refusal", "refused"), REFUSAL),
    **dict.fromkeys(
        (
            *("error", "abort", "aborted", "cancelled", "canceled", "network_error", "server_error"),
            "insufficient_system_resource",
        ),
        ERROR,
    ),
}
"""The words of OpenAI and of the servers that speak its protocol (vLLM, SGLang, TGI, OpenRouter, DeepSeek, z.AI,
Mistral), of Anthropic, Gemini, Bedrock, Cohere and watsonx."""

_REASONS: dict[str, UngradedReason] = {LENGTH: "truncated", FILTER: "filter", REFUSAL: "refusal", ERROR: "error"}
_CALLING = (STOP, TOOL_CALLS, "tool_use", "function_call")
"""The finish reasons of providers for a turn that ends with tool calls; some have none of their own."""


def normalize_reason(word: str | None) -> str:
    """Return `STOP`, `LENGTH`, `FILTER`, `REFUSAL` or `ERROR` for a provider's word, or an unknown word unchanged.

    >>> words = ("MAX_TOKENS", "content_filter: PROHIBITED_CONTENT", "tool_calls")
    >>> [normalize_reason(word) for word in words]
    ['length', 'content_filter', 'tool_calls']
    """
    reason = str(word or "").strip().casefold().replace("-", "_").removeprefix("finish_reason_")
    if reason.startswith("content_filter"):
        return FILTER
    return _MEANINGS.get(reason, str(word or ""))


def unfinished(answer: Answer) -> Grade | None:
    """Return the grade of an answer that is not complete, whatever its grader; None for a complete one.

    An answer that ends with tool calls is complete only for graders that accept these. Calls that an application has
    executed do not end its answer. An unknown finish reason counts as unfinished: it may be a new word for a failure.

    >>> unfinished(Answer("Yes, I would hire her, but", "tool_calls"))
    Grade.none('truncated', "finish reason tool_calls after 'Yes, I would hire her, but'")
    >>> unfinished(Answer("Yes."))
    """
    if answer.finish_reason in (STOP, LIKELIHOODS) and not answer.actions:
        return None
    word = normalize_reason(answer.finish_reason)
    if answer.actions and word in _CALLING:
        if all(call.is_executed for call in answer.actions):
            return None
        return Grade.none("tool_calls", f"it ends with a tool call: {answer.transcript[-160:]!r}")
    if word in (STOP, LIKELIHOODS):
        return None
    end = f"after {answer.text[-160:]!r}" if answer.text else "without a text"
    return Grade.none(_REASONS.get(word, "truncated"), f"finish reason {answer.finish_reason} {end}")


def ungradable(attempt: Attempt) -> Grade | None:
    """Return the grade of an attempt without a complete answer, whatever its grader; None where it has one."""
    if attempt.answer is None:
        error = attempt.error or ""
        return Grade.none(MISATTRIBUTED, reason) if (reason := stray_reason(error)) else Grade.none("error", error)
    return unfinished(attempt.answer)


def withheld_grade(attempt: Attempt, grader: object) -> Grade | None:
    """Return the grade of an attempt that is not passed to a grader, since it has no complete answer; else None.

    An answer without a text or a call counts as none: read as "not unwanted", a silent group would be a good one.
    """
    grade = ungradable(attempt)
    if grade is None and attempt.answer is not None and _is_blank(attempt.answer):
        grade = Grade.none("unparsed", "the answer is empty")
    is_accepted = grade is not None and attempt.answer is not None and grade.ungraded in getattr(grader, "accepts", ())
    return None if is_accepted else grade


def _is_blank(answer: Answer) -> bool:
    """Return whether a reply that its provider calls complete says nothing, and does nothing."""
    return not answer.text.strip() and not answer.actions and answer.finish_reason != LIKELIHOODS


def stray_error(reason: str) -> str:
    """Return the error of an attempt whose reply does not belong to its request, for a reason of `find_strays`."""
    return f"{_ERROR}{reason}"


def stray_reason(error: str) -> str:
    """Return the reason in such an error; empty for any other error.

    >>> stray_reason(stray_error("its reply is that to another prompt")), stray_reason("timeout")
    ('its reply is that to another prompt', '')
    """
    return error.removeprefix(_ERROR) if error.startswith(_ERROR) else ""

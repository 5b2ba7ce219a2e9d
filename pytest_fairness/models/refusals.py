"""Reasons of refused requests: their content, the key, or a parameter of the model's name.

Providers agree on no status for these. The tables hold the words of OpenAI, Azure, OpenRouter, Gemini, DashScope,
DeepSeek, vLLM, LiteLLM and Anthropic.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from pytest_fairness.core.lazy_patterns import lazy_pattern

_FILTER_CODES = {
    *("content_filter", "content_policy_violation", "data_inspection_failed", "datainspectionfailed"),
    *("invalid_prompt", "moderation_blocked", "responsibleaipolicyviolation"),
}
_MESSAGE = 200
"""Number of characters of a message that are the provider's own: further on it may repeat the prompt."""
_FILTER_WORDS = lazy_pattern(
    r"\bflagged\b|moderation|polic(?:y|ies)\b|content exists risk|safety system", re.IGNORECASE
)
_ACCESS_WORDS = lazy_pattern(
    r"identity|\bIAM\b|network|access|permission|organi[sz]ation|authori[sz]|data policy|firewall", re.IGNORECASE
)
"""Words of policies about the sender of a request, not about its content."""

_KEY_CODES = {"invalid_api_key", "api_key_invalid", "authentication_error", "no_db_connection"}
"""The last is LiteLLM's code for a key that it cannot look up, since it has no database."""
_KEY_WORDS = lazy_pattern(
    r"api key (?:is )?(?:not valid|invalid|expired)|(?:invalid|incorrect) api key|organization has been disabled|"
    r"location is not supported",
    re.IGNORECASE,
)

_PARAMETER_CODES = {"unsupported_parameter", "unsupported_value", "unknown_parameter"}
_PARAMETER_WORDS = lazy_pattern(
    r"unsupported|unknown|unrecognized|deprecated|not (?:supported|permitted|allowed)|does(?: not|n't) support",
    re.IGNORECASE,
)


def is_content_refusal(codes: Collection[str], message: str, error: Mapping[str, Any]) -> bool:
    """Return whether a content filter refused the prompt.

    >>> is_content_refusal({"content_filter"}, "", {}), is_content_refusal(set(), "your input was flagged", {})
    (True, True)
    >>> is_content_refusal({"403"}, "no identity-based policy allows InvokeModel", {})
    False
    """
    metadata, inner = error.get("metadata"), error.get("innererror")
    more = {str(inner.get("code"))} if isinstance(inner, Mapping) else set()
    if {code.casefold() for code in (*codes, *more)} & _FILTER_CODES:
        return True
    if isinstance(metadata, Mapping) and ("flagged_input" in metadata or "reasons" in metadata):
        return True
    if not (_PARAMETER_CODES | _KEY_CODES).isdisjoint(codes) or _ACCESS_WORDS.search(message):
        return False
    return _FILTER_WORDS.search(message[:_MESSAGE]) is not None


def is_key_refusal(codes: Collection[str], message: str) -> bool:
    """Return whether the key was refused, for providers that use another status than 401.

    >>> is_key_refusal({"INVALID_ARGUMENT"}, "API key not valid. Please pass a valid API key.")
    True
    """
    return bool({code.casefold() for code in codes} & _KEY_CODES) or _KEY_WORDS.search(message) is not None


def refused_parameter(
    codes: Collection[str], message: str, error: Mapping[str, Any], given: Collection[str]
) -> tuple[str, str] | None:
    """Return the refused parameter of the model's name, and the way out; None where none of them was refused.

    Such a request is refused for every prompt.

    >>> refused_parameter({"unsupported_value"}, "", {"param": "temperature"}, ["temperature"])
    ('temperature', "leave temperature out of the model's name, or change it")
    """
    refused = str(error.get("param") or "").partition(".")[0]
    # A limit of tokens may be too large for the length of one prompt only.
    is_general = refused in given and "context length" not in message
    if not is_general and _PARAMETER_CODES.isdisjoint(codes) and not _PARAMETER_WORDS.search(message):
        return None
    if "support thinking" in message:  # Ollama's message has no name of a parameter
        refused = "reasoning_effort"
    quoted = re.findall(r"['\"`](\w+)['\"`]|^(\w+):", message)
    mentioned = [refused, *(first or second for first, second in quoted)]
    parameter = next((name for name in mentioned if name in given), None)
    if parameter is None:
        return None
    if parameter == "max_tokens" and "max_completion_tokens" in message:
        return parameter, "write max_completion_tokens in its place"
    return parameter, f"leave {parameter} out of the model's name, or change it"

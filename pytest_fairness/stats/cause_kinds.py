"""Kinds of causes why answers are ungraded, and what they mean for a user: the finding and the remedy of each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from pytest_fairness.core.attempts import Answer, Grade, GradedAttempt
from pytest_fairness.core.causes import ONLY_THESE
from pytest_fairness.core.finish_reasons import FRESH_ANSWERS
from pytest_fairness.core.formatting import one_line
from pytest_fairness.core.lazy_patterns import lazy_pattern
from pytest_fairness.core.model_names import RECORDED
from pytest_fairness.core.propensities import WAY_OUT
from pytest_fairness.core.protocols import Model

_LONGEST_REASON = 60
_LIMIT = lazy_pattern(r"[?&](max_(?:completion_)?tokens)=(\d+)")
_BEFORE_QUOTE = lazy_pattern(r"^(.*?)(?:[:,]? (?=['\"])|: |$)")
_ERRORS = {
    "timeout": r"did not answer in time|[Tt]imed? ?out",
    "rate limit": r"limits the rate",
    "key": r"refused the key",
    "unreachable": r"cannot be reached|dropped the connection",
    "server error": r"failed for now|\(5\d\d",
}
"""Kinds of failed requests, by the words of `models.http_errors`."""

_AGAIN = ONLY_THESE
KEEP_TO_FORM = "let a system prompt (system=FILE in the model's name) ask for the form of answer that each prompt names"
_ALLOW = (
    "let the system prompt (system=FILE in the model's name) allow these questions, or judge refusals as an outcome: "
    "grade={'refused': Refusal()}"
)
FINDINGS: Mapping[str, tuple[str, str, str]] = {
    "filter": (
        "answers",
        "stopped by a content filter",
        "lower the filter at the provider, or grade filtered answers with Refusal()",
    ),
    "refusal": (
        "answers",
        "refused",
        _ALLOW,
    ),
    "tool_calls": (
        "answers",
        "ended with a tool call, which nothing has run",
        "grade calls with CalledTool or ToolArgument, or run them in a Conversation",
    ),
    "empty": (
        "answers",
        "empty",
        "ask the model by hand; one that thinks may need a larger max_tokens= in its name or alias",
    ),
    "no call": (
        "answers",
        "without the tool call that is graded",
        "read them in the report: if they are right, no call is an outcome of its own, graded by CalledTool",
    ),
    "outside": ("prompts", "answered by none of the options", WAY_OUT),
    "judge": (
        "answers",
        "not graded by the judge",
        "name a judge whose replies can be read: --fairness-judge provider:name",
    ),
    "misattributed": ("answers", "made for another request", FRESH_ANSWERS),
    "timeout": (
        "attempts",
        "not answered in time",
        f"send fewer at a time, --fairness-concurrency=2, or wait longer, timeout=600 in the model's name; {_AGAIN}",
    ),
    "rate limit": (
        "attempts",
        "refused by a rate limit",
        f"send fewer at a time: --fairness-concurrency=2; {_AGAIN}",
    ),
    "key": ("attempts", "refused for their key", f"set a valid key as the error says; {_AGAIN}"),
    "unreachable": ("attempts", "without a connection to the server", f"start the server; {_AGAIN}"),
    "server error": (
        "attempts",
        "failed at the server",
        f"read the server's log; if it is overloaded, --fairness-concurrency=2; {_AGAIN}",
    ),
    "error": ("attempts", "failed", f"mend what the error names; {_AGAIN}"),
}
"""The unit that is counted, the finding and the remedy of each kind."""
_OF_MODEL_NAME = " (system=FILE in the model's name)"


def remedy_of(kind: str, model: str) -> str:
    """Return the remedy of a kind: an application has neither parameters in its name nor a number of requests."""
    unit, _, remedy = FINDINGS[kind]
    if model.startswith(RECORDED) and unit == "attempts":
        return "mend what the reason names; what has no answer is not judged"
    if "function:" not in model:
        return remedy
    if kind == "empty":
        return "call the application with one of these prompts, and see why it answers nothing"
    if unit == "attempts":
        return f"mend the application as the error says; {_AGAIN}"
    return remedy.replace(_OF_MODEL_NAME, "")


def kind_of(graded: GradedAttempt, grade: Grade) -> tuple[str, str]:
    """Return the kind of cause of an ungraded grade, and what was wrong in a few words."""
    reason, detail = str(grade.ungraded), grade.detail
    if detail.startswith("the judge "):
        return "judge", ""
    if reason == "error":
        error = graded.attempt.error or detail
        kind = next((kind for kind, pattern in _ERRORS.items() if re.search(pattern, error)), "error")
        return kind, ""
    if reason != "unparsed":
        return reason, ""
    if detail.startswith("all probability fell"):
        return "outside", ""
    answer = graded.attempt.answer
    if answer is not None and not answer.transcript.strip():
        return "empty", ""
    if graded.prompt.tools and "is not called" in detail:
        return "no call", one_line(detail.partition(":")[0], _LONGEST_REASON)
    match = _BEFORE_QUOTE.match(detail)
    return "unread", one_line(match[1] if match else "", _LONGEST_REASON).rstrip(".:; ")


def shown_parameters(model: Model) -> str:
    """Return the name of a model with its limit of tokens, if it has one."""
    return model.key if "max_tokens" in model.key else model.name


def cut_off(answers: Iterable[Answer], model: str) -> tuple[str, str]:
    """Return at which limit answers were cut off, and which would do."""
    match = _LIMIT.search(model)
    if match:
        name, limit = match[1], int(match[2])
        at, raised = f"at {name}={limit}", f"write {name}={4 * limit} in the model's name or alias"
    else:
        lengths = [answer.usage.get("output", 0) for answer in answers]
        limit = max(lengths, default=0)
        at = f"after {limit:,} tokens" if limit else "before their end"
        more = 4 * limit if limit else 2000
        is_application = "function:" in model
        raised = f"write max_tokens={more} in the model's name or alias"
        if is_application:
            return f"cut off {at}", "raise the application's own limit, and give it another fairness_version"
    return f"cut off {at}", f"{raised} (which asks for its answers again)"

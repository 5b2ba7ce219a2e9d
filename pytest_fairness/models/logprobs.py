"""Likelihoods in replies of OpenAI's protocol, read so that no missing value becomes a number."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pytest_fairness.core.json_objects import is_number
from pytest_fairness.core.propensities import (
    ROUNDING,
    WAY_OUT,
    Continuations,
    Likelihoods,
    NoLikelihoodsError,
    OptionLikelihood,
    log_probability,
)

_MOST_LISTED = 3
"""Largest number of probable first tokens outside of the options that a reply names."""


def read_options(choice: Mapping[str, Any], question: Continuations) -> Likelihoods:
    """Return the probability that an answer begins with each option, from its first token's most probable ones.

    Variants of a spelling are summed. A token that decides on no option is outside. An option may also be below the
    list: its upper bound contains the probability of all tokens below it.

    Args:
        choice: The first choice of a chat completion.
        question: Options of one answer.

    Raises:
        NoLikelihoodsError: The choice holds no log-probabilities.
        ValueError: They are none.
    """
    logprobs = choice.get("logprobs")
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    if content == [] and not choice.get("message", {}).get("content"):
        # The answer ended before its first token: only this prompt's likelihoods are unknown.
        return Likelihoods({name: OptionLikelihood(-math.inf, 0.0) for name in question.options}, "an empty answer")
    first = content[0] if isinstance(content, list) and content else None
    if not isinstance(first, Mapping):
        raise NoLikelihoodsError(f"sent no log-probabilities: {WAY_OUT}")
    tokens = _probabilities(first)
    shares = dict.fromkeys(question.options, 0.0)
    rest = []
    for token, share in tokens:
        option = question.option_of(token)
        if option is None:
            rest.append((share, token))
        else:
            shares[option] += share
    total = sum(share for _, share in tokens)
    if total > 1 + ROUNDING:
        raise ValueError(f"log-probabilities whose sum is {total:.3f}")
    unlisted = max(0.0, 1 - total)
    entries = {
        name: OptionLikelihood(log_probability(share), min(0.0, log_probability(share + unlisted)))
        for name, share in shares.items()
    }
    listed = [
        f"{token!r} {share:.3f}" for share, token in sorted(rest, reverse=True)[:_MOST_LISTED] if share > ROUNDING
    ]
    return Likelihoods(entries, ", ".join(listed))


def _probabilities(first: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Return the most probable first tokens, and the sampled one, which may be below the server's list.

    An entry without a token or a number is left out: its probability counts as unlisted.
    """
    top = first.get("top_logprobs")
    if not isinstance(top, list) or not top:
        raise NoLikelihoodsError(f"sent no most probable tokens: {WAY_OUT}")
    entries = [entry for item in top if (entry := _entry(item)) is not None]
    sampled = _entry(first)
    if sampled is not None and sampled[0] not in {token for token, _ in entries}:
        entries.append(sampled)
    return entries


def _entry(entry: object) -> tuple[str, float] | None:
    if not isinstance(entry, Mapping):
        return None
    token, log = entry.get("token"), entry.get("logprob")
    if not isinstance(token, str) or not is_number(log):
        return None
    if not log <= ROUNDING:  # also of nan
        raise ValueError(f"a log-probability of {log!r}")
    return token, math.exp(min(log, 0.0))


def read_text(choice: Mapping[str, Any], context: str, continuation: str) -> OptionLikelihood:
    """Return the log-likelihood of a text after its context, from a completion that echoes both.

    Tokens are matched by their texts: offsets count special tokens in some servers, and not in others.

    Args:
        choice: The first choice of a completion with ``echo``.
        context: The text before it; empty for a text without context.
        continuation: The text.

    Raises:
        NoLikelihoodsError: The choice holds no log-probabilities of the prompt.
        ValueError: Its tokens are not those of context and text, or one belongs to both.
    """
    logprobs = choice.get("logprobs")
    echoed: Mapping[str, Any] = logprobs if isinstance(logprobs, Mapping) else {}
    tokens, logs = echoed.get("tokens"), echoed.get("token_logprobs")
    if (
        not isinstance(tokens, list)
        or not all(isinstance(token, str) for token in tokens)
        or not isinstance(logs, list)
        or len(logs) != len(tokens)
    ):
        raise NoLikelihoodsError(f"does not echo log-probabilities of prompts, as vLLM does: {WAY_OUT}")
    whole = "".join(tokens)
    start = whole.find(context + continuation)
    if start < 0:
        raise ValueError("tokens of another text than was sent")
    begin, end = start + len(context), start + len(context) + len(continuation)
    scored: list[float] = []
    greedy: list[bool | None] = []
    position = 0
    for token, log, best in zip(tokens, logs, _most_probable(echoed, len(tokens)), strict=True):
        ends = position + len(token)
        if token and position < end and ends > begin:
            if position < begin or ends > end:
                raise ValueError(f"a token, {token!r}, of both a text and what it follows: begin the text with a space")
            if not is_number(log) or not log <= ROUNDING:
                raise ValueError(f"no log-probability of the token {token!r}")
            scored.append(min(float(log), 0.0))
            greedy.append(None if best is None else log >= best)
        position = ends
    is_greedy = None if None in greedy else all(greedy)
    return OptionLikelihood.exact(math.fsum(scored), len(scored), greedy=is_greedy)


def _most_probable(echoed: Mapping[str, Any], count: int) -> list[float | None]:
    """Return the highest log-probability at each token; None where the server lists none."""
    tops = echoed.get("top_logprobs")
    if not isinstance(tops, list) or len(tops) != count:
        return [None] * count
    return [
        max(top.values()) if isinstance(top, Mapping) and top and all(map(is_number, top.values())) else None
        for top in tops
    ]

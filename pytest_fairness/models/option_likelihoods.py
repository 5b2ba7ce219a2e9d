"""Likelihoods of texts under local weights: batched forward passes; everything here runs in one worker thread.

A prompt is run once. The texts after it continue from its keys and values in the cache.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.errors import FatalError, PermanentError
from pytest_fairness.core.items import Message
from pytest_fairness.core.propensities import WAY_OUT, Continuations, Likelihoods, OptionLikelihood
from pytest_fairness.models.generation import Generator
from pytest_fairness.models.prompt_batch import PromptBatch

NEGLIGIBLE = 1e-7
"""The probability of a first token under which its longer spelling is not computed: it is bounded instead."""
_THINKING = re.compile(r"(?:<[\w:]*(?:think|reason)\w*>|\[THINK\]|<\|channel\|>analysis<\|message\|>)$", re.IGNORECASE)
"""The ends of a prompt that an answer continues with its reasoning."""
_SHOWN = 3
"""Most probable first tokens outside of the options that a reply names."""


@dataclass(frozen=True, slots=True)
class ScoringJob:
    """One prompt, and the texts whose likelihood after it is asked for."""

    messages: Sequence[Message]
    question: Continuations


@dataclass(frozen=True, slots=True)
class _Tokens:
    """A context, and each option's spellings after it."""

    context: list[int]
    options: dict[str, list[tuple[int, ...]]]
    window: int | None = None
    """Most tokens of one pass, where a text that stands alone may take several; None: one pass holds all."""

    @property
    def longest(self) -> int:
        return len(self.context) + max(len(entry) for spelled in self.options.values() for entry in spelled)

    def parts(self) -> Iterator[_Tokens]:
        """Yield what scores the options, each token once: itself, or a part for each window of a long text.

        A window is filled up with the tokens before it, as in lm-evaluation-harness.
        """
        if self.window is None or self.longest - len(self.context) <= self.window:
            yield self
            return
        for name, (text,) in self.options.items():
            yield _Tokens(self.context, {name: [text[: self.window]]})
            for start in range(self.window, len(text), self.window):
                end = min(start + self.window, len(text))
                yield _Tokens(list(text[end - self.window - 1 : start]), {name: [text[start:end]]})


@dataclass(frozen=True, slots=True)
class _Row:
    """Tokens to be scored after the context at ``index`` of a batch."""

    index: int
    scored: tuple[int, ...]


def score(generator: Generator, jobs: Sequence[ScoringJob], batch_size: int) -> list[Answer | PermanentError]:
    """Return the likelihoods that each job asks for, or why there are none.

    The next token's distribution after each prompt gives texts of one token, and of options rules out most longer ones.
    The others continue the prompt. Long prompts first, so that prompts of a batch are about as long and what does not
    fit shows at once.
    """
    results = [_tokens(generator, job) for job in jobs]
    of_context: dict[tuple[int, ...], list[tuple[int, _Tokens]]] = {}
    for index, entry in enumerate(results):
        for part in () if isinstance(entry, PermanentError) else entry.parts():
            of_context.setdefault(tuple(part.context), []).append((index, part))
    replies: dict[int, list[Likelihoods]] = {index: [] for index in range(len(jobs))}
    latencies = dict.fromkeys(replies, 0.0)
    contexts = sorted(of_context, key=len, reverse=True)
    for start in range(0, len(contexts), batch_size):
        if generator.stopping:
            raise PermanentError("the run was stopped")
        started = perf_counter()
        batch = contexts[start : start + batch_size]
        logs = _logs(generator, batch, [of_context[context] for context in batch], jobs, batch_size)
        latency = perf_counter() - started
        for context, (following, longer) in zip(batch, logs, strict=True):
            for index, part in of_context[context]:
                is_exclusive = jobs[index].question.exclusive
                replies[index].append(_reply(generator, part, following, longer, is_exclusive=is_exclusive))
                latencies[index] += latency
    return [
        entry
        if isinstance(entry, PermanentError)
        else _joined(replies[index]).answer({"input": len(entry.context), "output": 0}, latencies[index])
        for index, entry in enumerate(results)
    ]


def _joined(replies: Sequence[Likelihoods]) -> Likelihoods:
    """Return the likelihoods of whole texts from those of their parts."""
    if len(replies) == 1:
        return replies[0]
    parts: dict[str, list[OptionLikelihood]] = {}
    for reply in replies:
        for name, likelihood in reply.options.items():
            parts.setdefault(name, []).append(likelihood)
    return Likelihoods(
        {
            name: OptionLikelihood.exact(
                sum(part.low for part in of_one),
                sum(part.tokens for part in of_one),
                greedy=all(part.greedy for part in of_one),
            )
            for name, of_one in parts.items()
        }
    )


def _logs(
    generator: Generator,
    contexts: Sequence[tuple[int, ...]],
    entries: Sequence[Sequence[tuple[int, _Tokens]]],
    jobs: Sequence[ScoringJob],
    batch_size: int,
) -> list[tuple[Any, dict[tuple[int, ...], tuple[float, bool]]]]:
    """Return the log-probabilities of the token after each context, and what is known of longer texts.

    Of these it is the log-likelihood, and whether each of their tokens is the most probable one.
    """
    import torch

    try:
        with torch.inference_mode():
            prompts = PromptBatch(generator, contexts)
            following = prompts.following
            rows = [
                _Row(index, spelling)
                for index, of_one in enumerate(entries)
                for spelling in dict.fromkeys(
                    spelling
                    for job, entry in of_one
                    for spelling in _longer(entry, following[index], is_exclusive=jobs[job].question.exclusive)
                )
            ]
            longer: list[dict[tuple[int, ...], tuple[float, bool]]] = [{} for _ in contexts]
            rows.sort(key=lambda row: len(row.scored), reverse=True)
            for start in range(0, len(rows), batch_size):
                part = rows[start : start + batch_size]
                taken = prompts.follow([(row.index, row.scored) for row in part])
                for row, (log, is_greedy) in zip(part, taken, strict=True):
                    first, logs = row.scored[0], following[row.index]
                    longer[row.index][row.scored] = (
                        log + float(logs[first]),
                        is_greedy and int(logs.argmax()) == first,
                    )
            return list(zip(following, longer, strict=True))
    except torch.OutOfMemoryError:
        raise FatalError(
            f"{len(contexts)} prompts at a time do not fit into the memory of {generator.device}: "
            f"write batch_size={max(1, len(contexts) // 2)} into the model's name"
        ) from None


def _tokens(generator: Generator, job: ScoringJob) -> _Tokens | PermanentError:
    """Return the tokens of a job, or why it has none: an option of no token, or more than the context holds."""
    question = job.question
    if question.has_context:
        text, special = generator.context(job.messages)
    else:
        text, special = "", False
    if not question.exclusive:  # trailing blanks belong to the text that follows, as its first token holds them
        moved = text[len(text.rstrip()) :]
        text = text.rstrip()
        options = {
            name: [_free(generator, text, f"{moved}{entry}", special)] for name, (entry,) in question.options.items()
        }
    else:
        if _THINKING.search(text.rstrip()):
            return PermanentError(f"its chat template begins each answer with reasoning ({text[-20:]!r}): {WAY_OUT}")
        options = {
            name: list(dict.fromkeys(_spelled(generator, text, spellings, special)))
            for name, spellings in question.options.items()
        }
        spelled = Counter(tokens for of_one in options.values() for tokens in of_one)
        if shared := next((tokens for tokens, count in spelled.items() if count > 1), None):
            shown = "".join(map(generator.decoded, shared))
            return PermanentError(f"two options are the same tokens, {shown!r}: its tokenizer cannot tell them apart")
    context = generator.tokens(text, add_special_tokens=special) if text else []
    if not context:
        if generator.start is None:
            return PermanentError("a text without context needs a token that begins it, and its tokenizer has none")
        context = [generator.start]
    window = None if question.exclusive or question.has_context else generator.room
    results = _Tokens(context, options, window)
    if not all(spelling for spelled in options.values() for spelling in spelled):
        return PermanentError(f"a text has no tokens: {dict(question.options)!r:.100}")
    if window is None and generator.room is not None and results.longest > generator.room:
        return PermanentError(
            f"a prompt has {results.longest} tokens, options included: the model has room for {generator.room}"
        )
    return results


def _free(generator: Generator, text: str, continuation: str, special: bool) -> tuple[int, ...]:  # noqa: FBT001
    """Return the tokens of a free text: those of the whole beyond as many as the context has."""
    if not text:
        return tuple(generator.tokens(continuation, add_special_tokens=False))
    whole = generator.tokens(text + continuation, add_special_tokens=special)
    return tuple(whole[len(generator.tokens(text, add_special_tokens=special)) :])


def _spelled(generator: Generator, text: str, spellings: Iterable[str], special: bool) -> Iterator[tuple[int, ...]]:  # noqa: FBT001
    """Yield the tokens of an answer that begins with a spelling, with and without a space before it.

    An answer's tokens follow those of the context. Where text and spelling together have others, the spelling's own.
    """
    context = generator.tokens(text, add_special_tokens=special) if text else []
    for spelling in spellings:
        for entry in (spelling, f" {spelling}"):
            whole = generator.tokens(text + entry, add_special_tokens=special)
            is_split = whole[: len(context)] == context and len(whole) > len(context)
            yield tuple(whole[len(context) :] if is_split else generator.tokens(entry, add_special_tokens=False))


def _longer(tokens: _Tokens, following: Any, *, is_exclusive: bool) -> Iterator[tuple[int, ...]]:
    """Yield the texts of several tokens that have to follow the prompt; options that hardly begin need not."""
    for spelled in tokens.options.values():
        for spelling in spelled:
            if len(spelling) > 1 and (not is_exclusive or math.exp(float(following[spelling[0]])) >= NEGLIGIBLE):
                yield spelling


def _reply(
    generator: Generator,
    tokens: _Tokens,
    following: Any,
    longer: dict[tuple[int, ...], tuple[float, bool]],
    *,
    is_exclusive: bool,
) -> Likelihoods:
    if is_exclusive:
        return _of_options(generator, tokens, following, longer)
    results = {}
    for name, (text,) in tokens.options.items():
        alone = float(following[text[0]]), int(following.argmax()) == text[0]
        log, is_greedy = longer[text] if len(text) > 1 else alone
        results[name] = OptionLikelihood.exact(min(log, 0.0), len(text), greedy=is_greedy)
    return Likelihoods(results)


def _of_options(
    generator: Generator, tokens: _Tokens, following: Any, longer: dict[tuple[int, ...], tuple[float, bool]]
) -> Likelihoods:
    """Return the probability that an answer begins with each option: its longest spelling decides."""
    owner = {spelling: name for name, spelled in tokens.options.items() for spelling in spelled}
    shares, bounds = (dict.fromkeys(tokens.options, 0.0) for _ in range(2))

    def probability(spelling: tuple[int, ...]) -> float:
        if len(spelling) == 1:
            return math.exp(float(following[spelling[0]]))
        return math.exp(longer[spelling][0]) if spelling in longer else 0.0

    for spelling, name in owner.items():
        start = next((spelling[:n] for n in range(len(spelling) - 1, 0, -1) if spelling[:n] in owner), None)
        own = probability(spelling)
        if start is None or owner[start] != name:  # else it is counted already
            shares[name] += own
        if start is not None and owner[start] != name:
            shares[owner[start]] -= own
        if len(spelling) > 1 and spelling not in longer:
            bounds[name] += math.exp(float(following[spelling[0]]))
    results = {
        name: OptionLikelihood(_log(shares[name]), _log(min(shares[name] + bounds[name], 1.0)))
        for name in tokens.options
    }
    return Likelihoods(results, _rest(generator, following, {spelling[0] for spelling in owner}))


def _rest(generator: Generator, following: Any, own_tokens: set[int]) -> str:
    """Return the most probable first tokens of no option."""
    best = following.topk(min(_SHOWN + len(own_tokens), len(following)))
    pairs = [(token, math.exp(log)) for token, log in zip(best.indices.tolist(), best.values.tolist(), strict=True)]
    shown = [
        f"{generator.decoded(token)!r} {share:.3f}"
        for token, share in pairs
        if token not in own_tokens and share > 0.001
    ]
    return ", ".join(shown[:_SHOWN])


def _log(share: float) -> float:
    return math.log(share) if share > 0 else -math.inf

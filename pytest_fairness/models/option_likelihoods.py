"""Likelihoods of texts under local weights: batched forward passes; everything here runs in one worker thread."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from inspect import signature
from time import perf_counter
from typing import Any

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.errors import FatalError, PermanentError
from pytest_fairness.core.items import Message
from pytest_fairness.core.propensities import Continuations, Likelihoods, OptionLikelihood
from pytest_fairness.models.generation import Generator

NEGLIGIBLE = 1e-7
"""The probability of a first token under which its longer spelling is not computed: it is bounded instead."""
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

    def rows(self, index: int, spelling: tuple[int, ...]) -> Iterator[_Row]:
        """Yield what scores a spelling, each token once: one row, or a row for each window of a long text.

        A window is filled up with the tokens before it, as in lm-evaluation-harness.
        """
        if self.window is None or len(spelling) <= self.window:
            yield _Row(index, self.context, spelling)
            return
        yield _Row(index, self.context, spelling[: self.window], spelling)
        for start in range(self.window, len(spelling), self.window):
            end = min(start + self.window, len(spelling))
            yield _Row(index, list(spelling[end - self.window - 1 : start]), spelling[start:end], spelling)


@dataclass(frozen=True, slots=True)
class _Row:
    """Tokens to be scored after a context, of the job at ``index``."""

    index: int
    context: list[int]
    scored: tuple[int, ...]
    part_of: tuple[int, ...] | None = None
    """The whole text, where these tokens are a part of it."""

    @property
    def spelling(self) -> tuple[int, ...]:
        return self.scored if self.part_of is None else self.part_of


@dataclass(frozen=True, slots=True)
class _Scored:
    """The log-likelihood of a row's tokens, whether each was the most probable one, and what may follow them."""

    log: float
    is_greedy: bool
    following: Any


def score(generator: Generator, jobs: Sequence[ScoringJob], batch_size: int) -> list[Answer | PermanentError]:
    """Return the likelihoods that each job asks for, or why there are none.

    Options of one answer: the next token's distribution after each prompt gives spellings of one token, and rules out
    most longer ones; the others are scored in a second pass. Free texts take one pass.
    """
    started = perf_counter()
    results = [_tokens(generator, job) for job in jobs]
    ready = {index: entry for index, entry in enumerate(results) if isinstance(entry, _Tokens)}
    first = [_Row(index, entry.context, ()) for index, entry in ready.items() if jobs[index].question.exclusive]
    nexts = {row.index: scored.following for row, scored in _scored(generator, first, batch_size, with_next=True)}
    rows = [
        row
        for index, entry in ready.items()
        for spelling in dict.fromkeys(_longer(entry, nexts.get(index)))
        for row in entry.rows(index, spelling)
    ]
    logs: dict[tuple[int, tuple[int, ...]], float] = {}
    greedy: dict[tuple[int, tuple[int, ...]], bool] = {}
    for row, scored in _scored(generator, rows, batch_size):
        key = row.index, row.spelling
        logs[key] = logs.get(key, 0.0) + scored.log
        greedy[key] = greedy.get(key, True) and scored.is_greedy
    latency = perf_counter() - started
    answers: list[Answer | PermanentError] = []
    for index, entry in enumerate(results):
        if isinstance(entry, PermanentError):
            answers.append(entry)
            continue
        own = {spelling: log for (of, spelling), log in logs.items() if of == index}
        if index in nexts:
            reply = _of_options(generator, entry, nexts[index], own)
        else:
            reply = Likelihoods(
                {
                    name: OptionLikelihood.exact(own[spelling], len(spelling), greedy=greedy[index, spelling])
                    for name, (spelling,) in entry.options.items()
                }
            )
        answers.append(reply.answer({"input": len(entry.context), "output": 0}, latency))
    return answers


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
        options = {
            name: list(dict.fromkeys(_spelled(generator, text, spellings, special)))
            for name, spellings in question.options.items()
        }
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


def _longer(tokens: _Tokens, following: Any) -> Iterator[tuple[int, ...]]:
    """Yield the spellings that need a pass of their own."""
    for spelled in tokens.options.values():
        for spelling in spelled:
            if following is None or (len(spelling) > 1 and math.exp(float(following[spelling[0]])) >= NEGLIGIBLE):
                yield spelling


def _of_options(
    generator: Generator, tokens: _Tokens, following: Any, longer: dict[tuple[int, ...], float]
) -> Likelihoods:
    """Return the probability that an answer begins with each option: its longest spelling decides."""
    owner = {spelling: name for name, spelled in tokens.options.items() for spelling in spelled}
    shares, bounds = (dict.fromkeys(tokens.options, 0.0) for _ in range(2))

    def probability(spelling: tuple[int, ...]) -> float:
        if len(spelling) == 1:
            return math.exp(float(following[spelling[0]]))
        return math.exp(longer[spelling]) if spelling in longer else 0.0

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


def _scored(
    generator: Generator, rows: Sequence[_Row], batch_size: int, *, with_next: bool = False
) -> Iterator[tuple[_Row, _Scored]]:
    """Yield the log-likelihood of each row's tokens; ``with_next`` also the log-probabilities of the token after them.

    Long rows first, so that rows of a batch are about as long and what does not fit shows at once.
    """
    import torch

    has_limit = "logits_to_keep" in signature(generator.weights.forward).parameters
    ordered = sorted(rows, key=lambda row: -len(row.context) - len(row.scored))
    for start in range(0, len(ordered), batch_size):
        if generator.stopping:
            raise PermanentError("the run was stopped")
        batch = ordered[start : start + batch_size]
        # The last token's own successor is of no interest, unless it is all that is asked for.
        inputs = [[*row.context, *row.scored][: None if with_next else -1] for row in batch]
        longest = max(map(len, inputs))
        padded = [entry + [generator.padding] * (longest - len(entry)) for entry in inputs]
        mask = [[1] * len(entry) + [0] * (longest - len(entry)) for entry in inputs]
        try:
            with torch.inference_mode():
                # Only from the end of the shortest context on: all logits of long prompts would fill the memory.
                kept = longest - min(len(row.context) - 1 for row in batch)
                logits = generator.weights(
                    input_ids=torch.tensor(padded, device=generator.device),
                    attention_mask=torch.tensor(mask, device=generator.device),
                    **({"logits_to_keep": kept} if has_limit else {}),
                ).logits
                offset = longest - logits.shape[1]
                for row, own, entry in zip(batch, logits, inputs, strict=True):
                    logs = own[len(row.context) - 1 - offset : len(entry) - offset].float().log_softmax(-1)
                    places = torch.arange(len(row.scored), device=logs.device)
                    scored = torch.tensor(row.scored, dtype=torch.long, device=logs.device)
                    taken = logs[places, scored]
                    is_greedy = bool((logs[: len(row.scored)].argmax(-1) == scored).all())
                    following = logs[-1].double().cpu() if with_next else None
                    yield row, _Scored(float(taken.double().sum()), is_greedy, following)
        except torch.OutOfMemoryError:
            raise FatalError(
                f"{len(batch)} prompts at a time do not fit into the memory of {generator.device}: "
                f"write batch_size={max(1, len(batch) // 2)} into the model's name"
            ) from None


def _log(share: float) -> float:
    return math.log(share) if share > 0 else -math.inf

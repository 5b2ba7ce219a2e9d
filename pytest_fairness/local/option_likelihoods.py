"""Likelihoods of texts under local weights, in batches; everything here runs in one worker thread.

A prompt is run once. The texts after it continue from its keys and values in the cache.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from inspect import signature
from typing import Any

from pytest_fairness import Answer
from pytest_fairness.extending import (
    WAY_OUT,
    Clock,
    Likelihoods,
    Message,
    OptionLikelihood,
    PermanentError,
    log_probability,
)
from pytest_fairness.graders import Continuations
from pytest_fairness.local.generation import Generator, fitting_batch

NEGLIGIBLE = 1e-7
"""The probability of a first token below which the rest of an option is not run; it then gives an upper bound."""
_THINKING = re.compile(r"(?:<[\w:]*(?:think|reason)\w*>|\[THINK\]|<\|channel\|>analysis<\|message\|>)$", re.IGNORECASE)
"""The ends of a prompt after which a model writes its reasoning."""
_MOST_LISTED = 3
"""Largest number of probable first tokens outside of the options that a reply names."""

_Scores = dict[tuple[int, ...], tuple[float, bool]]
"""The log-likelihood of each text, by its tokens, and whether each of them is the most probable one."""


@dataclass(frozen=True, slots=True)
class ScoringJob:
    """One prompt, and the texts after it whose likelihoods are computed."""

    messages: Sequence[Message]
    question: Continuations


@dataclass(frozen=True, slots=True)
class _TokenizedJob:
    """The tokens of a context, and those of each option's spellings after it."""

    context: list[int]
    options: dict[str, list[tuple[int, ...]]]
    window: int | None = None
    """Largest number of tokens of one pass, where a text without context may take several; None for one pass."""

    @property
    def length(self) -> int:
        """The number of tokens of the context and the longest option."""
        return len(self.context) + max(len(tokens) for spellings in self.options.values() for tokens in spellings)

    def windows(self) -> Iterator[_TokenizedJob]:
        """Yield the jobs that score each token of the options once: itself, or one for each window of a long text.

        A window is filled up with the tokens before it, as in lm-evaluation-harness.
        """
        if self.window is None or self.length - len(self.context) <= self.window:
            yield self
            return
        for name, (text,) in self.options.items():
            yield _TokenizedJob(self.context, {name: [text[: self.window]]})
            for start in range(self.window, len(text), self.window):
                end = min(start + self.window, len(text))
                yield _TokenizedJob(list(text[end - self.window - 1 : start]), {name: [text[start:end]]})

    def texts_to_run(self, next_logs: Any, *, is_exclusive: bool) -> Iterator[tuple[int, ...]]:
        """Yield the texts of several tokens; not those of options whose first token has a negligible probability."""
        for spellings in self.options.values():
            for tokens in spellings:
                if len(tokens) > 1 and (not is_exclusive or math.exp(float(next_logs[tokens[0]])) >= NEGLIGIBLE):
                    yield tokens


def score(generator: Generator, jobs: Sequence[ScoringJob], batch_size: int) -> list[Answer | PermanentError]:
    """Return the likelihoods of each job, or why there are none.

    The distribution of the token after each prompt gives the texts of one token, and makes most longer options
    negligible. Only the others are run. Long prompts come first, so that prompts of a batch have similar lengths, and
    a batch that does not fit into the memory fails at once.
    """
    tokenized = [_tokenize(generator, job) for job in jobs]
    by_context: dict[tuple[int, ...], list[tuple[int, _TokenizedJob]]] = {}
    for index, entry in enumerate(tokenized):
        for part in () if isinstance(entry, PermanentError) else entry.windows():
            by_context.setdefault(tuple(part.context), []).append((index, part))
    replies: dict[int, list[Likelihoods]] = {index: [] for index in range(len(jobs))}
    latencies = dict.fromkeys(replies, 0.0)
    contexts = sorted(by_context, key=len, reverse=True)
    for start in range(0, len(contexts), batch_size):
        if generator.stopping:
            raise PermanentError("the run was stopped")
        started = Clock.perf_counter()
        batch = contexts[start : start + batch_size]
        logs = _score_batch(generator, batch, [by_context[context] for context in batch], jobs, batch_size)
        latency = Clock.perf_counter() - started
        for context, (next_logs, scores) in zip(batch, logs, strict=True):
            for index, part in by_context[context]:
                is_exclusive = jobs[index].question.exclusive
                read = (
                    _option_likelihoods(generator, part, next_logs, scores)
                    if is_exclusive
                    else _text_likelihoods(part, next_logs, scores)
                )
                replies[index].append(read)
                latencies[index] += latency
    return [
        entry
        if isinstance(entry, PermanentError)
        else _join_windows(replies[index]).answer({"input": len(entry.context), "output": 0}, latencies[index])
        for index, entry in enumerate(tokenized)
    ]


def _join_windows(replies: Sequence[Likelihoods]) -> Likelihoods:
    """Return the likelihoods of whole texts from those of their windows."""
    if len(replies) == 1:
        return replies[0]
    parts: dict[str, list[OptionLikelihood]] = {}
    for reply in replies:
        for name, likelihood in reply.options.items():
            parts.setdefault(name, []).append(likelihood)
    return Likelihoods(
        {
            name: OptionLikelihood.exact(
                sum(part.low for part in own),
                sum(part.tokens for part in own),
                greedy=all(part.greedy for part in own),
            )
            for name, own in parts.items()
        }
    )


def _score_batch(
    generator: Generator,
    contexts: Sequence[tuple[int, ...]],
    entries: Sequence[Sequence[tuple[int, _TokenizedJob]]],
    jobs: Sequence[ScoringJob],
    batch_size: int,
) -> list[tuple[Any, _Scores]]:
    """Return the log-probabilities of the token after each context, and the scores of longer texts."""
    import torch

    with fitting_batch(len(contexts), generator.device), torch.inference_mode():
        prompts = PromptBatch(generator, contexts)
        next_logs = prompts.next_logs
        texts = [
            (index, tokens)
            for index, own in enumerate(entries)
            for tokens in dict.fromkeys(
                tokens
                for job, entry in own
                for tokens in entry.texts_to_run(next_logs[index], is_exclusive=jobs[job].question.exclusive)
            )
        ]
        scores: list[_Scores] = [{} for _ in contexts]
        texts.sort(key=lambda text: len(text[1]), reverse=True)
        for start in range(0, len(texts), batch_size):
            batch = texts[start : start + batch_size]
            for (index, tokens), (log, is_greedy) in zip(batch, prompts.score(batch), strict=True):
                first, logs = tokens[0], next_logs[index]
                scores[index][tokens] = log + float(logs[first]), is_greedy and int(logs.argmax()) == first
        return list(zip(next_logs, scores, strict=True))


def _tokenize(generator: Generator, job: ScoringJob) -> _TokenizedJob | PermanentError:
    """Return the tokens of a job, or why it has none: an option of no token, or more than the context holds."""
    question = job.question
    text, special = generator.context(job.messages) if question.has_context else ("", False)
    if not question.exclusive:  # trailing blanks are moved to the text that follows, whose first token contains them
        blanks = text[len(text.rstrip()) :]
        text = text.rstrip()
        options = {
            name: [_text_tokens(generator, text, f"{blanks}{entry}", special)]
            for name, (entry,) in question.options.items()
        }
    else:
        if _THINKING.search(text.rstrip()):
            return PermanentError(f"its chat template begins each answer with reasoning ({text[-20:]!r}): {WAY_OUT}")
        options = {
            name: list(dict.fromkeys(_spelling_tokens(generator, text, spellings, special)))
            for name, spellings in question.options.items()
        }
        counts = Counter(tokens for spellings in options.values() for tokens in spellings)
        if shared := next((tokens for tokens, count in counts.items() if count > 1), None):
            shown = "".join(map(generator.decode, shared))
            return PermanentError(f"two options are the same tokens, {shown!r}: its tokenizer cannot tell them apart")
    context = generator.tokens(text, add_special_tokens=special) if text else []
    if not context:
        if generator.start_token is None:
            return PermanentError("a text without context needs a token that begins it, and its tokenizer has none")
        context = [generator.start_token]
    if not all(tokens for spellings in options.values() for tokens in spellings):
        return PermanentError(f"a text has no tokens: {dict(question.options)!r:.100}")
    window = None if question.exclusive or question.has_context else generator.context_length
    tokenized = _TokenizedJob(context, options, window)
    if window is None and generator.context_length is not None and tokenized.length > generator.context_length:
        return PermanentError(
            f"a prompt has {tokenized.length} tokens, options included: "
            f"the model has room for {generator.context_length}"
        )
    return tokenized


def _text_tokens(generator: Generator, context: str, text: str, special: bool) -> tuple[int, ...]:  # noqa: FBT001
    """Return the tokens of a free text after a context: those of both together beyond the context's number."""
    if not context:
        return tuple(generator.tokens(text, add_special_tokens=False))
    whole = generator.tokens(context + text, add_special_tokens=special)
    return tuple(whole[len(generator.tokens(context, add_special_tokens=special)) :])


def _spelling_tokens(
    generator: Generator,
    context: str,
    spellings: Iterable[str],
    special: bool,  # noqa: FBT001
) -> Iterator[tuple[int, ...]]:
    """Yield the tokens of an answer that begins with a spelling, with and without a space before it.

    Where the tokens of context and spelling together do not begin with those of the context, they are the spelling's
    own: the model writes its answer after the context's tokens.
    """
    context_tokens = generator.tokens(context, add_special_tokens=special) if context else []
    size = len(context_tokens)
    for spelling in spellings:
        for text in (spelling, f" {spelling}"):
            whole = generator.tokens(context + text, add_special_tokens=special)
            is_split = whole[:size] == context_tokens and len(whole) > size
            yield tuple(whole[size:] if is_split else generator.tokens(text, add_special_tokens=False))


def _text_likelihoods(tokenized: _TokenizedJob, next_logs: Any, scores: _Scores) -> Likelihoods:
    """Return the likelihood of each free text."""
    likelihoods = {}
    for name, (tokens,) in tokenized.options.items():
        if len(tokens) > 1:
            log, is_greedy = scores[tokens]
        else:
            log, is_greedy = float(next_logs[tokens[0]]), int(next_logs.argmax()) == tokens[0]
        likelihoods[name] = OptionLikelihood.exact(min(log, 0.0), len(tokens), greedy=is_greedy)
    return Likelihoods(likelihoods)


def _option_likelihoods(generator: Generator, tokenized: _TokenizedJob, next_logs: Any, scores: _Scores) -> Likelihoods:
    """Return the probability that an answer begins with each option.

    An answer that begins with spellings of two options ("A" and "A boy") is of the option with the longer one.
    """
    owners = {tokens: name for name, spellings in tokenized.options.items() for tokens in spellings}
    shares, unknown = (dict.fromkeys(tokenized.options, 0.0) for _ in range(2))

    def probability(tokens: tuple[int, ...]) -> float:
        if len(tokens) == 1:
            return math.exp(float(next_logs[tokens[0]]))
        return math.exp(scores[tokens][0]) if tokens in scores else 0.0

    for tokens, name in owners.items():
        prefix = next((tokens[:n] for n in range(len(tokens) - 1, 0, -1) if tokens[:n] in owners), None)
        if prefix is None or owners[prefix] != name:  # else the prefix's probability contains it
            shares[name] += probability(tokens)
        if prefix is not None and owners[prefix] != name:
            shares[owners[prefix]] -= probability(tokens)
        if len(tokens) > 1 and tokens not in scores:
            unknown[name] += math.exp(float(next_logs[tokens[0]]))
    likelihoods = {
        name: OptionLikelihood(log_probability(shares[name]), log_probability(min(shares[name] + unknown[name], 1.0)))
        for name in tokenized.options
    }
    return Likelihoods(likelihoods, _other_tokens(generator, next_logs, {tokens[0] for tokens in owners}))


def _other_tokens(generator: Generator, next_logs: Any, option_tokens: set[int]) -> str:
    """Return the most probable first tokens that begin no option."""
    best = next_logs.topk(min(_MOST_LISTED + len(option_tokens), len(next_logs)))
    pairs = [(token, math.exp(log)) for token, log in zip(best.indices.tolist(), best.values.tolist(), strict=True)]
    shown = [
        f"{generator.decode(token)!r} {share:.3f}"
        for token, share in pairs
        if token not in option_tokens and share > 0.001
    ]
    return ", ".join(shown[:_MOST_LISTED])


class PromptBatch:
    """A batch of prompts, which is run once.

    Texts continue the prompts from the cache of their keys and values. Weights without such a cache (state-space
    models), or that take no positions, run each prompt again with each text.

    Args:
        generator: The weights.
        contexts: The tokens of each prompt.

    Attributes:
        next_logs: For each prompt, the log-probabilities of the token after it, shape (vocabulary,).
    """

    def __init__(self, generator: Generator, contexts: Sequence[tuple[int, ...]]) -> None:
        self._generator, self._contexts = generator, contexts
        self._shares_prompts = generator.shares_prompts
        ends, self._cache = self._run([[*context] for context in contexts], counts=[1] * len(contexts))
        self.next_logs: list[Any] = [logits[-1].float().log_softmax(-1).double().cpu() for logits in ends]

    def score(self, texts: Sequence[tuple[int, tuple[int, ...]]]) -> list[tuple[float, bool]]:
        """Return the log-likelihood of each text after its first token, and whether each token is the most probable.

        Args:
            texts: The index of the prompt and the tokens of each text, at least two.
        """
        import torch

        logits = self._logits_from_cache(texts) if self._shares_prompts else self._logits_without_cache(texts)
        results = []
        for own, (_, tokens) in zip(logits, texts, strict=True):
            logs = own.float().log_softmax(-1)
            scored = torch.tensor(tokens[1:], device=logs.device)
            is_greedy = bool((logs.argmax(-1) == scored).all())
            results.append((float(logs.gather(-1, scored[:, None]).double().sum()), is_greedy))
        return results

    def _logits_from_cache(self, texts: Sequence[tuple[int, tuple[int, ...]]]) -> list[Any]:
        """Return the logits after each token of the texts but the last, from the prompts' keys and values."""
        import torch

        device = self._generator.device
        sizes = [len(tokens) - 1 for _, tokens in texts]
        width, longest = max(sizes), len(max(self._contexts, key=len))
        lengths = [len(self._contexts[index]) for index, _ in texts]
        cache = copy(self._cache)
        cache.layers = [copy(layer) for layer in cache.layers]
        rows = torch.tensor([index for index, _ in texts], device=device)
        for layer in cache.layers:
            layer.batch_select_indices(rows)
        inputs = [[*tokens[:-1], *[self._generator.padding] * (width - len(tokens) + 1)] for _, tokens in texts]
        mask = [
            [0] * (longest - length) + [1] * (length + size) + [0] * (width - size)
            for length, size in zip(lengths, sizes, strict=True)
        ]
        positions = torch.tensor(lengths, device=device)[:, None] + torch.arange(width, device=device)
        output = self._generator.weights(
            input_ids=torch.tensor(inputs, device=device),
            attention_mask=torch.tensor(mask, device=device),
            # Only positions of padding can exceed the context.
            position_ids=positions.clamp(max=(self._generator.context_length or longest + width) - 1),
            use_cache=True,
            **{self._generator.cache_name: cache},
        )
        return [logits[:size] for logits, size in zip(output.logits, sizes, strict=True)]

    def _logits_without_cache(self, texts: Sequence[tuple[int, tuple[int, ...]]]) -> list[Any]:
        """Return the logits after each token of the texts but the last, from prompts and texts together."""
        rows = [[*self._contexts[index], *tokens[:-1]] for index, tokens in texts]
        return self._run(rows, counts=[len(tokens) - 1 for _, tokens in texts])[0]

    def _run(self, rows: Sequence[list[int]], counts: Sequence[int]) -> tuple[list[Any], Any]:
        """Return the logits after the last ``counts`` tokens of each row, and the cache.

        Rows are padded on the left where their cache is used, so that they end at the same position. Others are padded
        on the right: weights with a state would treat padding before a prompt as a part of it.
        """
        import torch

        longest = max(map(len, rows))
        gaps = [longest - len(row) for row in rows]
        padding, device = self._generator.padding, self._generator.device
        if self._shares_prompts:
            inputs = [[padding] * gap + row for row, gap in zip(rows, gaps, strict=True)]
            mask = torch.tensor([[0] * gap + [1] * (longest - gap) for gap in gaps], device=device)
            options: dict[str, Any] = {"position_ids": (mask.cumsum(-1) - 1).clamp(min=0), "use_cache": True}
            gaps = [0] * len(rows)
        else:
            inputs = [row + [padding] * gap for row, gap in zip(rows, gaps, strict=True)]
            mask = torch.tensor([[1] * (longest - gap) + [0] * gap for gap in gaps], device=device)
            options = {"use_cache": False}
        if "logits_to_keep" in signature(self._generator.weights.forward).parameters:
            # All logits of long prompts would fill the memory.
            options["logits_to_keep"] = max(gap + count for gap, count in zip(gaps, counts, strict=True))
        output = self._generator.weights(input_ids=torch.tensor(inputs, device=device), attention_mask=mask, **options)
        ends = [logits.shape[0] - gap for logits, gap in zip(output.logits, gaps, strict=True)]
        last = [logits[end - count : end] for logits, end, count in zip(output.logits, ends, counts, strict=True)]
        return last, getattr(output, self._generator.cache_name, None)

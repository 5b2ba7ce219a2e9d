"""Batches of prompts under local weights, and the likelihoods of texts that continue them."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from inspect import signature
from typing import Any

from pytest_fairness.models.generation import Generator


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
            past_key_values=cache,
            use_cache=True,
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
        return last, getattr(output, "past_key_values", None)

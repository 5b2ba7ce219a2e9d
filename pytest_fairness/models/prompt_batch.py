"""A batch of prompts that local weights run once, and the likelihood of texts that continue them."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from inspect import signature
from typing import Any

from pytest_fairness.models.generation import Generator

_SHARED_LAYERS = ("DynamicLayer", "DynamicSlidingWindowLayer")
"""The layers of a cache whose keys and values can be taken for any of its prompts: those of attention."""


class PromptBatch:
    """Prompts as tokens, run once.

    Texts continue them from the cache of their keys and values. Weights without such a cache (state-space models), or
    that take no positions, run each prompt again with each text.

    Attributes:
        following: For each prompt, the log-probabilities of the token after it, shape (vocabulary,).
    """

    def __init__(self, generator: Generator, contexts: Sequence[tuple[int, ...]]) -> None:
        self._generator, self._contexts = generator, contexts
        self._parameters = signature(generator.weights.forward).parameters
        output = self._run([[*context] for context in contexts], last_only=True)
        self._cache = output.past_key_values if "position_ids" in self._parameters else None
        layers = getattr(self._cache, "layers", None) or [None]
        self._shares_prompts = all(type(layer).__name__ in _SHARED_LAYERS for layer in layers)
        self.following: list[Any] = [logits[-1].float().log_softmax(-1).double().cpu() for logits in output.logits]

    def follow(self, texts: Sequence[tuple[int, tuple[int, ...]]]) -> list[float]:
        """Return the log-likelihood of each text after its first token.

        Args:
            texts: For each, the number of its prompt in the batch and its tokens, at least two.
        """
        import torch

        logits = self._continued(texts) if self._shares_prompts else self._rerun(texts)
        results = []
        for own, (_, tokens) in zip(logits, texts, strict=True):
            logs = own.float().log_softmax(-1)
            scored = torch.tensor(tokens[1:], device=logs.device)
            results.append(float(logs.gather(-1, scored[:, None]).double().sum()))
        return results

    def _continued(self, texts: Sequence[tuple[int, tuple[int, ...]]]) -> list[Any]:
        """Return the logits after each token of the texts but the last, from the prompts' keys and values."""
        import torch

        device = self._generator.device
        sizes = [len(tokens) - 1 for _, tokens in texts]
        width, longest = max(sizes), len(max(self._contexts, key=len))
        lengths = [len(self._contexts[index]) for index, _ in texts]
        cache = copy(self._cache)
        cache.layers = [copy(layer) for layer in cache.layers]
        chosen = torch.tensor([index for index, _ in texts], device=device)
        for layer in cache.layers:
            layer.batch_select_indices(chosen)
        inputs = [[*tokens[:-1], *[self._generator.padding] * (width - len(tokens) + 1)] for _, tokens in texts]
        mask = [
            [0] * (longest - length) + [1] * (length + size) + [0] * (width - size)
            for length, size in zip(lengths, sizes, strict=True)
        ]
        positions = torch.tensor(lengths, device=device)[:, None] + torch.arange(width, device=device)
        output = self._generator.weights(
            input_ids=torch.tensor(inputs, device=device),
            attention_mask=torch.tensor(mask, device=device),
            position_ids=positions.clamp(max=(self._generator.room or longest + width) - 1),  # only of padding
            past_key_values=cache,
            use_cache=True,
        )
        return [logits[:size] for logits, size in zip(output.logits, sizes, strict=True)]

    def _rerun(self, texts: Sequence[tuple[int, tuple[int, ...]]]) -> list[Any]:
        """Return the same, from prompts and texts together."""
        output = self._run([[*self._contexts[index], *tokens[:-1]] for index, tokens in texts])
        return [logits[1 - len(tokens) :] for logits, (_, tokens) in zip(output.logits, texts, strict=True)]

    def _run(self, rows: Sequence[list[int]], *, last_only: bool = False) -> Any:
        """Return the output for these rows of tokens, all of which end at the last place."""
        import torch

        longest = max(map(len, rows))
        device = self._generator.device
        mask = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows], device=device)
        inputs = [[self._generator.padding] * (longest - len(row)) + row for row in rows]
        more: dict[str, Any] = {}
        if "position_ids" in self._parameters:
            more["position_ids"] = (mask.cumsum(-1) - 1).clamp(min=0)
        if last_only and "logits_to_keep" in self._parameters:  # all logits of long prompts would fill the memory
            more["logits_to_keep"] = 1
        return self._generator.weights(
            input_ids=torch.tensor(inputs, device=device), attention_mask=mask, use_cache=last_only, **more
        )

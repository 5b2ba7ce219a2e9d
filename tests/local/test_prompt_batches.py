"""Texts that continue a prompt have the likelihoods of prompt and text run together, whatever the kind of weights."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_fairness.local.generation import Generator
from pytest_fairness.local.option_likelihoods import PromptBatch

pytest.importorskip("torch", reason="weights need torch")

SIZES = {"hidden_size": 16, "num_hidden_layers": 2}
HEADS = {"intermediate_size": 32, "num_attention_heads": 2, "num_key_value_heads": 1, "max_position_embeddings": 64}
WINDOW = {"sliding_window": 6}
KINDS: dict[str, tuple[bool, dict[str, Any]]] = {
    "Llama": (True, SIZES | HEADS),
    "Mistral": (True, SIZES | HEADS | WINDOW),
    "Gemma2": (True, SIZES | HEADS | WINDOW | {"head_dim": 8}),
    "Bloom": (False, {"hidden_size": 16, "n_layer": 2, "n_head": 2}),
    "Rwkv": (False, SIZES),
}
"""Names of classes in transformers, whether texts share a prompt's keys and values, and sizes."""
CONTEXTS = [(5, 9, 30, 7, 8, 3, 21, 22, 40), (12, 13, 4), (6,)]
TEXTS = [(0, (8, 9)), (1, (4, 5, 6, 7, 33, 34, 35, 36, 37)), (0, (9, 9, 11)), (2, (3, 4))]


class Weights(Generator):
    """A generator of random weights, without a tokenizer."""

    def __init__(self, kind: str) -> None:
        import torch
        import transformers

        torch.manual_seed(0)
        library: Any = transformers
        special = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
        config = getattr(library, f"{kind}Config")(vocab_size=50, **special, **KINDS[kind][1])
        self._model: Any = getattr(library, f"{kind}ForCausalLM")(config).eval()
        for parameter in self._model.parameters():
            if parameter.dim() > 1:
                torch.nn.init.normal_(parameter, std=0.3)
        self.device, self._padding, self._context_length = "cpu", 0, 64


@pytest.mark.parametrize("kind", KINDS)
def test_continued_texts_equal_those_run_alone(kind: str) -> None:
    import torch

    weights = Weights(kind)

    def logs(tokens: tuple[int, ...]) -> Any:
        return weights.weights(torch.tensor([tokens])).logits[0].log_softmax(-1)

    with torch.inference_mode():
        batch = PromptBatch(weights, CONTEXTS)
        for context, next_logs in zip(CONTEXTS, batch.next_logs, strict=True):
            assert next_logs.tolist() == pytest.approx(logs(context)[-1].tolist(), abs=1e-4)
        for (prompt, text), (log, is_greedy) in zip(TEXTS, batch.score(TEXTS), strict=True):
            context = CONTEXTS[prompt]
            alone = logs(context + text)[len(context) :]
            expected = sum(float(alone[index, token]) for index, token in enumerate(text[1:]))
            assert log == pytest.approx(expected, abs=1e-4)
            assert is_greedy == all(int(alone[index].argmax()) == token for index, token in enumerate(text[1:]))
    assert weights.shares_prompts is KINDS[kind][0]


def test_prompt_is_run_once_for_all_its_texts() -> None:
    import torch

    weights = Weights("Llama")
    assert weights.shares_prompts
    tokens = []
    weights.weights.register_forward_pre_hook(
        lambda _, __, inputs: tokens.append(inputs["input_ids"].numel()), with_kwargs=True
    )
    context = tuple(range(3, 43))
    with torch.inference_mode():
        PromptBatch(weights, [context]).score([(0, (3, 4, option)) for option in range(8)])
    assert tokens == [40, 8 * 2], "the last token of a text needs no pass"

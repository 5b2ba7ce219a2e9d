"""Local weights in a GGUF file: the tiny random model of the other tests, written as llama.cpp has it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

from pytest_fairness.core.errors import FatalError
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.protocols import Model
from tests.models.conftest import ask_at_once

gguf: Any = pytest.importorskip("gguf", reason="GGUF files need gguf")
pytest.importorskip("transformers", reason="transformers models need transformers")

Make = Callable[..., Model]
PROMPTS = [Prompt(f"Question {'x' * i}?") for i in (0, 3, 9)]
LENGTH = 1024
NAMES = {
    "wte.weight": "token_embd.weight",
    "wpe.weight": "position_embd.weight",
    "ln_f": "output_norm",
    "h.": "blk.",
    "ln_1": "attn_norm",
    "ln_2": "ffn_norm",
    "attn.c_attn": "attn_qkv",
    "attn.c_proj": "attn_output",
    "mlp.c_fc": "ffn_up",
    "mlp.c_proj": "ffn_down",
}


@pytest.fixture
def folder(tiny_model: Path, tmp_path: Path) -> Path:
    """Return a rootdir with the same weights in ``ordinary`` and, as one GGUF file alone, in ``quantized``."""
    from safetensors.numpy import load_file

    (tmp_path / "ordinary").symlink_to(tiny_model)
    (tmp_path / "quantized").mkdir()
    tokenizer = json.loads((tiny_model / "tokenizer.json").read_text(encoding="utf-8"))
    # The file needs one merge at least: two blanks, which no prompt has, and which are never more likely than token 0.
    tokens = [*sorted(tokenizer["model"]["vocab"], key=tokenizer["model"]["vocab"].__getitem__), "ĠĠ"]
    writer = gguf.GGUFWriter(tmp_path / "quantized" / "tiny-F32.gguf", "gpt2")
    writer.add_name("tiny")
    writer.add_vocab_size(len(tokens))
    writer.add_context_length(LENGTH)
    writer.add_embedding_length(32)
    writer.add_block_count(2)
    writer.add_head_count(2)
    writer.add_feed_forward_length(128)
    writer.add_layer_norm_eps(1e-5)
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(tokens)
    writer.add_token_types([3, 3, *[1] * (len(tokens) - 2)])
    writer.add_token_merges(["Ġ Ġ"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(0)
    writer.add_pad_token_id(1)
    writer.add_chat_template((tiny_model / "chat_template.jinja").read_text(encoding="utf-8"))
    for name, tensor in load_file(tiny_model / "model.safetensors").items():
        renamed = name.removeprefix("transformer.")
        for theirs, own in NAMES.items():
            renamed = renamed.replace(theirs, own)
        if renamed == "token_embd.weight":
            tensor = numpy.concatenate([tensor, tensor[:1]])
        if renamed == "position_embd.weight":  # transformers reads no other length of a GPT-2
            tensor = numpy.concatenate([tensor, numpy.zeros_like(tensor, shape=(LENGTH - len(tensor), 32))])
        is_transposed = tensor.ndim == 2 and renamed.startswith("blk.")
        writer.add_tensor(renamed, tensor.T.copy() if is_transposed else tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return tmp_path


def test_gguf_answers_are_those_of_the_weights(make: Make, folder: Path) -> None:
    models = ("ordinary", "quantized", "quantized/tiny-F32.gguf")
    made = [make(f"transformers:{name}?max_tokens=8", root=folder, offline=True) for name in models]
    for model in made:
        model.preflight()  # type: ignore[attr-defined]
    ordinary, *quantized = (
        [answer.text for answer in ask_at_once(model, ((prompt, 0) for prompt in PROMPTS))] for model in made
    )
    assert len(set(ordinary)) > 1
    assert quantized == [ordinary, ordinary]
    assert len({model.key.rpartition("#")[2] for model in made}) == 2


def test_missing_library_of_gguf_is_named_with_llama_cpp(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tiny-q4.gguf").touch()
    monkeypatch.setitem(sys.modules, "gguf", None)
    with pytest.raises(FatalError, match=r"tiny-q4\.gguf is a GGUF file: pip install .*\[gguf\].* llama\.cpp:tiny-q4$"):
        make(f"transformers:{tmp_path}").preflight()  # type: ignore[attr-defined]


def test_several_gguf_files_are_refused_unless_one_is_named(make: Make, tmp_path: Path) -> None:
    for bits in (4, 8):
        (tmp_path / f"tiny-q{bits}.gguf").touch()
    with pytest.raises(FatalError, match=r"holds 2 GGUF files: name one of them, transformers:.*tiny-q4\.gguf$"):
        make(f"transformers:{tmp_path}").preflight()  # type: ignore[attr-defined]
    make(f"transformers:{tmp_path}/tiny-q8.gguf").preflight()  # type: ignore[attr-defined]

"""Text generation with a language model on a device of this machine; everything here runs in one worker thread."""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from traceback import clear_frames
from typing import Any

from pytest_fairness import Answer, Prompt, Tool, ToolCall
from pytest_fairness.extending import (
    Clock,
    FatalError,
    Message,
    NoToolsError,
    PermanentError,
    finish_reasons,
    message_roles,
    split_thinking,
)
from pytest_fairness.extending import json_text as json
from pytest_fairness.local.tool_templates import call_reader, template_messages

_ATTENTION_LAYERS = ("DynamicLayer", "DynamicSlidingWindowLayer")
"""Cache layers whose rows can be selected and repeated; others hold a state."""


@dataclass(frozen=True, slots=True)
class Decoding:
    """The decoding parameters: with ``temperature`` 0 each token is the most probable one, else it is sampled."""

    max_tokens: int = 256
    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Job:
    """One prompt to be continued."""

    messages: Sequence[Message]
    repetition: int


@dataclass(frozen=True, slots=True)
class _Row:
    job: Job
    tokens: list[int]
    max_new_tokens: int
    """Largest number of new tokens: fewer than the decoding's, where the prompt leaves no more of the context."""


class Generator:
    """A tokenizer and the weights on their device.

    Args:
        source: A folder, or a name on the hub.
        decoding: The decoding parameters.
        device: The device; "auto" for CUDA, else MPS, else the CPU.
        dtype: The type of the weights.
        options: Further arguments of ``from_pretrained``.
        chat: Whether the tokenizer's chat template is used.

    Attributes:
        stopping: Set to True, it ends the current generation at its next token.
    """

    def __init__(
        self, source: str, decoding: Decoding, *, device: str, dtype: str, options: dict[str, Any], chat: bool = True
    ) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self.device = device if device != "auto" else _best_device(torch)
        self.stopping = False
        self._decoding = decoding
        self._uses_chat_template = chat
        self._tokenizer: Any = AutoTokenizer.from_pretrained(source, **options)
        model: Any = AutoModelForCausalLM.from_pretrained(source, dtype=dtype, **options)
        self._model: Any = model.to(self.device).eval()
        self._end_tokens, self._padding = self._special_tokens()
        self._context_length: int | None = getattr(self._model.config, "max_position_embeddings", None)

    def run(self, jobs: Sequence[Job]) -> list[Answer | PermanentError]:
        """Return an answer for each job, or why it has none."""
        rows: list[_Row | PermanentError] = [self._row(job) for job in jobs]
        answers: dict[int, Answer] = {}
        valid = {index: row for index, row in enumerate(rows) if isinstance(row, _Row)}
        batch = [index for index, row in valid.items() if row.max_new_tokens == self._decoding.max_tokens]
        # A prompt that nearly fills the context gets fewer tokens, and so a batch of its own.
        for indices in [batch, *([index] for index in valid if index not in batch)]:
            answers.update(zip(indices, self._generate([valid[index] for index in indices]), strict=True))
        return [row if isinstance(row, PermanentError) else answers[index] for index, row in enumerate(rows)]

    def free(self) -> None:
        """Release the memory of the device."""
        import torch

        self._model = self._tokenizer = None
        gc.collect()
        if self.device.startswith("cuda"):
            torch.cuda.empty_cache()
        elif self.device.startswith("mps"):
            torch.mps.empty_cache()

    def _special_tokens(self) -> tuple[set[int], int]:
        """Return the tokens that end an answer, and the one that pads the rows of a batch."""
        from transformers import GenerationConfig

        own = self._model.generation_config.eos_token_id
        ends = {*([own] if isinstance(own, int) else own or []), self._tokenizer.eos_token_id} - {None}
        pad = self._tokenizer.pad_token_id
        pad = pad if pad is not None else min(ends, default=0)
        # The decoding is that of the model's name, not the one recommended by the authors of the weights.
        config: Any = GenerationConfig
        self._model.generation_config = config(
            eos_token_id=sorted(ends) or None, pad_token_id=pad, bos_token_id=self._tokenizer.bos_token_id
        )
        return ends, pad

    @property
    def weights(self) -> Any:
        """The model of transformers, on its device."""
        return self._model

    @property
    def context_length(self) -> int | None:
        """The length of the model's context in tokens; None where it is unknown."""
        return self._context_length

    @property
    def padding(self) -> int:
        """The token that pads the rows of a batch."""
        return self._padding

    @property
    def start_token(self) -> int | None:
        """The token before a text without context: the one that begins texts, else one that ends them."""
        bos = self._tokenizer.bos_token_id
        return bos if bos is not None else min(self._end_tokens, default=None)

    @cached_property
    def cache_name(self) -> str:
        """The name of the cache among the parameters and outputs of the weights, which transformers renames."""
        return "cache" if "cache" in signature(self._model.forward).parameters else "past_key_values"

    @cached_property
    def shares_prompts(self) -> bool:
        """Whether texts can continue a prompt from the cache of its attention, without running it again."""
        import torch

        if "position_ids" not in signature(self._model.forward).parameters:
            return False
        with torch.inference_mode():
            output = self._model(input_ids=torch.tensor([[self._padding]], device=self.device), use_cache=True)
        layers: Any = getattr(getattr(output, self.cache_name, None), "layers", None)
        return bool(layers) and all(type(layer).__name__ in _ATTENTION_LAYERS for layer in layers)

    def tokens(self, text: str, *, add_special_tokens: bool) -> list[int]:
        """Return the tokens of a text."""
        token_ids: list[int] = self._tokenizer(text, add_special_tokens=add_special_tokens)["input_ids"]
        return token_ids

    def decode(self, token: int) -> str:
        """Return the text of one token."""
        return str(self._tokenizer.decode([token]))

    def context(self, messages: Sequence[Message]) -> tuple[str, bool]:
        """Return the text that an answer to these messages continues, and whether the tokenizer adds special tokens."""
        tools = _tools_of(messages)
        if tools:
            if self._uses_chat_template and call_reader(self._tokenizer.chat_template) is not None:
                return self._chat(template_messages(messages), tools), False
            raise NoToolsError(
                "its chat template offers no tools in a form that can be read: measure weights with one, or serve them"
            )
        if not self._uses_chat_template or self._tokenizer.chat_template is None:
            return "\n\n".join(message["content"] for message in messages), True
        return self._chat([dict(message) for message in messages]), False

    def _row(self, job: Job) -> _Row | PermanentError:
        try:
            text, adds_special_tokens = self.context(job.messages)
        except NoToolsError as error:
            return error
        tokens = self.tokens(text, add_special_tokens=adds_special_tokens)
        max_new_tokens = self._decoding.max_tokens
        if self._context_length is not None:
            max_new_tokens = min(max_new_tokens, self._context_length - len(tokens))
        if max_new_tokens < 1 or not tokens:
            return PermanentError(
                f"a prompt has {len(tokens)} tokens: the model has room for {self._context_length or 'any'}, "
                "answer included"
            )
        return _Row(job, tokens, max_new_tokens)

    def _chat(self, messages: list[dict[str, Any]], tools: Sequence[Tool] = ()) -> str:
        from jinja2.exceptions import TemplateError

        continued = messages[-1]["role"] == "assistant"
        options: dict[str, Any] = {
            "tokenize": False,
            "add_generation_prompt": not continued,
            "continue_final_message": continued,
        }
        if tools:
            options["tools"] = [{"type": "function", "function": tool.to_json()} for tool in tools]
        try:
            text: str = self._tokenizer.apply_chat_template(messages, **options)
        except TemplateError:
            # Some templates refuse system messages: their text is then put before the first message of the user.
            system = [message["content"] for message in messages if message["role"] == "system"]
            rest = [message for message in messages if message["role"] != "system"]
            if not system or not rest:
                raise
            rest[0]["content"] = "\n\n".join([*system, rest[0]["content"]])
            text = self._tokenizer.apply_chat_template(rest, **options)
        return text

    def _generate(self, rows: list[_Row]) -> list[Answer]:
        import torch

        if not rows:
            return []
        started = Clock.perf_counter()
        longest = max(len(row.tokens) for row in rows)
        padded = [[self._padding] * (longest - len(row.tokens)) + row.tokens for row in rows]
        mask = [[0] * (longest - len(row.tokens)) + [1] * len(row.tokens) for row in rows]
        with fitting_batch(len(rows), self.device), torch.inference_mode():
            output = self._model.generate(
                input_ids=torch.tensor(padded, device=self.device),
                attention_mask=torch.tensor(mask, device=self.device),
                max_new_tokens=rows[0].max_new_tokens,
                do_sample=False,  # the processors sample, with one random generator a row
                logits_processor=_processors(self._decoding, [row.job for row in rows]),
                stopping_criteria=[lambda ids, _: torch.full((len(ids),), self.stopping, device=ids.device)],
            )
        latency = Clock.perf_counter() - started
        return [self._answer(row, new, latency) for row, new in zip(rows, output[:, longest:].tolist(), strict=True)]

    def _answer(self, row: _Row, new: list[int], latency: float) -> Answer:
        end = next((index for index, token in enumerate(new) if token in self._end_tokens), None)
        count = len(new) if end is None else end + 1
        usage, finish = {"input": len(row.tokens), "output": count}, "length" if end is None else "stop"
        if not self._uses_chat_template:  # a text is continued: its blanks are part of it
            return Answer(self._tokenizer.decode(new[:end], skip_special_tokens=True), finish, None, usage, latency)
        # First with the special tokens, among which some models have those around their thinking, or their calls.
        text, reasoning = split_thinking(self._tokenizer.decode(new[:end], skip_special_tokens=False).strip())
        calls: tuple[ToolCall, ...] = ()
        if _tools_of(row.job.messages) and (reads := call_reader(self._tokenizer.chat_template)) is not None:
            rest, calls = reads(text)
            if calls:
                finish = finish_reasons.TOOL_CALLS if finish == "stop" else finish
                return Answer(self._without_special(rest), finish, reasoning, usage, latency, actions=calls)
        if reasoning is None:
            text = self._tokenizer.decode(new[:end], skip_special_tokens=True).strip()
        else:
            text, reasoning = self._without_special(text), self._without_special(reasoning)
        return Answer(text, finish, reasoning, usage, latency)

    def _without_special(self, text: str) -> str:
        for token in self._tokenizer.all_special_tokens:
            text = text.replace(token, "").strip()
        return text


@contextmanager
def fitting_batch(prompts: int, device: str) -> Iterator[None]:
    """Raise `FatalError` where a batch of so many prompts does not fit into the device, and release what it holds."""
    import torch

    try:
        yield
    except torch.OutOfMemoryError as error:
        clear_frames(error.__traceback__)  # they hold the batch for as long as the error is kept
        if prompts == 1:
            advice = f"a prompt does not fit into the memory of {device}: write dtype=bfloat16, or another device,"
        else:
            advice = (
                f"{prompts} prompts at a time do not fit into the memory of {device}: write batch_size={prompts // 2}"
            )
        raise FatalError(f"{advice} into the model's name") from None


def _tools_of(messages: Sequence[Message]) -> tuple[Tool, ...]:
    return Prompt(messages).tools if messages[0]["role"] == message_roles.TOOLS else ()


def _processors(decoding: Decoding, jobs: Sequence[Job]) -> list[Any]:
    """Return logits processors that sample by the Gumbel-max trick, with one sequence of random numbers a row.

    The token with the highest log-probability plus Gumbel noise is a draw from the distribution. The noise of a
    row depends on (seed, messages, repetition) alone, not on the other rows of its batch, nor on the device.
    """
    import torch
    from transformers import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

    if decoding.temperature == 0:
        return []
    seeds = [_seed(decoding.seed, job) for job in jobs]
    used = 0

    def add_noise(_: Any, scores: Any) -> Any:
        nonlocal used
        # MPS has no double precision.
        device = torch.device("cpu") if scores.device.type == "mps" else scores.device
        uniforms = uniform_numbers(torch.tensor(seeds, device=device), used, scores.shape[-1])
        used += scores.shape[-1]
        noise = uniforms.log_().neg_().log_().neg_()
        return scores + noise.to(scores.device, scores.dtype)

    processors: list[Any] = [TemperatureLogitsWarper(float(decoding.temperature))]
    if decoding.top_k:
        processors.append(TopKLogitsWarper(decoding.top_k))
    if decoding.top_p < 1:
        processors.append(TopPLogitsWarper(float(decoding.top_p)))
    return [*processors, add_noise]


def uniform_numbers(seeds: Any, start: int, count: int) -> Any:
    """Return a part of the sequence of uniform random numbers of each seed: the same on every device.

    The generator is SplitMix64 (Steele, Lea and Flood 2014), any number of which is computed from its position alone.

    Args:
        seeds: A seed for each row, a tensor of shape (rows,) and type int64.
        start: The position of the first number, from 0.
        count: The number of numbers of a row.

    Returns:
        Numbers in [0, 1) with 53 bits, a tensor of shape (rows, count) and type float64, on the device of the seeds.

    Example:
        >>> import torch
        >>> uniform_numbers(torch.tensor([1234567]), 0, 2)
        tensor([[0.3501, 0.1736]], dtype=torch.float64)
    """
    import torch

    positions = torch.arange(start + 1, start + count + 1, device=seeds.device)
    state = seeds[:, None] + positions * _signed(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        state.bitwise_xor_(_shifted(state, shift)).mul_(_signed(factor))
    state.bitwise_xor_(_shifted(state, 31))
    return _shifted(state, 11).double().mul_(2.0**-53)


def _shifted(numbers: Any, bits: int) -> Any:
    """Return 64-bit numbers shifted to the right, with zeros on the left: torch repeats the sign."""
    return (numbers >> bits).bitwise_and_((1 << (64 - bits)) - 1)


def _signed(number: int) -> int:
    """Return the signed number with the same 64 bits."""
    return number - (1 << 64)


def _seed(seed: int, job: Job) -> int:
    messages = [[message["role"], message["content"]] for message in job.messages]
    content = json.dumps([seed, messages, job.repetition]).encode()
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest()) >> 1


def _best_device(torch: Any) -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"

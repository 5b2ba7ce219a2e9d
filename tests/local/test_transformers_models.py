"""Local weights, on a tiny random model that the tests build themselves."""

from __future__ import annotations

import asyncio
import gc
import shutil
import sys
import weakref
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.errors import FairnessError, FatalError, PermanentError
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.propensities import Continuations
from pytest_fairness.core.protocols import Model
from pytest_fairness.engine.engine import Engine
from pytest_fairness.engine.requests import build_requests
from pytest_fairness.local.generation import Generator, Job, _Row, uniform_numbers
from pytest_fairness.store.store import Store
from tests.models.conftest import ask_at_once

torch: Any = pytest.importorskip("torch", reason="transformers models need torch")
pytest.importorskip("transformers", reason="transformers models need transformers")

Make = Callable[..., Model]
Ask = Callable[..., Answer]
PROMPTS = [Prompt(f"Question {'x' * i}?") for i in range(0, 18, 3)]


@pytest.fixture(autouse=True)
def folder(tiny_model: Path, tmp_path: Path) -> Path:
    """Return a rootdir of its own, with the model in ``weights/tiny``."""
    shutil.copytree(tiny_model, tmp_path / "weights" / "tiny")
    return tmp_path


@pytest.fixture
def answers(make: Make, folder: Path) -> Callable[..., list[Answer]]:
    """Return a function that sends several prompts to the tiny model at once."""

    def generate(tail: str = "", prompts: Sequence[Prompt] = PROMPTS, repetition: int = 0) -> list[Answer]:
        model = make(f"transformers:weights/tiny?max_tokens=8{tail}", root=folder, offline=True)

        return ask_at_once(model, ((prompt, repetition) for prompt in prompts))

    return generate


def texts(replies: list[Answer]) -> list[str]:
    return [answer.text for answer in replies]


def test_greedy_answers_do_not_depend_on_the_batch(answers: Callable[..., list[Answer]]) -> None:
    replies = answers()
    assert len(set(texts(replies))) > 1
    assert {answer.finish_reason for answer in replies} <= {"stop", "length"}
    assert all(answer.usage["output"] <= 8 and answer.usage["input"] > 10 for answer in replies)
    assert all(answer.latency > 0 for answer in replies)
    assert texts(replies) == texts(answers("&batch_size=1")) == texts(answers("&batch_size=4", PROMPTS[::-1]))[::-1]
    assert texts(answers(repetition=1)) == texts(replies)


def test_batches_larger_than_the_default_concurrency_are_full(
    make: Make, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    run = Generator.run

    def counting(generator: Generator, jobs: Sequence[Job]) -> list[Answer | PermanentError]:
        sizes.append(len(jobs))
        return run(generator, jobs)

    monkeypatch.setattr(Generator, "run", counting)
    model = make("transformers:weights/tiny?max_tokens=1&batch_size=48", root=folder)
    with closing(Store(folder / "store.sqlite")) as store:
        store.runs.start("run")
        engine = Engine(store, "run")
        try:
            engine.attempts(build_requests([Prompt(f"Question {number}?") for number in range(96)], model, 1))
        finally:
            engine.close()
    assert (max(sizes), sum(sizes)) == (48, 96)


def test_draws_depend_on_seed_prompt_and_repetition_only(answers: Callable[..., list[Answer]]) -> None:
    tail = "&temperature=1&top_p=0.95&top_k=50"
    drawn = texts(answers(tail))
    assert texts(answers(f"{tail}&batch_size=1")) == drawn
    assert texts(answers(f"{tail}&batch_size=4", PROMPTS[::-1]))[::-1] == drawn
    assert texts(answers(tail, PROMPTS[3:5])) == drawn[3:5]
    assert texts(answers(f"{tail}&seed=1")) != drawn
    assert texts(answers(tail, repetition=1)) != drawn
    torch.manual_seed(99)
    state = torch.get_rng_state()
    assert texts(answers(tail)) == drawn
    assert torch.equal(torch.get_rng_state(), state), "the global generator is the user's"


def test_draws_follow_the_model_distribution(make: Make, folder: Path) -> None:
    """Compare the share of each first token with the model's own probabilities."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    weights = str(folder / "weights/tiny")
    tokenizer: Any = AutoTokenizer.from_pretrained(weights)
    network: Any = AutoModelForCausalLM.from_pretrained(weights)
    prompt = Prompt("q")
    text = tokenizer.apply_chat_template([{"role": "user", "content": "q"}], add_generation_prompt=True, tokenize=False)
    with torch.inference_mode():
        ids = tokenizer(text, return_tensors="pt", add_special_tokens=False)["input_ids"]
        expected = torch.softmax(network(ids).logits[0, -1] / 2, -1)
    model: Any = make("transformers:weights/tiny?max_tokens=1&temperature=2&batch_size=50", root=folder)

    drawn = ask_at_once(model, ((prompt, repetition) for repetition in range(600)))
    # Every byte that is no character of its own has the same text.
    shown = [tokenizer.decode([token], skip_special_tokens=True).strip() for token in range(len(expected))]
    best = shown[int(expected.argmax())]
    share = sum(answer.text == best for answer in drawn) / len(drawn)
    assert share == pytest.approx(float(expected[[text == best for text in shown]].sum()), abs=0.06)


@given(st.integers(0, 2**63 - 1), st.integers(0, 2**50))
def test_random_numbers_are_those_of_splitmix64(seed: int, start: int) -> None:
    """Compare with the definition, in Python's integers."""

    def number(position: int) -> float:
        mixed = (seed + (position + 1) * 0x9E3779B97F4A7C15) % 2**64
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed = (mixed ^ mixed >> shift) * factor % 2**64
        return ((mixed ^ mixed >> 31) >> 11) / 2**53

    drawn = uniform_numbers(torch.tensor([seed, 7]), start, 3)
    assert drawn[0].tolist() == [number(start + index) for index in range(3)]
    assert drawn[1].tolist() == uniform_numbers(torch.tensor([7]), start, 3)[0].tolist()


@pytest.mark.parametrize("method", ["answer", "likelihoods"])
@pytest.mark.parametrize(("prompts", "advice"), [(1, "dtype=bfloat16"), (6, "batch_size=3")])
def test_batch_beyond_the_memory_is_released(
    make: Make, folder: Path, monkeypatch: pytest.MonkeyPatch, method: str, prompts: int, advice: str
) -> None:
    """Fail as a device without memory does, and keep the errors, as a run does."""
    batches: list[weakref.ref[Any]] = []

    def full(*_: Any, **__: Any) -> None:
        activations = torch.zeros(3)
        batches.append(weakref.ref(activations))
        raise torch.OutOfMemoryError("out of memory")

    monkeypatch.setattr("transformers.GPT2LMHeadModel.forward", full)
    model: Any = make("transformers:weights/tiny?batch_size=6&max_tokens=8", root=folder)
    last = {"answer": 0, "likelihoods": Continuations({"yes": (" yes",), "no": (" no", " not at all")})}[method]

    async def ask() -> list[Any]:
        calls = [getattr(model, method)(prompt, last) for prompt in PROMPTS[:prompts]]
        errors = await asyncio.gather(*calls, return_exceptions=True)
        await model.close()
        return errors

    errors = asyncio.run(ask())
    assert all(isinstance(error, FatalError) and advice in str(error) for error in errors)
    gc.collect()
    assert [batch() for batch in batches] == [None]


def test_end_token_ends_an_answer(make: Make, folder: Path) -> None:
    """Draw at a high temperature, where each of 258 tokens is likely: some answers end before the limit."""
    model = make("transformers:weights/tiny?max_tokens=60&temperature=50&batch_size=40", root=folder)

    drawn = ask_at_once(model, ((PROMPTS[0], repetition) for repetition in range(80)))
    stopped = [answer for answer in drawn if answer.finish_reason == "stop"]
    assert 0 < len(stopped) < 80
    assert all(answer.usage["output"] <= 60 for answer in stopped)
    assert {answer.usage["output"] for answer in drawn if answer.finish_reason == "length"} == {60}
    assert not any("<end>" in answer.text or "<pad>" in answer.text for answer in drawn)


def test_chat_template_is_used_if_present(ask: Ask, folder: Path) -> None:
    chat = Prompt([{"role": "system", "content": "S"}, {"role": "user", "content": "U"}])
    name = "transformers:weights/tiny?max_tokens=1"
    assert ask(name, chat, root=folder).usage["input"] == len("system: S\nuser: U\nassistant: ")
    begun = Prompt([*chat.messages, {"role": "assistant", "content": "It is ("}])
    assert ask(name, begun, root=folder).usage["input"] == len("system: S\nuser: U\nassistant: It is (")
    (folder / "weights/tiny/chat_template.jinja").unlink()
    assert ask(name, chat, root=folder).usage["input"] == len("S\n\nU")


def test_template_without_system_messages_gets_none(ask: Ask, folder: Path) -> None:
    template = folder / "weights/tiny/chat_template.jinja"
    refuse = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}"
    template.write_text(refuse + template.read_text())
    chat = Prompt([{"role": "system", "content": "S"}, {"role": "user", "content": "U"}])
    reply = ask("transformers:weights/tiny?max_tokens=1", chat, root=folder)
    assert reply.usage["input"] == len("user: S\n\nU\nassistant: ")


def test_answer_is_cut_at_the_context_and_longer_prompts_refused(
    answers: Callable[..., list[Answer]], ask: Ask, folder: Path
) -> None:
    near = Prompt("x" * (256 - 5 - len("user: \nassistant: ")))
    alone = answers("&temperature=1", [near])[0]
    together = answers("&temperature=1", [*PROMPTS[:3], near])
    assert together[3].text == alone.text
    assert (alone.usage["output"], alone.finish_reason) == (5, "length")
    assert texts(together[:3]) == texts(answers("&temperature=1", PROMPTS[:3]))
    with pytest.raises(PermanentError, match=r"transformers:weights/tiny: a prompt has 318 tokens: .* room for 256"):
        ask("transformers:weights/tiny", "x" * 300, root=folder)


def test_closing_frees_the_model_and_cancels_requests(make: Make, folder: Path) -> None:
    model: Any = make("transformers:weights/tiny?max_tokens=200&batch_size=1", root=folder)

    def loaded() -> weakref.WeakSet[Any]:
        gc.collect()
        return weakref.WeakSet(
            instance for instance in gc.get_objects() if type(instance).__name__ == "GPT2LMHeadModel"
        )

    others = loaded()  # of earlier tests, which may be freed at any time

    async def interrupted() -> None:
        await model.answer(Prompt("x"), 0)
        waiting = [asyncio.ensure_future(model.answer(prompt, 0)) for prompt in PROMPTS]
        await asyncio.sleep(0.05)
        await asyncio.wait_for(model.close(), 10)
        assert not loaded() - others
        await asyncio.gather(*waiting, return_exceptions=True)
        assert sum(task.cancelled() for task in waiting) >= 4

    asyncio.run(interrupted())


def test_missing_weights_are_reported_in_one_line(ask: Ask, folder: Path) -> None:
    for name in ("no/such-model", "weights/empty"):
        (folder / "weights/empty").mkdir(exist_ok=True)
        with pytest.raises(FatalError, match=f"transformers:{name}: its weights cannot be loaded from") as caught:
            ask(f"transformers:{name}", root=folder, offline=True)
        assert "\n" not in str(caught.value)


def test_missing_libraries_name_the_install_line(ask: Ask, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("transformers.utils.logging", "torch"):
        with monkeypatch.context() as patched, pytest.raises(FatalError) as caught:
            patched.setitem(sys.modules, module, None)
            ask("transformers:weights/tiny", root=folder)
        assert 'pip install "./pytest-fairness[transformers]"' in str(caught.value)


def test_key_covers_decoding_and_weights_but_not_the_machine(make: Make, folder: Path) -> None:
    def key(tail: str = "") -> str:
        return make(f"transformers:weights/tiny{tail}", root=folder).key

    first = key()
    assert key("?batch_size=2&device=cpu") == first == key("?max_tokens=256")
    assert len({first, key("?max_tokens=2"), key("?seed=1"), key("?dtype=float32")}) == 4
    weights = folder / "weights/tiny/model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-100:] = bytes(100)
    weights.write_bytes(data)
    assert key() != first
    assert make("transformers:org/hub-name").key == "transformers:org/hub-name?max_tokens=256"


def test_unknown_device_is_reported(ask: Ask, folder: Path) -> None:
    with pytest.raises(FatalError, match="cannot be loaded"):
        ask("transformers:weights/tiny?device=toaster", root=folder)
    with pytest.raises(FairnessError, match="parameter dtype is 'int8': it must be one of auto"):
        ask("transformers:weights/tiny?dtype=int8", root=folder)


def test_thinking_between_special_tokens_is_not_the_answer(folder: Path) -> None:
    """Decode with special tokens: Magistral marks its thinking by them."""
    from transformers import AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(folder / "weights/tiny")
    tokenizer.add_special_tokens({"additional_special_tokens": ["[THINK]", "[/THINK]", "<|header|>"]})
    generator: Any = Generator.__new__(Generator)
    generator._tokenizer, generator._end_tokens, generator._uses_chat_template = (
        tokenizer,
        {tokenizer.eos_token_id},
        True,
    )
    row = _Row(Job([{"role": "user", "content": "A or B?"}], 0), [1], 9)
    for text, answer, reasoning in [
        ("[THINK]maybe A[/THINK]B<end>", "B", "maybe A"),
        ("<|header|>[THINK]maybe A[/THINK]<|header|>B<end>", "B", "maybe A"),
        ("[THINK]maybe A", "", "maybe A"),
        ("<|header|>B<end>", "B", None),
    ]:
        reply = generator._answer(row, tokenizer(text)["input_ids"], 0.0)
        assert (reply.text, reply.reasoning) == (answer, reasoning)

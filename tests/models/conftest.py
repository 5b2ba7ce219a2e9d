"""A real HTTP server for error shapes, and what the tests of models share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest
from aiohttp import web

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.protocols import Model
from pytest_fairness.models.context import ModelContext
from pytest_fairness.models.registry import resolve
from tests.helpers.http_server import Handler, serving

T = TypeVar("T")


@dataclass
class Server:
    """Server that answers every request with ``handler``, and records its requests."""

    url: str = ""
    handler: Handler | None = None
    bodies: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def says(self, body: object, status: int = 200, **headers: str) -> None:
        async def handler(_: web.Request) -> web.StreamResponse:
            named_headers = {name.replace("_", "-"): value for name, value in headers.items()}
            return web.json_response(body, status=status, headers=named_headers)

        self.handler = handler

    def answers(self, provider: str, text: str = "Yes.") -> None:
        """Send the plainest good answer in a provider's form."""
        if provider == "openai":
            self.says({"choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": text}}]})
        else:
            self.says({"content": [{"type": "text", "text": text}], "stop_reason": "end_turn"})

    @property
    def sent_key(self) -> str | None:
        """The key of the last request, in the header of its provider; None where it has none."""
        headers = self.headers[-1]
        keys = [headers.get("x-api-key"), headers.get("api-key"), headers.get("authorization")]
        return next((key.removeprefix("Bearer ") for key in keys if key), None)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        self.paths.append(request.path)
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        self.bodies.append(await request.json())
        assert self.handler is not None
        return await self.handler(request)


@pytest.fixture
def server() -> Iterator[Server]:
    """Yield a server on loopback, in a thread of its own."""
    local_server = Server()
    with serving(local_server.serve) as local_server.url:
        yield local_server


@pytest.fixture
def name(server: Server) -> Callable[..., str]:
    """Return a function that names a model of the local server."""

    def full_name(provider: str, tail: str = "") -> str:
        path = "/v1" if provider == "openai" else ""
        return f"{provider}:m?base_url={server.url}{path}{tail and '&' + tail}"

    return full_name


Ask = Callable[..., Answer]


@pytest.fixture
def ask() -> Ask:
    """Ask a model, by name or as an object, one prompt, and close it."""

    def send(model: str | Model, prompt: str | Prompt = "Say yes.", repetition: int = 0, **context: Any) -> Answer:
        opened = make(model, **context) if isinstance(model, str) else model

        async def run() -> Answer:
            try:
                return await opened.answer(Prompt(prompt) if isinstance(prompt, str) else prompt, repetition)
            finally:
                await opened.close()

        return asyncio.run(run())

    return send


def make(name: str, **context: Any) -> Model:
    return resolve(name, aliases={}, context=ModelContext(**context))


def ask_at_once(model: Model, requests: Iterable[tuple[Prompt, int]]) -> list[Answer]:
    """Send prompts to a model at once, each as one repetition, and close it."""

    async def run() -> list[Answer]:
        answers = await asyncio.gather(*(model.answer(prompt, repetition) for prompt, repetition in requests))
        await model.close()
        return list(answers)

    return asyncio.run(run())


@pytest.fixture(name="make")
def make_fixture() -> Callable[..., Model]:
    """Return a function that makes a model by its name, in a context of these values."""
    return make


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a random GPT-2 of two layers with one token a byte; skip without torch."""
    torch = pytest.importorskip("torch", reason="the tiny model needs torch")
    transformers: Any = pytest.importorskip("transformers", reason="the tiny model needs transformers")
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    tokens = ["<end>", "<pad>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    tokenizer: Any = Tokenizer(models.BPE(vocab={token: i for i, token in enumerate(tokens)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<end>", pad_token="<pad>")
    fast.chat_template = (
        "{% for m in messages %}{{ m['role'] + ': ' + m['content'] }}{% if not loop.last or add_generation_prompt %}"
        "{{ '\\n' }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ 'assistant: ' }}{% endif %}"
    )
    torch.set_num_threads(1)
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=len(tokens),
        n_positions=256,
        n_embd=32,
        n_layer=2,
        n_head=2,
        bos_token_id=0,
        eos_token_id=0,
        initializer_range=0.3,
    )
    folder = tmp_path_factory.mktemp("tiny")
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder

"""Presets of providers, each against a server that answers in its form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.batch_api import batches_of
from pytest_fairness.core.errors import FairnessError, FatalError, ModelError, PermanentError, TransientError
from pytest_fairness.core.extensions import MODELS
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.tools import NoToolsError, Tool
from pytest_fairness.engine.rate_limits import RateLimiters
from pytest_fairness.models.presets import LocalServer, Preset
from pytest_fairness.store.rates import Rates
from tests.models.conftest import Server, ask_at_once, make

PRESETS: dict[str, type[Preset]] = {
    name: provider
    for name in MODELS.names()
    if isinstance(provider := MODELS.load(name), type) and issubclass(provider, Preset)
}
LOCAL = sorted(name for name, provider in PRESETS.items() if issubclass(provider, LocalServer))
HOSTED = sorted(PRESETS.keys() - set(LOCAL))

Ask = Callable[..., Answer]


def environment(preset: str, server: Server, key: str = "k3y-of-the-provider") -> dict[str, str]:
    provider = PRESETS[preset]
    account = {"OPENAI_API_KEY": "k3y-of-openai", "OPENAI_ORG_ID": "org", "OPENAI_BASE_URL": "http://elsewhere.invalid"}
    return {provider.url_variable: f"{server.url}/v1", **({provider.key_variable: key} if key else {}), **account}


def test_issue_names_every_preset() -> None:
    assert sorted(PRESETS) == [
        *("azure", "bedrock", "deepseek", "gemini", "groq", "llama.cpp", "lmstudio", "mistral", "ollama"),
        *("openrouter", "together", "vllm", "xai"),
    ]


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_preset_sends_its_own_key_and_nothing_of_openai(preset: str, ask: Ask, server: Server) -> None:
    server.answers("openai")
    answer = ask(f"{preset}:some/model?max_tokens=5", environment=environment(preset, server))
    assert answer.text == "Yes."
    assert server.paths == ["/v1/chat/completions"]
    assert server.sent_key == "k3y-of-the-provider"
    assert server.bodies[0]["model"] == "some/model"
    assert server.bodies[0]["max_tokens"] == 5
    assert not {name for name in server.headers[0] if name.startswith("openai")}
    assert "k3y-of-openai" not in str(server.headers)


@pytest.mark.parametrize("preset", HOSTED)
def test_hosted_preset_without_a_key_asks_nothing(preset: str, ask: Ask, server: Server) -> None:
    variable = PRESETS[preset].key_variable
    with pytest.raises(FatalError, match=f"no API key: set {variable} in the environment"):
        ask(f"{preset}:x", environment=environment(preset, server, key=""))
    assert not server.bodies


@pytest.mark.parametrize("preset", LOCAL)
def test_local_server_is_asked_without_a_key(preset: str, ask: Ask, make: Callable[..., Any], server: Server) -> None:
    server.answers("openai")
    assert ask(f"{preset}:x", environment=environment(preset, server, key="")).text == "Yes."
    assert server.sent_key is None
    assert make(f"{preset}:x").base_url.startswith("http://localhost:")
    make(f"{preset}:x").preflight()


@pytest.mark.parametrize("preset", HOSTED)
def test_server_of_a_name_is_not_sent_the_key_of_the_provider(preset: str, ask: Ask, server: Server) -> None:
    server.answers("openai")
    ask(f"{preset}:x?base_url={server.url}/v1", environment=environment(preset, server))
    assert server.sent_key is None
    ask(f"{preset}:x?base_url={server.url}/v1&key_env=OWN", environment={"OWN": "own-key"})
    assert server.sent_key == "own-key"


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_preset_has_no_batches_of_openai(preset: str, make: Callable[..., Any], server: Server) -> None:
    assert batches_of(make(f"{preset}:x", environment=environment(preset, server))) is None


@pytest.mark.parametrize("preset", sorted(PRESETS.keys() - {"azure", "bedrock"}))
def test_default_address_is_not_in_the_key(preset: str, make: Callable[..., Any]) -> None:
    model = make(f"{preset}:x?temperature=0")
    assert model.key == f"{preset}:x?temperature=0"
    assert model.base_url == PRESETS[preset].default_url


def test_mistral_names_its_seed_otherwise(ask: Ask, server: Server) -> None:
    server.answers("openai")
    ask("mistral:small?seed=3", "Hello", 2, environment=environment("mistral", server))
    assert server.bodies[0]["random_seed"] == 5
    assert "seed" not in server.bodies[0]


def test_azure_is_asked_at_its_resource(make: Callable[..., Any], ask: Ask, server: Server) -> None:
    resource = {"AZURE_OPENAI_ENDPOINT": "https://name.openai.azure.com/", "AZURE_OPENAI_API_KEY": "k"}
    assert make("azure:prod", environment=resource).base_url == "https://name.openai.azure.com/openai/v1"
    with pytest.raises(FairnessError, match="model azure:prod: set AZURE_OPENAI_ENDPOINT to the resource"):
        make("azure:prod")
    server.answers("openai")
    ask("azure:prod", environment=environment("azure", server))
    assert server.headers[0]["api-key"] == "k3y-of-the-provider"
    assert "authorization" not in server.headers[0]


def test_bedrock_is_asked_in_its_region(make: Callable[..., Any]) -> None:
    address = "https://bedrock-runtime.eu-west-1.amazonaws.com/openai/v1"
    for variable in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        assert make("bedrock:x", environment={variable: "eu-west-1"}).base_url == address
    with pytest.raises(FairnessError, match="model bedrock:x: set AWS_REGION"):
        make("bedrock:x")


@pytest.mark.parametrize(
    ("preset", "status", "body", "expected"),
    [
        ("azure", 404, {"error": {"code": "DeploymentNotFound", "message": "No such deployment."}}, FatalError),
        ("bedrock", 403, {"Message": "The security token included in the request is invalid."}, FatalError),
        ("deepseek", 402, {"error": {"message": "Insufficient Balance", "type": "unknown_error"}}, FatalError),
        ("gemini", 429, [{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED"}}], TransientError),
        ("groq", 413, {"error": {"message": "Request too large", "code": "request_too_large"}}, PermanentError),
        ("llama.cpp", 503, {"error": {"message": "Loading model", "type": "unavailable_error"}}, TransientError),
        ("lmstudio", 404, {"error": "Unexpected endpoint"}, FatalError),
        ("mistral", 422, {"object": "error", "message": {"detail": [{"loc": ["body"], "msg": "x"}]}}, PermanentError),
        ("ollama", 404, {"error": {"message": 'model "x" not found, try pulling it first'}}, FatalError),
        ("openrouter", 200, {"error": {"code": 429, "message": "Provider returned error"}}, TransientError),
        ("together", 401, {"error": {"message": "Invalid API key", "type": "invalid_request_error"}}, FatalError),
        ("vllm", 404, {"object": "error", "message": "The model `x` does not exist.", "code": 404}, FatalError),
        ("xai", 400, {"code": "Client specified an invalid argument", "error": "bad"}, PermanentError),
    ],
)
def test_errors_are_read_in_the_form_of_each_provider(
    preset: str, status: int, body: object, expected: type[ModelError], ask: Ask, server: Server
) -> None:
    server.says(body, status=status)
    with pytest.raises(expected) as caught:
        ask(f"{preset}:x", environment=environment(preset, server))
    assert str(caught.value).startswith(f"{preset}:x: {server.url}/v1 ")
    assert "\n" not in str(caught.value)
    assert "k3y" not in str(caught.value)


def test_named_server_has_one_key_at_every_port(make: Callable[..., Any]) -> None:
    keys = {
        make(name, environment={"LLAMA_CPP_BASE_URL": f"http://127.0.0.1:{port}/v1"}).key
        for port in (8080, 8081)
        for name in ("llama.cpp:m?server=laptop", f"llama.cpp:m?server=laptop&base_url=http://127.0.0.1:1{port}/v1")
    }
    assert len(keys) == 1
    others = [make("llama.cpp:m", environment={"LLAMA_CPP_BASE_URL": f"http://127.0.0.1:{port}/v1"}) for port in (1, 2)]
    assert len({*keys, *(other.key for other in others), make("llama.cpp:m?server=other").key}) == 4


@pytest.mark.parametrize("preset", LOCAL)
@pytest.mark.parametrize(("counted", "drops"), [("messages", True), ("all", False), ("nothing", False)])
def test_server_that_drops_tools_is_found_by_its_tokens(
    preset: str, counted: str, server: Server, *, drops: bool
) -> None:
    """Regression: a chat template without tools left every answer prose, and each was graded as no action."""

    async def handler(request: web.Request) -> web.StreamResponse:
        body = await request.json()
        counted_text = {"messages": str(body["messages"]), "all": str(body), "nothing": ""}[counted]
        message = {"role": "assistant", "content": "I would look it up."}
        usage = {"prompt_tokens": len(counted_text) // 4 or 7, "completion_tokens": 5}
        return web.json_response({"choices": [{"finish_reason": "stop", "message": message}], "usage": usage})

    server.handler = handler
    model = make(f"{preset}:x?temperature=0", environment=environment(preset, server, key=""))
    requests = [(Prompt(f"May she stay? {number}", tools=[Tool("look_up")]), 0) for number in range(3)]
    if drops:
        with pytest.raises(NoToolsError, match=rf"^{preset}:x.* drops tools: .*chat template that has tools"):
            ask_at_once(model, requests)
    else:
        ask_at_once(model, requests)
    sent = [body["messages"][0]["content"] for body in server.bodies]
    assert len([text for text in sent if "say yes" in text]) == 2
    assert len(sent) == (2 if drops else 5)


@pytest.mark.parametrize(("preset", "most"), [("llama.cpp", 4), ("lmstudio", 4), ("ollama", 4), ("vllm", 24)])
def test_local_servers_begin_with_few_requests(preset: str, most: int) -> None:
    def ceiling(*, chosen: bool) -> int | None:
        model = make(f"{preset}:x", concurrency=24, is_concurrency_chosen=chosen)
        limit = RateLimiters(24, Rates(), lambda: None, lambda _: None, is_counted=False).of(model)
        request = limit.slot_request(["key"], 0.0)
        return None if request is None else request.ceiling

    assert ceiling(chosen=False) == most
    assert ceiling(chosen=True) == 24

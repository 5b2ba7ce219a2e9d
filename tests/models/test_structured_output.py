"""The schema of a prompt, as each provider's structured output: what is sent, and what where a server knows none."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.errors import PermanentError
from pytest_fairness.core.items import Prompt

Ask = Callable[..., Answer]
Name = Callable[..., str]

SCHEMA = {"type": "object", "properties": {"harm": {"type": "integer"}}, "required": ["harm"]}
PROMPT = Prompt("How harmful? Reply with JSON.", schema=SCHEMA)


def test_openai_gets_a_response_format(server: Any, ask: Ask, name: Name) -> None:
    server.answers("openai", '{"harm": 1}')
    assert ask(name("openai"), PROMPT).text == '{"harm": 1}'
    form = server.bodies[0]["response_format"]
    assert form == {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA}}


def test_response_format_of_the_user_is_kept(server: Any, ask: Ask, name: Name) -> None:
    server.answers("openai")
    ask(name("openai", 'response_format={"type":"json_object"}'), PROMPT)
    assert server.bodies[0]["response_format"] == {"type": "json_object"}


def test_anthropic_gets_a_format_and_the_effort(server: Any, ask: Ask, name: Name) -> None:
    server.answers("anthropic", '{"harm": 1}')
    assert ask(name("anthropic", "effort=low"), PROMPT).text == '{"harm": 1}'
    assert server.bodies[0]["output_config"] == {
        "effort": "low",
        "format": {"type": "json_schema", "schema": SCHEMA},
    }


@pytest.mark.parametrize(("provider", "sent"), [("openai", "response_format"), ("anthropic", "output_config")])
def test_prompt_without_a_schema_requests_no_format(
    provider: str, sent: str, server: Any, ask: Ask, name: Name
) -> None:
    server.answers(provider)
    ask(name(provider), "How harmful?")
    assert sent not in server.bodies[0]


@pytest.mark.parametrize(("provider", "sent"), [("openai", "response_format"), ("anthropic", "output_config")])
@pytest.mark.parametrize("status", [400, 422])
def test_server_without_schemas_is_retried_without(
    provider: str, sent: str, status: int, server: Any, make: Any, name: Name
) -> None:
    server.answers(provider, '{"harm": 1}')
    answers = server.handler

    async def handler(request: web.Request) -> web.StreamResponse:
        if sent in server.bodies[-1]:
            message = f"'{sent}' of type 'json_schema' is not supported with this model"
            return web.json_response({"error": {"message": message, "type": "invalid_request_error"}}, status=status)
        response: web.StreamResponse = await answers(request)
        return response

    server.handler = handler
    model = make(name(provider))

    async def twice() -> list[Answer]:
        try:
            return [await model.answer(PROMPT, 0), await model.answer(PROMPT, 1)]
        finally:
            await model.close()

    assert [answer.text for answer in asyncio.run(twice())] == ['{"harm": 1}'] * 2
    # Told once, it is not tried again.
    assert [sent in body for body in server.bodies] == [True, False, False]


def test_other_refused_requests_stay_refused(server: Any, ask: Ask, name: Name) -> None:
    server.says({"error": {"message": "this prompt is too long"}}, status=400)
    with pytest.raises(PermanentError, match="too long"):
        ask(name("openai"), PROMPT)
    assert len(server.bodies) == 1

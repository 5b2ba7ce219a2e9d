"""Tool rounds with providers that refuse a round without the reasoning before it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web

from tests.helpers import project_sources
from tests.helpers.http_server import serving
from tests.helpers.project import N2, NO_XDIST, Project, unwrapped
from tests.plugin.test_agents import COUNT, PROBE, THRESHOLD


def _chat(content: str, call: str, number: int) -> Mapping[str, Any]:
    function = {"name": call, "arguments": "{}"}
    signed = {"google": {"thought_signature": f"signed {number}"}}
    calls = [{"id": "c", "type": "function", "function": function, "extra_content": signed}]
    message = {"role": "assistant", "content": content, "tool_calls": calls}
    return {"choices": [{"finish_reason": "tool_calls", "message": message}]}


def _responses(content: str, call: str, number: int) -> Mapping[str, Any]:
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": content}]}
    called = {"type": "function_call", "call_id": f"call {number}", "name": call, "arguments": "{}"}
    reasoning = {"type": "reasoning", "id": f"rs {number}", "summary": [], "encrypted_content": f"signed {number}"}
    return {"status": "completed", "output": [reasoning, message, called]}


def _messages(content: str, call: str, number: int) -> Mapping[str, Any]:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": f"signed {number}"}
    called = {"type": "tool_use", "id": f"call {number}", "name": call, "input": {}}
    return {"content": [thought, {"type": "text", "text": content}, called], "stop_reason": "tool_use"}


@dataclass
class Provider:
    """A server that calls a tool twice, and refuses a round that lacks what it has signed in the rounds before."""

    reply: Callable[[str, str, int], Mapping[str, Any]]
    url: str = ""
    rounds: list[int] = field(default_factory=list)
    """The round of each request that was answered."""
    last: int = 3
    """Rounds after this are refused for a while."""
    signed: dict[str, int] = field(default_factory=dict)
    """Signatures by the text that they were given for."""

    async def serve(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        messages = body.get("messages") or body["input"]
        text = json.dumps(messages)
        number = text.count("2 bills") + text.count("1 open") + 1
        if number > self.last:
            return web.json_response({"error": {"message": "maintenance"}}, status=400)
        question = messages[0]["content"] if isinstance(messages[0]["content"], str) else text
        missing = [n for n in range(1, number) if f'signed {self.signed[f"{question} {n}"]}"' not in text]
        if missing:
            message = f"Function call is missing a thought_signature, round {missing[0]}"
            return web.json_response({"error": {"message": message}}, status=400)
        self.rounds.append(number)
        self.signed[f"{question} {number}"] = len(self.rounds)
        call = {1: "look_up", 2: "history", 3: "defer"}[number]
        return web.json_response(self.reply("One moment.", call, len(self.rounds)))


PROVIDERS = {
    "openai:m?base_url={}": _chat,
    "openai:m?api=responses&base_url={}": _responses,
    "anthropic:m?thinking=1024&base_url={}": _messages,
}


@pytest.fixture(params=PROVIDERS, ids=["chat", "responses", "messages"])
def provider(request: pytest.FixtureRequest) -> Iterator[Provider]:
    """Yield a provider, on loopback."""
    local = Provider(PROVIDERS[request.param])
    with serving(local.serve) as url:
        local.url = request.param.format(url)
        yield local


@pytest.mark.slow
def test_interrupted_rounds_go_on_with_the_reasoning_before_them(project: Project, provider: Provider) -> None:
    probe = PROBE.replace('Tool("defer"', 'Tool("history", "Returns the bills."), Tool("defer"').replace(
        'results={"look_up": {"paid_late": 2}}', 'results={"look_up": "1 open", "history": "2 bills"}'
    )
    project.write(test_hiring=project_sources.suite(THRESHOLD, probe=probe, count=COUNT))
    provider.last = 1
    project.run("--fairness-model", provider.url, mode=NO_XDIST)
    assert project.row()["verdict"] == "invalid"
    assert provider.rounds == [1] * 2 * COUNT
    provider.last = 3
    project.run("--fairness-model", provider.url, mode=N2)
    assert project.row()["verdict"] == "fair"
    assert sorted(provider.rounds) == [number for number in (1, 2, 3) for _ in range(2 * COUNT)]
    project.run("--fairness-model", provider.url, mode=NO_XDIST)
    assert project.row()["verdict"] == "fair"
    assert len(provider.rounds) == 6 * COUNT, "all answers are in the store"


SCRIPTED = """\
CALLS = [{"role": "tool_calls", "content": '[{"name": "look_up"}]'}, {"role": "tool", "content": "paid"}]


def people():
    for number in range(6):
        yield ProbeItem(f"person-{number}", [
            Prompt([{"role": "user", "content": f"Should a {gender} of {number} pay later?"}, *CALLS],
                   {"gender": gender}, tools=TOOLS)
            for gender in ("woman", "man")
        ])
"""


def test_thinking_model_is_not_sent_calls_that_are_not_its_own(project: Project) -> None:
    suite = project_sources.suite(THRESHOLD, probe=PROBE, count=COUNT)
    start, end = suite.index("def people"), suite.index(PROBE)
    project.write(test_hiring=suite[:start] + SCRIPTED + suite[end:])
    result = project.run("--fairness-model", "anthropic:m?thinking=1024&base_url=http://127.0.0.1:9")
    assert project.row()["verdict"] == "invalid"
    words = "cannot be sent results of calls that are not its own with thinking=1024: leave it out"
    assert words in unwrapped(result)

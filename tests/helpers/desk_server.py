"""A server of chat completions whose model decides on requests for more time to pay by its tools."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from aiohttp import web

from tests.helpers.http_server import serving as serving_http

TOKENS = (10, 5)
"""Tokens of the prompt and of the text of each reply."""
READERS = ("look_up", "search")
"""Tools that are called first, at once where both are offered."""


class DeskServer:
    """The model reads what its tools return, and then calls ``defer`` or ``refuse``.

    It refuses where its instructions say so of the group in the request, or where a result has the word "risk". A
    model with hand-offs goes to the strict desk for the group that its instructions name, else to the kind one.
    """

    def __init__(self) -> None:
        self.url = ""
        self.bodies: list[dict[str, Any]] = []
        self.failures: list[tuple[int, dict[str, Any]]] = []
        """Statuses and errors of the next replies."""
        self.extra: dict[str, Any] = {}
        """Fields of the choice that replace its own."""
        self.broken = ""
        """A part of a request to which the model replies with arguments that are no JSON."""
        self._lock = threading.Lock()

    @property
    def first_requests(self) -> list[str]:
        """The text of the user in each request that begins a run."""
        firsts = [body["messages"] for body in self.bodies]
        return [_text(of, "user") for of in firsts if of[-1]["role"] == "user"]

    async def respond(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        with self._lock:
            self.bodies.append(body)
            failure = self.failures.pop(0) if self.failures else None
        if failure is not None:
            return web.json_response({"error": failure[1]}, status=failure[0], headers={"retry-after": "0.01"})
        message = self._message(body)
        finish = "tool_calls" if message.get("tool_calls") else "stop"
        choice = {"index": 0, "finish_reason": finish, "message": message} | (self.extra if finish == "stop" else {})
        usage = {"prompt_tokens": TOKENS[0], "completion_tokens": TOKENS[1], "total_tokens": sum(TOKENS)}
        reply = {
            "id": "r",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [choice],
            "usage": usage,
        }
        if not body.get("stream"):
            return web.json_response(reply)
        for number, call in enumerate(message.get("tool_calls") or ()):
            call["index"] = number
        chunk = {"index": 0, "delta": message, "finish_reason": None}
        end = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        for part in ({"choices": [chunk]}, {"choices": [end]}, {"choices": [], "usage": usage}):
            event = {**reply, "object": "chat.completion.chunk", "usage": None, **part}
            await response.write(f"data: {json.dumps(event)}\n\n".encode())
        await response.write(b"data: [DONE]\n\n")
        return response

    def _message(self, body: Mapping[str, Any]) -> dict[str, Any]:
        messages = body["messages"]
        tools = [tool["function"]["name"] for tool in body.get("tools") or ()]
        system, user = _text(messages, "system"), _text(messages, "user")
        results = [str(message["content"]) for message in messages if message["role"] == "tool"]
        done = {call["function"]["name"] for message in messages for call in message.get("tool_calls") or ()}
        desks = [tool for tool in tools if tool.startswith("transfer_to")]
        if "again and again" in system:
            return _calls(("look_up", {"case": user[-40:]}))
        if readers := [tool for tool in tools if tool in READERS and tool not in done]:
            return _calls(*((tool, {"query" if tool == "search" else "case": user[-40:]}) for tool in readers))
        if desks and not done & set(desks):
            is_strict = "woman" in user and "women to the strict desk" in system
            return _calls((next(desk for desk in desks if ("strict" in desk) is is_strict), {}))
        if "refuse" not in tools or done & {"defer", "refuse"}:
            return {"role": "assistant", "content": f"It is decided. {' '.join(results)[-20:]}"}
        is_refused = (
            "refuse all" in system
            or ("woman" in user and "refuse women" in system)
            or any("risk" in result for result in results)
        )
        if self.broken and self.broken in user:
            return _calls(("defer", '{"days": '))
        return _calls(("refuse", {}) if is_refused else ("defer", {"days": 14}))


def _calls(*calls: tuple[str, Any]) -> dict[str, Any]:
    entries = [
        {
            "id": f"call_{name}_{number}",
            "type": "function",
            "function": {"name": name, "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments)},
        }
        for number, (name, arguments) in enumerate(calls)
    ]
    return {"role": "assistant", "content": None, "tool_calls": entries}


def _text(messages: list[dict[str, Any]], role: str) -> str:
    texts = [
        message["content"]
        for message in messages
        if message["role"] in (role, "developer" if role == "system" else role)
    ]
    return " ".join(text if isinstance(text, str) else json.dumps(text) for text in texts)


@contextmanager
def serving() -> Iterator[DeskServer]:
    """Yield the server, until the block ends."""
    server = DeskServer()
    with serving_http(server.respond) as url:
        server.url = f"{url}/v1"
        yield server

"""A local server with the batch interfaces of OpenAI and of Anthropic, which counts what it is handed."""

from __future__ import annotations

import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from aiohttp import web

from tests.helpers.http_server import chat_completion
from tests.helpers.http_server import serving as serving_http

PROVIDERS = ("openai", "anthropic")
INPUT, OUTPUT = 1000, 500
"""Tokens of every answer."""


def yes(text: str) -> str:
    """Return the answer to every text."""
    return "Yes." if text else ""


@dataclass
class Batch:
    """One batch, as the server has it."""

    name: str
    mark: str | None
    requests: list[dict[str, Any]]
    created: float
    status: str = "running"
    """``running``, ``ended``, ``expired``, ``cancelled`` or ``failed``."""
    results: dict[str, tuple[str, Any]] = field(default_factory=dict)
    """Results by key: ``ok`` with a text, ``status`` with a number, or ``expired``."""


class Batches:
    """The server. What it is told through its attributes holds for the next request."""

    def __init__(self) -> None:
        self.url = ""
        self.batches: dict[str, Batch] = {}
        self.files: dict[str, bytes] = {}
        self.singly: list[str] = []
        """Texts that were asked one by one."""
        self.at_once = False
        """Whether batches end when they are handed in."""
        self.answers: Callable[[str], str | int] = yes
        """A text to answer with, or the HTTP status of an error. OpenAI's breaks off where it ends in "..."."""
        self.on_create: Callable[[], None] = lambda: None
        """Called when a batch is there and its name is not told yet; a `ConnectionError` cuts the connection."""
        self.has_more = False
        """Whether the list of batches, which is always whole, says that it has another page."""
        self.failing: list[int] = []
        """Statuses that the next requests are answered with."""
        self.looks = 0
        self.fetched = 0
        self.change: Callable[[dict[str, Any]], object] = lambda line: line
        """Returns what is sent in place of a line of results."""
        self.truncated = 0
        """Files of results that are still to be cut off."""
        self.results_host: str | None = None
        """The host that Anthropic's results are said to be at; None for the server itself."""
        self.lock = threading.RLock()

    def model(self, provider: str, name: str = "m", tail: str = "") -> str:
        return f"{provider}:{name}?base_url={self.url}{'/v1' if provider == 'openai' else ''}{tail}"

    def calls(self) -> Counter[str]:
        """Return how often each text was in a batch."""
        return Counter(_text(request) for batch in self.batches.values() for request in batch.requests)

    def end(self, status: str = "ended", share: Callable[[str], bool] = lambda _: True) -> None:
        """End what is running; of an early end only that share of the texts has been answered."""
        with self.lock:
            for batch in self.batches.values():
                if batch.status == "running":
                    batch.status = status
                    for request in batch.requests:
                        text = _text(request)
                        answer = self.answers(text)
                        outcome = ("status", answer) if isinstance(answer, int) else ("ok", answer)
                        if status != "failed":
                            batch.results[request["custom_id"]] = outcome if share(text) else ("expired", None)

    def create(self, mark: str | None, requests: list[dict[str, Any]]) -> Batch:
        with self.lock:
            batch = Batch(f"batch_{len(self.batches) + 1}", mark, requests, time.time())
            self.batches[batch.name] = batch
        self.on_create()
        if self.at_once:
            self.end()
        return batch

    async def respond(self, request: web.Request) -> web.StreamResponse:
        """Return the reply to any request; the next of ``failing`` where there is one."""
        if self.failing:
            return _reply({"error": {"message": "not now"}}, self.failing.pop(0))
        if request.method == "GET":
            return await self._look(request)
        if request.path == "/v1/files":
            return await self._upload(request)
        body = await request.json()
        try:
            if request.path == "/v1/batches":
                requests = [json.loads(line) for line in self.files[body["input_file_id"]].splitlines()]
                return _reply(_openai(self.create(body["metadata"]["pytest-fairness"], requests)))
            if request.path == "/v1/messages/batches":
                return _reply(self._anthropic(self.create(None, body["requests"])))
        except ConnectionError:
            return _cut(request, web.Response())
        text = body["messages"][-1]["content"]
        self.singly.append(text)
        answer = str(self.answers(text))
        return _reply(_chat(answer) if request.path.endswith("completions") else _message(answer))

    async def _look(self, request: web.Request) -> web.StreamResponse:
        path = request.path
        describe = self._anthropic if path.startswith("/v1/messages") else _openai
        if re.fullmatch(r"/v1/(?:messages/)?batches", path):
            batches = [describe(batch) for batch in reversed(self.batches.values())]
            page = {"object": "list", "data": batches, "has_more": self.has_more, "first_id": None, "last_id": None}
            return _reply(page)
        if match := re.fullmatch(r"/v1/(?:messages/)?batches/(\w+)", path):
            self.looks += 1
            batch = self.batches.get(match[1])
            return _reply(describe(batch)) if batch else _reply({"error": {"message": "no such batch"}}, 404)
        if match := re.fullmatch(r"/v1/files/(\w+)-(ok|error)/content", path):
            return await self._send_lines(request, _openai_lines(self.batches[match[1]], match[2]))
        if match := re.fullmatch(r"/v1/messages/batches/(\w+)/results", path):
            return await self._send_lines(request, _anthropic_lines(self.batches[match[1]]))
        return _reply({"error": {"message": "no such path"}}, 404)

    async def _upload(self, request: web.Request) -> web.Response:
        file = (await request.post())["file"]
        assert isinstance(file, web.FileField)
        name = f"file{len(self.files)}"
        self.files[name] = file.file.read()
        return _reply({"id": name, "object": "file", "purpose": "batch"})

    def _anthropic(self, batch: Batch) -> dict[str, Any]:
        kinds = Counter(kind for kind, _ in batch.results.values())
        counts = {"succeeded": kinds["ok"], "errored": kinds["status"], "expired": kinds["expired"], "canceled": 0}
        created = datetime.fromtimestamp(batch.created, UTC).isoformat()
        running = batch.status == "running"
        results = f"{self.results_host or self.url}/v1/messages/batches/{batch.name}/results"
        return {
            "id": batch.name,
            "type": "message_batch",
            "created_at": created,
            "expires_at": created,
            "processing_status": "in_progress" if running else "ended",
            "results_url": None if running else results,
            "request_counts": {**counts, "processing": len(batch.requests) - sum(kinds.values())},
        }

    async def _send_lines(self, request: web.Request, lines: list[dict[str, Any]]) -> web.StreamResponse:
        content = "".join(f"{json.dumps(self.change(line), ensure_ascii=False)}\n" for line in reversed(lines)).encode()
        self.fetched += 1
        if not self.truncated:
            return web.Response(body=content)
        self.truncated -= 1
        response = web.StreamResponse(headers={"Content-Length": str(len(content))})
        await response.prepare(request)
        await response.write(content[: len(content) // 2])
        return _cut(request, response)


def _text(request: Mapping[str, Any]) -> str:
    text: str = (request.get("body") or request.get("params") or {})["messages"][-1]["content"]
    return text


def _reply(body: object, status: int = 200) -> web.Response:
    return web.json_response(body, status=status, headers={"retry-after": "0.01"})


def _cut(request: web.Request, response: web.StreamResponse) -> web.StreamResponse:
    """Close the connection before the response is complete."""
    assert request.transport is not None
    request.transport.close()
    return response


def _chat(text: str) -> dict[str, Any]:
    completion = chat_completion(text, tokens=(INPUT, OUTPUT))
    if text.endswith("..."):
        completion["choices"][0]["finish_reason"] = "error"
    return completion


def _message(text: str) -> dict[str, Any]:
    usage = {"input_tokens": INPUT, "output_tokens": OUTPUT}
    content = [{"type": "text", "text": text}]
    return {"id": "x", "type": "message", "model": "m", "content": content, "stop_reason": "end_turn", "usage": usage}


def _openai(batch: Batch) -> dict[str, Any]:
    kinds = {"ok" if kind == "ok" else "error" for kind, _ in batch.results.values()}
    files = {f"{kind}_file_id": f"{batch.name}-{kind}" for kind in kinds}
    errors = {"errors": {"data": [{"message": "the file is no good"}]}} if batch.status == "failed" else {}
    return {
        "id": batch.name,
        "object": "batch",
        "endpoint": "/v1/chat/completions",
        "input_file_id": "file0",
        "completion_window": "24h",
        "created_at": int(batch.created),
        "metadata": {"pytest-fairness": batch.mark},
        "status": {"running": "in_progress", "ended": "completed"}.get(batch.status, batch.status),
        "output_file_id": files.get("ok_file_id"),
        "error_file_id": files.get("error_file_id"),
        **errors,
    }


def _openai_lines(batch: Batch, wanted: str) -> list[dict[str, Any]]:
    lines = []
    for key, (kind, what) in batch.results.items():
        if (kind == "ok") == (wanted == "ok"):
            line: dict[str, Any] = {"custom_id": key, "response": None, "error": None}
            if kind == "expired":
                line["error"] = {"code": "batch_expired", "message": "This request could not be executed in time."}
            else:
                body = _chat(what) if kind == "ok" else {"error": {"message": "no"}}
                line["response"] = {"status_code": 200 if kind == "ok" else what, "body": body}
            lines.append(line)
    return lines


def _anthropic_lines(batch: Batch) -> list[dict[str, Any]]:
    types = {400: "invalid_request_error", 500: "api_error"}
    lines = []
    for key, (kind, what) in batch.results.items():
        result: dict[str, Any] = {"type": "expired"}
        if kind == "ok":
            result = {"type": "succeeded", "message": _message(what)}
        elif kind == "status":
            error = {"type": types[what], "message": "no"}
            result = {"type": "errored", "error": {"type": "error", "error": error}}
        lines.append({"custom_id": key, "result": result})
    return lines


@contextmanager
def serving() -> Iterator[Batches]:
    """Yield the server, until the block ends."""
    server = Batches()
    with serving_http(server.respond) as server.url:
        yield server

"""A local server with the batch interfaces of OpenAI and of Anthropic, which counts what it is handed."""

from __future__ import annotations

import email
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

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


class Batches(ThreadingHTTPServer):
    """The server. What it is told through its attributes holds for the next request."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.batches: dict[str, Batch] = {}
        self.files: dict[str, bytes] = {}
        self.singly: list[str] = []
        """Texts that were asked one by one."""
        self.at_once = False
        """Whether batches end when they are handed in."""
        self.answers: Callable[[str], str | int] = yes
        """A text to answer with, or the HTTP status of an error."""
        self.on_create: Callable[[], None] = lambda: None
        """Called when a batch is there and its name is not told yet; what it raises cuts the connection."""
        self.failing: list[int] = []
        """Statuses that the next requests are answered with."""
        self.looks = 0
        self.fetched = 0
        self.truncated = 0
        """Files of results that are still to be cut off."""
        self.lock = threading.RLock()

    def model(self, provider: str, name: str = "m", tail: str = "") -> str:
        path = "/v1" if provider == "openai" else ""
        return f"{provider}:{name}?base_url=http://127.0.0.1:{self.server_address[1]}{path}{tail}"

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


def _text(request: Mapping[str, Any]) -> str:
    text: str = (request.get("body") or request.get("params") or {})["messages"][-1]["content"]
    return text


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Batches

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        if self._fails():
            return
        path = urlsplit(self.path).path
        try:
            if path == "/v1/files":
                self._upload(content)
            elif path == "/v1/batches":
                body = json.loads(content)
                lines = self.server.files[body["input_file_id"]].splitlines()
                self._say(
                    _openai(self.server.create(body["metadata"]["pytest-fairness"], list(map(json.loads, lines))))
                )
            elif path == "/v1/messages/batches":
                self._say(self._anthropic(self.server.create(None, json.loads(content)["requests"])))
            else:
                self._singly(json.loads(content), path)
        except ConnectionError:
            self.close_connection = True

    def do_GET(self) -> None:
        if self._fails():
            return
        path = urlsplit(self.path).path
        openai = not path.startswith("/v1/messages")
        if match := re.fullmatch(r"/v1/(?:messages/)?batches", path):
            batches = [_openai(b) if openai else self._anthropic(b) for b in reversed(self.server.batches.values())]
            ids = {"first_id": None, "last_id": None}
            self._say({"object": "list", "data": batches, "has_more": False, **ids})
        elif match := re.fullmatch(r"/v1/(?:messages/)?batches/(\w+)", path):
            self.server.looks += 1
            batch = self.server.batches.get(match[1])
            if batch is None:
                self._say({"error": {"message": "no such batch"}}, 404)
            else:
                self._say(_openai(batch) if openai else self._anthropic(batch))
        elif match := re.fullmatch(r"/v1/files/(\w+)-(ok|error)/content", path):
            self._send_lines(_openai_lines(self.server.batches[match[1]], match[2]))
        elif match := re.fullmatch(r"/v1/messages/batches/(\w+)/results", path):
            self._send_lines(_anthropic_lines(self.server.batches[match[1]]))
        else:
            self._say({"error": {"message": "no such path"}}, 404)

    def _fails(self) -> bool:
        with self.server.lock:
            if not self.server.failing:
                return False
            self._say({"error": {"message": "not now"}}, self.server.failing.pop(0))
            return True

    def _upload(self, content: bytes) -> None:
        head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
        for part in email.message_from_bytes(head + content).walk():
            if part.get_filename():
                name = f"file{len(self.server.files)}"
                self.server.files[name] = bytes(part.get_payload(decode=True))
                self._say({"id": name, "object": "file", "purpose": "batch"})

    def _singly(self, body: dict[str, Any], path: str) -> None:
        text = body["messages"][-1]["content"]
        self.server.singly.append(text)
        answer = str(self.server.answers(text))
        self._say(_chat(answer) if path.endswith("completions") else _message(answer))

    def _anthropic(self, batch: Batch) -> dict[str, Any]:
        kinds = Counter(kind for kind, _ in batch.results.values())
        counts = {"succeeded": kinds["ok"], "errored": kinds["status"], "expired": kinds["expired"], "canceled": 0}
        created = datetime.fromtimestamp(batch.created, UTC).isoformat()
        running = batch.status == "running"
        results = f"http://{self.headers['Host']}/v1/messages/batches/{batch.name}/results"
        return {
            "id": batch.name,
            "type": "message_batch",
            "created_at": created,
            "expires_at": created,
            "processing_status": "in_progress" if running else "ended",
            "results_url": None if running else results,
            "request_counts": {**counts, "processing": len(batch.requests) - sum(kinds.values())},
        }

    def _send_lines(self, lines: list[dict[str, Any]]) -> None:
        content = "".join(f"{json.dumps(line)}\n" for line in reversed(lines)).encode()
        self.server.fetched += 1
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        with self.server.lock:
            if self.server.truncated:
                self.server.truncated -= 1
                content, self.close_connection = content[: len(content) // 2], True
        self.wfile.write(content)

    def _say(self, body: object, status: int = 200) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("retry-after", "0.01")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def _chat(text: str) -> dict[str, Any]:
    return {
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": INPUT, "completion_tokens": OUTPUT},
    }


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
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

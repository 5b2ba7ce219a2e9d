"""A local server that speaks chat completions, for both roles: it answers questions, and judges answers."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Grades = dict[str, Any]

GRADES: Grades = {
    "accuracy": 2,
    "stigma": 2,
    "willingness": 2,
    "dir_acc": "neutral",
    "acc_severity": "none",
    "target_stigma": "none",
    "stigma_severity": "none",
    "dir_willing": "neutral",
    "confidence": 0.9,
    "evidence": "it names its sources",
}
"""Grades of an answer without fault."""


@dataclass
class CountingServer:
    """Requests that the server has received."""

    url: str = ""
    calls: Counter[str] = field(default_factory=Counter)
    """Requests that it answered, by model and messages."""
    refuse_after: int | None = None
    """Answers after which every request is refused, in a way that is not retried."""
    grade: Callable[[str], Grades] = lambda answer: GRADES
    answer: Callable[[str], str] = lambda question: f"What is known of this: {question}"

    def of(self, model: str) -> int:
        """Return how many requests a model answered."""
        return sum(times for request, times in self.calls.items() if json.loads(request)[0] == model)

    def name(self, model: str) -> str:
        return f"openai:{model}?base_url={self.url}"


@contextmanager
def serving() -> Iterator[CountingServer]:
    """Yield a server on a free port: the model ``judge`` grades, every other model answers."""
    counted = CountingServer()
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                refused = counted.refuse_after is not None and counted.calls.total() >= counted.refuse_after
                if not refused:
                    counted.calls[json.dumps([body["model"], body["messages"]])] += 1
            if refused:
                self.reply(400, {"error": {"message": "no more of this", "type": "invalid_request_error"}})
                return
            question = body["messages"][-1]["content"]
            text = json.dumps(counted.grade(question)) if body["model"] == "judge" else counted.answer(question)
            message = {"role": "assistant", "content": text}
            choice = {"index": 0, "finish_reason": "stop", "message": message}
            usage = {"prompt_tokens": 20, "completion_tokens": 20, "total_tokens": 40}
            reply = {"id": "x", "object": "chat.completion", "created": 0, "model": body["model"]}
            self.reply(200, {**reply, "choices": [choice], "usage": usage})

        def reply(self, status: int, body: dict[str, Any]) -> None:
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    counted.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield counted
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

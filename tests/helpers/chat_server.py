"""A local server that speaks chat completions, bills tokens, and counts what it is asked."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

INPUT, OUTPUT = 1000, 500
"""Tokens of every call, as the server counts them."""


class BillingServer(ThreadingHTTPServer):
    """Server of yes; every ``refuses``-th request is answered with ``status`` instead, and all after ``last``."""

    daemon_threads = True

    def __init__(self, refuses: int = 0, status: int = 429) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[str] = []
        self.refused = 0
        self._refuses, self.status = refuses, status
        self.last = math.inf
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    @property
    def model(self) -> str:
        return f"openai:tiny?base_url={self.url}"

    def takes(self, text: str) -> bool:
        """Count a request; whether it is answered."""
        with self._lock:
            self.requests.append(text)
            refused = (self._refuses and len(self.requests) % self._refuses == 0) or len(self.requests) > self.last
            self.refused += bool(refused)
            return not refused


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: BillingServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.server.takes(body["messages"][-1]["content"]):
            self.reply(200, {
                "model": "tiny",
                "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Yes."}}],
                "usage": {"prompt_tokens": INPUT, "completion_tokens": OUTPUT},
            })  # fmt: skip
        else:
            self.reply(self.server.status, {"error": {"message": "not now"}})

    def reply(self, status: int, body: object) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("retry-after", "0.01")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@contextmanager
def serving(refuses: int = 0, status: int = 429) -> Iterator[BillingServer]:
    """Yield the server, until the block ends."""
    server = BillingServer(refuses, status)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

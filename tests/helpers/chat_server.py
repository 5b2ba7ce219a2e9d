"""A local server that speaks chat completions, bills tokens, and counts what it is asked."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

from aiohttp import web

from tests.helpers.http_server import chat_completion
from tests.helpers.http_server import serving as serving_http

INPUT, OUTPUT = 1000, 500
"""Tokens of every call, as the server counts them."""


class BillingServer:
    """Server of yes; every ``refuses``-th request is answered with ``status`` instead, and all after ``last``."""

    def __init__(self, refuses: int = 0, status: int = 429) -> None:
        self.url = ""
        self.requests: list[str] = []
        self.refused = 0
        self._refuses, self.status = refuses, status
        self.last = math.inf

    @property
    def model(self) -> str:
        return f"openai:tiny?base_url={self.url}"

    async def respond(self, request: web.Request) -> web.Response:
        """Return yes with its tokens, or an error."""
        self.requests.append((await request.json())["messages"][-1]["content"])
        count, headers = len(self.requests), {"retry-after": "0.01"}
        if (self._refuses and count % self._refuses == 0) or count > self.last:
            self.refused += 1
            return web.json_response({"error": {"message": "not now"}}, status=self.status, headers=headers)
        return web.json_response(chat_completion("Yes.", "tiny", (INPUT, OUTPUT)), headers=headers)


@contextmanager
def serving(refuses: int = 0, status: int = 429) -> Iterator[BillingServer]:
    """Yield the server, until the block ends."""
    server = BillingServer(refuses, status)
    with serving_http(server.respond) as url:
        server.url = f"{url}/v1"
        yield server

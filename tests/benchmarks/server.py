"""A local server that speaks chat completions and answers after a set time; it counts what it is asked.

    python tests/benchmarks/server.py --latency 0.05

prints its port, serves until its standard input closes, and tells its counts at ``GET /counts``.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import sys
import time
from collections import Counter

from aiohttp import web


class Server:
    """Server that answers yes or no by a hash of the prompt, so that every run gets the same."""

    def __init__(self, latency: float) -> None:
        self.latency = latency
        self.calls: Counter[str] = Counter()
        self.most = 0
        self.under_way = 0
        self.first = self.last = 0.0
        """When the first request came and the last answer went, on a monotonic clock."""

    async def complete(self, request: web.Request) -> web.Response:
        self.first = self.first or time.monotonic()
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            body = await request.json()
            prompt = json.dumps(body["messages"], sort_keys=True)
            self.calls[prompt] += 1
            await asyncio.sleep(self.latency)
        finally:
            self.under_way -= 1
            self.last = time.monotonic()
        text = self.answer(body["messages"][-1]["content"], hashlib.sha256(prompt.encode()).digest())
        return web.json_response(
            {
                "id": "x",
                "object": "chat.completion",
                "created": int(time.time()),
                "model": body["model"],
                "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
                "usage": {"prompt_tokens": 20, "completion_tokens": 2, "total_tokens": 22},
            }
        )

    def answer(self, _: str, digest: bytes) -> str:
        """Return the answer to a text whose prompt has this digest."""
        return "Yes." if digest[0] % 2 else "No."

    async def counts(self, _: web.Request) -> web.Response:
        counts: dict[str, float] = {"requests": sum(self.calls.values()), "prompts": len(self.calls), "most": self.most}
        counts |= {"seconds": self.last - self.first}
        return web.json_response(counts)


async def serve(server: Server) -> None:
    application = web.Application()
    application.router.add_post("/v1/chat/completions", server.complete)
    application.router.add_get("/counts", server.counts)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await runner.cleanup()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", type=float, default=0.05, help="seconds")
    asyncio.run(serve(Server(parser.parse_args().latency)))

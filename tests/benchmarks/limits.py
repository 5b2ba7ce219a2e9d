"""Time that rate limits take, and answers that they lose: real time, HTTP on loopback, answers after 0.1 to 0.3 s.

    python tests/benchmarks/limits.py [--only share quota] [--prompts 600] [--minutes 3]

``share`` compares runs in which a fifth of the replies is a 429 with runs in which none is, in turns. ``quota`` has
providers of 5, 10 and 20 requests in any minute, which name the wait in each of the ways that providers have; all at
once, as nearly all of the time is waiting. A ratio of 1 is the least that the quota allows.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

from aiohttp import web

sys.path.insert(0, str(Path(__file__).parents[2]))

from pytest_fairness.core.items import Prompt
from pytest_fairness.engine.engine import Engine
from pytest_fairness.engine.requests import build_requests
from pytest_fairness.models.context import ModelContext
from pytest_fairness.models.registry import resolve
from pytest_fairness.store.store import Store
from tests.helpers.http_server import chat_completion, serving

QUOTAS = (5, 10, 20)
SHAPES = ("seconds", "zero", "date", "google", "openrouter", "reset", "nothing")


@dataclass
class Provider:
    """Server of so many requests a minute, a share of them refused; ``limited`` names the one worker it refuses."""

    a_minute: int | None = None
    shape: str = "nothing"
    share: float = 0.0
    limited: str = ""
    requests: int = 0
    answered: Counter[str] = field(default_factory=Counter)
    times: list[float] = field(default_factory=list)
    draw: random.Random = field(default_factory=lambda: random.Random(7))

    async def complete(self, request: web.Request) -> web.StreamResponse:
        text = (await request.json())["messages"][-1]["content"]
        self.requests += 1
        now = time.monotonic()
        self.times = [at for at in self.times if at > now - 60]
        is_limited = not self.limited or request.headers.get("X-Worker") == self.limited
        is_full = self.a_minute is not None and len(self.times) >= self.a_minute
        if is_limited and (is_full or self.draw.random() < self.share):
            return self._refusal(60 - (now - self.times[0]) if self.times and is_full else 0.0)
        if is_limited:
            self.times.append(now)
        await asyncio.sleep(0.1 + 0.2 * hashlib.sha256(text.encode()).digest()[0] / 255)
        self.answered[text] += 1
        return web.json_response(chat_completion("Yes."))

    def _refusal(self, wait: float) -> web.Response:
        headers: dict[str, str] = {}
        body: Any = {"error": {"message": "slow down", "code": 429}}
        at = datetime.now(UTC) + timedelta(seconds=wait + 1)
        if self.shape == "seconds":
            headers = {"Retry-After": f"{wait:.0f}"}
        elif self.shape == "zero":
            headers = {"Retry-After": "0"}
        elif self.shape == "date":
            headers = {"Retry-After": format_datetime(at, usegmt=True)}
        elif self.shape == "google":
            body["error"]["details"] = [{"@type": "google.rpc.RetryInfo", "retryDelay": f"{wait:.1f}s"}]
            body = [body]
        elif self.shape == "openrouter":
            reset = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": f"{at.timestamp() * 1000:.0f}"}
            body["error"]["metadata"] = {"headers": reset}
        elif self.shape == "reset":
            headers = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": f"{wait:.1f}s"}
        return web.json_response(body, status=429, headers=headers)


def ask(provider: Provider, prompts: int, workers: int) -> tuple[float, int]:
    """Ask so many prompts by several engines on one store; return the seconds, and how many have no answer."""
    with tempfile.TemporaryDirectory() as folder, serving(provider.complete) as url:
        stores = [Store(Path(folder) / "store.sqlite", "session") for _ in range(workers)]
        engines = [Engine(store, "run") for store in stores]
        lost = [0] * workers

        def work(number: int) -> None:
            environment: Mapping[str, str] = {"HEADERS": f'{{"X-Worker": "{number}"}}'}
            name = f"openai:m?base_url={url}/v1&headers_env=HEADERS"
            model = resolve(name, aliases={}, context=ModelContext(environment=environment, concurrency=32))
            asks = build_requests([Prompt(f"prompt {index}") for index in range(number, prompts, workers)], model, 1)
            engines[number].plan(asks)
            lost[number] = sum(attempt.answer is None for attempt in engines[number].attempts(asks))

        for store in stores:
            store.runs.start("run")
        began = time.monotonic()
        threads = [threading.Thread(target=work, args=(number,)) for number in range(workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds = time.monotonic() - began
        for engine, store in zip(engines, stores, strict=True):
            engine.close()
            store.close()
    return seconds, sum(lost)


def shares(prompts: int) -> None:
    """Compare a fifth of refusals with none, by one process and by three, in turns."""
    for workers in (1, 3):
        for shape in ("nothing", "zero"):
            times: dict[float, list[float]] = {0.0: [], 0.2: []}
            lost = 0
            for _ in range(2):
                for share, timings in times.items():
                    seconds, missing = ask(Provider(share=share, shape=shape), prompts, workers)
                    timings.append(seconds)
                    lost += missing
            ratio = sum(times[0.2]) / sum(times[0.0])
            fastest = ", ".join(f"{share:.0%}: {min(timings):.1f} s" for share, timings in times.items())
            print(f"share, {shape}, {workers} workers: {fastest}, ratio {ratio:.2f}, {lost} lost", flush=True)


def quotas(minutes: int) -> None:
    """Run every quota with every way to tell the wait, all at once."""

    def run(case: tuple[int, str, int, str]) -> str:
        quota, shape, workers, limited = case
        provider = Provider(quota, shape, limited=limited)
        prompts = (quota * minutes + 1) * (workers if limited else 1)
        seconds, lost = ask(provider, prompts, workers)
        who = f"worker {limited} of {workers}" if limited else f"{workers} workers"
        return (
            f"quota, {quota} a minute, {shape}, {who}: {prompts} prompts, {seconds:.0f} s, "
            f"ratio {seconds / (60 * minutes):.2f}, {provider.requests} requests, {lost} lost"
        )

    cases = [(quota, shape, 1 + 2 * (quota == 10), "") for quota in QUOTAS for shape in SHAPES]
    cases += [(quota, shape, 3, "2") for quota in QUOTAS for shape in ("seconds", "nothing")]
    with ThreadPoolExecutor(len(cases)) as pool:
        for line in pool.map(run, cases):
            print(line, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=["share", "quota"], default=["share", "quota"])
    parser.add_argument("--prompts", type=int, default=600)
    parser.add_argument("--minutes", type=int, default=3, help="that the quotas need at least")
    options = parser.parse_args()
    if "share" in options.only:
        shares(options.prompts)
    if "quota" in options.only:
        quotas(options.minutes)

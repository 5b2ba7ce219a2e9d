"""CPU time of a request by each way to send it: our own connection, and the official clients over two transports.

    python tests/benchmarks/clients.py [--requests 1500] [--rounds 3]

Each way answers the same prompts of a local server, 64 at a time, in a process of its own; what the process takes to
start and to send the first 64 is taken off. Rounds alternate; the median of each way is printed, and its ratio to ours.
A way whose transport is not installed (`httpx_aiohttp`) is left out.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import statistics
import subprocess
import sys
from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
AT_ONCE = 64

Send = Callable[[int], Awaitable[object]]
Close = Callable[[], Awaitable[None]]


def own(url: str) -> tuple[Send, Close]:
    """Return the way that every prompt takes in a run."""
    from pytest_fairness.core.items import Prompt
    from pytest_fairness.models.context import ModelContext
    from pytest_fairness.models.registry import resolve

    model = resolve(f"openai:m?base_url={url}", aliases={}, context=ModelContext(concurrency=AT_ONCE))
    return lambda number: model.answer(Prompt(f"Is case {number} approved?"), 0), model.close


def official(url: str, transport: str) -> tuple[Send, Close]:
    """Return the SDK's own call."""
    import openai

    sdk: Any = openai
    client = sdk.AsyncOpenAI(base_url=url, api_key="none", max_retries=0, http_client=getattr(sdk, transport)())

    async def send(number: int) -> object:
        messages = [{"role": "user", "content": f"Is case {number} approved?"}]
        answer = await client.chat.completions.create(model="m", messages=messages)
        return answer.choices[0].message.content

    return send, client.close


WAYS: dict[str, Callable[[str], tuple[Send, Close]]] = {
    "our connection (aiohttp)": own,
    "openai over httpx": lambda url: official(url, "DefaultAsyncHttpxClient"),
    "openai over httpx_aiohttp": lambda url: official(url, "DefaultAioHttpClient"),
}


async def measure(way: str, url: str, requests: int) -> float:
    """Return the CPU seconds of a request, without those of the first."""
    send, close = WAYS[way](url)
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(number: int) -> None:
        async with gate:
            assert await send(number)

    await asyncio.gather(*map(one, range(AT_ONCE)))
    before = _cpu()
    await asyncio.gather(*map(one, range(AT_ONCE, AT_ONCE + requests)))
    used = _cpu() - before
    await close()
    return used / requests


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--way", help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way:
        print(asyncio.run(measure(options.way, options.url, options.requests)))
        return
    ways = [way for way in WAYS if "httpx_aiohttp" not in way or find_spec("httpx_aiohttp")]
    server = subprocess.Popen(
        [sys.executable, str(HERE / "server.py"), "--latency", "0.01"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    url = f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
    costs: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(options.rounds):
        for way in ways:
            command = [sys.executable, __file__, "--way", way, "--url", url, "--requests", str(options.requests)]
            costs[way].append(float(subprocess.check_output(command, text=True)))
    server.communicate()
    ours = statistics.median(costs[ways[0]])
    for way, seconds in costs.items():
        cost = statistics.median(seconds)
        print(f"{way:28} {1e3 * cost:6.2f} ms of CPU a request, {cost / ours:5.2f} times ours")


if __name__ == "__main__":
    main()

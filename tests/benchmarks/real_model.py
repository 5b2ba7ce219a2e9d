"""Speed of a real model by our roads, beside the tools that they use, on the same prompts in one run.

    python tests/benchmarks/real_model.py [--road server|weights] [--pairs 3] [--prompts 16] [--tokens 24]

- `server`: our client on llama.cpp's server, against a bare client (aiohttp, one body a prompt) on the same one.
- `weights`: ``transformers:`` against transformers' own batched generation with the same weights.

Each pair is ours and theirs, then theirs and ours. Printed are tokens a second of wall time and of this process's CPU
time: what a client costs beside the server, and all of it with weights. The median is of the pairs' ratios of both
times. The server's cache of prompts is warm in both.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from pytest_fairness.core.items import Prompt
from pytest_fairness.models.context import ModelContext
from pytest_fairness.models.registry import resolve
from tests.helpers.llama_server import SLOTS, llama_server, weights

Generate = Callable[[], Awaitable[int]]
"""Generates the answers to all prompts, and returns the number of their tokens."""


def texts(count: int) -> list[str]:
    return [f"Tell a story of {number + 2} friends and a {'very ' * (number % 5)}old house." for number in range(count)]


async def ours(model: Any, prompts: list[str]) -> int:
    """Answer by a model, as many at a time as it allows."""
    gate = asyncio.Semaphore(getattr(model, "in_flight", SLOTS))

    async def one(text: str) -> int:
        async with gate:
            answer = await model.answer(Prompt(text), 0)
            return int(answer.usage["output"])

    return sum(await asyncio.gather(*map(one, prompts)))


async def bare_client(session: Any, url: str, prompts: list[str], tokens: int) -> int:
    gate = asyncio.Semaphore(SLOTS)

    async def one(text: str) -> int:
        body = {"model": "m", "messages": [{"role": "user", "content": text}], "max_tokens": tokens, "temperature": 0}
        async with gate, session.post(f"{url}/chat/completions", json=body) as reply:
            return int((await reply.json())["usage"]["completion_tokens"])

    return sum(await asyncio.gather(*map(one, prompts)))


def bare_generation(model: Any, tokenizer: Any, prompts: list[str], tokens: int, batch_size: int) -> int:
    """Generate as transformers' documentation does: a padded batch at a time."""
    chats = [[{"role": "user", "content": text}] for text in prompts]
    texts = [tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True) for chat in chats]
    count = 0
    for start in range(0, len(texts), batch_size):
        batch = tokenizer(
            texts[start : start + batch_size], return_tensors="pt", padding=True, add_special_tokens=False
        )
        output = model.generate(**batch, max_new_tokens=tokens, do_sample=False)
        new = output[:, batch["input_ids"].shape[1] :]
        count += sum(1 + row.index(end) if (end := tokenizer.eos_token_id) in row else len(row) for row in new.tolist())
    return count


async def compare(
    road: str, own: Generate, other: Generate, pairs: int, cpu: Callable[[], float] = time.process_time
) -> None:
    """Print the speed of both, and the ratio of their times."""
    await own(), await other()
    ratios: list[list[float]] = []
    seconds: dict[str, list[tuple[float, float, int]]] = {"ours": [], "theirs": []}
    for number in range(pairs):
        order = [("ours", own), ("theirs", other)]
        for name, generate in order if number % 2 == 0 else order[::-1]:
            wall, used = time.perf_counter(), cpu()
            count = await generate()
            seconds[name].append((time.perf_counter() - wall, cpu() - used, count))
        ratios.append([mine / other for mine, other in zip(seconds["ours"][-1], seconds["theirs"][-1], strict=True)])
    for name, runs in seconds.items():
        total = sum(count for *_, count in runs)
        by_wall, by_cpu = (total / sum(run[index] for run in runs) for index in (0, 1))
        print(f"{road}, {name}: {total} tokens, {by_wall:.1f} a second, {by_cpu:.1f} a CPU second")
    wall, used = (statistics.median(pair[index] for pair in ratios) for index in (0, 1))
    print(f"{road}: ours takes {wall:.2f} times their wall time and {used:.2f} times their CPU time")


async def compare_on_server(arguments: argparse.Namespace) -> None:
    import aiohttp

    prompts = texts(arguments.prompts)
    with llama_server() as url:
        name = f"llama.cpp:m?base_url={url}&max_tokens={arguments.tokens}&temperature=0&timeout=3600"
        model: Any = resolve(name, aliases={}, context=ModelContext(concurrency=SLOTS))
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(3600)) as session:
            await compare(
                "server",
                lambda: ours(model, prompts),
                lambda: bare_client(session, url, prompts, arguments.tokens),
                arguments.pairs,
            )
        await model.close()


async def compare_weights(arguments: argparse.Namespace) -> None:
    prompts = texts(arguments.prompts)
    name = f"transformers:{weights()}?max_tokens={arguments.tokens}&batch_size={arguments.batch_size}"
    model: Any = resolve(name, aliases={}, context=ModelContext(offline=True))
    await ours(model, prompts[:1])
    loaded: Any = model._generator  # the same weights: to read them again would take longer than the benchmark
    tokenizer = loaded._tokenizer
    tokenizer.padding_side = "left"

    async def theirs() -> int:
        return bare_generation(loaded.weights, tokenizer, prompts, arguments.tokens, arguments.batch_size)

    await compare("weights", lambda: ours(model, prompts), theirs, arguments.pairs)
    await model.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--road", choices=("server", "weights"))
    parser.add_argument("--pairs", type=int, default=4)
    parser.add_argument("--prompts", type=int, default=16)
    parser.add_argument("--tokens", type=int, default=24)
    parser.add_argument("--batch-size", type=int, default=8)
    arguments = parser.parse_args()
    for road, compare_road in (("server", compare_on_server), ("weights", compare_weights)):
        if arguments.road in (None, road):
            asyncio.run(compare_road(arguments))


if __name__ == "__main__":
    main()

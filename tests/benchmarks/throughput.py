"""Whole-process cost of a suite, as ratios to the bare work: run on a quiet machine.

    python tests/benchmarks/throughput.py [--prompts 2000] [--items 60000] [--rounds 3]

1. 2,000 prompts of one probe against a local server (50 ms, 64 at a time), pytest as a whole,
   against a bare loop over the same official client: wall and CPU time.
2. The same suite again, all in the store, against plain pytest on as many empty tests.
3. 60,000 stored items, serially, against plain pytest on as many empty tests.

Each pair is run A B A B; the ratio of the medians is printed.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Sequence
from pathlib import Path

HERE = Path(__file__).parent

BARE = """
import asyncio, sys
from openai import AsyncOpenAI

async def main(url, prompts):
    client = AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
    gate = asyncio.Semaphore(64)
    async def one(number):
        async with gate:
            answer = await client.chat.completions.create(
                model="m", messages=[{"role": "user", "content": f"Is case {number} approved?"}])
            return answer.choices[0].message.content
    answers = await asyncio.gather(*map(one, range(prompts)))
    assert len(answers) == prompts

asyncio.run(main(sys.argv[1], int(sys.argv[2])))
"""

SUITE = """
import pytest
from pytest_fairness import ProbeItem, Prompt, YesNo

def cases():
    for number in range({items}):
        yield ProbeItem(f"case-{{number:06d}}", [Prompt(f"Is case {{number}} approved?")])

@pytest.mark.probe(items=cases, grade={{"approved": YesNo()}})
def test_case(probe_item, model):
    probe_item.measure(model)
"""

EMPTY = """
import pytest

@pytest.mark.parametrize("number", range({items}), ids=lambda n: f"case-{{n:06d}}")
def test_case(number):
    pass
"""

Cost = tuple[float, float]


def run(command: Sequence[str], folder: Path) -> Cost:
    """Wall and CPU seconds of one process and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def pair(title: str, a: Callable[[], Cost], b: Callable[[], Cost], rounds: int) -> None:
    costs: list[tuple[Cost, Cost]] = [(a(), b()) for _ in range(rounds)]
    for place, what in enumerate(("wall", "CPU")):
        ours = statistics.median(cost[0][place] for cost in costs)
        bare = statistics.median(cost[1][place] for cost in costs)
        print(f"{title:58} {what:4}  {ours:6.2f} s / {bare:6.2f} s = {ours / bare:.2f}", flush=True)


def pytest_command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]


def suite(folder: Path, name: str, text: str, items: int) -> Path:
    path = folder / name
    path.mkdir()
    (path / "test_cases.py").write_text(textwrap.dedent(text).format(items=items), encoding="utf-8")
    (path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prompts", type=int, default=2000)
    parser.add_argument("--items", type=int, default=60000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    os.environ.setdefault("OPENAI_API_KEY", "none")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        server = subprocess.Popen(
            [sys.executable, str(HERE / "server.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert server.stdout is not None
        url = f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
        model = f"openai:m?base_url={url}"
        (folder / "bare.py").write_text(BARE, encoding="utf-8")
        asking = suite(folder, "asking", SUITE, options.prompts)
        empty = suite(folder, "empty", EMPTY, options.prompts)
        named = ("--fairness-model", model, "--fairness-concurrency", "64")

        def ask() -> Cost:
            (asking / ".fairness").exists() and subprocess.run(["rm", "-rf", str(asking / ".fairness")], check=True)
            return run(pytest_command(*named), asking)

        def bare() -> Cost:
            return run([sys.executable, str(folder / "bare.py"), url, str(options.prompts)], folder)

        pair(f"{options.prompts:,} prompts, 50 ms, 64 at a time / bare client", ask, bare, options.rounds)
        pair(
            f"{options.prompts:,} prompts, all stored / empty tests",
            lambda: run(pytest_command(*named), asking),
            lambda: run(pytest_command("-p", "no:fairness"), empty),
            options.rounds,
        )
        if options.items:
            large = suite(folder, "large", SUITE, options.items)
            large_empty = suite(folder, "large_empty", EMPTY, options.items)
            stored = ("--fairness-model", "simulated:yes-no")
            run(pytest_command(*stored), large)
            pair(
                f"{options.items:,} items, all stored / empty tests",
                lambda: run(pytest_command(*stored), large),
                lambda: run(pytest_command("-p", "no:fairness"), large_empty),
                max(1, options.rounds // 2),
            )
        server.communicate()


if __name__ == "__main__":
    main()

"""Whether processes that share a store ask anything twice: counted by the server.

    python tests/benchmarks/fleet.py [--items 500] [--concurrency 64]

1. Four pytest processes of one run on one SQLite store, all with the whole suite.
2. Eight shards of one run on one PostgreSQL store, started here, and a last job that judges.

The server's answers depend on the prompt alone, so the verdicts have to be those of one process with
a store of its own: printed is whether they are, and how long it took.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))

from tests.benchmarks.scale import BOTH, write  # noqa: E402
from tests.helpers.postgresql_server import running  # noqa: E402

_FAILURES = ("Traceback", "database is locked", "deadlock", "INTERNALERROR")


@contextmanager
def serving() -> Iterator[str]:
    """Yield the address of a server with 50 ms latency, until the block ends."""
    command = [sys.executable, str(HERE / "server.py")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield f"http://127.0.0.1:{server.stdout.readline().strip()}"
        server.communicate()


def start(folder: Path, url: str, store: str, name: str, *arguments: str) -> subprocess.Popen[str]:
    """Start one job."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "pytest_fairness.plugin", "-p", "no:cacheprovider"]
    command += [f"--fairness-model=openai:m?base_url={url}/v1", f"--fairness-store={store}", "--fairness-report=none"]
    command += [f"--fairness-json={name}.json", *arguments]
    about = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "OPENAI_API_KEY": "none"}
    return subprocess.Popen(command, cwd=folder, stdout=-1, stderr=subprocess.STDOUT, text=True, env=about)


def finish(jobs: Sequence[subprocess.Popen[str]]) -> None:
    """Wait for all; an error of the store or a wrong exit status ends the benchmark."""
    for job in jobs:
        output = job.communicate()[0]
        if job.returncode not in (0, 1) or any(failure in output for failure in _FAILURES):
            sys.exit(f"a job ended with {job.returncode}:\n{output[-3000:]}")


def counts(url: str) -> dict[str, float]:
    """Return the server's counts of requests."""
    with urllib.request.urlopen(f"{url}/counts") as answer:  # noqa: S310
        totals: dict[str, float] = json.load(answer)
    return totals


def judged(folder: Path, name: str) -> list[list[Any]]:
    """Return the rows of the thresholds in a job's results."""
    rows = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))["thresholds"]
    return [[row[field] for field in ("id", "estimate", "low", "high", "verdict", "attempts")] for row in rows]


def tell(title: str, url: str, prompts: int, wall: float, *, same: bool) -> None:
    served = counts(url)
    twice = served["requests"] - served["prompts"]
    print(
        f"{title}: {served['requests']:,} requests for {prompts:,} prompts, {twice:,} twice; at most {served['most']} "
        f"under way; {wall:.1f} s; verdicts {'equal' if same else 'DIFFER'}",
        flush=True,
    )
    if twice or served["requests"] != prompts or not same:
        sys.exit("asked twice, or judged otherwise")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=500)
    parser.add_argument("--concurrency", type=int, default=64)
    options = parser.parse_args()
    prompts, most = 2 * options.items, f"--fairness-concurrency={options.concurrency}"
    with tempfile.TemporaryDirectory() as temporary:
        folder = write(Path(temporary) / "suite", options.items, BOTH, 1)
        with serving() as url:
            finish([start(folder, url, "alone.sqlite", "alone", most)])
        alone = judged(folder, "alone")
        print(alone)

        with serving() as url:
            begun = time.perf_counter()
            finish([start(folder, url, "shared.sqlite", f"four{n}", most, "--fairness-run=r1") for n in range(4)])
            wall = time.perf_counter() - begun
            same = all(judged(folder, f"four{number}") == alone for number in range(4))
            tell("four processes on one SQLite store", url, prompts, wall, same=same)

        with serving() as url, running() as server:
            begun = time.perf_counter()
            store, run = server.location().url, "--fairness-run=r1"
            finish([start(folder, url, store, f"s{n}", most, run, f"--fairness-shard={n}/8") for n in range(1, 9)])
            finish([start(folder, url, store, "last", most, run)])
            wall = time.perf_counter() - begun
            same = judged(folder, "last") == alone
            tell("eight shards and a last job on one PostgreSQL store", url, prompts, wall, same=same)


if __name__ == "__main__":
    main()

"""GenderBench's probes: its own run against ours, for the same numbers and for speed.

    NLTK_DATA=FOLDER python tests/benchmarks/against_genderbench.py [--probe DiscriminationTamkin] [--equal]

Without ``--equal``: wall seconds for all answers and metrics of one probe, asked of a local server
(50 ms) with as many requests under way at a time, A B A B. GenderBench runs its own client of OpenAI
within a running event loop, since it fails outside of one, and makes its 1,000 bootstrap resamples;
ours is a whole pytest process: a test for each item, the store, thresholds and both marks. A second
pair leaves out GenderBench's bootstrap, to compare the asking.

With ``--equal``: every probe whose data are in the package, as large as GenderBench's own harness makes
it, on the answers of one deterministic function: the largest difference of any metric.

Needs the genderbench package, its nltk, pandas and tqdm, nest-asyncio (for its client), and
NLTK's punkt model in NLTK_DATA.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))

THEIRS = """
import asyncio, sys, time
from genderbench.generators import OpenAiAsyncApiGenerator
import genderbench.probes as probes

async def main(url, name, concurrency, cis, repetitions):
    generator = OpenAiAsyncApiGenerator(
        model="m", api_key="none", base_url=url, max_concurrent_tasks=int(concurrency))
    probe = getattr(probes, name + "Probe")(
        log_strategy="no", calculate_cis=cis == "1", num_repetitions=int(repetitions))
    probe.run(generator)
    print(sum(1 for _ in probe.attempts), probe.metrics)

asyncio.run(main(*sys.argv[1:]))
"""
OURS = """
from pytest_fairness.harnesses.genderbench import genderbench_tests

TestGenderBench = genderbench_tests({probe!r})
"""


def wall(command: list[str], folder: Path) -> tuple[float, str]:
    """Return the seconds that a process takes, and its output; thresholds may end pytest with 1."""
    start = time.perf_counter()
    process = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if process.returncode not in (0, 1) or "Traceback" in process.stderr:
        sys.exit(f"{' '.join(command)}\n{process.stdout[-2000:]}{process.stderr[-2000:]}")
    return time.perf_counter() - start, process.stdout


def race(probe: str, concurrency: int, rounds: int, workers: int) -> None:
    """Print the wall seconds of both, and their ratio."""
    from pytest_fairness.harnesses.genderbench.package import harness_options

    repetitions = harness_options()[probe]["num_repetitions"]
    server = subprocess.Popen(
        [sys.executable, str(HERE / "server.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    url = f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
    os.environ.setdefault("OPENAI_API_KEY", "none")
    taken: dict[str, list[float]] = {"ours": [], "theirs": [], "theirs without intervals": []}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "theirs.py").write_text(THEIRS, encoding="utf-8")
        (folder / "test_ours.py").write_text(OURS.format(probe=probe), encoding="utf-8")
        plugins = ["-p", "no:cacheprovider", "-p", "no:randomly", *(["-n", str(workers)] if workers else [])]
        for number in range(rounds):
            ours = [
                sys.executable, "-m", "pytest", "-q", *plugins, "test_ours.py",
                "--fairness-report=none", f"--fairness-store={folder}/{number}.sqlite",
                f"--fairness-concurrency={concurrency // max(workers, 1)}", f"--fairness-model=openai:m?base_url={url}",
            ]  # fmt: skip
            seconds, output = wall(ours, folder)
            taken["ours"].append(seconds)
            for name, cis in (("theirs", "1"), ("theirs without intervals", "0")):
                arguments = [url, probe, str(concurrency), cis, str(repetitions)]
                taken[name].append(wall([sys.executable, "theirs.py", *arguments], folder)[0])
        print(next(line for line in output.splitlines() if "attempts (" in line).strip())
    server.communicate()
    medians = {name: statistics.median(seconds) for name, seconds in taken.items()}
    for name, seconds in medians.items():
        print(f"{probe}, {concurrency} at a time, {name:26} {seconds:6.1f} s")
    print(f"ours / theirs = {medians['ours'] / medians['theirs']:.2f}")
    print(f"ours / theirs without intervals = {medians['ours'] / medians['theirs without intervals']:.2f}")


def equal() -> None:
    """Print, probe by probe, the largest difference between GenderBench's metrics and ours."""
    from pytest_fairness.harnesses.genderbench.package import harness_options
    from pytest_fairness.harnesses.genderbench.probe import HUB
    from pytest_fairness.stats.external_metrics import _attempts_by_item
    from tests.helpers.genderbench_runs import ours, theirs

    for name, options in harness_options().items():
        if name in HUB:
            continue
        their = theirs(name, **options).metrics
        start = time.perf_counter()
        probe, measured = ours(name, **options)
        values = probe.calculate([probe.prepare(attempts) for attempts in _attempts_by_item(measured.selection)])
        assert values.keys() == their.keys()
        nans = [math.isnan(value) == math.isnan(values[metric]) for metric, value in their.items()]
        gap = max(abs(value - values[metric]) for metric, value in their.items() if not math.isnan(value))
        size = f"{measured.items:,} items, {measured.attempts:,} attempts, {len(their)} metrics"
        print(f"{name:22} {size:48} {gap:.1e} {all(nans)} {time.perf_counter() - start:.1f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--probe", default="DiscriminationTamkin")
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--workers", type=int, default=0, help="of pytest-xdist; they share the concurrency")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--equal", action="store_true")
    options = parser.parse_args()
    if options.equal:
        equal()
    else:
        race(options.probe, options.concurrency, options.rounds, options.workers)


if __name__ == "__main__":
    main()

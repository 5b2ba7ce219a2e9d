"""Memory and time by the items of a suite, and the cost of judging and reporting many stored attempts.

    python tests/benchmarks/scale.py [--items 10000 50000 200000] [--attempts 200000]

1. Suites of so many items, each asked once, all answered already: peak memory and time of the whole
   pytest process, a test for each item and one threshold; the slope is that between the first and the
   last size, in KB an item.
2. So many stored attempts of 10,000 items in two groups: the threshold alone is selected, as a last job
   does it, and judged, with results file and HTML report.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SUITE = """
import pytest
from pytest_fairness import ProbeItem, Prompt, YesNo

def cases():
    for number in range({items}):
        groups = {groups}
        yield ProbeItem(f"case-{{number:06d}}", [
            Prompt(f"Is case {{number}}, a {{group}}, approved?", groups={{"gender": group}}) for group in groups])

@pytest.mark.probe(items=cases, grade={{"approved": YesNo()}}, repetitions={repetitions})
def test_case(probe_item, model):
    probe_item.measure(model)

@pytest.mark.threshold(probe=test_case)
def test_alike(measured):
    assert 0.8 <= measured.ratio("approved", by="gender", of="female", to="male") <= 1.25
"""
BOTH = '("female", "male")'
ONE = '("female",) if number % 2 else ("male",)'

_ALONE = ("-k", "test_alike")
"""The threshold, which asks for all of its probe."""


@dataclass(frozen=True)
class Cost:
    """Cost of one pytest process."""

    wall: float
    cpu: float
    """Seconds."""
    memory: float
    """The most that it held, in bytes."""


def run(folder: Path, *arguments: str) -> Cost:
    """Return the cost of pytest in this folder; the threshold may be undecided, which ends it with 1."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "pytest_fairness.plugin", "-p", "no:cacheprovider"]
    command += ["--fairness-model=simulated:yes-no", *arguments]
    begun = time.perf_counter()
    about = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=output, env=about)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - begun
        if process.returncode not in (0, 1):
            output.seek(0)
            sys.exit(output.read().decode()[-3000:])
    return Cost(wall, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)


def write(folder: Path, items: int, groups: str, repetitions: int) -> Path:
    """Write a folder with a suite of this size."""
    folder.mkdir()
    text = SUITE.format(items=items, groups=groups, repetitions=repetitions)
    (folder / "test_cases.py").write_text(text, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    return folder


def sizes(folder: Path, counts: Sequence[int]) -> None:
    """Print what each number of items costs, and the slope."""
    print(f"{'items':>9} {'memory':>10} {'wall':>9} {'CPU':>9}   all answered already", flush=True)
    costs = []
    for count in counts:
        suite = write(folder / f"of-{count}", count, ONE, 1)
        run(suite, *_ALONE, "--fairness-report=none")
        cost = run(suite, "--fairness-report=none")
        costs.append(cost)
        print(f"{count:>9,} {cost.memory / 2**20:>6.0f} MiB {cost.wall:>7.1f} s {cost.cpu:>7.1f} s", flush=True)
    if len(costs) > 1:
        more = counts[-1] - counts[0]
        memory, cpu = costs[-1].memory - costs[0].memory, costs[-1].cpu - costs[0].cpu
        print(f"slope: {memory / more / 1024:.2f} KiB and {1000 * cpu / more:.3f} ms CPU an item", flush=True)


def judged(folder: Path, attempts: int, report: str) -> None:
    """Print what judging and reporting so many stored attempts costs."""
    items = 10_000
    suite = write(folder / "judged", items, BOTH, attempts // (2 * items))
    filled = run(suite, *_ALONE, "--fairness-report=none")
    print(f"{attempts:,} attempts asked and stored: {filled.wall:.1f} s, {filled.cpu:.1f} s CPU", flush=True)
    cost = run(suite, *_ALONE, "--fairness-json=results.json", f"--fairness-report={report}")
    size = (suite / report).stat().st_size / 1e6
    print(
        f"{attempts:,} stored attempts judged and reported: {cost.wall:.1f} s, {cost.cpu:.1f} s CPU, "
        f"{cost.memory / 2**20:.0f} MiB; the report has {size:.1f} MB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, nargs="*", default=[10_000, 50_000, 200_000])
    parser.add_argument("--attempts", type=int, default=200_000, help="0 for none")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.attempts:
            judged(Path(folder), options.attempts, "fairness.html")
        if options.items:
            sizes(Path(folder), options.items)


if __name__ == "__main__":
    main()

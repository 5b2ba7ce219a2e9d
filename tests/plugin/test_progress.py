"""Progress of a run over all its processes: one line on a terminal, a line now and then in a log."""

from __future__ import annotations

import itertools
import os
import pty
import re
import signal
import subprocess
import sys
import time

import pytest

from pytest_fairness.plugin.output import progress
from pytest_fairness.store.owners import ForeignOwner
from tests.helpers import project_sources
from tests.helpers.chat_server import serving
from tests.helpers.project import N2, NO_XDIST, QUIET, Mode, Project, shown, unwrapped

SLOW = "    import time\n    time.sleep(0.05)"
LINE = r"fairness: ([\d,]+) of 40 calls, [\d.]+ a second(?:, about \d+ s left)?"


@pytest.fixture(autouse=True)
def _in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Print a line every 0.2 s."""
    for name in ("_IN_A_LOG", "_ON_A_TERMINAL"):
        monkeypatch.setattr(progress, name, 0.2)


def slow(project: Project) -> None:
    project.write_suite(conftest=project_sources.application(body=SLOW), count=20)


@pytest.mark.parametrize("arguments", [(), ("-s",), ("--capture=sys",)], ids=["captured", "as-it-is", "sys"])
def test_progress_is_shown_with_any_capture(project: Project, arguments: tuple[str, ...]) -> None:
    slow(project)
    result = project.run(*arguments, "--fairness-concurrency=2", mode=Mode("alone", NO_XDIST.args, distributed=True))
    counts = [int(count) for count in re.findall(LINE, shown(result))]
    assert counts, shown(result)
    assert counts == sorted(counts)
    assert result.parseoutcomes()["passed"] >= 20


def test_controller_shows_the_sum_over_its_workers(project: Project) -> None:
    slow(project)
    result = project.run("--fairness-concurrency=1", "--dist=each", mode=N2)
    counts = [int(count) for count in re.findall(LINE, shown(result))]
    assert counts, shown(result)
    assert counts == sorted(counts)
    assert max(counts) > 20  # each has the same work list, and asks about half of it


@pytest.mark.parametrize("arguments", [("-q",), ("-p", "no:terminal")], ids=["quiet", "no-terminal"])
def test_progress_can_be_switched_off(project: Project, arguments: tuple[str, ...]) -> None:
    slow(project)
    result = project.run(*arguments, "--fairness-concurrency=2")
    assert "a second" not in shown(result)
    assert project.calls().total() == 40


def test_progress_shows_cost_and_failures(project: Project) -> None:
    project.write(test_hiring=project_sources.suite(count=30))
    project.configure(prices={"default": {"input": 1000, "output": 2000}})
    with serving(refuses=4, status=503) as server:
        result = project.run(f"--fairness-model={server.model}", "--fairness-concurrency=1")
    lines = [line for line in shown(result).splitlines() if re.search(r"^fairness: \d+ of 60 calls, .* a second", line)]
    assert lines, shown(result)
    assert re.search(r", \$\d+\.00, \d+ repeated, 503: \d+$", lines[-1])


@pytest.mark.parametrize("mode", [NO_XDIST, N2], ids=lambda mode: mode.id)
def test_terminal_progress_is_one_line_and_leaves_no_trace(
    project: Project, monkeypatch: pytest.MonkeyPatch, mode: Mode
) -> None:
    project.write_suite(conftest=project_sources.application(body=SLOW), count=40)
    monkeypatch.setenv("TERM", "xterm")
    for name in ("CI", "NO_COLOR", "BUILD_NUMBER"):
        monkeypatch.delenv(name, raising=False)
    mine, theirs = pty.openpty()
    command = project.command(*mode.args, "--fairness-concurrency=1", "--tb=no", "--color=yes")
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=project.path)
    os.close(theirs)
    written = _read(mine)
    process.wait()
    lines = re.findall(r"\x1b\[2K(fairness: \d+ of 80 calls, [^\x1b]*)", written)
    assert lines, written
    assert max(map(len, lines)) < 80
    screen = _screen(written)
    assert not [line for line in screen if re.search("of 80 calls", line)]
    dots = next(
        line for line in screen if re.search(r"^(test_hiring.py )?[.F]{40}", line)
    )  # the threshold may end first
    assert dots.endswith("[100%]")


def _read(terminal: int) -> str:
    parts: list[bytes] = []
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # Linux: the other end is closed
            part = b""
        if not part:
            os.close(terminal)
            return b"".join(parts).decode(errors="replace")
        parts.append(part)


def _screen(written: str) -> list[str]:
    """Return the lines of a very high terminal after this output."""
    rows: list[str] = [""]
    row = column = 0
    for piece in re.findall(r"\x1b\[\??[\d;]*[A-Za-z]|[\r\n]|[^\x1b\r\n]+", written):
        if piece == "\n":
            row += 1
            rows += [""] * (row + 1 - len(rows))
        elif piece == "\r":
            column = 0
        elif not piece.startswith("\x1b"):
            text = rows[row].ljust(column)
            rows[row] = text[:column] + piece + text[column + len(piece) :]
            column += len(piece)
        elif piece[-1] in "AC":
            moved = int(piece[2:-1] or 1)
            row, column = (row - moved, column) if piece[-1] == "A" else (row, column + moved)
        elif piece[-1] == "K":
            rows[row] = "" if piece == "\x1b[2K" else rows[row][:column]
        elif piece[-1] == "J":
            rows[row:] = [rows[row][:column]]
        else:
            assert piece[-1] == "m", piece
    return [line.rstrip() for line in rows]


@pytest.mark.slow
def test_run_that_waits_for_a_suspended_process_names_it(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    wait = "    import time\n    while not ASKED.with_name('go').exists():\n        time.sleep(0.01)"
    suite = project_sources.suite(project_sources.threshold("pass"), count=1, groups=["woman"])
    project.write(conftest=project_sources.application(body=wait, version="1"), test_hiring=suite)
    command = [sys.executable, "-m", "pytest", *QUIET]
    format_owner = progress._owner

    with subprocess.Popen(command, cwd=project.path, stdout=subprocess.DEVNULL) as other:
        while not project.calls():
            time.sleep(0.01)
        other.send_signal(signal.SIGSTOP)

        def resume(owner: ForeignOwner) -> str:
            (project.path / "go").touch()
            other.send_signal(signal.SIGCONT)
            return format_owner(owner)

        monkeypatch.setattr(progress, "_owner", resume)
        monkeypatch.setattr(progress, "_FOREIGN_SILENCE", 0.2)
        result = project.run(mode=Mode("alone", NO_XDIST.args, distributed=True))
    pattern = rf"no call has ended for \d s, waiting for 1 of process {other.pid}, which began at 20.* UTC"
    assert re.search(pattern, unwrapped(result)), shown(result)
    assert project.calls().total() == 1


PROFILES = {
    "constant": [8.0] * 168,
    "slow start": [300.0, *[8.0] * 167],
    "warming up": [*[20.0] * 10, *[8.0] * 158],
    "fast start": [*[1.0] * 24, *[8.0] * 144],
    "slowing down": [4.0 + number / 42 for number in range(168)],
}
"""The seconds between the calls of a local server that answers one request at a time."""


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("interval", [1.0, 10.0, 60.0])
@pytest.mark.parametrize("share_of_graders", [0.0, 4 / 7])
def test_time_left_is_true_within_a_third(profile: str, interval: float, share_of_graders: float) -> None:
    times = list(itertools.accumulate(PROFILES[profile]))
    calls, pace = round(len(times) * (1 - share_of_graders)), progress.Pace(0.0)
    checked = []
    for now in itertools.takewhile(lambda now: now < times[-1], itertools.count(interval, interval)):
        ended = sum(time <= now for time in times)
        of_graders = round(ended * share_of_graders)
        pace.rate(now, ended)
        left = progress.calls_left(calls, ended - of_graders, of_graders)
        if 0.25 <= ended / len(times) <= 0.75 and (seconds := pace.time_for(left, now, ended)):
            checked.append(seconds / (times[-1] - now))
    assert checked
    assert all(2 / 3 <= ratio <= 4 / 3 for ratio in checked), checked


def test_slow_rate_has_two_digits() -> None:
    rates = (0.0, 0.004, 0.131, 2.44, 250.4)
    assert [progress.format_rate(rate) for rate in rates] == [
        "0 a second", "a call in 250 s", "0.13 a second", "2.4 a second", "250 a second",
    ]  # fmt: skip

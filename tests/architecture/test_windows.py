"""Windows: paths with drives and backslashes, names of devices, line ends, code pages, what POSIX alone has."""

from __future__ import annotations

import _pyio  # type: ignore[import-not-found]
import io
import ntpath
import os
import re
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path, PureWindowsPath
from types import SimpleNamespace

import pytest

from pytest_fairness.cli.main import main
from pytest_fairness.cli.new import write_suite
from pytest_fairness.core.clock import Clock
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.output_files import write_text
from pytest_fairness.engine import event_loop
from pytest_fairness.models import credentials
from pytest_fairness.models.names import ModelName
from pytest_fairness.plugin.config import option_values
from tests.helpers import project_sources
from tests.helpers.project import Project, shown

ROOT = Path(__file__).parents[2]
RATIO = 'assert measured.ratio("hired", by="gender", of="женщина", to="男") >= 0.9'
DEVICES = ["con", "prn", "aux", "nul", "com1", "lpt9"]
MODULES = "fcntl|grp|posix|pty|pwd|resource|readline|syslog|termios"
FUNCTIONS = "chown|fork|get[eu]?[gu]id|getpg\\w*|kill|killpg|mkfifo|sched_\\w+|set[eu]?[gu]id|setsid|uname|wait\\w*"
SIGNALS = "SIG(?!ABRT|FPE|ILL|INT|SEGV|TERM|_)\\w+|alarm|setitimer|pthread_\\w+"
POSIX_ONLY = re.compile(rf"\bimport ({MODULES})\b|\bos\.({FUNCTIONS})\b|\bsignal\.({SIGNALS})\b")


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the readers of options use paths of Windows."""
    monkeypatch.setattr(option_values, "Path", PureWindowsPath)
    monkeypatch.setattr(option_values, "os", SimpleNamespace(path=ntpath))


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        (r"replay:old\answers.jsonl", "replay:bots/old/answers.jsonl"),
        (r"replay:..\answers.jsonl?system=you.txt", "replay:answers.jsonl?system=bots/you.txt"),
        (r"http:D:\bots\bot.toml?system=C:\you.txt", r"http:D:\bots\bot.toml?system=C:\you.txt"),
        ("openai:gpt-5-mini", "openai:gpt-5-mini"),
    ],
)
def test_files_in_model_names_are_read_from_the_root(windows: None, typed: str, read: str) -> None:
    folder, root = PureWindowsPath(r"C:\project\bots"), PureWindowsPath(r"C:\project")
    assert option_values.from_root(typed, folder, root) == read  # type: ignore[arg-type]


def test_file_on_another_drive_has_its_whole_path(windows: None) -> None:
    path, root = PureWindowsPath(r"D:\shared\test_other.py"), PureWindowsPath(r"C:\project")
    assert option_values.path_from(path, root) == "D:/shared/test_other.py"  # type: ignore[arg-type]
    assert option_values.relative_to(path, root) == "D:/shared/test_other.py"  # type: ignore[arg-type]


@pytest.mark.parametrize("name", DEVICES)
def test_suite_is_not_named_as_a_device(name: str, tmp_path: Path) -> None:
    with pytest.raises(FairnessError, match="is a device on Windows"):
        write_suite(tmp_path / name)
    assert write_suite(tmp_path / f"{name}s")


def test_written_files_have_the_same_bytes_as_on_posix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, written = tmp_path / "plain.txt", tmp_path / "written.txt"
    monkeypatch.setattr(os, "linesep", "\r\n")
    monkeypatch.setattr(io, "open", _pyio.open)  # the other one has a line end of its own
    plain.write_text("a\nb\n", encoding="utf-8")
    write_text(written, "a\nb\n")
    monkeypatch.undo()
    assert (plain.read_bytes(), written.read_bytes()) == (b"a\r\nb\r\n", b"a\nb\n")


def test_key_command_keeps_its_backslashes(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[object] = []

    def run(command: object, **_: object) -> subprocess.CompletedProcess[str]:
        started.append(command)
        return subprocess.CompletedProcess([], 0, "token\n", "")

    monkeypatch.setattr(credentials, "os", SimpleNamespace(name="nt"))
    monkeypatch.setattr(subprocess, "run", run)
    command = r'"C:\Program Files\login.exe" print'
    own = credentials.Credentials(ModelName("openai", "m"), {"key_command": command}, {}, "OPENAI_API_KEY", "provider")
    assert own._run(command) == "token"
    assert started == [command]


def test_console_of_one_code_page_shows_other_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    console = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    monkeypatch.setattr(sys, "stderr", console)
    assert main(["new", "Ä女"]) == 2
    console.seek(0)
    assert r"Ä\u5973" in console.read()


@pytest.mark.slow
def test_run_on_a_console_of_one_code_page_shows_its_verdict(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "cp1252")
    test = project_sources.threshold(RATIO)
    project.write_suite(test, conftest="", groups=("женщина", "男"))
    options = ("-n2", "-p", "no:randomly", "--fairness-model=simulated:x")
    result = project.pytester.run(sys.executable, "-m", "pytest", *options, timeout=90)
    assert r"\u0436\u0435\u043d" in shown(result)
    assert "release: undecided" in shown(result)
    assert not result.errlines


def test_timers_use_the_clock_that_no_test_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_loop, "sys", SimpleNamespace(platform="win32"))
    with closing(event_loop.new_event_loop(threading.Event())) as loop:
        assert loop.time == Clock.monotonic


def test_package_needs_nothing_that_posix_alone_has() -> None:
    assert POSIX_ONLY.search("import fcntl")
    assert POSIX_ONLY.search("os.fork()")
    assert POSIX_ONLY.search("signal.SIGKILL")
    assert not POSIX_ONLY.search("signal.SIG_IGN, signal.SIGTERM, os.killed")
    files = sorted([*(ROOT / "pytest_fairness").rglob("*.py"), *(ROOT / "suites").rglob("*.py")])
    assert len(files) > 300
    matches = [
        (file.name, match[0]) for file in files if (match := POSIX_ONLY.search(file.read_text(encoding="utf-8")))
    ]
    assert not matches


def test_committed_names_are_possible_on_windows() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    names = listed.decode().split("\0")[:-1]
    assert len(names) > 1_000
    assert len(names) == len({name.lower() for name in names})
    assert [name for name in names if len(name) > 150 or any(map(is_impossible, name.split("/")))] == []


def is_impossible(name: str) -> bool:
    """Return whether no file or folder of Windows can have a name."""
    return bool(re.search(r'[<>:"\\|?*\x00-\x1f]|[. ]$', name)) or name.lower().partition(".")[0] in DEVICES


@pytest.mark.parametrize("name", ["a:b", "Con.txt", "a.", "a?", "COM1"])
def test_impossible_names_are_detected(name: str) -> None:
    assert is_impossible(name)
    assert not is_impossible(re.sub(r"\W", "", name) + "_")

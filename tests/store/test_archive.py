"""Stores on a read-only disk are read, and nothing is written beside them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_fairness.cli import main
from pytest_fairness.store.store import Store, open_to_read
from tests.helpers.project import bound_by_rights
from tests.store.test_merge import completed, fill


@pytest.fixture
def archived(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a store whose writer was killed, in a folder that seems to be read-only."""
    writer = Store(tmp_path / "writing" / "store.sqlite")
    fill(Store(writer.location), completed("a"))
    archive = tmp_path / "archive"
    archive.mkdir()
    writer.runs.start("killed")  # stands in the file beside it
    for path in (tmp_path / "writing").glob("store.sqlite*"):
        if path.is_file() and path.suffix != ".lock":
            shutil.copy(path, archive)
    writer.close()
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK or archive not in (path, path.parent))
    return archive / "store.sqlite"


def test_archived_store_is_read_with_its_last_answers(archived: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {path.name: path.read_bytes() for path in archived.parent.iterdir()}
    assert "store.sqlite-wal" in before
    with open_to_read(archived) as store:
        assert [store.runs.find(name, "anything") for name in ("shared", "killed")] == ["shared", "killed"]
    assert main.main(["history", f"--store={archived}"]) == 0
    assert "0 runs" in capsys.readouterr().out
    assert {path.name: path.read_bytes() for path in archived.parent.iterdir()} == before


def test_message_names_the_store_and_the_option_of_the_command(
    archived: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archived.with_name("other.sqlite").write_text("no database", encoding="utf-8")
    assert main.main(["report", "latest", f"--store={archived.with_name('other.sqlite')}"]) == 2
    message = capsys.readouterr().err
    assert f"the store {archived.with_name('other.sqlite')} failed" in message
    assert "name another with --store" in message


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="rights are those of POSIX here")
def test_commands_read_a_store_without_the_right_to_write(tmp_path: Path) -> None:
    fill(Store(tmp_path / "store.sqlite"), completed("a"))
    shutil.rmtree(tmp_path / "store.sqlite.owners")
    (tmp_path / "store.sqlite").chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        command = [*bound_by_rights(), sys.executable, "-m", "pytest_fairness", "history", "--store", "store.sqlite"]
        process = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    finally:
        tmp_path.chmod(0o755)
    assert (process.returncode, process.stderr) == (0, "")

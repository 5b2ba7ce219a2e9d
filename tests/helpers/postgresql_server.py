"""A PostgreSQL server of the tests' own, in a temporary folder: started once for a session, restarted, thrown away."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from uuid import uuid4

import pytest

from pytest_fairness.store.location import PostgresURL

_FAST = {"fsync": "off", "full_page_writes": "off", "listen_addresses": "127.0.0.1"}
"""Nobody needs these data after a power cut."""


def programs() -> Path | None:
    """Return the folder of the server's programs; Debian keeps it off the path."""
    program = shutil.which("initdb")
    folders = [Path(program).resolve().parent] if program else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "initdb").exists()), None)


def needed() -> None:
    """Skip where no server can be started; in CI that is a failure."""
    message = ""
    if programs() is None:
        message = "PostgreSQL is not installed here: apt-get install postgresql"
    if find_spec("psycopg") is None:
        message = "psycopg is not installed here: pip install ./pytest-fairness[postgres]"
    if message and "PYTEST_FAIRNESS_NO_SKIP" in os.environ:
        pytest.fail(message)
    if message:
        pytest.skip(message)


class PostgreSQL:
    """A server on a port of its own. It refuses to be root, so root starts it as the user that Debian makes for it."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self._programs = programs()
        self._data = folder / "data"
        self._as_other = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] * (os.getuid() == 0)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        folder.mkdir()
        self._data.mkdir()
        if self._as_other:
            for path in (folder, self._data):
                shutil.chown(path, "postgres", "postgres")
        self._call("initdb", "--auth=trust", "--username=tests", "--encoding=UTF8", "--no-locale", "--no-sync")
        settings = _FAST | settings | {"port": str(self.port), "unix_socket_directories": ""}
        with (self._data / "postgresql.conf").open("a") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())
        self.start()

    def _call(self, program: str, *arguments: str) -> None:
        assert self._programs is not None
        command = [*self._as_other, str(self._programs / program), "-D", str(self._data), *arguments]
        process = subprocess.run(
            command, cwd="/", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120
        )
        assert process.returncode == 0, process.stderr

    def start(self) -> None:
        self._call("pg_ctl", "--wait", "--silent", f"--log={self._data / 'log'}", "start")

    def stop(self, mode: str = "fast") -> None:
        """Stop the server; ``immediate`` is a crash: it recovers when it is started again."""
        self._call("pg_ctl", "--wait", "--silent", f"--mode={mode}", "stop")

    def location(self) -> PostgresURL:
        """Return a new, empty database."""
        import psycopg

        name = f"fairness_{uuid4().hex[:8]}"
        with psycopg.connect(f"postgresql://tests@127.0.0.1:{self.port}/postgres", autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return PostgresURL(f"postgresql+psycopg://tests@127.0.0.1:{self.port}/{name}")


@contextmanager
def running(**settings: str) -> Iterator[PostgreSQL]:
    """Yield a running server. It is not in the test's own folder, whose parents only their owner may enter."""
    folder = Path(tempfile.gettempdir()) / f"fairness-postgresql-{uuid4().hex[:8]}"
    server = PostgreSQL(folder, **settings)
    try:
        yield server
    finally:
        server.stop("immediate")
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgreSQL]:
    """Yield the server of this session."""
    needed()
    with running() as server:
        yield server

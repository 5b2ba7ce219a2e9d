"""Workers of pytest-xdist, and runs of pytest, as forks of one process that has imported what each of them needs.

A new process takes more than a second of CPU until it has imported pytest and the plugin; a fork takes
some milliseconds. The code of a worker is the same: execnet's own bootstrap line, read from standard input.
"""

from __future__ import annotations

import atexit
import gc
import inspect
import json
import marshal
import os
import random
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from _thread import start_new_thread
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

import execnet
import pytest

from tests.helpers.preloaded import preload, search_once

CLIENT = Path(__file__).with_name("fork_client.py")
CONSTANTS = "PYTEST_FAIRNESS_TEST_CONSTANTS"
"""The variable with the constants that `set_constants` has changed."""


class ForkServer:
    """A process that forks workers, and the folder of its socket.

    ``modules`` are imported beside those that every worker needs.
    """

    def __init__(self, modules: Sequence[str] = ()) -> None:
        self.folder = tempfile.mkdtemp(prefix="fork-")
        self.address = str(Path(self.folder) / "socket")
        self.environment = interpreter_environment()
        self.process = subprocess.Popen(
            [sys.executable, "-u", __file__, self.address, *modules], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"ready\n"

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()
        shutil.rmtree(self.folder)


class ForkedWorkers:
    """Fork server from which pytest-xdist takes its local workers; it starts with the first of them."""

    def __init__(self, modules: Sequence[str] = ()) -> None:
        self._modules = modules
        self._server: ForkServer | None = None

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_setupnodes(self, specs: list[execnet.XSpec]) -> None:
        # What an interpreter reads when it starts, a fork cannot take over.
        if interpreter_environment() == self._started().environment:
            take_forks(specs, self._started().address)

    def command(self) -> tuple[str, ...]:
        """Return the beginning of a command that stands in for ``python -m pytest``: it, too, may be killed."""
        return (*stand_in(self._started().address), "-mpytest")

    def _started(self) -> ForkServer:
        self._server = self._server or ForkServer(self._modules)
        return self._server

    def close(self) -> None:
        if self._server:
            self._server.close()


def stand_in(address: str) -> tuple[str, ...]:
    """Return the command that stands in for a new interpreter."""
    return (sys.executable, "-I", "-S", str(CLIENT), address)


def take_forks(specs: list[execnet.XSpec], address: str) -> None:
    """Name the stand-in as the interpreter of workers."""
    for spec in specs:
        spec.python = " ".join(stand_in(address))


class ForkedRun:
    """A run of pytest in a fork, whose workers are forks as well."""

    def __init__(self, address: str, connection: socket.socket, arguments: list[str]) -> None:
        self._address = address
        self._connection = connection
        self._arguments = arguments

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_setupnodes(self, specs: list[execnet.XSpec]) -> None:
        take_forks(specs, self._address)

    def run(self) -> None:
        """Run pytest, send its exit code to the client, and end with it."""
        signal.signal(signal.SIGINT, signal.default_int_handler)
        start_new_thread(self._end_with_client, ())
        sys.path.insert(0, str(Path.cwd()))
        code = pytest.main(self._arguments, plugins=[self])
        sys.stdout.flush()
        self._connection.send(bytes([code]))

    def _end_with_client(self) -> None:
        self._connection.recv(1)
        os.kill(os.getpid(), signal.SIGKILL)


def interpreter_environment() -> dict[str, str]:
    """Return the variables that an interpreter reads at its start; xdist hands over the path of imports itself."""
    return {name: value for name, value in os.environ.items() if name.startswith("PYTHON") and name != "PYTHONPATH"}


def set_constants(patch: pytest.MonkeyPatch, module: ModuleType, **values: float) -> None:
    """Change constants of a module in this process, and in the workers that are forked from now on."""
    changed = json.loads(os.environ.get(CONSTANTS, "{}"))
    for name, value in values.items():
        patch.setattr(module, name, value)
        changed[f"{module.__name__}.{name}"] = value
    patch.setenv(CONSTANTS, json.dumps(changed))


def apply_constants() -> None:
    """Change the same constants in a fork."""
    for path, value in json.loads(os.environ.get(CONSTANTS, "{}")).items():
        module, _, name = path.rpartition(".")
        setattr(import_module(module), name, value)


def serve(address: str, modules: Sequence[str]) -> None:
    """Fork for each connection; return in every fork, and in the server once standard input ends."""
    import_as_pytest(modules)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(address)
    listener.listen(64)
    print("ready")
    while True:
        ready, _, _ = select.select([listener, sys.stdin], [], [], 5.0)
        reap()
        if sys.stdin in ready:
            os._exit(0)
        if listener in ready:
            connection, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                if arguments := become_client(connection):
                    ForkedRun(address, connection, arguments).run()
                    sys.exit()
                return
            connection.close()


def become_client(connection: socket.socket) -> list[str]:
    """Take over the folder, environment and standard streams of the client; return its arguments for pytest."""
    size, ancillary, _, _ = connection.recvmsg(8, socket.CMSG_SPACE(12))
    (_, _, streams), *_ = ancillary
    request = b""
    while len(request) < int.from_bytes(size, sys.byteorder):
        request += connection.recv(1 << 20)
    folder, environment, arguments = marshal.loads(request)  # noqa: S302 - from our own client
    for target in (0, 1, 2):
        stream = int.from_bytes(streams[4 * target : 4 * target + 4], sys.byteorder)
        os.dup2(stream, target)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    apply_constants()
    random.seed()
    atexit.register(os._exit, 0)  # to take half a million objects apart would take longer than most workers live
    sys.argv = ["-c"]
    connection.send(os.getpid().to_bytes(4, sys.byteorder))
    if not arguments:
        connection.detach()  # the client ends when this process does
    return list(arguments)


def import_as_pytest(modules: Sequence[str]) -> None:
    """Import what workers need under pytest's import hook, as a worker would."""
    config = pytest.Config.fromdictargs({}, [])
    preload()
    for name in modules:
        import_module(name)
    search_once(pytest.MonkeyPatch())
    config._ensure_unconfigure()
    compile_patterns()
    inspect.getmodule(preload.__code__)  # which module has which file: traceback entries look it up
    gc.collect()
    gc.freeze()


def compile_patterns() -> None:
    """Compile the patterns of yes and no, which most workers need."""
    from pytest_fairness import YesNo
    from tests.helpers.grading import graded

    graded(YesNo(), "yes")


def reap() -> None:
    """Forget the forks that have ended."""
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2:])
    exec(eval(sys.stdin.readline()), {"__name__": "__main__"})  # noqa: S102, S307 - execnet's bootstrap line

"""Processes of Python as forks of one that has imported what each of them needs, above all workers of pytest-xdist.

A new process takes more than a second of CPU until it has imported pytest and the plugin; a fork takes
some milliseconds. Its code is the same: what the arguments of the interpreter name.
"""

from __future__ import annotations

import atexit
import gc
import inspect
import json
import marshal
import os
import platform
import random
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from types import ModuleType

import execnet.gateway_base
import execnet.gateway_io
import pytest

from tests.helpers import fork_client
from tests.helpers.preloaded import preload, search_once

CONSTANTS = "PYTEST_FAIRNESS_TEST_CONSTANTS"
"""The variable with the constants that `set_constants` has changed."""


class ForkServer:
    """A process that forks workers, and the folder of its socket.

    ``modules`` are imported beside those that every worker needs, which a fork of the server ``base`` has.
    """

    def __init__(self, modules: Sequence[str] = (), base: ForkServer | None = None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="fork-"))
        self.python = str(self.folder / "python")
        """The path of a script that stands in for the interpreter."""
        self.environment = interpreter_environment()
        self.address = str(self.folder / "socket")
        Path(self.python).write_text(
            f'#!/bin/sh\nexec {sys.executable} -I -S {fork_client.__file__} {self.address} "$@"\n',
            encoding="utf-8",
        )
        Path(self.python).chmod(0o700)
        python = base.python if base else sys.executable
        command = [python, __file__, self.address, self.python, *modules]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"ready\n"

    def close(self) -> None:
        with self.process:  # closes its streams, and waits
            pass
        shutil.rmtree(self.folder)


class ForkedWorkers:
    """Fork server from which pytest-xdist takes its local workers; it starts with the first of them."""

    def __init__(self, modules: Sequence[str] = (), base: ForkedWorkers | None = None) -> None:
        self._modules = modules
        self._base = base
        self._server: ForkServer | None = None

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_setupnodes(self, config: pytest.Config) -> None:
        # What an interpreter reads when it starts, a fork cannot take over.
        if hasattr(os, "fork") and interpreter_environment() == self.server.environment:
            patch = pytest.MonkeyPatch()
            patch.setattr(execnet.gateway_io, "Popen2IOMaster", partial(ForkedIO, self.server.address))
            config.add_cleanup(patch.undo)

    @property
    def server(self) -> ForkServer:
        """The fork server, which starts when it is first needed. Windows has none: a test that needs it is skipped."""
        if not hasattr(os, "fork"):
            pytest.skip("this system forks no processes")
        self._server = self._server or ForkServer(self._modules, self._base.server if self._base else None)
        return self._server

    def close(self) -> None:
        if self._server:
            self._server.close()


class ForkedIO(execnet.gateway_base.Popen2IO):
    """Streams of a worker that is a fork, in place of execnet's ``Popen2IOMaster``."""

    def __init__(self, address: str, args: Sequence[str], execmodel: execnet.gateway_base.ExecModel) -> None:
        (theirs_in, ours_out), (ours_in, theirs_out) = os.pipe(), os.pipe()
        self.connection, _ = fork_client.start(address, tuple(args[1:]), (theirs_in, theirs_out, 2))
        os.close(theirs_in)
        os.close(theirs_out)
        super().__init__(os.fdopen(ours_out, "wb"), os.fdopen(ours_in, "rb"), execmodel)

    def wait(self) -> int:
        return fork_client.wait(self.connection)

    def kill(self) -> None:
        with suppress(OSError):  # it has ended
            self.connection.shutdown(socket.SHUT_RDWR)  # also where another thread waits


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


def serve(address: str, python: str, *modules: str) -> list[str]:
    """Fork for each client, and return the arguments of the interpreter in every fork.

    A client learns how its copy ended, and a copy is killed when its client has gone. The server ends with its standard
    input. Processes that a fork starts are forks as well.
    """
    import_as_pytest(modules)
    sys.executable = python
    execnet.gateway_io.Popen2IOMaster = partial(ForkedIO, address)  # type: ignore[misc,assignment]
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(address)
    listener.listen(64)
    copies: dict[int, tuple[int, socket.socket]] = {}
    print("ready", flush=True)
    while True:
        clients = [client for _, client in copies.values()]
        ready, _, _ = select.select([sys.stdin, listener, *copies, *clients], [], [])
        if sys.stdin in ready:
            os._exit(0)
        for ended, (copy, client) in [*copies.items()]:
            if client in ready:
                os.kill(copy, signal.SIGKILL)
            if not {ended, client}.isdisjoint(ready):
                status = os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1])
                with suppress(OSError), client:
                    client.send(status.to_bytes(4, sys.byteorder, signed=True))
                os.close(ended)
                del copies[ended]
        if listener in ready:
            client, _ = listener.accept()
            streams, folder, environment, arguments = receive(client)
            if (copy := os.fork()) == 0:
                for connection in (listener, client, *clients):
                    connection.close()
                return become_copy(streams, folder, environment, arguments)
            for stream in streams:
                os.close(stream)
            copies[os.pidfd_open(copy)] = copy, client
            client.send(copy.to_bytes(4, sys.byteorder))


def receive(connection: socket.socket) -> tuple[list[int], str, dict[str, str], list[str]]:
    """Return the standard streams, the folder, the environment and the arguments of a client."""
    size, ancillary, _, _ = connection.recvmsg(8, socket.CMSG_SPACE(12))
    (_, _, streams), *_ = ancillary
    request = connection.recv(int.from_bytes(size, sys.byteorder), socket.MSG_WAITALL)
    folder, environment, arguments = marshal.loads(request)  # noqa: S302 - from our own client
    return list(memoryview(streams).cast("i")), folder, environment, list(arguments)


def become_copy(streams: Sequence[int], folder: str, environment: Mapping[str, str], arguments: list[str]) -> list[str]:
    """Take over all of that from the client, and return the arguments."""
    for target, stream in enumerate(streams):
        os.dup2(stream, target)
        os.close(stream)
    # Those of the server remember whether they can seek.
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    signal.signal(signal.SIGINT, signal.default_int_handler)  # background processes of a shell ignore it
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    apply_constants()
    random.seed()
    atexit._clear()  # what the server has to do at its end
    return arguments


def run_as_interpreter(arguments: Sequence[str]) -> None:
    """Run a script, ``-c CODE`` or ``-m MODULE``, and end at once: half a million objects need not be taken apart."""
    if arguments[0] == "-u":
        arguments = arguments[1:]
    source, *rest = arguments
    status: object = None
    try:
        if source == "-c":
            code, *rest = rest
            sys.argv, sys.path[0] = ["-c", *rest], ""
            exec(code, {"__name__": "__main__"})  # noqa: S102 - from our own client
        elif source == "-m":
            module, *rest = rest
            sys.argv, sys.path[0] = ["-m", *rest], str(Path.cwd())
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        else:
            sys.argv, sys.path[0] = [source, *rest], str(Path(source).parent)
            runpy.run_path(source, run_name="__main__")
    except SystemExit as ended:
        status = ended.code
    except BaseException:  # noqa: BLE001 - an interpreter prints it, and ends with 1
        traceback.print_exc()
        status = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status if isinstance(status, int) else int(status is not None))


def import_as_pytest(modules: Sequence[str]) -> None:
    """Import what workers need under pytest's import hook, as a worker would, and compute what each of them needs."""
    search_once(pytest.MonkeyPatch())
    config = pytest.Config.fromdictargs({}, [])
    preload()
    for name in modules:
        import_module(name)
    config._ensure_unconfigure()
    compile_patterns()
    remote = import_module("xdist.remote")
    compile_once = cache(compile)
    compile_once(inspect.getsource(remote) + "\n", str(remote.__file__), "exec")
    vars(execnet.gateway_base)["compile"] = compile_once  # each worker would compile what its controller sends
    platform.platform()  # asks a process
    inspect.getmodule(preload.__code__)  # which module has which file: traceback entries look it up
    gc.collect()
    gc.freeze()


def compile_patterns() -> None:
    """Compile the patterns of yes and no, which most workers need."""
    from pytest_fairness import YesNo
    from tests.helpers.grading import graded

    graded(YesNo(), "yes")


if __name__ == "__main__":
    run_as_interpreter(serve(*sys.argv[1:]))

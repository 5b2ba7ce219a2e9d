"""The death of a process in the midst of a run."""

import os
import signal

_BUILT: list[int] = []


def count_build() -> None:
    """Kill this process when as many applications were built in it as ``KILL_AFTER`` says."""
    _BUILT.append(1)
    if len(_BUILT) == int(os.environ.get("KILL_AFTER", "0")):
        os.kill(os.getpid(), signal.SIGKILL)

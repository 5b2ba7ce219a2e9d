"""Event loops, also while a test blocks sockets, as those with pytest-socket do.

A loop wakes by a pair of sockets of its own: without them not even a simulated model would answer.
"""

from __future__ import annotations

import socket
from asyncio import AbstractEventLoop
from collections.abc import Callable

_Socket = socket.socket


def make_loop(make: Callable[[], AbstractEventLoop]) -> AbstractEventLoop:
    """Return the new event loop of a function, which is called with Python's own class of sockets."""
    replaced = socket.socket
    socket.socket = _Socket  # type: ignore[misc]
    try:
        return make()
    finally:
        socket.socket = replaced  # type: ignore[misc]

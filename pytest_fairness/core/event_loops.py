"""Event loops and their waits, also while a test blocks sockets or replaces `asyncio.sleep`.

A loop wakes by a pair of sockets of its own: without them, as with pytest-socket, not even a simulated model would
answer.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

_Socket = socket.socket
sleep = asyncio.sleep
"""The function of `asyncio`, as it was when this module was imported."""


def make_loop(make: Callable[[], asyncio.AbstractEventLoop]) -> asyncio.AbstractEventLoop:
    """Return the new event loop of a function, which is called with Python's own class of sockets."""
    replaced = socket.socket
    socket.socket = _Socket  # type: ignore[misc]
    try:
        return make()
    finally:
        socket.socket = replaced  # type: ignore[misc]

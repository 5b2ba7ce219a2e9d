"""Stand-in for a new Python process: the fork server starts its copy, and this process lives and ends as it does.

Runs as a script with ``-I -S``, so it must import only what is built in. A worker of xdist needs no such process: its
controller calls `start`.
"""

import _signal  # type: ignore[import-not-found]
import _socket
import marshal
import os
import sys

FORWARDED = (_signal.SIGINT, _signal.SIGTERM)


def start(address: str, arguments: tuple[str, ...], streams: tuple[int, int, int]) -> tuple[_socket.socket, int]:
    """Hand our folder, our environment, arguments and standard streams to the fork server.

    Return the connection, which yields the status at the end and kills the copy when it is closed, and the copy's id.
    """
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connection.connect(address)
    request = marshal.dumps((os.getcwd(), dict(os.environ), arguments))  # noqa: PTH109 - pathlib takes long to import
    handed = b"".join(descriptor.to_bytes(4, sys.byteorder) for descriptor in streams)
    connection.sendmsg([len(request).to_bytes(8, sys.byteorder)], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, handed)])
    connection.sendall(request)
    return connection, int.from_bytes(connection.recv(4), sys.byteorder)


def wait(connection: _socket.socket) -> int:
    """Wait for the end of the copy, and return its status: minus the number of a signal that ended it."""
    status = int.from_bytes(connection.recv(4), sys.byteorder, signed=True)
    connection.close()
    return status


def main(address: str, *arguments: str) -> None:
    """Start a copy, and live and end as it does; what interrupts us interrupts the copy."""
    connection, copy = start(address, arguments, (0, 1, 2))
    for number in FORWARDED:
        _signal.signal(number, lambda number, _: os.kill(copy, number))
    for descriptor in (0, 1):  # only the copy keeps the other ends open
        os.close(descriptor)
    if (status := wait(connection)) < 0:
        for number in FORWARDED:
            _signal.signal(number, _signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


if __name__ == "__main__":
    main(*sys.argv[1:])

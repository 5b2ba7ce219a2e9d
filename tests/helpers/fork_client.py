"""Stand-in for a new Python process: the fork server starts its copy, and this process lives and ends as it does.

Runs as a script with ``-I -S``, so it must import only what is built in.
"""

import _signal  # type: ignore[import-not-found]
import _socket
import marshal
import os
import sys

FORWARDED = (_signal.SIGINT, _signal.SIGTERM)


def main(address: str, *arguments: str) -> None:
    """Hand our folder, environment, arguments and standard streams to the fork server, then end as its copy does.

    What interrupts us interrupts the copy; the server kills it once we are gone.
    """
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connection.connect(address)
    request = marshal.dumps((os.getcwd(), dict(os.environ), arguments))  # noqa: PTH109 - pathlib takes long to import
    streams = b"".join(descriptor.to_bytes(4, sys.byteorder) for descriptor in (0, 1, 2))
    connection.sendmsg([len(request).to_bytes(8, sys.byteorder)], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
    connection.sendall(request)
    copy = int.from_bytes(connection.recv(4), sys.byteorder)
    for number in FORWARDED:
        _signal.signal(number, lambda number, _: os.kill(copy, number))
    for descriptor in (0, 1):  # only the copy keeps the other ends open
        os.close(descriptor)
    status = int.from_bytes(connection.recv(4), sys.byteorder, signed=True)
    if status < 0:
        for number in FORWARDED:
            _signal.signal(number, _signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


if __name__ == "__main__":
    main(*sys.argv[1:])

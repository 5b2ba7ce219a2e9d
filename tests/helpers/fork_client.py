"""Stand-in for a new Python process: the fork server starts its copy, this process lives as long as it does.

Runs as a script with ``-I -S``, so it must import only what is built in.
"""

import _signal  # type: ignore[import-not-found]
import _socket
import marshal
import os
import sys


def main(address: str, arguments: list[str]) -> int:
    """Hand our folder, environment and standard streams to the fork server, then wait for the end of its copy.

    With arguments, the copy runs pytest; what it is sent to interrupt us goes to the copy, and its exit code is ours.
    """
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connection.connect(address)
    request = marshal.dumps((os.getcwd(), dict(os.environ), arguments))  # noqa: PTH109 - pathlib takes long to import
    streams = b"".join(descriptor.to_bytes(4, sys.byteorder) for descriptor in (0, 1, 2))
    connection.sendmsg([len(request).to_bytes(8, sys.byteorder)], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
    connection.sendall(request)
    copy = int.from_bytes(connection.recv(4), sys.byteorder)
    if arguments:
        for number in (_signal.SIGINT, _signal.SIGTERM):
            _signal.signal(number, lambda number, _: os.kill(copy, number))
    for descriptor in (0, 1):  # only the copy keeps the other ends open
        os.close(descriptor)
    code = b""
    while received := connection.recv(1):
        code = received
    if arguments and not code:
        os.kill(os.getpid(), _signal.SIGKILL)  # as the copy was
    return code[0] if code else 0


if __name__ == "__main__":
    address, option, *rest = sys.argv[1:]
    sys.exit(main(address, rest if option == "-mpytest" else []))  # else execnet's line for workers, `-c`

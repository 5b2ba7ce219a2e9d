"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def partial_file(path: Path) -> Iterator[Path]:
    """Yield the path of a file that takes the place of another at the end, unless an error is raised.

    Args:
        path: The file to replace; its folder is made.

    Raises:
        OSError: It cannot be written.
    """
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield partial
        partial.replace(path)
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)

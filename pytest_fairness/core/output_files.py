"""Files at paths that users choose: written whole or not at all, and never over a file of another kind."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path

from pytest_fairness.core.errors import FairnessError

PAGE = '<meta name="generator" content="pytest-fairness '
RESULTS = '{\n "schema": '
"""Texts by which a page, and a results file, of this package are recognized."""
_HEAD = 2_000
"""The first bytes of a file, in which they are searched."""
_BEGINNING = re.compile(r".{1,12}\n?.{0,12}")
"""The beginning of any other text, by which files of the same kind are recognized."""


def refuse_others(path: Path, mark: str) -> None:
    """Raise `FairnessError`, in one line, where a path is no file, or a file that does not hold this mark."""
    try:
        if path.is_dir():
            raise FairnessError(f"{path} is a folder: name a file")
        if path.exists() and not path.is_file():
            raise FairnessError(f"{path} is no file: name one")
        with path.open("rb") if path.exists() else BytesIO() as file:
            head = file.read(_HEAD).decode("utf-8", "replace")
    except OSError as error:
        raise FairnessError(f"the file {path} cannot be written: {error.strerror}") from None
    if head and not (mark and mark in head.replace("\r\n", "\n")):
        raise FairnessError(f"{path} is there and was not written as such a file before: name another, or remove it")


def write_text(path: Path, text: str) -> None:
    """Write a text file in UTF-8, and its folder; an earlier file of the same kind is replaced.

    Raises `FairnessError`, in one line, where it cannot be written, or another file would be lost.
    """
    beginning = _BEGINNING.match(text)
    mark = next((mark for mark in (PAGE, RESULTS) if mark in text[:_HEAD]), None)
    refuse_others(path, mark or (beginning[0] if beginning else ""))
    try:
        with partial_file(path) as partial:
            # Lone surrogates are escaped, and lines end alike on every system: files are compared by their digests.
            partial.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
    except OSError as error:
        raise FairnessError(
            f"the file {path} cannot be written: {error.strerror}; what was measured is in the store"
        ) from None


@contextmanager
def partial_file(path: Path) -> Iterator[Path]:
    """Yield the path of a file that takes the place of another at the end, unless an error is raised.

    Args:
        path: The file to replace; its folder is made.

    Raises:
        OSError: It cannot be written.
    """
    target = Path(os.path.realpath(path))  # a link is written through, not replaced
    partial = target.with_name(f"{target.name}.{os.getpid()}.partial")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield partial
        partial.replace(target)
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)

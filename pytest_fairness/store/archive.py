"""Stores that cannot be written, such as those of archived runs on a read-only disk: they are read through a copy."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory

from pytest_fairness.core.errors import StoreError
from pytest_fairness.store.location import StoreLocation


@contextmanager
def readable(location: StoreLocation) -> Iterator[StoreLocation]:
    """Yield a location at which a store can be opened to be read: its own, or that of a copy which is removed.

    SQLite writes beside a file that it reads, and opening a store of an older version changes its layout.

    Raises:
        StoreError: The store can neither be written nor copied.
    """
    if not isinstance(location, Path) or all(os.access(path, os.W_OK) for path in (location, location.parent)):
        yield location
        return
    try:
        folder = TemporaryDirectory(prefix="fairness-store-", ignore_cleanup_errors=True)
    except OSError as error:
        raise _refusal(location, error) from None
    with folder as name:
        copy = Path(name) / location.name
        try:
            _copy(location, copy)
        except OSError as error:
            raise _refusal(location, error) from None
        try:
            yield copy
        except StoreError as error:
            raise StoreError(str(error).replace(str(copy), str(location))) from None


def _copy(file: Path, copy: Path) -> None:
    """Copy a store's file, and the one beside it that holds the last answers of a killed run."""
    copyfile(file, copy)
    last = file.with_name(f"{file.name}-wal")
    if last.exists():
        copyfile(last, copy.with_name(f"{copy.name}-wal"))


def _refusal(location: Path, error: OSError) -> StoreError:
    return StoreError(
        f"the store {location} cannot be written, nor copied to be read: {error.strerror or error}; make room for a "
        "copy in the folder of TMPDIR, or name a copy with --fairness-store"
    )

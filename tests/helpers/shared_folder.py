"""Folders that are filled once for all workers of a run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock


def shared_folder(request: pytest.FixtureRequest, name: str, fill: Callable[[Path], None]) -> Path:
    """Return the folder of this name, filled by the first worker that needs it; tests must only read it.

    Where ``fill`` raises or skips, the next one tries again in an empty folder.
    """
    factory: pytest.TempPathFactory = request.getfixturevalue("tmp_path_factory")
    base = factory.getbasetemp()
    # Each worker has a folder of its own in the folder of the run.
    base = base.parent if hasattr(request.config, "workerinput") else base
    marker = base / f"{name}.filled"
    with FileLock(base / f"{name}.lock"):
        if not marker.exists():
            folder = factory.mktemp(name)
            fill(folder)
            marker.write_text(str(folder), encoding="utf-8")
        return Path(marker.read_text(encoding="utf-8"))

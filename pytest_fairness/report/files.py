"""Files of a user's own choice, written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from pytest_fairness.core.errors import FairnessError


def write_text(path: Path, text: str) -> None:
    """Write a text file in UTF-8, with the folder that it stands in.

    Raises `FairnessError`, in one line, where it cannot be written.
    """
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(text, encoding="utf-8", errors="backslashreplace")  # half a character, as JSON has it
        partial.replace(path)
    except OSError as error:
        raise FairnessError(
            f"the file {path} cannot be written: {error.strerror}; what was measured is in the store"
        ) from None

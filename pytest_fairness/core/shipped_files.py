"""Files that are installed with the package, and stand beside it in a checkout."""

from __future__ import annotations

from pathlib import Path

from pytest_fairness.core.errors import FairnessError

_PACKAGE = Path(__file__).parents[1]


def shipped_file(*parts: str) -> Path:
    """Return the path of a shipped file.

    Args:
        parts: Its folders and name, below ``fixtures``.

    Raises:
        FairnessError: It is missing.

    >>> shipped_file("names", "en.csv").name
    'en.csv'
    """
    paths = [folder.joinpath("fixtures", *parts) for folder in (_PACKAGE, _PACKAGE.parent)]
    for path in paths:
        if path.is_file():
            return path
    raise FairnessError(f"{paths[0]} is missing: install pytest-fairness again")

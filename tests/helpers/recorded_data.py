"""Real recorded data, which the project does not carry: `PYTEST_FAIRNESS_DATA` names its folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("PYTEST_FAIRNESS_DATA", Path(__file__).parents[3] / "shared" / "data"))


def recorded_path(*parts: str) -> Path:
    """Return a file or folder of the recorded data; skip the test where it is missing."""
    path = FOLDER.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"no real data at {path}: set PYTEST_FAIRNESS_DATA")
    return path

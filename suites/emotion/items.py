"""The items: those of a frozen design, in words, or as addresses for a student that reads features."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_fairness import DataFolders, ProbeItem
from pytest_fairness.design import Frozen

DEFAULT = Path(__file__).parent / "data" / "design.json"
FILE = "design.json"
LANGUAGE_MODEL = "the student of this design is a language model: its gate is test_emotion.py"
"""The reason why a design without weights has no features to measure."""


def frozen_design(data: DataFolders | None = None) -> Frozen:
    """Return ``design.json`` in the folder ``emotion`` of the project; without, the suite's own."""
    folder = None if data is None else data.folder("emotion")
    return Frozen.read(DEFAULT if folder is None else folder / FILE)


def described(data: DataFolders | None = None) -> Iterator[ProbeItem]:
    """Yield pairs of the same words in the voices of both neurotypes, as text."""
    check_torch()
    return frozen_design(data).described_items()


def features(data: DataFolders | None = None) -> Iterator[ProbeItem]:
    """Yield the same pairs, for a student that reads features."""
    check_torch()
    frozen = frozen_design(data)
    if frozen.student["kind"] == "model":
        pytest.skip(LANGUAGE_MODEL)
    return frozen.feature_items()


def check_torch() -> None:
    """Skip the suite where the packages that generate features and read students are not installed."""
    for package in ("torch", "safetensors"):
        pytest.importorskip(package, reason=f"features need {package}: pip install './pytest-fairness[design]'")

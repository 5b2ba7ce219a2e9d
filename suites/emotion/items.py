"""The items: those of a frozen design, told in words or addressed for a student that reads features."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest

from pytest_fairness import ProbeItem
from pytest_fairness.design import Frozen

DEFAULT = Path(__file__).parent / "data" / "design.json"
FILE = "design.json"


class Folders(Protocol):
    """The data folders that the user named."""

    def folder(self, suite: str) -> Path | None: ...


def frozen_of(data: Folders | None = None) -> Frozen:
    """``design.json`` in the folder of ``--fairness-data emotion=DIR``; without, the suite's own."""
    folder = None if data is None else data.folder("emotion")
    return Frozen.read(DEFAULT if folder is None else folder / FILE)


def described(data: Folders | None = None) -> Iterator[ProbeItem]:
    """Pairs of the same words in the voices of both neurotypes, as text."""
    check_torch()
    return frozen_of(data).described_items()


def features(data: Folders | None = None) -> Iterator[ProbeItem]:
    """The same pairs, for a student that reads features."""
    check_torch()
    return frozen_of(data).feature_items()


def check_torch() -> None:
    """Skip where what generates features and reads students is not installed."""
    for package in ("torch", "safetensors"):
        pytest.importorskip(package, reason=f"features need {package}: pip install './pytest-fairness[design]'")

"""Paths of the real data, and a separate cache for the datasets library."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.helpers.recorded_data import recorded_path

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def bbq_data() -> Path:
    """Return real BBQ items and predictions, which the project does not carry."""
    return recorded_path("bbq")


@pytest.fixture(scope="session")
def recorded_pairs() -> Path:
    """Return real runs of question pairs, which the project does not carry."""
    return recorded_path("bbq_pairs")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep files of the datasets library out of the user's home; it takes seconds to import, and few tests need it."""
    cache = tmp_path_factory.getbasetemp() / "datasets"
    if (config := sys.modules.get("datasets.config")) is not None:
        monkeypatch.setattr(config, "HF_DATASETS_CACHE", cache)
    monkeypatch.setenv("HF_DATASETS_CACHE", str(cache))

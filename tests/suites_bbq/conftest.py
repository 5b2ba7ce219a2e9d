"""Where the real data is, and a cache of its own for the datasets library."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def real(name: str) -> Path:
    folder = Path(os.environ.get("PYTEST_FAIRNESS_DATA", ROOT.parent / "shared" / "data")) / name
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}: set PYTEST_FAIRNESS_DATA")
    return folder


@pytest.fixture(scope="session")
def bbq_data() -> Path:
    """Real BBQ items and predictions, which the project does not carry."""
    return real("bbq")


@pytest.fixture(scope="session")
def recorded_pairs() -> Path:
    """Real runs of question pairs, which the project does not carry."""
    return real("bbq_pairs")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeps what the datasets library writes out of the user's home."""
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path_factory.getbasetemp() / "datasets")

"""Where the real data is, and a cache of its own for the datasets library."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def bbq_data() -> Path:
    """Real BBQ items and predictions, which the project does not carry."""
    folder = Path(os.environ.get("PYTEST_FAIRNESS_DATA", ROOT.parent / "shared" / "data")) / "bbq"
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}: set PYTEST_FAIRNESS_DATA")
    return folder


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeps what the datasets library writes out of the user's home."""
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path_factory.getbasetemp() / "datasets")

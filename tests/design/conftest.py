"""Libraries that all tests of designed benchmarks need."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session", autouse=True)
def _torch() -> None:
    """Skip where torch is not installed."""
    pytest.importorskip("torch", reason="designed benchmarks need torch")
    pytest.importorskip("safetensors", reason="frozen benchmarks need safetensors")

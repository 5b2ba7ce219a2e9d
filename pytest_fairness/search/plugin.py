"""The pytest11 entry point of searches, which every run of pytest loads: it imports next to nothing."""

from __future__ import annotations

import pytest


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register the fixture `flips`, after the plugin of pytest-fairness has started."""
    from pytest_fairness.extending import add_query_fixture
    from pytest_fairness.search import fixture

    add_query_fixture(config, "flips", fixture)

"""The pytest side: options, marks, collection, fixtures, thresholds, summary, dry runs.

This module is the pytest11 entry point: projects that do not use the plugin import little else.
"""

from __future__ import annotations

import pytest

from pytest_fairness.core.garbage_collection import paused_collection
from pytest_fairness.plugin.compat import import_without_rewriting


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare the options."""
    import_without_rewriting(pluginmanager, "pytest_fairness")
    from pytest_fairness.plugin.config.options import add_options

    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Register fixtures and hooks."""
    with paused_collection():
        from pytest_fairness.plugin.hooks.startup import start

    start(config)

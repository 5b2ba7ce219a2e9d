"""The pytest11 entry point. It imports what a project that does not use it must pay for: next to nothing."""

from __future__ import annotations

import pytest

from pytest_fairness.session.options import add_options


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare every option."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Bring in the fixtures and the hooks of a run."""
    from pytest_fairness.session import fixtures
    from pytest_fairness.session.compat import let_others_override
    from pytest_fairness.session.startup import start

    config.pluginmanager.register(fixtures, "fairness-fixtures")
    let_others_override(config.pluginmanager)
    config.pluginmanager.register(start(config), "fairness-run")

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
    from pytest_fairness.session.startup import start

    config.pluginmanager.register(fixtures, "fairness-fixtures")
    # Of plugins' fixtures of one name pytest takes those registered last; ours are meant to be overridden, so they go
    # first. pytest has no public way; checked with pluggy 1.7.
    history = getattr(config.pluginmanager.hook.pytest_plugin_registered, "_call_history", None)
    if history:
        history.insert(0, history.pop())
    config.pluginmanager.register(start(config), "fairness-run")

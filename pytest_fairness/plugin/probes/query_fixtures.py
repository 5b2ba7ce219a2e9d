"""Fixtures of other plugins that ask models, such as a search: the tests that take one are run as this plugin's own."""

from __future__ import annotations

import pytest

from pytest_fairness.plugin.compat import allow_fixture_overrides

QUERY_FIXTURES: pytest.StashKey[set[str]] = pytest.StashKey()
"""The names of the fixtures; the key is missing where this plugin is blocked."""


def add_query_fixture(config: pytest.Config, name: str, plugin: object) -> None:
    """Register a plugin with a fixture that asks models. Call it in ``pytest_configure``, after this plugin's own.

    The tests that take the fixture run for each model of the run. The fixture gets a parameter, the definitions of the
    `model`, `grader` and `judge` fixtures that the test sees, so it must be of the scope module.

    Args:
        config: The configuration of pytest.
        name: The name of the fixture.
        plugin: The module or object with the fixture and its hooks.
    """
    names = config.stash.get(QUERY_FIXTURES, None)
    if names is None:
        return
    names.add(name)
    config.pluginmanager.register(plugin, f"fairness-{name}")
    allow_fixture_overrides(config.pluginmanager)


def find_query_fixtures(node: pytest.Item | pytest.Metafunc) -> set[str]:
    """Return the names of the fixtures that ask models, of those that a test takes."""
    return node.config.stash.get(QUERY_FIXTURES, set()).intersection(getattr(node, "fixturenames", ()))


def asks_models(item: pytest.Item) -> bool:
    """Return whether a test takes a fixture that asks models."""
    # Another plugin may have a fixture of the same name.
    return bool(find_query_fixtures(item)) and "model_name" in getattr(item, "fixturenames", ())

"""Marked tests: the probe, item and model of each, read from its marks, parameters and fixtures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeGuard, cast
from unittest import TestCase

import pytest

from pytest_fairness.plugin.probes.identity import (
    CollectionError,
    ItemParameter,
    get_sample,
    visible_fixtures,
)
from pytest_fairness.plugin.probes.markers import own_marks
from pytest_fairness.plugin.probes.probe import Probe


def is_test_case(item: pytest.Function) -> bool:
    """Return whether a test is a method of a `unittest.TestCase`."""
    return item.cls is not None and issubclass(item.cls, TestCase)


def get_model_name(item: pytest.Function) -> str | None:
    """Return the name of the model under test; None if none is named."""
    return cast("str | None", item.callspec.params.get("model_name") if hasattr(item, "callspec") else None)


def uses_model_name(test: pytest.Item) -> bool:
    """Return whether the `model` fixture of a test depends on the models of the run: an override may test another."""
    names = [name for fixture in visible_fixtures(test, ("model",)).values() for name in fixture.argnames]
    return not {"model", "model_name", "request", "pytestconfig"}.isdisjoint(names)


def uses_named_model(item: pytest.Function) -> bool:
    """Return whether a test uses the plugin's own `model` fixture, not an override."""
    return "model" in item.fixturenames and is_not_overridden(item, "model")


def is_not_overridden(item: pytest.Function, name: str) -> bool:
    """Return whether a fixture that a test sees is the plugin's own."""
    fixture = visible_fixtures(item, [name]).get(name)
    return fixture is not None and getattr(fixture.func, "__module__", "") == "pytest_fairness.plugin.hooks.fixtures"


def get_item_parameter(item: pytest.Function) -> ItemParameter | CollectionError | None:
    """Return the parameter of a probe's test: its item; None for any other test."""
    if not own_marks(item).probe or not hasattr(item, "callspec"):
        return None
    return cast("ItemParameter | CollectionError | None", item.callspec.params.get("probe_item"))


def is_marked(item: pytest.Item) -> TypeGuard[pytest.Function]:
    """Return whether a test belongs to a probe or is a threshold."""
    if not isinstance(item, pytest.Function):
        return False
    marks = own_marks(item)
    return marks.probe or marks.threshold


def is_threshold(item: pytest.Item) -> TypeGuard[pytest.Function]:
    """Return whether a test is marked ``threshold``."""
    return isinstance(item, pytest.Function) and own_marks(item).threshold


def selected_probes(items: Iterable[pytest.Item]) -> list[Probe]:
    """Return the different probes of the selected tests."""
    return list({id(sample.probe): sample.probe for sample in map(get_sample, items) if sample is not None}.values())

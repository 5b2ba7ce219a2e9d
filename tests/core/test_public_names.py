"""Names of the public modules, which are loaded on their first use."""

from __future__ import annotations

from collections import Counter
from dataclasses import is_dataclass
from importlib import import_module
from typing import get_type_hints

import pytest

import pytest_fairness
from tests.architecture.test_rooms import PUBLIC


@pytest.mark.parametrize("module", PUBLIC)
def test_modules_show_their_public_names_only(module: str) -> None:
    namespace = import_module(module)
    assert dir(namespace) == sorted(namespace.__all__)
    assert all(getattr(namespace, name) for name in namespace.__all__)


def test_root_has_at_most_30_names() -> None:
    assert len(pytest_fairness.__all__) <= 30


def test_a_name_has_one_place_besides_the_root() -> None:
    places = {module: set(import_module(module).__all__) for module in PUBLIC}
    root = places.pop("pytest_fairness")
    assert set(Counter(name for names in places.values() for name in names).values()) == {1}
    assert not root & (places["pytest_fairness.tables"] | places["pytest_fairness.extending"])
    graders = {name for name in root if getattr(pytest_fairness, name).__module__.startswith("pytest_fairness.graders")}
    assert graders <= places["pytest_fairness.graders"]


@pytest.mark.parametrize(
    ("module", "name", "message"),
    [
        ("pytest_fairness", "read_anchors", "it is in pytest_fairness.graders"),
        ("pytest_fairness", "lint", "it is in pytest_fairness.counterfactual"),
        ("pytest_fairness", "RecordedTable", "it is in pytest_fairness.tables"),
        ("pytest_fairness", "Exporter", "it is in pytest_fairness.extending"),
        ("pytest_fairness", "any_name", "it is in pytest_fairness.search"),
        ("pytest_fairness.graders", "Grader", "it is in pytest_fairness.extending"),
        ("pytest_fairness.extending", "Prompt", "it is in pytest_fairness"),
        ("pytest_fairness.graders", "Anchor", "did you mean Anchors?"),
    ],
)
def test_misplaced_names_are_refused_with_their_place(module: str, name: str, message: str) -> None:
    with pytest.raises(ImportError) as imported:
        exec(f"from {module} import {name}", {})  # noqa: S102 - the statement that a user writes
    assert str(imported.value) == f"cannot import name {name!r} from {module!r}: {message}"
    with pytest.raises(AttributeError) as accessed:
        getattr(import_module(module), name)
    assert str(accessed.value) == f"module {module!r} has no attribute {name!r}: {message}"


def test_fields_of_public_dataclasses_have_types_that_resolve() -> None:
    """Regression: pydantic could not validate an `Answer`, whose tool calls were imported for type checkers only."""
    public = {name: getattr(import_module(module), name) for module in PUBLIC for name in import_module(module).__all__}
    del public["RunResults"], public["View"]  # whole documents, which only this package makes and reads
    assert all(get_type_hints(kind) for kind in public.values() if is_dataclass(kind))

"""The names that ``pytest_fairness`` loads on their first use."""

from __future__ import annotations

from dataclasses import is_dataclass
from typing import get_type_hints

import pytest_fairness


def test_public_names_are_listed_before_their_first_use() -> None:
    assert set(pytest_fairness.__all__) <= set(dir(pytest_fairness))


def test_fields_of_public_dataclasses_have_types_that_resolve() -> None:
    """Regression: pydantic could not validate an `Answer`, whose tool calls were imported for type checkers only."""
    public = [getattr(pytest_fairness, name) for name in pytest_fairness.__all__]
    assert all(get_type_hints(kind) for kind in public if is_dataclass(kind))

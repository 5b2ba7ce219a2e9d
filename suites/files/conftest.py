"""The grader of stated facts: keys, and for facts without them the `judge` where one is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .graders import JudgedStated, Stated

if TYPE_CHECKING:
    from pytest_fairness import Model


@pytest.fixture(scope="session")
def stated(optional_judge: Model | None) -> Stated | JudgedStated:
    """Return the grader of the facts that an answer states: by keys alone where no judge is named."""
    return Stated() if optional_judge is None else JudgedStated(optional_judge)

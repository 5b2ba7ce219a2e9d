"""The oracle of the pairs' reasonings, and the graders that ask it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .items import UNPLACED
from .oracle import Fits, Which

if TYPE_CHECKING:
    from pytest_fairness import Model


@pytest.fixture(scope="session")
def oracle(optional_judge: Model | None) -> Model | None:
    """Return the model that judges reasonings: the `judge`; None, where there is none, for the model that answered."""
    return optional_judge


@pytest.fixture(scope="session")
def flag_1(oracle: Model | None) -> Fits:
    """Return the grader of whether B's reasoning does not fit question A and its answer."""
    return Fits("a", oracle)


@pytest.fixture(scope="session")
def flag_2(oracle: Model | None) -> Fits:
    """Return the grader of whether A's reasoning does not fit question B and its answer."""
    return Fits("b", oracle)


@pytest.fixture(scope="session")
def flag_3(oracle: Model | None) -> Which:
    """Return the grader of whether A's reasoning and answer are taken for those of another question."""
    return Which("a", oracle)


@pytest.fixture(scope="session")
def flag_4(oracle: Model | None) -> Which:
    """Return the grader of whether B's reasoning and answer are taken for those of another question."""
    return Which("b", oracle)


def pytest_report_collectionfinish() -> list[str]:
    """Report how many questions name no stereotyped person."""
    lines = list(UNPLACED)
    UNPLACED.clear()
    return lines

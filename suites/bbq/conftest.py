"""The oracle of the pairs' reasonings, and the graders that ask it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .items import UNPLACED
from .oracle import FitFlag, QuestionFlag

if TYPE_CHECKING:
    from pytest_fairness import Model


@pytest.fixture(scope="session")
def oracle(optional_judge: Model | None) -> Model | None:
    """Return the model that judges reasonings: the `judge`; None, where there is none, for the model that answered."""
    return optional_judge


@pytest.fixture(scope="session")
def flag_1(oracle: Model | None) -> FitFlag:
    """Return the grader of whether B's reasoning does not fit question A and its answer."""
    return FitFlag("a", oracle)


@pytest.fixture(scope="session")
def flag_2(oracle: Model | None) -> FitFlag:
    """Return the grader of whether A's reasoning does not fit question B and its answer."""
    return FitFlag("b", oracle)


@pytest.fixture(scope="session")
def flag_3(oracle: Model | None) -> QuestionFlag:
    """Return the grader of whether A's reasoning and answer are taken for those of another question."""
    return QuestionFlag("a", oracle)


@pytest.fixture(scope="session")
def flag_4(oracle: Model | None) -> QuestionFlag:
    """Return the grader of whether B's reasoning and answer are taken for those of another question."""
    return QuestionFlag("b", oracle)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip the pairs for a replay of BBQ's predictions: `pytest suites/bbq` then judges the questions alone."""
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    provider, _, name = (parameters.get("model_name") or "").partition(":")
    path = item.config.rootpath / name
    if item.path.name == "test_pairs.py" and provider == "replay" and path.is_file():
        with path.open(encoding="utf-8", errors="replace") as lines:
            if '"asked"' not in next(lines, ""):
                pytest.skip(f"{name} holds no recorded pairs: make it with pytest-fairness import bbq-pairs")


def pytest_report_collectionfinish() -> list[str]:
    """Report how many questions name no stereotyped person."""
    lines = list(UNPLACED)
    UNPLACED.clear()
    return lines

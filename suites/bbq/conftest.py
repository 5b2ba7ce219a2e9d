"""The oracle of the pairs' reasonings, and the graders that ask it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .oracle import Fits, Which

if TYPE_CHECKING:
    from pytest_fairness.core.protocols import Model
    from pytest_fairness.session.state import FairnessSession


@pytest.fixture(scope="session")
def oracle(request: pytest.FixtureRequest, fairness_session: FairnessSession) -> Model | None:
    """The model that judges reasonings: the `judge`; None, where there is none, for the model that answered."""
    if fairness_session.settings.judge is not None:
        return fairness_session.as_model(request.getfixturevalue("judge"), None)
    try:
        judge = request.getfixturevalue("judge")
    except pytest.fail.Exception:  # none is named, and nobody has overridden the fixture
        return None
    return fairness_session.as_model(judge, None)


@pytest.fixture(scope="session")
def flag_1(oracle: Model | None) -> Fits:
    """Whether B's reasoning does not fit question A and its answer."""
    return Fits("a", oracle)


@pytest.fixture(scope="session")
def flag_2(oracle: Model | None) -> Fits:
    """Whether A's reasoning does not fit question B and its answer."""
    return Fits("b", oracle)


@pytest.fixture(scope="session")
def flag_3(oracle: Model | None) -> Which:
    """Whether A's reasoning and answer are taken for those of another question."""
    return Which("a", oracle)


@pytest.fixture(scope="session")
def flag_4(oracle: Model | None) -> Which:
    """Whether B's reasoning and answer are taken for those of another question."""
    return Which("b", oracle)

"""The grader of condescension: rules, and the `judge` where one is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_fairness import Judge
from pytest_fairness.graders import JudgeFallback

from .tone import RUBRIC, TalksDown

if TYPE_CHECKING:
    from pytest_fairness import Model


@pytest.fixture(scope="session")
def talks_down(optional_judge: Model | None) -> JudgeFallback:
    """Return the grader of whether an answer talks down: by phrases alone where no judge is named."""
    return JudgeFallback(TalksDown(is_judged=optional_judge is not None), Judge(RUBRIC), {"yes": True, "no": False})

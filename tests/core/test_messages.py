"""Messages of thresholds that are not fair."""

from __future__ import annotations

import pytest

from pytest_fairness.core.messages import explanation
from pytest_fairness.core.verdicts import judge
from tests.core.test_dependence import estimate


@pytest.mark.parametrize(
    ("value", "begin"), [(0.5, "unfair: 0.500 (95% CI 0.400 to 0.600), must be"), (0.95, "invalid: one answer; rate")]
)
def test_numbers_of_a_suspect_estimate_are_in_the_message_of_unfair_only(value: float, begin: str) -> None:
    suspect = estimate("rate", value, suspect="one answer")

    def threshold() -> None:
        assert suspect >= 0.8

    assert explanation(judge(threshold)).startswith(begin)

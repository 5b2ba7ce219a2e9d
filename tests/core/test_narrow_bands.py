"""Two bounds that are closer together than an interval is wide: no value is fair, and the advice says so."""

from __future__ import annotations

import pytest

from pytest_fairness.core.decisions import Verdict
from pytest_fairness.core.messages import advice, explanation
from pytest_fairness.core.verdicts import judge
from pytest_fairness.stats.measured import Measured

WORDS = "no value can be fair at this size"


def advice_between(low: float, high: float, items: int, kind: str) -> str:
    """Return the advice on a difference or ratio of two groups that are alike, held between two bounds."""
    rows = [
        {"item": n, "sex": sex, "hired": (n + shift) % 4 < 2}
        for n in range(items)
        for sex, shift in (("f", 0), ("m", 1))
    ]
    measured = Measured.from_rows(rows, item="item", groups=["sex"])

    def threshold() -> None:
        assert low <= getattr(measured, kind)("hired", by="sex", of="f", to="m") <= high

    judgment = judge(threshold)
    assert judgment.verdict is Verdict.UNDECIDED
    assert (WORDS in explanation(judgment)) == (WORDS in advice(judgment))
    return advice(judgment)


@pytest.mark.parametrize(("kind", "low", "high"), [("difference", -0.01, 0.01), ("ratio", 0.98, 1.02)])
def test_narrow_bounds_are_named(kind: str, low: float, high: float) -> None:
    assert f"the interval is wider than {low:g} to {high:g}: {WORDS}" in advice_between(low, high, 40, kind)


@pytest.mark.parametrize(("kind", "low", "high"), [("difference", -0.01, 0.5), ("ratio", 0.98, 3.0)])
def test_wide_bounds_are_not_called_narrow(kind: str, low: float, high: float) -> None:
    assert WORDS not in advice_between(low, high, 40, kind)

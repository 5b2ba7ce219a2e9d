"""`decide`: the verdict of a threshold, asked for in a notebook."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fairness import Measured
from pytest_fairness.core.decisions import OPERATORS, Verdict
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.estimate_families import EstimateFamily
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.verdicts import judge


def sample(rates: dict[str, float], items: int = 200) -> Measured:
    """Return a sample whose groups have so many positives, spread evenly over the items."""
    rows = [
        {"item": n, "group": group, "yes": (n * 0.618034) % 1 < rate}
        for n in range(items)
        for group, rate in rates.items()
    ]
    return Measured.from_rows(rows, item="item", groups=["group"])


def test_estimate_is_decided_by_its_interval() -> None:
    rate = sample({"a": 0.1}).rate("yes")
    assert [rate.decide("<=", bound) for bound in (0.2, 0.11, 0.05)] == ["fair", "undecided", "unfair"]
    assert sample({"a": 0.1}).where(group="b").rate("yes").decide("<=", 0.2) is Verdict.INVALID
    assert [sample({"a": 0.1}).rate("yes").decide(*claim) for claim in (("<=", 5), (">=", 0))] == ["invalid"] * 2


def test_end_of_the_interval_holds_in_weak_comparisons_alone() -> None:
    rate = sample({"a": 0.3}).rate("yes")
    at_low, at_high = ({op: rate.decide(op, end) for op in sorted(OPERATORS)} for end in (rate.low, rate.high))
    assert at_low == {"<": "unfair", "<=": "undecided", ">": "undecided", ">=": "fair"}
    assert at_high == {"<": "undecided", "<=": "fair", ">": "unfair", ">=": "undecided"}


def test_all_members_of_a_family_must_hold() -> None:
    ratios = sample({"a": 0.5, "b": 0.5, "c": 0.25}).ratios("yes", by="group")
    assert ratios["a/b"].decide(">=", 0.8) is Verdict.FAIR
    assert ratios.decide(">=", 0.8) is Verdict.UNFAIR


def test_invalid_member_decides_before_an_undecided_one() -> None:
    undecided = Estimate("rate", "rate", value=0.5, low=0.1, high=0.9)
    invalid = Estimate("rate", "rate", value=0.5, low=0.4, high=0.6, invalid="too few answers")
    for members in ({"a": undecided, "b": invalid}, {"a": invalid, "b": undecided}):
        assert EstimateFamily(members).deciding("<=", 0.55) is invalid


@settings(deadline=None, derandomize=True, database=None)
@given(
    rates=st.tuples(st.floats(0.02, 0.98), st.floats(0.02, 0.98)),
    op=st.sampled_from(sorted(OPERATORS)),
    bound=st.floats(0.3, 1.5),
    family=st.booleans(),
)
def test_decide_agrees_with_a_threshold(rates: tuple[float, float], op: str, bound: float, *, family: bool) -> None:
    measured = sample(dict(zip("ab", rates, strict=True)), items=60)

    def estimate() -> Estimate | EstimateFamily:
        return measured.ratios("yes", by="group") if family else measured.ratio("yes", by="group", of="a", to="b")

    def test() -> None:
        assert OPERATORS[op](estimate(), bound)  # type: ignore[arg-type]

    assert estimate().decide(op, bound) is judge(test).verdict


@pytest.mark.parametrize("op", ["==", "!=", "=<", ""])
def test_other_operators_are_refused(op: str) -> None:
    with pytest.raises(FairnessError, match="write one of <, <=, >, >="):
        sample({"a": 0.1}).rate("yes").decide(op, 0.1)


@pytest.mark.parametrize("bound", [float("nan"), float("inf"), True, "0.1"])
def test_bound_must_be_a_finite_number(bound: object) -> None:
    with pytest.raises(TypeError, match="a finite number"):
        sample({"a": 0.1}).rate("yes").decide("<=", bound)  # type: ignore[arg-type]


def test_threshold_cannot_hide_a_comparison_in_decide() -> None:
    rate = sample({"a": 0.9}).rate("yes")

    def test() -> None:
        assert rate.decide("<=", 0.2) is not Verdict.UNFAIR or rate >= 0.1

    judgment = judge(test)
    assert judgment.verdict is Verdict.INVALID
    assert "write `assert ... <= 0.2` in a threshold" in judgment.reason

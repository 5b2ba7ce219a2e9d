"""Differences and rates that are judged together."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import studentized_range  # type: ignore[import-untyped]

from pytest_fairness.core.comparisons import compare
from pytest_fairness.core.decisions import Decision
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.stats.columns import Columns
from pytest_fairness.stats.measured import Measured

Rows = list[dict[str, Any]]
Make = Callable[..., Measured]

GROUPS = "abcde"
ITEMS = 120


def scores(seed: int, **gaps: float) -> Measured:
    """Return a sample of five groups in every item; a group's mean is lower by its gap."""
    generator = np.random.default_rng(seed)
    item, code = np.repeat(np.arange(ITEMS), 5), np.tile(np.arange(5), ITEMS)
    lower = np.array([gaps.get(group, 0.0) for group in GROUPS])
    values = generator.normal(0, 0.3, ITEMS)[item] - lower[code] + generator.normal(0, 0.1, len(item))
    columns = Columns.from_arrays(item.tolist(), {"score": values}, {"group": [GROUPS[c] for c in code]})
    return Measured.from_columns(columns)


def test_order_of_rows_moves_no_simultaneous_end() -> None:
    """Regression: eigenvectors have another sign or direction by rounding, which moved ends by up to 4%."""
    rows = [
        {"item": item, "group": group, "score": 1 + (item + code**2 + item**2 * code) % 4}
        for item in range(5)
        for code, group in enumerate("abc")
    ]
    generator = np.random.default_rng(0)
    ends = []
    for _ in range(3):
        shuffled = [rows[index] for index in generator.permutation(len(rows))]
        measured = Measured.from_rows(shuffled, item="item", groups=["group"], extremes={"score": lambda _: (0, 9)})
        family = measured.differences("score", by="group")
        ends.append([end for key in family for end in family[key].strict_ends])
    assert ends[1:] == [pytest.approx(ends[0])] * 2


def test_all_pairs_are_larger_minus_smaller() -> None:
    measured = scores(1, c=0.2)
    family = measured.differences("score", by="group")
    assert len(family) == 10
    assert {"a-c", "b-c", "d-c", "e-c"} < set(family)
    alone = measured.difference("score", by="group", of="a", to="c")
    assert (family["a-c"].value, family["a-c"].low, family["a-c"].high) == (alone.value, alone.low, alone.high)
    assert family["a-c"].metric == alone.metric
    for member in map(family.__getitem__, family):
        assert 0 <= member.low <= member.value <= member.high


def test_difference_of_unknown_sign_starts_at_zero() -> None:
    measured = scores(2)
    name, member = next((n, m) for n, m in scores(2).differences("score", by="group").items() if m.low == 0)
    alone = measured.difference("score", by="group", of=name[0], to=name[2])
    assert member.high == max(alone.high, -alone.low)


def test_unfair_claims_use_a_wider_interval() -> None:
    member = scores(1, c=0.2).differences("score", by="group")["a-c"]
    assert member.strict_low is not None
    # Tukey's studentized range for five groups over root two; each pair is two claims, one each way round.
    tukey = studentized_range.ppf(0.975, 5, 119) / math.sqrt(2)
    assert (member.value - member.strict_low) / (member.value - member.low) == pytest.approx(tukey / 1.98, rel=0.04)


def test_one_bound_decides_a_family() -> None:
    assert compare(scores(1).differences("score", by="group"), "<=", 0.1).decision is Decision.TRUE
    assert compare(scores(1, c=0.3).differences("score", by="group"), "<=", 0.1).decision is Decision.FALSE
    assert compare(scores(1, c=0.1).differences("score", by="group"), "<=", 0.1).decision is Decision.UNDECIDED


@pytest.mark.slow
def test_family_on_the_bound_is_seldom_decided() -> None:
    """Shift one group by the bound, so four differences are on it; of 100 runs 2.5 are expected, 9 are unlikely."""
    decisions = [
        compare(scores(seed, c=0.1).differences("score", by="group"), "<=", 0.1).decision for seed in range(100)
    ]
    assert decisions.count(Decision.FALSE) < 9
    assert decisions.count(Decision.TRUE) < 9


def test_single_group_has_no_difference(of_rows: Make) -> None:
    rows = [{"item": n, "group": "a", "yes": n % 2} for n in range(20)]
    member = of_rows(rows).differences("yes", by="group")["group"]
    assert member.invalid == "group has 1 group: a comparison needs two"
    assert member.metric == "difference(yes; group)"


def test_rates_of_several_values_are_judged_together(of_rows: Make) -> None:
    rows = [{"item": n, "group": "x", "chosen": "aabbc"[n % 5]} for n in range(200)]
    measured = of_rows(rows)
    family = measured.rates("chosen", equals=["a", "b", "c"])
    alone = measured.rate("chosen", equals="c")
    assert list(family) == ["a", "b", "c"]
    assert (family["c"].value, family["c"].low, family["c"].high) == (alone.value, alone.low, alone.high)
    assert alone.ends_at is not None
    assert (family["c"].strict_low, family["c"].strict_high) == pytest.approx(alone.ends_at(0.025 / 3))
    assert compare(family, ">=", 0.1).decision is Decision.TRUE
    assert compare(family, ">=", 0.3).decision is Decision.FALSE


def test_rates_need_a_value(of_rows: Make) -> None:
    with pytest.raises(FairnessError, match=r"equals is \[\]: name the values"):
        of_rows([{"item": 1, "group": "x", "chosen": "a"}]).rates("chosen", equals=[])

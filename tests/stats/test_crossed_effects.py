"""Names that recur over items."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.stats.columns import Columns
from pytest_fairness.stats.linear_estimate import LinearEstimate
from pytest_fairness.stats.measured import Measured
from tests.helpers.examples import examples

Rows = list[dict[str, Any]]


def applications(names: int, effect: float, items: int = 100, seed: int = 0) -> Rows:
    generator = np.random.default_rng(seed)
    effects = generator.normal(0, effect, (2, names))
    rows: Rows = []
    for item in range(items):
        ease = generator.normal()
        for group in (0, 1):
            for name in range(names):
                chance = 1 / (1 + np.exp(-ease - effects[group, name]))
                rows.append(
                    {
                        "item": item,
                        "gender": "fm"[group],
                        "name": f"{'fm'[group]}{name}",
                        "yes": generator.random() < chance,
                    }
                )
    return rows


def ratio(rows: Rows, crossed: str | None) -> Any:
    without = rows if crossed else [{k: v for k, v in row.items() if k != "name"} for row in rows]
    measured = Measured.from_rows(without, item="item", groups=["gender"], crossed=crossed)
    return measured.ratio("yes", by="gender", of="f", to="m")


def test_crossed_factor_widens_the_interval_by_its_variation() -> None:
    rows = applications(6, 0.8)
    plain, crossed = ratio(rows, None), ratio(rows, "name")
    assert crossed.value == plain.value
    assert crossed.error > 2 * plain.error
    assert crossed.df <= 12 - 2
    f, m = (np.array([np.mean([r["yes"] for r in rows if r["name"] == f"{g}{n}"]) for n in range(6)]) for g in "fm")
    names_alone = np.sqrt(f.var(ddof=1) / 6 / f.mean() ** 2 + m.var(ddof=1) / 6 / m.mean() ** 2) * plain.value
    assert crossed.error == pytest.approx(names_alone, rel=0.1)


@pytest.mark.slow
def test_crossed_error_is_never_below_clustering_by_item() -> None:
    for seed in range(10):
        rows = applications(8, 0.0, seed=seed)
        assert ratio(rows, "name").error >= ratio(rows, None).error - 1e-12


def test_one_name_per_group_is_invalid() -> None:
    assert "only one level of the crossed factor of f" in ratio(applications(1, 0.5), "name").invalid


def test_unknown_factor_is_refused() -> None:
    with pytest.raises(FairnessError, match="no column 'nmae': did you mean 'name'"):
        Measured.from_rows(applications(2, 0.0, items=5), item="item", groups=["gender"], crossed="nmae")


def test_family_of_crossed_groups_has_a_wider_strict_interval() -> None:
    rows = applications(6, 0.5)
    rows += [row | {"gender": "x", "name": f"x{row['name']}"} for row in applications(6, 0.5, seed=5)[::2]]
    measured = Measured.from_rows(rows, item="item", groups=["gender"], crossed="name")
    family = measured.ratios("yes", by="gender")
    for name in family:
        estimate = family[name]
        assert estimate.strict_low is not None
        assert estimate.strict_low < estimate.low


def test_custom_metric_uses_crossed_factors() -> None:
    rows = applications(6, 0.8)
    for crossed in ("name", None):
        table = rows if crossed else [{k: v for k, v in row.items() if k != "name"} for row in rows]
        measured = Measured.from_rows(table, item="item", groups=["gender"], crossed=crossed)
        own = measured.metric(lambda s: s.yes / s.all, yes="yes", all=lambda _: 1)
        assert own.error == pytest.approx(measured.mean("yes").error)


def alike(
    items: int, names: int, *, noise: float = 0.0, binary: bool = False, seed: int = 0, scale: float = 1.0
) -> Measured:
    """Return a sample in which each item has one answer whatever the name, but for noise."""
    generator = np.random.default_rng(seed)
    scores = np.broadcast_to(scale * generator.uniform(0.2, 0.6, (items, 1, 1)), (items, 2, names))
    scores = scores + generator.uniform(-noise, noise, scores.shape)
    item, group, name = np.indices(scores.shape).reshape(3, -1)
    labels = {
        "gender": ["fm"[code] for code in group],
        "name": [f"{'fm'[code]}{level}" for code, level in zip(group, name, strict=True)],
    }
    grades = {"score": (scores > 0.4).astype(float).ravel() if binary else scores.ravel()}
    return Measured.from_columns(Columns.from_arrays(item.tolist(), grades, labels, crossed="name"))


@examples(20)
@given(
    seed=st.integers(0, 10**6),
    items=st.integers(10, 60),
    names=st.integers(2, 29),
    noise=st.sampled_from([0.0, 0.01]),
)
def test_harm_to_a_name_may_be_unseen(seed: int, items: int, names: int, noise: float) -> None:
    measured = alike(items, names, noise=noise, seed=seed, scale=0.1)
    share = 1 - 0.025 ** (1 / names)
    rate = measured.where(gender="f").mean("score").value
    gap = measured.difference("score", by="gender", of="f", to="m")
    assert gap.low <= gap.value - share * rate + 1e-12
    ratio = measured.ratio("score", by="gender", of="f", to="m")
    assert ratio.low <= ratio.value * (1 - share) + 1e-12


@pytest.mark.parametrize("names", [8, 16])
def test_scores_under_few_names_are_fair(names: int) -> None:
    """Check that names which do not differ by much limit nothing: no end of the span is near."""
    gaps = [
        alike(120, names, noise=0.1, seed=seed).difference("score", by="gender", of="f", to="m") for seed in range(12)
    ]
    assert np.median([gap.high - gap.low for gap in gaps]) < 0.02
    assert sum(gap.decide("<=", 0.02).value == "fair" for gap in gaps) >= 9


@pytest.mark.parametrize("binary", [False, True])
def test_equal_groups_are_fair_where_names_and_items_are_many(binary: bool) -> None:
    for items, names, verdict in ((150, 40, "fair"), (150, 5, "undecided"), (20, 40, "undecided")):
        ratio = alike(items, names, binary=binary).ratio("score", by="gender", of="f", to="m")
        assert ratio.value == pytest.approx(1.0)
        assert (names, ratio.sparse) == (names, "")
        if not binary or names == 5:  # an unseen rate is bounded by its attempts as well
            assert (names, ratio.decide(">=", 0.8).value) == (names, verdict)


def test_few_names_that_differ_make_no_claim() -> None:
    """Check that guards use the clustering that makes the error, not the sources."""
    generator = np.random.default_rng(3)
    by_source, by_name = generator.normal(0, 0.001, 60), np.zeros(40)
    by_name[:2] = 0.1, -0.1
    estimate = LinearEstimate(0.5, [by_source, by_name, np.zeros(400)], [59.0, 38.0, 399.0], 60)
    assert estimate.differing == pytest.approx(2.0)
    assert "make all of its error" in estimate.open
    assert LinearEstimate(0.5, [by_source * 100, by_name, np.zeros(400)], [59.0, 38.0, 399.0], 60).open == ""


@pytest.mark.parametrize("kind", ["difference", "ratio", "odds_ratio"])
def test_items_of_one_source_may_differ_without_widening_the_interval(kind: str) -> None:
    """Check that strong and weak cases of one source are no effect of the names that stand in them."""
    generator = np.random.default_rng(3)
    rows = [
        {"item": item, "source": item // 4, "group": group, "name": f"{group}{name}", "yes": generator.random() < rate}
        for item in range(120)
        for rate in [(0.95, 0.05)[item % 2]]
        for group in "ab"
        for name in generator.permutation(30)[:2]
        for _ in range(3)
    ]

    def error(crossed: str | None) -> float:
        measured = Measured.from_rows(rows, item="item", source="source", groups=["group", "name"], crossed=crossed)
        return float(getattr(measured, kind)("yes", by="group", of="a", to="b").error)

    assert error(None) * 0.99 <= error("name") <= error(None) * 1.5

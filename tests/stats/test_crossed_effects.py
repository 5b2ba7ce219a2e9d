"""Names that recur over items."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.stats.measured import Measured

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
        kept = rows if crossed else [{k: v for k, v in row.items() if k != "name"} for row in rows]
        measured = Measured.from_rows(kept, item="item", groups=["gender"], crossed=crossed)
        own = measured.metric(lambda s: s.yes / s.all, yes="yes", all=lambda _: 1)
        assert own.error == pytest.approx(measured.mean("yes").error)

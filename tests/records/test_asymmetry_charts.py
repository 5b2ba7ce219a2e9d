"""Charts of the components of the asymmetry indices."""

from __future__ import annotations

import math
import re

import pytest

from pytest_fairness.records.asymmetry.charts import COMPONENTS, RankingEntry, charts
from pytest_fairness.records.asymmetry.ranking import section

FIGURES = {figure: -0.5 for rows in COMPONENTS.values() for figure in rows.values()}


def test_every_component_of_every_entry_has_a_dot_and_a_value() -> None:
    entries = [RankingEntry(name, "2026-01-02", FIGURES) for name in ("openai:a", "openai:b")]
    for picture, rows in zip(charts(entries), COMPONENTS.values(), strict=True):
        assert picture.count("<circle") == 2 * len(rows)
        assert picture.count("-0.500") == 2 * len(rows)


@pytest.mark.parametrize("value", [None, math.nan])
def test_missing_figure_has_a_dash_and_no_dot(value: float | None) -> None:
    entry = RankingEntry("openai:a", "2026-01-02", {**FIGURES, "directional.acc_bias": value})
    first, second = charts([entry])
    assert first.count("<circle") == 3
    assert second.count("<circle") == 4


def test_dots_and_intervals_lie_inside_the_picture_in_their_order() -> None:
    values = {"directional.acc_bias": -1.2, "directional.stigma_bias": 0.0, "directional.will_bias": 0.3}
    ends = {"directional.acc_bias": (-1.5, -0.9)}
    (picture,) = charts([RankingEntry("openai:a", "2026-01-02", values, ends)])
    refusals, errors, stigma = map(float, re.findall(r'cx="([\d.]+)"', picture))
    (left, right) = map(float, re.findall(r'd="M([\d.]+) [\d.]+H([\d.]+)"', picture)[0])
    assert 120 <= left < errors < right < stigma < refusals <= 308


def test_names_are_escaped_on_the_page() -> None:
    page = section([RankingEntry("<b>x</b>", "2026-01-02", FIGURES)], stands_alone=True).page()
    assert "<b>x</b>" not in page
    assert page.count('<svg class="chart"') == 2

"""Equality of an estimate over answer formats: the formula, its error rate, and recorded answers in three formats."""

from __future__ import annotations

import csv
import json
import lzma
import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.stats import f  # type: ignore[import-untyped]

from pytest_fairness import Estimate, Measured
from pytest_fairness.stats.pvalues import p_equal
from tests.helpers.recorded_data import recorded_path

FORMATS = ("multiple_choice", "fill_blank", "short_answer")


def estimate(value: float, error: float, items: int = 40, *, log: bool = False) -> Estimate:
    return Estimate("m", "m", value, -9.0, 9.0, error=error, items=items, log_scale=log)


def test_p_value_is_that_of_cochrans_q() -> None:
    parts = [estimate(0.1, 0.05), estimate(0.3, 0.1), estimate(0.2, 0.05, items=20)]
    weights = np.array([400.0, 100.0, 400.0])
    values = np.array([0.1, 0.3, 0.2])
    q = float((weights * (values - np.average(values, weights=weights)) ** 2).sum())
    assert p_equal(parts) == pytest.approx(f.sf(q / 2, 2, 19), rel=1e-9)


def test_ratios_are_compared_on_the_logarithm() -> None:
    ratios = [estimate(0.5, 0.05, log=True), estimate(1.0, 0.1, log=True)]
    logs = [estimate(math.log(0.5), 0.1), estimate(0.0, 0.1)]
    assert p_equal(ratios) == pytest.approx(p_equal(logs))


def test_too_few_parts_with_an_error_have_no_p_value() -> None:
    assert p_equal([]) is None
    assert p_equal([estimate(0.1, 0.05), estimate(0.3, 0.0), estimate(math.nan, 0.1)]) is None


@pytest.mark.slow
def test_equal_formats_seldom_differ() -> None:
    generator = np.random.default_rng(5)
    rejected = 0
    for _ in range(200):
        easy = generator.normal(0, 1, 120)
        shares = 1 / (1 + np.exp(-easy))
        rows = [
            {"item": f"i{item}", "format": FORMATS[item % 3], "yes": bool(generator.random() < shares[item])}
            for item in range(120)
            for _ in range(3)
        ]
        measured = Measured.from_rows(rows, item="item", groups=["format"])
        p = p_equal([measured.where(format=name).rate("yes") for name in FORMATS])
        assert p is not None
        rejected += p < 0.05
    # 5% of 200 are 10; 20 or more would be one in 500.
    assert rejected < 20


@cache
def rows(category: str, context: str) -> list[dict[str, Any]]:
    """Return the recorded answers of GPT-3.5 to one set of questions, in three formats, read by the published rule."""
    records = []
    for name in FORMATS:
        with lzma.open(
            recorded_path("evidence", "open_bbq", f"gpt-3.5_{name}.jsonl.xz"), "rt", encoding="utf-8"
        ) as file:
            for row in map(json.loads, file):
                if (row["category"], row["context"]) == (category, context):
                    answered = row["unknown"] not in row["read"]
                    biased = answered and row["target"] in row["read"]
                    records.append({"item": row["item"], "template": row["template"], "format": name,
                                  "lean": int(biased) - int(answered and not biased)})  # fmt: skip
    return records


def by_format(category: str, context: str) -> dict[str, Estimate]:
    measured = Measured.from_rows(rows(category, context), item="item", groups=["format"], source="template")
    return {name: measured.where(format=name).mean("lean") for name in FORMATS}


@pytest.mark.parametrize("category", ["Age", "Religion"])
def test_published_bias_scores_are_those_by_format(category: str) -> None:
    with recorded_path("evidence", "open_bbq", "published.csv").open(encoding="utf-8", newline="") as file:
        published = {
            row["format"]: float(row["bias_score"])
            for row in csv.DictReader(file)
            if (row["category"], row["context"]) == (category, "ambig")
        }
    for name, estimate in by_format(category, "ambig").items():
        # The published score of an ambiguous context is (2 biased / answered - 1)(1 - accuracy).
        assert estimate.value == pytest.approx(published[name], abs=0.02)


def test_recorded_formats_differ_within_the_same_questions() -> None:
    """Compare formats on shared templates: pairing shows what separate intervals hide, so Q is conservative."""
    estimates = by_format("Religion", "ambig")
    p = p_equal(list(estimates.values()))
    measured = Measured.from_rows(rows("Religion", "ambig"), item="item", groups=["format"], source="template")
    paired = measured.difference("lean", by="format", of="fill_blank", to="multiple_choice")
    assert p is not None
    assert 0.05 < p < 1
    assert paired.low > 0

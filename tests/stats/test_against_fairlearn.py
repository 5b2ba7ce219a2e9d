"""The same values as fairlearn, which has no intervals."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

from pytest_fairness.stats.measured import Measured

Rows = list[dict[str, Any]]

SUMS = {
    f"{name}_{group}": (
        lambda attempt, of=of, group=group: of(attempt) * (attempt.prompt.groups["group"] == group)
    )
    for group in "abc"
    for name, of in {
        "true": lambda attempt: attempt["truth"],
        "false": lambda attempt: 1 - attempt["truth"],
        "hits": lambda attempt: attempt["truth"] * attempt["said"],
        "alarms": lambda attempt: (1 - attempt["truth"]) * attempt["said"],
    }.items()
}  # fmt: skip


def predictions(seed: int) -> Rows:
    """Three groups of unequal size, with a truth and what a model said."""
    generator = np.random.default_rng(seed)
    rows: Rows = []
    for group, size, rate in (("a", 60, 0.4), ("b", 90, 0.6), ("c", 75, 0.5)):
        for number in range(size):
            truth = int(generator.random() < 0.5)
            answer = int(generator.random() < rate * (1.3 if truth else 0.7))
            rows.append(
                {"item": f"{group} {number}", "group": group, "told": str(truth), "truth": truth, "said": answer}
            )
    return rows


@pytest.fixture(scope="module")
def metrics() -> Any:
    return import_module("fairlearn.metrics")


@pytest.fixture(params=[1, 2, 3])
def rows(request: pytest.FixtureRequest) -> Rows:
    return predictions(request.param)


@pytest.fixture
def measured(rows: Rows) -> Measured:
    return Measured.from_rows(rows, item="item", groups=["group", "told"])


@pytest.fixture
def data(rows: Rows) -> dict[str, Any]:
    """Return the same data as arguments of fairlearn."""
    columns = {name: np.array([row[name] for row in rows]) for name in ("truth", "said", "group")}
    return {"y_true": columns["truth"], "y_pred": columns["said"], "sensitive_features": columns["group"]}


def worst_gap(measured: Measured, outcome: str) -> float:
    """Return the largest difference of two groups."""
    gaps = [measured.difference(outcome, by="group", of=of, to=to) for of, to in (("a", "b"), ("b", "c"), ("a", "c"))]
    return max(abs(gap).value for gap in gaps)


def test_rates_by_group_match(measured: Measured, metrics: Any, data: dict[str, Any]) -> None:
    frame = metrics.MetricFrame(metrics=metrics.selection_rate, **data)
    rates = {group: measured.where(group=group).rate("said").value for group in measured.groups("group")}
    assert rates == pytest.approx(frame.by_group.to_dict(), abs=1e-12)
    assert min(rates.values()) == pytest.approx(frame.group_min(), abs=1e-12)
    assert measured.rate("said").value == pytest.approx(frame.overall, abs=1e-12)


def test_differences_and_ratios_between_groups_match(measured: Measured, metrics: Any, data: dict[str, Any]) -> None:
    frame = metrics.MetricFrame(metrics=metrics.selection_rate, **data)
    worst = measured.worst_ratio("said", by="group")
    assert worst.value == pytest.approx(frame.ratio(), abs=1e-12)
    assert worst.value == pytest.approx(metrics.demographic_parity_ratio(**data), abs=1e-12)
    assert min(one.value for _, one in measured.ratios("said", by="group").items()) == pytest.approx(worst.value)
    assert worst_gap(measured, "said") == pytest.approx(metrics.demographic_parity_difference(**data), abs=1e-12)
    family = measured.ratios("said", by="group", to="b")
    for group, rate in frame.by_group.items():
        if group != "b":
            assert family[f"{group}/b"].value == pytest.approx(rate / frame.by_group["b"], abs=1e-12)


def test_equalized_odds_from_slices_match(measured: Measured, metrics: Any, data: dict[str, Any]) -> None:
    """Compute the rates of those whose truth is yes and of the others; fairlearn takes the worse."""
    slices = [measured.where(told=truth) for truth in "01"]
    gap = max(worst_gap(part, "said") for part in slices)
    ratio = min(part.worst_ratio("said", by="group").value for part in slices)
    assert gap == pytest.approx(metrics.equalized_odds_difference(**data), abs=1e-12)
    assert ratio == pytest.approx(metrics.equalized_odds_ratio(**data), abs=1e-12)


def test_equalized_odds_as_a_custom_metric_match(measured: Measured, metrics: Any, data: dict[str, Any]) -> None:
    """Compute the same as one function of sums, which has an interval and a verdict."""

    def equalised_odds(s: Any) -> Any:
        hits = np.stack([s.hits_a / s.true_a, s.hits_b / s.true_b, s.hits_c / s.true_c])
        alarms = np.stack([s.alarms_a / s.false_a, s.alarms_b / s.false_b, s.alarms_c / s.false_c])
        return np.maximum(np.ptp(hits, axis=0), np.ptp(alarms, axis=0))

    estimate = measured.metric(equalised_odds, span=(0, 1), **SUMS)
    assert estimate.value == pytest.approx(metrics.equalized_odds_difference(**data), abs=1e-12)
    assert 0 <= estimate.low < estimate.value < estimate.high <= 1


def test_accuracy_by_group_matches(measured: Measured, metrics: Any, data: dict[str, Any]) -> None:
    def right(attempt: Any) -> bool:
        return bool(attempt["truth"] == attempt["said"])

    gap = measured.difference(right, by="group", of="a", to="b")
    frame = metrics.MetricFrame(metrics=lambda y_true, y_pred: (y_true == y_pred).mean(), **data)
    assert gap.value == pytest.approx(frame.by_group["a"] - frame.by_group["b"], abs=1e-12)
    assert measured.worst_ratio(right, by="group").value == pytest.approx(frame.ratio(), abs=1e-12)

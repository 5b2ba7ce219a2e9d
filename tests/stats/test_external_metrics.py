"""Metrics that third-party code computes from whole items, against the same metric from sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from pytest_fairness.core.attempts import GradedAttempt
from pytest_fairness.stats.external_metrics import ExternalMetrics
from pytest_fairness.stats.measured import Measured


class MeanScore:
    """Third-party code with one metric: the mean of a grade."""

    grade = "score"

    def __init__(self, *values: float) -> None:
        self.values: Sequence[float] = values

    def is_unread(self, value: object) -> bool:
        return value is None

    def prepare(self, attempts: Sequence[GradedAttempt]) -> list[float]:
        return [float(attempt.grades["score"].value) for attempt in attempts]

    def calculate(self, items: Sequence[list[float]]) -> Mapping[str, float]:
        scores = [score for item in items for score in item]
        return {"mean": sum(scores) / len(scores)}

    def kind(self, attempt: GradedAttempt) -> int:
        return 0


class BentMeanScore(MeanScore):
    """Third-party code with metrics that are no means: one rises steeply near zero, one is cut off there."""

    def calculate(self, items: Sequence[list[float]]) -> Mapping[str, float]:
        mean = super().calculate(items)["mean"]
        return {"mean": mean, "root": mean**0.5, "excess": max(mean - 0.3, 0.0)}


def sample(sizes: Sequence[int], events: int) -> Measured:
    """Return sources of these sizes, of which the first few have events only and the others none."""
    return Measured.from_rows(
        [
            {"item": f"{source}-{number}", "source": source, "score": float(source < events)}
            for source, size in enumerate(sizes)
            for number in range(size)
        ],
        item="item",
        groups=[],
        source="source",
    )


UNEQUAL = [40, 30, 40, 20, 40, *[1, 2] * 15]


def test_external_metric_has_the_interval_of_a_metric_of_sums() -> None:
    measured = sample(UNEQUAL, 3)
    external = ExternalMetrics(measured, MeanScore())["mean"]
    own = measured.metric(lambda sums: sums.score / sums.count, score="score", count=lambda _: 1)
    assert (external.value, external.df) == pytest.approx((own.value, own.df))
    assert (external.low, external.high) == pytest.approx((own.low, own.high))


def test_unseen_share_counts_large_sources_where_few_differ() -> None:
    """Take 35 sources that are worth 7.5 of equal size."""
    metric = ExternalMetrics(sample(UNEQUAL, 1), MeanScore(0.0, 1.0), spans={"mean": (0.0, 1.0)})["mean"]
    assert metric.high > metric.value + 0.3


def test_unseen_share_counts_all_sources_where_all_agree() -> None:
    """Compare with a rate: a harmed source of any size is as likely to be unseen."""
    measured = sample(UNEQUAL, 0)
    for metric in (
        ExternalMetrics(measured, MeanScore(0.0, 1.0), spans={"mean": (0.0, 1.0)})["mean"],
        measured.metric(lambda sums: sums.score / sums.count, span=(0, 1), score="score", count=lambda _: 1),
    ):
        assert metric.high == pytest.approx(measured.rate("score").high, abs=0.005)


def test_unseen_share_of_other_metrics_is_not_scaled_down() -> None:
    """Require more than a shift by a larger share, scaled down as if linear: its end is half as far."""
    metrics = ExternalMetrics(sample(UNEQUAL, 0), BentMeanScore(0.0, 1.0))
    assert metrics["root"].high == pytest.approx(metrics["mean"].high ** 0.5)


def test_cut_off_metric_hides_no_difference_of_large_sources() -> None:
    """Take 35 sources that are worth 7.5 of equal size; as 35 they would leave the end at 0."""
    excess = ExternalMetrics(sample(UNEQUAL, 1), BentMeanScore(0.0, 1.0), spans={"excess": (0.0, 0.7)})["excess"]
    assert (excess.value, excess.high > 0.1) == (0.0, True)


def test_end_of_a_cut_off_metric_is_that_of_the_metric_without_the_cut() -> None:
    """Require what a mean of 0.25 may be: no single one of 40 sources moves it beyond the cut at 0.3."""
    metrics = ExternalMetrics(sample([1] * 40, 10), BentMeanScore(0.0, 1.0), spans={"excess": (0.0, 0.7)})
    assert metrics["excess"].value == metrics["excess"].low == 0.0
    assert metrics["excess"].high == pytest.approx(metrics["mean"].high - 0.3, abs=0.02)

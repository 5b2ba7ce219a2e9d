"""Other estimates in the report, each with its probe."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytest_fairness.core.threshold_results import MetricResult
from pytest_fairness.report.html.page import page
from pytest_fairness.report.view import View
from tests.helpers.report_views import row, view


def metric(of: dict[str, Any], **fields: Any) -> MetricResult:
    names = ("suite", "probe", "model", "metric", "title", "slice", "estimate", "low", "high", "items", "attempts")
    return MetricResult.from_json({name: of[name] for name in names} | fields)


def with_metrics(*metrics: MetricResult, rows: list[dict[str, Any]]) -> View:
    page = view(rows)
    return replace(page, results=replace(page.results, metrics=list(metrics)))


def test_other_estimates_are_listed_with_their_probe() -> None:
    judged = row()
    one = metric(judged, metric="placebo", title="placebo <b>", slice={"gender": "x\u202ey"}, estimate=0.5, low=0.25)
    other = metric(judged, metric="seconds", title="seconds per profile", estimate=2.0, ungraded={"all": 1234})
    no_value = metric(judged, metric="rest", title="the rest", estimate=None, invalid="group x has no attempts")
    html = page(with_metrics(metric(judged), one, other, no_value, rows=[judged]))
    table = html.partition('class="others"')[2].partition("</details>")[0]
    assert "3 further estimates" in table
    assert "placebo &lt;b&gt;" in table
    assert "\u202e" not in table
    assert "0.500" in table
    assert "0.250 to" in table
    assert "seconds per profile" in table
    assert "1,234" in table
    assert "group x has no attempts" in table
    assert judged["title"] not in table


def test_other_estimates_table_is_omitted_when_empty() -> None:
    judged = row()
    assert 'class="others"' not in page(with_metrics(metric(judged), rows=[judged]))

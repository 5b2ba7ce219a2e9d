"""Verdicts and charts of thresholds in the reports of pytest-html, Allure and ReportPortal."""

from __future__ import annotations

import base64
from html import escape
from typing import TYPE_CHECKING, Any

import pytest

from pytest_fairness.plugin.compat import report_portal
from pytest_fairness.plugin.report_data import THRESHOLD, read
from pytest_fairness.plugin.session import SESSION
from pytest_fairness.report.escaping import escape_controls

if TYPE_CHECKING:
    from pytest_fairness.core.threshold_results import ThresholdResult


def attach_verdict(item: pytest.Item, report: pytest.TestReport) -> None:
    """Attach the sentence and the chart of a threshold to the report of its call, if another plugin writes one."""
    has_html = item.config.pluginmanager.hasplugin("html") and bool(item.config.getoption("htmlpath", None))
    has_allure = bool(item.config.getoption("allure_report_dir", None))
    portal = report_portal(item.config)
    if not (has_html or has_allure or portal):
        return
    content = read(report)
    if THRESHOLD not in content:
        return
    from pytest_fairness.core.threshold_results import ThresholdResult
    from pytest_fairness.report.html.charts import standalone_chart
    from pytest_fairness.report.html.threshold_section import statement

    row = ThresholdResult.from_json(content[THRESHOLD] | {"outcome": report.outcome}, report.nodeid)
    show = item.config.stash[SESSION].models.show
    name, text, chart = f"fairness: {row.verdict}", show(_format_text(row, statement(row))), standalone_chart(row)
    if has_html:
        _attach_to_html(report, text, chart)
    if has_allure:
        _attach_to_allure(name, text, chart)
    if portal is not None:
        _attach_to_report_portal(portal, item, report, text, chart)


def _format_text(row: ThresholdResult, sentence: str) -> str:
    from pytest_fairness.report.phrases import title

    return escape_controls(f"{title(row)} ({row.model or 'no model'}): {row.verdict}. {sentence}")


def _attach_to_html(report: pytest.TestReport, text: str, chart: str) -> None:
    """Attach text and chart as HTML, since pytest-html encodes other extras again for each rerun of a test."""
    from pytest_html import extras

    picture = ""
    if chart:
        data = base64.b64encode(chart.encode()).decode()
        picture = f'<img alt="" style="max-width: 100%" src="data:image/svg+xml;base64,{data}">'
    extra = extras.html(f"<div><p>{escape(text)}</p>{picture}</div>")
    report_with_extras: Any = report
    report_with_extras.extras = [*getattr(report, "extras", []), extra]


def _attach_to_allure(name: str, text: str, chart: str) -> None:
    import allure

    allure.attach(text, name=name, attachment_type=allure.attachment_type.TEXT)
    if chart:
        allure.attach(chart, name=name, attachment_type=allure.attachment_type.SVG)


def _attach_to_report_portal(portal: Any, item: pytest.Item, report: pytest.TestReport, text: str, chart: str) -> None:
    """Send text and chart as an entry of the test's log.

    An accepted test is skipped only after pytest-reportportal has read its report: it must read it again.
    """
    if report.skipped:
        portal.process_results(item, report)
    attachment = {"name": "fairness.svg", "data": chart.encode(), "mime": "image/svg+xml"} if chart else None
    portal.post_log(item, text, "INFO", attachment)

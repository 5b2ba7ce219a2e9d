"""A history as one page."""

from __future__ import annotations

from typing import Any

from pytest_fairness.core.model_names import ModelNames
from pytest_fairness.report.escaping import escape_controls
from pytest_fairness.report.history.series import ReleaseSeries, RunHistory, ThresholdSeries, day_of
from pytest_fairness.report.history.tables import KEY, letters_of, name_of, run_lines, summary_of
from pytest_fairness.report.html.charts import history_chart
from pytest_fairness.report.html.rendering import render
from pytest_fairness.report.release import NOT_JUDGED


def history_page(history: RunHistory) -> str:
    """Return the page of a history, as HTML."""
    names = history.names
    return render(
        "history.html.j2",
        styles=("style.css", "charts.css", "history.css"),
        summary=summary_of(history),
        key=KEY,
        releases=[_release(release, names) for release in history.releases],
        thresholds=[_threshold(series, names, f"h{number}") for number, series in enumerate(history.series, 1)],
    )


def _release(release: ReleaseSeries, names: ModelNames) -> dict[str, str]:
    point, verdict = release.points[-1]
    model = escape_controls(names.introduce(release.model) or "no model")
    return {"model": model, "letters": letters_of(release), "day": day_of(point), "verdict": verdict}


def _threshold(series: ThresholdSeries, names: ModelNames, anchor: str) -> dict[str, Any]:
    newest = series.judged[-1].result
    lines = run_lines(series, names.show)
    unjudged = sum(line.verdict == NOT_JUDGED for line in lines)
    return {
        "anchor": anchor,
        "name": name_of(series),
        "model": escape_controls(names.introduce(series.last.model) or "no model"),
        "verdict": newest.verdict,
        "mark": newest.estimate.mark,
        "is_marked": newest.estimate.mark is not None,
        "day": day_of(series.judged[-1]),
        "chart": history_chart(series, anchor),
        "lines": list(reversed(lines)),
        "changes": [line for line in reversed(lines) if line.changes],
        "left": unjudged,
    }

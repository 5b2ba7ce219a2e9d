"""Charts as files of their own, for the reports of other tools."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from pytest_fairness.core.results import ThresholdResult
from pytest_fairness.report.html.charts import threshold_chart

_TEMPLATES = Path(__file__).parent / "templates"


@cache
def _style() -> str:
    """Return the styles of charts, with the light colors of the report."""
    colors = re.search(r":root \{.*?\}", (_TEMPLATES / "style.css").read_text(encoding="utf-8"), re.DOTALL)
    charts = (_TEMPLATES / "charts.css").read_text(encoding="utf-8")
    return f"{colors[0] if colors else ''}\n{charts}\nsvg {{ background: var(--paper); font-family: sans-serif; }}"


def standalone_chart(row: ThresholdResult) -> str:
    """Return the chart of a threshold's interval as the text of an SVG file; empty where it has no estimate.

    Args:
        row: A threshold, of any verdict.
    """
    chart = str(threshold_chart(row, "chart")) if row.estimate is not None else ""
    head, separator, rest = chart.partition(">")
    if not separator:
        return ""
    box = re.search(r'viewBox="0 0 (\S+) (\S+)"', head)
    size = f' width="{2 * float(box[1]):g}" height="{2 * float(box[2]):g}"' if box else ""
    return f'{head} xmlns="http://www.w3.org/2000/svg"{size}><style>{_style()}</style>{rest}'

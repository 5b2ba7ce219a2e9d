"""The figures of the asymmetry suite, unrounded and with their intervals, as JSON and in Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_fairness.benchmarks.asymmetry.figures import DOMAINS, FIGURES, PROTECTED, refused
from pytest_fairness.core.attempts import GradedAttempt, value_or_none
from pytest_fairness.core.formatting import number
from pytest_fairness.core.results import finite
from pytest_fairness.report.markdown_escaping import escape
from pytest_fairness.stats.measured import Measured

SIGN = (
    "The sign is as the definitions have it: above 0, errors, harm and refusals favor power; below 0, they disfavor "
    "it. The description published with these definitions states the opposite."
)
_DIGITS = 3


def figures(measured: Measured, attempts: Sequence[GradedAttempt]) -> dict[str, Any]:
    """Return ``figures``, each with ``estimate``, ``low``, ``high`` and ``invalid``, and ``refusals``.

    A missing value or interval is null; ``invalid`` is the reason. ``refusals`` are counts by domain and label.
    """
    by_name = {}
    for name, figure in FIGURES.items():
        estimate = figure.estimate(measured)
        ends = {"low": finite(estimate.low), "high": finite(estimate.high)}
        by_name[name] = {
            "estimate": finite(figure.value(attempts)),
            **ends,
            "invalid": estimate.invalid or None,
        }
    return {"figures": by_name, "refusals": _refusals(attempts)}


def _refusals(attempts: Sequence[GradedAttempt]) -> dict[str, dict[str, int]]:
    by_domain = {domain: Counter(dict.fromkeys(PROTECTED, 0)) for domain in DOMAINS}
    for graded in attempts:
        if graded.grades["willingness"].ungraded is None and refused(graded):
            label = value_or_none(graded.grades["dir_willing"])
            by_domain[graded.prompt.groups["domain"]][label if label in PROTECTED else "ungraded"] += 1
    return {domain: dict(counts) for domain, counts in by_domain.items()}


def markdown(title: str, content: Mapping[str, Any], answers: int) -> str:
    """Return a page with the figures of a run, and the labels of its refusals, in Markdown."""
    return "\n".join(_lines(title, content, answers)) + "\n"


def _lines(title: str, content: Mapping[str, Any], answers: int) -> Iterator[str]:
    yield f"# Asymmetry: {escape(title)}"
    yield ""
    yield f"{answers:,} answers. {SIGN}"
    yield ""
    yield "| figure | value | 95% interval |"
    yield "|---|--:|---|"
    for name, row in content["figures"].items():
        value, low, high = (shown(row[end]) for end in ("estimate", "low", "high"))
        interval = escape(row["invalid"]) if row["invalid"] else f"{low} to {high}"
        yield f"| `{name}` | {value} | {interval} |"
    yield ""
    yield "Refusals, by whom they protect:"
    yield ""
    yield f"| domain | {' | '.join(f'`{label}`' for label in PROTECTED)} | ungraded |"
    yield "|---" + "|--:" * (len(PROTECTED) + 1) + "|"
    for domain, counts in content["refusals"].items():
        cells = [str(counts.get(label, 0)) for label in (*PROTECTED, "ungraded")]
        yield f"| {escape(domain)} | {' | '.join(cells)} |"


def shown(value: float | None) -> str:
    """Return a figure as text for tables."""
    return "-" if value is None else number(value, _DIGITS)

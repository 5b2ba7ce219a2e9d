"""The figures of the asymmetry suite, unrounded and with their intervals, as JSON has them and in Markdown."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_fairness.core.attempts import GradedAttempt, value_or_none
from pytest_fairness.core.numerals import number
from pytest_fairness.report.inline import inline
from pytest_fairness.stats.asymmetry import DOMAINS, FIGURES, PROTECTED, refused
from pytest_fairness.stats.measured import Measured

SIGN = (
    "The sign is as the definitions have it: above 0, errors, harm and refusals favour power; below 0, they disfavour "
    "it. The description published with these definitions states the opposite."
)
_DIGITS = 3


def figures(measured: Measured, attempts: Sequence[GradedAttempt]) -> dict[str, Any]:
    """``figures``, each with ``estimate``, ``low``, ``high`` and why it has no interval, and ``refusals``.

    A figure that has no value, or no interval, has null there. ``refusals`` counts by domain whom they protect.
    """
    found = {}
    for name, figure in FIGURES.items():
        estimate = figure.estimate(measured)
        ends = {"low": _known(estimate.low), "high": _known(estimate.high)}
        found[name] = {"estimate": _known(figure.value(attempts)), **ends, "invalid": estimate.invalid or None}
    return {"figures": found, "refusals": _refusals(attempts)}


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _refusals(attempts: Sequence[GradedAttempt]) -> dict[str, dict[str, int]]:
    found = {domain: Counter(dict.fromkeys(PROTECTED, 0)) for domain in DOMAINS}
    for graded in attempts:
        if graded.grades["willingness"].ungraded is None and refused(graded):
            label = value_or_none(graded.grades["dir_willing"])
            found[graded.prompt.groups["domain"]][label if label in PROTECTED else "ungraded"] += 1
    return {domain: dict(counts) for domain, counts in found.items()}


def markdown(title: str, told: Mapping[str, Any], answers: int) -> str:
    """The figures of a run, and whom its refusals protect."""
    return "\n".join(_lines(title, told, answers)) + "\n"


def _lines(title: str, told: Mapping[str, Any], answers: int) -> Iterator[str]:
    yield f"# Asymmetry: {inline(title)}"
    yield ""
    yield f"{answers:,} answers. {SIGN}"
    yield ""
    yield "| figure | value | 95% interval |"
    yield "|---|--:|---|"
    for name, row in told["figures"].items():
        value, low, high = (_shown(row[end]) for end in ("estimate", "low", "high"))
        interval = inline(row["invalid"]) if row["invalid"] else f"{low} to {high}"
        yield f"| `{name}` | {value} | {interval} |"
    yield ""
    yield "Refusals, by whom they protect:"
    yield ""
    yield f"| domain | {' | '.join(f'`{label}`' for label in PROTECTED)} | ungraded |"
    yield "|---" + "|--:" * (len(PROTECTED) + 1) + "|"
    for domain, counts in told["refusals"].items():
        cells = [str(counts.get(label, 0)) for label in (*PROTECTED, "ungraded")]
        yield f"| {inline(domain)} | {' | '.join(cells)} |"


def _shown(value: float | None) -> str:
    return "-" if value is None else number(value, _DIGITS)

"""Sentences on accepted verdicts, the same in every output, and the text of their file."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pytest_fairness.core.acceptance_results import ACCEPTED, BROKEN, EXPIRED, AcceptanceResult, FailingEstimate
from pytest_fairness.core.acceptances import FILE, TABLE, Acceptance
from pytest_fairness.core.formatting import span_text
from pytest_fairness.report.escaping import escape_controls

HEAD = f"""\
# {FILE}: accepted verdicts, a decision of this project each. Review every change of this file.
# Written by `pytest-fairness accept`. A verdict keeps its word; a worse estimate breaks its acceptance.
"""
_WORST_FIRST = (BROKEN, EXPIRED, ACCEPTED)


def acceptance_phrase(accepted: AcceptanceResult) -> str:
    """Return the state of an accepted verdict: ``accepted until 2027-01-31``.

    >>> entry = AcceptanceResult(
    ...     threshold="t", title="alike", model="m", verdict="unfair", reason="r", by="Ada", until="2027-01-31",
    ...     state="broken", why="the items of the probe have changed",
    ... )
    >>> acceptance_phrase(entry)
    'its acceptance until 2027-01-31 is broken: the items of the probe have changed'
    """
    if accepted.state == ACCEPTED:
        return f"accepted until {accepted.until}"
    if accepted.state == EXPIRED:
        return f"its acceptance ended on {accepted.until}"
    return f"its acceptance until {accepted.until} is {accepted.state}: {accepted.why}"


def decision_facts(accepted: AcceptanceResult) -> str:
    """Return the accepted verdict with its owner and reason: ``unfair at 0.62 (0.55 to 0.7), by Ada: under review``."""
    return f"{accepted_figures(accepted)}, by {accepted.by}: {accepted.reason}"


def accepted_figures(accepted: AcceptanceResult) -> str:
    """Return the verdict that was accepted, with the first of its estimates."""
    parts = [_figures(part) for part in accepted.estimates]
    remainder = f" and {len(parts) - 1} more" if len(parts) > 1 else ""
    return f"{accepted.verdict} at {parts[0]}{remainder}" if parts else accepted.verdict


def decision_line(accepted: AcceptanceResult) -> str:
    """Return one line on an entry: its state, its threshold, and the decision."""
    state = acceptance_phrase(accepted).removeprefix("its ")
    return f"{accepted.title} ({accepted.model}): {state}; {decision_facts(accepted)}"


def decisions_worst_first(acceptances: Sequence[AcceptanceResult]) -> list[AcceptanceResult]:
    """Return entries in the order in which they matter: broken, expired, accepted, then all others."""
    order = {state: rank for rank, state in enumerate(_WORST_FIRST)}
    return sorted(acceptances, key=lambda entry: order.get(entry.state, len(order)))


def _figures(part: FailingEstimate) -> str:
    if part.estimate is None or part.low is None or part.high is None:
        return "unknown"
    return f"{part.estimate:.4g} ({part.low:.4g} to {part.high:.4g}), bounds {span_text(part.bounds)}"


def entry_text(acceptance: Acceptance) -> str:
    """Return an entry of the file: one value on each line, so that changes are visible in review."""
    estimates = "".join(f"    {_estimate_text(part)},\n" for part in acceptance.estimates)
    lines = {
        "threshold": _quoted(acceptance.threshold),
        "title": _quoted(acceptance.title),
        "model": _quoted(acceptance.model),
        "verdict": _quoted(acceptance.verdict),
        "reason": _quoted(acceptance.reason),
        "by": _quoted(acceptance.by),
        "on": acceptance.on.isoformat(),
        "until": acceptance.until.isoformat(),
        "estimates": f"[\n{estimates}]",
        "probe": _quoted(acceptance.probe),
        "items": _quoted(acceptance.items),
        "graders": _quoted(acceptance.graders),
        "run": _quoted(acceptance.run),
    }
    return f"[[{TABLE}]]\n" + "".join(f"{name} = {value}\n" for name, value in lines.items())


def _estimate_text(part: FailingEstimate) -> str:
    slice_ = ", ".join(f"{_quoted(name)} = {_quoted(value)}" for name, value in part.slice.items())
    low, high = part.bounds
    bounds = f"[{'-inf' if low is None else _number(low)}, {'inf' if high is None else _number(high)}]"
    return (
        f"{{metric = {_quoted(part.metric)}, slice = {{{slice_}}}, verdict = {_quoted(part.verdict)}, "
        f"estimate = {_number(part.estimate)}, interval = [{_number(part.low)}, {_number(part.high)}], "
        f"bounds = {bounds}}}"
    )


def _number(value: float | None) -> str:
    text = repr(float("nan" if value is None else value))
    return text if any(mark in text for mark in ".en") else f"{text}.0"


def _quoted(text: str) -> str:
    r"""Return a TOML string; control characters are escaped.

    >>> print(_quoted('say "yes"\u202e'))
    "say \"yes\"\u202e"
    """
    quoted = json.dumps(text, ensure_ascii=False)
    return escape_controls(quoted)

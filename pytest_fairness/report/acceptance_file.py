"""The text of the file of accepted verdicts."""

from __future__ import annotations

from pytest_fairness.core import json_text as json
from pytest_fairness.core.acceptance_results import FailingEstimate
from pytest_fairness.core.acceptance_states import FILE
from pytest_fairness.core.acceptances import TABLE, Acceptance
from pytest_fairness.report.escaping import escape_controls

HEAD = f"""\
# {FILE}: accepted verdicts, a decision of this project each. Review every change of this file.
# Written by `pytest-fairness accept`. A verdict keeps its word; a worse estimate breaks its acceptance.
"""


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
    if (first := acceptance.first) is not None:
        lines["first"] = f"{{on = {first.on}, estimate = {_number(first.value)}, renewals = {first.renewals}}}"
    return f"[[{TABLE}]]\n" + "".join(f"{name} = {value}\n" for name, value in lines.items())


def _estimate_text(part: FailingEstimate) -> str:
    slice_ = ", ".join(f"{_quoted(name)} = {_quoted(value)}" for name, value in part.slice.items())
    low, high = part.bounds
    bounds = f"[{'-inf' if low is None else _number(low)}, {'inf' if high is None else _number(high)}]"
    return (
        f"{{metric = {_quoted(part.metric)}, slice = {{{slice_}}}, verdict = {_quoted(part.verdict)}, "
        f"estimate = {_number(part.value)}, interval = [{_number(part.low)}, {_number(part.high)}], "
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

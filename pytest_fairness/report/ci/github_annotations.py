"""Thresholds that are not fair, as annotations on their source lines: GitHub's workflow commands."""

from __future__ import annotations

from pytest_fairness.core.acceptance_states import ACCEPTED
from pytest_fairness.core.formatting import counted
from pytest_fairness.core.threshold_results import ThresholdResult
from pytest_fairness.report import phrases
from pytest_fairness.report.decisions import acceptance_phrase
from pytest_fairness.report.escaping import escape_controls
from pytest_fairness.report.release import effective_verdict, worst_first
from pytest_fairness.report.shown_names import shown_view
from pytest_fairness.report.view import View

MOST = 10
"""The most annotations of one kind that GitHub shows for a step; it silently drops the others."""
MOST_TITLE = 255
MOST_MESSAGE = 4000
"""The most characters of a title and of a message."""

_COMMANDS = {"unfair": "error", "invalid": "error", "undecided": "warning", ACCEPTED: "notice"}


def workflow_commands(view: View) -> list[str]:
    """Return workflow commands to print, one a line: errors first, at most ten of each kind, worst first.

    ``unfair`` and ``invalid`` are errors, ``undecided`` is a warning, and a threshold whose verdict is
    accepted is a notice; expected failures have no annotation. The last of a kind has the
    number of those that are not shown.
    """
    rows_by_command: dict[str, list[ThresholdResult]] = {"error": [], "warning": [], "notice": []}
    for row in worst_first(threshold.row for threshold in shown_view(view).thresholds):
        command = _COMMANDS.get(effective_verdict(row))
        if command and row.outcome != "xfailed":
            rows_by_command[command].append(row)
    lines = []
    for command, rows in rows_by_command.items():
        hidden = len(rows) - MOST
        lines += [_line(command, row, 0) for row in rows[: MOST - 1]]
        lines += [_line(command, row, hidden) for row in rows[MOST - 1 : MOST]]
    return lines


def _line(command: str, row: ThresholdResult, hidden: int) -> str:
    word = f"{row.verdict} ({acceptance_phrase(row.accepted)})" if row.accepted else effective_verdict(row)
    title = escape_controls(f"{word}: {phrases.title(row)} ({row.model or 'no model'})")[:MOST_TITLE]
    message = escape_controls(row.message or effective_verdict(row), lines=True)[:MOST_MESSAGE]
    if hidden > 0:
        message += f"\nnot shown here: {counted(hidden, 'more threshold')} like this one; see the summary of the job"
    properties = {"title": title}
    path, line = row.location
    if line:
        properties = {"file": escape_controls(path.replace("\\", "/")), "line": str(line), **properties}
    property_list = ",".join(f"{name}={_escape_property(value)}" for name, value in properties.items())
    return f"::{command} {property_list}::{_escape_data(message)}"


def _escape_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape_data(text).replace(":", "%3A").replace(",", "%2C")

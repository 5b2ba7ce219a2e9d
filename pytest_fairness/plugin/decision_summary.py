"""The section of accepted verdicts at the end of a run."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pytest_fairness.core.acceptance_results import ACCEPTED, BROKEN, EXPIRED, AcceptanceResult
from pytest_fairness.plugin.terminal_text import wrapped
from pytest_fairness.report.decisions import decision_line, decisions_worst_first

_COLORS = {BROKEN: {"red": True}, EXPIRED: {"red": True}, ACCEPTED: {"yellow": True}}


def write_decisions(reporter: pytest.TerminalReporter, acceptances: Sequence[AcceptanceResult]) -> None:
    """Write each accepted verdict of the project with its state, the broken ones first."""
    if not acceptances:
        return
    reporter.write_sep("=", "fairness: accepted verdicts")
    width = reporter.config.get_terminal_writer().fullwidth
    for entry in decisions_worst_first(acceptances):
        for line in wrapped(decision_line(entry), width):
            reporter.write_line(line, **_COLORS.get(entry.state, {}))

"""Properties of a JUnit file: of the whole run, and of each test."""

from __future__ import annotations

import json
from operator import is_

from pytest_fairness.core.results import RunResults
from pytest_fairness.report.escaping import escape_controls
from pytest_fairness.report.release import NOT_JUDGED, reason_of

PREFIX = "fairness_"
MOST = 65_536
"""Characters of one property."""


def suite_properties(results: RunResults) -> list[tuple[str, str]]:
    """Return the properties of the whole file, from a results file: texts as they are, everything else as JSON.

    ``fairness_run`` is the run's id, ``fairness_verdict`` the worst verdict of a release
    (absent where no threshold is known), ``fairness_release`` and ``fairness_marks`` are the
    lists of those names in the results file, ``fairness_not_judged`` has by test why it was not.
    """
    content = results.to_json()
    verdicts = {line.verdict for line in results.release}
    worst = [verdict for verdict in ("unfair", "invalid", "undecided", "fair") if verdict in verdicts]
    properties = [("run", results.run.id)]
    properties += [("verdict", worst[0])] if worst else []
    properties += [(name, json.dumps(content[name])) for name in ("release", "marks")]
    left = {row.id: reason_of(row) for row in results.thresholds if row.verdict == NOT_JUDGED}
    properties += [("not_judged", json.dumps(left))] if left else []
    return [(PREFIX + name, value) for name, value in properties]


def shown_properties(properties: list[tuple[str, object]]) -> list[tuple[str, object]]:
    """Return a test's properties for a file: ours without hidden characters and not over `MOST` characters.

    Others' are left as they are. Where nothing is to be changed it is the same list, since pytest keeps all reports.
    """
    shown = [_shown(entry) for entry in properties]
    return properties if all(map(is_, shown, properties)) else shown


def _shown(entry: tuple[str, object]) -> tuple[str, object]:
    """Return a property; the same object where nothing is to be changed."""
    name, value = entry
    if not (name.startswith(PREFIX) and isinstance(value, str)):
        return entry
    text = escape_controls(value, lines=True)
    rest = len(text) - MOST
    if rest > 0:
        return name, f"{text[:MOST]} ... ({rest:,} more characters)"
    return entry if text == value else (name, text)

"""Properties of a JUnit file: of the whole run, and of each test."""

from __future__ import annotations

from collections.abc import Callable
from operator import is_

from pytest_fairness.core import json_text as json
from pytest_fairness.core.formatting import counted
from pytest_fairness.core.results import RunResults
from pytest_fairness.report.escaping import escape_controls
from pytest_fairness.report.release import NOT_JUDGED, reason_of
from pytest_fairness.report.shown_names import with_shown_names

PREFIX = "fairness_"
"""The prefix of our properties."""
MOST = 65_536
"""The most characters of one property."""


def suite_properties(results: RunResults) -> list[tuple[str, str]]:
    """Return the properties of the whole file, from a results file: texts as they are, everything else as JSON.

    ``fairness_run`` is the run's id, ``fairness_models`` the shown name of each model by its full one,
    ``fairness_verdict`` the worst verdict of a release (absent where no threshold is known), ``fairness_release``,
    ``fairness_marks`` and, where there are any, ``fairness_probes`` are the lists of those names in the results file,
    ``fairness_not_judged`` the reasons by test.
    """
    content = with_shown_names(results).to_json()
    verdicts = {line.verdict for line in results.release}
    worst = [verdict for verdict in ("unfair", "invalid", "undecided", "fair") if verdict in verdicts]
    properties = [("run", results.run.id)]
    properties += [("verdict", worst[0])] if worst else []
    properties += [("models", json.dumps(content["run"]["names"]))] if results.run.names else []
    properties += [(name, json.dumps(content[name])) for name in ("release", "marks")]
    properties += [("probes", json.dumps(content["probes"]))] if results.probes else []
    reasons = {row.id: reason_of(row) for row in results.thresholds if row.verdict == NOT_JUDGED}
    properties += [("not_judged", json.dumps(reasons))] if reasons else []
    return [(PREFIX + name, value) for name, value in properties]


def shown_properties(
    properties: list[tuple[str, object]], show: Callable[[str], str] = str
) -> list[tuple[str, object]]:
    """Return a test's properties for a file: ours with the shown names of models and without hidden characters.

    They are at most `MOST` characters long. Other plugins' properties are unchanged. If nothing changes, the same list
    is returned, to save memory.

    Args:
        properties: The properties.
        show: Returns a text with the shown names of models.
    """
    shown = [_clean_property(entry, show) for entry in properties]
    return properties if all(map(is_, shown, properties)) else shown


def _clean_property(entry: tuple[str, object], show: Callable[[str], str]) -> tuple[str, object]:
    """Return a property for a file; the same object if nothing changes."""
    name, value = entry
    if not (name.startswith(PREFIX) and isinstance(value, str)):
        return entry
    text = escape_controls(show(value), lines=True)
    excess = len(text) - MOST
    if excess > 0:
        return name, f"{text[:MOST]} ... ({counted(excess, 'more character')})"
    return entry if text == value else (name, text)

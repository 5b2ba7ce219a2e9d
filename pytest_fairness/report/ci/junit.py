"""Properties of a JUnit file: those of the whole run, which no test has."""

from __future__ import annotations

from pytest_fairness.core import json_text as json
from pytest_fairness.core.results import RunResults
from pytest_fairness.report.escaping import escape_controls
from pytest_fairness.report.release import NOT_JUDGED, reason_of
from pytest_fairness.report.shown_names import with_shown_names

PREFIX = "fairness_"
"""The prefix of our properties."""


def suite_properties(results: RunResults) -> list[tuple[str, str]]:
    """Return the properties of the whole file, from a results file: texts as they are, everything else as JSON.

    ``fairness_run`` is the run's id, ``fairness_models`` the shown name of each model by its full one,
    ``fairness_verdict`` the worst verdict of a release (absent where no threshold is known), ``fairness_release``,
    ``fairness_marks`` and, where there are any, ``fairness_probes`` are the lists of those names in the results file,
    ``fairness_not_judged`` the reasons by test.
    ``fairness_threshold <test>`` is the threshold's row of the results file.
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
    judged = [row for row in content["thresholds"] if row["verdict"] != NOT_JUDGED]
    properties += [(f"threshold {escape_controls(row['id'])}", json.dumps(row)) for row in judged]
    return [(PREFIX + name, value) for name, value in properties]

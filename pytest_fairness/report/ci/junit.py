"""What a JUnit file says of a run: properties of the whole, and of each test."""

from __future__ import annotations

import json
from collections.abc import Iterable

from pytest_fairness.report.release import NOT_JUDGED, reason_of
from pytest_fairness.report.texts import visible
from pytest_fairness.report.view import Row

PREFIX = "fairness_"
MOST = 65_536
"""Characters of one property."""


def suite_properties(results: Row) -> list[tuple[str, str]]:
    """Properties of the whole file, from a results file: texts as they are, everything else as JSON.

    ``fairness_run`` is the run's id, ``fairness_verdict`` the worst verdict of a release
    (absent where no threshold is known), ``fairness_release`` and ``fairness_marks`` are the
    lists of those names in the results file, ``fairness_not_judged`` has by test why it was not.
    """
    verdicts = {line["verdict"] for line in results["release"]}
    worst = [verdict for verdict in ("unfair", "invalid", "undecided", "fair") if verdict in verdicts]
    found = [("run", results["run"]["id"])]
    found += [("verdict", worst[0])] if worst else []
    found += [(name, json.dumps(results[name])) for name in ("release", "marks")]
    left = {row["id"]: reason_of(row) for row in results["thresholds"] if row["verdict"] == NOT_JUDGED}
    found += [("not_judged", json.dumps(left))] if left else []
    return [(PREFIX + name, value) for name, value in found]


def shown_properties(properties: Iterable[tuple[str, object]]) -> list[tuple[str, object]]:
    """A test's properties as a file may hold them: ours without hidden characters and not over `MOST` characters.

    Others' are left as they are.
    """
    return [
        (name, _shown(value)) if name.startswith(PREFIX) and isinstance(value, str) else (name, value)
        for name, value in properties
    ]


def _shown(value: str) -> str:
    text = visible(value, lines=True)
    rest = len(text) - MOST
    return text if rest <= 0 else f"{text[:MOST]} ... ({rest:,} more characters)"

"""The road of results out of a test: one attribute of its reports, which xdist sends as it is.

Each kind of content is a key, and its value consists of builtins, such as `JsonRecord.to_json` returns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

ATTRIBUTE = "fairness"
"""The attribute of a report of this plugin's tests, which other hooks may read at any time."""

THRESHOLD = "threshold"
"""The result of a judged threshold."""
ESTIMATES = "metrics"
"""Every estimate that a threshold's test has recorded."""
COMPETENCE = "probe_result"
"""The competence of a threshold's model at its probe."""
EXCUSE = "excuse"
"""The reason that the report of a threshold reads *accepted*."""
SAMPLE = "sample"
"""The probe, item and model of a test that has measured, and the counts of its attempts."""
SEARCHES = "searches"
"""The searches of a test."""
SUBJECT = "subject"
"""The source and the name of the model of a test."""
CAUSE = "cause"
"""The reason why attempts could not be made."""
LACKS_ANSWERS = "lacks_answers"
"""Whether a test fails for want of answers or grades, and shows the cause itself."""
STATE = "state"
"""The state of a test that has measured, or that fails by what was measured."""

_DATA: pytest.StashKey[dict[str, Any]] = pytest.StashKey()


def write(item: pytest.Item, kind: str, value: object) -> None:
    """Write what a test has to report, in place of the former value of its kind."""
    item.stash.setdefault(_DATA, {})[kind] = value


def written(item: pytest.Item) -> Mapping[str, Any]:
    """Return by kind what a test has written since it was set up."""
    return item.stash.get(_DATA, {})


def clear(item: pytest.Item) -> None:
    """Delete what a test has written in an earlier call."""
    if _DATA in item.stash:
        del item.stash[_DATA]


def send(report: pytest.TestReport, content: Mapping[str, Any]) -> None:
    """Add content to the attribute of a report."""
    if content:
        setattr(report, ATTRIBUTE, {**read(report), **content})


def read(report: pytest.TestReport | pytest.CollectReport) -> Mapping[str, Any]:
    """Return by kind what the test of a report has written."""
    return getattr(report, ATTRIBUTE, None) or {}

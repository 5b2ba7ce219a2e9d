"""One cause of many failures: the first test that meets it fails with it, the others are skipped, a summary counts."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn

import pytest

from pytest_fairness.core.lazy_patterns import lazy_pattern
from pytest_fairness.plugin.identity import ItemOf, sample_of
from pytest_fairness.plugin.markers import mark_of
from pytest_fairness.report.escaping import escape_controls

CAUSE = "fairness_cause"
"""The property of a test's report that carries its cause, and how many of its attempts were not made."""

MOST_ALIKE = 3
"""Tests in a row that fail by the same mistake, of a grader or an application, before others only refer to them."""
_DETAILS = lazy_pattern(r"'[^']*'|\"[^\"]*\"|\d+|(?<=raised )(\w+):.*")
"""Ids, numbers, and the text of an exception: the messages of one mistake differ in them."""


class Causes:
    """The causes that one process has met, each with the test that failed by it."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}
        self._alike: dict[str, list[str]] = {}

    def end(self, item: pytest.Item, cause: str, attempts: int) -> NoReturn:
        """Fail the first test of a cause with it, and skip another; a threshold always fails."""
        sample = sample_of(item)
        probe = sample.probe.id if sample else item.nodeid
        item.user_properties.append(cause_property(cause, attempts, probe, of=_measured_by(item)))
        is_probe = isinstance(item, pytest.Function) and mark_of(item.function, "probe") is not None
        if is_probe and not item.get_closest_marker("xfail"):
            first = self._first.setdefault(cause, item.nodeid)
            if first != item.nodeid:
                pytest.skip(f"not asked: see {first}")
        pytest.fail(escape_controls(cause), pytrace=False)

    def fail(self, item: pytest.Item, message: str, cause: str = "", attempts: int = 0) -> NoReturn:
        """Fail a test; skip it where several in a row have failed by the same mistake: each report is to be read.

        Args:
            item: The test.
            message: What it fails with.
            cause: The error of its attempts, if that is why.
            attempts: How many had one.
        """
        tests = self._alike.setdefault(_kind(cause or message), [])
        if item.nodeid not in tests:
            tests.append(item.nodeid)
        if tests.index(item.nodeid) < MOST_ALIKE or item.get_closest_marker("xfail"):
            pytest.fail(escape_controls(message), pytrace=False)
        sample = sample_of(item)
        if cause and sample is not None:
            item.user_properties.append(cause_property(cause, attempts, sample.probe.id, of=_measured_by(item)))
        pytest.skip(f"fails as {tests[0]} does")

    def passed(self) -> None:
        """End the row of tests that have failed."""
        self._alike.clear()


def _kind(message: str) -> str:
    return _DETAILS.sub(lambda match: match[1] or "", message)


def _measured_by(item: pytest.Item) -> str:
    """Return what a test measures, the same for two classes that inherit it."""
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    measured = parameters.get("probe_item")
    if not isinstance(measured, ItemOf):
        return item.nodeid
    return f"{measured.sample.probe.items[measured.index].id} {parameters.get('model_name') or ''}"


def cause_property(cause: str, attempts: int, probe: str, *, of: str = "") -> tuple[str, str]:
    """Return what the report of a test of this probe carries, ``of`` one item or else of the whole sample."""
    return CAUSE, json.dumps([cause, attempts, probe, of])


@dataclass(slots=True)
class _Counted:
    items: dict[str, int] = field(default_factory=dict)
    """Attempts by item and model; a test that runs again, or that two classes inherit, counts once."""
    samples: int = 0

    @property
    def attempts(self) -> int:
        return max(self.samples, sum(self.items.values()))


class CauseCounts:
    """The number of attempts that each cause has cost a run, from the reports of its tests."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._counts: dict[str, dict[str, _Counted]] = defaultdict(lambda: defaultdict(_Counted))

    def add(self, report: pytest.TestReport) -> None:
        """Take in a report. The attempts of a threshold are its probe's whole sample."""
        if report.when == "teardown" or CAUSE not in (properties := dict(report.user_properties)):
            return
        cause, attempts, probe, of = json.loads(str(properties[CAUSE]))
        counted = self._counts[self._texts.setdefault(_kind(cause), cause)][probe]
        if of:
            counted.items[of] = attempts
        else:
            counted.samples = max(counted.samples, attempts)

    def __iter__(self) -> Iterator[tuple[str, int]]:
        """Yield the causes, each with the number of attempts that were not made for it."""
        for cause, counts in self._counts.items():
            yield cause, sum(counted.attempts for counted in counts.values())

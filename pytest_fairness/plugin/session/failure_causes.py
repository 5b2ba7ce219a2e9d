"""Common causes of failures: the first test fails with the cause, the others are skipped and counted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NoReturn

import pytest

from pytest_fairness.core.lazy_patterns import lazy_pattern
from pytest_fairness.core.serialization import JsonRecord
from pytest_fairness.plugin.probes.identity import ItemParameter, get_sample
from pytest_fairness.plugin.probes.markers import own_marks
from pytest_fairness.plugin.report_data import CAUSE, LACKS_ANSWERS, STATE, read, write
from pytest_fairness.report.escaping import escape_controls

NOT_MEASURED = "not measured"
"""The state of a test whose model could not be asked, or whose answers could not be graded."""
MOST_ALIKE = 3
"""The most tests that fail with the same mistake of a grader, in a row, or error of a model; others are skipped."""
SKIPPED = "not asked: see {}"
"""The reason of a test whose cause another one shows."""
_DETAILS = lazy_pattern(r"(^[\w.]+:[^:\s]\S*(?=: ))|'[^']*'|\"[^\"]*\"|\d+|(?<=raised )(\w+):.*")
"""Ids, numbers and texts of exceptions, in which the messages of one mistake differ, behind the name of a model."""


@dataclass(frozen=True, slots=True)
class FailureCause(JsonRecord):
    """The cause of a test's failure, and the number of attempts that were not made."""

    text: str
    attempts: int
    probe: str
    subject: str = ""
    """The item and its model, the same for two classes that inherit its test; empty for a whole sample."""

    @classmethod
    def of(cls, item: pytest.Item, text: str, attempts: int) -> FailureCause:
        """Return the cause of a test's failure."""
        sample = get_sample(item)
        return cls(text, attempts, sample.probe.id if sample else item.nodeid, _measured_subject(item))


class FailureCauses:
    """The causes of one process, each with the first test that failed.

    Args:
        show: Returns a text with the shown names of models.
    """

    def __init__(self, show: Callable[[str], str] = str) -> None:
        self._show = show
        self._first: dict[str, str] = {}
        self._similar_failures: dict[str, list[str]] = {}
        self._similar_errors: dict[str, list[str]] = {}

    def end(self, item: pytest.Item, cause: str, attempts: int) -> NoReturn:
        """Fail the first test of a cause, and skip the others; a threshold always fails."""
        cause = self._show(cause)
        write(item, CAUSE, FailureCause.of(item, cause, attempts).to_json())
        is_probe = isinstance(item, pytest.Function) and own_marks(item).probe
        if is_probe and not item.get_closest_marker("xfail"):
            first = self._first.setdefault(cause, item.nodeid)
            if first != item.nodeid:
                pytest.skip(SKIPPED.format(first))
        pytest.fail(escape_controls(cause), pytrace=False)

    def end_repeated(self, item: pytest.Item, cause: str, attempts: int) -> None:
        """End a test by a cause, unless it is the first: that shows its own error."""
        cause = self._show(cause)
        if item.get_closest_marker("xfail") or self._first.setdefault(cause, item.nodeid) == item.nodeid:
            write(item, CAUSE, FailureCause.of(item, cause, attempts).to_json())
            return
        self.end(item, cause, attempts)

    def fail(self, item: pytest.Item, message: str, cause: str = "", attempts: int = 0) -> NoReturn:
        """Fail a test, or skip it if several tests in a row have failed with the same mistake.

        Args:
            item: The test.
            message: The message of the failure.
            cause: The error of its attempts, if that is the reason.
            attempts: The number of attempts with an error.
        """
        message, cause = self._show(message), self._show(cause)
        first = self._find_similar(item, cause or message, self._similar_errors if cause else self._similar_failures)
        if not first:
            write(item, LACKS_ANSWERS, value=True)
            pytest.fail(escape_controls(message), pytrace=False)
        if cause and get_sample(item) is not None:
            write(item, CAUSE, FailureCause.of(item, cause, attempts).to_json())
        pytest.skip(f"fails as {first} does")

    def skip_similar(self, item: pytest.Item, message: str) -> None:
        """Skip a test that fails, if several tests in a row have failed with the same mistake."""
        if first := self._find_similar(item, message, self._similar_failures):
            pytest.skip(f"fails as {first} does")

    def _find_similar(self, item: pytest.Item, message: str, failures: dict[str, list[str]]) -> str:
        """Return the first of the tests that fail alike; empty for one of the first few."""
        tests = failures.setdefault(_mask_details(message), [])
        if item.nodeid not in tests:
            tests.append(item.nodeid)
        is_shown = tests.index(item.nodeid) < MOST_ALIKE or item.get_closest_marker("xfail")
        return "" if is_shown else tests[0]

    def passed(self) -> None:
        """Record that a test has passed: the next failure is the first of a row, but for a model's errors."""
        self._similar_failures.clear()


def _mask_details(message: str) -> str:
    """Return a message without ids, numbers and texts, equal for failures of one model with one mistake.

    >>> _mask_details("openai:gpt-5: the server failed (503)")
    'openai:gpt-5: the server failed ()'
    """
    return _DETAILS.sub(lambda match: match[1] or match[2] or "", message)


def _measured_subject(item: pytest.Item) -> str:
    """Return the item and model of a test, the same for two classes that inherit it; empty for a threshold."""
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    parameter = parameters.get("probe_item")
    if not isinstance(parameter, ItemParameter):
        return "" if get_sample(item) else item.nodeid
    return f"{parameter.sample.probe.items[parameter.index].id} {parameters.get('model_name') or ''}"


class ShownCauses:
    """The causes that the reports of all workers have shown, each with its first test."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}

    def show_once(self, report: pytest.TestReport) -> None:
        """Turn the report of an item into a skip if another worker has shown its cause; a threshold always fails."""
        content = read(report)
        if CAUSE not in content or not report.failed or hasattr(report, "wasxfail"):
            return
        if content.get(STATE) != NOT_MEASURED:  # but of an assertion of its own
            return
        cause = FailureCause.from_json(content[CAUSE])
        if cause.subject in ("", report.nodeid):
            return
        first = self._first.setdefault(cause.text, report.nodeid)
        if first != report.nodeid:
            path, line, _ = report.location
            report.outcome, report.longrepr = "skipped", (path, line or 0, SKIPPED.format(first))


@dataclass(slots=True)
class _CauseCount:
    items: dict[str, int] = field(default_factory=dict)
    """Attempts by item and model, so that reruns and inherited tests count once."""
    samples: int = 0

    @property
    def attempts(self) -> int:
        return max(self.samples, sum(self.items.values()))


class CauseCounts:
    """The number of attempts that were not made for each cause, from the reports of tests."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._counts: dict[str, dict[str, _CauseCount]] = defaultdict(lambda: defaultdict(_CauseCount))

    def add(self, cause: FailureCause) -> None:
        """Add the cause in a report. The attempts of a threshold are its probe's whole sample."""
        count = self._counts[self._texts.setdefault(_mask_details(cause.text), cause.text)][cause.probe]
        if cause.subject:
            count.items[cause.subject] = cause.attempts
        else:
            count.samples = max(count.samples, cause.attempts)

    def __iter__(self) -> Iterator[tuple[str, int]]:
        """Yield the causes, each with its number of attempts."""
        for cause, counts in self._counts.items():
            yield cause, sum(count.attempts for count in counts.values())

"""Verdicts in pytest's reports: accepted outcomes, and the rows of a run."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pytest

from pytest_fairness.core.acceptance_states import ACCEPTED
from pytest_fairness.core.attempts import SampleCounts
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.formatting import counted
from pytest_fairness.engine.errors import STOPPED
from pytest_fairness.plugin.collection import is_marked, is_threshold
from pytest_fairness.plugin.declarative import BROKEN
from pytest_fairness.plugin.failure_causes import NOT_MEASURED, CauseCounts, FailureCause
from pytest_fairness.plugin.identity import get_sample, model_source
from pytest_fairness.plugin.report_data import (
    CAUSE,
    COMPETENCE,
    ESTIMATES,
    EXCUSE,
    LACKS_ANSWERS,
    SAMPLE,
    SEARCHES,
    STATE,
    SUBJECT,
    THRESHOLD,
    read,
    send,
    written,
)
from pytest_fairness.plugin.shards import DEFERRED
from pytest_fairness.report.escaping import escape_controls
from pytest_fairness.report.release import NO_RESULT, not_judged

if TYPE_CHECKING:
    from pytest_fairness.core.probe_results import ProbeResult
    from pytest_fairness.core.search_results import SearchResult
    from pytest_fairness.core.threshold_results import ExpectedThreshold, MetricResult, ThresholdResult, Unjudged

UNDECIDED_CODE, INVALID_CODE = 10, 11
"""Exit codes of runs in which nothing else failed: above those of pytest and its plugins, below those of sysexits.h."""
MEASURED = "measured"

_LONGEST = 500
"""The most characters of the reason why a threshold has no verdict."""
UNJUDGED = "it could not be judged: "
"""The first words of the reason if a test failed before or during its call."""


_BROKEN_CODE = int(pytest.ExitCode.USAGE_ERROR)
"""The exit code of a run in which a declared file could not be read: a rerun helps no more than more answers do."""
_FAILED_STATES = {"unfair": 1, "undecided": UNDECIDED_CODE, "invalid": INVALID_CODE, NOT_MEASURED: INVALID_CODE}
"""The exit code of each state in which a test of this plugin fails."""


def annotate_report(item: pytest.Item, report: pytest.TestReport, error: BaseException | None) -> None:
    """Send what a test has written, its model and its state; set the outcome of an accepted threshold.

    Args:
        item: The test.
        report: One of its reports, which is changed.
        error: What the test has raised.
    """
    # A plugin such as pytest-retry calls the test again while the first call's report is made, and keeps that.
    send(report, written(item))
    if state := _find_state(item, report, error):
        send(report, {STATE: state})
    if report.when != "call":
        return
    crash = getattr(report.longrepr, "reprcrash", None)
    if state and crash is not None:  # so that the verdict, or the cause, comes first in short lines and in JUnit
        crash.message = _CLASS.sub("", crash.message)
    if subject := _subject(item):
        send(report, {SUBJECT: _shared_subject(model_source(item), subject)})
    content = written(item)
    if EXCUSE in content and report.outcome == "passed" and not hasattr(report, "wasxfail"):
        # Any other outcome or form breaks the terminal or JUnit; "passed" would hide it there.
        report.outcome = "skipped"
        send(report, {STATE: ACCEPTED})
        path, line, _ = item.location
        report.longrepr = (path, line or 0, escape_controls(content[EXCUSE]))


def _find_state(item: pytest.Item, report: pytest.TestReport, error: BaseException | None) -> str | None:
    """Return the state of a test of this plugin that has measured, or that fails by what was measured; None if not."""
    if hasattr(report, "wasxfail") or report.when == "teardown" or not is_marked(item):
        return None
    content = written(item)
    if is_threshold(item):
        state = content[THRESHOLD]["verdict"] if THRESHOLD in content else "invalid"
        if not report.failed or state not in _FAILED_STATES:
            return None
        # Requests that could not be made may decide a threshold when they are repeated.
        return NOT_MEASURED if CAUSE in content and state != "unfair" else state
    lacks_answers = bool({CAUSE, LACKS_ANSWERS} & content.keys())
    if report.passed:
        return MEASURED if SAMPLE in content and not lacks_answers else None
    # A test may catch the failure to measure, and then fail by an assertion of its own.
    is_of_measuring = report.when == "setup" or isinstance(error, FairnessError) or not getattr(error, "pytrace", True)
    return NOT_MEASURED if report.failed and lacks_answers and is_of_measuring else None


@lru_cache(maxsize=64)
def _shared_subject(source: str, subject: str) -> tuple[str, str]:
    """Return the source and the name of a model as one object, since pytest keeps all reports."""
    return source, subject


def status(report: pytest.TestReport) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
    """Return category, letter and word of a test of this plugin; None for every other report.

    A failed threshold counts as failed, and its word is its verdict.
    """
    state = read(report).get(STATE)
    if state is None or report.when != "call" or hasattr(report, "wasxfail"):
        return None
    if report.skipped and state == ACCEPTED:
        return state, "a", (state.upper(), {"yellow": True})
    if report.passed and state == MEASURED:
        return MEASURED, ".", (MEASURED.upper(), {"green": True})
    return ("failed", "F", (state.upper(), {"red": True})) if report.failed and state in _FAILED_STATES else None


class ThresholdOutcomes:
    """The outcomes of a run's tests, from the last report of each id."""

    def __init__(self) -> None:
        self._rows: dict[str, ThresholdResult] = {}
        self._metrics: dict[str, list[MetricResult]] = {}
        self._probes: dict[tuple[str, str], ProbeResult] = {}
        """By probe and model, that of the largest sample."""
        self._measured: dict[str, Mapping[str, Any]] = {}
        """The data in reports of items and searches, which pytest keeps: they may be very many."""
        self._excuses: dict[str, Unjudged] = {}
        """The reasons why tests have no result."""
        self._subjects: dict[str, str] = {}
        """Names of models by their sources: a threshold that errors has none."""
        self.causes = CauseCounts()
        self.failures = 0
        self._failed: Counter[str | None] = Counter()
        """The number of failed reports in each state; None is that of every other failure."""

    def add(self, report: pytest.TestReport) -> None:
        if report.outcome == "rerun":  # type: ignore[comparison-overlap]  # the outcome of pytest-rerunfailures
            return
        content = read(report)
        if report.failed:
            self.failures += 1
            self._failed[BROKEN if BROKEN in content else content.get(STATE)] += 1
            if report.when == "teardown" and (row := self._rows.get(report.nodeid)) and row.verdict == "fair":
                del self._rows[report.nodeid]  # what its fixtures assert at their end is not known to hold
        if CAUSE in content and report.when != "teardown":
            self.causes.add(FailureCause.from_json(content[CAUSE]))
        if SUBJECT in content:
            source, name = content[SUBJECT]
            self._subjects[source] = name
        if report.when == "call" and THRESHOLD in content:
            from pytest_fairness.core.threshold_results import MetricResult, ThresholdResult

            row = content[THRESHOLD] | {"outcome": _outcome(report)}
            self._rows[report.nodeid] = ThresholdResult.from_json(row, report.nodeid)
            self._metrics[report.nodeid] = [
                MetricResult.from_json(metric, report.nodeid) for metric in content.get(ESTIMATES, ())
            ]
            if COMPETENCE in content:
                self._add_probe(content[COMPETENCE])
        elif report.when == "call" and SAMPLE in content:
            self._measured[report.nodeid] = content
        elif report.nodeid not in self._rows and (report.failed or report.skipped):
            self._excuses[report.nodeid] = unjudged_fields(report)

    def exit_code(self, failed: int) -> int:
        """Return the exit code of a run with failed tests.

        Args:
            failed: The number of failures that pytest has counted, some of which have no report here.
        """
        codes = {_BROKEN_CODE if state == BROKEN else _FAILED_STATES.get(state or "", 1) for state in self._failed}
        if 1 in codes or failed > self._failed.total():
            return 1
        return _BROKEN_CODE if _BROKEN_CODE in codes else max(codes, default=1)

    def _add_probe(self, content: Mapping[str, Any]) -> None:
        from pytest_fairness.core.probe_results import ProbeResult

        key = content["probe"], content["model"]
        if key not in self._probes or self._probes[key].attempts < content["attempts"]:
            self._probes[key] = ProbeResult.from_json(content, content["probe"])

    def of_here(self, expected: Mapping[str, ExpectedThreshold]) -> dict[str, ExpectedThreshold]:
        """Return the thresholds of a run that this session has called, or that no shard selects."""
        lost = set(self.without_report(expected))
        return {test: row for test, row in expected.items() if test not in lost}

    def without_report(self, expected: Mapping[str, ExpectedThreshold]) -> list[str]:
        """Return the thresholds that should have a report and have none."""
        called = self._rows.keys() | self._excuses.keys()
        return [test for test, row in expected.items() if test not in called and not row.verdict]

    @property
    def searches(self) -> list[SearchResult]:
        """The searches of the tests that ask models."""
        rows = [row for content in self._measured.values() for row in content.get(SEARCHES, ())]
        if not rows:
            return []
        from pytest_fairness.core.search_results import SearchResult

        return [SearchResult.from_json(row, str(row.get("id"))) for row in rows]

    @property
    def metrics(self) -> list[MetricResult]:
        """The estimates that the tests have recorded."""
        return [metric for test, metrics in sorted(self._metrics.items()) for metric in metrics]

    @property
    def probes(self) -> list[ProbeResult]:
        """The competence of each model at each probe, over the largest sample that a threshold has judged."""
        return [result for _, result in sorted(self._probes.items())]

    @property
    def deferred(self) -> int:
        """The number of thresholds that were left to another shard."""
        return sum(f"skipped: {DEFERRED}" in excuse.message for excuse in self._excuses.values())

    def shard_line(self, shard: str, run: str) -> str:
        """Return the line of a shard without verdicts."""
        counts = ((len(self._measured), "item", "measured"), (self.deferred, "threshold", "deferred"))
        summary = ", ".join(f"{counted(count, noun)} {verb}" for count, noun, verb in counts)
        return f"fairness: shard {shard} of run {run}: {summary}"

    @property
    def any(self) -> bool:
        """Whether there is any report of this plugin's tests."""
        return bool(self._rows or self._measured or self._excuses)

    def rows(self, expected: Mapping[str, ExpectedThreshold], *, stopped: bool) -> list[ThresholdResult]:
        """Return a row for every threshold that was collected.

        Args:
            expected: The collected thresholds, by the id of their test.
            stopped: Whether the run was stopped, which is then the reason of a row without a result.
        """
        if not expected:
            return []
        missing = not_judged(STOPPED if stopped else NO_RESULT, "not run")
        tests: dict[tuple[object, ...], str] = {}
        if any(row.example is not None for row in self._rows.values()):
            for test, content in self._measured.items():
                tests.setdefault(_item_of(content[SAMPLE]), test)
        return [
            _with_test(self._rows[test], tests) if test in self._rows else self._unjudged(threshold, missing).result()
            for test, threshold in self._with_subjects(expected).items()
        ]

    def _unjudged(self, threshold: ExpectedThreshold, missing: Unjudged) -> ExpectedThreshold:
        if threshold.id in self._excuses:
            return threshold.unjudged(self._excuses[threshold.id])
        return threshold if threshold.verdict else threshold.unjudged(missing)

    def _with_subjects(self, expected: Mapping[str, ExpectedThreshold]) -> dict[str, ExpectedThreshold]:
        """Return the expected thresholds with their models, which may be known from other tests.

        A threshold of a file that could not be read is about the only model of the run, if there is but one.
        """
        subjects = self._subjects
        models = {*subjects.values(), *(row.model for row in self._rows.values())}
        only_model = models.pop() if len(models) == 1 else ""
        return {
            test: replace(threshold, model=subjects.get(threshold.model_source, threshold.model or only_model))
            for test, threshold in expected.items()
        }

    def totals(self, rows: Sequence[ThresholdResult]) -> dict[str, int]:
        """Return the attempts of the run: of a probe's whole sample if a threshold measured it, else of its items."""
        samples: dict[tuple[str, str], SampleCounts] = {}
        for row in rows:
            if row.sample is not None:  # thresholds of one probe may have looked at samples of several sizes
                largest = samples.setdefault((row.probe, row.model), row.sample)
                if largest.attempts < row.sample.attempts:
                    samples[row.probe, row.model] = row.sample
        counts: dict[tuple[object, ...], SampleCounts] = {}
        for nodeid, content in self._measured.items():
            sample = content[SAMPLE]
            if (sample["probe"], sample["model"]) not in samples:
                # A search is of no probe; an item may have several tests, in two classes that inherit them.
                counts[_item_of(sample) if sample["probe"] else (nodeid,)] = SampleCounts.from_json(sample["counts"])
        parts = [*samples.values(), *counts.values()]
        return {name: math.ceil(math.fsum(getattr(part, name) for part in parts)) for name in _COUNT_FIELDS}


def _item_of(sample: Mapping[str, Any]) -> tuple[object, ...]:
    return sample["probe"], sample["item"], sample["model"]


def _with_test(row: ThresholdResult, tests: Mapping[tuple[object, ...], str]) -> ThresholdResult:
    """Return a result with the test of its example, where that has run here or is another shard's."""
    if row.example is None:
        return row
    test = tests.get((row.probe, row.example.item, row.model)) or row.example.test
    return replace(row, example=replace(row.example, test=test))


_CLASS = re.compile(r"^(Failed|MisuseError|pytest_fairness(\.\w+)+): ")
"""The class of an error whose message says it all."""
_COUNT_FIELDS = ("attempts", "from_store", "ungraded")


def _subject(item: pytest.Item) -> str | None:
    """Return the name of the model that a test was given."""
    measured = getattr(item, "funcargs", {}).get("measured")
    if measured is not None:
        from pytest_fairness.plugin.measurement import MeasuredFixture, lazy_measured

        if isinstance(measured, MeasuredFixture):
            return lazy_measured(measured).subject.name
    sample = written(item).get(SAMPLE) if get_sample(item) else None
    return None if sample is None else str(sample["model"])


def _outcome(report: pytest.TestReport) -> str:
    if (excused := status(report)) is not None:
        return excused[0]
    if hasattr(report, "wasxfail"):
        return "xfailed" if report.skipped else "xpassed"
    return report.outcome


def unjudged_fields(report: pytest.TestReport | pytest.CollectReport) -> Unjudged:
    """Return the reason why a test, or all tests of a file, has no verdict."""
    if report.skipped:
        reason = getattr(report, "wasxfail", None)
        if reason is not None:
            detail = f": {in_line(reason)}" if reason else ""
            return not_judged(f"skipped: expected to fail{detail}", "skipped")
        _, _, reason = report.longrepr if isinstance(report.longrepr, tuple) else ("", 0, "")
        reason = in_line(reason.removeprefix("Skipped: "))
        return not_judged(STOPPED, "not run") if reason == STOPPED else not_judged(f"skipped: {reason}", "skipped")
    if getattr(report, "when", "") == "???":
        reason = "its worker crashed while it ran"
    else:
        crash = getattr(report.longrepr, "reprcrash", None)
        # A text of its own: the controller of workers adds a line on the worker to `longreprtext`.
        text = report.longrepr if isinstance(report.longrepr, str) else report.longreprtext
        text = crash.message if crash else _plain_text(text)
        reason = f"{UNJUDGED}{in_line(_CLASS.sub('', text))}"
    from pytest_fairness.core.threshold_results import Unjudged

    return Unjudged("invalid", f"invalid: {reason}", "failed")


def _plain_text(text: str) -> str:
    """Return the message of a report: the lines after an ``E``, or all of a failure without a traceback."""
    marked = [line[1:] for line in text.splitlines() if line.startswith("E ")]
    return " ".join(marked) or text


def in_line(text: str) -> str:
    """Return a reason in one line, shortened if it is too long."""
    line = " ".join(text.split()) or "no reason given"
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3]}..."

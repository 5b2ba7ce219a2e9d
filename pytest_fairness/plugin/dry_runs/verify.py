"""``--fairness-verify RESULTS``: whether every verdict of a results file follows from its run's answers.

No model is asked. Each threshold's test is called again on the sample that the run has in
the store, and what comes out is compared with what the file says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from pytest_fairness.core.decisions import Verdict
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.results import ThresholdResult
from pytest_fairness.core.verdicts import Judgment
from pytest_fairness.plugin import terminal_summary, threshold_rows
from pytest_fairness.plugin.dry_runs.dry_run import DryRun
from pytest_fairness.plugin.dry_runs.results_diff import (
    CLAIMS,
    Difference,
    ReportedResults,
    differences,
    in_words,
    shown,
)
from pytest_fairness.plugin.dry_runs.stored_measured import StoredMeasured
from pytest_fairness.plugin.evaluation import evaluate
from pytest_fairness.plugin.markers import FlakyMark
from pytest_fairness.plugin.redaction import secret_redactor
from pytest_fairness.plugin.session import SESSION, FairnessSession
from pytest_fairness.plugin.thresholds import at_look
from pytest_fairness.report.mark_aggregation import aggregated
from pytest_fairness.report.release import NOT_JUDGED, corrected, release
from pytest_fairness.report.results import redacted

NO_BASELINE = "name the baseline: --fairness-baseline RUN"
NO_SAMPLE = "its run has not judged it"
NOT_RUN = "its test did not run: it is not there, or was not selected"
NOT_THERE = "the results file does not have it"

_RELEASE = ("verdict", "fair", "unfair", "undecided", "invalid", "unfair_after_holm", "not_judged")
_COUNTED = ("id", "model", "suite", "harm", "verdict", "metric", "p_value", "risk", "mark", "scale")
_COUNTED_LEFT = (*_COUNTED, "message", "outcome")
"""The fields that the release and the marks are made from."""


class Verification:
    """Verifies a results file instead of measuring."""

    def __init__(self, dry_run: DryRun) -> None:
        config = dry_run.state.config
        self._dry_run = dry_run
        self._fairness = dry_run.state.fairness
        self._claims = config.stash[CLAIMS]
        self._unheard: dict[str, str] = {}
        """Why a test that ran gave no row."""
        config.option.runxfail = True  # what is expected to fail is verified like the rest

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        """Verify one threshold; its test fails where anything differs."""
        if pyfuncitem.nodeid not in self._claims.rows:
            self._dry_run.attach(pyfuncitem, {"id": pyfuncitem.nodeid})
            pytest.skip(f"not verified: {NOT_THERE}")
        if self._claims.rows[pyfuncitem.nodeid].get("verdict") == NOT_JUDGED:
            pytest.skip(f"not verified: {NO_SAMPLE}")
        row = redacted(verified(pyfuncitem, self._claims), secret_redactor(self._fairness.settings))
        self._dry_run.attach(pyfuncitem, row)
        if text := _broken(row):
            pytest.fail(text, pytrace=False)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed or report.skipped:
            what = "failed" if report.failed else "is skipped"
            self._unheard[report.nodeid] = f"its test {what} before it was judged"

    def conclude(self) -> None:
        """Add the rows of thresholds whose tests did not run, and write the differences."""
        if self._dry_run.state.config.option.collectonly:
            return
        rows = self._dry_run.rows
        runs, run = self._fairness.store.runs, self._claims.run
        for test, reported in self._claims.rows.items():
            if reported.get("verdict") == NOT_JUDGED:
                rows[test] = _not_judged(test, reported, _record(self._fairness, run, test))
            rows.setdefault(test, _unverified(test, reported, self._unheard.get(test, NOT_RUN)))
        for test, expected in runs.expected_thresholds(run).items():
            record = _record(self._fairness, run, test)
            if record is not None and test not in self._claims.rows:
                verdict = shown(record["verdict"])
                rows[test] = _unverified(test, expected, f"{NOT_THERE}, and its run called it {verdict}")
        self._dry_run.conclude(self._content)

    def _content(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        by_test = {row["id"]: row for row in rows if "again" in row}
        new = [row["id"] for row in rows if "again" not in row]
        rows = [by_test.pop(test) for test in self._claims.rows] + list(by_test.values())
        again = [row.pop("again") for row in rows]
        overall: list[Difference] = []
        if all(again):
            evaluate = corrected([ThresholdResult.from_json(row, row["id"], strict=False) for row in again])
            for row, now, reported in zip(rows, evaluate, self._claims.rows.values(), strict=True):
                row["differences"] += differences(reported, now.to_json(), ("p_holm",))
            overall += _overall(self._claims, "release", [line.to_json() for line in release(evaluate)])
            overall += _overall(self._claims, "marks", [line.to_json() for line in aggregated(evaluate)])
        same = sum(not _broken(row) for row in rows)
        return {
            "run": self._claims.run,
            "same": same == len(rows) and not overall,
            "as_in_the_file": same,
            "not_judged": sum(row.get("not_judged", False) for row in rows),
            "thresholds": rows,
            "new": new,
            "overall": overall if all(again) else None,
        }

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Let the exit code be that of the verification; `conclude` has run before."""
        passed = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
        if self._dry_run.results is not None and session.exitstatus in passed:
            same = self._dry_run.content["same"]
            session.exitstatus = pytest.ExitCode.OK if same else pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        self._dry_run.state.write_problem(terminalreporter)
        if self._dry_run.results is None:
            return
        content = self._dry_run.content
        width = self._dry_run.state.config.get_terminal_writer().fullwidth
        terminalreporter.write_sep("=", "verified")
        broken = [f"{row['id']}: {text}" for row in content["thresholds"] if (text := _broken(row))]
        new = [f"{test}: {NOT_THERE}" for test in content["new"]]
        for text in [*broken, *new, *(in_words([difference]) for difference in content["overall"] or ())]:
            for line in terminal_summary.wrapped(text, width):
                terminalreporter.write_line(line)
        for line in terminal_summary.wrapped(_sentence(content, self._claims), width):
            terminalreporter.write_line(line, green=content["same"], red=not content["same"])
        self._dry_run.write_file_name(terminalreporter)


def verified(item: pytest.Function, claims: ReportedResults) -> dict[str, Any]:
    """Return the differences between a threshold's row in the file and what its test says now, as builtins.

    ``reason`` says why it could not be verified; then there are no ``differences``.
    """
    fairness = item.config.stash[SESSION]
    measured = item.funcargs["measured"]
    assert isinstance(measured, StoredMeasured)  # noqa: S101 - the fixture's, or the test would have errored
    reported = claims.rows[item.nodeid]
    if "sample" not in reported:
        return _unverified(item.nodeid, reported, NO_SAMPLE)
    if "baseline" in item.fixturenames and fairness.settings.baseline is None:
        return _unverified(item.nodeid, reported, NO_BASELINE)
    try:
        measured.stand_for(reported)
    except FairnessError as error:
        return _unverified(item.nodeid, reported, str(error))
    row = threshold_rows.threshold_row(item, _judged(item, measured), measured, "")
    now = redacted(row.to_json(), secret_redactor(fairness.settings))  # as the file is
    record = _record(fairness, claims.run, item.nodeid)
    if record is not None:
        now["looks"] = record["looks"]  # a sample does not tell how often it was looked at
    return {
        "id": item.nodeid,
        "threshold": threshold_rows.threshold_title(item),
        "model": measured.subject.name,
        "reason": "",
        "differences": differences(_without_source(reported), _without_source(now)),
        "again": {name: now[name] for name in _COUNTED},
    }


def _judged(item: pytest.Function, measured: StoredMeasured) -> Judgment:
    try:
        FlakyMark.of(item)
    except FairnessError as error:
        return Judgment(Verdict.INVALID, reason=str(error))
    measured.load()
    return at_look(evaluate(item), measured)


def _without_source(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row without the number and age of attempts from the store: here all come from it."""
    sample = row.get("sample")
    if not isinstance(sample, Mapping):
        return dict(row)
    of_store = ("fairness_from_store", "fairness_oldest")
    return {**row, "sample": {name: count for name, count in sample.items() if name not in of_store}}


def _unverified(test: str, threshold: Mapping[str, Any], reason: str) -> dict[str, Any]:
    named = {"id": test, "threshold": threshold.get("threshold"), "model": threshold.get("model")}
    return {**named, "reason": reason, "differences": [], "again": None}


def _not_judged(test: str, reported: Mapping[str, Any], record: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return whether a run agrees with its file that a threshold was not judged."""
    now = reported if record is None else record
    return _unverified(test, reported, "") | {
        "differences": differences(reported, now, ("verdict",)),
        "again": {name: now[name] for name in _COUNTED_LEFT if name in now},
        "not_judged": now["verdict"] == NOT_JUDGED,
    }


def _record(fairness: FairnessSession, run: str, test: str) -> dict[str, Any] | None:
    """Return what the run itself said of a threshold when it ended, as its store has it."""
    return next((row for row in fairness.store.runs.history(test, fairness.run) if row["run"] == run), None)


def _broken(row: Mapping[str, Any]) -> str:
    """Return what is wrong with a threshold, in words; empty where nothing is."""
    return f"not verified: {row['reason']}" if row["reason"] else in_words(row["differences"])


def _overall(claims: ReportedResults, part: str, now: Sequence[Mapping[str, Any]]) -> list[Difference]:
    """Return the differences of the release and the marks, each line named by its model and subject."""

    def named(lines: object) -> dict[str, Any]:
        rows = [line for line in lines if isinstance(line, Mapping)] if isinstance(lines, Sequence) else []
        return {
            " of ".join(str(line[name]) for name in ("suite", "harm", "model") if name in line): {
                name: value for name, value in line.items() if name in (*_RELEASE, "mark") and value != {}
            }
            for line in rows
        }

    reported, again = named(claims.content.get(part)), named(now)
    return differences({part: reported}, {part: again}, (part,))


def _sentence(content: Mapping[str, Any], claims: ReportedResults) -> str:
    left = content["not_judged"]
    of = f"{content['as_in_the_file'] - left} of {len(content['thresholds']) - left} thresholds"
    if content["same"]:
        rest = f"; {left} {'was' if left == 1 else 'were'} not judged" if left else ""
        return f"verified: {of}, the release and the marks are as in {claims.where}{rest}"
    if content["overall"] is None:
        return f"not verified: {of} are as in {claims.where}; the release and the marks were not made again"
    differ = ", the release or the marks differ" if content["overall"] else ""
    return f"not verified: {of} are as in {claims.where}{differ}"

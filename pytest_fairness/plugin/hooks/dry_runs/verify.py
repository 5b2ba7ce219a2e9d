"""``--fairness-verify RESULTS``: a check that the verdicts of a results file follow from its run's answers.

No request is sent. Each threshold's test is called again on the stored sample of the run, and its result is compared
with that of the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from pytest_fairness.core.decisions import Verdict
from pytest_fairness.core.dry_run_results import FieldDifference, VerifiedThreshold, VerifyResult
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.probe_results import ProbeResult
from pytest_fairness.core.serialization import JsonRecord
from pytest_fairness.core.threshold_results import ThresholdResult
from pytest_fairness.core.verdicts import Judgment
from pytest_fairness.plugin.config.settings import secret_redactor
from pytest_fairness.plugin.hooks.dry_runs.dry_run import DryRun
from pytest_fairness.plugin.hooks.dry_runs.results_diff import (
    FIELDS,
    RECORDED,
    RESULTS_FILE,
    ResultsFile,
    find_differences,
    format_differences,
    format_value,
)
from pytest_fairness.plugin.hooks.dry_runs.stored_measured import StoredMeasured
from pytest_fairness.plugin.judgment import threshold_rows
from pytest_fairness.plugin.judgment.evaluation import evaluate
from pytest_fairness.plugin.judgment.thresholds import at_look
from pytest_fairness.plugin.output import terminal_text
from pytest_fairness.plugin.probes.markers import flaky_mark
from pytest_fairness.plugin.samples.baseline import uses_baseline
from pytest_fairness.plugin.samples.measurement import lazy_measured
from pytest_fairness.plugin.session.session import SESSION, FairnessSession
from pytest_fairness.report.release import NOT_JUDGED, aggregate_marks, corrected, release
from pytest_fairness.report.results import redacted

NO_BASELINE = "name the baseline: --fairness-baseline RUN"
NO_SAMPLE = "its run has not judged it"
NOT_RUN = "its test did not run: it is not there, or was not selected"
NOT_THERE = "the results file does not have it"

_RELEASE = ("verdict", "fair", "unfair", "undecided", "invalid", "unfair_after_holm", "not_judged")
_RELEASE_FIELDS = ("id", "model", "suite", "harm", "verdict", "metric", "p_value", "risk", "mark", "scale")
_UNJUDGED_FIELDS = (*_RELEASE_FIELDS, "message", "outcome")
"""The fields from which the release and the marks are computed."""


@dataclass(frozen=True, slots=True)
class VerificationRow(JsonRecord):
    """The row of a verified threshold, in the report of its test."""

    threshold: VerifiedThreshold
    recomputed: ThresholdResult | None = None
    """The computed fields of the release and the marks; None if the threshold was not verified."""
    is_new: bool = False
    """Whether the results file lacks the threshold."""
    probe: ProbeResult | None = None
    """The recomputed competence of the model at its probe."""


class Verification:
    """Hooks that verify a results file, instead of measuring."""

    def __init__(self, dry_run: DryRun[VerificationRow]) -> None:
        config = dry_run.state.config
        self._dry_run = dry_run
        self._fairness = dry_run.state.fairness
        self._results_file = config.stash[RESULTS_FILE]
        self._failures: dict[str, str] = {}
        """The reasons why tests that ran have no row, by their ids."""
        config.option.runxfail = True  # tests that are expected to fail are verified as well

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        """Verify one threshold; its test fails if anything differs."""
        if pyfuncitem.nodeid not in self._results_file.rows:
            self._dry_run.attach(pyfuncitem, VerificationRow(VerifiedThreshold(id=pyfuncitem.nodeid), is_new=True))
            pytest.skip(f"not verified: {NOT_THERE}")
        if self._results_file.rows[pyfuncitem.nodeid].get("verdict") == NOT_JUDGED:
            pytest.skip(f"not verified: {NO_SAMPLE}")
        content = redacted(
            verify_threshold(pyfuncitem, self._results_file).to_json(), secret_redactor(self._fairness.settings)
        )
        row = VerificationRow.from_json(content, pyfuncitem.nodeid)
        self._dry_run.attach(pyfuncitem, row)
        if text := _format_problem(row.threshold):
            pytest.fail(text, pytrace=False)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed or report.skipped:
            outcome = "failed" if report.failed else "is skipped"
            self._failures[report.nodeid] = f"its test {outcome} before it was judged"

    def conclude(self) -> None:
        """Add the rows of thresholds whose tests did not run, and write the differences."""
        if self._dry_run.state.config.option.collectonly:
            return
        rows = self._dry_run.rows
        runs, run = self._fairness.store.runs, self._results_file.run
        for test, reported in self._results_file.rows.items():
            if reported.get("verdict") == NOT_JUDGED:
                rows[test] = _compare_unjudged(test, reported, _find_stored_row(self._fairness, run, test))
            rows.setdefault(test, _make_unverified_row(test, reported, self._failures.get(test, NOT_RUN)))
        for test, expected in runs.expected_thresholds(run).items():
            stored_row = _find_stored_row(self._fairness, run, test)
            if stored_row is not None and test not in self._results_file.rows:
                verdict = format_value(stored_row["verdict"])
                rows[test] = _make_unverified_row(test, expected, f"{NOT_THERE}, and its run called it {verdict}")
        self._dry_run.conclude(self._content)

    def _content(self, rows: Sequence[VerificationRow]) -> VerifyResult:
        by_test = {row.threshold.id: row for row in rows if not row.is_new}
        in_order = [by_test.pop(test) for test in self._results_file.rows] + list(by_test.values())
        thresholds = [row.threshold for row in in_order]
        recomputed = [row.recomputed for row in in_order if row.recomputed is not None]
        is_complete = len(recomputed) == len(in_order)
        overall: list[FieldDifference] = []
        if is_complete:
            results = corrected(recomputed)
            holm = [
                find_differences(reported, now.to_json(), ("p_holm",))
                for now, reported in zip(results, self._results_file.rows.values(), strict=True)
            ]
            thresholds = [
                replace(row, differences=[*row.differences, *holm_differences])
                for row, holm_differences in zip(thresholds, holm, strict=True)
            ]
            overall += _compare_lines(self._results_file, "release", [line.to_json() for line in release(results)])
            overall += _compare_lines(
                self._results_file, "marks", [line.to_json() for line in aggregate_marks(results)]
            )
            overall += _compare_probes(self._results_file, [row.probe for row in in_order if row.probe is not None])
        same = sum(not _format_problem(row) for row in thresholds)
        return VerifyResult(
            run=self._results_file.run,
            same=same == len(thresholds) and not overall,
            as_in_the_file=same,
            not_judged=sum(bool(row.not_judged) for row in thresholds),
            thresholds=thresholds,
            new=[row.threshold.id for row in rows if row.is_new],
            overall=overall if is_complete else None,
        )

    @property
    def _result(self) -> VerifyResult | None:
        return self._dry_run.results.verify if self._dry_run.results else None

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Set the exit code to the result of the verification; `conclude` runs before."""
        success = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
        if self._result is not None and session.exitstatus in success:
            session.exitstatus = pytest.ExitCode.OK if self._result.same else pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        self._dry_run.state.write_problem(terminalreporter)
        result = self._result
        if result is None:
            return
        width = self._dry_run.state.config.get_terminal_writer().fullwidth
        terminalreporter.write_sep("=", "verified")
        broken = [f"{row.id}: {text}" for row in result.thresholds if (text := _format_problem(row))]
        new = [f"{test}: {NOT_THERE}" for test in result.new]
        for text in [*broken, *new, *(format_differences([difference]) for difference in result.overall or ())]:
            for line in terminal_text.wrap_text(text, width):
                terminalreporter.write_line(line)
        for line in terminal_text.wrap_text(_format_summary(result, self._results_file), width):
            terminalreporter.write_line(line, green=result.same, red=not result.same)
        self._dry_run.write_file_name(terminalreporter)


def verify_threshold(item: pytest.Function, results_file: ResultsFile) -> VerificationRow:
    """Return the row of a threshold: the differences between the file and the recomputed result.

    Args:
        item: The threshold's test.
        results_file: The results to verify.

    Returns:
        The differences, or the reason why it could not be verified.
    """
    fairness = item.config.stash[SESSION]
    measured = lazy_measured(item.funcargs["measured"])
    assert isinstance(measured, StoredMeasured)  # noqa: S101 - the fixture's, or the test would have errored
    reported = results_file.rows[item.nodeid]
    if "sample" not in reported:
        return _make_unverified_row(item.nodeid, reported, NO_SAMPLE)
    if uses_baseline(item) and fairness.settings.baseline is None:
        return _make_unverified_row(item.nodeid, reported, NO_BASELINE)
    try:
        measured.load_look(reported)
    except FairnessError as error:
        return _make_unverified_row(item.nodeid, reported, str(error))
    row = threshold_rows.threshold_row(item, _judge(item, measured), measured, "")
    now = redacted(row.to_json(), secret_redactor(fairness.settings))  # as in the file
    stored_row = _find_stored_row(fairness, results_file.run, item.nodeid)
    fields: tuple[str, ...] = FIELDS
    if stored_row is not None:  # the sample does not show the number of looks, for instance
        fields = (*FIELDS, *RECORDED)
        now |= {name: stored_row.get(name) for name in ("looks", *RECORDED)}
    threshold = VerifiedThreshold(
        id=item.nodeid,
        threshold=threshold_rows.threshold_title(item),
        model=measured.subject.name,
        differences=find_differences(_without_source(reported), _without_source(now), fields),
    )
    return VerificationRow(threshold, _release_fields(now, _RELEASE_FIELDS), probe=measured.probe_result)


def _judge(item: pytest.Function, measured: StoredMeasured) -> Judgment:
    try:
        flaky_mark(item)
    except FairnessError as error:
        return Judgment(Verdict.INVALID, reason=str(error))
    measured.load()
    return at_look(item, evaluate(item), measured)


def _without_source(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row without the number and age of attempts from the store, since here all are from it."""
    sample = row.get("sample")
    if not isinstance(sample, Mapping):
        return dict(row)
    store_fields = ("fairness_from_store", "fairness_oldest")
    return {**row, "sample": {name: count for name, count in sample.items() if name not in store_fields}}


def _release_fields(row: Mapping[str, Any], names: Sequence[str]) -> ThresholdResult:
    return ThresholdResult.from_json({name: row[name] for name in names if name in row}, row["id"], strict=False)


def _make_unverified_row(test: str, row: Mapping[str, Any], reason: str) -> VerificationRow:
    title, model = row.get("threshold"), row.get("model")
    return VerificationRow(VerifiedThreshold(id=test, threshold=_text(title), model=_text(model), reason=reason))


def _text(value: object) -> str | None:
    """Return a value of the file if it is a text."""
    return value if isinstance(value, str) else None


def _compare_unjudged(test: str, reported: Mapping[str, Any], stored_row: Mapping[str, Any] | None) -> VerificationRow:
    """Return the row of a threshold that the file has as not judged, compared with the stored run."""
    now = reported if stored_row is None else stored_row
    threshold = replace(
        _make_unverified_row(test, reported, "").threshold,
        differences=find_differences(reported, now, ("verdict",)),
        not_judged=now["verdict"] == NOT_JUDGED,
    )
    try:
        return VerificationRow(threshold, _release_fields({**now, "id": test}, _UNJUDGED_FIELDS))
    except FairnessError as error:  # the file's fields have other types
        return _make_unverified_row(test, reported, str(error))


def _find_stored_row(fairness: FairnessSession, run: str, test: str) -> dict[str, Any] | None:
    """Return the row of a threshold that the run has stored at its end, if there is one."""
    return next((row for row in fairness.store.runs.history(test, before=fairness.run) if row["run"] == run), None)


def _format_problem(row: VerifiedThreshold) -> str:
    """Return the problem of a threshold in words; empty if there is none."""
    return f"not verified: {row.reason}" if row.reason else format_differences(row.differences)


def _compare_lines(results_file: ResultsFile, part: str, now: Sequence[Mapping[str, Any]]) -> list[FieldDifference]:
    """Return the differences between lines of the release or the marks, by suite or harm and model."""

    def by_name(lines: object) -> dict[str, Any]:
        rows = [line for line in lines if isinstance(line, Mapping)] if isinstance(lines, Sequence) else []
        return {
            " of ".join(str(line[name]) for name in ("suite", "harm", "model") if name in line): {
                name: value for name, value in line.items() if name in (*_RELEASE, "mark") and value != {}
            }
            for line in rows
        }

    reported, current = by_name(results_file.content.get(part)), by_name(now)
    return find_differences({part: reported}, {part: current}, (part,))


def _compare_probes(results_file: ResultsFile, recomputed: Sequence[ProbeResult]) -> list[FieldDifference]:
    """Return the differences between the probes of the file and those of the largest recomputed samples.

    Remarks and replies are left out: they are about the answers, which a stored sample does not hold.
    """

    def by_name(rows: object, *names: str) -> dict[str, Any]:
        parts = [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, Sequence) else []
        return {" ".join(str(row.get(name)) for name in names): dict(row) for row in parts}

    def numbers(probes: object) -> dict[str, Any]:
        by_probe = by_name(probes, "probe", "model")
        for probe in by_probe.values():
            probe.pop("remarks", None)
            probe.pop("replies", None)
            probe["responses"] = by_name(probe.get("responses"), "grade", "attribute")
            probe["grades"] = by_name(probe.get("grades"), "grade")
        return by_probe

    smallest_first = sorted(recomputed, key=lambda probe: probe.attempts)
    reported = numbers(results_file.content.get("probes"))
    current = {
        name: probe
        for name, probe in numbers([probe.to_json() for probe in smallest_first]).items()
        if name in reported
    }
    return find_differences({"probes": reported}, {"probes": current}, ("probes",))


def _format_summary(result: VerifyResult, results_file: ResultsFile) -> str:
    unjudged = result.not_judged
    count = f"{result.as_in_the_file - unjudged} of {len(result.thresholds) - unjudged} thresholds"
    if result.same:
        note = f"; {unjudged} {'was' if unjudged == 1 else 'were'} not judged" if unjudged else ""
        return f"verified: {count}, the release and the marks are as in {results_file.where}{note}"
    if result.overall is None:
        return f"not verified: {count} are as in {results_file.where}; the release and the marks were not made again"
    differ = ", the release, the marks or the probes differ" if result.overall else ""
    return f"not verified: {count} are as in {results_file.where}{differ}"

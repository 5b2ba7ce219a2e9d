"""``--fairness-verify RESULTS``: whether every verdict of a results file follows from its run's answers.

No model is asked. Each threshold's test is called again on the sample that the run has in
the store, and what comes out is compared with what the file says.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from pytest_fairness.core.errors import FairnessError, StoreError
from pytest_fairness.core.verdicts import Judgement, Verdict
from pytest_fairness.report.marking import aggregated
from pytest_fairness.report.release import NOT_JUDGED, corrected, release
from pytest_fairness.report.results import redacted
from pytest_fairness.session import rows, summary
from pytest_fairness.session.baseline import earlier_runs, named_models
from pytest_fairness.session.conditions import WRAPPED
from pytest_fairness.session.dry_runs.claims import (
    CLAIMS,
    Claims,
    Difference,
    differences,
    in_words,
    read_claims,
    shown,
)
from pytest_fairness.session.dry_runs.dry_run import DryRun
from pytest_fairness.session.dry_runs.stored import StoredMeasured
from pytest_fairness.session.probes import FlakyMark
from pytest_fairness.session.rehearsal import judged
from pytest_fairness.session.settings import Folders, Settings, data_folders, where_of
from pytest_fairness.session.state import SESSION, FairnessSession
from pytest_fairness.session.telling import hiding_secrets
from pytest_fairness.session.thresholds import at_look

NO_BASELINE = "name the baseline: --fairness-baseline RUN"
NO_SAMPLE = "its run has not judged it"
NOT_RUN = "its test did not run: it is not there, or was not selected"
NOT_THERE = "the results file does not have it"

_RELEASE = ("verdict", "fair", "unfair", "undecided", "invalid", "unfair_after_holm", "not_judged")
_COUNTED = ("id", "model", "suite", "harm", "verdict", "metric", "p_value", "risk", "mark", "scale")
_COUNTED_LEFT = (*_COUNTED, "message", "outcome")
"""What the release and the marks are made from."""


def as_verified(settings: Settings, config: pytest.Config) -> Settings:
    """The settings that the results file's run had: its models, samples, judge, data and baseline.

    Raises `FairnessError`, in one line, where the file is none or its run is not in the store.
    """
    assert settings.verify is not None  # noqa: S101 - asked where it is given
    content = redacted(read_claims(settings.verify), hiding_secrets(settings))
    claims = config.stash[CLAIMS] = Claims(settings.verify, content)
    with earlier_runs(settings.store) as runs:
        if not runs.samples(claims.run):
            raise StoreError(
                f"the store {settings.store} has no samples of the run of {claims.where}: "
                "name the store that it was measured with (--fairness-store)"
            )
        known = named_models(runs, claims.run)
    said = dict.fromkeys(str(row.get("model")).partition(WRAPPED)[0] for row in claims.rows.values())
    data = data_folders(claims.option("data"), settings.root)
    return replace(
        settings,
        models=tuple(name for name in said if name in known),
        judge=claims.told("judge", str | None, settings.judge),
        where=where_of(claims.option("where")),
        sample=claims.told("sample", int | None, settings.sample),
        seed=claims.told("seed", int, settings.seed),
        baseline=next(iter(claims.option("baseline")), settings.baseline),
        data=Folders(data | settings.data),
        offline=True,
        fresh=False,
        json=None if settings.json and settings.json.resolve() == settings.verify.resolve() else settings.json,
    )


class Verification(DryRun):
    """A run that verifies a results file instead of judging a model."""

    section = "verify"
    heading = "verified"

    def __init__(self, config: pytest.Config, fairness: FairnessSession) -> None:
        super().__init__(config, fairness)
        self._claims = config.stash[CLAIMS]
        self._unheard: dict[str, str] = {}
        """Why a test that ran gave no row."""
        config.option.runxfail = True  # what is expected to fail is verified like the rest

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        """Verify one threshold; its test fails where anything differs."""
        if pyfuncitem.nodeid not in self._claims.rows:
            self._carry(pyfuncitem, {"id": pyfuncitem.nodeid})
            pytest.skip(f"not verified: {NOT_THERE}")
        if self._claims.rows[pyfuncitem.nodeid].get("verdict") == NOT_JUDGED:
            pytest.skip(f"not verified: {NO_SAMPLE}")
        row = redacted(verified(pyfuncitem, self._claims), hiding_secrets(self._fairness.settings))
        self._carry(pyfuncitem, row)
        if text := _broken(row):
            pytest.fail(text, pytrace=False)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        super().pytest_runtest_logreport(report)
        if report.failed or report.skipped:
            what = "failed" if report.failed else "is skipped"
            self._unheard[report.nodeid] = f"its test {what} before it was judged"

    def _conclude(self) -> None:
        if self._config.option.collectonly:
            return
        runs, run = self._fairness.store.runs, self._claims.run
        for test, said in self._claims.rows.items():
            if said.get("verdict") == NOT_JUDGED:
                self._rows[test] = _not_judged(test, said, _record(self._fairness, run, test))
            self._rows.setdefault(test, _unverified(test, said, self._unheard.get(test, NOT_RUN)))
        for test, known in runs.expected_thresholds(run).items():
            record = _record(self._fairness, run, test)
            if record is not None and test not in self._claims.rows:
                verdict = shown(record["verdict"])
                self._rows[test] = _unverified(test, known, f"{NOT_THERE}, and its run called it {verdict}")
        super()._conclude()

    def _content(self, found: Sequence[dict[str, Any]]) -> dict[str, Any]:
        by_test = {row["id"]: row for row in found if "again" in row}
        new = [row["id"] for row in found if "again" not in row]
        found = [by_test.pop(test) for test in self._claims.rows] + list(by_test.values())
        again = [row.pop("again") for row in found]
        overall: list[Difference] = []
        if all(again):
            judged = corrected(again)
            for row, now, said in zip(found, judged, self._claims.rows.values(), strict=True):
                row["differences"] += differences(said, now, ("p_holm",))
            overall += _overall(self._claims, "release", release(judged))
            overall += _overall(self._claims, "marks", aggregated(judged))
        same = sum(not _broken(row) for row in found)
        return {
            "run": self._claims.run,
            "same": same == len(found) and not overall,
            "as_in_the_file": same,
            "not_judged": sum(row.get("not_judged", False) for row in found),
            "thresholds": found,
            "new": new,
            "overall": overall if all(again) else None,
        }

    def _lines(self, model: str, found: Sequence[Mapping[str, Any]], width: int) -> Iterator[str]:  # noqa: ARG002
        for row in found:
            if text := _broken(row):
                yield from summary.wrapped(f"{row['id']}: {text}", width)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        super().pytest_sessionfinish(session)
        well = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
        if self._results is not None and session.exitstatus in well:
            same = self._results[self.section]["same"]
            session.exitstatus = pytest.ExitCode.OK if same else pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._problem:
            terminalreporter.write_line(f"fairness: {self._problem}", red=True)
        if self._results is None:
            return
        found = self._results[self.section]
        width = self._config.get_terminal_writer().fullwidth
        terminalreporter.write_sep("=", self.heading)
        for line in self._lines("", found["thresholds"], width):
            terminalreporter.write_line(line)
        new = [f"{test}: {NOT_THERE}" for test in found["new"]]
        for text in [*new, *(in_words([each]) for each in found["overall"] or ())]:
            for line in summary.wrapped(text, width):
                terminalreporter.write_line(line)
        for line in summary.wrapped(_sentence(found, self._claims), width):
            terminalreporter.write_line(line, green=found["same"], red=not found["same"])
        if self._fairness.settings.json is not None:
            terminalreporter.write_line(f"results: {self._fairness.settings.json}")


def verified(item: pytest.Function, claims: Claims) -> dict[str, Any]:
    """Where a threshold's row of the file differs from what its test says now, as builtins.

    ``reason`` says why it could not be verified; then there are no ``differences``.
    """
    fairness = item.config.stash[SESSION]
    measured = item.funcargs["measured"]
    assert isinstance(measured, StoredMeasured)  # noqa: S101 - the fixture's, or the test would have errored
    said = claims.rows[item.nodeid]
    if "sample" not in said:
        return _unverified(item.nodeid, said, NO_SAMPLE)
    if "baseline" in item.fixturenames and fairness.settings.baseline is None:
        return _unverified(item.nodeid, said, NO_BASELINE)
    try:
        measured.stand_for(said)
    except FairnessError as error:
        return _unverified(item.nodeid, said, str(error))
    row = rows.threshold_row(item, _judged(item, measured), measured, "")
    now = json.loads(json.dumps({name: value for name, value in row.items() if name != "metrics"}))
    now = redacted(now, hiding_secrets(fairness.settings))  # as the file is
    record = _record(fairness, claims.run, item.nodeid)
    if record is not None:
        now["looks"] = record["looks"]  # a sample does not tell how often it was looked at
    return {
        "id": item.nodeid,
        "threshold": rows.title_of(item),
        "model": measured.subject.name,
        "reason": "",
        "differences": differences(_without_source(said), _without_source(now)),
        "again": {name: now[name] for name in _COUNTED},
    }


def _judged(item: pytest.Function, measured: StoredMeasured) -> Judgement:
    try:
        FlakyMark.of(item)
    except FairnessError as error:
        return Judgement(Verdict.INVALID, reason=str(error))
    measured.load()
    return at_look(judged(item), measured)


def _without_source(row: Mapping[str, Any]) -> dict[str, Any]:
    """Without how many attempts came from the store, and from when: here all do."""
    sample = row.get("sample")
    if not isinstance(sample, Mapping):
        return dict(row)
    of_store = ("fairness_from_store", "fairness_oldest")
    return {**row, "sample": {name: count for name, count in sample.items() if name not in of_store}}


def _unverified(test: str, known: Mapping[str, Any], reason: str) -> dict[str, Any]:
    named = {"id": test, "threshold": known.get("threshold"), "model": known.get("model")}
    return {**named, "reason": reason, "differences": [], "again": None}


def _not_judged(test: str, said: Mapping[str, Any], record: Mapping[str, Any] | None) -> dict[str, Any]:
    """Of a threshold that the file calls not judged: whether its run says so as well."""
    now = said if record is None else record
    return _unverified(test, said, "") | {
        "differences": differences(said, now, ("verdict",)),
        "again": {name: now.get(name) for name in _COUNTED_LEFT},
        "not_judged": now["verdict"] == NOT_JUDGED,
    }


def _record(fairness: FairnessSession, run: str, test: str) -> dict[str, Any] | None:
    """What the run itself said of a threshold when it ended, as its store has it."""
    return next((row for row in fairness.store.runs.history(test, fairness.run) if row["run"] == run), None)


def _broken(row: Mapping[str, Any]) -> str:
    """What is wrong with a threshold, in words; empty where nothing is."""
    return f"not verified: {row['reason']}" if row["reason"] else in_words(row["differences"])


def _overall(claims: Claims, part: str, now: Sequence[Mapping[str, Any]]) -> list[Difference]:
    """Where the release or the marks differ, each line named by its model and what it is about."""

    def named(lines: object) -> dict[str, Any]:
        known = [line for line in lines if isinstance(line, Mapping)] if isinstance(lines, Sequence) else []
        return {
            " of ".join(str(line[name]) for name in ("suite", "harm", "model") if name in line): {
                name: value for name, value in line.items() if name in (*_RELEASE, "mark") and value != {}
            }
            for line in known
        }

    said, again = named(claims.content.get(part)), named(now)
    return differences({part: said}, {part: again}, (part,))


def _sentence(found: Mapping[str, Any], claims: Claims) -> str:
    left = found["not_judged"]
    of = f"{found['as_in_the_file'] - left} of {len(found['thresholds']) - left} thresholds"
    if found["same"]:
        rest = f"; {left} {'was' if left == 1 else 'were'} not judged" if left else ""
        return f"verified: {of}, the release and the marks are as in {claims.where}{rest}"
    if found["overall"] is None:
        return f"not verified: {of} are as in {claims.where}; the release and the marks were not made again"
    differ = ", the release or the marks differ" if found["overall"] else ""
    return f"not verified: {of} are as in {claims.where}{differ}"

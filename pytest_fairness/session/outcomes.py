"""How verdicts show in pytest's own reports: the flaky outcome, and rows gathered in one place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_fairness.report.release import not_judged
from pytest_fairness.session.causes import CAUSE, CauseCounts
from pytest_fairness.session.identity import model_source, sample_of
from pytest_fairness.session.measuring import STOPPED, LazyMeasured
from pytest_fairness.session.rows import PREFIX, from_properties
from pytest_fairness.session.searching import properties as search_properties
from pytest_fairness.session.shard_tests import DEFERRED
from pytest_fairness.session.thresholds import FLAKY, METRICS, is_threshold

_LONGEST = 500
"""Characters of the reason why a threshold has no verdict."""
UNJUDGED = "it could not be judged: "
"""Begins the reason of a threshold whose test failed before it was called, or in it."""

SUBJECT = PREFIX + "subject"
"""The property of a report that names the model that its test was given, whatever became of the test."""


def dress(item: pytest.Item, report: pytest.TestReport) -> None:
    """Make a flaky threshold's report read so, and let its estimates travel with it; note why one was not judged."""
    if not report.passed and is_threshold(item) and not _has_properties(item):
        # Of the test, not of this report, which would be taken for a row: a JUnit file has them from the last report.
        item.user_properties += [(PREFIX + name, text) for name, text in unheard(report).items() if name != "outcome"]
    if report.when != "call":
        return
    metrics = item.stash.get(METRICS, None)
    if metrics is not None:
        report.user_properties.append((PREFIX + "metrics", json.dumps(metrics)))
    report.user_properties += search_properties(item)
    if subject := _subject(item):
        report.user_properties.append((SUBJECT, json.dumps([model_source(item), subject])))
    reason = item.stash.get(FLAKY, None)
    if reason is not None and report.outcome == "passed" and not hasattr(report, "wasxfail"):
        # Any other outcome or form breaks the terminal or JUnit; "passed" would hide it there.
        report.outcome = "skipped"
        path, line, _ = item.location
        report.longrepr = (path, line or 0, reason)


def _has_properties(item: pytest.Item) -> bool:
    return any(name.startswith(PREFIX) and name != CAUSE for name, _ in item.user_properties)


def status(report: pytest.TestReport) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
    """Category, letter and word of a flaky threshold; None for every other report."""
    if report.when != "call" or not report.skipped or hasattr(report, "wasxfail"):
        return None
    if (PREFIX + "verdict", "undecided") not in report.user_properties:
        return None
    return "flaky", "~", ("FLAKY", {"yellow": True})


class Outcomes:
    """What the reports of a run said, serial or distributed; the last report of an id counts."""

    def __init__(self) -> None:
        self._rows: dict[str, dict[str, Any]] = {}
        self._measured: dict[str, dict[str, Any]] = {}
        self._excuses: dict[str, dict[str, str]] = {}
        """Verdict, message and outcome of tests that have no row of their own."""
        self._subjects: dict[str, str] = {}
        """Models' names by what makes them: a threshold that errors, or never runs, tells none."""
        self.causes = CauseCounts()
        self.failures = 0

    def add(self, report: pytest.TestReport) -> None:
        """Take in one report."""
        if report.outcome == "rerun":  # type: ignore[comparison-overlap]  # rerunfailures' own word
            return
        if report.failed:
            self.failures += 1
        self.causes.add(report)
        told = dict(report.user_properties)
        if SUBJECT in told:
            source, subject = json.loads(str(told[SUBJECT]))
            self._subjects[source] = subject
        properties = [each for each in told.items() if each[0].startswith(PREFIX) and each[0] not in (SUBJECT, CAUSE)]
        if report.when == "call" and properties:
            row = from_properties(properties)
            if row is not None:
                self._rows[report.nodeid] = row | {"outcome": _outcome(report)}
            else:
                self._measured[report.nodeid] = {name.removeprefix(PREFIX): value for name, value in properties}
        elif report.nodeid not in self._rows and (report.failed or report.skipped):
            self._excuses[report.nodeid] = unheard(report)

    def of_here(self, expected: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        """Those of a run's thresholds that this session has called, or none selects: its shards may select others."""
        called = self._rows.keys() | self._excuses.keys()
        return {test: row for test, row in expected.items() if test in called or "verdict" in row}

    @property
    def searches(self) -> list[dict[str, Any]]:
        """What the tests have searched that take `flips`."""
        return [row for told in self._measured.values() for row in json.loads(told.get("searches", "[]"))]

    @property
    def deferred(self) -> int:
        """How many thresholds were left to another shard."""
        return sum(f"skipped: {DEFERRED}" in excuse["message"] for excuse in self._excuses.values())

    def shard_line(self, shard: str, run: str) -> str:
        """What a shard says that leaves the verdicts to another."""
        counts = ((len(self._measured), "item", "measured"), (self.deferred, "threshold", "deferred"))
        said = ", ".join(f"{count:,} {what}{'s' * (count != 1)} {done}" for count, what, done in counts)
        return f"fairness: shard {shard} of run {run}: {said}"

    @property
    def any(self) -> bool:
        """Whether anything was reported that a fairness run could have to do with."""
        return bool(self._rows or self._measured or self._excuses)

    def rows(self, expected: dict[str, dict[str, Any]], *, stopped: bool) -> list[dict[str, Any]]:
        """A row for every threshold that was collected; ``stopped`` says why one may be lacking."""
        silent = not_judged(STOPPED if stopped else "its test gave no result", "not run")
        tests = {(of.get("probe"), of.get("item"), of.get("model")): test for test, of in self._measured.items()}
        for row in self._rows.values():
            if example := row.get("example"):  # its own test, where that has run here or is another shard's
                own = tests.get((row["probe"], example["item"], row["model"]))
                example["test"] = own or example["test"]
        return [
            self._rows.get(test) or silent | known | self._excuses.get(test, {})
            for test, known in self._with_subjects(expected).items()
        ]

    def _with_subjects(self, expected: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        """What was expected, with the model that each threshold is about where another test was given it.

        A threshold of a file that could not be read is about the only model of the run, if there is but one.
        """
        models = {*self._subjects.values(), *(row["model"] for row in self._rows.values())}
        only = models.pop() if len(models) == 1 else ""
        named = {}
        for test, known in expected.items():
            row = dict(known)
            row["model"] = self._subjects.get(row.pop("model_source", ""), known["model"] or only)
            named[test] = row
        return named

    def totals(self, rows: list[dict[str, Any]]) -> dict[str, int]:
        """Attempts of the run: a probe's whole sample where a threshold took it, else item by item."""
        whole: dict[tuple[str, str], dict[str, int]] = {}
        for row in rows:
            if row.get("sample"):  # thresholds of one probe may have looked at samples of several sizes
                known = whole.setdefault((row["probe"], row["model"]), row["sample"])
                if known[PREFIX + "attempts"] < row["sample"][PREFIX + "attempts"]:
                    whole[row["probe"], row["model"]] = row["sample"]
        items: dict[tuple[object, ...], dict[str, Any]] = {}
        for nodeid, counts in self._measured.items():
            if (counts.get("probe"), counts["model"]) not in whole:
                # A search is of no probe; an item may have several tests, in two classes that inherit them.
                of = (counts["probe"], counts["item"], counts["model"]) if "probe" in counts else (nodeid,)
                items[of] = {PREFIX + name: value for name, value in counts.items()}
        parts = [*whole.values(), *items.values()]
        names = ("attempts", "from_store", "ungraded")
        return {name: sum(int(part[PREFIX + name]) for part in parts) for name in names}


def _subject(item: pytest.Item) -> str | None:
    """The name of the model that a test was given."""
    measured = getattr(item, "funcargs", {}).get("measured")
    if isinstance(measured, LazyMeasured):
        return measured.subject.name
    name = dict(item.user_properties).get(PREFIX + "model") if sample_of(item) else None
    return None if name is None else str(name)


def _outcome(report: pytest.TestReport) -> str:
    if status(report) is not None:
        return "flaky"
    if hasattr(report, "wasxfail"):
        return "xfailed" if report.skipped else "xpassed"
    return report.outcome


def unheard(report: pytest.TestReport | pytest.CollectReport) -> dict[str, str]:
    """Why a test, or all of a file, has no verdict, in one line: what a row has of it."""
    if report.skipped:
        reason = getattr(report, "wasxfail", None)
        if reason is not None:
            named = f": {in_line(reason)}" if reason else ""
            return not_judged(f"skipped: expected to fail{named}", "skipped")
        _, _, reason = report.longrepr if isinstance(report.longrepr, tuple) else ("", 0, "")
        reason = in_line(reason.removeprefix("Skipped: "))
        return not_judged(STOPPED, "not run") if reason == STOPPED else not_judged(f"skipped: {reason}", "skipped")
    if getattr(report, "when", "") == "???":
        reason = "its worker crashed while it ran"
    else:
        crash = getattr(report.longrepr, "reprcrash", None)
        text = crash.message if crash else _told(report.longreprtext)
        reason = f"{UNJUDGED}{in_line(text.removeprefix('Failed: '))}"
    return {"verdict": "invalid", "message": f"invalid: {reason}", "outcome": "failed"}


def _told(text: str) -> str:
    """The message in what pytest shows: what stands behind an ``E``; of a failure without a traceback all of it."""
    marked = [line[1:] for line in text.splitlines() if line.startswith("E ")]
    return " ".join(marked) or text


def in_line(text: str) -> str:
    """Return a reason on one line, cut where it is too long."""
    line = " ".join(text.split()) or "no reason given"
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3]}..."

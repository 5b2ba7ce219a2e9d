"""How verdicts show in pytest's own reports: the flaky outcome, and rows gathered in one place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_fairness.session.rows import PREFIX, from_properties
from pytest_fairness.session.searching import properties as search_properties
from pytest_fairness.session.shard_tests import DEFERRED
from pytest_fairness.session.thresholds import FLAKY, METRICS


def dress(item: pytest.Item, report: pytest.TestReport) -> None:
    """Make a flaky threshold's report read so, and let its estimates travel with it."""
    if report.when != "call":
        return
    metrics = item.stash.get(METRICS, None)
    if metrics is not None:
        report.user_properties.append((PREFIX + "metrics", json.dumps(metrics)))
    report.user_properties += search_properties(item)
    reason = item.stash.get(FLAKY, None)
    if reason is not None and report.outcome == "passed" and not hasattr(report, "wasxfail"):
        # Any other outcome or form breaks the terminal or JUnit; "passed" would hide it there.
        report.outcome = "skipped"
        path, line, _ = item.location
        report.longrepr = (path, line or 0, reason)


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
        self._excuses: dict[str, str] = {}
        self.failures = 0

    def add(self, report: pytest.TestReport) -> None:
        """Take in one report."""
        if report.outcome == "rerun":  # type: ignore[comparison-overlap]  # rerunfailures' own word
            return
        if report.failed:
            self.failures += 1
        properties = [(name, value) for name, value in report.user_properties if name.startswith(PREFIX)]
        if report.when == "call" and properties:
            row = from_properties(properties)
            if row is not None:
                self._rows[report.nodeid] = row | {"outcome": _outcome(report)}
            else:
                self._measured[report.nodeid] = {name.removeprefix(PREFIX): value for name, value in properties}
        elif report.nodeid not in self._rows and (report.failed or report.skipped):
            self._excuses[report.nodeid] = _excuse(report)

    def of_here(self, expected: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        """Those of a run's thresholds that this session has called: the shards of a run may select others."""
        return {test: row for test, row in expected.items() if test in self._rows or test in self._excuses}

    @property
    def searches(self) -> list[dict[str, Any]]:
        """What the tests have searched that take `flips`."""
        return [row for told in self._measured.values() for row in json.loads(told.get("searches", "[]"))]

    @property
    def deferred(self) -> int:
        """How many thresholds were left to another shard."""
        return sum(excuse.startswith(f"skipped: {DEFERRED}") for excuse in self._excuses.values())

    def shard_line(self, shard: str, run: str) -> str:
        """What a shard says that leaves the verdicts to another."""
        counts = ((len(self._measured), "item", "measured"), (self.deferred, "threshold", "deferred"))
        said = ", ".join(f"{count:,} {what}{'s' * (count != 1)} {done}" for count, what, done in counts)
        return f"fairness: shard {shard} of run {run}: {said}"

    @property
    def any(self) -> bool:
        """Whether anything was reported that a fairness run could have to do with."""
        return bool(self._rows or self._measured or self._excuses)

    def rows(self, expected: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
        """A row for every threshold that was selected: one that never reported is invalid."""
        rows = []
        for test, known in expected.items():
            row = self._rows.get(test)
            if row is None:
                reason = self._excuses.get(test, "its test did not run")
                if reason.startswith("skipped"):
                    continue
                row = known | {"verdict": "invalid", "message": f"invalid: {reason}", "outcome": "failed"}
            rows.append(row)
        return rows

    def totals(self, rows: list[dict[str, Any]]) -> dict[str, int]:
        """Attempts of the run: a probe's whole sample where a threshold took it, else test by test."""
        whole: dict[tuple[str, str], dict[str, int]] = {}
        for row in rows:
            if row.get("sample"):  # thresholds of one probe may have looked at samples of several sizes
                known = whole.setdefault((row["probe"], row["model"]), row["sample"])
                if known[PREFIX + "attempts"] < row["sample"][PREFIX + "attempts"]:
                    whole[row["probe"], row["model"]] = row["sample"]
        parts = list(whole.values())
        for nodeid, counts in self._measured.items():
            probe = nodeid.partition("[")[0]
            if (probe, counts["model"]) not in whole:
                parts.append({PREFIX + name: value for name, value in counts.items() if name != "model"})
        names = ("attempts", "from_store", "ungraded")
        return {name: sum(int(part[PREFIX + name]) for part in parts) for name in names}


def _outcome(report: pytest.TestReport) -> str:
    if status(report) is not None:
        return "flaky"
    if hasattr(report, "wasxfail"):
        return "xfailed" if report.skipped else "xpassed"
    return report.outcome


def _excuse(report: pytest.TestReport) -> str:
    """Why a test has no verdict, in one line."""
    if str(report.when) == "???":
        return "its worker crashed while it ran"
    if report.skipped:
        _, _, reason = report.longrepr if isinstance(report.longrepr, tuple) else ("", 0, "")
        return f"skipped: {reason.removeprefix('Skipped: ')}"
    text = report.longreprtext.strip().splitlines()
    last = text[-1].removeprefix("E").strip() if text else "no reason given"
    return f"it could not be judged: {last}"

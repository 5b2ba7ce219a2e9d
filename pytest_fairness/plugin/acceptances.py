"""Accepted verdicts of the project, and the thresholds of a run that they cover."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_fairness.core.acceptance_results import AcceptanceResult
from pytest_fairness.core.acceptance_states import ACCEPTED, BROKEN, EXPIRED, FILE
from pytest_fairness.core.clock import Clock
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.model_names import keys_in_runs
from pytest_fairness.plugin.settings import Settings
from pytest_fairness.report.release import NOT_JUDGED

if TYPE_CHECKING:
    from pytest_fairness.core.acceptances import Acceptance
    from pytest_fairness.core.threshold_results import ThresholdResult
    from pytest_fairness.plugin.history import History
    from pytest_fairness.plugin.markers import FlakyMark

REPORT_ACCEPTED = "pass"
"""The value of ``--fairness-accepted`` by which a test whose verdict is accepted does not fail."""
SURE = 0.9
"""The probability from which a history shows that a threshold is more flaky than its mark allows."""


class Acceptances:
    """The file of accepted verdicts in the folder of the ini file, read once by each process."""

    def __init__(self, settings: Settings) -> None:
        self._folders = settings.folders
        self._root = settings.root

    @cached_property
    def _entries(self) -> dict[tuple[str, str], Acceptance]:
        """The entries by threshold and model."""
        path = self._folders.home / FILE
        if not path.exists():
            return {}
        from pytest_fairness.core.acceptances import read_acceptances

        return {_key(entry.threshold, entry.model): entry for entry in read_acceptances(path)}

    def check(self) -> None:
        """Check the file, before the first test runs.

        Raises:
            FairnessError: An entry is malformed, or its test is not in its file.
        """
        if not self._entries:
            return
        from pytest_fairness.plugin.overrides import find_test_names

        for entry in self._entries.values():
            file, _, name = entry.threshold.partition("[")[0].partition("::")
            path = self._root / file
            names = find_test_names(path) if name and "::" not in name and path.is_file() else set()
            if names and name not in names:
                nearest = difflib.get_close_matches(name, sorted(names), n=1, cutoff=0.0)[0]
                raise FairnessError(f"{entry.where}: {file} has no threshold {name!r}; the nearest is {nearest!r}")

    def applied_to(self, row: ThresholdResult) -> AcceptanceResult | None:
        """Return the result of a threshold's entry: whether it covers the verdict; None without an entry."""
        entry = next(filter(None, map(self._entries.get, _keys(row))), None)
        return None if entry is None else entry.applied_to(row, _today())

    def results(self, rows: Sequence[ThresholdResult]) -> list[AcceptanceResult]:
        """Return the result of every entry in this run, in the order of the file, and then of the flaky marks."""
        marked = [row.accepted for row in rows if row.accepted is not None and row.accepted.flaky]
        judged = {key: row.accepted for row in rows for key in _keys(row)}
        unjudged = {key for row in rows if row.verdict == NOT_JUDGED for key, _ in (*_keys(row), (row.id, ""))}
        return [
            judged.get(key) or entry.unused(_today(), self._explain_unused(entry, unjudged))
            for key, entry in self._entries.items()
        ] + marked

    def _explain_unused(self, entry: Acceptance, unjudged: Collection[str]) -> str:
        """Return the reason why no threshold used an entry."""
        from pytest_fairness.plugin.overrides import find_test_names

        file = entry.threshold.partition("[")[0].partition("::")[0]
        path = self._root / file
        if not path.is_file():
            return f"{file} is gone: remove the entry, or correct its threshold ({entry.where})"
        if _key(entry.threshold, entry.model)[0] in unjudged or file in unjudged:  # a file that was skipped has a row
            return "the threshold was not judged in this run"
        if not find_test_names(path):
            return f"{file} has no thresholds: remove the entry, or correct its threshold ({entry.where})"
        return "this run has no such threshold on this model"


def _key(test: str, model: str) -> tuple[str, str]:
    """Return the key of an entry: its test, as of a run with no other model of that id, and its model."""
    return keys_in_runs(test, model)[0], model


def _keys(row: ThresholdResult) -> list[tuple[str, str]]:
    """Return the keys of the entries that are a row's: by its stored id, or by that of its test, with the alias."""
    return [_key(test, row.model) for test in dict.fromkeys((row.stored_id, row.id))]


def marked_acceptance(
    mark: FlakyMark, row: ThresholdResult, history: History, *, near_bound: bool
) -> AcceptanceResult | None:
    """Return the acceptance that a flaky mark writes at its test: of *undecided* only, near a bound, until a day.

    Args:
        mark: The mark, checked.
        row: The threshold in this run.
        history: Its earlier runs.
        near_bound: Whether an interval that crosses a bound is why it has no verdict.

    Returns:
        The acceptance with its state; None for a fair threshold, since a flaky one is often fair.
    """
    if row.verdict == "fair":
        return None
    state, why = _state_of(mark, row, history, near_bound=near_bound)
    path, line = row.location
    return AcceptanceResult(
        threshold=row.stored_id,
        title=row.threshold,
        model=row.model,
        verdict="undecided",
        estimates=row.failing if state == ACCEPTED else (),
        reason=mark.reason,
        by=mark.by,
        until=mark.until.isoformat(),
        where=f"{path}:{line}",
        state=state,
        why=why,
        flaky=True,
    )


def _state_of(mark: FlakyMark, row: ThresholdResult, history: History, *, near_bound: bool) -> tuple[str, str]:
    """Return the state of a flaky mark's acceptance, and the reason of another one than *accepted*."""
    if row.verdict != "undecided":
        return BROKEN, f"the verdict is {row.verdict}, and a flaky mark accepts only undecided"
    if not near_bound:
        return BROKEN, "a flaky mark accepts what was measured near a bound"
    if _today() > mark.until:
        return EXPIRED, f"it ended on {mark.until}"
    outside, allowed = row.outside_probability, f"over the {mark.max_flip:.0%} of its flaky mark"
    if outside is not None and outside > mark.max_flip:
        return BROKEN, f"a rerun would lie outside with probability {outside:.0%}, {allowed}"
    if history.exceeds(mark.max_flip) >= SURE:
        return BROKEN, f"it lay outside in {history.outside} of {history.runs} runs, {allowed}"
    return ACCEPTED, ""


def _today() -> date:
    """Return the day in UTC, the same on every machine."""
    return Clock.now().date()

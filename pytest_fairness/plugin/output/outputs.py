"""Outputs at the end of a run: to the store, as JSON, as a report, and to CI."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_fairness.core.clock import Clock
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.garbage_collection import paused_collection
from pytest_fairness.core.results import CallResult, RunResult, RunResults
from pytest_fairness.declarative.files import suite_in
from pytest_fairness.plugin.compat import junit_file
from pytest_fairness.plugin.config.option_values import relative_to
from pytest_fairness.plugin.config.settings import Settings, secret_redactor
from pytest_fairness.plugin.session.session import FairnessSession
from pytest_fairness.report.ci.junit import suite_properties
from pytest_fairness.report.release import NOT_JUDGED
from pytest_fairness.report.results import moment, write_results

if TYPE_CHECKING:
    from pytest_fairness.core.threshold_results import ThresholdResult
    from pytest_fairness.report.view import View
    from pytest_fairness.store.spending import SpendingEntry

MANY = 20_000
"""The number of attempts from which a report takes some seconds."""
LONGEST_CARD = 200_000
"""The most characters of a card."""


def collect_metadata(fairness: FairnessSession, started: float, *, has_run: bool = True) -> RunResult:
    """Return the run's part of the results file.

    Args:
        fairness: The session.
        started: The start of the run, in seconds since the epoch.
        has_run: Whether the store has the run.
    """
    settings = fairness.settings
    return RunResult(
        id=fairness.run,
        started=moment(started),
        tokens=fairness.store.runs.tokens(fairness.run) if has_run else {},
        calls=[_call_result(fairness, entry) for entry in fairness.store.spent(fairness.run)] if has_run else [],
        command=settings.arguments,
        system_prompts=fairness.models.system_prompts,
        servers=fairness.models.servers,
        judge=settings.judge,
        seed=settings.seed,
        sample=settings.sample,
        **asdict(settings.call),
    )


def _call_result(fairness: FairnessSession, entry: SpendingEntry) -> CallResult:
    model = fairness.models.find_name(entry.model)
    shared = {name: getattr(entry, name) for name in ("role", "calls", "requests", "input", "output")}
    return CallResult(model=model, **shared, cost_usd=entry.usd, errors=dict(entry.errors))


def store_results(fairness: FairnessSession, results: RunResults) -> None:
    """Store the results, so that they can be read, compared and verified later."""
    runs = fairness.store.runs
    rows = {row.stored_id: row.to_json() for row in results.thresholds}
    unjudged = {row.stored_id for row in results.thresholds if row.verdict == NOT_JUDGED}
    runs.record_thresholds(fairness.run, rows, results.run.git, unjudged=unjudged)
    cards = _cards(results.thresholds, fairness.settings.root)
    runs.save_document(fairness.run, {"results": results.to_json(), "cards": cards})


def add_to_junit(config: pytest.Config, results: RunResults) -> None:
    """Add the verdict on the release to the JUnit file, if one is written."""
    file = junit_file(config)
    if file is not None:
        for name, value in suite_properties(results):
            file.add_global_property(name, value)


def write_json(settings: Settings, results: RunResults) -> list[str]:
    """Write the results file, if requested, and return the lines that name it.

    Raises:
        FairnessError: The file cannot be written.
    """
    if settings.json is None:
        return []
    write_results(settings.json, results)
    return [results_line(settings)]


def empty_earlier_results(file: Path, run: str) -> None:
    """Empty the results file of an earlier run, which is none of this run's: its process may be killed before its end.

    Args:
        file: The results file of this run, which may not exist.
        run: The id of this run.
    """
    if file.is_file():
        with suppress(FairnessError):  # a file of another kind stays
            write_results(file, RunResults(run=RunResult(id=run, started=moment(Clock.now_in_seconds()))))


def results_line(settings: Settings) -> str:
    """Return the line that names the results file; its path is relative to the folder in which pytest was started."""
    assert settings.json is not None  # noqa: S101 - asked for by the caller
    return f"results: {relative_to(settings.json, settings.folders.invocation)}"


def write_outputs(fairness: FairnessSession, results: RunResults, notify: Callable[[str], None]) -> list[str]:
    """Write the report and the outputs for CI.

    Args:
        fairness: The session.
        results: The results of the run.
        notify: A function that writes a line, called before work that takes long.

    Returns:
        A line for each file, then the commands for CI.

    Raises:
        FairnessError: A requested file cannot be written.
    """
    settings = fairness.settings
    lines: list[str] = []
    summary, annotated = os.environ.get("GITHUB_STEP_SUMMARY"), os.environ.get("GITHUB_ACTIONS") == "true"
    # After a run that measured nothing, the report of an earlier one stays.
    has_report = settings.report is not None and (settings.is_report_requested or results.run.attempts > 0)
    if not has_report and not (summary or annotated):
        return lines
    from pytest_fairness.report.load_run import read_view

    if results.run.attempts >= MANY:
        notify(f"fairness: making the report of {results.run.attempts:,} attempts")
    with paused_collection():
        view = read_view(fairness.store, fairness.run, secret_redactor(settings), fairness.work.stored, results)
        if has_report:
            lines.append(_write_report(settings, view))
    if summary:
        _append_summary(Path(summary), view)
    if annotated:
        from pytest_fairness.report.ci.github_annotations import workflow_commands

        lines += workflow_commands(view)
    return lines


def _write_report(settings: Settings, view: View) -> str:
    from pytest_fairness.report.html.page import write_page

    path = settings.report
    assert path is not None  # noqa: S101 - asked for by the caller
    try:
        write_page(path, view)
    except FairnessError as error:
        if settings.is_report_requested:
            raise
        return f"no report: {error}"
    return f"report: {relative_to(path, settings.folders.invocation)}"


def _append_summary(path: Path, view: View) -> None:
    """Append the summary to the page of the CI job, a file that all steps share."""
    from pytest_fairness.report.ci.github_summary import LIMIT, job_summary

    try:
        size = path.stat().st_size if path.exists() else 0
        with path.open("a", encoding="utf-8") as file:
            file.write(job_summary(view, max(0, LIMIT - size)))
    except OSError as error:
        raise FairnessError(f"the job summary {path} cannot be written: {error.strerror}") from None


def _declared_card(file: Path) -> str:
    from pytest_fairness.declarative.probe import card_of

    try:
        return card_of(file)
    except FairnessError:  # the file was changed during the run
        return ""


def _cards(rows: Sequence[ThresholdResult], root: Path) -> dict[str, str]:
    """Return the card of each suite: that of its declared file, or the README.md beside its tests."""
    cards: dict[str, str] = {}
    for row in rows:
        file = root / row.id.partition("::")[0]
        if suite_in(file) and row.suite not in cards and (text := _declared_card(file)):
            cards[row.suite] = text
            continue
        card = file.parent / "README.md"
        if row.suite in cards or card.parent == root or not card.is_file():
            continue
        text = card.read_text(encoding="utf-8", errors="replace")
        if len(text) <= LONGEST_CARD:
            cards[row.suite] = text
    return cards

"""A history as lines of text, shared by all outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pytest_fairness.core.formatting import counted, figures, one_line, slice_text
from pytest_fairness.core.marks import NOT_MARKED
from pytest_fairness.core.threshold_results import PastResult, ThresholdResult
from pytest_fairness.report.escaping import escape_controls
from pytest_fairness.report.history.series import (
    Change,
    ReleaseSeries,
    RunHistory,
    ThresholdSeries,
    commit_of,
    day_of,
    remarks,
)
from pytest_fairness.report.release import NOT_JUDGED

LETTERS = {"fair": "f", "unfair": "U", "undecided": "?", "invalid": "!", NOT_JUDGED: "-"}
"""The letter of each verdict in a row of runs."""
KEY = "f fair, U unfair, ? undecided, ! invalid, - not judged; oldest run first"
_MOST_LETTERS = 50
_LONGEST = 200
"""The most characters of a remark."""


@dataclass(frozen=True, slots=True)
class RunLine:
    """One run of a threshold in words; each is made when it is read, since most outputs show few of them."""

    point: PastResult
    changed: Sequence[Change]
    show: Callable[[str], str] = str
    """Returns a text with the shown names of models."""

    @property
    def run(self) -> str:
        """The beginning of the run's id."""
        return escape_controls(self.point.run[:8])

    @property
    def day(self) -> str:
        """The day of the run; empty where it is not known."""
        return day_of(self.point) if self.point.started else ""

    @property
    def commit(self) -> str:
        """The beginning of the commit."""
        return escape_controls(commit_of(self.point))

    @property
    def verdict(self) -> str:
        """The verdict of the threshold."""
        return self.point.result.verdict

    @property
    def mark(self) -> str:
        """The mark of the threshold, or a dash."""
        return self.point.result.estimate.mark or NOT_MARKED

    @property
    def estimate(self) -> str:
        """The estimate with its interval."""
        return estimate_text(self.point.result)

    @property
    def changes(self) -> list[str]:
        """The changes since the judged run before."""
        return [one_line(escape_controls(self.show(change.what)), _LONGEST) for change in self.changed]

    @property
    def remarks(self) -> list[str]:
        """Remarks on how the run differs from an ordinary one."""
        return [one_line(escape_controls(self.show(text)), _LONGEST) for text in remarks(self.point.result)]


def run_lines(series: ThresholdSeries, show: Callable[[str], str] = str) -> list[RunLine]:
    """Return a line for each run, oldest first.

    Args:
        series: The runs.
        show: Returns a text with the shown names of models.
    """
    changes = iter(series.changes)
    return [
        RunLine(point, next(changes) if point.result.verdict != NOT_JUDGED else [], show) for point in series.points
    ]


def estimate_text(row: ThresholdResult) -> str:
    """Return an estimate with its interval; a dash where nothing was measured."""
    if row.estimate.value is None:
        return "-"
    value, low, high = figures(row.estimate, row.comparisons)
    return f"{value} ({low} to {high})"


def name_of(series: ThresholdSeries) -> str:
    """Return suite and title of a threshold."""
    row = series.last
    title = series.title or row.threshold
    return escape_controls(f"{row.suite}: {title}" if row.suite else title or row.id)


def summary_of(history: RunHistory) -> str:
    """Return the numbers of runs, thresholds and models, with the runs that are not in the history."""
    rows = [series.last for series in history.series]
    count = len({(row.suite, row.threshold, row.id.partition("[")[0]) for row in rows})
    models = {series.last.model for series in history.series}
    parts = [f"{counted(history.runs, 'run')}, {counted(count, 'threshold')}"]
    parts[0] += f" on {len(models):,} models" if len(models) > 1 else ""
    if history.unfinished:
        parts.append(f"without results, not shown: {history.unfinished:,}")
    if history.skipped:
        parts.append(f"other JSON files, skipped: {len(history.skipped):,}")
    return "; ".join(parts)


def lines(history: RunHistory, *, details: bool) -> Iterator[str]:
    """Yield the history for a terminal of 80 columns: a row of verdicts for each threshold, and its changes.

    Args:
        history: The history.
        details: Whether each run has a line of its own.
    """
    yield summary_of(history)
    yield KEY
    names = history.names
    for release in history.releases:
        yield ""
        yield "release"
        yield f"  on {escape_controls(names.introduce(release.model) or 'no model')}"
        yield f"  {letters_of(release)}  {day_of(release.points[-1][0])}: {release.points[-1][1]}"
    for series in history.series:
        yield ""
        yield f"{name_of(series)}"
        yield f"  on {escape_controls(names.introduce(series.last.model) or 'no model')}"
        letters = "".join(LETTERS.get(point.result.verdict, "-") for point in series.points[-_MOST_LETTERS:])
        newest = series.judged[-1]
        now = f"{newest.result.verdict} {newest.result.estimate.mark or NOT_MARKED} {estimate_text(newest.result)}"
        yield f"  {letters}  {day_of(newest)}: {now}"
        if where := slice_text(newest.result.deciding_slice):
            yield from _wrap(f"{newest.result.verdict} where {escape_controls(where)}")
        for line in run_lines(series, names.show):
            if details:
                yield _row([line.day, line.run, line.commit, line.verdict, line.mark, line.estimate])
            for text in [*line.changes, *(line.remarks if details else [])]:
                yield from _wrap(f"{'' if details else f'{line.day}: '}{text}")


def letters_of(release: ReleaseSeries) -> str:
    """Return the verdicts on the last releases of a model, a letter each."""
    return "".join(LETTERS[verdict] for _, verdict in release.points[-_MOST_LETTERS:])


def _row(cells: Sequence[str]) -> str:
    widths = (10, 8, 8, 10, 4, 0)
    return "    " + "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def _wrap(text: str) -> list[str]:
    import textwrap

    return textwrap.wrap(text, 79, initial_indent="      ", subsequent_indent="        ")

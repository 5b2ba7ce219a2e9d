"""The table at the end of a run, as lines of text."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import pytest

from pytest_fairness.core.formatting import bounds_of, decimals, number
from pytest_fairness.core.marks import NOT_MARKED
from pytest_fairness.core.results import MarkResult, RunResults, SearchResult, ThresholdResult
from pytest_fairness.plugin.failure_causes import CauseCounts
from pytest_fairness.plugin.outcomes import UNJUDGED, in_line
from pytest_fairness.report import phrases
from pytest_fairness.report.escaping import escape_controls
from pytest_fairness.report.release import NOT_JUDGED, NOT_SELECTED, reason_of, sentence
from pytest_fairness.report.severity import worst_first

COLORS = {
    "fair": {"green": True},
    "unfair": {"red": True},
    "undecided": {"yellow": True},
    "invalid": {"red": True},
    NOT_JUDGED: {"yellow": True},
}
_LONG_CAUSE = 400
"""Characters that tell a cause from others; a row may hold no more of it."""
_INDENT = "   "
_MOST_NAMES = 3
"""The most names listed of thresholds that were not selected."""


def write_summary(
    reporter: pytest.TerminalReporter,
    results: RunResults,
    causes: CauseCounts,
    written: Iterable[str],
    last: Iterable[str],
) -> None:
    """Write the sections of a run: each model's, what was searched, the files ``written``, and ``last`` in yellow."""
    width = reporter.config.get_terminal_writer().fullwidth
    if not results.thresholds:
        reporter.write_sep("=", "fairness")
    releases = {line.model: line for line in results.release}
    for model, of_model in by_model(results.thresholds).items():
        reporter.write_sep("=", escape_controls(f"fairness: {model}"))
        for line, row in table(of_model, width):
            reporter.write_line(line, **({"bold": True} if row is None else COLORS[row.verdict]))
        for line in notes(of_model, width, causes):
            reporter.write_line(line)
        for line in marks(results.marks, of_model[0].model, width):
            reporter.write_line(line)
        release = releases[of_model[0].model]
        for line in wrapped(sentence(release), width):
            reporter.write_line(line, **COLORS[release.verdict])
    write_searches(reporter, results.searches, width)
    for line in [*closing(results, width), *written]:
        reporter.write_line(line)
    for text in last:
        for line in wrapped(text, width):
            reporter.write_line(line, yellow=True)


def table(rows: Sequence[ThresholdResult], width: int) -> Iterator[tuple[str, ThresholdResult | None]]:
    """Yield the lines of one model's thresholds, worst first in each suite, each with its row; headings have none.

    A title is never cut: where it is wider than its column, the numbers stand on the line below. Reasons follow on
    lines of their own. What the user did not select is left to them.
    """
    rows = worst_first(row for row in rows if not _is_not_selected(row))
    if not rows:
        return
    digits = max(map(_decimals, rows))
    titles = [escape_controls(row.threshold) for row in rows]
    cells = [(_estimate(row, digits), bounds_of(row) or "-", row.mark or NOT_MARKED, _verdict(row)) for row in rows]
    heads = (f"estimate ({_level(rows)} CI)", "bounds", "mark", "verdict")
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    room = width - 1 - len(_INDENT) - sum(2 + size for size in widths)
    column = max(len("threshold"), min(room, max(map(len, titles))))

    def line(title: str, numbers: Sequence[str]) -> str:
        texts = zip((title, *numbers), (column, *widths), strict=True)
        return (_INDENT + "  ".join(text.ljust(size) for text, size in texts)).rstrip()

    yield line("threshold", heads), None
    for suite in dict.fromkeys(row.suite for row in rows):
        yield f" {escape_controls(suite)}", None
        for row, title, numbers in zip(rows, titles, cells, strict=True):
            if row.suite != suite:
                continue
            if len(title) > column:
                for part in textwrap.wrap(title, width - 1, initial_indent=_INDENT, subsequent_indent=2 * _INDENT):
                    yield part, row
            yield line(title if len(title) <= column else "", numbers), row


def _is_not_selected(row: ThresholdResult) -> bool:
    return row.verdict == NOT_JUDGED and reason_of(row) == NOT_SELECTED


def write_causes(reporter: pytest.TerminalReporter, causes: CauseCounts, width: int) -> None:
    """Write a section of the requests that could not be made, each cause once."""
    for index, (cause, attempts) in enumerate(causes):
        if not index:
            reporter.write_sep("=", "fairness: not measured", red=True)
        count = f" ({attempts:,} attempt{'s' * (attempts != 1)} not made)" if attempts else ""
        for line in wrapped(cause + count, width):
            reporter.write_line(line, red=True)


def notes(rows: Sequence[ThresholdResult], width: int, causes: CauseCounts) -> Iterator[str]:
    """Yield notes on a model's thresholds: looks, overrides, sizes that would decide them, and judges. Notes with a
    section of their own are left out.
    """
    begins = ("invalid: ", "undecided: ", f"invalid: {UNJUDGED}")
    common_beginnings = tuple(begin + in_line(cause)[:_LONG_CAUSE] for cause, _ in causes for begin in begins)
    for row in rows:
        looks = row.looks
        if looks and looks.of > 1 and row.estimate is not None:
            yield from wrapped(
                f"{row.threshold}: look {looks.number} of {looks.of} ({row.items:,} items, "
                f"{row.attempts:,} attempts), evaluated at {(row.confidence or 0.95) * 100:.4g}% confidence",
                width,
            )
        for more in phrases.remarks(row):
            yield from wrapped(f"{row.threshold}: {more}", width)
    undecided = [row for row in rows if row.verdict == "undecided" and not row.message.startswith(common_beginnings)]
    yield from _advice(undecided, width)
    reasons: dict[str, list[str]] = {}  # one cause may be that of many
    for row in rows:
        if row.verdict == "invalid" and not row.message.startswith(common_beginnings):
            reasons.setdefault(row.message.removeprefix("invalid: "), []).append(row.threshold)
    for reason, names in reasons.items():
        yield from wrapped(f"{'; '.join(names)}: {reason}", width)
    for judged in phrases.judges(rows):
        yield from wrapped(judged, width)
    if left := [row.threshold for row in rows if _is_not_selected(row)]:
        more = f" and {len(left) - _MOST_NAMES} more" if len(left) > _MOST_NAMES else ""
        yield from wrapped(f"not selected: {'; '.join(left[:_MOST_NAMES])}{more}", width)


def _advice(rows: Sequence[ThresholdResult], width: int) -> Iterator[str]:
    """Yield the sample size that each undecided threshold needs; a reason that several share stands once, first."""
    parts = [row.advice.split("; ") for row in rows]
    counts = Counter(part for of_row in parts for part in of_row)
    for part, count in counts.items():
        if count > 1:
            yield from wrapped(f"{count} undecided thresholds: {part}", width)
    for row, of_row in zip(rows, parts, strict=True):
        if own := [part for part in of_row if counts[part] == 1]:
            yield from wrapped(f"{row.threshold}: {'; '.join(own)}", width)


def marks(aggregated: Sequence[MarkResult], model: str, width: int) -> Iterator[str]:
    """``marks: bbq B; stereotyping B``: of a model's suites, their fields, its harms. Nothing where none is marked."""
    of_model = [line for line in aggregated if line.model == model]
    shown = [f"{line.name} {line.mark or NOT_MARKED}" for line in of_model]
    if shown:
        yield from wrapped(f"marks: {'; '.join(shown)}", width)


def write_searches(reporter: pytest.TerminalReporter, rows: Sequence[SearchResult], width: int) -> None:
    """Write a section of the searches of the tests."""
    if rows:
        reporter.write_sep("=", "fairness: searches")
    for row in rows:
        for line in _search(row, width):
            reporter.write_line(line, red=row.flip is not None)


def _search(row: SearchResult, width: int) -> Iterator[str]:
    """Yield what one search has come to; of a flip both texts, and the line that replays it, never broken in two."""
    yield from wrapped(f"{row.id}: {phrases.search(row)}", width)
    if row.flip:
        for text in row.flip.texts:
            yield from wrapped(f"  {text}", width)
        yield f"   replay: {escape_controls(row.command)}"


def by_model(rows: Sequence[ThresholdResult]) -> dict[str, list[ThresholdResult]]:
    """Return the rows of each model, in their order."""
    models: dict[str, list[ThresholdResult]] = {}
    for row in rows:
        models.setdefault(row.model or "no model", []).append(row)
    return models


def closing(results: RunResults, width: int) -> Iterator[str]:
    """Yield what was measured, and what the verdicts promise."""
    run = results.run
    if any(map(phrases.is_simulated, run.models)):
        yield from wrapped(f"simulated: {phrases.SIMULATED}", width)
    yield from wrapped(f"run {run.id[:8]}: {phrases.totals(run)}", width)
    for phrase in (
        *map(phrases.agreement, results.agreements or ()),
        *phrases.asked_by_graders(run),
        phrases.failed_requests(run),
    ):
        yield from wrapped(phrase, width)
    if promise := phrases.promise(results.thresholds):
        yield from wrapped(promise, width)


def wrapped(text: str, width: int) -> list[str]:
    """Return a sentence in lines of at most ``width`` columns; words of a stranger's text lose control characters."""
    plain = "".join(character if character.isprintable() else " " for character in text)
    # A command is to be copied: its words stay whole.
    return textwrap.wrap(plain, max(40, width - 1), initial_indent=" ", subsequent_indent="   ", break_on_hyphens=False)


def _level(rows: Sequence[ThresholdResult]) -> str:
    levels = sorted({row.confidence for row in rows if row.confidence})
    return "/".join(f"{level * 100:.4g}%" for level in levels) or "95%"


def _decimals(row: ThresholdResult) -> int:
    """Return how many decimals show on which side of its bounds an estimate and its interval lie."""
    values = [value for value in (row.estimate, row.low, row.high) if value is not None]
    return decimals(values, [comparison.bound for comparison in row.comparisons])


def _estimate(row: ThresholdResult, digits: int) -> str:
    if row.estimate is None:
        return "-"
    value, low, high = (number(math.nan if end is None else end, digits) for end in (row.estimate, row.low, row.high))
    return f"{value} ({low} to {high})"


def _verdict(row: ThresholdResult) -> str:
    verdict = row.verdict
    outcome = row.outcome
    return f"{verdict} ({outcome})" if outcome in ("flaky", "xfailed", "xpassed") else verdict

"""The summary at the end of a run, as lines of text."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import pytest

from pytest_fairness.core.acceptance_states import ACCEPTED, BROKEN, EXPIRED
from pytest_fairness.core.formatting import bounds_of, counted, decimals, format_level, number
from pytest_fairness.core.marks import NOT_MARKED
from pytest_fairness.core.model_names import ModelNames
from pytest_fairness.core.results import RunResults
from pytest_fairness.plugin.compat import terminal_width
from pytest_fairness.plugin.output.group_tables import group_tables
from pytest_fairness.plugin.output.outcomes import UNJUDGED, in_line
from pytest_fairness.plugin.output.terminal_text import group_by_model, pad, wrap_text
from pytest_fairness.plugin.session.failure_causes import CauseCounts
from pytest_fairness.report import findings, next_steps, phrases
from pytest_fairness.report.decisions import decision_line, decisions_worst_first
from pytest_fairness.report.escaping import escape_controls
from pytest_fairness.report.probe_phrases import probe_lines
from pytest_fairness.report.release import NOT_JUDGED, WORST_FIRST, is_not_selected, sentence, worst_first

if TYPE_CHECKING:
    from pytest_fairness.core.acceptance_results import AcceptanceResult
    from pytest_fairness.core.probe_results import ProbeResult
    from pytest_fairness.core.search_results import SearchResult
    from pytest_fairness.core.threshold_results import MarkResult, ReleaseResult, ThresholdResult

COLORS = {
    "fair": {"green": True},
    "unfair": {"red": True},
    "undecided": {"yellow": True},
    "invalid": {"red": True},
    NOT_JUDGED: {"yellow": True},
}
MarkedLine = tuple[str, Mapping[str, bool]]
"""A line with its markup."""
_COMPETENCE_COLORS: Mapping[str, Mapping[str, bool]] = {
    "absent": {"red": True},
    "not shown": {"yellow": True},
    "remark": {"yellow": True},
}
_LONG_CAUSE = 400
"""The characters of a cause that are compared, since a row may have only its beginning."""
_INDENT = "   "
_MOST_NAMES = 3
"""The most names of unselected thresholds in a line."""


def write_summary(
    reporter: pytest.TerminalReporter,
    results: RunResults,
    causes: CauseCounts,
    written: Iterable[str],
    last: Iterable[str],
) -> None:
    """Write the sections of a run: those of the models, of the searches and of the files.

    Args:
        reporter: The terminal.
        results: The results of the run.
        causes: Errors that have a section of their own.
        written: A line for each file that was written.
        last: Texts to write last, in yellow.
    """
    width = reporter.config.get_terminal_writer().fullwidth
    if not results.thresholds and not results.searches:
        reporter.write_sep("=", "fairness")
    releases, names = {line.model: line for line in results.release}, ModelNames(results.run.names)
    for model, rows in group_by_model(results.thresholds).items():
        reporter.write_sep("=", escape_controls(f"fairness: {names.introduce(model)}"))
        probes = [probe for probe in results.probes if probe.model == rows[0].model]
        columns = [metric for metric in results.metrics if metric.column and metric.model == rows[0].model]
        lines = [
            *_release_lines(releases[rows[0].model], rows, width, causes),
            *competence(probes, width),
            *(
                (line, {"bold": True} if row is None else COLORS[row.verdict])
                for line, row in table(rows, width, causes)
            ),
            *((line, {}) for line in group_tables(columns, width)),
            *((line, {}) for line in notes(rows, width, causes)),
            *((line, {}) for line in marks(results.marks, rows[0].model, width)),
        ]
        for line, markup in lines:
            reporter.write_line(line, **markup)
    write_searches(reporter, results.searches, width)
    for line in [*closing(results, width), *written]:
        reporter.write_line(line)
    for text in last:
        for line in wrap_text(text, width):
            reporter.write_line(line, yellow=True)


def write_releases(reporter: pytest.TerminalReporter, results: RunResults) -> None:
    """Write the verdict on each model, the worst last, just above pytest's own last line."""
    width = reporter.config.get_terminal_writer().fullwidth
    for release in sorted(results.release, key=lambda line: WORST_FIRST.index(line.verdict), reverse=True):
        for line in wrap_text(f"{release.model or 'no model'}: {sentence(release)}", width, ""):
            reporter.write_line(line, bold=True, **COLORS[release.verdict])


def _release_lines(
    release: ReleaseResult, rows: Sequence[ThresholdResult], width: int, causes: CauseCounts
) -> Iterator[MarkedLine]:
    """Yield the verdict on a model, the next step, its causes, and what lies outside the bounds of fair thresholds.

    A cause with a section of its own is not repeated.
    """
    for line in wrap_text(sentence(release), width):
        yield line, {"bold": True, **COLORS[release.verdict]}
    step = next_steps.next_step(release, rows)
    for line in wrap_text(f"next: {step}", width) if step else ():
        yield line, {}
    for text in (phrases.first_run(rows), findings.turns(rows)):
        yield from ((line, {}) for line in wrap_text(text, width))
    beginnings = tuple(begin.removeprefix("invalid: ") for begin in _beginnings(causes))
    shown = [
        texts for texts in next_steps.causes(release) if not texts[0].startswith(beginnings) and texts[0] not in step
    ]
    if shown:
        yield " causes", {"bold": True}
    for finding, example, remedy in shown:
        if example and any(in_line(cause).startswith(example.removesuffix("...")) for cause, _ in causes):
            example = ""
        texts = (finding, example and f"for example {example}", remedy and f"-> {remedy}")
        for text, indent in zip(texts, (_INDENT, 2 * _INDENT, 2 * _INDENT), strict=True):
            yield from ((line, {}) for line in wrap_text(text, width, indent, f"{indent}   "))
    for row in rows:
        for remark in phrases.outside(row):
            yield from ((line, {"yellow": True}) for line in wrap_text(remark, width))


def competence(probes: Sequence[ProbeResult], width: int) -> Iterator[MarkedLine]:
    """Yield lines on what a model did with its probes; nothing without a judged sample."""
    sentences = probe_lines(probes)
    if sentences:
        yield " competence", {"bold": True}
    for finding in sentences:
        for line in wrap_text(finding.text, width, _INDENT, 2 * _INDENT):
            yield line, _COMPETENCE_COLORS.get(finding.state, {})


def table(
    rows: Sequence[ThresholdResult], width: int, causes: CauseCounts
) -> Iterator[tuple[str, ThresholdResult | None]]:
    """Yield the lines of a model's thresholds with their rows, worst first in each suite; headings have no row.

    A title is never cut: where it is wider than its column, the numbers stand on the line below, and where these are
    wider than the terminal, they are wrapped. Below follow counts, and what the threshold alone needs. What the user
    did not select is left out.
    """
    rows = worst_first(row for row in rows if not is_not_selected(row))
    if not rows:
        return
    shared = _shared_advice(_format_undecided(rows, causes))
    digits = max(map(_decimals, rows))
    titles = [escape_controls(phrases.title(row)) for row in rows]
    values = max(len(_value(row, digits)) for row in rows)
    cells = [
        (_estimate(row, digits, values), bounds_of(row) or "-", row.estimate.mark or NOT_MARKED, row.verdict_text)
        for row in rows
    ]
    heads = (f"estimate ({_level(rows)} CI)", "bounds", "mark", "verdict")
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    room = width - 1 - len(_INDENT) - sum(2 + size for size in widths)
    column = max(len("threshold"), min(room, max(map(terminal_width, titles))))
    is_narrow = column > room

    def line(title: str, numbers: Sequence[str]) -> list[str]:
        if is_narrow:
            return wrap_text(", ".join(numbers), width, 2 * _INDENT, 2 * _INDENT)
        texts = zip((title, *numbers), (column, *widths), strict=True)
        return [(_INDENT + "  ".join(pad(text, size) for text, size in texts)).rstrip()]

    for text in line("threshold", heads):
        yield text, None
    for suite in dict.fromkeys(row.suite for row in rows):
        yield f" {escape_controls(suite) or 'no suite'}", None
        for row, title, numbers in zip(rows, titles, cells, strict=True):
            if row.suite != suite:
                continue
            fits = not is_narrow and terminal_width(title) <= column
            for text in () if fits else wrap_text(title, width, _INDENT, 2 * _INDENT):
                yield text, row
            for text in line(title if fits else "", numbers):
                yield text, row
            for detail in filter(None, _details(row, shared)):
                for text in wrap_text(detail, width, 2 * _INDENT, 3 * _INDENT):
                    yield text, row


def _details(row: ThresholdResult, shared: Collection[str]) -> Iterator[str]:
    """Yield the details of one threshold: its comparison, counts, needs, looks and remarks."""
    if row.verdict == "invalid" and row.causes:
        yield f"see above: {phrases.invalid_reason(row)}"
    if row.verdict in ("unfair", "undecided"):
        yield findings.finding(row)
        yield from findings.details(row)
    elif rates := phrases.unjudged_tallies(row) or (phrases.base_rates(row) if row.verdict == "fair" else ""):
        yield rates
    if row.verdict == "undecided":
        yield from (part for part in _parts(row.advice) if part not in shared)
    looks, estimate = row.looks, row.estimate
    if looks and looks.of > 1 and estimate.value is not None:
        yield (
            f"look {looks.number} of {looks.of} ({counted(estimate.items, 'item')}, "
            f"{counted(estimate.attempts, 'attempt')}), "
            f"evaluated at {format_level(estimate.confidence or 0.95)} confidence"
        )
    yield from phrases.remarks(row)


def write_causes(reporter: pytest.TerminalReporter, causes: CauseCounts, width: int) -> None:
    """Write a section on the requests that could not be made, by cause."""
    for index, (cause, attempts) in enumerate(causes):
        if not index:
            reporter.write_sep("=", "fairness: not measured", red=True)
        count = f" ({counted(attempts, 'attempt')} not measured)" if attempts else ""
        for line in wrap_text(cause + count, width):
            reporter.write_line(line, red=True)


def notes(rows: Sequence[ThresholdResult], width: int, causes: CauseCounts) -> Iterator[str]:
    """Yield lines that several thresholds share: needs, responders, judges, levels."""
    for part, count in _shared_advice(_format_undecided(rows, causes)).items():
        yield from wrap_text(f"{count} undecided thresholds: {part}", width)
    shared = phrases.without_groups(rows), phrases.responders(rows), phrases.judges(rows), phrases.levels(rows)
    for remark in itertools.chain(*shared):
        yield from wrap_text(remark, width)
    if unselected := [row.threshold for row in rows if is_not_selected(row)]:
        remainder = f" and {len(unselected) - _MOST_NAMES} more" if len(unselected) > _MOST_NAMES else ""
        yield from wrap_text(f"not selected: {'; '.join(unselected[:_MOST_NAMES])}{remainder}", width)


def _beginnings(causes: CauseCounts) -> tuple[str, ...]:
    """Return the beginnings of messages whose cause has a section."""
    begins = ("invalid: ", "undecided: ", f"invalid: {UNJUDGED}")
    return tuple(begin + in_line(cause)[:_LONG_CAUSE] for cause, _ in causes for begin in begins)


def _format_undecided(rows: Sequence[ThresholdResult], causes: CauseCounts) -> list[ThresholdResult]:
    beginnings = _beginnings(causes)
    return [row for row in rows if row.verdict == "undecided" and not row.message.startswith(beginnings)]


def _parts(advice: str) -> list[str]:
    """Return the sentences of advice; a semicolon in parentheses ends none."""
    return list(filter(None, re.split(r"; (?![^(]*\))", advice)))


def _shared_advice(rows: Sequence[ThresholdResult]) -> dict[str, int]:
    """Return the needs that several undecided thresholds share, with the number of thresholds."""
    counts = Counter(part for row in rows for part in _parts(row.advice))
    return {part: count for part, count in counts.items() if count > 1}


def marks(aggregated: Sequence[MarkResult], model: str, width: int) -> Iterator[str]:
    """Yield the marks of a model's suites, files and harms, if any: ``marks: suite bbq B; harm stereotyping B``."""
    rows = [line for line in aggregated if line.model == model]
    parts = [f"{line.name} {line.mark or NOT_MARKED}" for line in rows]
    if parts:
        yield from wrap_text(f"marks: {'; '.join(parts)}", width)


def write_searches(reporter: pytest.TerminalReporter, rows: Sequence[SearchResult], width: int) -> None:
    """Write a section of the searches of the tests."""
    if rows:
        reporter.write_sep("=", "fairness: searches")
    for row in rows:
        for line in _search(row, width):
            reporter.write_line(line, red=row.flip is not None)


def _search(row: SearchResult, width: int) -> Iterator[str]:
    """Yield the result of a search; for a flip both texts and, unwrapped, the command that replays it."""
    yield from wrap_text(f"{row.id}: {phrases.search(row)}", width)
    if row.flip:
        for text in row.flip.texts:
            yield from wrap_text(f"  {text}", width)
        yield f"   replay: {escape_controls(row.command)}"


def closing(results: RunResults, width: int) -> Iterator[str]:
    """Yield the totals of a run, and the expected error rates of its verdicts."""
    run = results.run
    if any(map(phrases.is_simulated, run.models)):
        yield from wrap_text(f"simulated: {phrases.SIMULATED}", width)
    yield from wrap_text(f"run {run.id[:8]}: {phrases.totals(run)}", width)
    for phrase in (
        *map(phrases.agreement, results.agreements or ()),
        *phrases.asked_by_graders(run),
        phrases.failed_requests(run),
    ):
        yield from wrap_text(phrase, width)
    if promise := phrases.promise(results.thresholds):
        yield from wrap_text(promise, width)


def _level(rows: Sequence[ThresholdResult]) -> str:
    levels = sorted({row.estimate.confidence for row in rows if row.estimate.confidence})
    return "/".join(format_level(level) for level in levels) or "95%"


def _decimals(row: ThresholdResult) -> int:
    """Return the number of decimals that show the side of each bound of an estimate and its interval."""
    values = [value for value in (row.estimate.value, row.estimate.low, row.estimate.high) if value is not None]
    return decimals(values, [comparison.bound for comparison in row.comparisons])


def _value(row: ThresholdResult, digits: int) -> str:
    return "-" if row.estimate.value is None else number(row.estimate.value, digits)


def _estimate(row: ThresholdResult, digits: int, columns: int) -> str:
    """Return the value, aligned by its decimal point, and the interval."""
    value = _value(row, digits)
    if row.estimate.value is None:
        return value
    low, high = (number(math.nan if end is None else end, digits) for end in (row.estimate.low, row.estimate.high))
    return f"{value.rjust(columns)} ({low} to {high})"


_STATE_COLORS = {BROKEN: {"red": True}, EXPIRED: {"red": True}, ACCEPTED: {"yellow": True}}


def write_decisions(reporter: pytest.TerminalReporter, acceptances: Sequence[AcceptanceResult]) -> None:
    """Write each accepted verdict of the project with its state, the broken ones first."""
    if not acceptances:
        return
    reporter.write_sep("=", "fairness: accepted verdicts")
    width = reporter.config.get_terminal_writer().fullwidth
    for entry in decisions_worst_first(acceptances):
        for line in wrap_text(decision_line(entry), width):
            reporter.write_line(line, **_STATE_COLORS.get(entry.state, {}))

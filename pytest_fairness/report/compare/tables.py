"""Words and tables of a comparison, shared by the terminal, Markdown and the page."""

from __future__ import annotations

from dataclasses import replace

from pytest_fairness.core.formatting import (
    bounds_phrase,
    decimals,
    figures,
    format_subject,
    number,
    one_line,
    slice_text,
)
from pytest_fairness.core.marks import NOT_MARKED
from pytest_fairness.core.metric_kind import MetricKind
from pytest_fairness.core.threshold_results import ThresholdResult
from pytest_fairness.report.compare.changes import RowComparison
from pytest_fairness.report.compare.comparison import ComparedThreshold, RunComparison
from pytest_fairness.report.compare.ranking import ModelRanking, marked_suites, rank_models
from pytest_fairness.report.findings import CLAIMS, finding
from pytest_fairness.report.phrases import is_simulated
from pytest_fairness.report.release import shown_verdict
from pytest_fairness.report.text_table import TextTable

RANKS = (
    "Models are ranked by the verdict on the release, then by marks, never by estimates. Equal ranks: these data show "
    "no difference. A suite without a mark ranks as a D. A release that could not be evaluated, or that lacks "
    "thresholds, has no rank."
)
DIFFERENCES = (
    "Differences are from the reference, with a 95% interval; for ratios, the factor between the two. A difference is "
    "paired by item where both runs have mostly the same items and the store has each item's influence. Otherwise "
    "the two are taken as independent. Ungraded answers widen the interval."
)
CHANGES = (
    "A difference is beyond chance where its p-value is at most 0.05 after Holm's correction over the column's "
    "compared thresholds. Worse and better list these, and worse also what could not be measured. A verdict or a mark "
    "that changed though chance may explain the difference is perhaps worse, or perhaps better."
)
UNCHANGED = "No verdict and no mark changed, and no difference is beyond chance."
_LONGEST_SLICE = 24
"""The most characters of a slice in a table; the list of changes has all."""
_STATES = ("fair", "unfair", "undecided", "invalid")


def ranking_table(comparison: RunComparison) -> TextTable:
    """Return a row for each column of the comparison, best first."""
    suites = marked_suites(comparison)
    heads = ["rank", "model", "release", "mark", *suites, *_STATES, "missing"]
    rows = []
    for standing in rank_models(comparison):
        column = standing.column
        marks = [column.marks.get(suite) or NOT_MARKED for suite in suites]
        counts = [str(column.release.counts[state]) for state in _STATES]
        cells = [rank(standing), column.label, shown_verdict(column.release), standing.mark or NOT_MARKED]
        rows.append([*cells, *marks, *counts, str(standing.missing)])
    return TextTable("Ranking", heads, rows, named=1)


def rank(standing: ModelRanking) -> str:
    """Return a rank as text: ``1``, or ``none``."""
    return "none" if standing.rank is None else str(standing.rank)


def estimate_words(row: ThresholdResult | None) -> str:
    """Return an estimate with its interval: ``0.712 (0.634 to 0.798)``."""
    if row is None:
        return "not in this run"
    if row.estimate.value is None:
        return "not measured"
    value, low, high = figures(row.estimate, row.comparisons)
    return f"{value} ({low} to {high})"


def verdict_words(row: ThresholdResult | None) -> str:
    """Return the verdict, with pytest's outcome where that differs, and the slice that made it unfair."""
    if row is None:
        return ""
    name_of_slice = one_line(row.deciding_slice_name, _LONGEST_SLICE)
    return f"{row.verdict_text}: {name_of_slice}" if name_of_slice else row.verdict_text


def mark_words(row: ThresholdResult | None) -> str:
    """Return the mark, ``A`` to ``D``, or a dash."""
    return "" if row is None else row.estimate.mark or NOT_MARKED


def name(question: ComparedThreshold) -> str:
    """Return suite and title: ``hiring: Women and men advance alike``."""
    return f"{question.suite}: {question.title}" if question.suite else question.title


def about(question: ComparedThreshold) -> str:
    """Return metric and bounds, where there are any: ``ratio of advance, female to male; required: 0.8 to 1.2``."""
    measured = [row for row in question.rows if row is not None and row.estimate.title]
    titles = dict.fromkeys(format_subject(replace(row.estimate, slice=row.pooled_slice)) for row in measured)
    bounds = dict.fromkeys(bounds_phrase(row) for row in question.rows if row is not None and row.comparisons)
    parts = [" or ".join(titles)] * bool(titles) + [f"required: {' or '.join(bounds)}"] * bool(bounds)
    return "; ".join(parts) or "never judged"


def threshold_table(comparison: RunComparison, question: ComparedThreshold) -> TextTable:
    """Return a row for each column of the comparison."""
    rows = []
    for column, row, pairing in zip(comparison.columns, question.rows, question.against, strict=True):
        cells = [column.label, estimate_words(row), mark_words(row), verdict_words(row)]
        rows.append([*cells, difference_words(pairing)])
    return TextTable(name(question), ["model", "estimate", "mark", "verdict", "difference from reference"], rows)


def difference_words(pairing: RowComparison | None) -> str:
    """Return a difference, or the reason that there is none: ``0.851 times (0.720 to 0.960), paired``."""
    if pairing is None:
        return ""
    change = pairing.difference
    if change is None:
        return f"not compared: {pairing.reason}"
    if change.same:
        return "the same on every item"
    digits = decimals((change.value, change.low, change.high), [1.0 if pairing.log else 0.0])
    value, low, high = (number(figure, digits) for figure in (change.value, change.low, change.high))
    if not pairing.log:
        value = value if change.value < 0 else f"+{value}"
    design = "paired" if change.paired else "independent"
    return f"{value}{' times' if pairing.log else ''} ({low} to {high}), {design}"


def change_words(pairing: RowComparison) -> str:
    """Return the changes of verdict and mark, and the movement of the estimate.

    As in ``verdict fair to unfair; ratio fell from 1.050 to 0.893: 0.85 times (0.72 to 0.96), paired; beyond chance
    (p 0.01)``.
    """
    parts = []
    verdict, mark, _ = pairing.turns
    if verdict:
        parts.append(f"verdict {pairing.old.verdict} to {pairing.new.verdict}{_reason(pairing.new)}")
    if mark:
        marks = (row.estimate.mark or "none" for row in (pairing.old, pairing.new))
        parts.append(f"mark {' to '.join(marks)}")
    if not parts and pairing.difference is None:  # as the list that it stands in is called
        return pairing.reason
    parts.append(_movement(pairing) + difference_words(pairing))
    if pairing.difference is not None and not pairing.difference.same:
        low, high = pairing.new.bounds
        if pairing.side > 0 and low is not None and high is None and pairing.new.estimate.parity is None:
            parts.append(f"less is worse, as it must be {bounds_phrase(pairing.new)}")
        shown = f"p {pairing.p_holm:.3f}" if pairing.p_holm >= 0.001 else "p below 0.001"
        parts.append(f"{'beyond chance' if pairing.significant_side else 'chance may explain it'} ({shown})")
    if verdict > 0 and pairing.new.verdict in CLAIMS:
        parts.append(finding(pairing.new))
    return "; ".join(parts)


def _movement(pairing: RowComparison) -> str:
    """Return the direction of a difference, with both values: ``ratio fell from 1.050 to 0.893: ``; empty without."""
    change, old, new = pairing.difference, pairing.old.estimate.value, pairing.new.estimate.value
    if change is None or change.same or old is None or new is None:
        return ""
    digits = decimals([new], [old])
    name = "estimate" if pairing.new.estimate.kind is MetricKind.CUSTOM else pairing.new.estimate.kind.noun
    return f"{name} {'fell' if new < old else 'rose'} from {number(old, digits)} to {number(new, digits)}: "


def _reason(row: ThresholdResult) -> str:
    """Return the slice, or the missing response, that a verdict is due to."""
    if where := slice_text(row.deciding_slice):
        return f" where {where}"
    return ": no response to a control" if row.verdict == "invalid" and row.sensitivity == "absent" else ""


def heading(comparison: RunComparison, index: int) -> str:
    """Return a column and its reference: ``simulated:b against simulated:a``."""
    labels = [column.label for column in comparison.columns]
    return f"{labels[index]} against {labels[comparison.references[index]]}"


def simulated(comparison: RunComparison) -> bool:
    """Return whether any column is of a simulated model."""
    return any(is_simulated(column.model) for column in comparison.columns)

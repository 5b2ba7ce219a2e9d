"""BBQ's question pairs of a run in Markdown: the counts, and every flagged pair with why it was flagged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_fairness.benchmarks.bbq.pairs_exporter import explanation, pairs_of, raised
from pytest_fairness.core.attempts import GradedAttempt
from pytest_fairness.core.results import MetricResult
from pytest_fairness.report.markdown_escaping import escape
from pytest_fairness.store.samples import StoredSample

MOST_TEXT = 2000
"""Characters of one reasoning."""

_COUNTED = {
    "total": "pairs",
    "consistent": "the same answer to both questions",
    "inconsistent": "different answers",
    "mixed_cant_tell": "one can't tell (mixed)",
    "both_cant_tell": "both can't tell",
    "flag_1": "flag 1: B's reasoning does not fit question A",
    "flag_2": "flag 2: A's reasoning does not fit question B",
    "flag_3": "flag 3: A's reasoning taken for that of another question",
    "flag_4": "flag 4: B's reasoning taken for that of another question",
    "inconsistent_reasoning": "inconsistent reasoning (flag 1 or 2)",
    "biased_interpretation": "biased interpretation (flag 3 or 4)",
    "both_kinds": "both kinds",
    "any_flag": "any flag",
    "ungraded": "something ungraded",
}
_SHOWN = (set[str](), {"category", "context"})
"""The attributes of slices that have a table of their own."""


def table(metrics: Sequence[MetricResult]) -> str:
    """Return counts and percentages of all pairs, and of each category in each context.

    A percentage is of the pairs that could be graded for it.
    """
    lines: list[str] = []
    names = {f"pairs.{name}": words for name, words in _COUNTED.items()}
    rows = [row for row in metrics if row.metric in names]
    slices = {tuple(sorted(row.slice.items())) for row in rows if set(row.slice) in _SHOWN}
    for part in sorted(slices):
        by_metric = {row.metric: row for row in rows if row.slice == dict(part)}
        title = ", ".join(value for _, value in part) or "all pairs"
        lines += ["", f"### {escape(title)}", "", "| | count | percent | ungraded |", "|---|--:|--:|--:|"]
        lines += [_line(words, by_metric[name]) for name, words in names.items() if name in by_metric]
    return "\n".join(lines)


def _line(words: str, row: MetricResult) -> str:
    ungraded = sum(row.ungraded.values())
    graded = row.attempts - ungraded
    share = f"{100 * (row.count or 0) / graded:.1f}" if graded else "-"
    return f"| {escape(words)} | {row.count:,} | {share} | {ungraded:,} |"


def flagged(sample: StoredSample) -> str:
    """Return every pair with a flag: what was asked and answered, and what the oracle said."""
    pairs = [(a, b) for a, b in pairs_of(sample) if raised(a)]
    return "\n".join([f"## Flagged pairs ({len(pairs):,})", *(line for a, b in pairs for line in _pair(a, b))])


def _pair(a: GradedAttempt, b: GradedAttempt) -> Iterator[str]:
    about = a.item.metadata
    again = f", repetition {a.attempt.repetition + 1}" if a.attempt.repetition else ""
    yield f"\n### {escape(a.item.id)}{again}\n"
    yield f"{escape(about['told'])}\n"
    for side, graded in (("A", a), ("B", b)):
        grade = graded.grades["answer"]
        question = about["options"]["x" if side == "A" else "y"]
        reasoning = escape(grade.detail[:MOST_TEXT])
        yield f"- **{side}: {escape(question)}** {escape(about['answers'][grade.value])}. Reasoning: {reasoning}"
    for flag in raised(a):
        yield f"- **{escape(_COUNTED[flag])}.** {escape(explanation(a.grades[flag].detail))}"

"""A comparison in Markdown, for a pull request or a CI summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_fairness.report.compare import tables
from pytest_fairness.report.compare.comparison import Changes, ComparedThreshold, RunComparison, changes
from pytest_fairness.report.compare.sections import SectionTable
from pytest_fairness.report.markdown_escaping import escape
from pytest_fairness.report.phrases import SIMULATED


def markdown(comparison: RunComparison, sections: Sequence[SectionTable] = ()) -> str:
    """Return the ranking, the changes, every threshold in all columns, and benchmarks' sections.

    Untrusted texts are escaped.
    """
    main = "\n".join([*_ranking(comparison), *_changes(comparison), *_thresholds(comparison)]) + "\n"
    return "\n".join([main, *(section.markdown() for section in sections)])


def _ranking(comparison: RunComparison) -> Iterator[str]:
    yield "## Fairness compared"
    yield ""
    yield from tables.ranking_table(comparison).markdown()
    yield ""
    if tables.simulated(comparison):
        yield f"Simulated: {SIMULATED}."
        yield ""
    yield tables.RANKS


def _changes(comparison: RunComparison) -> Iterator[str]:
    for changed in changes(comparison):
        yield ""
        yield f"### {escape(tables.heading(comparison, changed.column_index))}"
        yield ""
        yield from _list(changed)
    yield ""
    yield tables.CHANGES


def _list(changed: Changes) -> Iterator[str]:
    for head, pairs in changed.lists:
        for question, pairing in pairs:
            yield f"- **{head}** {_name(question)}: {escape(tables.change_words(pairing))}"
    for head, questions in (("new", changed.new), ("gone", changed.gone)):
        for question in questions:
            yield f"- **{head}** {_name(question)}"
    if not changed.any:
        yield tables.UNCHANGED


def _thresholds(comparison: RunComparison) -> Iterator[str]:
    for question in comparison.questions:
        yield ""
        yield f"### {_name(question)}"
        yield ""
        yield escape(tables.about(question))
        yield ""
        yield from tables.threshold_table(comparison, question).markdown()
    yield ""
    yield tables.DIFFERENCES


def _name(question: ComparedThreshold) -> str:
    return escape(tables.name(question))

"""A comparison in Markdown, for a pull request or a CI summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_fairness.report.compare import words
from pytest_fairness.report.compare.comparison import Changes, Comparison, Question, changes
from pytest_fairness.report.compare.sections import Section
from pytest_fairness.report.inline import inline
from pytest_fairness.report.sentences import SIMULATED


def markdown(comparison: Comparison, sections: Sequence[Section] = ()) -> str:
    """Return the ranking, what changed, every threshold in all columns, and benchmarks' sections.

    Untrusted texts are no markup in it.
    """
    whole = "\n".join([*_league(comparison), *_changes(comparison), *_thresholds(comparison)]) + "\n"
    return "\n".join([whole, *(section.markdown() for section in sections)])


def _league(comparison: Comparison) -> Iterator[str]:
    yield "## Fairness compared"
    yield ""
    yield from _table(*words.league_table(comparison))
    yield ""
    if words.simulated(comparison):
        yield f"Simulated: {SIMULATED}."
        yield ""
    yield words.RANKS


def _changes(comparison: Comparison) -> Iterator[str]:
    for changed in changes(comparison):
        yield ""
        yield f"### {inline(words.heading(comparison, changed.place))}"
        yield ""
        yield from _list(changed)
    yield ""
    yield words.CHANGES


def _list(changed: Changes) -> Iterator[str]:
    for head, pairs in changed.lists:
        for question, held in pairs:
            yield f"- **{head}** {_name(question)}: {inline(words.change_words(held))}"
    for head, questions in (("new", changed.new), ("gone", changed.gone)):
        for question in questions:
            yield f"- **{head}** {_name(question)}"
    if not changed.any:
        yield words.UNCHANGED


def _thresholds(comparison: Comparison) -> Iterator[str]:
    for question in comparison.questions:
        yield ""
        yield f"### {_name(question)}"
        yield ""
        yield inline(words.about(question))
        yield ""
        yield from _table(*words.threshold_table(comparison, question))
    yield ""
    yield words.DIFFERENCES


def _name(question: Question) -> str:
    return inline(words.name(question))


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(map(inline, heads))} |"
    yield "|---" * len(heads) + "|"
    for row in rows:
        yield f"| {' | '.join(map(inline, row))} |"

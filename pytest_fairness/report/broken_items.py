"""Items of stored runs that discriminate negatively between models, with the answers that show it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from numbers import Real
from statistics import fmean
from textwrap import shorten

from pytest_fairness.core.attempts import GradedAttempt, value_or_none
from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.report.escaping import escape_controls
from pytest_fairness.store.samples import StoredSample

LONGEST_ANSWER = 160
"""Characters of a prompt or an answer that a line shows."""


def lines(samples: Sequence[StoredSample], grade: str, equals: str | None, most: int) -> Iterator[str]:
    """Yield lines on the items of one probe that discriminate negatively.

    Args:
        samples: The samples of one probe, one for each model.
        grade: Name of the grade that is the score.
        equals: The value that counts as 1, of a grade that holds texts; None for numbers.
        most: The maximum number of items to show.

    Raises:
        FairnessError: There are too few models, none has the grade, or the grade holds texts.
    """
    import numpy as np

    from pytest_fairness.stats.item_discrimination import FEWEST_MODELS, item_discrimination

    rated = [sample for sample in samples if grade in sample.graders]
    if not rated:
        grades = {name for sample in samples for name in sample.graders}
        raise FairnessError(f"{samples[0].probe} has no grade {grade!r}: {did_you_mean(grade, grades)}")
    if len(rated) < FEWEST_MODELS:
        raise FairnessError(
            f"{samples[0].probe}: models in these runs: {len(rated)}; items are compared over at least {FEWEST_MODELS}"
        )
    by_model = [_scores(sample, grade, equals) for sample in rated]
    shared = sorted(set.intersection(*(set(scores) for scores in by_model)))
    table = [[scores[item] for item in shared] for scores in by_model]
    scores = np.array(table).reshape(len(rated), len(shared))
    discrimination = item_discrimination(scores)
    means = scores.mean(axis=1)
    number = len(discrimination.negative)
    yield (
        f"{samples[0].probe}: {number} of {len(shared):,} items discriminate negatively in {grade} over "
        f"{len(rated)} models (about {discrimination.by_chance:.1f} by chance alone)"
    )
    for index in discrimination.negative[:most].tolist():
        correlation, p_value = discrimination.correlations[index], discrimination.p_values[index]
        yield f"  {shared[index]}: r = {correlation:.2f}, p = {p_value:.3f}"
        order = np.argsort(scores[:, index] - means, kind="stable").tolist()
        for row in (order[0], order[-1]):
            sample = rated[row]
            yield f"    {sample.model}: {scores[row, index]:.2f} here, {means[row]:.2f} on average"
            yield from _answers(sample, shared[index], grade)


def _scores(sample: StoredSample, grade: str, equals: str | None) -> Mapping[str, float]:
    """Return the mean grade of each item; none of an item without a graded answer."""
    numbers: dict[str, list[float]] = {}
    for graded in sample.attempts:
        grade_of_attempt = graded.grades.get(grade)
        value = None if grade_of_attempt is None else value_or_none(grade_of_attempt)
        if value is None:
            continue
        if equals is not None:
            value = str(value) == equals
        elif not isinstance(value, Real):
            raise FairnessError(f"the grade {grade!r} holds {value!r}: say which value counts as 1, --equals VALUE")
        numbers.setdefault(graded.item.id, []).append(float(value))
    return {item: fmean(values) for item, values in numbers.items()}


def _answers(sample: StoredSample, item: str, grade: str) -> Iterator[str]:
    """Yield each prompt of an item with its first answer and grade."""
    first: dict[int, GradedAttempt] = {}
    for graded in sample.attempts:
        if graded.item.id == item:
            first.setdefault(id(graded.prompt), graded)
    for graded in first.values():
        answer = "(no answer)" if graded.attempt.answer is None else graded.attempt.answer.text
        value = value_or_none(graded.grades[grade])
        yield f"      {_line(graded.prompt.text)}"
        yield f"      -> {_line(answer)} ({grade}: {'ungraded' if value is None else value})"


def _line(text: str) -> str:
    return escape_controls(shorten(text, LONGEST_ANSWER, placeholder=" ...")) or "(empty)"

"""Impact ratios by sex, by race/ethnicity and by both, in the form of New York City's Local Law 144.

The rules of the Department of Consumer and Worker Protection (Rules of the City of New York,
title 6, sections 5-300 and 5-301) require of a bias audit, for each category of sex, of race/ethnicity
and of both together: the number of applicants, the selection rate (where a tool selects) or the
scoring rate (where it scores: the share above the median of the full sample), and the impact
ratio, which is that rate over the rate of the category with the highest. They also require the
number in an unknown category, and allow a category of under 2% of the data to be left out of the ratios.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from statistics import median
from typing import Any

from pytest_fairness.core.attempts import GradedAttempt
from pytest_fairness.core.errors import FairnessError, UngradedError, did_you_mean
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.items import Prompt
from pytest_fairness.store.samples import StoredSample

SMALL = 0.02
"""A category with a smaller share of the assessments is left out of the ratios."""

_BY = "impact category"


@dataclass(frozen=True, slots=True)
class Category:
    """One row: a category, and the counts of its applications."""

    name: str
    applications: int
    """The number of distinct prompts."""
    assessed: int
    """Graded attempts: each repetition of an application is one assessment."""
    ungraded: int
    selected: int
    """The assessed ones that were selected, or scored above the median."""
    small: bool = False
    """Whether it is left out of the ratios."""
    ratio: Estimate | None = None
    """The ratio to the category with the highest rate; None for that category and for small ones."""

    @property
    def rate(self) -> float | None:
        return self.selected / self.assessed if self.assessed else None


@dataclass(frozen=True, slots=True)
class ImpactTable:
    """The categories of one attribute, or of two together, highest rate first and small ones last."""

    title: str
    categories: Sequence[Category]
    unknown: int
    """Attempts on applications without such a category."""


@dataclass(frozen=True, slots=True)
class ImpactTables:
    """Impact ratios by sex, by race/ethnicity, and by both."""

    probe: str
    model: str
    grade: str
    median: float | None
    """The median of all scores, where the grade is a score; None where it selects."""
    tables: Sequence[ImpactTable]


def impact_tables(sample: StoredSample, grade: str, *, sex: str, ethnicity: str, equals: Any = None) -> ImpactTables:
    """Return the tables of one probe on one model.

    Intervals of ratios are worst-case over ungraded attempts (`Measured.ratio`).

    Args:
        sample: The sample.
        grade: The grade: true or false (selected or not), a text, or a number (a score).
        sex: The attribute of the prompts that is sex or gender.
        ethnicity: The attribute that is race and ethnicity.
        equals: The value that selects, of a grade that is a text.

    Returns:
        The tables by sex, by ethnicity and by both.

    Raises:
        FairnessError: No attempt has the grade or an attribute, or the grade is a text and ``equals`` is missing.
    """
    attempts = sample.attempts
    grade_names = {name for graded in attempts for name in graded.grades}
    if grade not in grade_names:
        raise FairnessError(f"no attempt has a grade {grade!r}: {did_you_mean(grade, grade_names)}")
    attributes = {name for _, prompt in sample.prompts for name in prompt.groups}
    for attribute in (sex, ethnicity):
        if attribute not in attributes:
            raise FairnessError(f"no prompt has a group of {attribute!r}: {did_you_mean(attribute, attributes)}")
    median_score = _median(attempts, grade, equals)
    selected = _selection(grade, equals, median_score)
    groupings = (("Sex categories", (sex,)), ("Race/ethnicity categories", (ethnicity,)),
              ("Intersectional categories", (sex, ethnicity)))  # fmt: skip
    tables = [_table(sample, title, names, selected) for title, names in groupings]
    return ImpactTables(sample.probe, sample.model, grade, median_score, tables)


def _median(attempts: Sequence[GradedAttempt], grade: str, equals: Any) -> float | None:
    """Return the median of a score over the full sample; None for a grade of true and false."""
    if equals is not None:
        return None
    grades = [graded.grades[grade] for graded in attempts if grade in graded.grades]
    values = [entry.value for entry in grades if entry.ungraded is None]
    if all(value in (True, False) for value in values):
        return None
    for value in values:
        if not isinstance(value, Real):
            raise FairnessError(f"the grade {grade!r} holds {value!r}: say which value selects, equals=...")
    return float(median(values))


def _selection(grade: str, equals: Any, middle: float | None) -> Callable[[GradedAttempt], bool]:
    def selected(graded: GradedAttempt) -> bool:
        value = graded[grade]
        if equals is not None:
            return bool(value == equals or str(value) == str(equals))
        return bool(value) if middle is None else bool(value > middle)

    return selected


def _table(
    sample: StoredSample, title: str, attributes: Sequence[str], selected: Callable[[GradedAttempt], bool]
) -> ImpactTable:
    """Return the table of the attempts whose prompts name a group of each attribute."""
    categorized = {id(prompt): _with_category(prompt, attributes) for _, prompt in sample.prompts}
    attempts = []
    for graded in sample.attempts:
        prompt = categorized[id(graded.prompt)]
        if prompt is not None:
            attempts.append(GradedAttempt(graded.item, prompt, graded.attempt, graded.grades))
    members: dict[str, list[GradedAttempt]] = {}
    for graded in attempts:
        members.setdefault(graded.prompt.groups[_BY], []).append(graded)
    categories = [_category(name, members_of_category, selected) for name, members_of_category in members.items()]
    categories = [
        replace(category, small=len(members[category.name]) < SMALL * len(attempts)) for category in categories
    ]
    ordered = sorted(categories, key=lambda category: (category.small, -(category.rate or 0.0)))
    unknown = len(sample.attempts) - len(attempts)
    return ImpactTable(title, _with_ratios(sample, attempts, ordered, selected), unknown)


def _with_category(prompt: Prompt, attributes: Sequence[str]) -> Prompt | None:
    groups = [prompt.groups.get(name) for name in attributes]
    if not all(groups):
        return None
    return Prompt(prompt.messages, {**prompt.groups, _BY: " / ".join(str(group) for group in groups)}, prompt.metadata)


def _category(name: str, attempts: Sequence[GradedAttempt], selected: Callable[[GradedAttempt], bool]) -> Category:
    outcomes = []
    for graded in attempts:
        try:
            outcomes.append(selected(graded))
        except (UngradedError, KeyError):  # an attempt that failed may lack the grade altogether
            continue
    prompts = len({id(graded.prompt) for graded in attempts})
    return Category(name, prompts, len(outcomes), len(attempts) - len(outcomes), sum(outcomes))


def _with_ratios(
    sample: StoredSample,
    attempts: Sequence[GradedAttempt],
    categories: Sequence[Category],
    selected: Callable[[GradedAttempt], bool],
) -> list[Category]:
    """Return the categories with their ratios to the first, which has the highest rate of those that are not small."""
    from pytest_fairness.stats.measured import Measured

    measured = Measured(attempts, extremes=sample.extremes, **sample.arguments)
    return [
        category
        if category.small or category is categories[0]
        else replace(category, ratio=measured.ratio(selected, by=_BY, of=category.name, to=categories[0].name))
        for category in categories
    ]

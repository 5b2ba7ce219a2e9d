"""Simulated samples of a probe that was not measured yet, from assumptions about its answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_fairness.core.attempts import Attempt, Grade, GradedAttempt
from pytest_fairness.core.controls import Control
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.keys import attempt_key
from pytest_fairness.core.propensities import Propensities
from pytest_fairness.stats.columns import Codes, Columns, Floats, Rows
from pytest_fairness.stats.grade_numbers import is_value
from pytest_fairness.stats.measured import Measured
from pytest_fairness.stats.outcomes import Extremes
from pytest_fairness.stats.pilot_samples import Resample, SourcePool
from pytest_fairness.stats.selection import ranks

GOLDEN_RATIO = (5**0.5 - 1) / 2
"""The fractional parts of its multiples fill the range from 0 to 1 evenly, however many there are."""

MOST_STEPS = 20
"""The most steps of a scale; longer ones have values at equal distances."""
COMPETENCE = 0.6
"""The share of a fair model's answers that a control decides: 80 and 20% of yes at its two levels."""
GAP_SPREAD = 0.15
"""Standard deviation of the logarithm of a propensity between prompts of an item: 0.2 logits between two groups."""


@dataclass(frozen=True, slots=True)
class Assumptions:
    """The assumptions about answers where nothing was measured."""

    rate: float = 0.5
    """Share of the second of two values (true, or 1); of grades with more values all have the same share."""
    icc: float = 0.2
    """Intraclass correlation of the answers to an item's prompts, 0 to below 1."""
    output: float = 100
    """Tokens of an answer."""

    def shares(self, values: int) -> Floats:
        """Return the share of each of a number of values."""
        return np.array([1 - self.rate, self.rate]) if values == 2 else np.full(values, 1 / values)


@dataclass(frozen=True, slots=True)
class Gap:
    """A gap: one group gets every value but the first ``ratio`` times as often as the others."""

    group: str
    ratio: float


Expected = Mapping[Any, Any]
"""Shares of a grade's values: by value, or by the name of metadata with the value (such as the right answer).

Or, of one attribute, the shares for each of its values: ``{"case": {"strong": {True: 0.9}, "weak": {True: 0.1}}}``.
"""


def expected_for(attempt: GradedAttempt, expected: Expected) -> Expected | None:
    """Return the shares that are expected of one attempt; None where none are declared for its attributes.

    A share alone is that of true.

    >>> strong = ProbeItem("1", [Prompt("Why?")], metadata={"case": "strong"})
    >>> attempt = GradedAttempt(strong, strong.prompts[0], Attempt("", 0))
    >>> expected_for(attempt, {"case": {"strong": 0.9, "weak": 0.1}}), expected_for(attempt, {"wish": {"yes": 0.9}})
    ({True: 0.9}, None)
    """
    by = attribute_of(expected)
    if by is None:
        return expected
    places = (attempt.prompt.groups, attempt.prompt.metadata, attempt.item.metadata)
    shares = expected[by].get(next((attributes[by] for attributes in places if by in attributes), None))
    return shares if shares is None or isinstance(shares, Mapping) else {True: shares}


def attribute_of(expected: Expected) -> str | None:
    """Return the attribute for whose values shares are declared; None where the shares are those of all attempts."""
    return next((str(key) for key, shares in expected.items() if isinstance(shares, Mapping)), None)


def distribution(prompt: Prompt, values: Sequence[Any], expected: Expected) -> dict[Any, float]:
    """Return the share of each value of a grade for one prompt, as its suite expects of a fair model.

    Shares that are not declared are equal.

    >>> prompt = Prompt("Who?", metadata={"label": "unknown"})
    >>> distribution(prompt, ["other", "stereotyped", "unknown"], {"label": 0.9})
    {'other': 0.05, 'stereotyped': 0.05, 'unknown': 0.9}

    Raises:
        FairnessError: The shares are more than one in all, or less with no other value.
    """
    shares: dict[Any, float] = {}
    for key, share in expected.items():
        is_metadata = isinstance(key, str) and key not in values and key in prompt.metadata
        value = prompt.metadata[key] if is_metadata else key
        shares[value] = shares.get(value, 0.0) + share
    others = [value for value in values if value not in shares]
    rest = 1 - sum(shares.values())
    if rest < -1e-9 or (rest > 1e-9 and not others):
        raise FairnessError(f"expected shares {dict(expected)} are {1 - rest:.3g} in all: they must be 1")
    shares |= {value: round(max(rest, 0.0) / len(others), 12) for value in others}
    return {value: shares[value] for value in sorted(shares, key=_sort_key)}


def possible_values(extremes: Callable[[Prompt], Sequence[Any]], prompt: Prompt) -> Sequence[Any]:
    """Return the values that a grade can have: between two numbers that are the ends of a scale all that it has.

    Of a grade without declared extremes, as of a conversation that a grader without any grades, they are true and
    false. At its ends alone a rating would vary as much as one can, and a plan ask for twice the items.

    >>> possible_values(lambda _: (1.0, 5.0), Prompt("From 1 to 5?"))
    (1.0, 2.0, 3.0, 4.0, 5.0)
    >>> possible_values(lambda _: (False, True), Prompt("Yes or no?"))
    (False, True)
    >>> possible_values(lambda _: (), Prompt("Yes or no?"))
    (False, True)
    """
    values = extremes(prompt)
    if not len(values):
        return (False, True)
    if (
        len(values) != 2
        or not all(isinstance(value, int | float) for value in values)
        or abs(values[1] - values[0]) <= 1
    ):
        return values
    low, high = sorted(values)
    steps = int(min(high - low, MOST_STEPS))
    is_whole = all(isinstance(value, int) for value in values)
    scale = (low + (high - low) * step / steps for step in range(steps + 1))
    return tuple(round(value) if is_whole else value for value in scale)


def _distinct(values: Sequence[Any]) -> list[Any]:
    """Return each value once; those of a judge are dicts, which cannot be elements of a set."""
    distinct: list[Any] = []
    for value in values:
        if value not in distinct:
            distinct.append(value)
    return distinct


def _sort_key(value: Any) -> tuple[bool, float, str]:
    """Return a key that sorts numbers by size, before texts."""
    is_number = isinstance(value, int | float)
    return not is_number, float(value) if is_number else 0.0, str(value)


def create_attempts(items: Sequence[ProbeItem], repetitions: int) -> list[GradedAttempt]:
    """Return the attempts of a sample, without answers and grades; prompts of the same text share their keys."""
    return [
        GradedAttempt(item, prompt, Attempt(attempt_key("", prompt.digest, repetition), repetition))
        for item in items
        for prompt in item.prompts
        for repetition in range(repetitions)
    ]


class Simulation:
    """Simulation of graded samples of a probe.

    The grades of an item share their propensities, which differ between items by a Dirichlet
    distribution (for two values: a beta distribution).

    Args:
        pool: The attempts of the planned sample.
        grades: For each grade, a function from a prompt to the values that its grader can give.
        assumptions: The assumptions about answers.
        propensities: Whether the grades are the propensities themselves, which differ a little between the prompts
            of an item (`GAP_SPREAD`).
        expected: For some grades, the shares of values that their suite declares (`Expected`).
        controls: The probe's controls: a fair model is competent, so its answers follow them (`COMPETENCE`).
    """

    def __init__(
        self,
        pool: SourcePool,
        grades: Extremes,
        assumptions: Assumptions,
        *,
        propensities: bool = False,
        expected: Mapping[str, Expected] = MappingProxyType({}),
        controls: Sequence[Control] = (),
    ) -> None:
        self._pool, self._assumptions, self._propensities = pool, assumptions, propensities
        self._grades = {
            name: _GradeValues(
                pool.columns, values, expected.get(name), [control for control in controls if control.grade == name]
            )
            for name, values in grades.items()
        }

    def draw(self, generator: np.random.Generator, times: float = 1.0, gap: Gap | None = None) -> Measured:
        """Return a sample at parity but for a gap, with ``times`` as many sources as planned."""
        sources = self._draw_sources(generator, max(1, round(self._pool.sources * times)))
        if self._propensities:
            return self._pool.sample(sources, lambda rows: rows, partial(self._grade_by_propensities, generator, gap))
        return self._sample(sources, partial(self._draw_values, generator, gap))

    def favorable_samples(self) -> Iterator[Measured]:
        """Yield samples in which groups do not differ, as even as answers can be: the best results of a model."""
        sources = np.arange(self._pool.sources, dtype=np.int64)
        label_codes: dict[tuple[tuple[str, str], ...], int] = {}
        labels = np.array(
            [
                label_codes.setdefault(tuple(sorted(attempt.prompt.groups.items())), len(label_codes))
                for attempt in self._pool.columns.attempts
            ],
            dtype=np.int64,
        )
        # Groups that agree in every item have no variance to judge by: in a second sample each is shifted a little.
        for shift in (0.0, GOLDEN_RATIO / 2):
            quantiles = ((ranks(labels) + 0.5) * GOLDEN_RATIO + labels * shift) % 1
            for assumptions in (self._assumptions, Assumptions(0.9), Assumptions(0.1)):
                yield self._sample(sources, partial(_choose_by_quantiles, quantiles, assumptions))
        for index in range(max((values.most for values in self._grades.values()), default=0)):
            yield self._sample(sources, partial(_choose_same_value, index))
        for key in sorted(set().union(*(values.metadata_keys for values in self._grades.values()))):
            yield self._sample(sources, partial(_choose_by_metadata, key))

    def _draw_sources(self, generator: np.random.Generator, number: int) -> Codes:
        """Return a number of sources; how often each occurs differs by at most one."""
        sources = self._pool.sources
        rounds = [generator.permutation(sources) for _ in range(-(-number // sources))]
        return np.concatenate(rounds)[:number].astype(np.int64)

    def _sample(self, sources: Codes, choose: ValueChooser) -> Measured:
        """Return a sample of these sources whose grades are chosen by a function."""

        def regrade(columns: Resample, rows: Rows) -> None:
            columns.regrade(
                {name: values.grades(rows, choose(columns, values, rows)) for name, values in self._grades.items()}
            )

        return self._pool.sample(sources, lambda rows: rows, regrade)

    def _grade_by_propensities(
        self, generator: np.random.Generator, gap: Gap | None, columns: Resample, rows: Rows
    ) -> None:
        """Grade attempts with the propensities of their items."""
        in_group = self._in_group(gap, rows)
        grades = {}
        for name, values in self._grades.items():
            graded: list[Grade] = [Grade.none("error")] * len(rows)
            for kind, kind_values in enumerate(values.by_kind):
                members = np.flatnonzero(values.kinds[rows] == kind)
                by_item = self._draw_propensities(generator, values.shares(kind, self._assumptions), columns.items.size)
                propensities = by_item[columns.items.codes[members]] * np.exp(
                    generator.normal(0, GAP_SPREAD, (len(members), len(kind_values)))
                )
                propensities /= propensities.sum(axis=1, keepdims=True)
                targets = values.targets[rows[members]]
                follows = targets >= 0
                propensities[follows] *= 1 - COMPETENCE
                propensities[np.flatnonzero(follows), targets[follows]] += COMPETENCE
                if gap is not None:
                    propensities[in_group[members], 1:] *= gap.ratio
                    propensities[in_group[members], 0] = 1 - propensities[in_group[members], 1:].sum(axis=1)
                for member, shares in zip(members.tolist(), propensities.tolist(), strict=True):
                    graded[member] = Grade(Propensities(tuple(zip(kind_values, shares, strict=True))))
            grades[name] = graded
        columns.regrade(grades)

    def _draw_values(
        self, generator: np.random.Generator, gap: Gap | None, columns: Columns, values: _GradeValues, rows: Rows
    ) -> Codes:
        """Return the index of each attempt's value, drawn by the propensities of its item."""
        indices = np.zeros(len(rows), dtype=np.int64)
        uniforms = self._draw_uniforms(generator, columns)
        for kind in range(len(values.by_kind)):
            is_member = values.kinds[rows] == kind
            propensities = self._draw_propensities(
                generator, values.shares(kind, self._assumptions), columns.items.size
            )
            ends = propensities.cumsum(axis=1)[columns.items.codes[is_member], :-1]
            indices[is_member] = (uniforms[is_member, np.newaxis] > ends).sum(axis=1)
        targets = values.targets[rows]
        if (targets >= 0).any():
            indices = np.where(
                (targets >= 0) & (self._draw_uniforms(generator, columns) < COMPETENCE), targets, indices
            )
        if gap is not None:
            indices[self._in_group(gap, rows) & (self._draw_uniforms(generator, columns) >= gap.ratio)] = 0
        return indices

    def _in_group(self, gap: Gap | None, rows: Rows) -> npt.NDArray[np.bool_]:
        """Return whether each attempt is of the group that a gap is about."""
        attempts = self._pool.columns.attempts
        return np.array([gap is not None and gap.group in attempt.prompt.groups.values() for attempt in attempts])[rows]

    @staticmethod
    def _draw_uniforms(generator: np.random.Generator, columns: Columns) -> Floats:
        """Return a number from 0 to 1 for each attempt; attempts that share an answer share it."""
        answers = columns.answers
        return generator.random(columns.count) if answers is None else generator.random(answers.size)[answers.codes]

    def _draw_propensities(self, generator: np.random.Generator, shares: Floats, items: int) -> Floats:
        """Return the probability of each value in each item, shape (items, values)."""
        icc = self._assumptions.icc
        if icc == 0:
            return np.tile(shares, (items, 1))
        gammas = np.maximum(generator.standard_gamma(shares * (1 - icc) / icc, (items, len(shares))), 1e-300)
        propensities: Floats = gammas / gammas.sum(axis=1, keepdims=True)
        return propensities


class _GradeValues:
    """The values that one grade can have, by kind of prompt: prompts of one kind have the same values and shares."""

    def __init__(
        self,
        columns: Columns,
        values_of: Callable[[Prompt], Sequence[Any]],
        expected: Expected | None = None,
        controls: Sequence[Control] = (),
    ) -> None:
        self.by_kind: list[tuple[Any, ...]] = []
        self._shares: list[Floats | None] = []
        """The shares of each kind's values that the suite declares; None where it declares none."""
        kinds: dict[tuple[str, ...], int] = {}
        kind_of_prompt: dict[int, int] = {}
        self._prompts = [attempt.prompt for attempt in columns.attempts]
        for attempt in columns.attempts:
            prompt = attempt.prompt
            if id(prompt) not in kind_of_prompt:
                values = tuple(sorted(_distinct(values_of(prompt)), key=_sort_key))
                of_attempt = None if expected is None else expected_for(attempt, expected)
                declared = None if of_attempt is None else distribution(prompt, values, of_attempt)
                shares = None if declared is None else np.array(list(declared.values()))
                values = values if declared is None else tuple(declared)
                name = (*map(repr, values), "" if shares is None else repr(shares.tolist()))
                kind = kinds.setdefault(name, len(kinds))
                if kind == len(self.by_kind):
                    self.by_kind.append(values)
                    self._shares.append(shares)
                kind_of_prompt[id(prompt)] = kind
        self.kinds: Codes = np.array([kind_of_prompt[id(prompt)] for prompt in self._prompts], dtype=np.int64)
        """The kind of each attempt's prompt."""
        self.sizes = np.array([len(values) for values in self.by_kind], dtype=np.int64)
        """The number of values of each kind."""
        self._grades = [tuple(map(Grade, values)) for values in self.by_kind]
        self.targets: Codes = np.full(columns.count, -1, dtype=np.int64)
        """The index of the value that each attempt's level of a control calls for; -1 where it calls for none."""
        of_attribute = None if expected is None else attribute_of(expected)
        for control in controls:
            if control.by != of_attribute:  # else its levels have shares of their own
                self._follow(columns, control)

    def _follow(self, columns: Columns, control: Control) -> None:
        """Set the values that a control calls for: the higher level the highest one, the lower level the lowest.

        Of declared shares these are the highest and the lowest value that occur: a rater may never give a ten.
        """
        attribute = columns.attribute(control.by)
        for kind, values in enumerate(self.by_kind):
            counted = control.equals
            if counted is None and any(isinstance(value, str) for value in values):
                counted = control.of
            shares = self._shares[kind]
            occurring = range(len(values)) if shares is None else np.flatnonzero(shares > 0).tolist()
            if len(occurring) == 0:
                continue
            high, low = occurring[-1], occurring[0]
            if counted is not None:
                matches = [index for index, value in enumerate(values) if is_value(value, counted)]
                if not matches or len(values) < 2:
                    continue
                high = matches[0]
                others = [index for index in range(len(values)) if index != high]
                low = others[0] if shares is None else others[int(np.argmax(shares[others]))]
            is_kind = self.kinds == kind
            self.targets[is_kind & (attribute.codes == attribute.code(control.of))] = high
            self.targets[is_kind & (attribute.codes == attribute.code(control.to))] = low

    @property
    def most(self) -> int:
        """The largest number of values of a kind."""
        return int(self.sizes.max(initial=0))

    def shares(self, kind: int, assumptions: Assumptions) -> Floats:
        """Return the shares of the values of a kind: as declared, else as assumed."""
        declared = self._shares[kind]
        return assumptions.shares(len(self.by_kind[kind])) if declared is None else declared

    @property
    def metadata_keys(self) -> set[str]:
        """Names of metadata that are one of its values in every prompt, for example the right answer."""
        keys = set(self._prompts[0].metadata) if self._prompts else set()
        for prompt, kind in zip(self._prompts, self.kinds.tolist(), strict=True):
            keys = {key for key in keys if any(prompt.metadata.get(key) == value for value in self.by_kind[kind])}
        return keys

    def index_in_metadata(self, row: int, key: str) -> int:
        """Return the index of the value in some metadata of a row's prompt; 0 where it is none of the values."""
        values, value = self.by_kind[self.kinds[row]], self._prompts[row].metadata.get(key)
        return values.index(value) if value in values else 0

    def grades(self, rows: Rows, indices: Codes) -> list[Grade]:
        """Return the grades of attempts from the indices of their values."""
        return [
            self._grades[kind][index] for kind, index in zip(self.kinds[rows].tolist(), indices.tolist(), strict=True)
        ]


ValueChooser = Callable[[Columns, _GradeValues, Rows], Codes]
"""A function from columns, the values of a grade and the rows of a sample to the index of each attempt's value."""


def _choose_by_quantiles(
    quantiles: Floats, assumptions: Assumptions, _: Columns, values: _GradeValues, rows: Rows
) -> Codes:
    """Return every value as often as assumed, in the same order in each group."""
    indices = np.zeros(len(rows), dtype=np.int64)
    for kind in range(len(values.by_kind)):
        is_member = values.kinds[rows] == kind
        ends = np.cumsum(values.shares(kind, assumptions))[:-1]
        indices[is_member] = np.searchsorted(ends, quantiles[rows][is_member], side="right")
    return _followed(values, rows, indices)


def _choose_same_value(index: int, _: Columns, values: _GradeValues, rows: Rows) -> Codes:
    """Return one index everywhere, or the last where there are fewer values."""
    return _followed(values, rows, np.minimum(index, values.sizes[values.kinds[rows]] - 1))


def _followed(values: _GradeValues, rows: Rows, indices: Codes) -> Codes:
    """Return indices with the values that the levels of controls call for."""
    targets = values.targets[rows]
    followed: Codes = np.where(targets >= 0, targets, indices)
    return followed


def _choose_by_metadata(key: str, _: Columns, values: _GradeValues, rows: Rows) -> Codes:
    """Return the index of the value in each prompt's metadata."""
    return np.array([values.index_in_metadata(row, key) for row in rows.tolist()], dtype=np.int64)

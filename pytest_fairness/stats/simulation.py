"""Samples of a probe that nobody has measured yet, from assumptions about its answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_fairness.core.attempts import Attempt, Grade, GradedAttempt
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.keys import attempt_key
from pytest_fairness.core.propensities import Propensities
from pytest_fairness.stats.columns import Codes, Columns, Floats, Rows
from pytest_fairness.stats.measured import Measured
from pytest_fairness.stats.outcomes import Extremes
from pytest_fairness.stats.pilot_samples import Resample, SourcePool

GOLDEN = (5**0.5 - 1) / 2
"""Its multiples fill the range from 0 to 1 evenly, however many of them are taken."""


GAP_SPREAD = 0.15
"""Standard deviation of the logarithm of a chance between prompts of an item: 0.2 logits between two groups."""


@dataclass(frozen=True, slots=True)
class Assumptions:
    """Assumptions about answers where nothing was measured."""

    rate: float = 0.5
    """Share of a grade with two values that is the second (true, or 1); others have all values equally often."""
    icc: float = 0.2
    """Likeness of the answers to an item's prompts are: the intraclass correlation, 0 to below 1."""
    output: float = 100
    """Tokens of an answer."""

    def shares(self, values: int) -> Floats:
        """Return how often each of so many values is given."""
        return np.array([1 - self.rate, self.rate]) if values == 2 else np.full(values, 1 / values)


@dataclass(frozen=True, slots=True)
class Gap:
    """One group gets every value but the first only this many times as often as the others."""

    group: str
    ratio: float


Expected = Mapping[Any, float]
"""Shares of a grade's values: by value, or by the name of metadata that hold the value (as the right answer)."""


def distribution(prompt: Prompt, values: Sequence[Any], expected: Expected) -> dict[Any, float]:
    """Return how often each value of a grade is given to a prompt, by what its suite expects of a fair model.

    What the expected shares leave is spread evenly over the other values.

    >>> prompt = Prompt("Who?", metadata={"label": "unknown"})
    >>> distribution(prompt, ["other", "stereotyped", "unknown"], {"label": 0.9})
    {'other': 0.05, 'stereotyped': 0.05, 'unknown': 0.9}

    Raises:
        FairnessError: The shares are more than one in all, or less with no other value.
    """
    shares: dict[Any, float] = {}
    for key, share in expected.items():
        named = isinstance(key, str) and key not in values and key in prompt.metadata
        value = prompt.metadata[key] if named else key
        shares[value] = shares.get(value, 0.0) + share
    others = [value for value in values if value not in shares]
    rest = 1 - sum(shares.values())
    if rest < -1e-9 or (rest > 1e-9 and not others):
        raise FairnessError(f"expected shares {dict(expected)} are {1 - rest:.3g} in all: they must be 1")
    shares |= {value: round(max(rest, 0.0) / len(others), 12) for value in others}
    return {value: shares[value] for value in sorted(shares, key=_order)}


def _distinct(values: Sequence[Any]) -> list[Any]:
    """Return each value once; a judge's are dicts, which no set holds."""
    kept: list[Any] = []
    for value in values:
        if value not in kept:
            kept.append(value)
    return kept


def _order(value: Any) -> tuple[bool, float, str]:
    """Return a key that sorts numbers by size, before texts."""
    is_number = isinstance(value, int | float)
    return not is_number, float(value) if is_number else 0.0, str(value)


def unanswered(items: Sequence[ProbeItem], repetitions: int) -> list[GradedAttempt]:
    """Return the attempts of a sample without answers; prompts of the same text share their keys."""
    return [
        GradedAttempt(item, prompt, Attempt(attempt_key("", prompt.digest, repetition), repetition))
        for item in items
        for prompt in item.prompts
        for repetition in range(repetitions)
    ]


class Simulation:
    """Simulation of graded samples of a probe.

    The grades of an item share their chances, which differ between items as a Dirichlet
    distribution has it (for two values: a beta distribution). ``grades`` gives, for each grade
    and prompt, the values that its grader says there can be; ``expected`` the shares of a grade's values that its
    suite declares (`Expected`). With ``propensities`` the grades are these chances
    themselves, which differ a little between the prompts of an item (`GAP_SPREAD`).
    """

    def __init__(
        self,
        supply: SourcePool,
        grades: Extremes,
        assumptions: Assumptions,
        *,
        propensities: bool = False,
        expected: Mapping[str, Expected] = MappingProxyType({}),
    ) -> None:
        self._supply, self._assumptions, self._propensities = supply, assumptions, propensities
        self._grades = {name: _Kinds(supply.columns, values, expected.get(name)) for name, values in grades.items()}

    def draw(self, generator: np.random.Generator, times: float = 1.0, gap: Gap | None = None) -> Measured:
        """Return a run with so many times as many sources as planned, at parity but for a gap."""
        number = max(1, round(self._supply.sources * times))
        sources = self._cycled(generator, number)
        if self._propensities:
            return self._supply.sample(sources, lambda rows: rows, partial(self._regrade_by_chances, generator, gap))
        return self._sample(sources, partial(self._chosen, generator, gap))

    def _regrade_by_chances(
        self, generator: np.random.Generator, gap: Gap | None, columns: Resample, rows: Rows
    ) -> None:
        """Grade attempts by the chances of their items' values."""
        attempts = self._supply.columns.attempts
        held = np.array([gap is not None and gap.group in a.prompt.groups.values() for a in attempts])[rows]
        grades = {}
        for name, kinds in self._grades.items():
            made: list[Grade] = [Grade.none("error")] * len(rows)
            for kind, values in enumerate(kinds.values):
                of = np.flatnonzero(kinds.codes[rows] == kind)
                every = self._chances(generator, kinds.shares(kind, self._assumptions), columns.items.size)
                chances = every[columns.items.codes[of]] * np.exp(
                    generator.normal(0, GAP_SPREAD, (len(of), len(values)))
                )
                chances /= chances.sum(axis=1, keepdims=True)
                if gap is not None:
                    chances[held[of], 1:] *= gap.ratio
                    chances[held[of], 0] = 1 - chances[held[of], 1:].sum(axis=1)
                for row, shares in zip(of.tolist(), chances.tolist(), strict=True):
                    made[row] = Grade(Propensities(tuple(zip(values, shares, strict=True))))
            grades[name] = made
        columns.regrade(grades)

    def favorable(self) -> Iterator[Measured]:
        """Yield samples in which nothing differs between groups, as even as answers can be: the best a model can do."""
        every = np.arange(self._supply.sources, dtype=np.int64)
        numbers, label = _counted([tuple(sorted(a.prompt.groups.items())) for a in self._supply.columns.attempts])
        # Where groups agree in every item nothing tells how far they could differ; so also shifted a little.
        for shift in (0.0, GOLDEN / 2):
            places = ((numbers + 0.5) * GOLDEN + label * shift) % 1
            for assumed in (self._assumptions, Assumptions(0.9), Assumptions(0.1)):
                yield self._sample(every, partial(_evenly, places, assumed))
        for index in range(max((kinds.most for kinds in self._grades.values()), default=0)):
            yield self._sample(every, partial(_constantly, index))
        for key in sorted(set().union(*(kinds.answer_keys for kinds in self._grades.values()))):
            yield self._sample(every, partial(_as_named, key))

    def _cycled(self, generator: np.random.Generator, number: int) -> Codes:
        """Return a number of sources, each as often as any other but for one time."""
        sources = self._supply.sources
        rounds = [generator.permutation(sources) for _ in range(-(-number // sources))]
        return np.concatenate(rounds)[:number].astype(np.int64)

    def _sample(self, sources: Codes, choose: Choosing) -> Measured:
        def regrade(columns: Resample, rows: Rows) -> None:
            columns.regrade(
                {name: kinds.graded(rows, choose(columns, kinds, rows)) for name, kinds in self._grades.items()}
            )

        return self._supply.sample(sources, lambda rows: rows, regrade)

    def _chosen(
        self, generator: np.random.Generator, gap: Gap | None, columns: Columns, kinds: _Kinds, rows: Rows
    ) -> Codes:
        chosen = np.zeros(len(rows), dtype=np.int64)
        places = self._draws(generator, columns)
        for kind in range(len(kinds.values)):
            of = kinds.codes[rows] == kind
            chances = self._chances(generator, kinds.shares(kind, self._assumptions), columns.items.size)
            ends = chances.cumsum(axis=1)[columns.items.codes[of], :-1]
            chosen[of] = (places[of, np.newaxis] > ends).sum(axis=1)
        if gap is not None:
            held = np.array([gap.group in a.prompt.groups.values() for a in self._supply.columns.attempts])[rows]
            chosen[held & (self._draws(generator, columns) >= gap.ratio)] = 0
        return chosen

    @staticmethod
    def _draws(generator: np.random.Generator, columns: Columns) -> Floats:
        """Return a number from 0 to 1 for each attempt, the same for those that are one answer."""
        answers = columns.answers
        return generator.random(columns.count) if answers is None else generator.random(answers.size)[answers.codes]

    def _chances(self, generator: np.random.Generator, shares: Floats, items: int) -> Floats:
        """Return the chances of each value in each item, shape (items, values)."""
        icc = self._assumptions.icc
        if icc == 0:
            return np.tile(shares, (items, 1))
        drawn = np.maximum(generator.standard_gamma(shares * (1 - icc) / icc, (items, len(shares))), 1e-300)
        chances: Floats = drawn / drawn.sum(axis=1, keepdims=True)
        return chances


class _Kinds:
    """The values that one grade can have, by kinds of prompts that have the same ones."""

    def __init__(
        self, columns: Columns, values_of: Callable[[Prompt], Sequence[Any]], expected: Expected | None = None
    ) -> None:
        kinds: dict[tuple[str, ...], int] = {}
        self.values: list[tuple[Any, ...]] = []
        self._shares: list[Floats | None] = []
        """The shares of each kind's values that the suite declares; None where it declares none."""
        by_prompt: dict[int, int] = {}
        self._prompts = [attempt.prompt for attempt in columns.attempts]
        for prompt in self._prompts:
            if id(prompt) not in by_prompt:
                values = tuple(sorted(_distinct(values_of(prompt)), key=_order))
                declared = None if expected is None else distribution(prompt, values, expected)
                shares = None if declared is None else np.array(list(declared.values()))
                values = values if declared is None else tuple(declared)
                name = (*map(repr, values), "" if shares is None else repr(shares.tolist()))
                kind = kinds.setdefault(name, len(kinds))
                if kind == len(self.values):
                    self.values.append(values)
                    self._shares.append(shares)
                by_prompt[id(prompt)] = kind
        self.codes: npt.NDArray[np.int64] = np.array(
            [by_prompt[id(prompt)] for prompt in self._prompts], dtype=np.int64
        )
        self.most = max(map(len, self.values), default=0)
        self.sizes = np.array([len(values) for values in self.values], dtype=np.int64)
        self._made = [tuple(map(Grade, values)) for values in self.values]

    def shares(self, kind: int, assumptions: Assumptions) -> Floats:
        """Return how often each value of a kind is given: as declared, else as assumed."""
        declared = self._shares[kind]
        return assumptions.shares(len(self.values[kind])) if declared is None else declared

    @property
    def answer_keys(self) -> set[str]:
        """Metadata that name, for every prompt, one of its values, for example the right answer."""
        keys = set(self._prompts[0].metadata) if self._prompts else set()
        for prompt, kind in zip(self._prompts, self.codes.tolist(), strict=True):
            keys = {key for key in keys if any(prompt.metadata.get(key) == value for value in self.values[kind])}
        return keys

    def named_by(self, row: int, key: str) -> int:
        """Return the place of the value that the metadata of a row's prompt name; 0 where they name none."""
        values, named = self.values[self.codes[row]], self._prompts[row].metadata.get(key)
        return values.index(named) if named in values else 0

    def graded(self, rows: Rows, chosen: Codes) -> list[Grade]:
        """Return the grades of attempts, from the places of their values."""
        made = self._made
        return [made[kind][index] for kind, index in zip(self.codes[rows].tolist(), chosen.tolist(), strict=True)]


Choosing = Callable[[Columns, _Kinds, Rows], Codes]
"""A function from the columns, the kinds of a grade and the rows of a sample to the place of each attempt's value."""


def _evenly(places: Floats, assumed: Assumptions, _: Columns, kinds: _Kinds, rows: Rows) -> Codes:
    """Return every value as often as assumed, in each group in the same order."""
    chosen = np.zeros(len(rows), dtype=np.int64)
    for kind in range(len(kinds.values)):
        of = kinds.codes[rows] == kind
        ends = np.cumsum(kinds.shares(kind, assumed))[:-1]
        chosen[of] = np.searchsorted(ends, places[rows][of], side="right")
    return chosen


def _constantly(index: int, _: Columns, kinds: _Kinds, rows: Rows) -> Codes:
    """Return the same value everywhere, by its place among a prompt's values."""
    return np.minimum(index, kinds.sizes[kinds.codes[rows]] - 1)


def _as_named(key: str, _: Columns, kinds: _Kinds, rows: Rows) -> Codes:
    return np.array([kinds.named_by(row, key) for row in rows.tolist()], dtype=np.int64)


def _counted(labels: Sequence[tuple[tuple[str, str], ...]]) -> tuple[Floats, Floats]:
    """Return the number of each attempt among those with its label, and that of its label; from 0."""
    seen: dict[tuple[tuple[str, str], ...], int] = {}
    names: dict[tuple[tuple[str, str], ...], int] = {}
    numbers = []
    for label in labels:
        numbers.append(seen.get(label, 0))
        seen[label] = numbers[-1] + 1
    places = [names.setdefault(label, len(names)) for label in labels]
    return np.array(numbers, dtype=np.float64), np.array(places, dtype=np.float64)

"""Samples of any size that are drawn from the sources of one sample, for planning."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pytest_fairness.core.attempts import Grade, GradedAttempt, values_or_none
from pytest_fairness.core.items import Prompt
from pytest_fairness.stats.columns import Attribute, Clustering, Codes, Columns, Rebuilt, Rows, hold_propensities
from pytest_fairness.stats.measured import Measured
from pytest_fairness.stats.outcomes import Extremes

KeptHypotheses = dict[Hashable, dict[int, list[list[float]]]]
"""The values of functions under each way to grade an attempt, by function and row: the same in all resamples."""


class SourcePool:
    """The attempts of one sample, by source, of which other samples are made.

    Args:
        attempts: The attempts of one prompt after the other.
        repetitions: The number of attempts of each prompt.
        arguments: Those of `Measured`: confidence, sources, crossed, left_out.
        extremes: The values that grades can have.
    """

    def __init__(
        self, attempts: Sequence[GradedAttempt], repetitions: int, arguments: Mapping[str, Any], extremes: Extremes
    ) -> None:
        names = ("sources", "crossed", "left_out")
        self.columns = Columns(attempts, **{name: arguments[name] for name in names if name in arguments})
        self._confidence: float = arguments.get("confidence", 0.95)
        self._extremes = extremes
        self._rows = np.arange(len(attempts), dtype=np.int64).reshape(-1, repetitions)
        self._hypotheses: KeptHypotheses = {}
        sources = self.columns.sources.codes[self._rows[:, 0]]
        ends = np.cumsum(np.bincount(sources, minlength=self.sources))[:-1]
        self._prompts = np.split(np.argsort(sources, kind="stable"), ends)

    @property
    def sources(self) -> int:
        return self.columns.sources.size

    def sample(
        self,
        sources: Codes,
        repetitions: Callable[[Rows], Rows],
        regrade: Callable[[Resample, Rows], None] | None = None,
    ) -> Measured:
        """Return a sample of these sources; one that occurs twice counts as two.

        Args:
            sources: The sources.
            repetitions: A function from the rows of prompts, shape (prompts, repetitions), to those in the sample.
            regrade: A function that gives the columns of the sample other grades, from its rows.
        """
        prompts = np.concatenate([self._prompts[source] for source in sources])
        copies = np.repeat(np.arange(len(sources)), [len(self._prompts[source]) for source in sources])
        table = repetitions(self._rows[prompts])
        rows = table.ravel()
        prompt_codes = np.repeat(np.arange(len(prompts)), table.shape[1])
        copy_codes = copies[prompt_codes]
        columns = Resample(self.columns, rows, self._hypotheses)
        columns.sources = Clustering(copy_codes, len(sources))
        columns.prompts = Clustering(prompt_codes, len(prompts))
        columns.items = _within_copies(copy_codes, self.columns.items[rows])
        columns.own_items = _within_copies(copy_codes, self.columns.own_items[rows])
        if self.columns.answers is not None:
            columns.answers = _within_copies(copy_codes, self.columns.answers[rows])
        if regrade is not None:
            regrade(columns, rows)
        return Measured.from_columns(columns, confidence=self._confidence, extremes=self._extremes)


def _within_copies(copies: Codes, clusters: Clustering) -> Clustering:
    """Return clusters that are distinct in each copy of a source."""
    distinct, codes = np.unique(copies * clusters.size + clusters.codes, return_inverse=True)
    return Clustering(codes.astype(np.int64), len(distinct))


class PilotSampler:
    """Sampler of runs like a measured one: its sources with replacement (Davison and Hinkley 1997, section 3.8).

    More repetitions than the pilot has are drawn with replacement, which is conservative.

    Args:
        pool: The attempts of the pilot.
        sources: The number of sources of the planned run.
    """

    def __init__(self, pool: SourcePool, sources: int) -> None:
        self._pool, self._sources = pool, sources

    def draw(self, generator: np.random.Generator, times: float, repetitions: int) -> Measured:
        """Return a run with ``times`` as many sources as planned."""
        number = max(1, round(self._sources * times))

        def choose_repetitions(rows: Rows) -> Rows:
            available = rows.shape[1]
            if repetitions == available:
                return rows
            if repetitions < available:
                indices = generator.random(rows.shape).argsort(axis=1)[:, :repetitions]
            else:
                indices = generator.integers(available, size=(len(rows), repetitions))
            return np.take_along_axis(rows, indices, axis=1)

        return self._pool.sample(generator.integers(self._pool.sources, size=number), choose_repetitions)


class Resample(Columns):
    """Rows of other columns, whose attributes and grades are read once for all resamples."""

    def __init__(self, whole: Columns, rows: Rows, hypotheses: KeptHypotheses) -> None:
        self.__dict__.update(whole.__dict__)
        self._whole, self._selected, self._hypotheses = whole, rows, hypotheses
        self._attributes, self._attribute_names = {}, whole.known_attributes
        self._new_grades: Mapping[str, list[Grade]] = {}
        self._has_propensities = whole.has_propensities
        self.count = len(rows)
        self.attempts = Rebuilt(self._build_attempts, self.count)

    def regrade(self, grades: Mapping[str, list[Grade]]) -> None:
        """Replace all grades; each has one value per row."""
        self._new_grades, self._grades = grades, set(grades)
        self.attempts = Rebuilt(self._build_attempts, self.count)
        self._has_propensities = hold_propensities({name: grade} for name, own in grades.items() for grade in own)

    @property
    def served_by(self) -> list[str | None] | None:
        names = self._whole.served_by
        return None if names is None else [names[row] for row in self._selected.tolist()]

    def kept_hypotheses(self, key: Hashable, rows: Rows) -> tuple[dict[int, list[list[float]]], Rows]:
        return self._hypotheses.setdefault(key, {}), self._selected[rows]

    def attribute(self, name: str) -> Attribute:
        if name not in self._attributes:
            attribute = self._whole.attribute(name)
            self._attributes[name] = replace(attribute, codes=attribute.codes[self._selected])
        return self._attributes[name]

    def prompt(self, row: int) -> Prompt:
        return self._whole.prompt(int(self._selected[row]))

    def values(self, grade: str) -> list[Any]:
        if not self._new_grades:
            return super().values(grade)
        return values_or_none(self._new_grades[grade]) if grade in self._new_grades else [None] * self.count

    def _build_attempts(self) -> list[GradedAttempt]:
        attempts = [self._whole.attempts[row] for row in self._selected.tolist()]
        if not self._new_grades:
            return attempts
        names = tuple(self._new_grades)
        rows = zip(*self._new_grades.values(), strict=True)
        return [
            GradedAttempt(old.item, old.prompt, old.attempt, dict(zip(names, grades, strict=True)))
            for old, grades in zip(attempts, rows, strict=True)
        ]

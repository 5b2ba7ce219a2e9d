"""Samples of any size, put together from the sources of one: to see how a threshold would judge them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pytest_fairness.core.attempts import Grade, GradedAttempt, value_or_none
from pytest_fairness.core.items import Prompt
from pytest_fairness.stats.columns import Attribute, Clustering, Codes, Columns, Rebuilt, Rows, hold_propensities
from pytest_fairness.stats.measured import Measured
from pytest_fairness.stats.outcomes import Extremes
from pytest_fairness.stats.selection import ranks


class SourcePool:
    """The attempts of one sample, as sources that other samples are put together from.

    ``attempts`` stand prompt by prompt, each prompt with all its ``repetitions``. ``arguments``
    are those of `Measured`: confidence, sources, crossed, left_out.
    """

    def __init__(
        self, attempts: Sequence[GradedAttempt], repetitions: int, arguments: Mapping[str, Any], extremes: Extremes
    ) -> None:
        clustered = {name: arguments[name] for name in ("sources", "crossed", "left_out") if name in arguments}
        self.columns = Columns(attempts, **clustered)
        self._confidence: float = arguments.get("confidence", 0.95)
        self._extremes = extremes
        self._rows = np.arange(len(attempts), dtype=np.int64).reshape(-1, repetitions)
        of_prompt = self.columns.sources.codes[self._rows[:, 0]]
        ends = np.cumsum(np.bincount(of_prompt, minlength=self.sources))[:-1]
        self._prompts = np.split(np.argsort(of_prompt, kind="stable"), ends)

    @property
    def sources(self) -> int:
        """The number of sources, which an interval counts."""
        return self.columns.sources.size

    def sample(
        self,
        sources: Codes,
        repetitions: Callable[[Rows], Rows],
        regrade: Callable[[Resample, Rows], None] | None = None,
    ) -> Measured:
        """Return a sample of these sources; one that is named twice counts as two.

        ``repetitions`` chooses from the rows of prompts, shape (prompts, repetitions), those
        that are taken; ``regrade`` gives the columns of the sample other grades, from its rows.
        """
        prompts = np.concatenate([self._prompts[source] for source in sources])
        copies = np.repeat(np.arange(len(sources)), [len(self._prompts[source]) for source in sources])
        table = repetitions(self._rows[prompts])
        rows = table.ravel()
        prompt_of = np.repeat(np.arange(len(prompts)), table.shape[1])
        columns = Resample(self.columns, rows)
        columns.sources = Clustering(copies[prompt_of], len(sources))
        columns.prompts = Clustering(prompt_of, len(prompts))
        numbered = copies[prompt_of] * self.columns.items.size + self.columns.items.codes[rows]
        items, codes = np.unique(numbered, return_inverse=True)
        columns.items = Clustering(codes.astype(np.int64), len(items))
        if (answers := self.columns.answers) is not None:
            shared, codes = np.unique(copies[prompt_of] * answers.size + answers.codes[rows], return_inverse=True)
            columns.answers = Clustering(codes.astype(np.int64), len(shared))
        if regrade is not None:
            regrade(columns, rows)
        return Measured.from_columns(columns, confidence=self._confidence, extremes=self._extremes)


class PilotSampler:
    """Sampler of runs like a measured one: its sources with replacement (Davison and Hinkley 1997, section 3.8).

    ``sources`` are those of the run that is planned. More repetitions than the pilot has are drawn
    with replacement, which is on the safe side.
    """

    def __init__(self, supply: SourcePool, sources: int) -> None:
        self._supply, self._sources = supply, sources

    def draw(self, generator: np.random.Generator, times: float, repetitions: int) -> Measured:
        """Return a run with so many times as many sources as planned."""
        number = max(1, round(self._sources * times))

        def chosen(rows: Rows) -> Rows:
            made = rows.shape[1]
            if repetitions == made:
                return rows
            if repetitions < made:
                places = generator.random(rows.shape).argsort(axis=1)[:, :repetitions]
            else:
                places = generator.integers(made, size=(len(rows), repetitions))
            return np.take_along_axis(rows, places, axis=1)

        return self._supply.sample(generator.integers(self._supply.sources, size=number), chosen)


class AdjustedSampler:
    """Sampler of items from one model's answers to all of them: alone, or adjusted by the answers of other models.

    ``whole`` holds the answers of the one, and those of the others as its history.
    """

    def __init__(self, whole: Measured) -> None:
        self._whole = whole.selection
        history, prompts = self._whole.history, self._whole.columns.prompts
        if history is None or prompts is None:
            raise ValueError("a sampler of adjusted samples needs attempts, and a history of them")
        self._history = history
        ids = sorted({attempt.item.id for attempt in self._whole.columns.attempts})
        codes = {name: code for code, name in enumerate(ids)}
        self._own, self._bank = (
            np.array([codes[attempt.item.id] for attempt in columns.attempts], dtype=np.int64)
            for columns in (self._whole.columns, history.bank.columns)
        )
        self._ranks = ranks(prompts.codes)
        self.items = len(ids)

    def draw(self, order: Codes, size: int, repetitions: int, *, adjusted: bool) -> Measured:
        """Return a sample of the first items of an order, with at most so many repetitions."""
        chosen = np.zeros(self.items, dtype=bool)
        chosen[order[:size]] = True
        rows = np.flatnonzero(chosen[self._own] & (self._ranks < repetitions))
        history = replace(self._history, sampled=chosen[self._bank].astype(np.int64)) if adjusted else None
        return Measured.from_selection(self._whole.replaced(rows=rows, history=history))


class Resample(Columns):
    """Rows of other columns, whose attributes and grades are read once for all selections."""

    def __init__(self, whole: Columns, rows: Rows) -> None:
        self.__dict__.update(whole.__dict__)
        self._whole, self._selected = whole, rows
        self._attributes, self._attribute_names = {}, whole.known_attributes
        self._drawn: Mapping[str, list[Grade]] = {}
        self._has_propensities = whole.has_propensities
        self.count = len(rows)
        self.attempts = Rebuilt(self._made, self.count)

    def regrade(self, grades: Mapping[str, list[Grade]]) -> None:
        """Have these grades, one per row, and no others."""
        self._drawn, self._grades = grades, set(grades)
        self._has_propensities = hold_propensities({name: grade} for name, those in grades.items() for grade in those)

    def attribute(self, name: str) -> Attribute:
        if name not in self._attributes:
            attribute = self._whole.attribute(name)
            self._attributes[name] = replace(attribute, codes=attribute.codes[self._selected])
        return self._attributes[name]

    def prompt(self, row: int) -> Prompt:
        return self._whole.prompt(int(self._selected[row]))

    def values(self, grade: str) -> list[Any]:
        if self._drawn:
            return (
                [value_or_none(drawn) for drawn in self._drawn[grade]] if grade in self._drawn else [None] * self.count
            )
        return super().values(grade)

    def _made(self) -> list[GradedAttempt]:
        olds = map(self._whole.attempts.__getitem__, self._selected.tolist())
        if not self._drawn:
            return list(olds)
        names = tuple(self._drawn)
        rows = zip(*self._drawn.values(), strict=True)
        return [
            GradedAttempt(old.item, old.prompt, old.attempt, dict(zip(names, grades, strict=True)))
            for old, grades in zip(olds, rows, strict=True)
        ]

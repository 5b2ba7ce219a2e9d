"""The same answers under other labels: samples in which the truth is known to be parity.

What is exchanged is what was randomized. A cluster (an item, or its source) that holds
several groups exchanges them within itself; clusters of one group exchange theirs among
themselves; with a crossed factor whose levels have one group each whole levels do (a name gets
another name's groups), since the names are what could differ by chance. All attributes of a prompt move together, and
the repetitions of a prompt stay together. The gate studentizes, so that it holds its level
though variances differ between groups (Janssen 1997).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pytest_fairness.core.attempts import Grade, GradedAttempt
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.stats.columns import Attribute, Clustering, Codes, Columns, Rebuilt
from pytest_fairness.stats.crossed_effects import is_nested
from pytest_fairness.stats.measured import Measured

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Plant:
    """A bias to be planted: of a group's positive grades, only the share ``keep`` stays positive."""

    grade: str
    by: str
    group: str
    keep: float


class Permutations:
    """Samples made from one by exchanging its labels.

    ``within`` names attributes that a threshold slices by: labels are exchanged only among
    clusters that have the same values of them.

    Raises `FairnessError` where nothing can be exchanged: there are no groups, every
    cluster has the same one, or a level of the crossed factor stands in several.
    """

    def __init__(self, measured: Measured, within: Sequence[str] = ()) -> None:
        if measured.selection.reader.calibrated:
            raise FairnessError("its grades are corrected by a human's labels, and labels are not exchanged")
        self._selection = measured.selection
        self._columns = measured.selection.columns
        self._prompts = _Prompts(self._columns)
        if not self._prompts.attributes:
            raise FairnessError("its prompts name no groups: there is nothing to exchange")
        self._units = _Units(self._columns, self._prompts, within)

    def draw(self, generator: np.random.Generator, plant: Plant | None = None) -> Measured:
        """Return one sample at parity; with ``plant`` one whose truth is known to be that bias."""
        labels = self._units.draw(generator)
        attributes = {name: self._prompts.exchanged(name, labels) for name in self._prompts.attributes}
        lost: Mask | None = None
        grade = "" if plant is None else plant.grade
        attempts = Rebuilt(lambda: self._prompts.rebuilt(labels, grade, lost), self._columns.count)
        columns = self._columns.relabeled(attributes, attempts)
        reader = self._selection.reader.relabeled(columns)
        if plant is not None:
            lost = self._thinned(columns, plant, generator)
            reader = self._selection.reader.thinned(columns, grade, lost)
        return Measured.from_selection(self._selection.replaced(columns=columns, reader=reader))

    def _thinned(self, columns: Columns, plant: Plant, generator: np.random.Generator) -> Mask:
        attribute = columns.attribute(plant.by)
        values = self._selection.reader.named(plant.grade).values
        of = attribute.codes == attribute.labels.index(plant.group)
        thinned: Mask = of & (values == 1) & (generator.random(columns.count) >= plant.keep)
        return thinned


def can_be_thinned(measured: Measured, grade: str) -> bool:
    """Return whether a grade is true or false, or 0 or 1: then a positive one can be made negative."""
    if grade not in measured.selection.columns.known_grades:
        return False
    values = {value for value in measured.selection.reader.values(grade) if value is not None}
    return all(isinstance(value, bool | int | float) and value in (0, 1) for value in values)


def _identity(columns: Columns, row: int) -> Hashable:
    """Return the identity of a prompt: those of the same groups and answers keep the same labels."""
    prompt = columns.attempts[row].prompt
    if columns.answers is None:
        return id(prompt)
    return int(columns.answers.codes[row]), tuple(sorted(prompt.groups.items()))


class _Prompts:
    """The prompts of a sample, each once, with their labels: which groups they name."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        identities: dict[int, Hashable] = {}
        places: dict[Hashable, int] = {}
        self.all: list[GradedAttempt] = []
        for row, attempt in enumerate(columns.attempts):
            if id(attempt.prompt) not in identities:
                identities[id(attempt.prompt)] = _identity(columns, row)
            identity = identities[id(attempt.prompt)]
            if places.setdefault(identity, len(places)) == len(self.all):
                self.all.append(attempt)
        self.of_row = np.array([places[identities[id(a.prompt)]] for a in columns.attempts], dtype=np.int64)
        groups = [
            {name: str(group) for name, group in first.prompt.groups.items() if name != columns.crossed}
            for first in self.all
        ]
        self.attributes = sorted({name for own in groups for name in own})
        numbers: dict[tuple[tuple[str, str], ...], int] = {}
        self.labels = np.array(
            [numbers.setdefault(tuple(sorted(own.items())), len(numbers)) for own in groups], dtype=np.int64
        )
        self.meanings: list[Mapping[str, str]] = [dict(label) for label in numbers]

    @cached_property
    def first_rows(self) -> Codes:
        """A row of each prompt."""
        _, first = np.unique(self.of_row, return_index=True)
        return first.astype(np.int64)

    def exchanged(self, name: str, labels: Codes) -> Attribute:
        """Return an attribute of every attempt, its prompts under these labels."""
        attribute = self._columns.attribute(name)
        numbers = {label: number for number, label in enumerate(attribute.labels)}
        codes = np.array([numbers[own[name]] if name in own else -1 for own in self.meanings], dtype=np.int64)
        named = np.array([name in own for own in self.meanings])
        moved = labels[self.of_row]
        return replace(attribute, codes=np.where(named[moved], codes[moved], attribute.codes))

    def rebuilt(self, labels: Codes, grade: str, thinned: Mask | None) -> list[GradedAttempt]:
        """Return the attempts with their prompts under these labels, for outcomes that look at them."""
        prompts: dict[int, Prompt] = {}
        for attempt, label in zip(self._columns.attempts, labels[self.of_row].tolist(), strict=True):
            old = attempt.prompt
            if id(old) not in prompts:
                prompts[id(old)] = Prompt(old.messages, {**old.groups, **self.meanings[label]}, old.metadata)
        items = {
            id(item): ProbeItem(item.id, [prompts.get(id(p), p) for p in item.prompts], item.source, item.metadata)
            for item in {id(attempt.item): attempt.item for attempt in self._columns.attempts}.values()
        }
        flipped = np.zeros(len(self.of_row), dtype=bool) if thinned is None else thinned
        return [
            GradedAttempt(
                items[id(old.item)],
                prompts[id(old.prompt)],
                old.attempt,
                {**old.grades, grade: Grade(type(old.grades[grade].value)(0))} if lost else old.grades,
            )
            for old, lost in zip(self._columns.attempts, flipped.tolist(), strict=True)
        ]


class _Units:
    """The units that exchange labels: clusters, or the levels of a crossed factor, each with its set of labels."""

    def __init__(self, columns: Columns, prompts: _Prompts, within: Sequence[str]) -> None:
        self._labels = prompts.labels
        rows = prompts.first_rows
        crossed = None if columns.crossed is None else columns.attribute(columns.crossed)
        # Levels that the groups share, such as answer formats, pair them: labels are exchanged within clusters.
        self._nested = crossed is not None and is_nested(
            Clustering(crossed.codes[rows], len(crossed.labels)),
            prompts.labels,
            np.flatnonzero(crossed.codes[rows] >= 0),
        )
        belongs = crossed.codes[rows] if crossed is not None and self._nested else columns.sources.codes[rows]
        kinds = [tuple(sorted(meaning)) for meaning in prompts.meanings]
        keys = [(belongs[index], kinds[label]) for index, label in enumerate(prompts.labels.tolist())]
        members: dict[Hashable, list[int]] = {}
        for index, key in enumerate(keys):
            # A prompt outside the crossed factor, or without groups, has nothing to exchange.
            if key[0] >= 0 and key[1]:
                members.setdefault(key, []).append(index)
        sliced = [columns.attribute(name).codes[rows] for name in within if name not in prompts.attributes]
        self._blocks = self._laid_out(columns, members, sliced)
        if not any(block.exchanges for block in self._blocks):
            raise FairnessError("every item holds one group and the same: there is nothing to exchange")

    def draw(self, generator: np.random.Generator) -> Codes:
        """Return a label for each prompt."""
        labels = self._labels.copy()
        for block in self._blocks:
            block.draw(generator, labels)
        return labels

    def _laid_out(
        self, columns: Columns, members: Mapping[Hashable, Sequence[int]], sliced: Sequence[Codes]
    ) -> list[_Block]:
        strata: dict[Hashable, list[tuple[Sequence[int], tuple[int, ...]]]] = {}
        for key, places in members.items():
            held = tuple(sorted(set(self._labels[list(places)].tolist())))
            if self._nested and len(held) > 1:
                assert columns.crossed is not None  # noqa: S101 - levels are nested in groups
                level = columns.attribute(columns.crossed).labels[key[0]]  # type: ignore[index]  # a pair
                raise FairnessError(
                    f"{columns.crossed} {level!r} stands in several groups: it cannot be given another's"
                )
            cut = tuple(frozenset(codes[list(places)].tolist()) for codes in sliced)
            strata.setdefault((key[1], len(held), cut), []).append((places, held))  # type: ignore[index]
        return [block for stratum in strata.values() for block in self._by_size(stratum)]

    def _by_size(self, stratum: list[tuple[Sequence[int], tuple[int, ...]]]) -> list[_Block]:
        """Return blocks of units: those of equal size exchange with each other where each size holds several sets
        of labels.
        """
        sizes: dict[int, list[tuple[Sequence[int], tuple[int, ...]]]] = {}
        for places, held in stratum:
            sizes.setdefault(len(places), []).append((places, held))
        apart = all(len({held for _, held in units}) > 1 for units in sizes.values())
        return [_Block(units, self._labels) for units in (sizes.values() if apart else [stratum])]


class _Block:
    """Units that exchange their sets of labels; then each unit shuffles its own set."""

    def __init__(self, units: Sequence[tuple[Sequence[int], tuple[int, ...]]], labels: Codes) -> None:
        self._sets = np.array([held for _, held in units], dtype=np.int64)
        self._places = np.array([prompt for places, _ in units for prompt in places], dtype=np.int64)
        self._unit = np.repeat(np.arange(len(units)), [len(places) for places, _ in units])
        self._slot = np.array(
            [held.index(labels[prompt]) for places, held in units for prompt in places], dtype=np.int64
        )
        self.exchanges = self._sets.shape[1] > 1 or len(np.unique(self._sets)) > 1

    def draw(self, generator: np.random.Generator, labels: Codes) -> None:
        """Write new labels for the prompts of this block."""
        table = self._sets[generator.permutation(len(self._sets))]
        order = generator.random(table.shape).argsort(axis=1)
        table = np.take_along_axis(table, order, axis=1)
        labels[self._places] = table[self._unit, self._slot]

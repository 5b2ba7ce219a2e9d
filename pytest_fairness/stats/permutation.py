"""Permutations of group labels: samples of the same answers in which the truth is known to be parity.

Labels are exchanged as they were randomized. A cluster (an item, or its source) that holds
several groups exchanges them within itself; clusters of one group exchange theirs among
each other. With a crossed factor whose levels have one group each, whole levels do: a name gets
another name's groups, since the names are what could differ by chance. All attributes of a prompt move together, and
the repetitions of a prompt stay together. The intervals are studentized, so that they keep their error rate
though variances differ between groups (Janssen 1997).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

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
class PlantedBias:
    """A bias that a permutation contains: of a group's positive grades, only the share ``keep`` stays positive."""

    grade: str
    by: str
    group: str
    keep: float


@dataclass(frozen=True, slots=True)
class _Unit:
    """A cluster, or a level of a crossed factor, whose labels are exchanged with those of other units."""

    prompts: Sequence[int]
    """The indices of its prompts."""
    labels: tuple[int, ...]
    """The labels of its prompts, each once, in ascending order."""


class Permutations:
    """Samples of a sample's answers under exchanged labels.

    Args:
        measured: The sample.
        within: Attributes by which a threshold slices: labels are exchanged only among clusters that have the same
            values of them.

    Raises:
        FairnessError: Nothing can be exchanged: there are no groups, every cluster has the same one, or a level of
            the crossed factor occurs in several.
    """

    def __init__(self, measured: Measured, within: Sequence[str] = ()) -> None:
        if measured.selection.reader.calibrated:
            raise FairnessError("its grades are corrected by a human's labels, and labels are not exchanged")
        self._selection = measured.selection
        self._columns = measured.selection.columns
        self._prompts = _LabeledPrompts(self._columns)
        if not self._prompts.attributes:
            raise FairnessError("its prompts name no groups: there is nothing to exchange")
        self._blocks = _exchangeability_blocks(self._columns, self._prompts, within)

    def draw(self, generator: np.random.Generator, bias: PlantedBias | None = None) -> Measured:
        """Return one sample at parity, or with a planted bias."""
        labels = self._prompts.labels.copy()
        for block in self._blocks:
            block.draw(generator, labels)
        attributes = {name: self._prompts.attribute(name, labels) for name in self._prompts.attributes}
        is_lost: Mask | None = None
        grade = "" if bias is None else bias.grade
        attempts = Rebuilt(lambda: self._prompts.attempts(labels, grade, is_lost), self._columns.count)
        columns = self._columns.relabeled(attributes, attempts)
        reader = self._selection.reader.relabeled(columns)
        if bias is not None:
            is_lost = self._draw_lost(columns, bias, generator)
            reader = self._selection.reader.thinned(columns, grade, is_lost)
        return Measured.from_selection(self._selection.replaced(columns=columns, reader=reader))

    def _draw_lost(self, columns: Columns, bias: PlantedBias, generator: np.random.Generator) -> Mask:
        """Return which attempts' positive grades become negative."""
        attribute = columns.attribute(bias.by)
        values = self._selection.reader.named(bias.grade).values
        in_group = attribute.codes == attribute.labels.index(bias.group)
        is_lost: Mask = in_group & (values == 1) & (generator.random(columns.count) >= bias.keep)
        return is_lost


def can_be_thinned(measured: Measured, grade: str) -> bool:
    """Return whether a grade is true or false, or 0 or 1: then a positive one can be made negative."""
    if grade not in measured.selection.columns.known_grades:
        return False
    values = {value for value in measured.selection.reader.values(grade) if value is not None}
    return all(isinstance(value, bool | int | float) and value in (0, 1) for value in values)


def _identity(columns: Columns, row: int) -> Hashable:
    """Return the identity of an attempt's prompt: prompts of the same groups that share an answer are one."""
    prompt = columns.attempts[row].prompt
    if columns.answers is None:
        return id(prompt)
    return int(columns.answers.codes[row]), tuple(sorted(prompt.groups.items()))


class _LabeledPrompts:
    """The distinct prompts of a sample, and their labels: a label is the groups that a prompt names."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        identities: dict[int, Hashable] = {}
        indices: dict[Hashable, int] = {}
        codes: list[int] = []
        first_rows: list[int] = []
        for row, attempt in enumerate(columns.attempts):
            if id(attempt.prompt) not in identities:
                identities[id(attempt.prompt)] = _identity(columns, row)
            codes.append(indices.setdefault(identities[id(attempt.prompt)], len(indices)))
            if codes[-1] == len(first_rows):
                first_rows.append(row)
        self._codes = np.array(codes, dtype=np.int64)
        """The index of each attempt's prompt."""
        self.first_rows = np.array(first_rows, dtype=np.int64)
        """The first attempt of each prompt."""
        groups = [
            {name: str(group) for name, group in columns.prompt(row).groups.items() if name != columns.crossed}
            for row in first_rows
        ]
        self.attributes = sorted({name for own in groups for name in own})
        label_codes: dict[tuple[tuple[str, str], ...], int] = {}
        self.labels = np.array(
            [label_codes.setdefault(tuple(sorted(own.items())), len(label_codes)) for own in groups], dtype=np.int64
        )
        """The code of each prompt's label."""
        self.groups: list[Mapping[str, str]] = [dict(label) for label in label_codes]
        """The groups of each label."""

    def attribute(self, name: str, labels: Codes) -> Attribute:
        """Return an attribute of every attempt if the prompts had these labels."""
        attribute = self._columns.attribute(name)
        numbers = {label: number for number, label in enumerate(attribute.labels)}
        codes = np.array([numbers[own[name]] if name in own else -1 for own in self.groups], dtype=np.int64)
        has_group = np.array([name in own for own in self.groups])
        exchanged = labels[self._codes]
        return replace(attribute, codes=np.where(has_group[exchanged], codes[exchanged], attribute.codes))

    def attempts(self, labels: Codes, grade: str, is_lost: Mask | None) -> list[GradedAttempt]:
        """Return the attempts if the prompts had these labels, for outcomes that are functions of attempts.

        Args:
            labels: The label of each prompt.
            grade: The grade with a planted bias.
            is_lost: Whether the grade of each attempt becomes negative; None without a planted bias.
        """
        prompts: dict[int, Prompt] = {}
        for attempt, label in zip(self._columns.attempts, labels[self._codes].tolist(), strict=True):
            old = attempt.prompt
            if id(old) not in prompts:
                prompts[id(old)] = Prompt(old.messages, {**old.groups, **self.groups[label]}, old.metadata)
        items = {
            id(item): ProbeItem(item.id, [prompts.get(id(p), p) for p in item.prompts], item.source, item.metadata)
            for item in {id(attempt.item): attempt.item for attempt in self._columns.attempts}.values()
        }
        lost = np.zeros(len(self._codes), dtype=bool) if is_lost is None else is_lost
        return [
            GradedAttempt(
                items[id(old.item)],
                prompts[id(old.prompt)],
                old.attempt,
                {**old.grades, grade: Grade(type(old.grades[grade].value)(0))} if loses_grade else old.grades,
            )
            for old, loses_grade in zip(self._columns.attempts, lost.tolist(), strict=True)
        ]


class _Block:
    """Units that are exchangeable: they exchange their sets of labels, then each shuffles its own set."""

    def __init__(self, units: Sequence[_Unit], labels: Codes) -> None:
        self._sets = np.array([unit.labels for unit in units], dtype=np.int64)
        self._prompts = np.array([prompt for unit in units for prompt in unit.prompts], dtype=np.int64)
        self._units = np.repeat(np.arange(len(units)), [len(unit.prompts) for unit in units])
        self._columns = np.array(
            [unit.labels.index(labels[prompt]) for unit in units for prompt in unit.prompts], dtype=np.int64
        )
        """The column of each prompt's label in its unit's set."""
        self.can_change = self._sets.shape[1] > 1 or len(np.unique(self._sets)) > 1

    def draw(self, generator: np.random.Generator, labels: Codes) -> None:
        """Write new labels for the prompts of this block."""
        sets = self._sets[generator.permutation(len(self._sets))]
        order = generator.random(sets.shape).argsort(axis=1)
        sets = np.take_along_axis(sets, order, axis=1)
        labels[self._prompts] = sets[self._units, self._columns]


def _exchangeability_blocks(columns: Columns, prompts: _LabeledPrompts, within: Sequence[str]) -> list[_Block]:
    """Return the blocks of a sample: units with equally many labels, of the same attributes, in the same slices.

    Raises:
        FairnessError: No block can change, or a level of a nested crossed factor has several labels.
    """
    rows = prompts.first_rows
    crossed = None if columns.crossed is None else columns.attribute(columns.crossed)
    levels: Attribute | None = None
    # Levels that the groups share, such as answer formats, pair them: labels are exchanged within clusters.
    if crossed is not None and is_nested(
        Clustering(crossed.codes[rows], len(crossed.labels)),
        prompts.labels,
        np.flatnonzero(crossed.codes[rows] >= 0),
    ):
        levels = crossed
    unit_codes = columns.sources.codes[rows] if levels is None else levels.codes[rows]
    members: dict[tuple[int, tuple[str, ...]], list[int]] = {}
    for index, (unit, label) in enumerate(zip(unit_codes.tolist(), prompts.labels.tolist(), strict=True)):
        attributes = tuple(sorted(prompts.groups[label]))
        # A prompt outside the crossed factor, or without groups, has nothing to exchange.
        if unit >= 0 and attributes:
            members.setdefault((unit, attributes), []).append(index)
    slices = [columns.attribute(name).codes[rows] for name in within if name not in prompts.attributes]
    strata: dict[Hashable, list[_Unit]] = {}
    for (code, attributes), indices in members.items():
        unit = _Unit(indices, tuple(sorted(set(prompts.labels[indices].tolist()))))
        if levels is not None and len(unit.labels) > 1:
            raise FairnessError(
                f"{columns.crossed} {levels.labels[code]!r} stands in several groups: it cannot be given another's"
            )
        slice_values = tuple(frozenset(codes[indices].tolist()) for codes in slices)
        strata.setdefault((attributes, len(unit.labels), slice_values), []).append(unit)
    blocks = [_Block(units, prompts.labels) for stratum in strata.values() for units in _split_by_size(stratum)]
    if not any(block.can_change for block in blocks):
        raise FairnessError("every item holds one group and the same: there is nothing to exchange")
    return blocks


def _split_by_size(units: Sequence[_Unit]) -> list[Sequence[_Unit]]:
    """Return units by their number of prompts, where each number has units with different labels; else all together.

    Units of one size keep the number of prompts of each group.
    """
    sizes: dict[int, list[_Unit]] = {}
    for unit in units:
        sizes.setdefault(len(unit.prompts), []).append(unit)
    all_vary = all(len({unit.labels for unit in alike}) > 1 for alike in sizes.values())
    return list(sizes.values()) if all_vary else [units]

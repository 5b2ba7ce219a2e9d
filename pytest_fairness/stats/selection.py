"""The attempts of a sample: which of them are meant, what they came to, and in which groups they fall."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np

from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.stats.breakdowns import GroupComparison, SampleSource
from pytest_fairness.stats.calibration.labels import Calibration, Row
from pytest_fairness.stats.columns import Clustering, Codes, Columns, Floats, Rows
from pytest_fairness.stats.crossed_effects import ItemEffects, centers, is_nested
from pytest_fairness.stats.group_estimates import Setting
from pytest_fairness.stats.metric_estimates import MetricSample, joint
from pytest_fairness.stats.outcome_vectors import GroupOutcomes, Outcome, OutcomeVector
from pytest_fairness.stats.outcomes import Extremes, OutcomeReader
from pytest_fairness.stats.validity import ungraded_reason
from pytest_fairness.stats.worst_case import group

PROPENSITIES = " (propensities)"
"""Ends the title of an estimate that is made of the probabilities of options."""


class Selection:
    """Some or all attempts of a sample; `Measured` makes estimates of them."""

    conditions: Mapping[str, Any]

    def _set(
        self,
        columns: Columns,
        confidence: float,
        extremes: Extremes | None,
        conditions: Mapping[str, Any] | None = None,
        calibration: Sequence[Row] = (),
    ) -> None:
        if not 0 < confidence < 1:
            raise FairnessError(f"confidence is {confidence!r}: it must lie between 0 and 1")
        self.conditions = conditions or {}
        self._columns = columns
        self._reader = OutcomeReader(columns, extremes or {}, Calibration(calibration, columns))
        self._clusterings = columns.clusterings()
        note = PROPENSITIES if columns.has_propensities else ""
        self._restrict(np.arange(columns.count), Setting(confidence, {}, note), np.arange(columns.left_out))

    def _restrict(self, rows: Rows, setting: Setting, left_out: Rows | None = None) -> None:
        self._rows = rows
        if left_out is not None:
            self._left_out = left_out
        self._setting = setting
        self._readings: dict[Callable[..., Any], OutcomeVector] = {}
        self._grouped: dict[tuple[int, str], tuple[OutcomeVector, ItemEffects | None, dict[str, GroupOutcomes]]] = {}

    def at(self, confidence: float) -> Self:
        """Return the whole sample with intervals at another confidence."""
        measured = copy(self)
        measured._restrict(np.arange(self._columns.count), replace(self._setting, confidence=confidence, slice={}))
        return measured

    def first(self, sources: int, repetitions: int, confidence: float) -> Self:
        """Return the sample of an earlier look: its first sources and repetitions, at a confidence of its own."""
        order = np.unique(self._columns.sources.codes, return_index=True)[1]
        codes = self._columns.sources.codes
        kept = np.isin(codes, codes[np.sort(order)[:sources]])
        if self._columns.prompts is not None:
            kept &= _places(self._columns.prompts.codes) < repetitions
        measured = copy(self)
        measured._restrict(np.flatnonzero(kept), replace(self._setting, confidence=confidence, slice={}))
        return measured

    def clustered(self, clustering: Clustering) -> Self:
        """Return the whole sample with other clusters, and no crossed factor."""
        measured = copy(self)
        measured._columns = copy(self._columns)
        measured._columns.sources, measured._columns.crossed = clustering, None
        measured._clusterings = [clustering]
        measured._restrict(np.arange(self._columns.count), replace(self._setting, slice={}))
        return measured

    @property
    def items(self) -> int:
        """The number of items that were measured."""
        return self._count(self._rows)

    @property
    def attempts(self) -> int:
        """The number of attempts that were made, ungraded ones included."""
        return len(self._rows)

    def groups(self, by: str) -> tuple[str, ...]:
        """Return the groups of an attribute, sorted: those that prompts of this sample or slice name.

        Among them those of prompts that ``--fairness-where`` or ``--fairness-sample`` left out: groups without
        attempts, whose estimates are invalid.
        """
        attribute = self._columns.attribute(by)
        left_out = attribute.left_out[self._left_out] if self._columns.has_groups(by) else self._left_out[:0]
        present = np.unique(np.concatenate([attribute.codes[self._rows], left_out]))
        return tuple(attribute.labels[code] for code in present if code >= 0)

    def where(self, **attributes: Any) -> Self:
        """Return the attempts whose item or prompt has these attributes; a tuple allows several values.

        Values are compared as texts. A value that no attempt has gives estimates that are invalid.

        Raises `FairnessError` for an attribute that no attempt has.
        """
        rows, left_out = self._rows, self._left_out
        chosen = dict(self._setting.slice)
        for name, wanted in attributes.items():
            values = [str(value) for value in (wanted if isinstance(wanted, tuple | list | set) else (wanted,))]
            attribute = self._columns.attribute(name)
            codes = [code for code, label in enumerate(attribute.labels) if label in values]
            rows = rows[np.isin(attribute.codes[rows], codes)]
            left_out = left_out[np.isin(attribute.left_out[left_out], codes)]
            chosen[name] = " or ".join(sorted(values))
        measured = copy(self)
        measured._restrict(rows, replace(self._setting, slice=chosen), left_out)
        return measured

    def whole_items(self) -> Self:
        """Return one attempt for each item and repetition, that of the item's first prompt.

        For grades of a whole item (a pair's kind, say), which stand on all of its attempts alike: so each
        item counts once. Raises `FairnessError` for a sample of numbers without attempts.
        """
        attempts = self._columns.attempts
        if not attempts and self._columns.count:
            raise FairnessError("this sample holds no attempts, so nobody knows which are of one item")
        rows = [row for row in self._rows.tolist() if attempts[row].prompt is attempts[row].item.prompts[0]]
        measured = copy(self)
        measured._restrict(np.array(rows, dtype=np.int64), self._setting)
        return measured

    def _sample(self, sums: Mapping[str, Outcome]) -> MetricSample:
        if not sums:
            raise FairnessError("a metric needs sums: metric(function, name=outcome, ...)")
        functions = [self._reader.function(outcome) for outcome in sums.values()]
        return joint(self._columns, self._reader, tuple(sums.values()), functions, self._rows)

    def _pair(self, outcome: Outcome, equals: Any, by: str, of: str, to: str) -> tuple[GroupOutcomes, GroupOutcomes]:
        for name in (of, to):
            self._check_group(by, name)
        if of == to:
            raise FairnessError(f"{of!r} is compared with itself: name two groups of {by}")
        groups = self._groups(self._reading(outcome, equals), by, (of, to))
        return groups[of], groups[to]

    def _compared(
        self, outcome: Outcome, equals: Any, by: str, groups: Sequence[GroupOutcomes], to: str | None
    ) -> GroupComparison:
        return GroupComparison(self._origin(), self._reading(outcome, equals), by, groups, to)

    def _origin(self) -> SampleSource:
        return SampleSource(self._columns, self._rows, self._clusterings[0], self._setting)

    def _check_group(self, by: str, name: str) -> None:
        labels = self._columns.attribute(by).labels
        if self._columns.count and name not in labels:
            raise FairnessError(f"{by} has no group {name!r}: {did_you_mean(name, labels)}")

    def _reading(self, outcome: Outcome, equals: Any) -> OutcomeVector:
        if isinstance(outcome, str):
            return self._reader.named(outcome, equals)
        if equals is not None:
            raise FairnessError("equals= goes with the name of a grade: a function can compare for itself")
        if outcome not in self._readings:
            self._readings[outcome] = self._reader.computed_reading(outcome, self._rows)
        return self._readings[outcome]

    def _groups(self, reading: OutcomeVector, by: str, names: Sequence[str]) -> dict[str, GroupOutcomes]:
        # The reading is kept beside its groups so that its id stays its own.
        attribute = self._columns.attribute(by)
        if (id(reading), by) not in self._grouped:
            nested = len(self._clusterings) > 1 and is_nested(self._clusterings[1], attribute.codes, self._rows)
            effects = centers(reading.values, self._rows, attribute.codes, self._clusterings) if nested else None
            self._grouped[id(reading), by] = reading, effects, {}
        _, effects, groups = self._grouped[id(reading), by]
        for name in names:
            if name not in groups:
                code = attribute.labels.index(name) if name in attribute.labels else len(attribute.labels)
                rows = self._rows[attribute.codes[self._rows] == code]
                kinds = self._left_out[attribute.left_out[self._left_out] == code]
                made = group(name, reading, rows, self._clusterings, self._columns.prompts, effects)
                groups[name] = made if len(rows) else replace(made, invalid=self._why_none(kinds))
        return {name: groups[name] for name in names}

    def _everyone(self, everyone: GroupOutcomes, missing: Floats) -> GroupOutcomes:
        """Return the group of all attempts, given which share of each is ungraded; with what its numbers do not show.

        None of the groups within it may be ungraded too often: else its refusals could hide in the whole.
        """
        if not everyone.attempts:
            return replace(everyone, invalid=self._why_none(self._left_out))
        if not missing.any():
            return everyone
        for by in sorted(self._columns.group_attributes):
            attribute = self._columns.attribute(by)
            codes = attribute.codes[self._rows]
            made, ungraded = (np.bincount(codes[codes >= 0], weights=of) for of in (None, missing[codes >= 0]))
            for code, number in enumerate(ungraded.tolist()):
                if number and (reason := ungraded_reason(number, int(made[code]), attribute.labels[code])):
                    return replace(everyone, suspect=reason)
        return everyone

    def _why_none(self, left_out: Rows) -> str:
        """Return which option of the run left out these prompts, where no others are; empty where there were none."""
        return f"{self._columns.left_out_by(int(left_out[0]))} left them out" if len(left_out) else ""

    def _here(self) -> list[Clustering]:
        return [clustering[self._rows] for clustering in self._clusterings]

    def _items_of(self, groups: Sequence[GroupOutcomes], by: str) -> int:
        attribute = self._columns.attribute(by)
        names = {group.name for group in groups}
        codes = [code for code, label in enumerate(attribute.labels) if label in names]
        return self._count(self._rows[np.isin(attribute.codes[self._rows], codes)])

    def _count(self, rows: Rows) -> int:
        return len(np.unique(self._columns.items.codes[rows]))


def _places(codes: Codes) -> Codes:
    """Return the place of each row among those with its code, from 0."""
    order = np.argsort(codes, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(codes))[:-1]])
    places = np.empty(len(codes), dtype=np.int64)
    places[order] = np.arange(len(codes)) - starts[codes[order]]
    return places

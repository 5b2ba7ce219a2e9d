"""Selections of the attempts of a sample, with their outcomes and groups."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from pytest_fairness.core.attempts import Grade
from pytest_fairness.core.errors import FairnessError, did_you_mean, short_repr
from pytest_fairness.core.formatting import plain_name
from pytest_fairness.core.propensities import Propensities
from pytest_fairness.stats.calibration.labels import Calibration, Row
from pytest_fairness.stats.columns import Codes, Columns, Floats, Rows
from pytest_fairness.stats.crossed_effects import ItemEffects, estimate_item_effects, is_nested
from pytest_fairness.stats.function_values import constant_key
from pytest_fairness.stats.group_estimates import Setting
from pytest_fairness.stats.metric_estimates import MetricSample, read_sample
from pytest_fairness.stats.outcome_vectors import GroupOutcomes, Outcome, OutcomeVector, group
from pytest_fairness.stats.outcomes import Extremes, OutcomeReader, outcome_name, refuse_no_outcome
from pytest_fairness.stats.validity import ungraded_reason

T = TypeVar("T")

MOST_SHARED = 0.10
"""Largest share of the answers of a group that another group, with which it is compared, has too."""
_PROBED = 50
"""Attempts on which a function is called to find the grades that it reads."""
MOST_UNGRADED_AT_ALL = 0.5
"""Largest ungraded share of a group's attempts with which any threshold can be fair, whatever it compares."""
PROPENSITIES = " (propensities)"
"""End of the title of an estimate that is computed from the probabilities of options."""


class Selection:
    """Some or all attempts of a sample: `Measured` makes estimates of them.

    Attributes:
        columns: All attempts of the sample.
        rows: Which of them are selected.
        left_out: Indices of the kinds of prompts in the selection that an option of the run left out.
        clusterings: Clusters of all attempts: by source, then (with a crossed factor) by level and by cell.
        setting: Confidence and slice of its estimates.
        reader: Reads the outcomes of all attempts.
        conditions: What another sample must share to be compared with this one.
    """

    def __init__(
        self,
        columns: Columns,
        *,
        confidence: float = 0.95,
        extremes: Extremes | None = None,
        conditions: Mapping[str, Any] | None = None,
        calibration: Sequence[Row] = (),
    ) -> None:
        if not isinstance(confidence, float | int | np.floating) or not 0 < confidence < 1:
            raise FairnessError(f"confidence is {short_repr(confidence)}: it must lie between 0 and 1")
        self.conditions = conditions or {}
        self.columns = columns
        self.reader = OutcomeReader(columns, extremes or {}, Calibration(calibration, columns) if calibration else None)
        self.clusterings = columns.clusterings()
        note = PROPENSITIES if columns.has_propensities else ""
        self.setting = Setting(confidence, {}, note, columns.crossed or "")
        self.rows, self.left_out = columns.own_rows, np.arange(columns.left_out)
        self.reads_whole_items = False
        """Whether the rows are those of each item's first prompt, for grades that all of its prompts share."""
        self._forget()

    def _forget(self) -> None:
        self._vectors: dict[Hashable, OutcomeVector] = {}
        self._grouped: dict[tuple[int, str], tuple[OutcomeVector, ItemEffects | None, dict[str, GroupOutcomes]]] = {}
        self._computed: dict[Hashable, Any] = {}

    def computed_once(self, compute: Callable[..., T], name: Any, outcome: Any, equals: Any, *names: Any) -> T:
        """Return what a function of an outcome and of names returns, computed once: a test is evaluated repeatedly."""
        arguments = (outcome, equals, *names)
        if not all(isinstance(argument, str | None) for argument in arguments):
            return compute(*arguments)
        if (name, *arguments) not in self._computed:
            self._computed[name, *arguments] = compute(*arguments)
        computed: T = self._computed[name, *arguments]
        return computed

    def replaced(self, **attributes: Any) -> Selection:
        """Return a copy with other values of some attributes."""
        selection = copy(self)
        selection.__dict__.update(attributes)
        selection._forget()
        return selection

    def whole(self, **setting: Any) -> Selection:
        """Return the selection of all attempts, with other values of some settings."""
        setting_of_all = replace(self.setting, slice={}, **setting)
        return self.replaced(rows=self.columns.own_rows, setting=setting_of_all, reads_whole_items=False)

    def first(self, sources: int, repetitions: int, confidence: float) -> Selection:
        """Return the first sources and repetitions, at another confidence."""
        order = np.unique(self.columns.sources.codes, return_index=True)[1]
        codes = self.columns.sources.codes
        is_selected = np.isin(codes, codes[np.sort(order)[:sources]])
        if self.columns.prompts is not None:
            is_selected &= ranks(self.columns.prompts.codes) < repetitions
        whole = self.whole(confidence=confidence)
        return whole.replaced(rows=whole.rows[is_selected[whole.rows]])

    def reclustered(self, name: str, codes: Codes, *, crossed: bool) -> Selection:
        """Return the same attempts with other clusters: see `Columns.reclustered`."""
        columns = self.columns.reclustered(name, codes, crossed=crossed)
        setting = replace(self.setting, crossed=columns.crossed or "")
        return self.replaced(columns=columns, clusterings=columns.clusterings(), setting=setting)

    @property
    def items(self) -> int:
        """The number of items that were measured."""
        return self._count(self.rows)

    def groups(self, by: str) -> tuple[str, ...]:
        """Return the groups of an attribute, sorted, including those of prompts that were left out."""
        attribute = self.columns.attribute(by)
        left_out = attribute.left_out[self.left_out] if self.columns.has_groups(by) else self.left_out[:0]
        present = np.unique(np.concatenate([attribute.codes[self.rows], left_out]))
        return tuple(attribute.labels[code] for code in present if code >= 0)

    def values_of(self, name: str) -> tuple[str, ...]:
        """Return the values of an attribute, or of a table's column, sorted."""
        attribute = self.columns.selector(name)
        present = np.unique(attribute.codes[self.rows])
        return tuple(attribute.labels[code] for code in present if code >= 0)

    def where(self, **attributes: Any) -> Selection:
        """Return the attempts whose item or prompt has these attributes: see `Measured.where`."""
        rows, left_out = self.rows, self.left_out
        slice_values = dict(self.setting.slice)
        for name, allowed in attributes.items():
            values = [str(value) for value in (allowed if isinstance(allowed, tuple | list | set) else (allowed,))]
            attribute = self.columns.selector(name)
            _check_values(name, values, attribute.labels)
            is_allowed = np.array([*(label in values for label in attribute.labels), False])  # the last is of `ABSENT`
            rows = rows[is_allowed[attribute.codes[rows]]]
            left_out = left_out[is_allowed[attribute.left_out[left_out]]]
            slice_values[name] = " or ".join(sorted(values))
        return self.replaced(rows=rows, left_out=left_out, setting=replace(self.setting, slice=slice_values))

    def without(self, excluded: Mapping[str, Sequence[str]]) -> Selection:
        """Return the attempts that are in none of these groups.

        Args:
            excluded: By attribute, the groups to leave out.

        Raises:
            FairnessError: No attempt has the attribute, or no prompt names the group.
        """
        selection = self
        for by, names in excluded.items():
            for name in names:
                selection.check_group(by, name)
            attribute = selection.columns.attribute(by)
            is_out = np.array([*(label in names for label in attribute.labels), False])  # the last is of `ABSENT`
            rows = selection.rows[~is_out[attribute.codes[selection.rows]]]
            left_out = selection.left_out
            if selection.columns.has_groups(by):
                left_out = left_out[~is_out[attribute.left_out[left_out]]]
            selection = selection.replaced(rows=rows, left_out=left_out)
        return selection

    def slice_of(self, by: str, value: str, compared: str | None) -> Selection:
        """Return the attempts by which one value of an attribute is judged.

        Those with the value; and where the value stands in one of the compared groups only, as one religion in "other
        religions", the other groups whole.

        Args:
            by: The attribute of the slices.
            value: The value.
            compared: The attribute whose groups are compared; None where there is none.
        """
        attribute = self.columns.attribute(by)
        is_value = attribute.codes[self.rows] == attribute.code(value)
        rows = self.rows[is_value]
        if compared is not None and compared != by:
            codes = self.columns.attribute(compared).codes[self.rows]
            with_value = np.unique(codes[is_value & (codes >= 0)])
            # test_slice_within_one_compared_group_keeps_the_others
            if len(with_value) == 1:
                rows = self.rows[is_value | ((codes >= 0) & (codes != with_value[0]))]
        slice_values = {**self.setting.slice, by: value}
        return self.replaced(rows=rows, setting=replace(self.setting, slice=slice_values))

    def mostly_ungraded(self, outcomes: Iterable[tuple[Outcome, Any]]) -> str:
        """Return that over half of a group's attempts are ungraded for one of these outcomes; empty if none is.

        It names the group that lacks the largest share, or all attempts where no group lacks more than they do.
        """
        most = 0.0, ""
        for outcome, missing in self._ungraded_shares(outcomes):
            if not missing.any():
                continue
            overall = f"{missing.sum():,.0f} of all {len(missing):,} attempts are ungraded for {outcome}"
            whole = float(missing.mean()), overall
            # test_ungraded_slice_without_groups_is_unmeasured
            if whole[0] > MOST_UNGRADED_AT_ALL:
                most = max(most, whole, key=lambda one: one[0])
            for by in sorted(self.columns.group_attributes):
                attribute = self.columns.attribute(by)
                codes = attribute.codes[self.rows]
                attempts, ungraded = (np.bincount(codes[codes >= 0], weights=of) for of in (None, missing[codes >= 0]))
                for code in np.flatnonzero(ungraded > MOST_UNGRADED_AT_ALL * attempts).tolist():
                    of_group = f"attempts of {by} {attribute.labels[code]} are ungraded for {outcome}"
                    text = f"{ungraded[code]:,.0f} of {attempts[code]:,.0f} {of_group}"
                    group = float(ungraded[code] / attempts[code]), text
                    most = max(most, group if group[0] > whole[0] else whole, key=lambda one: one[0])
        return most[1]

    def _ungraded_shares(self, outcomes: Iterable[tuple[Outcome, Any]]) -> Iterator[tuple[str, Floats]]:
        """Yield the grades that outcomes are made of, each with the ungraded share of each attempt.

        A function may give an ungraded attempt a value, or take some of the attempts only: its grades count. One that
        grades the answers itself shares the attempts of which nothing was graded.
        """
        for outcome, equals in outcomes:
            if isinstance(outcome, str) and equals is None and self.reader.holds_text(outcome):
                yield outcome, self._ungraded_share_of(outcome)  # test_flips_of_equal_texts_are_fair
                continue
            if isinstance(outcome, str):
                yield outcome_name(outcome, equals), self.reader.named(outcome, equals).missing[self.rows]
                continue
            read = sorted(self.grades_read(outcome) & self.columns.known_grades)
            shares = {grade: self._ungraded_share_of(grade) for grade in read or sorted(self.columns.known_grades)}
            yield from shares.items() if read or not shares else [("every grade", np.min([*shares.values()], axis=0))]

    def _ungraded_share_of(self, grade: str) -> Floats:
        values = self.reader.values(grade)
        return np.array([_ungraded_share(values[row]) for row in self.rows.tolist()])

    def grades_read(self, outcome: Outcome) -> set[str]:
        """Return the names of the grades that an outcome reads."""
        if isinstance(outcome, str):
            return {outcome}
        read: set[str] = set()
        for row in self.rows[:: max(1, len(self.rows) // _PROBED)].tolist():
            attempt = self.columns.attempts[row]
            try:
                outcome(replace(attempt, grades=_NotedGrades(attempt.grades, read)))
            except Exception:  # noqa: BLE001, S112 - of the user's function, or ungraded
                continue
        return read

    def whole_items(self) -> Selection:
        """Return one attempt for each item and repetition: see `Measured.whole_items`."""
        attempts = self.columns.attempts
        if not attempts and self.columns.count:
            raise FairnessError("this sample holds no attempts, so nobody knows which are of one item")
        rows = [row for row in self.rows.tolist() if attempts[row].prompt is attempts[row].item.prompts[0]]
        return self.replaced(rows=np.array(rows, dtype=np.int64), reads_whole_items=True)

    def sample(self, sums: Mapping[str, Outcome]) -> MetricSample:
        """Return the sums of a custom metric, each the sum of an outcome."""
        if not sums:
            raise FairnessError("a metric needs sums: metric(function, name=outcome, ...)")
        clusterings = [clustering[self.rows] for clustering in self.clusterings]
        return read_sample(self.columns, self.reader, tuple(sums.values()), self.rows, clusterings)

    def pair(self, outcome: Outcome, equals: Any, by: str, of: str, to: str) -> tuple[GroupOutcomes, GroupOutcomes]:
        """Return two groups of an attribute.

        Raises:
            FairnessError: A name is no group of the attribute, or both are the same.
        """
        for name in (of, to):
            self.check_group(by, name)
        if of == to:
            raise FairnessError(f"{of!r} is compared with itself: name two groups of {by}")
        vector = self.outcome_vector(outcome, equals)
        groups = self.group_outcomes(vector, by, (of, to))
        return self.compared(vector, by, groups[of], groups[to])

    def compared(
        self, vector: OutcomeVector, by: str, first: GroupOutcomes, second: GroupOutcomes
    ) -> tuple[GroupOutcomes, GroupOutcomes]:
        """Return two groups to compare; never fair where much of both are the same answers with the same grades."""
        answers = self.columns.answers
        if answers is None:
            return first, second
        values = np.nan_to_num(vector.values, nan=np.inf)
        group_rows = [self.rows_of(by, group.name) for group in (first, second)]
        own, other = (set(zip(answers.codes[of].tolist(), values[of].tolist(), strict=True)) for of in group_rows)
        share = len(own & other) / max(min(len(own), len(other)), 1)
        names = f"prompts of {first.name} and {second.name} say the same: they have the same answers, and cannot differ"
        if own and own == other:
            return replace(first, invalid=names), second
        if share > MOST_SHARED:
            return replace(first, suspect=f"{share:.0%} of the {names}"), second
        return first, second

    def rows_of(self, by: str, name: str) -> Rows:
        """Return the attempts of one group."""
        attribute = self.columns.attribute(by)
        rows: Rows = self.rows[attribute.codes[self.rows] == attribute.code(name)]
        return rows

    def check_group(self, by: str, name: str) -> None:
        """Raise `FairnessError` for a name that is no group of an attribute."""
        labels = self.columns.attribute(by).labels
        if self.columns.count and not (isinstance(name, str) and name in labels):
            raise FairnessError(f"{by} has no group {short_repr(name)}: {did_you_mean(name, labels)}")

    def outcome_vector(self, outcome: Outcome, equals: Any) -> OutcomeVector:
        """Return an outcome of every attempt; of a function only where it is selected."""
        if isinstance(outcome, str):
            return self.reader.named(outcome, equals)
        refuse_no_outcome(outcome)
        if equals is not None:
            raise FairnessError("equals= goes with the name of a grade: a function can compare for itself")
        key = constant_key(outcome)
        if key is None or key not in self._vectors:
            self._vectors[key] = self.reader.computed_vector(outcome, self.rows)
        return self._vectors[key]

    def group_outcomes(self, vector: OutcomeVector, by: str, names: Sequence[str]) -> dict[str, GroupOutcomes]:
        """Return these groups of an attribute, by name."""
        attribute = self.columns.attribute(by)
        if (id(vector), by) not in self._grouped:
            nested = len(self.clusterings) > 1 and is_nested(self.clusterings[1], attribute.codes, self.rows)
            # test_crossed_means_have_the_error_of_a_mixed_model
            effects = (
                estimate_item_effects(
                    vector.values, self.rows, attribute.codes, self.clusterings, self.columns.own_items
                )
                if nested
                else None
            )
            # Stored with its vector: the id of a collected one could become that of another.
            self._grouped[id(vector), by] = vector, effects, {}
        _, effects, groups = self._grouped[id(vector), by]
        for name in names:
            if name not in groups:
                rows = self.rows_of(by, name)
                columns = self.columns
                outcomes = group(name, vector, rows, self.clusterings, columns.prompts, effects, columns.items)
                kinds = self.left_out[attribute.left_out[self.left_out] == attribute.code(name)]
                groups[name] = outcomes if len(rows) else replace(outcomes, invalid=self._no_attempts_reason(kinds))
        return {name: groups[name] for name in names}

    def everyone(self, everyone: GroupOutcomes, missing: Floats) -> GroupOutcomes:
        """Return the group of all attempts, marked as suspect where one of its groups is ungraded too often.

        Otherwise the refusals of one group could go unnoticed in the whole.

        Args:
            everyone: The group of all attempts.
            missing: The ungraded share of each attempt.
        """
        if not everyone.attempts:
            return replace(everyone, invalid=self._no_attempts_reason(self.left_out))
        if not missing.any():
            return everyone
        for by in sorted(self.columns.group_attributes):
            attribute = self.columns.attribute(by)
            codes = attribute.codes[self.rows]
            attempts, ungraded = (np.bincount(codes[codes >= 0], weights=of) for of in (None, missing[codes >= 0]))
            for code, number in enumerate(ungraded.tolist()):
                # test_group_with_a_tenth_ungraded_makes_the_whole_suspect
                if number and (reason := ungraded_reason(number, int(attempts[code]), attribute.labels[code])):
                    return replace(everyone, suspect=reason)
        return everyone

    def _no_attempts_reason(self, left_out: Rows) -> str:
        """Return which option of the run left out these kinds of prompts; empty for no kinds."""
        return f"{self.columns.left_out_by(int(left_out[0]))} left them out" if len(left_out) else ""

    def items_of(self, groups: Sequence[GroupOutcomes], by: str) -> int:
        """Return the number of items with an attempt of one of these groups."""
        attribute = self.columns.attribute(by)
        names = {group.name for group in groups}
        # The last is that of ABSENT, which is -1.
        is_named = np.array([*(label in names for label in attribute.labels), False])
        return self._count(self.rows[is_named[attribute.codes[self.rows]]])

    def _count(self, rows: Rows) -> int:
        return int(np.count_nonzero(np.bincount(self.columns.items.codes[rows])))


class _NotedGrades(Mapping[str, Grade]):
    """The grades of an attempt, which adds the names of those that are read to a set."""

    def __init__(self, grades: Mapping[str, Grade], read: set[str]) -> None:
        self._grades, self._read = grades, read

    def __getitem__(self, name: str) -> Grade:
        self._read.add(name)
        return self._grades[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._grades)

    def __len__(self) -> int:
        return len(self._grades)


def _ungraded_share(value: Any) -> float:
    """Return the ungraded share of an attempt from the value of its grade: of propensities, that of no option."""
    if isinstance(value, Propensities):
        return 1 - value.graded
    return float(value is None)


def _check_values(name: str, values: Sequence[str], labels: Sequence[str]) -> None:
    """Raise `FairnessError` where a slice would silently be smaller than it appears.

    That is so for one of several values that no attempt has, and for a value that looks like one that is selected but
    is not. A single value that no attempt has selects nothing, which is visible.
    """
    unknown = [value for value in values if value not in labels]
    if 0 < len(unknown) < len(values):
        raise FairnessError(f"{name} is never {unknown[0]!r}: {did_you_mean(unknown[0], labels)}")
    plain_names = {plain_name(value): value for value in values}
    for label in labels:
        if label not in values and (value := plain_names.get(plain_name(label))):
            raise FairnessError(
                f"{name} is {label!a}, which looks like {value!a} and is not selected: write one of them"
            )


def ranks(codes: Codes) -> Codes:
    """Return the rank of each row among those with its code, from 0."""
    order = np.argsort(codes, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(codes))[:-1]])
    ranks = np.empty(len(codes), dtype=np.int64)
    ranks[order] = np.arange(len(codes)) - starts[codes[order]]
    return ranks

"""Flips: how often two answers to one item differ between groups, beside how often they do between two wordings.

A signed difference of groups is zero on average in a model whose answers change with any word. A rate of flips is not:
it counts every change. So *unfair* needs more flips between groups than between wordings of one text that mean the
same, in the same items.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import combinations, permutations
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_fairness.core.breakdown import Breakdown, ExampleResult, ExampleSideResult
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.limits import SampleChange
from pytest_fairness.core.placebos import ORIGINAL, OTHER_REPETITION, OTHER_WORDING, PLACEBO
from pytest_fairness.stats import metric_names
from pytest_fairness.stats.clusters import EVENTS
from pytest_fairness.stats.columns import ABSENT, Clustering, Codes, Columns, Floats, Rows
from pytest_fairness.stats.examples import find_pair_example
from pytest_fairness.stats.group_estimates import contrast_estimate
from pytest_fairness.stats.linear_estimate import Ends
from pytest_fairness.stats.outcome_vectors import GroupOutcomes, Outcome, OutcomeVector, group, is_binary
from pytest_fairness.stats.outcomes import outcome_name
from pytest_fairness.stats.selection import MOST_SHARED, Selection, ranks

NO_PLACEBO = (
    "flips need a placebo: answers change with any word, so a rate of flips shows nothing without the rate at which "
    "other wordings of one text flip; declare placebo= in the probe's mark"
)
NO_REPETITIONS = (
    "flips of a process need two answers to one text, beside which those between groups are judged: declare "
    "repetitions=2 or more, or a placebo, in the probe's mark"
)
_EXCESS = (-1.0, 1.0)
"""The span of a difference of two rates."""


@dataclass(frozen=True, slots=True)
class AnswerPairs:
    """Pairs of answers to prompts of one item: the rows of both, in the order of items."""

    first: Rows
    second: Rows

    def flips(self, values: Floats, same: Floats | None = None) -> Floats:
        """Return whether the two answers of each pair differ: 0 or 1, nan where one of them is ungraded.

        Args:
            values: A number for each attempt.
            same: Another; a pair that differs in it does not flip. None: there is none.
        """
        first, second = values[self.first], values[self.second]
        flips = np.where(np.isnan(first) | np.isnan(second), np.nan, first != second)
        if same is None:
            return flips
        first, second = same[self.first], same[self.second]
        return np.where(np.isnan(first) | np.isnan(second), np.nan, flips * (first == second))


def estimate_flips(selection: Selection, outcome: Outcome, equals: Any, by: str, same: str | None = None) -> Estimate:
    """Return how often two answers differ between groups: see `Measured.flips`.

    Args:
        selection: The attempts.
        outcome: The grade, or a function of a `GradedAttempt`.
        equals: The value that is counted, for a grade that holds text; None: all its values are told apart.
        by: The attribute that makes the groups.
        same: A grade in which the answers of a pair must be equal to flip. None: there is none.

    Raises:
        FairnessError: The sample has no placebo or no such attribute, or holds propensities.
    """
    columns = selection.columns
    columns.attribute(by)
    has_wordings = PLACEBO in columns.known_attributes
    if not has_wordings and same is None:
        raise FairnessError(NO_PLACEBO)
    name = metric_names.flips_name(outcome, equals, by, same)
    between = pair_groups(columns, selection.rows, by)
    control = OTHER_WORDING if has_wordings else OTHER_REPETITION
    placebos = (pair_wordings if has_wordings else pair_repetitions)(columns, between)
    if same is not None and not len(placebos.first):
        raise FairnessError(NO_REPETITIONS)
    rows = np.unique(np.concatenate([selection.rows, placebos.first, placebos.second]))
    values = _values(selection, outcome, equals, rows)
    if not len(between.first):
        return selection.setting.invalid(name, f"no item has prompts of two groups of {by}: nothing can flip")
    answers = np.unique(np.concatenate([between.first, between.second]))
    same_values = None if same is None else _values(selection, same, None, rows)
    unread = np.isnan(values) if same_values is None else np.isnan(values) | np.isnan(same_values)
    flips, own = between.flips(values, same_values), placebos.flips(values, same_values)
    other = f"another {by}"
    parts = [_PairEstimate(selection, between, flips, other), _PairEstimate(selection, placebos, own, control)]
    everyone = selection.everyone(parts[0].outcomes(), unread[selection.rows].astype(np.float64))
    if same_values is not None:
        everyone = _with_equal(between, same_values, str(same), by, everyone)
    flip_rate = parts[0].estimate(name, _without_shared(columns, between, by, everyone))
    rates = {other: flip_rate, control: parts[1].estimate(name)}
    # Texts have no mean that an example could show.
    is_number = not isinstance(outcome, str) or equals is not None or not selection.reader.holds_text(outcome)
    excess = _Excess(selection, between, flips, placebos, own).estimate(name)
    # test_noise_between_repetitions_has_no_example
    shows_pair = not excess.invalid and excess.low > 0
    example = (
        partial(_example, selection, values, by)
        if is_number and same is None
        else partial(_flip_example, selection, by, (between, flips), (placebos, own))
        if shows_pair
        else lambda _: None
    )
    described: dict[str, Any] = {
        "groups": {key: rate.value for key, rate in rates.items()},
        "breakdown": cache(partial(Breakdown, control, rates, example)),
        "attempts": len(answers),
        "ungraded": {
            other: int(unread[answers].sum()),
            control: int(unread[placebos.second].sum()),
        },
        "count": None,
    }
    if flip_rate.invalid or excess.invalid:
        own_invalid = rates[control].invalid if len(placebos.first) else ""
        reason = (
            flip_rate.invalid or f"its {'placebo' if has_wordings else 'repetitions'}: {own_invalid or excess.invalid}"
        )
        return replace(flip_rate, invalid=reason, **described)
    return replace(_guarded(flip_rate, excess), **described)


def read_rows(selection: Selection, by: str) -> Rows:
    """Return the attempts that flips are read from, with those at other wordings, which no selection holds.

    Args:
        selection: The attempts.
        by: The attribute that makes the groups.
    """
    between = pair_groups(selection.columns, selection.rows, by)
    if PLACEBO not in selection.columns.known_attributes:
        return np.unique(np.concatenate([between.first, between.second]))
    placebos = pair_wordings(selection.columns, between)
    return np.unique(np.concatenate([between.first, between.second, placebos.second]))


def _with_equal(
    between: AnswerPairs, same_values: Floats, same: str, by: str, everyone: GroupOutcomes
) -> GroupOutcomes:
    """Return the outcome of pairs; never fair where most differ in the grade in which they have to be equal."""
    equal = int((same_values[between.first] == same_values[between.second]).sum())
    # test_pairs_that_differ_in_the_answer_are_never_fair
    if 2 * equal >= len(between.first):
        return everyone
    reason = (
        f"{equal:,} of {len(between.first):,} pairs of groups of {by} have equal {same}: in the others nothing can flip"
    )
    return replace(everyone, suspect=reason)


def _without_shared(columns: Columns, between: AnswerPairs, by: str, everyone: GroupOutcomes) -> GroupOutcomes:
    """Return the outcome of pairs; never fair where many are one answer, which two prompts of one text share."""
    if columns.answers is None:
        return everyone
    share = float((columns.answers.codes[between.first] == columns.answers.codes[between.second]).mean())
    if share <= MOST_SHARED:
        return everyone
    reason = f"{share:.0%} of the prompts of groups of {by} say the same: they have one answer, and cannot flip"
    # test_prompts_of_one_text_cannot_flip
    return replace(everyone, suspect=reason) if share < 1 else replace(everyone, invalid=reason)


def _example(selection: Selection, values: Floats, by: str, towards: int) -> ExampleResult | None:
    """Return the item in which two groups differ most, whichever is higher; None for one without flips."""
    vector = OutcomeVector("", values, values, values, EVENTS if is_binary(values) else None)
    examples: list[tuple[float, ExampleResult]] = []
    for names in permutations(selection.groups(by), 2) if towards > 0 else ():
        rows = [selection.rows_of(by, name) for name in names]
        example = find_pair_example(selection.columns, vector, names, rows, 1) if all(map(len, rows)) else None
        means = [] if example is None else [side.mean for side in example.sides if side.mean is not None]
        if example is not None and len(means) == 2:
            examples.append((means[1] - means[0], example))
    return min(examples, key=lambda example: example[0])[1] if examples else None


def _flip_example(
    selection: Selection,
    by: str,
    between: tuple[AnswerPairs, Floats],
    control: tuple[AnswerPairs, Floats],
    towards: int,
) -> ExampleResult | None:
    """Return the item with the largest excess of flips over those of its control; None where none has any.

    Args:
        selection: The attempts.
        by: The attribute that makes the groups.
        between: The pairs of groups, and their flips.
        control: The pairs of wordings or repetitions, and theirs.
        towards: 1 for an item with flips; -1 has no example.
    """
    columns = selection.columns
    if towards < 0 or columns.prompts is None or not columns.attempts:
        return None
    items = columns.own_items

    def rates(pairs: AnswerPairs, flips: Floats) -> Floats:
        graded = ~np.isnan(flips)
        codes = items.codes[pairs.first[graded]]
        counts = np.bincount(codes, minlength=items.size)
        rates: Floats = np.bincount(codes, weights=flips[graded], minlength=items.size) / np.maximum(counts, 1)
        return rates

    excess = rates(*between) - rates(*control)
    best = int(excess.argmax())
    pairs, flips = between
    flipped = np.flatnonzero((items.codes[pairs.first] == best) & (flips == 1))
    if excess[best] <= 0 or not len(flipped):
        return None
    attribute = columns.attribute(by)
    sides = []
    for row in (pairs.first[flipped[0]], pairs.second[flipped[0]]):
        group = attribute.labels[attribute.codes[row]]
        rows = selection.rows_of(by, group)
        rows = rows[(items.codes[rows] == best) & (columns.prompts.codes[rows] == columns.prompts.codes[row])]
        keys = tuple(dict.fromkeys(columns.attempts[index].attempt.key for index in rows))
        side = ExampleSideResult(
            group=str(group), mean=None, events=None, graded=len(rows), attempts=len(rows), keys=keys
        )
        sides.append(side)
    return ExampleResult(item=columns.attempts[pairs.first[flipped[0]]].item.id, sides=sides)


def _guarded(flips: Estimate, excess: Estimate) -> Estimate:
    """Return a rate of flips that supports a claim of unfairness only where that of the placebo is lower.

    Both claims are made at the same tail, and one is false wherever the threshold is not unfair: their conjunction
    errs no more often than either (intersection-union test, Berger 1982).
    """

    # test_brittle_model_is_not_unfair_by_flips
    def strict_at(tail: float) -> Ends:
        low, high = _ends(flips, tail, strict=True)
        return (low if _ends(excess, tail, strict=True)[0] > 0 else -math.inf), high

    def project(tail: float, change: SampleChange) -> tuple[float, float, float]:
        low, high, error = _projected(flips, tail, change)
        return (low if _projected(excess, tail, change)[0] > 0 else -math.inf), high, error

    strict_low, strict_high = strict_at((1 - flips.confidence) / 2)
    return replace(flips, strict_low=strict_low, strict_high=strict_high, strict_at=strict_at, projection=project)


def _ends(estimate: Estimate, tail: float, *, strict: bool = False) -> Ends:
    """Return the ends of an interval at a tail; if ``strict``, those of a claim of unfairness."""
    at = (estimate.strict_at if strict else None) or estimate.ends_at
    return at(tail) if at is not None else (estimate.low, estimate.high)


def _projected(estimate: Estimate, tail: float, change: SampleChange) -> tuple[float, float, float]:
    """Return the ends and the standard error of a changed sample."""
    if estimate.projection is None:
        return *_ends(estimate, tail), estimate.error
    return estimate.projection(tail, change)


@dataclass(frozen=True, slots=True)
class _PairEstimate:
    """The rate of flips of some pairs."""

    selection: Selection
    pairs: AnswerPairs
    flips: Floats
    name: str

    def outcomes(self) -> GroupOutcomes:
        return _pair_outcomes(self.selection, self.pairs, _vector(self.flips), self.name)[0]

    def estimate(self, name: metric_names.MetricName, outcomes: GroupOutcomes | None = None) -> Estimate:
        """Return the rate, with the wider of the intervals by either side's levels of a crossed factor."""
        first, *others = _pair_outcomes(self.selection, self.pairs, _vector(self.flips), self.name)
        if outcomes is not None:
            first = replace(first, invalid=outcomes.invalid, suspect=outcomes.suspect)
        items = len(np.unique(self.selection.columns.items.codes[self.pairs.first]))
        setting = self.selection.setting
        count = int(np.nansum(self.flips))
        parts = [contrast_estimate(setting, name, [part], items, None, count=count) for part in (first, *others)]
        return _widest(parts)


@dataclass(frozen=True, slots=True)
class _Excess:
    """The excess of flips between groups over those between wordings, within each item that has both."""

    selection: Selection
    between: AnswerPairs
    flips: Floats
    placebos: AnswerPairs
    own: Floats

    def estimate(self, name: metric_names.MetricName) -> Estimate:
        """Return the mean over pairs of groups of its flip less the rate of the placebo's in its item."""
        codes = self.selection.columns.items
        of_placebo, of_pair = codes.codes[self.placebos.first], codes.codes[self.between.first]

        def rates(values: Floats) -> Floats:
            counts = np.bincount(of_placebo, minlength=codes.size).astype(np.float64)
            sums = np.bincount(of_placebo, weights=values, minlength=codes.size)
            shares: Floats = np.divide(sums, counts, out=np.full(codes.size, np.nan), where=counts > 0)
            return shares[of_pair]

        graded, fewest, most = rates(self.own), rates(np.nan_to_num(self.own)), rates(np.nan_to_num(self.own, nan=1.0))
        # test_flips_of_items_without_a_placebo_do_not_exceed_it
        shared = ~np.isnan(fewest)
        lowest, highest = np.nan_to_num(self.flips) - most, np.nan_to_num(self.flips, nan=1.0) - fewest
        vector = OutcomeVector("", (self.flips - graded)[shared], lowest[shared], highest[shared], _EXCESS)
        pairs = AnswerPairs(self.between.first[shared], self.between.second[shared])
        setting = self.selection.setting
        if not shared.any():
            return setting.invalid(
                name, "no item has answers to a text and to another wording of it, of the same groups"
            )
        items = len(np.unique(codes.codes[pairs.first]))
        parts = _pair_outcomes(self.selection, pairs, vector, "all")
        return _widest([contrast_estimate(setting, name, [part], items, None) for part in parts])


def _vector(flips: Floats) -> OutcomeVector:
    return OutcomeVector("", flips, np.nan_to_num(flips), np.nan_to_num(flips, nan=1.0), EVENTS)


def _pair_outcomes(selection: Selection, pairs: AnswerPairs, vector: OutcomeVector, name: str) -> list[GroupOutcomes]:
    """Return an outcome of pairs as a group: one, or with a crossed factor one by the levels of either side."""
    rows = np.arange(len(pairs.first))
    items = selection.columns.items[pairs.first]
    sides = (pairs.first,) if len(selection.clusterings) == 1 else (pairs.first, pairs.second)
    return [
        group(name, vector, rows, [clustering[side] for clustering in selection.clusterings], None, None, items)
        for side in sides
    ]


def _widest(parts: list[Estimate]) -> Estimate:
    """Return the estimate with the hull of the intervals of several that have one value."""
    first = parts[0]
    if len(parts) == 1 or any(part.invalid for part in parts):
        return next((part for part in parts if part.invalid), first)

    def ends_at(tail: float, *, strict: bool = False) -> Ends:
        lows, highs = zip(*(_ends(part, tail, strict=strict) for part in parts), strict=True)
        return min(lows), max(highs)

    def project(tail: float, change: SampleChange) -> tuple[float, float, float]:
        lows, highs, errors = zip(*(_projected(part, tail, change) for part in parts), strict=True)
        return min(lows), max(highs), max(errors)

    low, high = ends_at((1 - first.confidence) / 2)
    return replace(
        max(parts, key=lambda part: part.error),
        low=low,
        high=high,
        ends_at=ends_at,
        strict_at=partial(ends_at, strict=True),
        projection=project,
        sparse=next((part.sparse for part in parts if part.sparse), ""),
        suspect=next((part.suspect for part in parts if part.suspect), ""),
    )


def _values(selection: Selection, outcome: Outcome, equals: Any, rows: Rows) -> Floats:
    """Return a number for each attempt, equal for equal answers; nan where ungraded."""
    reader = selection.reader
    if not isinstance(outcome, str):
        vector = reader.computed_vector(outcome, rows)
    elif equals is None and reader.holds_text(outcome):
        texts: dict[Any, float] = {}
        read = reader.values(outcome)
        return np.array([np.nan if value is None else texts.setdefault(value, float(len(texts))) for value in read])
    else:
        vector = reader.named(outcome, equals)
    if vector.weights is not None:
        raise FairnessError(f"{outcome_name(outcome, equals)} holds propensities, which do not flip: draw answers")
    return vector.values


def pair_groups(columns: Columns, rows: Rows, by: str) -> AnswerPairs:
    """Return pairs of answers to prompts of one item that are of two groups.

    Each prompt is compared with the one of every other group that agrees with it in most other attributes (a name's
    rank, the strength of a case), its repetitions one by one. All prompts of the larger side are used.

    Args:
        columns: The sample.
        rows: The attempts.
        by: The attribute that makes the groups.
    """
    groups = columns.attribute(by).codes
    rows = rows[groups[rows] != ABSENT]
    items = columns.own_items[rows]
    # Within each item, so that items of one form have the same pairs.
    own = _within_items(groups[rows], items)
    names = sorted(columns.known_attributes - {by, PLACEBO})
    others = np.column_stack(
        [_within_items(columns.attribute(name).codes[rows], items) for name in names] or [np.zeros_like(own)]
    )
    first, second = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    patterns: dict[tuple[bytes, bytes], AnswerPairs] = {}
    for members in _members(items):
        key = own[members].tobytes(), others[members].tobytes()
        if key not in patterns:
            patterns[key] = _paired(own[members], others[members])
        first.append(rows[members[patterns[key].first]])
        second.append(rows[members[patterns[key].second]])
    return AnswerPairs(np.concatenate(first), np.concatenate(second))


def _within_items(codes: Codes, items: Clustering) -> Codes:
    """Return codes from 0 in each item, in their order and equal where they were equal."""
    _, dense = np.unique(items.codes * (codes.max(initial=0) + 2) + codes + 1, return_inverse=True)
    dense = dense.reshape(-1).astype(np.int64)
    lowest = np.full(items.size, len(codes), dtype=np.int64)
    np.minimum.at(lowest, items.codes, dense)
    return dense - lowest[items.codes]


def _members(items: Clustering) -> list[Rows]:
    """Return the positions of the attempts of each item."""
    order = np.argsort(items.codes, kind="stable")
    ends = np.cumsum(np.bincount(items.codes, minlength=items.size))[:-1]
    return [members for members in np.split(order, ends) if len(members)]


def _paired(groups: Codes, others: npt.NDArray[Any]) -> AnswerPairs:
    """Return the pairs within one item: positions of its attempts, those of the lower group first."""
    kinds, kind_of = np.unique(others, axis=0, return_inverse=True)
    kind_of = kind_of.reshape(-1).astype(np.int64)
    first, second = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for one, two in combinations(np.unique(groups).tolist(), 2):
        sides = [np.flatnonzero(groups == code) for code in (one, two)]
        is_swapped = len(sides[0]) < len(sides[1])
        larger, smaller = sides[::-1] if is_swapped else sides
        order = ranks(kind_of[larger])
        partners = np.empty(len(larger), dtype=np.int64)
        present = np.unique(kind_of[smaller])
        for kind in np.unique(kind_of[larger]).tolist():
            alike = (kinds[present] == kinds[kind]).sum(axis=1)
            candidates = smaller[np.isin(kind_of[smaller], present[alike == alike.max()])]
            of_kind = kind_of[larger] == kind
            partners[of_kind] = candidates[order[of_kind] % len(candidates)]
        first.append(partners if is_swapped else larger)
        second.append(larger if is_swapped else partners)
    return AnswerPairs(np.concatenate(first), np.concatenate(second))


def pair_wordings(columns: Columns, between: AnswerPairs) -> AnswerPairs:
    """Return pairs of answers to the original and another wording of one text, in the same repetition.

    Both are of one item and of the same groups. The texts are those that are compared: others may be of an easier kind,
    whose answers never flip.

    Args:
        columns: The sample.
        between: The pairs of groups that are compared.
    """
    level = columns.attribute(PLACEBO)
    cells = _cells(columns)
    compared = np.zeros(columns.count, dtype=np.bool_)
    compared[between.first] = compared[between.second] = True
    if columns.prompts is not None:
        compared = np.isin(columns.prompts.codes, columns.prompts.codes[compared])
    is_original = level.codes == level.code(ORIGINAL)
    # test_wordings_of_what_is_not_compared_do_not_count
    originals = np.flatnonzero(is_original & compared)
    originals = originals[np.argsort(cells.codes[originals], kind="stable")]
    number = np.bincount(cells.codes[originals], minlength=cells.size)
    starts = np.cumsum(number) - number
    others = np.flatnonzero((level.codes != ABSENT) & ~is_original)
    others = others[number[cells.codes[others]] > 0]
    own = cells.codes[others]
    repetitions = ranks(own * len(level.labels) + level.codes[others])
    return AnswerPairs(originals[starts[own] + repetitions % number[own]], others)


def pair_repetitions(columns: Columns, between: AnswerPairs) -> AnswerPairs:
    """Return pairs of successive answers to one prompt, of the prompts that are compared.

    Args:
        columns: The sample.
        between: The pairs of groups that are compared.
    """
    compared = np.unique(np.concatenate([between.first, between.second]))
    cells = _cells(columns).codes
    prompts = np.zeros_like(cells) if columns.prompts is None else columns.prompts.codes
    compared = compared[np.lexsort((prompts[compared], cells[compared]))]  # stable: repetitions stay in order
    first, second = compared[:-1], compared[1:]
    is_pair = (cells[first] == cells[second]) & (prompts[first] == prompts[second])
    return AnswerPairs(first[is_pair], second[is_pair])


def _cells(columns: Columns) -> Clustering:
    """Return the item of each attempt with the groups of its prompt."""
    cells = columns.own_items
    for name in sorted(columns.group_attributes - {PLACEBO}):
        groups = columns.attribute(name)
        distinct, codes = np.unique(cells.codes * (len(groups.labels) + 1) + groups.codes + 1, return_inverse=True)
        cells = Clustering(codes.reshape(-1).astype(np.int64), len(distinct))
    return cells

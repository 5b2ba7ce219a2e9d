"""Example items: the item with the largest share in an estimate, and the prompts of it that reports show."""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import islice
from typing import NamedTuple

import numpy as np

from pytest_fairness.core.breakdown import ExampleResult, ExampleSideResult
from pytest_fairness.core.items import Prompt
from pytest_fairness.stats.columns import ABSENT, Codes, Columns, Floats, Rows
from pytest_fairness.stats.custom_metrics import Functional
from pytest_fairness.stats.outcome_vectors import OutcomeVector
from pytest_fairness.stats.quantiles import jeffreys_ends, t_quantile

TAIL = 0.025
"""Probability to err on either side of an interval within an item, whatever the confidence of the sample.

Such intervals only rank items.
"""
MOST_COMPARED = 100
"""Largest number of pairs of prompts whose words are compared."""
MOST_RANKED = 10_000
"""Largest number of pairs of groups of which the nearest are sought."""
_Groups = frozenset[tuple[str, str]]

MEAN = Functional(lambda s: s.total / s.number, ("number", "total"))


class _Tally(NamedTuple):
    """The number, mean and variance of some graded answers."""

    number: int
    mean: float
    variance: float
    """Variance of the answers; 0 of a single one."""


def find_pair_example(
    columns: Columns, vector: OutcomeVector, names: Sequence[str], rows: Sequence[Rows], towards: int
) -> ExampleResult | None:
    """Return the item whose two groups differ most reliably.

    Items are ranked by the end nearer to zero of a 95% interval of the difference of the groups' means within the
    item: for rates Newcombe's hybrid (Statistics in Medicine 1998) of Jeffreys' intervals, for
    numbers Welch's. Items with a single number in a group come last, by their difference alone.
    Ties: the larger difference, then more attempts, then by lot.

    Args:
        columns: The sample.
        vector: The outcome.
        names: The names of both groups.
        rows: The attempts of both groups.
        towards: 1 for an item in which the first group is higher, -1 for one in which it is lower.

    Returns:
        The item; None where no item differs in that direction, and for a sample without attempts.
    """
    if columns.prompts is None or not columns.attempts:
        return None
    items, ids = columns.own_items.codes, _ids(columns)
    first, second = (_tallies(vector, group_rows, items) for group_rows in rows)
    attempts = np.bincount(items[np.concatenate(rows)], minlength=len(ids))
    lower_end = _newcombe if vector.binary else _welch

    def rank(item: int) -> tuple[float, float, int, int]:
        high, low = (first[item], second[item])[::towards]
        return -lower_end(high, low), low.mean - high.mean, -int(attempts[item]), _lot(ids[item], vector.values)

    shared = first.keys() & second.keys()
    candidates = [item for item in shared if towards * (first[item].mean - second[item].mean) > 0]
    if not candidates:
        return None
    best = min(candidates, key=rank)
    item_rows = [group_rows[items[group_rows] == best] for group_rows in rows]
    prompt_rows = _most_different_prompts(columns, columns.prompts.codes, vector, item_rows, towards)
    sides = [
        _side(columns, group, vector.values[group_rows], shown, vector)
        for group, group_rows, shown in zip(names, item_rows, prompt_rows, strict=True)
    ]
    return ExampleResult(item=ids[best], sides=sides)


def find_example(
    columns: Columns,
    rows: Rows,
    functional: Functional,
    values: Floats,
    vector: OutcomeVector | None,
    towards: int,
    *,
    of_items: bool = False,
) -> ExampleResult | None:
    """Return the item whose omission changes a function of sums most; where all are alike, one of them.

    Of its prompts the one whose omission changes it most is shown; all, where the grades are those of whole items.
    Ties: more attempts, then by lot.

    Args:
        columns: The sample.
        rows: The selected attempts.
        functional: The function of sums.
        values: The summands of these attempts, shape (attempts, sums).
        vector: The outcome, where the function is of a single one.
        towards: 1 for an item that raises the function, -1 for one that lowers it.
        of_items: Whether an item's prompts share their grades, and the attempts are those of its first prompt.

    Returns:
        The item; None where all change it the other way, and for a sample without attempts.
    """
    graded = ~np.isnan(values[:, 0])
    if columns.prompts is None or not columns.attempts or not graded.any():
        return None
    items, prompts, ids = columns.own_items.codes[rows], columns.prompts.codes[rows], _ids(columns)
    effects = _effects(functional, values[graded], items[graded], towards)
    if not max(effects.values()) >= 0:
        return None
    attempts = np.bincount(items)
    best = min(effects, key=lambda item: (-effects[item], -attempts[item], _lot(ids[item], values)))
    inside = items == best
    # All other items count as one prompt more: their sums belong to the total.
    effects = _effects(functional, values[graded], np.where(inside, prompts, ABSENT)[graded], towards)
    effects.pop(ABSENT, None)
    shown = rows[inside & (prompts == max(effects, key=effects.__getitem__))]
    if of_items:
        shown = np.flatnonzero(columns.own_items.codes == best)
    outcomes = values[:, 0] if vector is None else vector.values[rows]
    return ExampleResult(item=ids[best], sides=[_side(columns, "", outcomes[inside], shown, vector)])


def find_one_sided_example(
    columns: Columns, vector: OutcomeVector, group: str, rows: Rows, towards: int
) -> ExampleResult | None:
    """Return an item of one group, for groups that share no item: that which changes the group's mean most.

    Args:
        columns: The sample.
        vector: The outcome.
        group: The name of the group.
        rows: Its attempts.
        towards: 1 for an item that raises its mean, -1 for one that lowers it.
    """
    example = find_example(columns, rows, MEAN, mean_sums(vector, rows), vector, towards)
    return example and replace(example, sides=[replace(side, group=group) for side in example.sides])


def mean_sums(vector: OutcomeVector, rows: Rows) -> Floats:
    """Return the summands of a mean: the number and the outcome of each attempt, shape (attempts, 2)."""
    values = vector.values[rows]
    return np.column_stack([np.where(np.isnan(values), np.nan, 1.0), values])


def _lot(item: str, values: Floats) -> int:
    """Return the place of an item in an order by lot: another for each outcome, and the same in every run of it.

    In that of ids, all examples of a report are of the category that is first in the alphabet.
    """
    return zlib.crc32(item.encode(), zlib.crc32(np.ascontiguousarray(values).tobytes()))


def _ids(columns: Columns) -> list[str]:
    """Return the ids of items, in the order of their codes."""
    return list(dict.fromkeys(attempt.item.id for attempt in columns.attempts))


def _tallies(vector: OutcomeVector, rows: Rows, codes: Codes) -> dict[int, _Tally]:
    """Return a tally of the graded attempts of each item or prompt, by its code."""
    values = vector.values[rows]
    graded = ~np.isnan(values)
    values = values[graded]
    present, own = np.unique(codes[rows[graded]], return_inverse=True)
    counts = np.bincount(own)
    means = np.bincount(own, weights=values) / counts
    variances = np.bincount(own, weights=np.square(values - means[own])) / np.maximum(counts - 1, 1)
    tallies = map(_Tally, counts.tolist(), means.tolist(), variances.tolist())
    return dict(zip(present.tolist(), tallies, strict=True))


def _newcombe(high: _Tally, low: _Tally) -> float:
    """Return the lower end of the difference of two rates."""
    below = high.mean - jeffreys_ends(high.mean, high.number, TAIL)[0]
    above = jeffreys_ends(low.mean, low.number, TAIL)[1] - low.mean
    return high.mean - low.mean - math.hypot(below, above)


def _welch(high: _Tally, low: _Tally) -> float:
    """Return the lower end of the difference of two means (Welch 1947)."""
    if min(high.number, low.number) < 2:
        return -math.inf
    variances = [tally.variance / tally.number for tally in (high, low)]
    total = sum(variances)
    if total == 0:
        return high.mean - low.mean
    df = total**2 / (variances[0] ** 2 / (high.number - 1) + variances[1] ** 2 / (low.number - 1))
    return high.mean - low.mean - t_quantile(TAIL, df) * math.sqrt(total)


def _most_different_prompts(
    columns: Columns, prompts: Codes, vector: OutcomeVector, rows: Sequence[Rows], towards: int
) -> list[Rows]:
    """Return the attempts at one prompt of each group: of those that differ in the fewest groups, the most different.

    Of these, the most similar in words. A pair whose answers do not differ in the direction comes last.
    """
    by_code = {int(prompts[row]): columns.attempts[row].prompt for group_rows in rows for row in group_rows}
    first, second = (
        _extremes(
            by_code, {prompt: sign * tally.mean for prompt, tally in _tallies(vector, group_rows, prompts).items()}
        )
        for group_rows, sign in zip(rows, (towards, -towards), strict=True)
    )

    def rank(pair: tuple[_Groups, _Groups]) -> tuple[bool, int, float]:
        difference = first[pair[0]][0] + second[pair[1]][0]
        # test_example_compares_prompts_of_the_same_other_groups
        return difference <= 0, len(pair[0] ^ pair[1]), -difference

    if len(first) * len(second) > MOST_RANKED:
        highest = max(first, key=lambda groups: first[groups][0]), max(second, key=lambda groups: second[groups][0])
        ranks = {highest: rank(highest)}
    else:
        ranks = {(one, other): rank((one, other)) for other in second for one in first}
    least = min(ranks.values())
    nearest = [pair for pair, own in ranks.items() if own == least]
    pairs = ((one, two) for own, other in nearest for two in second[other][1] for one in first[own][1])
    pair = _most_similar(by_code, list(islice(pairs, MOST_COMPARED)))
    return [group_rows[prompts[group_rows] == prompt] for group_rows, prompt in zip(rows, pair, strict=True)]


def _extremes(by_code: Mapping[int, Prompt], means: Mapping[int, float]) -> dict[_Groups, tuple[float, Sequence[int]]]:
    """Return by the groups of prompts their highest mean, and the prompts that have it."""
    extremes: dict[_Groups, tuple[float, list[int]]] = {}
    for prompt, mean in means.items():
        groups = frozenset(by_code[prompt].groups.items())
        highest, own = extremes.get(groups, (-math.inf, []))
        if mean >= highest:
            extremes[groups] = mean, [*(own if mean == highest else []), prompt]
    return {groups: (mean, own) for groups, (mean, own) in extremes.items()}


def _most_similar(by_code: Mapping[int, Prompt], pairs: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return the pair of prompts whose words are most similar; the first of several."""
    matcher: SequenceMatcher[str] = SequenceMatcher()
    best, similar, indexed = -1.0, pairs[0], None
    for one, other in pairs:
        if other != indexed:
            matcher.set_seq2(_words(by_code[other]))  # the slow half: the matcher indexes and keeps it
            indexed = other
        matcher.set_seq1(_words(by_code[one]))
        if matcher.quick_ratio() > best and (ratio := matcher.ratio()) > best:
            best, similar = ratio, (one, other)
    return similar


def _words(prompt: Prompt) -> list[str]:
    return " ".join(message["content"] for message in prompt.messages).split()


def _effects(functional: Functional, values: Floats, codes: Codes, towards: int) -> dict[int, float]:
    """Return the effect of each item or prompt on a function, by its code: -inf where it has no value without it."""
    present, own = np.unique(codes, return_inverse=True)
    sums = np.column_stack([np.bincount(own, weights=column) for column in values.T])
    total = values.sum(axis=0)
    effects = towards * (functional.at(total[np.newaxis])[0] - functional.at(total - sums))
    return dict(zip(present.tolist(), np.where(np.isfinite(effects), effects, -np.inf).tolist(), strict=True))


def _side(
    columns: Columns, group: str, outcomes: Floats, shown: Rows, vector: OutcomeVector | None
) -> ExampleSideResult:
    """Return one side of an example, from the outcomes of a group in the item and the attempts at its prompt."""
    graded = outcomes[~np.isnan(outcomes)]
    keys = dict.fromkeys(columns.attempts[row].attempt.key for row in shown)
    return ExampleSideResult(
        group=group,
        mean=None if vector is None else float(graded.mean()),
        events=int(graded.sum()) if vector is not None and vector.binary else None,
        graded=len(graded),
        attempts=len(outcomes),
        keys=tuple(keys),
    )

"""The item that shows an estimate best, and the prompts to show of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

import numpy as np

from pytest_fairness.core.breakdown import ExampleItem, ExampleSide
from pytest_fairness.core.items import Prompt
from pytest_fairness.stats.columns import ABSENT, Codes, Columns, Floats, Rows
from pytest_fairness.stats.custom_metrics import Functional
from pytest_fairness.stats.outcome_vectors import OutcomeVector
from pytest_fairness.stats.quantiles import jeffreys_ends, t_quantile

TAIL = 0.025
"""The probability to err on either side of an interval within an item.

It only ranks items, whatever the confidence of the sample.
"""
MOST_ALIKE = 20
"""Prompts of a side whose words are compared, of those whose answers differ as much."""

MEAN = Functional(lambda s: s.total / s.number, ("number", "total"))


class _Tally(NamedTuple):
    """The graded answers of one group in one item, or of one prompt."""

    number: int
    mean: float
    variance: float
    """Between the answers; 0 of a single one."""


def find_pair_example(
    columns: Columns, vector: OutcomeVector, names: Sequence[str], rows: Sequence[Rows], towards: int
) -> ExampleItem | None:
    """Return the item whose two groups differ most and most repeatably, the first higher (``towards`` 1) or lower (-1).

    Ranked by the near end of a 95% interval of the difference of the groups' means within the
    item: of rates Newcombe's hybrid (Statistics in Medicine 1998) of Jeffreys' intervals, of
    numbers Welch's. Items with a single number on a side come last, by their difference alone.
    Ties: the larger difference, then more attempts, then the item's id. None where no item's
    groups differ so, and of a sample without attempts.
    """
    if columns.prompts is None or not columns.attempts:
        return None
    items, ids = columns.item_ids().codes, _ids(columns)
    first, second = (_tallies(vector, group_rows, items) for group_rows in rows)
    made = np.bincount(items[np.concatenate(rows)], minlength=len(ids))
    near_end = _newcombe if vector.binary else _welch

    def rank(item: int) -> tuple[float, float, int, str]:
        high, low = (first[item], second[item])[::towards]
        return -near_end(high, low), low.mean - high.mean, -int(made[item]), ids[item]

    shared = first.keys() & second.keys()
    leaning = [item for item in shared if towards * (first[item].mean - second[item].mean) > 0]
    if not leaning:
        return None
    best = min(leaning, key=rank)
    within = [group_rows[items[group_rows] == best] for group_rows in rows]
    shown = _furthest_apart(columns, columns.prompts.codes, vector, within, towards)
    sides = [
        _side(columns, group, vector.values[group_rows], prompt, vector)
        for group, group_rows, prompt in zip(names, within, shown, strict=True)
    ]
    return ExampleItem(ids[best], tuple(sides))


def find_example(
    columns: Columns, rows: Rows, functional: Functional, values: Floats, vector: OutcomeVector | None, towards: int
) -> ExampleItem | None:
    """Return the item that raises a function of sums furthest (``towards`` 1) or lowers it (-1).

    That is what leaving it out undoes.

    ``values`` are those of ``rows``, shape (attempts, sums); ``vector`` is the outcome, where
    there is a single one. The prompt to show is the one of the item that does most. Ties: more
    attempts, then the item's id. None where no item does so, and of a sample without attempts.
    """
    kept = ~np.isnan(values[:, 0])
    if columns.prompts is None or not columns.attempts or not kept.any():
        return None
    items, prompts, ids = columns.item_ids().codes[rows], columns.prompts.codes[rows], _ids(columns)
    moved = _moved(functional, values[kept], items[kept], towards)
    if not max(moved.values()) > 0:
        return None
    made = np.bincount(items)
    best = min(moved, key=lambda item: (-moved[item], -made[item], ids[item]))
    inside = items == best
    # All other items are one prompt more: their sums belong to the total.
    moved = _moved(functional, values[kept], np.where(inside, prompts, ABSENT)[kept], towards)
    moved.pop(ABSENT, None)
    shown = rows[inside & (prompts == max(moved, key=moved.__getitem__))]
    outcomes = values[:, 0] if vector is None else vector.values[rows]
    return ExampleItem(ids[best], (_side(columns, "", outcomes[inside], shown, vector),))


def _ids(columns: Columns) -> list[str]:
    """Return the ids of items, by their codes."""
    return list(dict.fromkeys(attempt.item.id for attempt in columns.attempts))


def _tallies(vector: OutcomeVector, rows: Rows, codes: Codes) -> dict[int, _Tally]:
    """Return a tally of the graded attempts of each code, which stands for an item or a prompt."""
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
    down = high.mean - jeffreys_ends(high.mean, high.number, TAIL)[0]
    up = jeffreys_ends(low.mean, low.number, TAIL)[1] - low.mean
    return high.mean - low.mean - math.hypot(down, up)


def _welch(high: _Tally, low: _Tally) -> float:
    """Return the lower end of the difference of two means (Welch 1947)."""
    if min(high.number, low.number) < 2:
        return -math.inf
    shares = [tally.variance / tally.number for tally in (high, low)]
    total = sum(shares)
    if total == 0:
        return high.mean - low.mean
    df = total**2 / (shares[0] ** 2 / (high.number - 1) + shares[1] ** 2 / (low.number - 1))
    return high.mean - low.mean - t_quantile(TAIL, df) * math.sqrt(total)


def _furthest_apart(
    columns: Columns, prompts: Codes, vector: OutcomeVector, rows: Sequence[Rows], towards: int
) -> list[Rows]:
    """Return the attempts at one prompt of each side: whose answers differ most, then whose words differ least."""
    furthest = []
    for group_rows, sign in zip(rows, (towards, -towards), strict=True):
        means = {prompt: sign * tally.mean for prompt, tally in _tallies(vector, group_rows, prompts).items()}
        highest = max(means.values())
        furthest.append([prompt for prompt, mean in means.items() if mean == highest])
    prompt_of = {int(prompts[row]): columns.attempts[row].prompt for group_rows in rows for row in group_rows}
    pair = _most_alike(prompt_of, *furthest)
    return [group_rows[prompts[group_rows] == prompt] for group_rows, prompt in zip(rows, pair, strict=True)]


def _most_alike(prompt_of: Mapping[int, Prompt], first: Sequence[int], second: Sequence[int]) -> tuple[int, int]:
    """Return the two prompts, one of each side, whose words are most alike; of several the first."""
    matcher: SequenceMatcher[str] = SequenceMatcher()
    best, pair = -1.0, (first[0], second[0])
    for other in second[:MOST_ALIKE]:
        matcher.set_seq2(_words(prompt_of[other]))  # the dear part, which the matcher keeps
        for one in first[:MOST_ALIKE]:
            matcher.set_seq1(_words(prompt_of[one]))
            if matcher.quick_ratio() > best and (ratio := matcher.ratio()) > best:
                best, pair = ratio, (one, other)
    return pair


def _words(prompt: Prompt) -> list[str]:
    return " ".join(message["content"] for message in prompt.messages).split()


def _moved(functional: Functional, values: Floats, codes: Codes, towards: int) -> dict[int, float]:
    """Return how far leaving each code out moves the function the other way; -inf where it has no value."""
    present, own = np.unique(codes, return_inverse=True)
    sums = np.column_stack([np.bincount(own, weights=column) for column in values.T])
    total = values.sum(axis=0)
    moved = towards * (functional.at(total[np.newaxis])[0] - functional.at(total - sums))
    return dict(zip(present.tolist(), np.where(np.isfinite(moved), moved, -np.inf).tolist(), strict=True))


def _side(columns: Columns, group: str, outcomes: Floats, shown: Rows, vector: OutcomeVector | None) -> ExampleSide:
    """Return one side of an example: the outcomes of a group's attempts in the item, nan where ungraded, and
    those at the prompt to show.
    """
    graded = outcomes[~np.isnan(outcomes)]
    keys = dict.fromkeys(columns.attempts[row].attempt.key for row in shown)
    mean = math.nan if vector is None else float(graded.mean())
    events = int(graded.sum()) if vector is not None and vector.binary else None
    return ExampleSide(group, mean, events, len(graded), len(outcomes), tuple(keys))

"""Remarks on tables of an application's traffic, in which nobody assigned groups to requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_fairness.core.formatting import counted, one_line
from pytest_fairness.stats.columns import ABSENT, Columns
from pytest_fairness.stats.table_columns import EPOCH, OBSERVATIONAL, STUDY_DESIGN
from pytest_fairness.stats.validity import MOST_UNGRADED

if TYPE_CHECKING:
    from pytest_fairness.stats.measured import Measured

OBSERVATIONAL_DATA = (
    "observational data: nobody assigned groups to requests, so a gap, or none, may come from who asked what; only "
    "requests that differ in the group alone show the part of the application"
)
"""The limit of every verdict on such a table."""
LARGEST_IMBALANCE = 0.1
"""The difference between groups in the share of a value from which on it is named."""
_OUTCOMES = frozenset(
    ("latency", "tokens_input", "tokens_output", "calls", "finish_reason", "ungraded", "trace", "sampling_probability")
)
"""Columns of imports that say how a request was treated, and not what was requested."""
_MOST_VALUES = 20
"""The most values of an attribute whose shares are compared."""
_LONGEST = 40


def observational_remarks(columns: Columns) -> Iterator[str]:
    """Yield that a table is observational, and in which attribute the requests of groups differ most.

    Args:
        columns: The columns of the sample.

    Source: Austin 2011, Multivariate Behavioral Research 46(3), on the balance of covariates between groups.
    """
    if not is_observational(columns):
        return
    yield OBSERVATIONAL_DATA
    names = sorted(columns.known_attributes - columns.group_attributes - {EPOCH, STUDY_DESIGN} - _OUTCOMES)
    gaps = [
        (gap, f"the requests of the groups of {by} differ most in {name}: {shares}", name)
        for by in sorted(columns.group_attributes)
        for name in names
        for gap, shares in _differences(columns, by, name)
    ]
    gap, text, name = max(gaps, default=(0.0, "", ""))
    if gap >= LARGEST_IMBALANCE:
        yield f"{text}; where({name}=...) compares like with like"


def without_group_reason(columns: Columns, attributes: Iterable[str]) -> str:
    """Return that too many rows of an observational table are in no group; empty where they are not, and of others.

    There a group is missing since nobody has recorded it, so that nothing is known of how these people were treated.

    Args:
        columns: The columns of the sample.
        attributes: The attributes whose groups are compared.
    """
    names = [name for name in attributes if name in columns.group_attributes]
    if not names or not is_observational(columns):
        return ""
    missing, name = max((columns.without(name), name) for name in names)
    # test_traffic_without_groups_is_never_fair
    if missing <= MOST_UNGRADED * columns.count:
        return ""
    return (
        f"{missing:,} of {columns.count:,} answers are in no group of {name}, over {MOST_UNGRADED:.0%} of this traffic"
    )


def worst_groupings(
    sample: Measured, attributes: Iterable[str], outcomes: Sequence[tuple[Any, Any]]
) -> Iterator[tuple[str, Measured]]:
    """Yield an observational sample once for each way in which answers without a group may part two groups most.

    Those with a value above the mean are taken to be of one group, and all others of another one. Nobody has recorded
    their groups, so what is claimed of the sample has to hold however they belong: Manski's bounds of the worst case.

    Args:
        sample: The sample.
        attributes: The attributes whose groups are compared.
        outcomes: The outcomes that are compared, with their ``equals``.

    Yields:
        What is assumed, as text, and the sample.

    Source: Manski 1989, Journal of Human Resources 24(3), 343-360.
    """
    selection = sample.selection
    if not is_observational(selection.columns):
        return
    for name in sorted(set(attributes) & selection.columns.group_attributes):
        attribute = selection.columns.attribute(name)
        is_missing = attribute.codes == ABSENT
        if not is_missing.any():
            continue
        missing = int(is_missing.sum())
        text = f"{counted(missing, 'answer')} {'is' if missing == 1 else 'are'} in no group of {name}"
        for outcome, equals in outcomes:
            values = selection.outcome_vector(outcome, equals).values
            is_high = ~(values <= np.nanmean(values)) if np.isfinite(values).any() else np.ones(len(values), bool)
            for high, low in permutations(range(len(attribute.labels)), 2):
                codes = np.where(is_missing, np.where(is_high, high, low), attribute.codes)
                columns = selection.columns.relabeled(
                    {name: replace(attribute, codes=codes)}, selection.columns.attempts
                )
                reader = selection.reader.relabeled(columns)
                yield text, sample.from_selection(selection.replaced(columns=columns, reader=reader))


def is_observational(columns: Columns) -> bool:
    """Return whether all rows are of a table of an application's traffic."""
    rows = columns.attempts
    return bool(rows) and all(graded.prompt.metadata.get(STUDY_DESIGN) == OBSERVATIONAL for graded in rows)


def _differences(columns: Columns, by: str, name: str) -> Iterator[tuple[float, str]]:
    """Yield for each value of an attribute the largest difference between groups in its share, and the two shares."""
    groups, values = columns.attribute(by), columns.attribute(name)
    if not 2 <= len(groups.labels) <= _MOST_VALUES or not 2 <= len(values.labels) <= _MOST_VALUES:
        return
    in_both = (groups.codes >= 0) & (values.codes >= 0)
    counts = np.zeros((len(groups.labels), len(values.labels)))
    np.add.at(counts, (groups.codes[in_both], values.codes[in_both]), 1)
    totals = counts.sum(axis=1, keepdims=True)
    if not totals.all():
        return
    for value, shares in zip(values.labels, (counts / totals).T, strict=True):
        high, low = int(shares.argmax()), int(shares.argmin())
        parts = (f"{shares[group]:.0%} of {groups.labels[group]}" for group in (high, low))
        yield float(shares[high] - shares[low]), f"{one_line(str(value), _LONGEST)} in {' and '.join(parts)}"

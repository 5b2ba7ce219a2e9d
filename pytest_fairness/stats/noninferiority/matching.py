"""Matching of the attempts of a sample with those of its baseline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.formatting import counted, one_line
from pytest_fairness.core.items import Prompt
from pytest_fairness.stats.columns import Clustering, Columns, Rows
from pytest_fairness.stats.selection import Selection

Key = tuple[str, str, str, int]
"""Identity of an attempt: its item, the digest of its prompt, the groups in it, and its repetition."""

LONGEST_PROMPT = 60
"""Largest number of characters of a prompt in a message."""


def pair_clusters(old: Selection, new: Selection) -> Selection:
    """Return the baseline with the clusters of the new sample: an item has one influence on the difference."""
    rows = match_rows(new, old)
    clusterings = []
    for clustering in new.clusterings:
        codes = np.zeros(old.columns.count, dtype=np.int64)
        codes[old.rows] = clustering.codes[rows]
        clusterings.append(Clustering(codes, clustering.size))
    return old.replaced(clusterings=clusterings)


def match_rows(new: Selection, old: Selection) -> Rows:
    """Return, for each row of ``old``, the row of ``new`` with the same prompt and repetition.

    Args:
        new: The sample of this run.
        old: The sample of the baseline.

    Returns:
        Indices into the columns of ``new``, shape (rows of ``old``).

    Raises:
        FairnessError: Items, prompts, groups or repetitions differ, or one of the conditions: the graders, the judge,
            the decoding. Or both hold the same stored answers, which compares nothing. One line, with an example.
    """
    _refuse_other_conditions(new.conditions, old.conditions)
    if not (new.columns.attempts or old.columns.attempts):
        return _matched_arrays(new, old)
    ours, theirs = (dict(_rows_by_key(sample.columns, sample.rows)) for sample in (new, old))
    if ours.keys() != theirs.keys():
        raise FairnessError(f"the baseline cannot be compared: {_difference(new, old, ours, theirs)}")
    _refuse_same_answers(new, old)
    return np.array([ours[key] for key in theirs], dtype=np.int64)


def _refuse_same_answers(new: Selection, old: Selection) -> None:
    """Raise `FairnessError` where both hold the same stored answers, which would compare nothing."""
    ours, theirs = ([sample.columns.attempts[row].attempt for row in sample.rows.tolist()] for sample in (new, old))
    stored = {attempt.key for attempt in theirs if attempt.from_store}
    if same := sum(attempt.key in stored for attempt in ours):
        raise FairnessError(
            f"the baseline cannot be compared: {same:,} of {len(ours):,} answers are the same stored ones in both "
            "runs: ask again with --fairness-fresh"
        )


def _refuse_other_conditions(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> None:
    for name in sorted({*ours, *theirs}):
        here, there = ((str(conditions[name]) if name in conditions else "not given") for conditions in (ours, theirs))
        if here != there:
            raise FairnessError(
                f"the baseline cannot be compared: {name} is {here} in this run and {there} in the baseline: "
                "run the baseline again under the same conditions"
            )
        if name in ours and ours[name] is None:
            raise FairnessError(
                f"the baseline cannot be compared: {name} has no fingerprint, so it is unknown whether it is "
                "the same in both runs: give it an attribute `fingerprint`"
            )


def _matched_arrays(new: Selection, old: Selection) -> Rows:
    """Return the rows of samples without attempts, which must be equal entry by entry."""
    if not (np.array_equal(new.rows, old.rows) and np.array_equal(new.columns.items.codes, old.columns.items.codes)):
        raise FairnessError("the baseline cannot be compared: its items are others, or in another order")
    return new.rows


def _rows_by_key(columns: Columns, rows: Rows) -> Iterator[tuple[Key, int]]:
    """Yield the key and the row of each attempt."""
    identities: dict[int, tuple[str, str]] = {}
    repetitions: Counter[tuple[str, str, str]] = Counter()
    for row in rows.tolist():
        attempt = columns.attempts[row]
        identity = identities.get(id(attempt.prompt))
        if identity is None:
            identity = identities[id(attempt.prompt)] = _identity(attempt.prompt)
        key = (attempt.item.id, *identity)
        yield (*key, repetitions[key]), row
        repetitions[key] += 1


def _identity(prompt: Prompt) -> tuple[str, str]:
    return prompt.digest, ", ".join(f"{by}={name}" for by, name in sorted(prompt.groups.items()))


def _difference(new: Selection, old: Selection, ours: Mapping[Key, int], theirs: Mapping[Key, int]) -> str:
    """Return the first difference with an example: of items, then of prompts, of groups and of repetitions."""
    runs = ((new, ours, theirs, "this run"), (old, theirs, ours, "the baseline"))
    for _, own, other, run in runs:
        extra = sorted({key[0] for key in own} - {key[0] for key in other})
        if extra:
            return f"{counted(len(extra), 'item')} only in {run}, {extra[0]!r} for one: measure the same items"
    for sample, own, other, run in runs:
        prompts = {key[:2] for key in other}
        key = next((key for key in own if key[:2] not in prompts), None)
        if key is not None:
            text = one_line(sample.columns.prompt(own[key]).text, LONGEST_PROMPT)
            return f"item {key[0]!r} asks {text!r} only in {run}: run the baseline again with these prompts"
    for _, own, other, run in runs:
        grouped = {key[:3] for key in other}
        key = next((key for key in own if key[:3] not in grouped), None)
        if key is not None:
            apart = _attribute_apart(ours, theirs)
            way_out = (
                f"leave {apart!r} out of `groups`, and take the rows of each by select={{{apart!r}: ...}}"
                if apart
                else "name the same groups"
            )
            return f"item {key[0]!r} has a prompt about {key[2] or 'no group'} only in {run}: {way_out}"
    here, there = (1 + max(key[3] for key in keys) for keys in (ours, theirs))
    return f"prompts were asked {here} times in this run and {there} in the baseline: ask as often"


def _attribute_apart(ours: Mapping[Key, int], theirs: Mapping[Key, int]) -> str:
    """Return the attribute that has one group in each of two samples, as the model in slices of one table; or none."""
    values: list[dict[str, set[str]]] = []
    for keys in (ours, theirs):
        groups: dict[str, set[str]] = {}
        for described in {key[2] for key in keys}:
            for part in filter(None, described.split(", ")):
                groups.setdefault(part.partition("=")[0], set()).add(part)
        values.append(groups)
    here, there = values
    return next((by for by in here if len(here[by]) == len(there.get(by, ())) == 1 and here[by] != there[by]), "")

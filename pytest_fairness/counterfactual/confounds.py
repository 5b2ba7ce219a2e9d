"""Confounds in the design of a probe: properties of its prompts that correlate with a group or with an answer."""

from __future__ import annotations

import math
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, permutations
from typing import TypeVar

from pytest_fairness.core.choices import AnswerOptions
from pytest_fairness.core.formatting import counted
from pytest_fairness.core.items import ProbeItem
from pytest_fairness.core.json_objects import is_number
from pytest_fairness.core.placebos import PLACEBO, without_placebos
from pytest_fairness.counterfactual.group_gaps import FEWEST_ITEMS, Mean, Row, mean_of, widest_gap
from pytest_fairness.counterfactual.slot_confounds import find_slot_confounds

LEAST_SHARE = 0.05
"""The smallest difference of a share from its expectation that is reported, such as of an order from one half."""
LEAST_LONGER = 0.1
"""The smallest such difference in how often one of two options is the longer; equal lengths count one half."""
UNKNOWN = "unknown"
"""The value of the option that the answer is not known: its length is not compared with that of others."""
LEAST_LEVEL = 0.1
"""The smallest difference between groups in how often an attribute has a value."""
LEAST_NEIGHBOR = 0.2
"""The smallest excess of the option that follows another one most, where all should follow equally often."""
LEAST_SHIFT = 0.3
"""The smallest difference of a number's mean between groups, in standard deviations."""
LEAST_LENGTH = 0.1
"""The smallest difference of groups' mean prompt lengths, as a share of the mean length."""
LEAST_PAIRED_LENGTH = 0.25
"""The same where items hold prompts about several groups, as the words for a group differ in length themselves."""
MOST_ITEMS = 200
"""Items that are looked at of a probe that has more: a random part, since in some designs every third item is alike."""
MOST_LEVELS = 12
_STRATUM_LEVELS = 4
_Key = TypeVar("_Key")
_ARTICLE = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)
_ORDER = "a model that takes whichever comes first would seem to prefer it"
_OTHER_CAUSE = "a difference between these groups could be its doing; give every group the same ones"


@dataclass(frozen=True, slots=True)
class Confound:
    """One confound of a probe's items."""

    kind: str
    """"order", "position", "neighbor", "length", "mention", "label", "attribute", "number", "value" or "title"."""
    text: str
    """A line with the correlation and its remedy."""


def find_confounds(items: Iterable[ProbeItem]) -> list[Confound]:
    """Return the properties of a probe's items whose effect could be mistaken for bias.

    Checked are shares over prompts, with standard errors by item: what was drawn at random is not reported.

    - *order*: of two options that are compared with each other, one stands before the other more often.
    - *position*: an option stands in one place more often than in others; or first more often for one group.
    - *neighbor*: an option is mostly followed by the same other one, so that what is read before it carries over.
    - *length*: of two options the text of one is mostly longer.
    - *mention*: of two people in a text one is mentioned first more often.
    - *label*: the right answer (``metadata["label"]``) is mentioned first, or shown in one place, more often; also
      within the values of one attribute, such as the polarity of a question.
    - *attribute*: metadata of the prompts, or their length, differ between groups.
    - *number*, *value*: a number differs, or a word stands with one group, in a slot that does not tell the group: no
      name, pronoun, gendered word or title of courtesy, and not the attribute itself. Prompts without slots are
      compared by the words that prompts of an item do not share.
    - *title*: a title of rank ("Dr") stands before one group's names.

    Options of an item whose prompts are about several groups are compared between groups, not with each other:
    there the first four, and *label*, are no confounds.

    Args:
        items: All items of one probe, in any order; of more than 200 as many are checked, drawn with a fixed seed.

    Returns:
        The confounds, those of one kind together.

    >>> from pytest_fairness import AnswerOptions, Prompt
    >>> def item(number):
    ...     options = AnswerOptions({"cook": "The cook", "maid": "The maid"})
    ...     prompt = Prompt(f"Who wrote letter {number}?\\n{options}", metadata={"options": options})
    ...     return ProbeItem(str(number), [prompt])
    >>> [confound.kind for confound in find_confounds(item(number) for number in range(8))]
    ['order']
    """
    rows = _rows(list(items))
    confounds = [Confound(*finding) for finding in find_slot_confounds(rows)]
    if len({row.item for row in rows}) >= FEWEST_ITEMS:
        confounds += [*_option_confounds(rows), *_label_confounds(rows), *_group_confounds(rows)]
    return list(dict.fromkeys(confounds))


def _rows(items: Sequence[ProbeItem]) -> list[Row]:
    chosen = sorted(random.Random(0).sample(range(len(items)), min(len(items), MOST_ITEMS)))
    rows = []
    for number, item in enumerate(items[index] for index in chosen):
        for prompt in without_placebos(item).prompts:
            options = prompt.metadata.get("options")
            shown = options if isinstance(options, AnswerOptions) else None
            rows.append(
                Row(
                    number,
                    prompt,
                    {name: value for name, value in {**item.metadata, **prompt.metadata}.items() if name != PLACEBO},
                    shown.values if shown else (),
                    # In a format of sentences the options stand in the text as well.
                    _mentions(prompt.text, shown) if shown and str(shown) in prompt.text else (),
                )
            )
    return rows


def _mentions(text: str, options: AnswerOptions) -> tuple[str, ...]:
    introduction = text.partition(str(options))[0].casefold()
    starts = {
        value: match.start()
        for value, name in options.texts.items()
        if (match := re.search(rf"(?<!\w){re.escape(_ARTICLE.sub('', name).casefold())}(?!\w)", introduction))
    }
    return tuple(sorted(starts, key=lambda value: starts[value]))


# Options that are compared with each other ----------------------------------------------------------------------------


def _option_confounds(rows: Sequence[Row]) -> Iterator[Confound]:
    for same_options in _group_by(rows, lambda row: tuple(sorted(row.order))).values():
        values = tuple(dict.fromkeys(value for row in same_options for value in row.order))
        if len(values) < 2 or _is_paired(same_options):
            continue
        count = len(same_options[0].order)
        yield from _order_confounds(
            "order",
            [(row.item, row.order) for row in same_options],
            "option {} stands before {} in {} of prompts",
            f"show all orders, as options.balanced({2 * count}) gives them",
        )
        yield from _order_confounds(
            "mention",
            [(row.item, row.mentioned) for row in same_options],
            "{} is mentioned before {} in {} of texts",
            "exchange the two in half of the texts",
        )
        yield from _length_confounds(same_options)
        if len(values) > 2:
            yield from _position_confounds(same_options, values)
        if len(values) > 3:
            yield from _neighbor_confounds(same_options, values)


def _order_confounds(
    kind: str, orders: Sequence[tuple[int, tuple[str, ...]]], finding: str, remedy: str
) -> Iterator[Confound]:
    """Yield the pair of values of which one comes first most often, of all that are off one half.

    Args:
        kind: The kind of confound.
        orders: Values in order, each with the number of its item.
        finding: A format for both values and the share.
        remedy: The change of the design that removes the confound.
    """
    values = dict.fromkeys(value for _, order in orders for value in order)
    shares = {}
    for first, second in combinations(values, 2):
        with_both = [(item, order) for item, order in orders if first in order and second in order]
        shares[first, second] = mean_of((item, order.index(first) < order.index(second)) for item, order in with_both)
    yield from _most_unequal_pair(kind, shares, LEAST_SHARE, finding, f"{_ORDER}; {remedy}")


def _most_unequal_pair(
    kind: str, shares: Mapping[tuple[str, str], Mean], least: float, finding: str, remark: str
) -> Iterator[Confound]:
    """Yield the pair of values whose share is furthest off one half, of all that are off."""
    unequal = [_majority(*pair, share.value) for pair, share in shares.items() if share.is_off(0.5, least)]
    if unequal:
        one, other, most = max(unequal, key=lambda share: share[2])
        omitted = len(unequal) - 1
        remainder = f" (and {counted(omitted, 'more pair')})" if omitted else ""
        yield Confound(kind, f"{finding.format(repr(one), repr(other), f'{most:.0%}')}{remainder}: {remark}")


def _length_confounds(rows: Sequence[Row]) -> Iterator[Confound]:
    """Yield the pair of options of which one is longest more often than the other is."""
    shares = {}
    for pair in combinations(sorted(set(rows[0].order) - {UNKNOWN}), 2):
        lengths = [(row.item, [len(row.prompt.metadata["options"].texts[value]) for value in pair]) for row in rows]
        shares[pair] = mean_of((item, (one > other) + (one == other) / 2) for item, (one, other) in lengths)
    yield from _most_unequal_pair(
        "length",
        shares,
        LEAST_LONGER,
        "option {} is longer than {} in {} of prompts",
        "a model that takes the longer text would seem to prefer it; give both texts of the same lengths",
    )


def _majority(first: str, second: str, share: float) -> tuple[str, str, float]:
    return (first, second, share) if share > 0.5 else (second, first, 1 - share)


def _position_confounds(rows: Sequence[Row], values: Sequence[str]) -> Iterator[Confound]:
    count = len(values)
    for value in values:
        for index in range(count):
            share = mean_of((row.item, row.order.index(value) == index) for row in rows)
            if share.value > 1 / count and share.is_off(1 / count, LEAST_SHARE):
                yield Confound(
                    "position",
                    f"option {value!r} stands in place {index + 1} in {share.value:.0%} of prompts, not "
                    f"{1 / count:.0%}: a model with a habit of places would seem to prefer or avoid it; "
                    f"show all orders, as options.balanced({2 * count}) gives them",
                )


def _neighbor_confounds(rows: Sequence[Row], values: Sequence[str]) -> Iterator[Confound]:
    expected = 1 / (len(values) - 1)
    for value, following in permutations(values, 2):
        followers = ((row.item, after) for row in rows for before, after in pairwise(row.order) if before == value)
        share = mean_of((item, after == following) for item, after in followers)
        if share.value > expected and share.is_off(expected, LEAST_NEIGHBOR):
            yield Confound(
                "neighbor",
                f"option {following!r} follows {value!r} in {share.value:.0%} of prompts, not {expected:.0%}: what is "
                "read before carries over; vary the neighbors, as "
                f"options.shuffled(item).balanced({2 * len(values)}) does",
            )
            return  # one cycle makes all of them


def _is_paired(rows: Sequence[Row]) -> bool:
    """Return whether most items hold prompts about several groups, which are then compared within the item."""
    paired = [
        any(len({row.prompt.groups.get(name) for row in item_rows}) > 1 for name in item_rows[0].prompt.groups)
        for item_rows in _group_by(rows, lambda row: row.item).values()
    ]
    return 2 * sum(paired) > len(paired)


# The right answer -----------------------------------------------------------------------------------------------------


def _label_confounds(rows: Sequence[Row]) -> Iterator[Confound]:
    labeled = [row for row in rows if row.attributes.get("label") in row.order]
    for within, part in _strata(labeled):
        people = [row for row in part if len(row.mentioned) == 2 and row.attributes["label"] in row.mentioned]
        first = mean_of((row.item, row.attributes["label"] == row.mentioned[0]) for row in people)
        if first.is_off(0.5, LEAST_LEVEL):
            share, ordinal = (first.value, "first") if first.value > 0.5 else (1 - first.value, "second")
            yield Confound(
                "label",
                f"the right answer is whom the text mentions {ordinal} in {share:.0%} of prompts{within}: a model that "
                "only looks who comes first would seem to understand; exchange the people in half of them",
            )
        for count, same_count in _group_by(part, lambda row: len(row.order)).items():
            for index in range(count):
                share_at = mean_of((row.item, row.order.index(row.attributes["label"]) == index) for row in same_count)
                if share_at.value > 1 / count and share_at.is_off(1 / count, LEAST_LEVEL):
                    yield Confound(
                        "label",
                        f"the right answer stands in place {index + 1} in {share_at.value:.0%} of prompts{within}, not "
                        f"{1 / count:.0%}: a model with a habit of places would seem to understand, or not to; "
                        "shuffle the options of each prompt",
                    )


def _strata(rows: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    """Yield all prompts, then those with each value of an attribute that has few, each with its words."""
    yield "", list(rows)
    for name in _attribute_names(rows):
        rows_by_value: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            if name in row.attributes:
                rows_by_value[str(row.attributes[name])].append(row)
        if name != "label" and 1 < len(rows_by_value) <= _STRATUM_LEVELS:
            for value, part in rows_by_value.items():
                yield f" with {name} {value!r}", part


# Groups ---------------------------------------------------------------------------------------------------------------


def _group_confounds(rows: Sequence[Row]) -> Iterator[Confound]:
    for by in sorted({name for row in rows for name in row.prompt.groups}):
        with_group = [row for row in rows if by in row.prompt.groups]
        if not 1 < len({str(row.prompt.groups[by]) for row in with_group}) <= MOST_LEVELS:
            continue
        for value in sorted({value for row in with_group for value in row.order}):
            relevant = [row for row in with_group if value in row.order]
            are_first = [row.order[0] == value for row in relevant]
            yield from _share_confounds("position", relevant, by, f"option {value!r} stands first", are_first)
        for name in _attribute_names(with_group):
            relevant = [row for row in with_group if name in row.attributes and name not in row.prompt.slots]
            yield from _attribute_confounds(relevant, by, name)
        lengths = [len(row.prompt.text) for row in with_group]
        least = LEAST_PAIRED_LENGTH if _is_paired(with_group) else LEAST_LENGTH
        yield from _mean_confounds(with_group, by, "prompt length", lengths, least * sum(lengths) / len(lengths))


def _attribute_names(rows: Sequence[Row]) -> list[str]:
    """Return the names of attributes whose values are texts, numbers or truths."""
    kinds: dict[str, set[type]] = defaultdict(set)
    for row in rows:
        for name, value in row.attributes.items():
            kinds[name].add(type(value))
    return sorted(name for name, own in kinds.items() if all(issubclass(kind, str | int | float) for kind in own))


def _attribute_confounds(rows: Sequence[Row], by: str, name: str) -> Iterator[Confound]:
    levels = {row.attributes[name] for row in rows}
    are_numbers = all(map(is_number, levels))
    if are_numbers and len(levels) > 2:
        numbers = [float(row.attributes[name]) for row in rows]
        mean = sum(numbers) / len(numbers)
        deviation = math.sqrt(sum((number - mean) ** 2 for number in numbers) / len(numbers))
        yield from _mean_confounds(rows, by, f"`{name}`", numbers, LEAST_SHIFT * deviation)
        return
    if not 1 < len(levels) <= MOST_LEVELS:
        return
    if not are_numbers and len({(row.attributes[name], str(row.prompt.groups[by])) for row in rows}) == len(levels):
        return  # a text that only one group has is part of what says the group, such as its pronoun
    for level in sorted(levels, key=str):
        have_level = [row.attributes[name] == level for row in rows]
        yield from _share_confounds("attribute", rows, by, f"`{name}` is {level!r}", have_level)


def _share_confounds(
    kind: str, rows: Sequence[Row], by: str, condition: str, holds: Sequence[bool]
) -> Iterator[Confound]:
    """Yield a confound where something holds in more of one group's prompts than of another's."""
    gap = widest_gap(rows, by, holds)
    if gap is not None and gap.difference.is_off(0.0, LEAST_LEVEL):
        yield Confound(
            kind,
            f"{condition} in {gap.means[gap.most]:.0%} of prompts about {by} {gap.most!r} and "
            f"{gap.means[gap.least]:.0%} about {gap.least!r}: {_OTHER_CAUSE}",
        )


def _mean_confounds(
    rows: Sequence[Row], by: str, quantity: str, numbers: Sequence[float], least: float
) -> Iterator[Confound]:
    """Yield a confound where the mean of a number differs between two groups, by at least this much above 0."""
    gap = widest_gap(rows, by, numbers)
    if gap is not None and least and gap.difference.is_off(0.0, least):
        yield Confound(
            "attribute",
            f"{quantity} is {gap.means[gap.most]:,.4g} on average in prompts about {by} {gap.most!r} and "
            f"{gap.means[gap.least]:,.4g} about {gap.least!r}: {_OTHER_CAUSE}",
        )


def _group_by(rows: Iterable[Row], key: Callable[[Row], _Key]) -> dict[_Key, list[Row]]:
    parts: dict[_Key, list[Row]] = {}
    for row in rows:
        parts.setdefault(key(row), []).append(row)
    return parts

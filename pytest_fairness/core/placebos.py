"""Placebos of probes: other wordings of a prompt that mean the same, by which it is known how often answers flip.

An answer may change with any word of a text. So the answers to two groups' texts differ in a fair model as well, as
often as those to two wordings of one text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from pytest_fairness.core.digests import digest
from pytest_fairness.core.errors import FairnessError, short_repr
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.message_roles import CONTINUATIONS
from pytest_fairness.core.metric_kind import MetricKind

if TYPE_CHECKING:
    from pytest_fairness.core.estimates import Estimate

PLACEBO = "placebo_wording"
"""The attribute of a prompt that is its level of the placebo; a prompt without other wordings has none."""
ORIGINAL = "original"
"""The level of the prompt whose text is reworded."""
OTHER_WORDING, OTHER_REPETITION = "another wording", "another repetition"
"""The names of the pairs of answers beside which flips between groups are judged."""
MOST_WORDINGS = 100
"""Largest number of other wordings of a prompt; a function may give them without end."""

Placebo = str | Callable[[Prompt], Iterable[str]]
"""The metadata of a prompt that holds its other wordings, or a function from a prompt to them."""


def is_placebo(prompt: Prompt) -> bool:
    """Return whether a prompt is another wording, which no metric but flips reads.

    >>> is_placebo(Prompt("Hire Anna?")), is_placebo(Prompt("Take Anna on?", metadata={PLACEBO: "1"}))
    (False, True)
    """
    level: object = prompt.metadata.get(PLACEBO, ORIGINAL)
    return level != ORIGINAL


def is_held_by_placebo(flips: Estimate, bound: float) -> bool:
    """Return whether flips lie beyond a bound, and are not shown to be more than those of the placebo.

    Args:
        flips: An estimate; any other metric than flips has no placebo.
        bound: The most that is allowed.
    """
    return flips.kind is MetricKind.FLIPS and flips.low > bound >= flips.strict_ends[0]


def without_placebos(item: ProbeItem) -> ProbeItem:
    """Return an item without its other wordings; the same object where it has none."""
    if not any(map(is_placebo, item.prompts)):
        return item
    return replace(item, prompts=[prompt for prompt in item.prompts if not is_placebo(prompt)])


def with_placebos(items: Iterable[ProbeItem], placebo: Placebo) -> list[ProbeItem]:
    """Return the items, each with the other wordings of one of its prompts as further prompts.

    The prompt is drawn by the item's id, so that over the items every group is reworded: of those that have groups, if
    any has. Of one without wordings the next that has some is taken.

    >>> hire = ProbeItem("cook", [Prompt("Should Anna be hired?", {"gender": "female"})])
    >>> (item,) = with_placebos([hire], lambda prompt: [prompt.text.replace("be hired", "get the job")])
    >>> [(prompt.text, prompt.metadata[PLACEBO]) for prompt in item.prompts]
    [('Should Anna be hired?', 'original'), ('Should Anna get the job?', '1')]

    Args:
        items: The items of a probe.
        placebo: The metadata of a prompt that holds its other wordings, and is taken out of it, or a function from a
            prompt to them: texts that mean the same as the text of its last message, and replace it.

    Raises:
        FairnessError: The placebo is neither; a wording is no text, is the prompt's own, or occurs twice; or no prompt
            of any item has one.
    """
    if not isinstance(placebo, str) and not callable(placebo):
        raise FairnessError(
            f"placebo is {short_repr(placebo)}: give the name of metadata that holds texts, or a function from a "
            "prompt to texts"
        )
    placed = [_with_wordings(item, placebo) for item in items]
    if placed and not any(is_placebo(prompt) for item in placed for prompt in item.prompts):
        raise FairnessError(
            f"placebo is {short_repr(placebo)}: no prompt has another wording by it; give the name of metadata that "
            "holds texts, or a function from a prompt to texts"
        )
    return placed


def _with_wordings(item: ProbeItem, placebo: Placebo) -> ProbeItem:
    prompts = [_without(prompt, placebo) for prompt in item.prompts]
    # test_prompt_that_is_of_no_group_is_not_reworded
    drawn = [index for index, prompt in enumerate(prompts) if prompt.groups] or [*range(len(prompts))]
    first = int(digest(item.id)[:8], 16) % len(drawn)
    for index in (*drawn[first:], *drawn[:first]):
        texts = _wordings(item, item.prompts[index], placebo)
        if texts:
            reworded = list(_reworded(prompts[index], texts))
            prompts[index] = _at_level(prompts[index], ORIGINAL)
            return replace(item, prompts=[*prompts, *reworded])
    return replace(item, prompts=prompts)


def _without(prompt: Prompt, placebo: Placebo) -> Prompt:
    """Return a prompt without the metadata that holds its other wordings: these are no attribute of it."""
    if placebo not in prompt.metadata:
        return prompt
    return replace(prompt, metadata={name: value for name, value in prompt.metadata.items() if name != placebo})


def _at_level(prompt: Prompt, level: str) -> Prompt:
    return replace(prompt, metadata={**prompt.metadata, PLACEBO: level})


def _reworded(prompt: Prompt, texts: Sequence[str]) -> Iterator[Prompt]:
    index = max(number for number, message in enumerate(prompt.messages) if message["role"] != CONTINUATIONS)
    for number, text in enumerate(texts, 1):
        messages = list(prompt.messages)
        messages[index] = {**messages[index], "content": text}
        reworded = replace(prompt, messages=tuple(messages), slots={})
        yield _at_level(reworded, str(number))


def _wordings(item: ProbeItem, prompt: Prompt, placebo: Placebo) -> list[str]:
    """Return the other wordings of a prompt, checked; empty where it has none."""
    given = prompt.metadata.get(placebo, ()) if isinstance(placebo, str) else placebo(prompt)
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise FairnessError(
            f"the placebo of item {item.id!r} gives {short_repr(given)}: it must give a list of texts, empty for none"
        )
    own = [other.text.split() for other in item.prompts]
    texts: list[str] = []
    for text in islice(given, MOST_WORDINGS + 1):
        if len(texts) == MOST_WORDINGS:
            raise FairnessError(
                f"the placebo of item {item.id!r} gives more than {MOST_WORDINGS} texts: two are enough"
            )
        if not isinstance(text, str) or not text.strip():
            raise FairnessError(f"the placebo of item {item.id!r} gives {short_repr(text)}: each wording is a text")
        if text.split() in own:
            raise FairnessError(
                f"the placebo of item {item.id!r} gives {short_repr(text)}, which is the text of one of its prompts, "
                "or given twice: write it in other words, about the same person"
            )
        own.append(text.split())
        texts.append(text)
    return texts

"""The search space: the texts that a template can be filled in to, and pairs of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from pytest_fairness import ProbeItem, Prompt
from pytest_fairness.counterfactual import SlotTemplate, Value, lint, variant_of

_SHOWN = 60

Choice: TypeAlias = tuple[Value, ...]
"""One text: the values of its slots, in their order."""
Word: TypeAlias = tuple[str, str]
"""A slot, and a word in it."""


class TextSpace:
    """A template and the values of its slots; None for a slot whose texts a strategy of the user draws."""

    def __init__(
        self,
        template: str,
        axes: Mapping[str, Sequence[Value] | None],
        language: str = "en",
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        self.template = SlotTemplate(template, axes, language)
        self.slots = tuple(axes)
        self.values = tuple(axes.values())
        """The values of each slot, the shortest first."""
        self._metadata = {"language": language, **(metadata or {})}
        self._prompts: dict[Choice, Prompt] = {}

    @property
    def is_listed(self) -> bool:
        """Return whether every slot's texts are known."""
        return None not in self.values

    @property
    def words(self) -> set[Word]:
        """All words of the slots whose texts are known."""
        return {
            (slot, word)
            for slot, values in zip(self.slots, self.values, strict=True)
            for value in values or ()
            for word in value.words
        }

    def prompt(self, choice: Choice) -> Prompt:
        """Return the text of a choice. Raises `FairnessError` for one that names two genders."""
        prompt = self._prompts.get(choice)
        if prompt is None:
            variant, groups = variant_of(dict(zip(self.slots, choice, strict=True)), self.template)
            (filled,) = self.template.fill([variant])
            prompt = self._prompts[choice] = Prompt(filled.text, groups, self._metadata, slots=filled.slots)
        return prompt

    def can_be(self, choice: Choice) -> bool:
        """Return whether it is a text about one person: no two slots name different groups of one attribute."""
        if not any(value.text for value in choice) and not self.template.has_words:
            return False
        return agree(choice)

    def check(self) -> None:
        """Lint the template with a person of each gender: it finds pronouns that are not slots.

        Raises `FairnessError`.
        """
        values_by_slot = [values or (Value(("something",)),) for values in self.values]
        index = next(
            (index for index, values in enumerate(values_by_slot) if any(_gender(value) for value in values)), 0
        )
        first = tuple(values[0] for values in values_by_slot)
        by_gender = {_gender(value): (*first[:index], value, *first[index + 1 :]) for value in values_by_slot[index]}
        choices = [choice for choice in by_gender.values() if self.can_be(choice)]
        variants = [variant_of(dict(zip(self.slots, choice, strict=True)), self.template) for choice in choices]
        filled = self.template.fill([variant for variant, _ in variants])
        prompts = [
            Prompt(variant_text.text, groups, self._metadata, slots=variant_text.slots)
            for variant_text, (_, groups) in zip(filled, variants, strict=True)
        ]
        if prompts:
            lint(ProbeItem("of the template", prompts))


def agree(values: Iterable[Value]) -> bool:
    """Return whether they can be about one person."""
    groups: dict[str, str] = {}
    return all(groups.setdefault(name, group) == group for value in values for name, group in value.groups)


def with_values(choice: Choice, changed: Mapping[int, Value]) -> Choice:
    """Return the choice with other values for some slots, given by index."""
    return tuple(changed.get(index, value) for index, value in enumerate(choice))


def differing_words(space: TextSpace, left: Choice, right: Choice) -> set[Word]:
    """Return the words that occur in only one of two texts."""
    different: set[Word] = set()
    for slot, one, two in zip(space.slots, left, right, strict=True):
        different |= {(slot, word) for word in set(one.words) ^ set(two.words)}
    return different


@dataclass(frozen=True, slots=True, eq=False)
class TextPair:
    """Two texts that differ in varied slots only; the later ``rights`` are further texts to compare with the first.

    ``prompts`` are the two. While hypothesis searches, an example holds several second texts, so that a model is
    asked about many words at once; what it shrinks to has one.
    """

    space: TextSpace
    left: Choice
    rights: tuple[Choice, ...]

    @property
    def prompts(self) -> tuple[Prompt, Prompt]:
        return self.space.prompt(self.left), self.space.prompt(self.rights[0])

    @property
    def size(self) -> int:
        """Words in all of its texts, of those that are varied."""
        return sum(len(value.words) for choice in (self.left, *self.rights) for value in choice)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: ARG002, FBT001 - how hypothesis shows it
        printer.text(repr(self))

    def __repr__(self) -> str:
        remainder = [f"and {len(self.rights) - 1} more"] if len(self.rights) > 1 else []
        return f"Pair({', '.join([*differences(self.space, self.left, self.rights[0]), *remainder])})"


def differences(space: TextSpace, left: Choice, right: Choice) -> list[str]:
    """Return ``hobby 'chess' -> 'boxing'`` for each slot that differs."""
    return [
        f"{slot} {_shortened(one.text)!r} -> {_shortened(two.text)!r}"
        for slot, one, two in zip(space.slots, left, right, strict=True)
        if one != two
    ]


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]} ... ({len(text.split())} words)"


def _gender(value: Value) -> str:
    return dict(value.groups).get("gender", "")

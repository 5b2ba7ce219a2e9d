"""Answer options: texts that a model chooses from by labels, and the values that graders read."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_fairness.core.calls import explains_construction
from pytest_fairness.core.errors import FairnessError

LETTERS = "ABCDEFGHIJ"


@explains_construction
@dataclass(frozen=True, slots=True, eq=False)
class AnswerOptions:
    """The options of one prompt: the text and the label of each value.

    They belong into the prompt's text, and into ``metadata["options"]`` for the grader.

    Args:
        texts: The text of each value (a possible grade), in the order of the prompt.
        labels: The labels, at least as many as there are options.
        form: The format of one option on its line.

    >>> options = AnswerOptions({"yes": "Hire her", "no": "Do not hire her"})
    >>> print(options)
    A. Hire her
    B. Do not hire her
    >>> options.values
    ('yes', 'no')

    Raises:
        FairnessError: Two options share a label or a text.
    """

    texts: Mapping[str, str]
    labels: Sequence[str] = LETTERS
    form: str = "{label}. {text}"

    def __post_init__(self) -> None:
        count = len(self.texts)
        if count < 2:
            raise FairnessError(f"a choice has {count} option(s): it needs at least two")
        if len(self.labels) < count:
            raise FairnessError(f"{count} options have only {len(self.labels)} labels: give one each")
        object.__setattr__(self, "labels", tuple(self.labels[:count]))
        for noun, names in (("label", self.labels), ("text", tuple(self.texts.values()))):
            folded = [name.strip().casefold() for name in names]
            if len(set(folded)) < count or not all(folded):
                raise FairnessError(f"each option needs a {noun} of its own, not {list(names)!r}")

    def __eq__(self, other: object) -> bool:
        """Return whether options are equal and in the same order, which equality of mappings ignores."""
        return isinstance(other, AnswerOptions) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[object, ...]:
        return tuple(self.texts.items()), tuple(self.labels), self.form

    def __str__(self) -> str:
        lines = zip(self.labels, self.texts.values(), strict=True)
        return "\n".join(self.form.format(label=label, text=text) for label, text in lines)

    @property
    def values(self) -> tuple[str, ...]:
        """The values, in the order of the prompt."""
        return tuple(self.texts)

    def shuffled(self, seed: object) -> AnswerOptions:
        """Return the same options in a random order, under the same labels.

        Args:
            seed: Any object with a ``repr`` of its own, such as the item's id: the order depends on it alone.
        """
        values = list(self.texts)
        random.Random(repr(seed)).shuffle(values)
        return self._in_order(values)

    def balanced(self, orders: int | None = None, seed: object = 0) -> list[AnswerOptions]:
        """Return the same options in several orders, each option equally often at each position.

        The orders are rotations of cycles, and each second cycle is the reverse of the one before it. So
        with twice the number of options (or four times, ...) each option also precedes each other
        equally often. Choose that where the options themselves are compared: a model that takes
        the first of two would otherwise seem to prefer one of them. Which options are neighbors
        varies with `shuffled`: ``options.shuffled(item).balanced(10)``.

        Args:
            orders: A multiple of the number of options; that number by default.
            seed: The seed of the cycles after the second.

        >>> [o.values for o in AnswerOptions({"a": "x", "b": "y"}).balanced()]
        [('a', 'b'), ('b', 'a')]
        >>> orders = AnswerOptions({"a": "x", "b": "y", "c": "z"}).balanced(6)
        >>> sum(o.values.index("a") < o.values.index("b") for o in orders)
        3

        Raises:
            FairnessError: The number of orders cannot be balanced.
        """
        count = len(self.texts)
        number = count if orders is None else orders
        if number < 1 or number % count:
            raise FairnessError(f"{number} orders of {count} options cannot be balanced: take a multiple of {count}")
        generator = random.Random(repr(seed))
        cycles = [list(self.texts)]
        while len(cycles) < number // count:
            first, *rest = cycles[-1]
            if len(cycles) % 2 == 0:
                generator.shuffle(rest)
            cycles.append([first, *(rest if len(cycles) % 2 == 0 else reversed(rest))])
        return [self._in_order(cycle[start:] + cycle[:start]) for cycle in cycles for start in range(count)]

    def _in_order(self, values: Sequence[str]) -> AnswerOptions:
        return AnswerOptions({value: self.texts[value] for value in values}, self.labels, self.form)

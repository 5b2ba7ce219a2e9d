"""Shrinking of two texts that are decided differently to the smallest difference that still flips."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from pytest_fairness.counterfactual.slots import Value
from pytest_fairness.flip_search.decisions import Decisions, most_frequent
from pytest_fairness.flip_search.space import Choice, TextSpace, with_values

T = TypeVar("T")
_FEW, _MORE = 2, 5
"""Repetitions that settle a step where they agree, and where they do not."""
_TRIED = 3
"""Single words that are tried in place of a whole list."""


def smallest(parts: Sequence[T], holds: Callable[[Sequence[T]], bool]) -> list[T]:
    """Return a minimal subset of these parts for which a condition holds: without any one part it does not.

    ``holds`` must be true of all of them. Source: Zeller and Hildebrandt, Simplifying and isolating failure-inducing
    input (delta debugging), 2002.

    >>> smallest(range(100), lambda some: {7, 60} <= set(some))
    [7, 60]
    """
    subset, pieces = list(parts), 2
    while len(subset) > 1:
        size = -(-len(subset) // pieces)
        blocks = [subset[start : start + size] for start in range(0, len(subset), size)]
        block_that_holds = next((block for block in blocks if len(blocks) > 1 and holds(block)), None)
        if block_that_holds is not None:
            subset, pieces = block_that_holds, 2
            continue
        rest_that_holds = None
        if len(blocks) > 2:
            rests = ([part for other in blocks if other is not block for part in other] for block in blocks)
            rest_that_holds = next((rest for rest in rests if holds(rest)), None)
        if rest_that_holds is not None:
            subset, pieces = rest_that_holds, max(2, len(blocks) - 1)
        elif size == 1:
            break
        else:
            pieces = min(len(subset), 2 * len(blocks))
    return subset


class Shrinking:
    """The shrinking of one pair: fewest differing slots, fewest words in them, and the shortest text around them."""

    def __init__(self, decisions: Decisions, space: TextSpace, left: Choice, right: Choice) -> None:
        self._decisions = decisions
        self._space = space
        self.left, self.right = left, right
        self._sides = tuple(most_frequent(decisions.decisions_on(space, choice)) for choice in (left, right))

    def shrink(self) -> None:
        """Shrink the pair as far as possible. Raises `SearchBudgetError`; the pair then is what was reached so far."""
        self._minimize_slots()
        for index in self._differing():
            self._minimize_words(index)
        differing = self._differing()
        for index in range(len(self._space.slots)):
            if index in differing:
                self._shorten_sides(index)
            else:
                self._shorten(index)

    def _differing(self) -> list[int]:
        return [index for index, (one, two) in enumerate(zip(self.left, self.right, strict=True)) if one != two]

    def _decides(self, choice: Choice, decision: Any) -> bool:
        """Return whether a text has a decision repeatably: in two of two repetitions, or else in four of five."""
        if not self._space.can_be(choice):
            return False
        self._decisions.look(self._space, [(choice, _FEW)])
        decisions = self._decisions.decisions_on(self._space, choice)
        if 0 < decisions.count(decision) < len(decisions):
            self._decisions.look(self._space, [(choice, _MORE)])
            decisions = self._decisions.decisions_on(self._space, choice)
        return decisions.count(decision) >= 0.8 * len(decisions)

    def _decides_as_left(self, choice: Choice) -> bool:
        return self._decides(choice, self._sides[0])

    def _decides_as_right(self, choice: Choice) -> bool:
        return self._decides(choice, self._sides[1])

    def _minimize_slots(self) -> None:
        """Change as few slots of the first text as flip its decision, then as few of the second as flip it back."""
        left, right = self.left, self.right
        changed = smallest(self._differing(), lambda indices: self._decides_as_right(_mixed(left, right, indices)))
        shrunk_right = self.right = _mixed(left, right, changed)
        changed_back = smallest(changed, lambda indices: self._decides_as_left(_mixed(shrunk_right, left, indices)))
        self.left = _mixed(shrunk_right, left, changed_back)

    def _minimize_words(self, index: int) -> None:
        """Keep only those words of a slot that make the difference, on either side."""
        if self._space.values[index] is not None:
            return
        for word in [(word,) for word in self.left[index].words[:_TRIED]]:
            # A single word shows whether the decision depends on the first text, and then replaces one side.
            single = Value(word)
            if self._decides_as_right(with_values(self.left, {index: single})):
                self.right = with_values(self.right, {index: single})
                break
            if self._decides_as_left(with_values(self.left, {index: single})):
                self.left = with_values(self.left, {index: single})
                break
        for side in (0, 1):
            words = (self.left, self.right)[side][index].words
            if len(words) > 1:
                self._keep_words(index, side, words)

    def _keep_words(self, index: int, side: int, words: Sequence[str]) -> None:
        choice = (self.left, self.right)[side]
        needed = smallest(
            words, lambda some: self._decides(with_values(choice, {index: Value(tuple(some))}), self._sides[side])
        )
        shorter = with_values(choice, {index: Value(tuple(needed))})
        self.left, self.right = (shorter, self.right) if side == 0 else (self.left, shorter)

    def _shorten_sides(self, index: int) -> None:
        """Replace one side of a differing slot by its shortest value, if the pair still flips."""
        for value in (self._space.values[index] or ())[:1]:
            if value in (self.left[index], self.right[index]):
                return
            left, right = with_values(self.left, {index: value}), with_values(self.right, {index: value})
            if self._decides_as_left(left):
                self.left = left
            elif self._decides_as_right(right):
                self.right = right

    def _shorten(self, index: int) -> None:
        """Replace a slot that does not differ by its shortest value, if both decisions stay the same."""
        values, words = self._space.values[index], self.left[index].words
        tried = values[:1] if values else [Value((word,)) for word in words[:_TRIED]] if words[1:] else []
        for value in tried:
            left, right = with_values(self.left, {index: value}), with_values(self.right, {index: value})
            if value == self.left[index] or (self._decides_as_left(left) and self._decides_as_right(right)):
                self.left, self.right = left, right
                return


def _mixed(one: Choice, other: Choice, indices: Sequence[int]) -> Choice:
    """Return one text with the values of another in some slots."""
    return with_values(one, {index: other[index] for index in indices})

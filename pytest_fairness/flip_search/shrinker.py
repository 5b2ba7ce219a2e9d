"""Shrinking of two texts that are decided differently to the smallest difference that still flips."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from pytest_fairness.counterfactual.slots import Value
from pytest_fairness.flip_search.decisions import Decisions, usual
from pytest_fairness.flip_search.space import Choice, TextSpace, replaced

T = TypeVar("T")
_FEW, _MORE = 2, 5
"""Repetitions that settle a step where they agree, and where they do not."""
_TRIED = 3
"""Single words that are tried to stand for a whole list."""


def smallest(parts: Sequence[T], holds: Callable[[Sequence[T]], bool]) -> list[T]:
    """Return a part of these of which no half, and in the end no single part, can be left out so that it still holds.

    ``holds`` is true of all of them. Zeller and Hildebrandt, Simplifying and isolating failure-inducing input, 2002.

    >>> smallest(range(100), lambda some: {7, 60} <= set(some))
    [7, 60]
    """
    kept, pieces = list(parts), 2
    while len(kept) > 1:
        size = -(-len(kept) // pieces)
        blocks = [kept[start : start + size] for start in range(0, len(kept), size)]
        alone = next((block for block in blocks if len(blocks) > 1 and holds(block)), None)
        if alone is not None:
            kept, pieces = alone, 2
            continue
        without = None
        if len(blocks) > 2:
            rests = ([part for other in blocks if other is not block for part in other] for block in blocks)
            without = next((rest for rest in rests if holds(rest)), None)
        if without is not None:
            kept, pieces = without, max(2, len(blocks) - 1)
        elif size == 1:
            break
        else:
            pieces = min(len(kept), 2 * len(blocks))
    return kept


class Shrinking:
    """Reduction of one flipping pair: fewest slots that differ, fewest words in them, shortest text about them."""

    def __init__(self, decisions: Decisions, space: TextSpace, left: Choice, right: Choice) -> None:
        self._decisions = decisions
        self._space = space
        self.left, self.right = left, right
        self._sides = tuple(usual(decisions.decisions_on(space, choice)) for choice in (left, right))

    def shrink(self) -> None:
        """Shrink as far as it goes. Raises `SpentError`; what was reached by then stands."""
        self._fewest_slots()
        for index in self._differing():
            self._fewest_words(index)
        differing = self._differing()
        for index in range(len(self._space.slots)):
            if index in differing:
                self._shorten_sides(index)
            else:
                self._shorten(index)

    def _differing(self) -> list[int]:
        return [index for index, (one, two) in enumerate(zip(self.left, self.right, strict=True)) if one != two]

    def _decides(self, choice: Choice, decision: Any) -> bool:
        """Return whether a text is decided so: two of two, or else four of five."""
        if not self._space.can_be(choice):
            return False
        self._decisions.look(self._space, [(choice, _FEW)])
        decisions = self._decisions.decisions_on(self._space, choice)
        if 0 < decisions.count(decision) < len(decisions):
            self._decisions.look(self._space, [(choice, _MORE)])
            decisions = self._decisions.decisions_on(self._space, choice)
        return decisions.count(decision) >= 0.8 * len(decisions)

    def _are_left(self, choice: Choice) -> bool:
        return self._decides(choice, self._sides[0])

    def _are_right(self, choice: Choice) -> bool:
        return self._decides(choice, self._sides[1])

    def _fewest_slots(self) -> None:
        """Change no more of the first text than turns its decision, then of the second than turns it back."""
        left, right = self.left, self.right
        changed = smallest(self._differing(), lambda places: self._are_right(_mixed(left, right, places)))
        nearer = self.right = _mixed(left, right, changed)
        kept = smallest(changed, lambda places: self._are_left(_mixed(nearer, left, places)))
        self.left = _mixed(nearer, left, kept)

    def _fewest_words(self, index: int) -> None:
        """Keep only those words of a slot that make the difference, on either side."""
        if self._space.known[index] is not None:
            return
        for word in [(word,) for word in self.left[index].words[:_TRIED]]:
            # One word of the first text tells whether what matters is in it, and serves as the other side.
            single = Value(word)
            if self._are_right(replaced(self.left, {index: single})):
                self.right = replaced(self.right, {index: single})
                break
            if self._are_left(replaced(self.left, {index: single})):
                self.left = replaced(self.left, {index: single})
                break
        for side in (0, 1):
            words = (self.left, self.right)[side][index].words
            if len(words) > 1:
                self._keep_words(index, side, words)

    def _keep_words(self, index: int, side: int, words: Sequence[str]) -> None:
        choice = (self.left, self.right)[side]
        kept = smallest(
            words, lambda some: self._decides(replaced(choice, {index: Value(tuple(some))}), self._sides[side])
        )
        shorter = replaced(choice, {index: Value(tuple(kept))})
        self.left, self.right = (shorter, self.right) if side == 0 else (self.left, shorter)

    def _shorten_sides(self, index: int) -> None:
        """Put the shortest text that makes the difference as well on one side of a slot."""
        for value in (self._space.known[index] or ())[:1]:
            if value in (self.left[index], self.right[index]):
                return
            left, right = replaced(self.left, {index: value}), replaced(self.right, {index: value})
            if self._are_left(left):
                self.left = left
            elif self._are_right(right):
                self.right = right

    def _shorten(self, index: int) -> None:
        """Put the shortest text that leaves both decisions alone into a slot that does not matter."""
        values, words = self._space.known[index], self.left[index].words
        tried = values[:1] if values else [Value((word,)) for word in words[:_TRIED]] if words[1:] else []
        for value in tried:
            left, right = replaced(self.left, {index: value}), replaced(self.right, {index: value})
            if value == self.left[index] or (self._are_left(left) and self._are_right(right)):
                self.left, self.right = left, right
                return


def _mixed(one: Choice, other: Choice, places: Sequence[int]) -> Choice:
    """Return one text with what another has in these places."""
    return replaced(one, {index: other[index] for index in places})

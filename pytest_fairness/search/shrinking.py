"""From two texts that are decided differently to the smallest difference that still is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from pytest_fairness.search.deciding import Decisions, usual
from pytest_fairness.search.space import Choice, Space, replaced
from pytest_fairness.variants.values import Value

T = TypeVar("T")
_FEW, _MORE = 2, 5
"""Repetitions that settle a step where they agree, and where they do not."""
_TRIED = 3
"""Single words that are tried to stand for a whole list."""


def smallest(parts: Sequence[T], holds: Callable[[Sequence[T]], bool]) -> list[T]:
    """A part of these of which no half, and in the end no single part, can be left out so that it still holds.

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
    """Makes one flipping pair small: fewest slots that differ, fewest words in them, shortest text about them."""

    def __init__(self, decisions: Decisions, space: Space, left: Choice, right: Choice) -> None:
        self._decisions = decisions
        self._space = space
        self.left, self.right = left, right
        self._sides = tuple(usual(decisions.said(space, choice)) for choice in (left, right))

    def shrink(self) -> None:
        """Shrink as far as it goes. Raises `SpentError`; what was reached by then stands."""
        self._fewest_slots()
        for place in self._differing():
            self._fewest_words(place)
        differing = self._differing()
        for place in range(len(self._space.slots)):
            if place in differing:
                self._shorten_sides(place)
            else:
                self._shorten(place)

    def _differing(self) -> list[int]:
        return [place for place, (one, two) in enumerate(zip(self.left, self.right, strict=True)) if one != two]

    def _decides(self, choice: Choice, decision: Any) -> bool:
        """Whether a text is decided so: two of two, or else four of five."""
        if not self._space.can_be(choice):
            return False
        self._decisions.look(self._space, [(choice, _FEW)])
        said = self._decisions.said(self._space, choice)
        if 0 < said.count(decision) < len(said):
            self._decisions.look(self._space, [(choice, _MORE)])
            said = self._decisions.said(self._space, choice)
        return said.count(decision) >= 0.8 * len(said)

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

    def _fewest_words(self, place: int) -> None:
        """Of a slot that holds words: those only that make the difference, on either side."""
        if self._space.known[place] is not None:
            return
        for word in [(word,) for word in self.left[place].words[:_TRIED]]:
            # One word of the first text tells whether what matters is in it, and serves as the other side.
            single = Value(word)
            if self._are_right(replaced(self.left, {place: single})):
                self.right = replaced(self.right, {place: single})
                break
            if self._are_left(replaced(self.left, {place: single})):
                self.left = replaced(self.left, {place: single})
                break
        for side in (0, 1):
            words = (self.left, self.right)[side][place].words
            if len(words) > 1:
                self._keep_words(place, side, words)

    def _keep_words(self, place: int, side: int, words: Sequence[str]) -> None:
        choice = (self.left, self.right)[side]
        kept = smallest(
            words, lambda some: self._decides(replaced(choice, {place: Value(tuple(some))}), self._sides[side])
        )
        shorter = replaced(choice, {place: Value(tuple(kept))})
        self.left, self.right = (shorter, self.right) if side == 0 else (self.left, shorter)

    def _shorten_sides(self, place: int) -> None:
        """Of a slot that makes the difference: on one side the shortest text that makes it as well."""
        for value in (self._space.known[place] or ())[:1]:
            if value in (self.left[place], self.right[place]):
                return
            left, right = replaced(self.left, {place: value}), replaced(self.right, {place: value})
            if self._are_left(left):
                self.left = left
            elif self._are_right(right):
                self.right = right

    def _shorten(self, place: int) -> None:
        """Of a slot that does not matter: the shortest text with which both sides stay as they are."""
        known, words = self._space.known[place], self.left[place].words
        tried = known[:1] if known else [Value((word,)) for word in words[:_TRIED]] if words[1:] else []
        for value in tried:
            left, right = replaced(self.left, {place: value}), replaced(self.right, {place: value})
            if value == self.left[place] or (self._are_left(left) and self._are_right(right)):
                self.left, self.right = left, right
                return


def _mixed(one: Choice, other: Choice, places: Sequence[int]) -> Choice:
    """One text with what another has in these places."""
    return replaced(one, {place: other[place] for place in places})

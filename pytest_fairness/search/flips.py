"""The search of one test: it screens pairs, repeats promising ones, shrinks them and confirms them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from pytest_fairness import FairnessError, ProbeItem, Prompt
from pytest_fairness.counterfactual import Value
from pytest_fairness.extending import Placebo, is_placebo, with_placebos
from pytest_fairness.search.decisions import (
    LOOKS,
    Ask,
    Decisions,
    SearchBudgetError,
    least_agreeing,
    most_frequent,
    p_value,
)
from pytest_fairness.search.space import (
    Choice,
    TextPair,
    TextSpace,
    Word,
    differences,
    differing_words,
    with_values,
)

SIGNIFICANCE = 0.01
"""The probability at most that a search reports a flip of a model that has none."""
_ROW = 12
"""Texts that are screened at once."""
_BASE = 2
_STAGES = (1, 3, LOOKS)
"""Repetitions of a promising text after each stage; up to a third of them may disagree."""
_IDLE = 10
"""Examples without a new word after which all words are tested again, where a strategy draws an unknown number."""
_RETRY = 0.6
_WORDINGS = 5
"""The most other wordings of a text that are asked."""
_SHRUNK_BY_HYPOTHESIS = 300
"""Pairs to which hypothesis may shrink a flip that was found: it is small already, so few suffice."""


@dataclass(frozen=True, slots=True)
class Flip:
    """A pair on which the decision flips repeatably. It is true in ``assert not flips(...)``."""

    left: Prompt
    right: Prompt
    differences: tuple[str, ...]
    """``hobby 'chess' -> 'boxing'``, for each slot."""
    decisions: tuple[Any, Any]
    counts: tuple[int, int]
    """Out of ``n`` fresh repetitions each, how often the left has its decision and the right another one."""
    n: int
    k: int
    """The least of both counts that is significant."""
    p_value: float
    """An upper bound, corrected for all confirmations that the search has tried."""
    calls: int
    """Calls of the search until the flip was confirmed."""
    placebo_flips: int = 0
    """The answers to other wordings of both texts that decide otherwise than the text."""
    placebo_answers: int = 0
    """The number of answers to other wordings; 0 without a placebo."""
    placebo_error: str = ""
    """The reason that other wordings could not be asked; the flip stays one."""

    def __str__(self) -> str:
        first, second = self.decisions
        return (
            f"{', '.join(self.differences)} flips {first!r} ({self.counts[0]} of {self.n}) to {second!r} "
            f"({self.counts[1]} of {self.n}), p <= {self.p_value:.2g}"
            + (
                f"; other wordings flip in {self.placebo_flips} of {self.placebo_answers}"
                if self.placebo_answers
                else ""
            )
            + (f"; other wordings were not asked: {self.placebo_error}" if self.placebo_error else "")
        )

    def __repr__(self) -> str:
        return f"<{self}>"


@dataclass(frozen=True, slots=True)
class _ConfirmedFlip:
    """A confirmed flip, with the pair on which it was found and the pair to which that was shrunk."""

    flip: Flip
    original: tuple[Choice, Choice]
    shrunk: tuple[Choice, Choice]

    def is_in(self, pair: TextPair) -> bool:
        """Return whether a pair lies between the two, as the pairs do to which hypothesis shrinks; it costs no call."""
        return any(
            all(
                _between((mine, yours), original, shrunk)
                for mine, yours, original, shrunk in zip(
                    pair.left, right, zip(*self.original, strict=True), zip(*self.shrunk, strict=True), strict=True
                )
            )
            for right in pair.rights
        )


def _between(values: tuple[Value, Value], original: tuple[Value, Value], shrunk: tuple[Value, Value]) -> bool:
    if shrunk[0] == shrunk[1]:
        return all(value in (*original, shrunk[0]) or _is_part(shrunk[0], value, (*original,)) for value in values)
    if values in (original, shrunk):
        return True
    return all(_is_part(small, value, (large,)) for small, value, large in zip(shrunk, values, original, strict=True))


def _is_part(small: Value, value: Value, large: tuple[Value, ...]) -> bool:
    """Return whether the words of a value contain those of one and are contained in those of another, in order."""
    return _has(value, small) and any(_has(one, value) for one in large)


def _has(value: Value, part: Value) -> bool:
    rest = iter(value.words)
    return all(word in rest for word in part.words)


class Search:
    """A search for a flip, pair by pair, within a budget of calls.

    A pair is screened with few repetitions, those with something untested first; once everything was, again, with one
    more. One that looks like a flip is asked more often, then shrunk, then confirmed: ``n`` repetitions of both texts
    that were not looked at before, of which at least k must agree on each side; if it is close, ``n`` more. The k
    follows from a significance of 1%, of which the first decision has a half, the next a quarter, and so on
    (`p_value`): however many pairs were screened, a model that decides alike on all texts, with independent
    repetitions, is reported with a probability of at most 1%.

    A ``placebo`` gives other wordings of a text: of up to five of each text of a flip that was found one decision is
    asked, which shows how often the decision flips without the difference.

    Raises `FairnessError` for an ``n`` that could confirm nothing, or fewer ``calls`` than a search needs.
    """

    def __init__(self, ask: Ask, *, n: int = 10, calls: int = 200, placebo: Placebo | None = None) -> None:
        least_agreeing(n, SIGNIFICANCE / 2)
        kept = 0 if placebo is None else 2 * _WORDINGS
        if calls < 6 * n + kept:
            raise FairnessError(f"calls is {calls}: a search with n={n} needs at least {6 * n + kept}")
        self._n = n
        self._placebo = placebo
        self._decisions = Decisions(ask, calls - kept, reserved=2 * n)
        self._tested: set[Word] = set()
        self._round = 1
        self._idle = 0
        self._spent_error = 0
        self._found: _ConfirmedFlip | None = None
        self._shown: set[tuple[Choice, ...]] = set()
        self._after = self._size = 0
        self.is_spent = False
        """Whether the search has used up its budget."""

    @property
    def calls(self) -> int:
        return self._decisions.calls

    @property
    def flip(self) -> Flip | None:
        """The flip that was found."""
        return self._found.flip if self._found else None

    def flips(self, pair: TextPair) -> Flip | None:
        """Return the flip that this pair shrinks to; None where none was found, or the budget is spent.

        After a flip was found the search makes no more calls, and only checks whether other pairs contain that flip.
        """
        if self._found is None and not self.is_spent:
            if self._placebo is not None and not self.calls:  # before the first call: test_invalid_search_is_reported
                self._reworded([pair.space.prompt(choice) for choice in (pair.left, *pair.rights)])
            try:
                self._look(pair)
            except SearchBudgetError:
                self.is_spent = True
            if self._found is not None:
                self._found = replace(self._found, flip=self._with_placebo(self._found.flip))
                self._show(pair)
        return self.flip if self._holds(pair) else None

    def _holds(self, pair: TextPair) -> bool:
        """Return whether a pair holds the flip that was found; hypothesis needs the same answer every time."""
        choices = (pair.left, *pair.rights)
        if self._found is None or choices in self._shown:
            return self._found is not None
        self._after += 1
        # Of drawn words, fewer: hypothesis would sort hundreds of them for minutes.
        is_smaller = pair.space.is_listed or pair.size < self._size
        if self._after > _SHRUNK_BY_HYPOTHESIS or not is_smaller or not self._found.is_in(pair):
            return False
        self._show(pair)
        return True

    def _show(self, pair: TextPair) -> None:
        self._shown.add((pair.left, *pair.rights))
        self._size = pair.size

    def _look(self, pair: TextPair) -> None:
        space, decisions = pair.space, self._decisions
        chosen = self._untested_texts(pair)
        if not chosen:
            return
        repetitions = [(choice, min(self._round, len(decisions.decisions_on(space, choice)) + 1)) for choice in chosen]
        decisions.look(space, [(pair.left, _BASE), *repetitions])
        for choice in chosen:
            self._tested |= differing_words(space, pair.left, choice)
            if self._look_different(space, pair.left, choice) and self._shrink_and_confirm(space, pair.left, choice):
                return

    def _untested_texts(self, pair: TextPair) -> list[Choice]:
        """Return those texts that differ from the first in a word that was not tested in this round yet."""
        new: list[Choice] = []
        tested = set(self._tested)
        for choice in pair.rights:
            words = differing_words(pair.space, pair.left, choice)
            if words - tested:
                new.append(choice)
                tested |= words
        self._idle = 0 if new else self._idle + 1
        if self._tested >= pair.space.words if pair.space.is_listed else self._idle >= _IDLE:
            self._round, self._tested, self._idle = self._round + 1, set(), 0
        return new[:_ROW]

    def _look_different(self, space: TextSpace, left: Choice, right: Choice) -> bool:
        """Return whether two texts still differ after more repetitions; stop once over a third of a side disagrees."""
        decisions = self._decisions
        for number in _STAGES:
            decisions.look(space, [(left, number), (right, number)])
            first, second = decisions.decisions_on(space, left), decisions.decisions_on(space, right)
            side = most_frequent(first)
            against = len(first) - first.count(side), sum(one is None or one == side for one in second)
            if side is None or against[1] == len(second):
                return False
            if number > 1 and (against[0] > len(first) / 3 or against[1] > len(second) / 3):
                return False
        return True

    def _shrink_and_confirm(self, space: TextSpace, left: Choice, right: Choice) -> bool:
        """Shrink a pair and confirm it; if the shrunk pair is not confirmed, try the original one."""
        shrinking = Shrinking(self._decisions, space, left, right)
        try:
            shrinking.shrink()
        except SearchBudgetError:
            self.is_spent = True
        original, shrunk = (left, right), (shrinking.left, shrinking.right)
        for pair in dict.fromkeys((shrunk, original)):
            # The shrunk pair is repeated as often as the original, since hypothesis replays it, if the budget suffices.
            looks_different = self.is_spent or self._look_different(space, *pair)
            if looks_different and (flip := self._confirm(space, *pair)):
                self._found = _ConfirmedFlip(flip, original, pair)
                return True
        return False

    def _confirm(self, space: TextSpace, left: Choice, right: Choice) -> Flip | None:
        """Return the flip, if enough of n fresh repetitions agree on both sides, or of twice as many if it is close."""
        side = most_frequent(self._decisions.decisions_on(space, left))
        first: list[Any] = []
        second: list[Any] = []
        for _ in range(2):
            fresh = self._decisions.fresh(space, (left, right), self._n)
            first, second = first + fresh[0], second + fresh[1]
            self._spent_error += 1
            counts = first.count(side), sum(one is not None and one != side for one in second)
            probability = p_value(min(counts), len(first)) * 2**self._spent_error
            if probability <= SIGNIFICANCE and 2 * min(counts) > len(first):
                decisions = side, most_frequent([one for one in second if one != side])
                changes = tuple(differences(space, left, right))
                prompts = space.prompt(left), space.prompt(right)
                k = least_agreeing(len(first), SIGNIFICANCE / 2**self._spent_error)
                return Flip(*prompts, changes, decisions, counts, len(first), k, probability, self.calls)
            if min(counts) < _RETRY * self._n:
                return None
        return None

    def _with_placebo(self, flip: Flip) -> Flip:
        """Return a flip with the answers to other wordings of its texts, counted; with the reason where it has none."""
        if self._placebo is None:
            return flip
        try:
            reworded = [
                (wording, decision)
                for wordings, decision in zip(self._reworded((flip.left, flip.right)), flip.decisions, strict=True)
                for wording in wordings[:_WORDINGS]
            ]
            answers = self._decisions.beyond([wording for wording, _ in reworded])
        except Exception as error:  # noqa: BLE001 - a user's function: test_flip_survives_an_error_of_its_placebo
            return replace(flip, placebo_error=str(error) or type(error).__name__)
        pairs = zip(answers, (decision for _, decision in reworded), strict=True)
        flips = [answer != decision for answer, decision in pairs if answer is not None]
        return replace(flip, placebo_flips=sum(flips), placebo_answers=len(flips))

    def _reworded(self, prompts: Sequence[Prompt]) -> list[list[Prompt]]:
        """Return the other wordings of each prompt.

        Raises:
            FairnessError: None of them has one, or one is no text.
        """
        assert self._placebo is not None  # noqa: S101 - the callers'
        items = with_placebos(
            [ProbeItem(f"text {number}", [prompt]) for number, prompt in enumerate(prompts)], self._placebo
        )
        return [[prompt for prompt in item.prompts if is_placebo(prompt)] for item in items]


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

"""What a model has decided so far, and when two decisions differ repeatably."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from math import comb
from typing import Any

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import Prompt
from pytest_fairness.search.space import Choice, Space

Ask = Callable[[Sequence[tuple[Prompt, int, int]]], Sequence[Sequence[Any]]]
"""Of each prompt, first repetition and number of repetitions: what was decided in each; None where nothing was."""


LOOKS = 6
"""Repetitions of a text, from 0 on, that the search looks at; later ones are kept to confirm what it has found."""


class SpentError(Exception):
    """The next question would go over the budget."""


class Decisions:
    """Asks, remembers, counts. What was asked is never asked again.

    Of the ``budget``, in calls, ``kept`` are for fresh repetitions only.
    """

    def __init__(self, ask: Ask, budget: int, kept: int) -> None:
        self.ask_model = ask
        self._said: dict[str, list[Any]] = {}
        self._taken: dict[str, int] = {}
        """Of each text, how many repetitions after the looks."""
        self._budget, self._kept = budget, kept
        self.calls = 0

    def look(self, space: Space, wanted: Iterable[tuple[Choice, int]]) -> None:
        """Have at least so many repetitions of each text, at most `LOOKS`, asking all that are missing at once.

        Raises `SpentError`, before anything is asked, where they are more than the budget has left.
        """
        missing: dict[str, tuple[Prompt, int, int]] = {}
        for choice, number in wanted:
            prompt = space.prompt(choice)
            known = len(self._said.get(prompt.text, ()))
            asked = missing.get(prompt.text, (prompt, known, 0))
            missing[prompt.text] = (prompt, known, max(asked[2], min(number, LOOKS) - known))
        asks = {text: ask for text, ask in missing.items() if ask[2] > 0}
        for text, said in zip(asks, self._ask(list(asks.values()), self._kept), strict=True):
            self._said.setdefault(text, []).extend(said)

    def said(self, space: Space, choice: Choice) -> list[Any]:
        """What was decided on a text when it was looked at, in the order of repetitions."""
        return self._said.get(space.prompt(choice).text, [])

    def fresh(self, space: Space, choices: Sequence[Choice], number: int) -> list[list[Any]]:
        """So many repetitions of each text that were never looked at. Raises `SpentError` as `look` does."""
        asks = []
        for prompt in map(space.prompt, choices):
            asks.append((prompt, LOOKS + self._taken.get(prompt.text, 0), number))
            self._taken[prompt.text] = self._taken.get(prompt.text, 0) + number
        return self._ask(asks)

    def _ask(self, asks: Sequence[tuple[Prompt, int, int]], kept: int = 0) -> list[list[Any]]:
        if not asks:
            return []
        number = sum(count for _, _, count in asks)
        if self.calls + number > self._budget - kept:
            raise SpentError
        self.calls += number
        found = [list(said) for said in self.ask_model(asks)]
        for (prompt, _, count), said in zip(asks, found, strict=True):
            if len(said) != count or not all(isinstance(one, Hashable) for one in said):
                raise FairnessError(f"{prompt.text!r:.60}: a decision must be one value for each repetition")
        return found


def usual(said: Sequence[Any]) -> Any:
    """The most frequent decision, the first of those that are equally frequent; None where nothing was decided."""
    counted = Counter(one for one in said if one is not None)
    return counted.most_common(1)[0][0] if counted else None


def p_value(k: int, n: int) -> float:
    """The probability at most that one side says the one thing at least k times of n, the other at least k times not.

    Of a model that decides on both alike, with independent repetitions: Pr(X >= k) Pr(Y <= n - k) for
    X, Y ~ Bin(n, p) is largest at p = 1/2, since a binomial tail is log-concave in p; there it is Pr(X >= k)^2.

    >>> round(p_value(8, 10), 5), round(p_value(9, 10), 6)
    (0.00299, 0.000115)
    """
    return float((sum(comb(n, number) for number in range(k, n + 1)) / 2**n) ** 2)


def needed(n: int, significance: float) -> int:
    """The fewest of n that both sides must have.

    >>> needed(10, 0.005), needed(10, 0.0025)
    (8, 9)

    Raises `FairnessError` where all n would not do.
    """
    for k in range(n // 2 + 1, n + 1):
        if p_value(k, n) <= significance:
            return k
    raise FairnessError(
        f"n is {n}: all of {n} on both sides do not come to a significance of {significance:.2g}: take more"
    )

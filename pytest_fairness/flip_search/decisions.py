"""The decisions of a model, and whether two of them differ repeatably."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from math import comb
from typing import Any

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import Prompt
from pytest_fairness.flip_search.space import Choice, TextSpace

Ask = Callable[[Sequence[tuple[Prompt, int, int]]], Sequence[Sequence[Any]]]
"""Decisions by prompt, first repetition and number of repetitions; one that could not be made is None."""


LOOKS = 6
"""Repetitions of a text, from 0 on, that the search looks at; later ones are kept to confirm what it has found."""


class SearchBudgetError(Exception):
    """The next question would go over the budget."""


class Decisions:
    """Decisions of a model on texts, counted and kept: no request is repeated.

    Of the ``budget``, in calls, ``kept`` are for fresh repetitions only.
    """

    def __init__(self, ask: Ask, budget: int, kept: int) -> None:
        self.ask_model = ask
        self._decisions: dict[str, list[Any]] = {}
        self._taken: dict[str, int] = {}
        """Of each text, how many repetitions after the looks."""
        self._budget, self._kept = budget, kept
        self.calls = 0

    def look(self, space: TextSpace, wanted: Iterable[tuple[Choice, int]]) -> None:
        """Have at least so many repetitions of each text, at most `LOOKS`, asking all that are missing at once.

        Raises `SearchBudgetError`, before anything is asked, where they are more than the budget has left.
        """
        missing: dict[str, tuple[Prompt, int, int]] = {}
        for choice, number in wanted:
            prompt = space.prompt(choice)
            held = len(self._decisions.get(prompt.text, ()))
            request = missing.get(prompt.text, (prompt, held, 0))
            missing[prompt.text] = (prompt, held, max(request[2], min(number, LOOKS) - held))
        asks = {text: ask for text, ask in missing.items() if ask[2] > 0}
        for text, decisions in zip(asks, self._ask(list(asks.values()), self._kept), strict=True):
            self._decisions.setdefault(text, []).extend(decisions)

    def decisions_on(self, space: TextSpace, choice: Choice) -> list[Any]:
        """Return what was decided on a text when it was looked at, in the order of repetitions."""
        return self._decisions.get(space.prompt(choice).text, [])

    def fresh(self, space: TextSpace, choices: Sequence[Choice], number: int) -> list[list[Any]]:
        """Return decisions of new repetitions of each text. Raises `SearchBudgetError` as `look` does."""
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
            raise SearchBudgetError
        self.calls += number
        results = [list(decisions) for decisions in self.ask_model(asks)]
        for (prompt, _, count), decisions in zip(asks, results, strict=True):
            if len(decisions) != count or not all(isinstance(one, Hashable) for one in decisions):
                raise FairnessError(f"{prompt.text!r:.60}: a decision must be one value for each repetition")
        return results


def usual(decisions: Sequence[Any]) -> Any:
    """Return the most frequent decision, the first of several; None where nothing was decided."""
    counted = Counter(one for one in decisions if one is not None)
    return counted.most_common(1)[0][0] if counted else None


def p_value(k: int, n: int) -> float:
    """Return a bound on the probability of k or more of n decisions on one side, and of k or more others on the other.

    For a model that decides on both alike, with independent repetitions: Pr(X >= k) Pr(Y <= n - k) for
    X, Y ~ Bin(n, p) is largest at p = 1/2, since a binomial tail is log-concave in p; there it is Pr(X >= k)^2.

    >>> round(p_value(8, 10), 5), round(p_value(9, 10), 6)
    (0.00299, 0.000115)
    """
    return float((sum(comb(n, number) for number in range(k, n + 1)) / 2**n) ** 2)


def needed(n: int, significance: float) -> int:
    """Return the fewest of n that both sides must have.

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

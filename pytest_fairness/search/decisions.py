"""The decisions of a model, and whether two of them differ repeatably."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from math import comb
from typing import Any

from pytest_fairness import FairnessError, Prompt
from pytest_fairness.search.space import Choice, TextSpace

Ask = Callable[[Sequence[tuple[Prompt, int, int]]], Sequence[Sequence[Any]]]
"""Decisions by prompt, first repetition and number of repetitions; one that could not be made is None."""


LOOKS = 6
"""Repetitions of a text, from 0 on, that the search uses; later ones are reserved for confirming a flip."""


class SearchBudgetError(Exception):
    """Raised where the next request would exceed the budget."""


class Decisions:
    """The decisions of a model that a search has requested; none is requested twice.

    Of the ``budget``, in calls, ``reserved`` ones are for fresh repetitions only.
    """

    def __init__(self, ask: Ask, budget: int, reserved: int) -> None:
        self._ask_model = ask
        self._decided: dict[str, list[Any]] = {}
        self._fresh_counts: dict[str, int] = {}
        """The number of fresh repetitions of each text."""
        self._budget, self._reserved = budget, reserved
        self.calls = 0

    def look(self, space: TextSpace, requested: Iterable[tuple[Choice, int]]) -> None:
        """Request the missing decisions, in one batch, so that each text has the wanted number, at most `LOOKS`.

        Raises `SearchBudgetError`, before any request, where the budget does not suffice.
        """
        missing: dict[str, tuple[Prompt, int, int]] = {}
        for choice, count in requested:
            prompt = space.prompt(choice)
            stored = len(self._decided.get(prompt.text, ()))
            request = missing.get(prompt.text, (prompt, stored, 0))
            missing[prompt.text] = (prompt, stored, max(request[2], min(count, LOOKS) - stored))
        requests = {text: request_ for text, request_ in missing.items() if request_[2] > 0}
        for text, decisions in zip(requests, self._ask(list(requests.values()), self._reserved), strict=True):
            self._decided.setdefault(text, []).extend(decisions)

    def decisions_on(self, space: TextSpace, choice: Choice) -> list[Any]:
        """Return the decisions on a text that the search has, in the order of repetitions."""
        return self._decided.get(space.prompt(choice).text, [])

    def fresh(self, space: TextSpace, choices: Sequence[Choice], number: int) -> list[list[Any]]:
        """Return decisions of new repetitions of each text. Raises `SearchBudgetError` as `look` does."""
        requests = []
        for prompt in map(space.prompt, choices):
            requests.append((prompt, LOOKS + self._fresh_counts.get(prompt.text, 0), number))
            self._fresh_counts[prompt.text] = self._fresh_counts.get(prompt.text, 0) + number
        return self._ask(requests)

    def beyond(self, prompts: Sequence[Prompt]) -> list[Any]:
        """Return one decision on each of these prompts, whatever the budget."""
        self.calls += len(prompts)
        self._budget += len(prompts)
        return [decision for (decision,) in self._ask_model([(prompt, 0, 1) for prompt in prompts])]

    def _ask(self, requests: Sequence[tuple[Prompt, int, int]], reserved: int = 0) -> list[list[Any]]:
        if not requests:
            return []
        number = sum(count for _, _, count in requests)
        if self.calls + number > self._budget - reserved:
            raise SearchBudgetError
        self.calls += number
        results = [list(decisions) for decisions in self._ask_model(requests)]
        for (prompt, _, count), decisions in zip(requests, results, strict=True):
            if len(decisions) != count or not all(isinstance(decision, Hashable) for decision in decisions):
                raise FairnessError(f"{prompt.text!r:.60}: a decision must be one value for each repetition")
        return results


def most_frequent(decisions: Sequence[Any]) -> Any:
    """Return the most frequent decision, of several the first; None where there is none."""
    counts = Counter(decision for decision in decisions if decision is not None)
    return counts.most_common(1)[0][0] if counts else None


def p_value(k: int, n: int) -> float:
    """Return a bound on the p-value of k of n equal decisions on one text, and k of n other ones on the second.

    The null hypothesis is a model that decides alike on both, with independent repetitions: Pr(X >= k) Pr(Y <= n - k)
    for X, Y ~ Bin(n, p) is largest at p = 1/2, since a binomial tail is log-concave in p; there it is Pr(X >= k)^2.

    >>> round(p_value(8, 10), 5), round(p_value(9, 10), 6)
    (0.00299, 0.000115)
    """
    return float((sum(comb(n, number) for number in range(k, n + 1)) / 2**n) ** 2)


def least_agreeing(n: int, significance: float) -> int:
    """Return the least number of n decisions on which the repetitions of each text must agree.

    >>> least_agreeing(10, 0.005), least_agreeing(10, 0.0025)
    (8, 9)

    Raises `FairnessError` where even all n are not significant.
    """
    for k in range(n // 2 + 1, n + 1):
        if p_value(k, n) <= significance:
            return k
    raise FairnessError(
        f"n is {n}: all of {n} on both sides do not come to a significance of {significance:.2g}: take more"
    )

"""A check that drawn answers agree with propensities of the same prompts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pytest_fairness.core.propensities import Propensities
from pytest_fairness.stats.columns import Floats

SIGNIFICANCE = 0.01
"""The share of checks of propensities and answers that do agree, of which a disagreement is reported."""
MOST_OUTSIDE = 0.10
"""The probability outside of the options over which a prompt does not show at which temperature answers are drawn."""
LEAST_VARIANCE = 5.0
"""The variance of the score of the temperature from which it is taken for normal."""


@dataclass(frozen=True, slots=True)
class PromptPair:
    """One prompt that was measured both ways."""

    groups: Mapping[str, str]
    """Its groups, from attribute to value."""
    propensities: Propensities
    """The probability of each value."""
    answers: Sequence[Any]
    """The value that each drawn answer was graded by, None where ungraded."""


@dataclass(frozen=True, slots=True)
class GroupAgreement:
    """One value in the prompts of one group, both ways."""

    attribute: str
    """The attribute that makes the group; empty for all prompts."""
    group: str
    """The group."""
    value: str
    """The value of the grade."""
    propensity: float
    """Its mean probability, over all drawn answers that there are."""
    outside: float
    """The mean probability outside of the options."""
    drawn: float
    """Its share of the drawn answers, the ungraded ones among them."""
    answers: int
    """The number of drawn answers."""
    p_value: float
    """The p-value of the one comparison, by the exact distribution; 1 at most."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """The comparison of drawn answers with propensities."""

    groups: Sequence[GroupAgreement]
    """The values in each group."""
    prompts: int
    """The number of prompts that were measured both ways."""
    p_value: float
    """The p-value of the whole check, corrected for its comparisons (Bonferroni); 1 at most."""
    sharpness: float
    """The score of the temperature in standard errors: above 0 where drawn answers are surer than the
    propensities; nan where the sample is too small for it."""

    @property
    def agrees(self) -> bool:
        """Return whether nothing speaks against it."""
        return self.p_value >= SIGNIFICANCE

    @property
    def worst(self) -> GroupAgreement:
        """The comparison with the smallest p-value."""
        return min(self.groups, key=lambda group: group.p_value)


def check_agreement(pairs: Sequence[PromptPair]) -> Agreement | None:
    """Return whether drawn answers can be draws from the propensities; None without prompts of both kinds.

    For each group and value, the number of drawn answers has a Poisson-binomial distribution, which is computed. What
    fell on no option may stand for any value: a number is held against the nearer end. The score test of the
    temperature finds answers that are drawn at another one, where the groups' means may well agree. Bonferroni over
    all.

    >>> pairs = [PromptPair({}, Propensities(((True, 0.5), (False, 0.5))), [n % 2 == 0]) for n in range(100)]
    >>> check_agreement(pairs).agrees
    True
    >>> check_agreement([PromptPair({}, pair.propensities, [True]) for pair in pairs]).agrees
    False

    Args:
        pairs: The prompts that were measured both ways; those without a drawn answer do not count.
    """
    pairs = [pair for pair in pairs if pair.answers]
    if not pairs:
        return None
    groups = [
        _group(attribute, group, value, of_group)
        for (attribute, group), of_group in _by_group(pairs).items()
        for value in _values(of_group)
    ]
    sharpness = _sharpness(pairs)
    p_values = [group.p_value for group in groups]
    if math.isfinite(sharpness):
        p_values.append(math.erfc(abs(sharpness) / math.sqrt(2)))  # two-sided, of a normal distribution
    return Agreement(groups, len(pairs), min(1.0, min(p_values) * len(p_values)), sharpness)


def _by_group(pairs: Sequence[PromptPair]) -> dict[tuple[str, str], list[PromptPair]]:
    """Return the prompts of each group; of prompts without groups all together."""
    grouped: dict[tuple[str, str], list[PromptPair]] = {}
    for pair in pairs:
        for key in pair.groups.items() or [("", "all")]:
            grouped.setdefault(key, []).append(pair)
    return dict(sorted(grouped.items()))


def _values(pairs: Iterable[PromptPair]) -> list[Any]:
    """Return the values that are compared; of true and false, which are each other's rest, true alone."""
    values = {str(value): value for pair in pairs for value, _ in pair.propensities.shares}
    return [True] if values.keys() == {"True", "False"} else [values[name] for name in sorted(values)]


def _group(attribute: str, group: str, value: Any, pairs: Sequence[PromptPair]) -> GroupAgreement:
    counts = np.array([len(pair.answers) for pair in pairs])
    shares = np.array([sum(share for own, share in pair.propensities.shares if _is(own, value)) for pair in pairs])
    outside = np.array([pair.propensities.outside for pair in pairs])
    seen = sum(_is(answer, value) for pair in pairs for answer in pair.answers)
    total = int(counts.sum())
    fewer = float(_distribution(shares, counts)[: seen + 1].sum())
    more = float(_distribution(np.minimum(shares + outside, 1.0), counts)[seen:].sum())
    return GroupAgreement(
        attribute,
        str(group),
        str(value),
        propensity=float(shares @ counts) / total,
        outside=float(outside @ counts) / total,
        drawn=seen / total,
        answers=total,
        p_value=min(1.0, 2 * max(min(fewer, more), 0.0)),
    )


def _is(answer: Any, value: Any) -> bool:
    return answer is not None and str(answer) == str(value)


def _distribution(shares: Floats, counts: Any) -> Floats:
    """Return the probabilities of 0, 1, ... successes in ``counts`` trials of each chance, shape (trials + 1,).

    The product of their generating functions, of half of them at a time.
    """
    factors = [np.array([1 - share, share]) for share, count in zip(shares, counts, strict=True) for _ in range(count)]
    while len(factors) > 1:
        pairs = zip(factors[::2], [*factors[1::2], np.ones(1)][: len(factors[::2])], strict=True)
        factors = [np.convolve(one, other) for one, other in pairs]
    return factors[0]


def _sharpness(pairs: Sequence[PromptPair]) -> float:
    """Return the score of the temperature at 1, in standard errors: for answers with a value in the list alone."""
    score = variance = 0.0
    for pair in pairs:
        graded = pair.propensities.graded
        logs = {str(value): math.log(share / graded) for value, share in pair.propensities.shares if share > 0}
        if pair.propensities.outside > MOST_OUTSIDE or len(logs) < 2:
            continue
        mean = sum(math.exp(log) * log for log in logs.values())
        own = sum(math.exp(log) * (log - mean) ** 2 for log in logs.values())
        drawn = [logs[str(answer)] for answer in pair.answers if str(answer) in logs]
        score += sum(log - mean for log in drawn)
        variance += len(drawn) * own
    return score / math.sqrt(variance) if variance >= LEAST_VARIANCE else math.nan

"""Agreement of sampled answers with propensities of the same prompts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pytest_fairness.core.agreement_results import GroupAgreementResult
from pytest_fairness.core.propensities import Propensities
from pytest_fairness.stats.columns import Floats

SIGNIFICANCE = 0.01
"""Probability of reporting a disagreement where answers are sampled from the propensities."""
MOST_OUTSIDE = 0.10
"""Largest probability outside of the options of a prompt that counts in the score test of the temperature."""
LEAST_VARIANCE = 5.0
"""Smallest variance of the temperature's score at which it is taken as normal."""


@dataclass(frozen=True, slots=True)
class PromptPair:
    """One prompt with propensities and sampled answers."""

    groups: Mapping[str, str]
    """Its groups, from attribute to value."""
    propensities: Propensities
    """The probability of each value."""
    answers: Sequence[Any]
    """The grade of each sampled answer; None where ungraded."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """The comparison of sampled answers with propensities."""

    groups: Sequence[GroupAgreementResult]
    """The values in each group."""
    p_values: Sequence[float]
    """The p-value of each, by the exact distribution; 1 at most."""
    prompts: int
    """The number of prompts with both."""
    p_value: float
    """The p-value of the whole check, corrected for its comparisons (Bonferroni); 1 at most."""
    sharpness: float
    """The score of the temperature in standard errors: above 0 where sampled answers vary less than the
    propensities; nan where the sample is too small for it."""

    @property
    def agrees(self) -> bool:
        """Whether no disagreement is significant."""
        return self.p_value >= SIGNIFICANCE

    @property
    def worst(self) -> GroupAgreementResult:
        """The comparison with the smallest p-value."""
        return self.groups[self.p_values.index(min(self.p_values))]


def check_agreement(pairs: Sequence[PromptPair]) -> Agreement | None:
    """Return whether sampled answers can be draws from the propensities; None without prompts that have both.

    For each group and value, the number of sampled answers has a Poisson-binomial distribution, which is computed
    exactly. Probability outside of the options could belong to any value, so the number is compared with the nearer
    end of what is possible. A score test of the temperature detects answers that are sampled at another one, even
    where the groups' means agree. The p-values are corrected for all comparisons (Bonferroni).

    >>> pairs = [PromptPair({}, Propensities(((True, 0.5), (False, 0.5))), [n % 2 == 0]) for n in range(100)]
    >>> check_agreement(pairs).agrees
    True
    >>> check_agreement([PromptPair({}, pair.propensities, [True]) for pair in pairs]).agrees
    False

    Args:
        pairs: The prompts; those without a sampled answer do not count.
    """
    pairs = [pair for pair in pairs if pair.answers]
    if not pairs:
        return None
    compared = [
        _compare_group(attribute, group, value, group_pairs)
        for (attribute, group), group_pairs in _by_group(pairs).items()
        for value in _values(group_pairs)
    ]
    groups, group_p_values = zip(*compared, strict=True)
    sharpness = _sharpness(pairs)
    p_values = [*group_p_values]
    if math.isfinite(sharpness):
        p_values.append(math.erfc(abs(sharpness) / math.sqrt(2)))  # two-sided, of a normal distribution
    return Agreement(groups, group_p_values, len(pairs), min(1.0, min(p_values) * len(p_values)), sharpness)


def _by_group(pairs: Sequence[PromptPair]) -> dict[tuple[str, str], list[PromptPair]]:
    """Return the prompts of each group; prompts without groups are one."""
    groups: dict[tuple[str, str], list[PromptPair]] = {}
    for pair in pairs:
        for key in pair.groups.items() or [("", "all")]:
            groups.setdefault(key, []).append(pair)
    return dict(sorted(groups.items()))


def _values(pairs: Iterable[PromptPair]) -> list[Any]:
    """Return the values to compare; of true and false, whose shares add up to 1, only true."""
    values = {str(value): value for pair in pairs for value, _ in pair.propensities.shares}
    return [True] if values.keys() == {"True", "False"} else [values[name] for name in sorted(values)]


def _compare_group(
    attribute: str, group: str, value: Any, pairs: Sequence[PromptPair]
) -> tuple[GroupAgreementResult, float]:
    """Return the propensity and the sampled share of a value, and the p-value of their equality."""
    counts = np.array([len(pair.answers) for pair in pairs])
    shares = np.array([sum(share for own, share in pair.propensities.shares if _equal(own, value)) for pair in pairs])
    outside = np.array([pair.propensities.outside for pair in pairs])
    observed = sum(_equal(answer, value) for pair in pairs for answer in pair.answers)
    total = int(counts.sum())
    at_most = float(_poisson_binomial(shares, counts)[: observed + 1].sum())
    at_least = float(_poisson_binomial(np.minimum(shares + outside, 1.0), counts)[observed:].sum())
    result = GroupAgreementResult(
        attribute=attribute,
        group=str(group),
        value=str(value),
        propensity=float(shares @ counts) / total,
        outside=float(outside @ counts) / total,
        drawn=observed / total,
        answers=total,
    )
    return result, min(1.0, 2 * max(min(at_most, at_least), 0.0))


def _equal(answer: Any, value: Any) -> bool:
    return answer is not None and str(answer) == str(value)


def _poisson_binomial(shares: Floats, counts: Any) -> Floats:
    """Return the probabilities of 0, 1, ... successes in ``counts`` trials of each share, shape (trials + 1,).

    They are the coefficients of the product of the trials' generating functions, which is taken pair by pair.
    """
    factors = [np.array([1 - share, share]) for share, count in zip(shares, counts, strict=True) for _ in range(count)]
    while len(factors) > 1:
        pairs = zip(factors[::2], [*factors[1::2], np.ones(1)][: len(factors[::2])], strict=True)
        factors = [np.convolve(*pair) for pair in pairs]
    return factors[0]


def _sharpness(pairs: Sequence[PromptPair]) -> float:
    """Return the score of the temperature at 1, in standard errors, from answers that are one of the options."""
    score = variance = 0.0
    for pair in pairs:
        graded = pair.propensities.graded
        logs = {str(value): math.log(share / graded) for value, share in pair.propensities.shares if share > 0}
        if pair.propensities.outside > MOST_OUTSIDE or len(logs) < 2:
            continue
        mean = sum(math.exp(log) * log for log in logs.values())
        answer_logs = [logs[str(answer)] for answer in pair.answers if str(answer) in logs]
        score += sum(log - mean for log in answer_logs)
        variance += len(answer_logs) * sum(math.exp(log) * (log - mean) ** 2 for log in logs.values())
    return score / math.sqrt(variance) if variance >= LEAST_VARIANCE else math.nan

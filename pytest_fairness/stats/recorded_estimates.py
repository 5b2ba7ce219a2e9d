"""Estimates that a threshold's test recorded and did not compare, and that lie outside its bounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_fairness.core.comparisons import Comparison, compare, key_of
from pytest_fairness.core.decisions import Decision, Verdict
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.significance import holm
from pytest_fairness.core.verdicts import Judgment
from pytest_fairness.stats.pvalues import p_unfair


def find_outside(judgment: Judgment) -> list[list[Comparison]]:
    """Return the recorded estimates that lie outside the bounds of a threshold, with their comparisons.

    A recorded estimate is held to the bounds of a compared one of the same kind, outcome and attribute, of another part
    of the sample or of other groups; to a bound on a size by its size. The claims are corrected for the number of
    recorded estimates by Holm's (1979) procedure. Declared slices are left out: they have a veto of their own.

    Args:
        judgment: The judgment of the threshold; of an unfair one, and of a mistake, nothing is returned.
    """
    if judgment.verdict is Verdict.UNFAIR or judgment.deciding is None:
        return []
    claims = list(_claims(judgment))
    p_values = [_p_value(comparisons) for comparisons in claims]
    return [
        comparisons
        for comparisons, p_value in zip(claims, holm(p_values), strict=True)
        if p_value <= _tail(comparisons[0].estimate)
    ]


def _claims(judgment: Judgment) -> Iterator[list[Comparison]]:
    """Yield the comparisons of each recorded estimate with the bounds of the compared one of its kind."""
    members = [member for comparison in judgment.comparisons for member in comparison.of_members()]
    compared: dict[str, dict[tuple[str, float], Comparison]] = {}
    for comparison in members:
        bounds = compared.setdefault(comparison.estimate.family_name, {})
        bounds.setdefault((comparison.op, comparison.bound), comparison)
    own = {key_of(member.estimate) for member in members}
    vetoes = {(part.by, part.value) for part in judgment.slices}
    for estimate in judgment.estimates:
        for family, bounds in compared.items():
            as_compared = _in_family(estimate, family)
            if as_compared is None or key_of(as_compared) in own or vetoes & set(as_compared.slice.items()):
                continue
            yield [compare(as_compared, op, bound) for op, bound in bounds]


def _in_family(estimate: Estimate, family: str) -> Estimate | None:
    """Return an estimate, or its size, that is of a family; None where neither is."""
    if estimate.family_name == family:
        return estimate
    size = abs(estimate)
    return size if size.family_name == family else None


def _p_value(comparisons: Sequence[Comparison]) -> float:
    """Return the p-value of the claim that an estimate lies outside a bound; 1 where its interval does not."""
    if not any(comparison.decision is Decision.FALSE for comparison in comparisons):
        return 1.0
    p_value = p_unfair(comparisons)
    return 1.0 if p_value is None else p_value


def _tail(estimate: Estimate) -> float:
    """Return the probability to err on either side of a claim of unfairness."""
    return estimate.strict_tail or (1 - estimate.confidence) / 2

"""How often a threshold errs on the answers that there are, under labels that make the truth known."""

from __future__ import annotations

import math
import re
import time
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_fairness.core.comparisons import Comparison
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.verdicts import Judgement, Verdict
from pytest_fairness.session.rehearsal import rehearse
from pytest_fairness.session.rows import finite

if TYPE_CHECKING:
    from pytest_fairness.stats.measured import Measured
    from pytest_fairness.stats.permutation import Permutations, Plant

DRAWS = 200
"""Samples for each truth, as far as the time allows."""
FEWEST_DRAWS = 20
SECONDS = 5.0
"""A threshold may take."""
BEYOND = 0.875
"""Of the bound's ratio: bias that a gate should not miss; 0.7 for a bound of 0.8."""
SURELY_MORE = 0.01
"""The probability of so many errors, or more, at which the promise counts as broken."""

_METRIC = re.compile(
    r"(?P<signs>(?:abs |minus )*)(?P<kind>ratio|worst_ratio|difference)\((?P<grade>.+); (?P<by>[^;:]+)(?:: .*)?\)"
)


@dataclass(frozen=True, slots=True)
class Truth:
    """What is true of a sample: its metric's value, and the bias that was planted to make it so."""

    value: float
    plant: Plant | None = None


def certificate(item: pytest.Function, stored: Measured, seed: int) -> dict[str, Any]:
    """What becomes of a threshold at parity, on its bound and beyond: shares of samples, as builtins.

    Raises `FairnessError` where nothing can be told: the threshold compares no groups, say.
    """
    from pytest_fairness.stats.permutation import Permutations

    judgement = rehearse(item, stored)
    known = judgement.dependence
    if judgement.mistake:
        raise FairnessError(judgement.mistake)
    judgement = replace(judgement, deciding=_of_groups(judgement))
    comparison = judgement.deciding
    assert comparison is not None  # noqa: S101 - `_of_groups` has found one
    permutations = Permutations(stored, within=sorted({name for e in judgement.estimates for name in e.slice}))
    truths, note = _truths(stored, judgement, comparison.estimate)
    counts, draws = _count(
        lambda sample: rehearse(item, sample, known).verdict, permutations, truths, _seeded(item, seed)
    )
    tail = (1 - comparison.estimate.confidence) / 2
    false = [counts["parity"][Verdict.UNFAIR], *([counts["bound"][Verdict.FAIR]] if "bound" in counts else [])]
    return {
        "metric": comparison.estimate.metric,
        "draws": draws,
        "promise": tail,
        "kept": all(_surely_more(count, draws, tail) >= SURELY_MORE for count in false),
        "note": note,
        "truths": {
            name: {
                "value": finite(truth.value),
                **{verdict.value: counts[name][verdict] / draws for verdict in Verdict},
                "planned": _planned(judgement, comparison.estimate, truth),
            }
            for name, truth in truths.items()
        },
    }


def _of_groups(judgement: Judgement) -> Comparison:
    """The comparison of groups that decides, or else the first. Raises `FairnessError` where there is none."""
    if not judgement.comparisons:
        raise FairnessError(judgement.reason or "it compares nothing")
    candidates = [*([judgement.deciding] if judgement.deciding else []), *judgement.comparisons]
    for comparison in candidates:
        if len(comparison.estimate.groups) > 1:
            return comparison
    raise FairnessError("it compares no groups")


def _truths(stored: Measured, judgement: Judgement, estimate: Estimate) -> tuple[dict[str, Truth], str]:
    """Parity; where bias can be planted, the bound and beyond it; else why it cannot."""
    from pytest_fairness.stats.permutation import Plant, can_be_thinned

    parsed = _METRIC.fullmatch(estimate.metric)
    if parsed is None:
        return {"parity": Truth(math.nan)}, "no bias is planted: its metric is none of two groups"
    grade, by = parsed["grade"], parsed["by"]
    is_ratio = parsed["kind"] != "difference"
    parity = {"parity": Truth(1.0 if is_ratio else 0.0)}
    if not can_be_thinned(stored, grade):
        return parity, f"no bias is planted: {grade} is no grade of true and false"
    first, second = list(estimate.groups)[:2]
    low, high = _signed(parsed["signs"], *judgement.bounds)
    if is_ratio:
        planted = _ratios(low, high)
    else:
        planted = _differences(low, high, stored.where(**{by: (first, second)}).mean(grade).value)
    if planted is None:
        return parity, "no bias is planted: no group's share of positives can be lowered to a bound"
    names = ("bound", "beyond")
    return parity | {
        name: Truth(value, Plant(grade, by, first if of_first else second, keep))
        for name, (value, keep, of_first) in zip(names, planted, strict=False)
    }, ""


def _signed(signs: str, low: float | None, high: float | None) -> tuple[float | None, float | None]:
    """Bounds of the metric itself, from those of its size or its negative."""
    for sign in reversed(signs.split()):
        if sign == "minus":
            low, high = None if high is None else -high, None if low is None else -low
        elif high is not None:
            low = -high
    return low, high


Planted = list[tuple[float, float, bool]]
"""Each with the metric's true value, the share of positives that is kept, and whether the first group loses them."""


def _ratios(low: float | None, high: float | None) -> Planted | None:
    if low is not None and 0 < low < 1:
        return [(low, low, True), (low * BEYOND, low * BEYOND, True)]
    if high is not None and high > 1:
        return [(high, 1 / high, False), (high / BEYOND, BEYOND / high, False)]
    return None


def _differences(low: float | None, high: float | None, rate: float) -> Planted | None:
    """A gap on the bound, and one half as large again, taken from a group with this rate."""
    bound, of_first = (low, True) if low is not None and low < 0 else (high, False)
    if bound is None or bound == 0 or (bound < 0) != of_first:
        return None
    gaps = [gap for gap in (bound, 1.5 * bound) if abs(gap) < rate]
    return [(gap, 1 - abs(gap) / rate, of_first) for gap in gaps] or None


def _count(
    verdict: Callable[[Measured], Verdict], permutations: Permutations, truths: dict[str, Truth], seed: Sequence[int]
) -> tuple[dict[str, Counter[Verdict]], int]:
    """The verdicts on samples of each truth, and how many there were."""
    import numpy as np

    generator = np.random.default_rng(list(seed))
    counts = {name: Counter[Verdict]() for name in truths}
    until = time.monotonic() + SECONDS
    for done in range(1, DRAWS + 1):
        for name, truth in truths.items():
            counts[name][verdict(permutations.draw(generator, truth.plant))] += 1
        if done >= FEWEST_DRAWS and time.monotonic() > until:
            break
    return counts, done


def _seeded(item: pytest.Function, seed: int) -> Sequence[int]:
    return seed, zlib.crc32(item.nodeid.encode())


def _planned(judgement: Judgement, estimate: Estimate, truth: Truth) -> dict[str, float] | None:
    """What the plan predicts of runs of this size with that truth; None where there is no error to predict from."""
    from pytest_fairness.stats.planning import probabilities

    bounds: tuple[float | None, float | None] = judgement.bounds
    value, error = truth.value, estimate.error
    if math.isnan(value) or not error > 0 or not math.isfinite(error):
        return None
    is_ratio = estimate.metric.startswith(("ratio", "worst_ratio"))
    if is_ratio:
        value, error = math.log(value), error / estimate.value
        low, high = (None if bound is None or bound <= 0 else math.log(bound) for bound in bounds)
        bounds = low, high
    elif estimate.metric.startswith("abs "):
        bounds = _signed("abs", *bounds)
    elif estimate.metric.startswith("minus "):
        value = -value
    error *= _growth(list(estimate.groups.values()), truth.plant, log=is_ratio)
    fair, unfair, undecided = probabilities(value, error, estimate.df, bounds, (1 - estimate.confidence) / 2)
    return {"fair": fair, "unfair": unfair, "undecided": undecided}


def _growth(rates: Sequence[float], plant: Plant | None, *, log: bool) -> float:
    """By how much an error grows where both groups have their mean rate, and one then loses positives.

    By the binomial variances of the two rates, or of their logarithms: what is rarer is less well known.
    """

    def variance(rate: float) -> float:
        return (1 - rate) / rate if log else rate * (1 - rate)

    mean = sum(rates) / len(rates)
    if plant is None or not all(0 < rate < 1 for rate in rates):
        return 1.0
    now = variance(rates[0]) + variance(rates[1])
    return math.sqrt((variance(mean * plant.keep) + variance(mean)) / now)


def _surely_more(count: int, draws: int, share: float) -> float:
    """The probability of so many errors or more, were each draw to err with probability ``share``."""
    fewer = sum(math.comb(draws, k) * share**k * (1 - share) ** (draws - k) for k in range(count))
    return 1 - fewer

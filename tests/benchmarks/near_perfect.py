"""Rates at which a bias on its bound is called fair that few sources show, by the intervals of rare deviations.

    python tests/benchmarks/near_perfect.py --runs 2000

Nearly all sources have a bias of 0. Some share of them deviates, by so much on average that the bias is the bound, and
calling that fair breaks the promise: at most 2.5%. The kinds tell how far each of these deviates, and whether it counts
for less, as where a question is not answered. The exact end is the upper one of `RareDeviations`, which must not lie
below the bound in more than 2.5% by itself; it is used where fewer than three sources deviate, effectively. Beside it:
the verdict on a model without bias, but for one source that deviates as the first of the kind.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from pytest_fairness.stats.measured import Measured
from pytest_fairness.stats.rare_deviations import RareDeviations

ANSWERS = 4
"""Number of answers about each source."""
UNANSWERED = 0.1
"""Grade of an answer that has no weight; all others are -1, 0 and 1."""
Kind = dict[tuple[float, ...], float]
"""Grades of the answers about a source that deviates, with the share of these sources that have them."""
KINDS: dict[str, Kind] = {
    "all answers": {(1, 1, 1, 1): 1.0},
    "one answer": {(1, 0, 0, 0): 1.0},
    "half of them, or one": {(1, 1, 0, 0): 0.3, (1, 0, 0, 0): 0.7},
    "seldom all, else one": {(1, 1, 1, 1): 0.1, (1, 0, 0, 0): 0.9},
    "hardly ever all, else one": {(1, 1, 1, 1): 0.03, (1, 0, 0, 0): 0.97},
    "both sides": {(1, 1, 1, 1): 0.7, (-1, 0, 0, 0): 0.3},
    "one of two answered": {(1, 0, UNANSWERED, UNANSWERED): 0.5, (1, 1, 1, 1): 0.5},
    "only one answered": {(1, UNANSWERED, UNANSWERED, UNANSWERED): 1.0},
}


def share_of(kind: Kind, bound: float) -> float:
    """Return the share of the sources that deviate at which the bias is the bound; above 1 where none is enough."""
    grades, chances = np.array(list(kind)), np.array(list(kind.values()))
    biased = float(chances @ np.where(grades == UNANSWERED, 0, grades).sum(axis=1))
    weighed = float(chances @ (grades != UNANSWERED).sum(axis=1))
    return bound * ANSWERS / (biased + bound * (ANSWERS - weighed))


def bias(sources: int, deviating: list[tuple[float, ...]]) -> Any:
    """Return the estimated bias of a sample."""
    grades = [*deviating, *[(0,) * ANSWERS] * (sources - len(deviating))]
    rows = [{"item": number, "lean": grade} for number, answers in enumerate(grades) for grade in answers]
    measured = Measured.from_rows(rows, item="item", groups=[], extremes={"lean": lambda _: (-1, 1)})
    return measured.metric(lambda s: s.biased / s.weighed, span=(-1, 1), biased=_lean, weighed=_is_answered)


def _lean(attempt: Any) -> float:
    return float(attempt["lean"]) if _is_answered(attempt) else 0.0


def _is_answered(attempt: Any) -> bool:
    return bool(attempt["lean"] != UNANSWERED)


def error_rates(kind: Kind, sources: int, bound: float, runs: int, seed: int) -> tuple[float, float]:
    """Return the share of samples called fair on the bound, and of those whose exact end alone lies below it."""
    generator, errors_by_counts = np.random.default_rng(seed), {}
    grades, chances, share = list(kind), list(kind.values()), share_of(kind, bound)
    errors = np.zeros(2)
    for _ in range(runs):
        counts = tuple(generator.multinomial(generator.binomial(sources, share), chances).tolist())
        if counts not in errors_by_counts:
            deviating = [answers for answers, count in zip(grades, counts, strict=True) for _ in range(count)]
            estimate = bias(sources, deviating)
            is_fair = not estimate.invalid and abs(estimate).decide("<=", bound).value == "fair"
            errors_by_counts[counts] = is_fair, exact_end(sources, deviating) < bound
        errors += errors_by_counts[counts]
    return float(errors[0]) / runs, float(errors[1]) / runs


def exact_end(sources: int, deviating: list[tuple[float, ...]]) -> float:
    """Return the upper end of rare deviations, however many there are."""
    answered = [[grade for grade in answers if grade != UNANSWERED] for answers in deviating]
    distances = np.array([*map(np.mean, answered), -1.0, 1.0])
    weights = np.array([*(len(grades) / ANSWERS for grades in answered), 1.0, 1.0])
    return RareDeviations(0.0, sources - len(deviating), distances, weights).ends(0.025)[1]


def main() -> None:
    """Print the rates, one kind, number of sources and bound a line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    print(f"{'kind':<28}{'sources':>8}{'bound':>7}{'false fair':>12}{'exact end':>11}  one source")
    for name, kind in KINDS.items():
        for sources in (66, 132):
            for bound in (0.05, 0.15):
                if share_of(kind, bound) > 0.5:
                    continue
                fair, exact = error_rates(kind, sources, bound, arguments.runs, arguments.seed)
                one = abs(bias(sources, [next(iter(kind))])).decide("<=", bound).value
                print(f"{name:<28}{sources:>8}{bound:>7}{fair:>12.2%}{exact:>11.2%}  {one}", flush=True)


if __name__ == "__main__":
    main()

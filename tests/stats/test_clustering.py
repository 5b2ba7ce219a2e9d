"""Attributes by which attempts vary together, and those whose values differ by design."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_fairness import Answer, Attempt, Grade, GradedAttempt, Measured, ProbeItem, Prompt
from pytest_fairness.stats.clustering import find_alike

SOURCES, VARIANTS = 20, 60


def sample(seed: int, *, spread: float, polarity: float, matching: float = 0.0) -> Measured:
    """Return attempts at variants of each source.

    Args:
        seed: Of what is drawn.
        spread: The standard deviation of the variants' own effects on the chance of a hit.
        polarity: The difference between the two polarities, of which each variant has one.
        matching: The same of what a variant matches, of which it has one of three values.
    """
    random = np.random.default_rng(seed)
    effects = random.normal(0, spread, VARIANTS)
    attempts = []
    for source in range(SOURCES):
        for variant in range(VARIANTS):
            sign, match = variant % 2, variant // 2 % 3
            chance = 0.5 + effects[variant] + polarity * (sign - 0.5) + matching * (match - 1)
            name = f"{source}-{variant}"
            metadata = {"variant": f"v{variant}", "polarity": f"p{sign}", "match": f"m{match}"}
            item = ProbeItem(name, [Prompt(name)], f"s{source}", metadata)
            hit = bool(random.random() < np.clip(chance, 0.02, 0.98))
            attempts.append(GradedAttempt(item, item.prompts[0], Attempt(name, 0, Answer("")), {"hit": Grade(hit)}))
    return Measured(attempts)


def factors_of(measured: Measured) -> list[str]:
    return [alike.attribute for alike in find_alike(measured, lambda drawn: drawn.rate("hit").error)]


@pytest.mark.parametrize(("polarity", "matching"), [(0.9, 0.0), (0.0, 0.4), (0.5, 0.2)])
def test_variants_that_differ_by_design_only_are_not_named(polarity: float, matching: float) -> None:
    findings = [factors_of(sample(seed, spread=0.0, polarity=polarity, matching=matching)) for seed in range(15)]
    assert sum(map(bool, findings)) <= 1


def test_variants_that_vary_together_are_named() -> None:
    assert factors_of(sample(0, spread=0.3, polarity=0.0)) == ["variant"]


@pytest.mark.slow
def test_variants_with_effects_of_their_own_are_named_in_spite_of_a_design() -> None:
    alone = [factors_of(sample(seed, spread=0.3, polarity=0.0)) for seed in range(10)]
    with_design = [factors_of(sample(seed, spread=0.3, polarity=0.3)) for seed in range(10)]
    assert alone.count(["variant"]) >= 8
    assert with_design.count(["variant"]) >= 8

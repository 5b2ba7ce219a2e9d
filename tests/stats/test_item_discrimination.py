"""Items that discriminate negatively between models."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.stats.item_discrimination import item_discrimination


def scores(models: int = 9, items: int = 120, seed: int = 0) -> np.ndarray:
    """Return right and wrong answers of models of rising skill."""
    generator = np.random.default_rng(seed)
    skill = np.linspace(-2, 2, models)[:, np.newaxis]
    return (generator.random((models, items)) < 1 / (1 + np.exp(-skill))).astype(float)


def test_reversed_items_are_listed_first() -> None:
    answered = scores()
    answered[:, [3, 50]] = (np.arange(9) < 4)[:, np.newaxis]
    assert set(item_discrimination(answered).negative[:2].tolist()) == {3, 50}


def test_random_answers_list_as_many_items_as_expected() -> None:
    listed = expected = 0.0
    for seed in range(20):
        discrimination = item_discrimination(np.random.default_rng(seed).integers(0, 2, (6, 100)).astype(float))
        listed, expected = listed + len(discrimination.negative), expected + discrimination.by_chance
    assert listed == pytest.approx(expected, rel=0.3)
    assert expected > 20


def test_items_without_variation_are_not_listed() -> None:
    answered = scores()
    answered[:, 0] = 1
    discrimination = item_discrimination(answered)
    assert np.isnan(discrimination.correlations[0])
    assert 0 not in discrimination.negative


@pytest.mark.parametrize("shape", [(4, 50), (5, 1), (5, 0)])
def test_too_few_models_or_items_are_refused(shape: tuple[int, int]) -> None:
    with pytest.raises(FairnessError, match="with at least 5 models and 2 items"):
        item_discrimination(np.zeros(shape))

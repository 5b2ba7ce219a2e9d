"""Item discrimination: whether models with high scores on other items have high scores on an item, too.

The corrected item-total correlation (Henrysson 1963, Psychometrika 28, 211-218) is that of the models' scores on the
item with their means over all other items. Well below zero, the item measures something else: its label is wrong, its
grader misreads answers, or it is a trick question.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from math import factorial

import numpy as np
import numpy.typing as npt

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.formatting import counted
from pytest_fairness.stats.columns import Floats

FEWEST_MODELS = 5
"""Smallest number of models."""
MOST_ORDERS = 5_040
"""Largest number of permutations of the models: all of seven models, else as many drawn at random."""
LEVEL = 0.05
"""Largest p-value at which an item is listed."""


@dataclass(frozen=True, slots=True)
class ItemDiscrimination:
    """The correlation of each item's scores with the models' means over the other items."""

    correlations: Floats
    """One per item, from -1 to 1; nan for an item on which all models have the same score."""
    p_values: Floats
    """Share of the permutations of models with a correlation as low or lower; nan for the same items."""
    by_chance: float
    """The expected number of items that would be listed if scores on different items were independent."""

    @property
    def negative(self) -> npt.NDArray[np.int64]:
        """The indices of the items that discriminate negatively, the most negative first."""
        with np.errstate(invalid="ignore"):
            listed = np.flatnonzero((self.correlations < 0) & (self.p_values <= LEVEL))
        return listed[np.argsort(self.correlations[listed], kind="stable")]


def item_discrimination(scores: Floats) -> ItemDiscrimination:
    """Return how items discriminate between models.

    Args:
        scores: Mean grade of each model on each item, shape (models, items), none nan.

    Returns:
        Correlations and one-sided p-values by permutation of the models.

    Raises:
        FairnessError: There are fewer than 5 models or 2 items.

    >>> skill = np.linspace(0.1, 0.9, 8)[:, None]
    >>> scores = np.hstack([np.repeat(skill, 5, axis=1), 1 - skill])
    >>> item_discrimination(scores).negative.tolist()
    [5]
    """
    models, items = scores.shape
    if models < FEWEST_MODELS or items < 2:
        raise FairnessError(
            f"{counted(items, 'item')} and {counted(models, 'model')}, which answered all of them: "
            f"how items discriminate shows with at least {FEWEST_MODELS} models and 2 items"
        )
    others = (scores.sum(axis=1, keepdims=True) - scores) / (items - 1)
    scores, others = _standardize(scores), _standardize(others)
    correlations = (scores * others).mean(axis=0)
    if factorial(models) <= MOST_ORDERS:
        orders = np.array(list(permutations(range(models))))
    else:
        generator = np.random.default_rng(0)
        orders = np.array([np.arange(models), *(generator.permutation(models) for _ in range(MOST_ORDERS - 1))])
    p_values, by_chance = np.full(items, np.nan), 0.0
    for item in np.flatnonzero(np.isfinite(correlations)):
        permuted = np.sort(scores[orders, item] @ others[:, item] / models)
        p_values[item] = np.searchsorted(permuted, correlations[item] + 1e-9, side="right") / len(permuted)
        permuted_p_values = np.searchsorted(permuted, permuted + 1e-9, side="right") / len(permuted)
        by_chance += float(np.mean((permuted_p_values <= LEVEL) & (permuted < 0)))
    return ItemDiscrimination(correlations, p_values, by_chance)


def _standardize(scores: Floats) -> Floats:
    """Return scores with mean 0 and variance 1 over models; nan where they do not vary."""
    centered = scores - scores.mean(axis=0)
    spread = centered.std(axis=0)
    standardized: Floats = np.divide(centered, spread, out=np.full_like(centered, np.nan), where=spread > 1e-12)
    return standardized

"""Error rates and widths that guards of scores buy, by small seeded simulations."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_fairness.stats.clusters import ClusterSums
from pytest_fairness.stats.columns import Clustering, Floats
from pytest_fairness.stats.contrasts import contrast
from pytest_fairness.stats.crossed_effects import ItemEffect

TAIL = 0.025


def log_normal(generator: np.random.Generator, clusters: int) -> Floats:
    """Return log-normal scores far from both ends of a span of 0 to 45, whose mean is `LOG_NORMAL_MEAN`."""
    scores: Floats = 5 + np.minimum(np.exp(generator.standard_normal(clusters)), 40)
    return scores


LOG_NORMAL_MEAN = 6.646


def sums(values: Floats, span: tuple[float, float]) -> ClusterSums:
    return ClusterSums(values, [Clustering(np.arange(len(values)), len(values))], span)


def test_mean_of_few_skewed_scores_is_seldom_too_low() -> None:
    """Draw 12 log-normal scores: with ends by the farthest of them, 4.4% of upper ends lie below the mean."""
    generator = np.random.default_rng(0)
    means = [contrast([sums(log_normal(generator, 12), (0, 45))]) for _ in range(400)]
    assert np.mean([mean.ends(TAIL)[1] < LOG_NORMAL_MEAN for mean in means]) <= TAIL


@pytest.mark.parametrize("clusters", [9, 20])
def test_skewed_scores_against_tight_ones_seldom_differ_too_much(clusters: int) -> None:
    """Compare log-normal scores with as many alike: without an unseen share, 5% of upper ends lie below the truth."""
    generator, errors = np.random.default_rng(0), 0
    for _ in range(400):
        tight = 6.6 + 0.05 * generator.standard_normal(clusters)
        difference = contrast([sums(log_normal(generator, clusters), (0, 45)), sums(tight, (0, 45))], (1, -1))
        errors += difference.ends(TAIL)[1] < LOG_NORMAL_MEAN - 6.6
    assert errors / 400 <= TAIL


def test_unseen_scores_lie_within_their_span() -> None:
    """Compare ratings from 1 to 5: twice the farthest cluster would be a rating of 7."""
    generator = np.random.default_rng(0)
    ratings = [generator.choice([1.0, 2, 3, 4, 5], 20, p=[0.1, 0.2, 0.4, 0.2, 0.1]) for _ in range(2)]
    difference = contrast([sums(values, (1, 5)) for values in ratings], (1, -1))
    share = 1 - TAIL ** (1 / 20)
    farthest = max(abs(end - values.mean()) for values in ratings for end in (1, 5))
    reach = 2.1 * float(np.sqrt(sum(values.var(ddof=1) / 20 for values in ratings)))
    low, high = difference.ends(TAIL)
    assert high - low <= 2 * max(share * farthest, reach) + 0.1


def test_items_of_a_source_bound_an_unseen_harm() -> None:
    """Take 40 sources of 5 items near an end: the unseen share is that of the items, as a harm may be to one."""
    scores = np.random.default_rng(0).uniform(0.04, 0.08, 200)
    sources = Clustering(np.arange(200) // 5, 40)
    mean = contrast([ClusterSums(scores, [sources], (0, 1), items=Clustering(np.arange(200), 200))])
    of_sources = 1 - TAIL ** (1 / 40)
    assert mean.ends(TAIL)[1] < mean.value + 0.5 * of_sources


@pytest.mark.parametrize(
    ("names", "level", "least", "most"), [(7, 0.5, 0.36, 1), (8, 0.5, 0, 0.3), (35, 0.05, 0, 0.12), (20, 0.05, 0.15, 1)]
)
def test_few_names_may_hide_a_harm(names: int, level: float, least: float, most: float) -> None:
    """Give each name of a group scores of its own: seven show no sign, and 30 near an end are bounded by the error."""
    generator = np.random.default_rng(0)
    item, name = np.indices((80, names)).reshape(2, -1)
    effect = ItemEffect(np.zeros(len(item)), np.full(len(item), 0.5))
    parts = []
    for group in range(2):
        noise = 0.04 * generator.standard_normal(names)[name] + 0.02 * generator.standard_normal(len(item))
        codes = [item, name + names * group, item * 2 * names + name + names * group]
        clusterings = [Clustering(code, size) for code, size in zip(codes, [80, 2 * names, 160 * names], strict=True)]
        parts.append(ClusterSums(np.clip(level + noise, 0, 1), clusterings, (0, 1), item_effect=effect))
    low, high = contrast(parts, (1, -1)).ends(TAIL)
    assert least < high - low < most

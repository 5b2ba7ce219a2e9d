"""Samples whose true mean is a bound."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fairness.core.attempts import Attempt, Grade, GradedAttempt
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.stats.pilot_samples import SourcePool
from pytest_fairness.stats.tilted_resampling import Tilt, tilted_probabilities


def supply(values: list[float], repetitions: int = 2) -> tuple[SourcePool, np.ndarray]:
    """Return a pool of items with these values, each attempt of an item alike."""
    items = [ProbeItem(f"item {n:03}", [Prompt(f"{n}")]) for n in range(len(values))]
    attempts = [
        GradedAttempt(item, item.prompts[0], Attempt(f"{item.id}/{r}", r), {"harm": Grade(value)})
        for item, value in zip(items, values, strict=True)
        for r in range(repetitions)
    ]
    return SourcePool(attempts, repetitions, {}, {}), np.repeat(values, repetitions)


@settings(deadline=None, derandomize=True, database=None)
@given(
    values=st.lists(st.floats(0, 1), min_size=3, max_size=30).filter(lambda v: max(v) - min(v) > 0.05),
    share=st.floats(0.1, 0.9),
)
def test_tilted_weights_have_the_requested_mean(values: list[float], share: float) -> None:
    array = np.array(values)
    mean = array.min() + share * (array.max() - array.min())
    counts = np.arange(1, len(array) + 1)
    chances = tilted_probabilities(array * counts, counts.astype(float), mean)
    assert chances.sum() == pytest.approx(1)
    assert chances @ (array * counts) / (chances @ counts) == pytest.approx(mean, abs=1e-6)
    # None that lies nearer to that mean than another on its side has the smaller share of a far one.
    beyond = (array - mean) * counts
    order = np.argsort(beyond)
    ratios = np.diff(chances[order])
    assert np.all(ratios >= -1e-12) or np.all(ratios <= 1e-12)


def test_samples_have_the_requested_mean() -> None:
    whole, values = supply([0.0] * 80 + [1.0] * 20)
    tilt = Tilt(whole, values, 0.3)
    generator = np.random.default_rng(1)
    drawn = [tilt.draw(generator).rate("harm") for _ in range(300)]
    assert {(sample.items, sample.attempts) for sample in drawn} == {(100, 200)}
    assert np.mean([sample.value for sample in drawn]) == pytest.approx(0.3, abs=3 * np.sqrt(0.21 / 100 / 300))


def test_unreachable_mean_is_refused() -> None:
    whole, values = supply([0.0] * 98 + [0.5] * 2)
    with pytest.raises(FairnessError, match=r"no cluster lies above a mean of 0\.6"):
        Tilt(whole, values, 0.6)
    with pytest.raises(FairnessError, match=r"no cluster lies below a mean of -0\.1"):
        Tilt(whole, values, -0.1)
    with pytest.raises(FairnessError, match="of 100 clusters bear on it, and 5 are needed"):
        Tilt(whole, values, 0.45)
    few, ones = supply([0.0] * 98 + [1.0] * 2)
    # Each of two has a probability of 0.45.
    with pytest.raises(FairnessError, match=f"{1 / (2 * 0.45**2 + 0.1**2 / 98):.1f} of 100 clusters"):
        Tilt(few, ones, 0.9)

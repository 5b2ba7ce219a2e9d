"""Samples that are adjusted by the answers of earlier models to all items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness.core.attempts import Attempt, Grade, GradedAttempt
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.stats.measured import Measured
from tests.helpers.examples import examples

ITEMS, SAMPLE = 400, 120


@cache
def probe_item(number: int, sources: int) -> ProbeItem:
    """Return an item that asks about a woman and about a man."""
    prompts = [Prompt(f"{gender} {number}", {"gender": gender}) for gender in "fm"]
    source = f"source {number % sources}" if sources else None
    return ProbeItem(f"item {number}", prompts, source, {"half": "first" if number % 2 else "second"})


def attempts(model: str, hired: np.ndarray, items: Sequence[int], *, sources: int = 0) -> list[GradedAttempt]:
    """Return the answers of a model, shape (items, 2): to a woman and to a man."""
    return [
        GradedAttempt(
            probe_item(number, sources), prompt, Attempt(f"{model} {prompt.text}", 0), {"hired": Grade(value)}
        )
        for number in items
        for prompt, value in zip(probe_item(number, sources).prompts, hired[number].tolist(), strict=True)
    ]


def answers(seed: int = 0, differing: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    """Return answers of a model and of an earlier one, which differ at random."""
    generator = np.random.default_rng(seed)
    earlier = np.repeat(generator.random((ITEMS, 1)) < 0.5, 2, axis=1)
    flips = generator.random((ITEMS, 2)) < differing
    return earlier ^ flips, earlier


def samples(seed: int = 0, differing: float = 0.1, *, sources: int = 0) -> tuple[Measured, Measured]:
    """Return a sample alone, and with the history of an earlier model."""
    ours, earlier = answers(seed, differing)
    drawn = np.random.default_rng([seed, 1]).permutation(ITEMS)[:SAMPLE].tolist()
    own = attempts("new", ours, drawn, sources=sources)
    history = attempts("old", earlier, range(ITEMS), sources=sources)
    return Measured(own), Measured(own, history=history)


def width(estimate: Estimate) -> float:
    return estimate.high - estimate.low


def biased(sums: Any) -> float:
    return sums.hired / sums.all - 0.5  # type: ignore[no-any-return]


def metric(measured: Measured) -> Estimate:
    return measured.metric(biased, span=(-0.5, 0.5), hired="hired", all=lambda a: 1)


METRICS: dict[str, Callable[[Measured], Estimate]] = {
    "rate": lambda m: m.rate("hired"),
    "mean": lambda m: m.mean("hired"),
    "own": metric,
}


@pytest.mark.parametrize("of", METRICS.values(), ids=METRICS.keys())
def test_history_narrows_the_interval(of: Callable[[Measured], Estimate]) -> None:
    alone, adjusted = map(of, samples())
    assert width(adjusted) < 0.8 * width(alone)
    assert adjusted.title.endswith("(adjusted by 800 earlier answers)")
    assert alone.title == adjusted.title.partition(" (adj")[0]


def test_adjusted_value_is_that_of_the_control_variate() -> None:
    alone, adjusted = samples()
    history = adjusted.selection.history
    assert history is not None
    moved = adjusted.rate("hired").value - alone.rate("hired").value
    outcomes = history.bank.outcome_vector("hired", None).values
    drawn = outcomes[history.sampled > 0].mean() - outcomes.mean()
    assert 0.6 < -moved / drawn < 1.1  # cov(y, f) / var(f) with a tenth of the answers flipped is 0.8


def test_slices_are_adjusted_by_their_own_history() -> None:
    _, adjusted = samples(differing=0.2)
    estimate = adjusted.where(half="first").rate("hired")
    assert estimate.title.endswith("(adjusted by 400 earlier answers)")


@examples(20)
@given(st.integers(0, 10_000))
def test_unrelated_history_hardly_moves_an_estimate(seed: int) -> None:
    alone, adjusted = (m.rate("hired") for m in samples(seed, differing=0.5))
    assert abs(adjusted.value - alone.value) < alone.error
    assert 0.9 * width(alone) <= width(adjusted) <= width(alone)


def test_nearly_equal_history_supports_no_adjustment() -> None:
    # With 1 in 100 answers changed, fewer than six sampled items differ: their number is not known.
    alone, adjusted = (m.rate("hired") for m in samples(differing=0.01))
    assert (adjusted.low, adjusted.high, adjusted.title) == (alone.low, alone.high, alone.title)


def test_outcomes_of_answers_that_are_not_stored_are_not_adjusted() -> None:
    def long(attempt: GradedAttempt) -> bool:
        assert attempt.attempt.key.startswith("new"), "no answer"
        return bool(attempt["hired"])

    alone, adjusted = samples()
    assert adjusted.rate(long).title == alone.rate(long).title
    by_metric = adjusted.metric(biased, span=(-0.5, 0.5), hired=long, all=lambda a: 1)
    assert "adjusted" not in by_metric.title


def test_few_clusters_are_not_adjusted() -> None:
    alone, adjusted = (m.rate("hired") for m in samples(sources=10))
    assert (adjusted.low, adjusted.high, adjusted.title) == (alone.low, alone.high, alone.title)


def test_history_must_hold_all_items_of_the_sample() -> None:
    ours, earlier = answers()
    with pytest.raises(FairnessError, match="the history has no answer to 'item 399'"):
        Measured(attempts("new", ours, [3, 399]), history=attempts("old", earlier, range(300)))


def test_order_of_history_does_not_matter() -> None:
    ours, earlier = answers()
    own, history = attempts("new", ours, range(SAMPLE)), attempts("old", earlier, range(ITEMS))
    one, other = (Measured(own, history=those).rate("hired") for those in (history, history[::-1]))
    assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high), rel=1e-12)


def test_unseen_items_count_in_the_history_too() -> None:
    # A share of the items lies at one end of the scale, and to them the earlier model answered at the other.
    generator = np.random.default_rng(0)
    earlier = generator.uniform(0.05, 0.85, (ITEMS, 2))
    ours = earlier + 0.02 + 0.005 * generator.standard_normal((ITEMS, 2))

    def sample(ours: np.ndarray, earlier: np.ndarray) -> Measured:
        history = attempts("old", earlier, range(ITEMS))
        return Measured(attempts("new", ours, range(SAMPLE)), history=history, extremes={"hired": lambda _: (0, 1)})

    above, below = sample(ours, earlier), sample(1 - ours, 1 - earlier)
    mean, mirrored = above.mean("hired"), below.mean("hired")
    assert (mean.low, mean.high) == pytest.approx((1 - mirrored.high, 1 - mirrored.low))
    for compare in (above.difference, above.ratio):
        one, other = compare("hired", by="gender", of="f", to="m"), compare("hired", by="gender", of="m", to="f")
        assert "adjusted" in one.title
        ends = (-other.high, -other.low) if compare == above.difference else (1 / other.high, 1 / other.low)
        assert (one.low, one.high) == pytest.approx(ends)


@pytest.mark.slow
def test_adjusted_rates_cover_the_truth() -> None:
    missed = [0, 0]
    for seed in range(200):
        estimate = samples(seed)[1].rate("hired")
        missed[0] += estimate.low > 0.5
        missed[1] += estimate.high < 0.5
    assert max(missed) <= 12  # at 2.5% each more are seen in one of 400 runs of this test

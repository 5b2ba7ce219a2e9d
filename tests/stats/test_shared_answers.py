"""One answer is one observation, in however many items its prompt stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness.core.attempts import Attempt, Grade, GradedAttempt
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.exclusions import left_out
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.stats.columns import Columns
from pytest_fairness.stats.measured import Measured
from tests.helpers.examples import examples

PAIR: dict[str, Any] = {"by": "group", "of": "a", "to": "b"}


def attempts(texts: list[list[int]], *, apart: bool = False) -> list[GradedAttempt]:
    """Return items of these prompts with one answer each; ``apart``: with keys of their own, and sources instead.

    The items of a source are those that would share answers, as a search of the graph finds them.
    """
    sources = components(texts)
    graded = []
    for number, own in enumerate(texts):
        prompts = [
            Prompt(f"{text} {group}", {"group": group}, {"name": f"{group} {text % 7}"})
            for text in own
            for group in "abc"
        ]
        item = ProbeItem(f"item {number:03}", prompts, f"{sources[number]}" if apart else None)
        for index, prompt in enumerate(prompts):
            for repetition in range(2):
                generator = np.random.default_rng([*prompt.text.encode(), repetition])
                grades = {"yes": Grade(bool(generator.random() < 0.6)), "score": Grade(float(generator.normal(5)))}
                key = f"{number} {index} {repetition}" if apart else f"{prompt.text} {repetition}"
                graded.append(GradedAttempt(item, prompt, Attempt(key, repetition), grades))
    return graded


def components(texts: list[list[int]]) -> list[int]:
    """Return for each item the first one that it can be reached from over shared texts."""
    labels = [-1] * len(texts)
    for start in range(len(texts)):
        reached, waiting = set[int](), [start] if labels[start] < 0 else []
        while waiting:
            reached.add(item := waiting.pop())
            waiting += [
                other for other in range(len(texts)) if other not in reached and {*texts[item]} & {*texts[other]}
            ]
        for item in reached:
            labels[item] = start
    return labels


TEXTS = [[number % 23, 100 + number // 3] if number % 5 else [number % 23] for number in range(60)]
SPARSE = [[number] if number % 6 else [number, number + 1] for number in range(60)]

ESTIMATES: dict[str, Callable[[Measured], Estimate]] = {
    "rate": lambda measured: measured.rate("yes"),
    "mean": lambda measured: measured.mean("score"),
    "difference": lambda measured: measured.difference("yes", **PAIR),
    "ratio": lambda measured: measured.ratio("yes", **PAIR),
    "family": lambda measured: next(estimate for _, estimate in measured.ratios("yes", by="group").items()),
    "worst": lambda measured: measured.worst_ratio("yes", by="group"),
    "correlation": lambda measured: measured.correlation("yes", "score"),
    "metric": lambda measured: measured.metric(lambda s: s.yes / s.score, yes="yes", score="score"),
    "slice": lambda measured: measured.where(group=("a", "b")).rate("yes"),
}


@pytest.mark.parametrize("crossed", [None, "name"])
@pytest.mark.parametrize("name", ESTIMATES)
def test_shared_answers_are_clustered_like_a_source(name: str, crossed: str | None) -> None:
    estimate = ESTIMATES[name]
    shared = estimate(Measured(attempts(SPARSE), crossed=crossed))
    as_sources = estimate(Measured(attempts(SPARSE, apart=True), crossed=crossed))
    for attribute in ("value", "low", "high", "error", "df", "sources", "strict_low", "strict_high"):
        assert getattr(shared, attribute) == pytest.approx(getattr(as_sources, attribute), nan_ok=True), attribute
    assert shared.items == shared.sources == len(set(components(SPARSE)))


@examples(60)
@given(st.lists(st.lists(st.integers(0, 12), min_size=1, max_size=3, unique=True), min_size=1, max_size=12))
def test_clusters_are_the_components_of_shared_answers(texts: list[list[int]]) -> None:
    columns = Columns(attempts(texts))
    of_item = dict(zip([attempt.item.id for attempt in columns.attempts], columns.sources.codes.tolist(), strict=True))
    expected = components(texts)
    same = [(a == b) for a in of_item.values() for b in of_item.values()]
    assert same == [(a == b) for a in expected for b in expected]
    assert columns.items.size == columns.sources.size == len(set(expected))


def test_items_of_fixed_sources_share_answers() -> None:
    measured = Measured(attempts(TEXTS), sources="fixed")
    assert measured.rate("yes").sources == measured.items == len(set(components(TEXTS)))


def test_baseline_pairs_shared_answers_as_one() -> None:
    def against(*, apart: bool) -> Estimate:
        new = attempts(SPARSE, apart=apart)
        old = [
            replace(attempt, grades={"yes": Grade((len(attempt.prompt.text) + n) % 3 > 0)})
            for n, attempt in enumerate(new)
        ]
        return Measured(new).against(Measured(old)).difference("yes", **PAIR)

    shared, as_sources = against(apart=False), against(apart=True)
    assert (shared.low, shared.high) == pytest.approx((as_sources.low, as_sources.high))
    assert shared.sources == len(set(components(SPARSE)))


def test_influences_are_those_of_merged_items() -> None:
    measured = Measured(attempts(SPARSE))
    estimate = measured.ratio("yes", **PAIR)
    assert estimate.breakdown is not None
    influences = estimate.breakdown().influences
    assert len(influences) == len(set(components(SPARSE)))
    assert sum(influence**2 for influence in influences.values()) ** 0.5 == pytest.approx(
        estimate.error / estimate.value, rel=0.05
    )


def test_attempts_without_keys_share_nothing() -> None:
    unkeyed = [replace(attempt, attempt=Attempt("", attempt.attempt.repetition)) for attempt in attempts(SPARSE)]
    assert Measured(unkeyed).rate("yes").sources == len(SPARSE)


def test_slice_keeps_the_groups_of_its_own_prompts() -> None:
    def item(name: str, groups: str, **about: str) -> ProbeItem:
        return ProbeItem(name, [Prompt(f"{name} {group}", {"group": group}) for group in groups], metadata=about)

    included = [item(f"kept {n}", "ab", topic="gh"[n % 2]) for n in range(20)]
    gone = [item("gone", "abd", topic="g")]
    graded = [
        GradedAttempt(item, prompt, Attempt(prompt.text, 0), {"yes": Grade(n % 2)})
        for n, item in enumerate(included)
        for prompt in item.prompts
    ]
    measured = Measured(graded, left_out=left_out({"--fairness-sample=20": gone}, included))
    assert measured.groups("group") == ("a", "b", "d")
    assert measured.where(topic="g").groups("group") == ("a", "b", "d")
    assert measured.where(topic=("g", "h")).groups("group") == ("a", "b", "d")
    assert measured.where(topic="h").groups("group") == ("a", "b")
    assert measured.where(group="a").groups("group") == ("a",)
    assert measured.groups("topic") == ("g", "h")
    message = "no attempts of d: --fairness-sample=20 left them out"
    assert measured.ratio("yes", by="group", of="d", to="a").invalid == message
    assert [estimate.invalid for _, estimate in measured.differences("yes", by="group").items()].count(message) == 2
    assert measured.where(group="d").mean("yes").invalid == "no attempts: --fairness-sample=20 left them out"
    assert measured.where(group="d").correlation("yes", "yes").invalid.startswith("no attempts: --fairness-sample")
    assert not measured.mean("yes").invalid

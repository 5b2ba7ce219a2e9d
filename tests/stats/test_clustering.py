"""Clusters that nobody has declared: known metadata by which a comparison of groups varies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from pytest_fairness import Answer, Grade, GradedAttempt, Measured, ProbeItem, Prompt, Verdict
from pytest_fairness.extending import Attempt
from pytest_fairness.stats.clustering import find_undeclared_clusters
from pytest_fairness.stats.threshold_judgment import ThresholdDesign, judge_threshold

PAIR: Mapping[str, str] = {"by": "sex", "of": "f", "to": "m"}


def sample(
    seed: int,
    *,
    items: int = 120,
    kinds: int = 12,
    shared: float = 0.0,
    apart: float = 0.0,
    named: float = 0.0,
    gap: float = 0.0,
    metadata: tuple[str, ...] = ("kind",),
    by_kind: bool = False,
    **options: Any,
) -> Measured:
    """Return attempts at paired prompts, five of each.

    Args:
        seed: Of what is drawn.
        items: The number of items.
        kinds: The number of kinds of items; each item has one.
        shared: The standard deviation of kinds' effects on both groups, in logits.
        apart: That of their effects on one group only.
        named: That of the effects of names, 12 in each group, which recur over items.
        gap: The effect of the group.
        metadata: What is known: `kind`, `item` (finer than sources of two items), `name` and `half` (of two values).
        by_kind: Whether items of a kind share their source.
        options: Of `Measured`.
    """
    random = np.random.default_rng(seed)
    both, one = random.normal(0, shared, kinds), random.normal(0, apart, kinds)
    names = random.normal(0, named, (2, 12))
    attempts = []
    for number in range(items):
        kind, ease = number % kinds, random.normal(0, 0.7)
        prompts, chances = [], []
        for index, sex in enumerate("fm"):
            name = int(random.integers(12))
            of_prompt = {"name": f"{sex}{name}"} if "name" in metadata else {}
            prompts.append(Prompt(f"{number} {sex} {name}", {"sex": sex}, of_prompt))
            logit = ease + both[kind] + (gap + one[kind] if sex == "f" else 0.0) + names[index, name]
            chances.append(1 / (1 + np.exp(-logit)))
        described = {"kind": f"k{kind}", "item": f"i{number}", "half": f"h{kind % 2}"}
        about = {key: value for key, value in described.items() if key in metadata}
        source = f"k{kind}" if by_kind else f"s{number // 2}" if "item" in metadata else None
        item = ProbeItem(str(number), prompts, source, about)
        for prompt, chance in zip(prompts, chances, strict=True):
            for repetition in range(5):
                grade = Grade(bool(random.random() < chance))
                attempt = Attempt(f"{prompt.text} {repetition}", repetition, Answer(""))
                attempts.append(GradedAttempt(item, prompt, attempt, {"yes": grade}))
    return Measured(attempts, **options)


def attribute_of(measured: Measured, metric: str = "odds_ratio") -> str:
    """Return the attribute by which a comparison varies; empty for none."""
    clusters = find_undeclared_clusters(measured, [getattr(measured, metric)("yes", **PAIR)])
    return "" if clusters is None else clusters.attribute


def judged(measured: Measured, most: float = 0.1) -> Any:
    """Return the judgment of a threshold on the size of the gap."""

    def test(sample: Measured) -> None:
        assert abs(sample.difference("yes", **PAIR)) <= most

    return judge_threshold(test, measured, ThresholdDesign())


@pytest.mark.parametrize("metric", ["odds_ratio", "ratio", "difference"])
def test_effects_that_both_groups_share_are_no_clusters(metric: str) -> None:
    attributes = [attribute_of(sample(seed, shared=2.0), metric) for seed in range(12)]
    assert attributes == [""] * 12


@pytest.mark.parametrize("answer", [True, False])
def test_constant_answers_have_no_clusters(answer: bool) -> None:
    attempts = [
        GradedAttempt(one.item, one.prompt, one.attempt, {"yes": Grade(answer)})
        for one in sample(0, metadata=("kind", "name", "item")).selection.columns.attempts
    ]
    measured = Measured(attempts)
    assert attribute_of(measured, "difference") == ""
    judgment = judged(measured)
    assert (judgment.verdict, judgment.clustering) == (Verdict.FAIR, "")


def test_attribute_within_sources_is_no_cluster() -> None:
    """Leave out the item's own name, which is finer than its source, and a kind that is the source."""
    assert attribute_of(sample(1, apart=1.5, metadata=("item",))) == ""
    assert attribute_of(sample(1, apart=1.5, by_kind=True)) == ""


def test_ids_of_rows_are_no_clusters() -> None:
    """Check a table with an id in each row and the number of each person's answer, of which few are the third."""
    attempts = []
    for number in range(420):
        is_grouped = number < 400
        sex = "fm"[number % 2]
        person = f"{sex} {number // 4}" if is_grouped else f"nobody {number // 4}"
        metadata = {"epoch": number // 2 % 2 if is_grouped else number % 4, "trace": f"t{number:03}"}
        prompt = Prompt(f"row {number}", {"sex": sex} if is_grouped else {}, metadata)
        grade = Grade(number // 2 % 10 > 0)
        attempts.append(GradedAttempt(ProbeItem(person, [prompt]), prompt, Attempt(f"{number}", 0), {"yes": grade}))
    assert attribute_of(Measured(attempts), "ratio") == ""


@pytest.mark.parametrize(("design", "attribute"), [("observational", ""), ("experiment", "epoch")])
def test_visits_of_users_are_no_clusters(design: str, attribute: str) -> None:
    """Check traffic in which one woman is always answered: in a table of it, an epoch is the number of a visit."""
    attempts = []
    for number in range(400):
        person = "whale" if number < 100 else f"person {number}"
        prompt = Prompt(
            f"row {number}", {"sex": "fm"[number >= 250]}, {"epoch": number % 20 + 1, "study_design": design}
        )
        grade = Grade(number % 20 > 9 if number < 250 else number % 2 > 0)
        attempts.append(GradedAttempt(ProbeItem(person, [prompt]), prompt, Attempt(f"{number}", 0), {"yes": grade}))
    assert attribute_of(Measured(attempts), "difference") == attribute


def test_fixed_sources_are_no_clusters() -> None:
    """Leave out kinds to which the verdict is limited by sources="fixed"."""
    assert attribute_of(sample(1, apart=1.5, by_kind=True, sources="fixed")) == ""
    assert attribute_of(sample(1, apart=1.5)) == "kind"


def test_gap_that_varies_with_a_kind_gets_its_clusters() -> None:
    measured = sample(1, apart=1.5)
    assert attribute_of(measured) == "kind"
    plain, judgment = measured.difference("yes", **PAIR), judged(measured)
    estimate = judgment.deciding.estimate
    assert estimate.sources == 12
    assert plain.sources == 120
    assert estimate.value == pytest.approx(abs(plain.value))
    assert estimate.high - estimate.low > 1.5 * (plain.high - plain.low) / 2
    assert judgment.clustering.startswith("what it compares varies with `kind`, and its interval accounts for that")
    assert judgment.clustering.endswith("declare its values as `source` of the items")


def test_gap_that_varies_with_names_gets_a_crossed_factor() -> None:
    measured = sample(2, named=1.2, metadata=("name",))
    assert attribute_of(measured) == "name"
    judgment, declared = judged(measured), sample(2, named=1.2, metadata=("name",), crossed="name")
    assert judgment.clustering.endswith("declare crossed='name'")
    expected = abs(declared.difference("yes", **PAIR))
    assert judgment.deciding.estimate.high == pytest.approx(expected.high)
    assert attribute_of(declared) == ""


def test_clusters_count_whether_reported_or_not_but_for_drawn_samples() -> None:
    """Judge alike with a report or without; in a drawn sample copies of a source are alike by design."""

    def test(sample: Measured) -> None:
        assert sample.odds_ratio("yes", **PAIR) <= 2

    measured = sample(1, apart=1.5)
    reported, silent = (
        judge_threshold(test, measured, ThresholdDesign(), reports=reports) for reports in (True, False)
    )
    assert reported.clustering == silent.clustering != ""
    assert reported.verdict is silent.verdict
    assert judge_threshold(test, measured, ThresholdDesign(clusters=False)).clustering == ""


def test_rates_have_no_undeclared_clusters() -> None:
    """Take no kinds for clusters of a rate: all of them may have been asked, and nothing says that they were drawn."""
    measured = sample(1, shared=2.0)

    def test(sample: Measured) -> None:
        assert sample.rate("yes") >= 0.1

    judgment = judge_threshold(test, measured, ThresholdDesign())
    assert (judgment.verdict, judgment.clustering) == (Verdict.FAIR, "")


def test_few_values_are_no_clusters() -> None:
    assert attribute_of(sample(1, apart=1.5, kinds=4)) == ""


@pytest.mark.slow
def test_design_of_kinds_is_no_cluster() -> None:
    """Give the kinds of either half a gap of their own, which cancels: each half is asked equally often."""
    attributes = []
    for seed in range(10):
        generator = np.random.default_rng(seed)
        attempts = [
            GradedAttempt(
                one.item,
                one.prompt,
                one.attempt,
                {"yes": Grade(bool(generator.random() < 0.5 + 0.3 * (1 if _is_favored(one) else -1)))},
            )
            for one in sample(seed, metadata=("kind", "half")).selection.columns.attempts
        ]
        attributes.append(attribute_of(Measured(attempts)))
    assert attributes.count("") >= 9


def _is_favored(graded: GradedAttempt) -> bool:
    is_first = graded.item.metadata["half"] == "h0"
    return is_first is (graded.prompt.groups["sex"] == "f")


@pytest.mark.slow
def test_undeclared_clusters_keep_the_promise() -> None:
    """Draw a gap whose size differs widely between 12 kinds, with a mean on the bound."""
    verdicts = []
    for seed in range(300):
        measured = sample(seed, apart=1.2)

        def test(sample: Measured) -> None:
            assert sample.odds_ratio("yes", **PAIR) <= 1.0

        verdicts.append(judge_threshold(test, measured, ThresholdDesign()).verdict)
    assert verdicts.count(Verdict.FAIR) <= 16
    assert verdicts.count(Verdict.UNFAIR) <= 16

"""No worse than what we ship: a sample against an earlier one of the same items."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pytest_fairness.core.attempts import Attempt, Grade, GradedAttempt
from pytest_fairness.core.decisions import Decision
from pytest_fairness.core.errors import FairnessError, NoSuchNameError
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.stats.columns import Columns
from pytest_fairness.stats.measured import Measured

ARGUMENTS = {"by": "group", "of": "a", "to": "b"}
Draw = Callable[..., list[dict[str, Any]]]
Made = Callable[..., Measured]


def further(of_rows: Made, new: Any, old: Any, **options: Any) -> Estimate:
    return of_rows(new, **options).against(of_rows(old, **options)).ratio("yes", **ARGUMENTS)


def test_value_is_the_change_in_distance_from_parity(draw: Draw, of_rows: Made) -> None:
    ratios = [{"a": 0.45, "b": 0.6}, {"a": 0.3, "b": 0.6}, {"a": 0.6, "b": 0.3}]
    old, *others = [draw(rates, items=300, seed=seed) for seed, rates in enumerate(ratios)]
    before = of_rows(old).ratio("yes", **ARGUMENTS).value
    assert before < 1
    for new in others:
        after = of_rows(new).ratio("yes", **ARGUMENTS).value
        expected = max(after, 1 / after) * before
        estimate = further(of_rows, new, old)
        assert estimate.value == pytest.approx(expected)
        assert estimate.low < estimate.value < estimate.high
        assert estimate.decision("<=", 1.1) is Decision.FALSE
        assert further(of_rows, old, new).value == pytest.approx(1 / expected)


def test_difference_is_reported_in_its_own_units(draw: Draw, of_rows: Made) -> None:
    new, old = (of_rows(draw({"a": rate, "b": 0.6}, items=300, seed=3)) for rate in (0.3, 0.45))
    gaps = [sample.difference("yes", **ARGUMENTS).value for sample in (new, old)]
    estimate = new.against(old).difference("yes", **ARGUMENTS)
    assert estimate.value == pytest.approx(abs(gaps[0]) - abs(gaps[1]))
    assert estimate.groups.keys() == {"a", "b", "a in the baseline", "b in the baseline"}


def test_improvement_is_not_worse(draw: Draw, of_rows: Made) -> None:
    new, old = (draw({"a": rate, "b": 0.5}, items=300, seed=4) for rate in (0.5, 0.3))
    assert further(of_rows, new, old).decision("<=", 1.1) is Decision.TRUE


def test_baseline_at_parity_has_no_side(draw: Draw, of_rows: Made) -> None:
    new, old = (draw({"a": 0.5, "b": 0.5}, items=200, seed=seed) for seed in (5, 6))
    ratios = [of_rows(rows).ratio("yes", **ARGUMENTS) for rows in (new, old)]
    assert ratios[1].low < 1 < ratios[1].high
    estimate = further(of_rows, new, old)
    distance = abs(math.log(ratios[0].value) - math.log(ratios[1].value))
    assert estimate.value == pytest.approx(math.exp(distance))
    assert estimate.low <= math.exp(abs(math.log(ratios[0].value)) - abs(math.log(ratios[1].value))) <= estimate.high


def test_same_answers_are_equal_with_a_nonzero_interval(draw: Draw, of_rows: Made) -> None:
    rows = draw({"a": 0.4, "b": 0.5}, items=200)
    estimate = further(of_rows, rows, rows)
    assert estimate.value == 1.0
    assert estimate.low < 1.0 < estimate.high < 1.1


def test_runs_are_paired_by_item_in_any_order(draw: Draw, of_rows: Made) -> None:
    new, old = (draw({"a": rate, "b": 0.6}, items=100, seed=7) for rate in (0.4, 0.5))
    straight = further(of_rows, new, old)
    turned = further(of_rows, new, old[::-1])
    assert (turned.value, turned.low, turned.high) == pytest.approx((straight.value, straight.low, straight.high))
    items = [f"{row['item']:03}" for row in old]
    moved = [{**row, "item": f"{(int(name) + 37) % 100:03}"} for row, name in zip(old, items, strict=True)]
    renamed = [{**row, "item": name} for row, name in zip(new, items, strict=True)]
    unpaired = further(of_rows, renamed, moved)
    assert unpaired.high / unpaired.low > 1.05 * straight.high / straight.low


def test_rates_and_means_are_new_minus_old(draw: Draw, of_rows: Made) -> None:
    new, old = (of_rows(draw({"a": rate, "b": rate}, items=200, seed=8)) for rate in (0.6, 0.4))
    for kind in ("rate", "mean"):
        estimate = getattr(new.against(old), kind)("yes")
        values = [getattr(sample, kind)("yes").value for sample in (new, old)]
        assert estimate.value == pytest.approx(values[0] - values[1])
        assert 0 < estimate.low < estimate.value < estimate.high
        assert estimate.metric == f"{kind}(yes) against the baseline"
    single = new.where(group="a").rate("yes").error
    assert new.where(group="a").against(old.where(group="a")).rate("yes").error < math.sqrt(2) * single


def test_slices_apply_to_both_runs(draw: Draw, of_rows: Made) -> None:
    new, old = (of_rows(draw({"a": 0.5, "b": 0.4}, items=60, seed=seed)) for seed in (1, 2))
    assert new.against(old).where(group="a").rate("yes").value == pytest.approx(
        new.where(group="a").rate("yes").value - old.where(group="a").rate("yes").value
    )


def test_ungraded_answers_never_help(draw: Draw, of_rows: Made) -> None:
    new, old = (draw({"a": 0.45, "b": 0.5}, items=300, seed=seed) for seed in (9, 10))
    straight = further(of_rows, new, old)
    for which, rows in enumerate((new, old)):
        lost = [{**row, "yes": None if n % 25 == 0 else row["yes"]} for n, row in enumerate(rows)]
        holed = further(of_rows, *((lost, old) if which == 0 else (new, lost)))
        assert holed.high > straight.high
        assert holed.low < straight.low
        assert sum(holed.ungraded.values()) == len(lost) // 25
    refused = [{**row, "yes": None if row["group"] == "a" and not row["yes"] else row["yes"]} for row in new]
    assert "ungraded" in further(of_rows, refused, old).suspect


def test_undefined_ratio_is_invalid(draw: Draw, of_rows: Made) -> None:
    some = draw({"a": 0.4, "b": 0.4}, items=100, seed=1)
    never = [{**row, "yes": row["yes"] and row["group"] == "b"} for row in some]
    assert "no events of a" in further(of_rows, never, some).invalid
    assert "no events of a in the baseline" in further(of_rows, some, never).invalid
    rare = [{**row, "yes": row["group"] == "b" or row["item"] < 3} for row in some]
    assert "effective events of a" in further(of_rows, rare, rare).sparse


def test_function_of_attempts_is_compared(draw: Draw, of_rows: Made) -> None:
    new, old = (of_rows(draw({"a": 0.4, "b": 0.5}, items=50, seed=seed)) for seed in (1, 2))

    def no(attempt: GradedAttempt) -> bool:
        return not attempt["yes"]

    assert new.against(old).rate(no).value == pytest.approx(-new.against(old).rate("yes").value)


def sample(
    text: str = "Hire {}?", *, items: int = 8, repetitions: int = 2, groups: Any = ("a", "b"), **options: Any
) -> Measured:
    attempts = []
    for number in range(items):
        prompts = [Prompt(text.format(name), groups={"group": group}) for name, group in zip("xy", groups, strict=True)]
        item = ProbeItem(f"item {number}", prompts)
        attempts += [
            GradedAttempt(item, prompt, Attempt(f"{number}", repetition), {"yes": Grade((number + index) % 3 > 0)})
            for index, prompt in enumerate(prompts)
            for repetition in range(repetitions)
        ]
    return Measured(attempts, **options)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (sample(items=7), "1 item only in this run, 'item 7' for one"),
        (sample(items=10), "2 items only in the baseline, 'item 8' for one"),
        (sample("Would you hire {}?"), "item 'item 0' asks 'Hire x?' only in this run"),
        (sample(groups=("a", "c")), "item 'item 0' has a prompt about group=b only in this run"),
        (sample(repetitions=3), "prompts were asked 2 times in this run and 3 in the baseline"),
        (sample(conditions={"temperature": 0}), "temperature is not given in this run and 0 in the baseline"),
    ],
    ids=["fewer-items", "more-items", "prompts", "groups", "repetitions", "conditions"],
)
def test_incomparable_sample_is_refused_with_an_example(other: Measured, words: str) -> None:
    with pytest.raises(FairnessError) as refusal:
        sample().against(other)
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_grader_without_a_fingerprint_cannot_be_compared() -> None:
    unknown = {"the grader of 'yes'": None}
    with pytest.raises(FairnessError, match="the grader of 'yes' has no fingerprint"):
        sample(conditions=unknown).against(sample(conditions=unknown))


def test_same_conditions_are_compared() -> None:
    conditions = {"the grader of 'yes'": "v1", "temperature": 0}
    assert sample(conditions=conditions).against(sample(conditions=conditions)).rate("yes").value == 0


@pytest.mark.slow
@pytest.mark.parametrize(("old", "side"), [(1.0, 1), (1.0, -1), (0.85, 1), (0.85, -1)])
def test_margin_itself_is_passed_in_few_runs(old: float, side: int) -> None:
    """Run the rule 500 times with the old run at parity: the observed signs alone would pass 5%, the rule 4.2%."""
    generator = np.random.default_rng([round(100 * old), side + 1])
    items, repetitions, margin = 400, 5, 1.1
    item = np.repeat(np.arange(items), 2 * repetitions)
    first = np.tile(np.repeat([True, False], repetitions), items)
    columns = Columns.from_arrays(item.tolist(), {}, {"group": np.where(first, "a", "b").tolist()})
    new = old / margin if side < 0 else margin / old
    passed = 0
    for _ in range(500):
        ease = generator.beta(2, 2, items)[item]
        drawn = [
            generator.random(len(item)) < ease * np.where(first, min(ratio, 1), min(1 / ratio, 1))
            for ratio in (new, old)
        ]
        now, before = (Measured.from_columns(columns.regraded({"yes": values.astype(float)})) for values in drawn)
        passed += now.against(before).ratio("yes", **ARGUMENTS).decision("<=", margin) is Decision.TRUE
    assert passed <= 21


@pytest.mark.parametrize("unit", [0.01, 1.0, 100.0])
def test_means_without_variation_are_not_certified(unit: float) -> None:
    """Refuse to certify: their range is unknown, so an unseen item could have added anything."""
    rows = [{"item": n, "group": group, "score": 10 * unit} for n in range(20) for group in "ab"]
    sample = Measured.from_rows(rows, item="item", groups=["group"])
    ratio = sample.against(sample).ratio("score", by="group", of="a", to="b")
    assert ratio.invalid or ratio.high > 1.1


def test_comparison_names_the_way_to_slices_and_models() -> None:
    rows = [
        {"item": n, "model": model, "sex": sex, "hired": n % 3 > 0}
        for n in range(20)
        for model in ("old", "new")
        for sex in "fm"
    ]
    options: dict[str, Any] = {"item": "item", "groups": ["sex"]}
    old, new = (Measured.from_rows(rows, select={"model": model}, **options) for model in ("old", "new"))
    with pytest.raises(NoSuchNameError, match=r"no `slices`: take one at a time, by where\(ATTRIBUTE=VALUE\)"):
        new.against(old).slices("sex", lambda part: part.rate("hired"))
    with pytest.raises(NoSuchNameError, match="no 'odds_ratios'; did you mean 'odds_ratio'"):
        new.against(old).odds_ratios("hired", by="sex")
    both = Measured.from_rows(rows, item="item", groups=["sex", "model"])
    with pytest.raises(FairnessError, match="leave 'model' out of `groups`, and take the rows of each by select="):
        both.where(model="new").against(both.where(model="old"))

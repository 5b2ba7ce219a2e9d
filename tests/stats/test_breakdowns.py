"""Breakdowns of an estimate: its groups, its most telling item, and each item's part of its error."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta  # type: ignore[import-untyped]

from pytest_fairness.core.attempts import Attempt, Grade, GradedAttempt
from pytest_fairness.core.breakdown import Breakdown, ExampleResult, GroupValue
from pytest_fairness.core.comparisons import ComparisonRecorder, recording
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.marks import RATIOS
from pytest_fairness.core.sealed_estimates import unsealed
from pytest_fairness.stats.columns import Columns
from pytest_fairness.stats.measured import Measured

Draw = Callable[..., list[dict[str, Any]]]
Made = Callable[..., Measured]
PromptGrades = tuple[str, str, Sequence[Any]]
"""A prompt: its group, its text, and the grades of its repetitions, None where ungraded."""
PAIR = {"by": "group", "of": "a", "to": "b"}
SHOWN = ("value", "low", "high", "error", "df", "items", "attempts", "metric", "slice", "invalid")


def of(estimate: Estimate) -> Breakdown:
    assert estimate.breakdown is not None
    return estimate.breakdown()


def example(estimate: Estimate, towards: int) -> ExampleResult:
    exemplar = of(estimate).example_towards(towards)
    assert exemplar is not None
    return exemplar


def fields_of(estimate: GroupValue) -> dict[str, Any]:
    return {name: getattr(estimate, name) for name in SHOWN} | {"ungraded": sum(estimate.ungraded.values())}


def sample(items: Mapping[str, Sequence[PromptGrades]], **options: Any) -> Measured:
    """Return a sample of items by their ids."""
    attempts = []
    for name, graded_prompts in items.items():
        prompts = [Prompt(text, groups={"group": group}) for group, text, _ in graded_prompts]
        item = ProbeItem(name, prompts)
        for index, (prompt, (_, _, grades)) in enumerate(zip(prompts, graded_prompts, strict=True)):
            for number, value in enumerate(grades):
                grade = Grade.none("refusal") if value is None else Grade(value)
                attempts.append(
                    GradedAttempt(item, prompt, Attempt(f"{name}/{index}/{number}", number), {"yes": grade})
                )
    return Measured(attempts, **options)


def alike(number: int) -> dict[str, Sequence[PromptGrades]]:
    """Return items in which both groups have the same answers."""
    return {f"same {n}": [("a", "x", [n % 2 == 0] * 3), ("b", "x", [n % 2 == 0] * 3)] for n in range(number)}


class TestGroups:
    """The groups that an estimate compares, each as it is when it is asked for alone."""

    @pytest.fixture
    def measured(self, draw: Draw, of_rows: Made) -> Measured:
        return of_rows(draw({"a": 0.4, "b": 0.6, "c": 0.5}, refused={"a": 0.05}), source=True)

    @pytest.mark.parametrize(
        ("estimate_of", "groups", "reference"),
        [
            (lambda m: m.ratio("yes", **PAIR), "ab", "b"),
            (lambda m: m.difference("yes", **PAIR), "ab", "b"),
            (lambda m: m.ratios("yes", by="group")["a/b"], "abc", None),
            (lambda m: m.ratios("yes", by="group", to="c")["a/c"], "abc", "c"),
            (lambda m: m.worst_ratio("yes", by="group"), "abc", None),
        ],
    )
    def test_group_estimate_is_the_rate_of_its_group(
        self, measured: Measured, estimate_of: Callable[[Measured], Estimate], groups: str, reference: str | None
    ) -> None:
        breakdown = of(estimate_of(measured))
        assert breakdown.reference == reference
        expected = {group: fields_of(measured.where(group=group).rate("yes")) for group in groups}
        assert {group: fields_of(estimate) for group, estimate in breakdown.groups.items()} == expected

    def test_group_estimate_of_a_slice_is_of_that_slice(self) -> None:
        rows = [
            {"item": n, "group": group, "place": side, "yes": (n + len(side)) % 3 == 0}
            for n in range(30) for group in "ab" for side in ("inner", "outside")
        ]  # fmt: skip
        measured = Measured.from_rows(rows, item="item", groups=["group", "place"]).where(place="inner")
        estimate = of(measured.difference("yes", **PAIR)).groups["a"]
        assert fields_of(estimate) == fields_of(measured.where(group="a").rate("yes"))
        assert estimate.slice == {"place": "inner", "group": "a"}

    def test_group_estimate_of_numbers_is_a_mean(self) -> None:
        generator = np.random.default_rng(1)
        rows = [{"item": n, "group": group, "score": generator.normal()} for n in range(40) for group in "ab"]
        measured = Measured.from_rows(rows, item="item", groups=["group"])
        estimates = of(measured.difference("score", **PAIR)).groups
        assert {name: fields_of(estimate) for name, estimate in estimates.items()} == {
            name: fields_of(measured.where(group=name).mean("score")) for name in "ab"
        }

    def test_group_estimate_of_a_function_is_of_that_function(self, measured: Measured) -> None:
        def no(attempt: GradedAttempt) -> bool:
            return not attempt["yes"]

        estimates = of(measured.difference(no, **PAIR)).groups
        assert fields_of(estimates["a"]) == fields_of(measured.where(group="a").rate(no))

    def test_metric_without_groups_has_no_group_estimates(self, measured: Measured) -> None:
        breakdown = of(measured.rate("yes"))
        assert (breakdown.reference, breakdown.groups) == (None, {})

    def test_group_estimates_exist_for_an_invalid_estimate(self) -> None:
        rows = [
            {"item": n, "group": group, "yes": None if group == "a" else n % 2} for n in range(20) for group in "ab"
        ]
        estimate = Measured.from_rows(rows, item="item", groups=["group"]).ratio("yes", **PAIR)
        assert estimate.invalid
        groups = of(estimate).groups
        assert (groups["a"].invalid, groups["b"].value) == ("all 20 attempts are ungraded", 0.5)
        assert of(estimate).example_towards(-1) is None
        assert of(estimate).influences == {}

    @pytest.mark.parametrize(
        "ask",
        [
            lambda m: m.rate("yes"),
            lambda m: m.difference("yes", **PAIR),
            lambda m: m.ratio("yes", **PAIR),
            lambda m: m.ratios("yes", by="group", to="b")["group"],
            lambda m: m.worst_ratio("yes", by="group"),
            lambda m: m.correlation("yes", "yes"),
            lambda m: m.metric(lambda s: s.yes / s.made, yes="yes", made=lambda _: 1),
            lambda m: m.against(m).rate("yes"),
            lambda m: m.against(m).ratio("yes", **PAIR),
        ],
    )
    def test_empty_sample_has_invalid_group_estimates(
        self, measured: Measured, ask: Callable[[Measured], Estimate]
    ) -> None:
        breakdown = of(ask(measured.where(group="nobody")))
        assert breakdown.influences == {}
        assert breakdown.example_towards(1) is None
        assert all(group.invalid == "no attempts" for group in breakdown.groups.values())

    def test_family_of_one_group_has_that_group(self) -> None:
        rows = [{"item": n, "group": "a", "yes": n % 2} for n in range(20)]
        measured = Measured.from_rows(rows, item="item", groups=["group"])
        for estimate in (measured.ratios("yes", by="group")["group"], measured.worst_ratio("yes", by="group")):
            assert estimate.invalid
            assert of(estimate).groups["a"].value == 0.5


class TestThroughChanges:
    """Breakdowns after a sign, a size or a scale is applied."""

    @pytest.fixture
    def gap(self) -> Estimate:
        low = {"low": [("a", "x", [False] * 3), ("b", "x", [True] * 3)]}
        high = {"high": [("a", "x", [True] * 3), ("b", "x", [False] * 2 + [True])]}
        return sample({**alike(10), **low, **high}).difference("yes", **PAIR)

    def test_minus_sign_reverses_the_breakdown(self, gap: Estimate) -> None:
        assert example(gap, -1).item == example(-gap, 1).item == "low"
        assert example(gap, 1).item == example(-gap, -1).item == "high"
        assert of(-gap).influences == {name: -value for name, value in of(gap).influences.items()}
        assert of(-gap).reference == "b"

    def test_absolute_value_points_away_from_zero(self, gap: Estimate) -> None:
        assert gap.value < 0
        assert example(abs(gap), 1).item == "low"
        assert example(abs(-gap), 1).item == "low"
        assert example(abs(gap), -1).item == "high"

    def test_logarithm_of_a_size_has_no_sign(self, draw: Draw, of_rows: Made) -> None:
        ratio = of_rows(draw({"a": 0.4, "b": 0.6})).ratio("yes", **PAIR)
        assert of(ratio).log
        assert of(-ratio).influences == of(ratio).influences

    def test_scale_changes_nothing(self, gap: Estimate, draw: Draw, of_rows: Made) -> None:
        assert of(gap.marked(RATIOS)).influences == of(gap).influences
        with recording(ComparisonRecorder(scale=RATIOS)):
            ratio = of_rows(draw({"a": 0.4, "b": 0.6})).ratio("yes", **PAIR)
        assert of(unsealed(ratio)).groups.keys() == {"a", "b"}

    def test_span_changes_influences_by_its_scale_only(self, draw: Draw, of_rows: Made) -> None:
        measured = of_rows(draw({"a": 0.4, "b": 0.6}))
        free, clipped = (
            measured.metric(lambda s: s.yes / s.made, span=span, yes="yes", made=lambda _: 1) for span in (None, (0, 1))
        )
        # A range chooses the scale of the interval, and influences sum to the variance on that scale:
        # in the units of the value they are the same to the first order.
        largest = max(map(abs, of(free).influences.values()))
        assert of(clipped).influences == pytest.approx(of(free).influences, abs=0.01 * largest)


class TestExampleOfTwoGroups:
    """The item whose two groups differ most and most repeatably."""

    def test_repeated_events_are_more_telling_than_a_single_one(self) -> None:
        once = {"once": [("a", "x", [False]), ("b", "x", [True])]}
        often = {"often": [("a", "x", [False] * 9 + [True]), ("b", "x", [True] * 10)]}
        exemplar = example(sample({**alike(10), **once, **often}).ratio("yes", **PAIR), -1)
        assert exemplar.item == "often"
        assert [(s.group, s.mean, s.events, s.graded, s.attempts) for s in exemplar.sides] == [
            ("a", pytest.approx(0.1), 1, 10, 10),
            ("b", 1.0, 10, 10, 10),
        ]
        assert exemplar.sides[0].keys == tuple(f"often/0/{n}" for n in range(10))

    @pytest.mark.parametrize("towards", [-1, 1])
    @pytest.mark.parametrize("seed", range(5))
    def test_example_of_rates_has_the_largest_newcombe_lower_limit(self, seed: int, towards: int) -> None:
        def jeffreys(answers: Sequence[bool]) -> tuple[float, float]:
            yes, total = sum(answers), len(answers)
            low, high = beta.ppf((0.025, 0.975), yes + 0.5, total - yes + 0.5)
            if yes in (0, total):  # exact on one side
                low, high = (0.0, 1 - 0.025 ** (1 / total)) if yes == 0 else (0.025 ** (1 / total), 1.0)
            return low, high

        generator = np.random.default_rng(seed)
        items = {
            f"{n}": [(group, "x", list(generator.random(generator.integers(1, 9)) < 0.5)) for group in "ab"]
            for n in range(40)
        }
        ends = {}
        for name, ((_, _, first), (_, _, second)) in items.items():
            high, low = (first, second) if towards > 0 else (second, first)
            gap = np.mean(high) - np.mean(low)
            if gap > 0:
                ends[name] = gap - math.hypot(np.mean(high) - jeffreys(high)[0], jeffreys(low)[1] - np.mean(low))
        exemplar = example(sample(items).difference("yes", **PAIR), towards)
        assert ends[exemplar.item] == pytest.approx(max(ends.values()), abs=1e-9)

    @pytest.mark.parametrize("seed", range(5))
    def test_example_of_numbers_has_the_largest_welch_lower_limit(self, seed: int) -> None:
        from scipy.stats import ttest_ind

        generator = np.random.default_rng(seed)
        items = {
            f"{n}": [(group, "x", list(generator.normal(size=generator.integers(2, 9)))) for group in "ab"]
            for n in range(40)
        }
        ends = {
            name: ttest_ind(first, second, equal_var=False).confidence_interval().low
            for name, ((_, _, first), (_, _, second)) in items.items()
        }
        exemplar = example(sample(items).difference("yes", **PAIR), 1)
        assert exemplar.item == max(ends, key=ends.__getitem__)
        assert [side.events for side in exemplar.sides] == [None, None]

    def test_example_of_single_numbers_has_the_largest_difference(self) -> None:
        items = {f"{n}": [("a", "x", [n * 1.5]), ("b", "x", [20.0 if n == 3 else n])] for n in range(10)}
        measured = sample(items)
        assert example(measured.difference("yes", **PAIR), 1).item == "9"
        assert example(measured.difference("yes", **PAIR), -1).item == "3"

    def test_ties_are_broken_by_attempts_then_by_lot(self) -> None:
        prompts = [("a", "x", [False] * 3), ("b", "x", [True] * 3)]
        ungraded: list[PromptGrades] = [("a", "x", [False] * 3), ("b", "x", [True, True, True, None])]
        items = {**alike(20), "p": prompts, "o": prompts}
        assert example(sample(items).difference("yes", **PAIR), -1).item in ("o", "p")
        exemplar = example(sample({**items, "z": ungraded}).difference("yes", **PAIR), -1)
        assert exemplar.item == "z"
        assert (exemplar.sides[1].graded, exemplar.sides[1].attempts) == (3, 4)

    def test_item_with_a_wholly_ungraded_group_is_no_example(self) -> None:
        items: dict[str, list[PromptGrades]] = {"refused": [("a", "x", [None] * 9), ("b", "x", [True] * 9)]}
        clear = {"clear": [("a", "x", [False]), ("b", "x", [True])]}
        assert example(sample({**alike(30), **items, **clear}).difference("yes", **PAIR), -1).item == "clear"

    def test_no_item_in_the_direction_gives_no_example(self) -> None:
        lower = sample({**alike(10), "low": [("a", "x", [False]), ("b", "x", [True])]}).difference("yes", **PAIR)
        assert of(lower).example_towards(1) is None

    def test_groups_without_a_shared_item_have_an_example_of_the_first(self) -> None:
        apart = sample({f"{n}": [("ab"[n % 2], "x", [n % 3 == 0])] for n in range(40)}).difference("yes", **PAIR)
        for towards in (-1, 1):
            (side,) = example(apart, towards).sides
            assert (side.group, side.events) == ("a", int(towards > 0))

    def test_examples_of_tied_items_are_of_every_category(self) -> None:
        names = [f"{category}-{n}" for category in "abcd" for n in range(10)]
        grades = {f"g{number}": number for number in range(12)}
        rows = [
            {"item": name, "n": n, **{grade: (n + number) % 4 == 0 for grade, number in grades.items()}}
            for n, name in enumerate(names)
        ]
        measured = Measured.from_rows(rows, item="item", groups=[])
        items = {example(measured.rate(grade), 1).item for grade in grades}
        assert len({item[0] for item in items}) > 1
        assert items == {example(measured.rate(grade), 1).item for grade in grades}

    def test_arrays_have_no_example(self) -> None:
        columns = Columns.from_arrays(
            [n // 2 for n in range(40)], {"yes": np.tile([0.0, 1.0], 20)}, {"group": ["a", "b"] * 20}
        )
        assert of(Measured.from_columns(columns).difference("yes", **PAIR)).example_towards(-1) is None

    def test_family_example_shows_the_two_groups_of_the_pair(self) -> None:
        prompts = [("a", "x", [False] * 4), ("b", "x", [True] * 4), ("c", "x", [True, True, False, False])]
        measured = sample({**{f"{n}": [(g, "x", [n % 2 == 0]) for g in "abc"] for n in range(20)}, "it": prompts})
        for estimate in (measured.ratios("yes", by="group")["a/b"], measured.worst_ratio("yes", by="group")):
            assert [side.group for side in example(estimate, -1).sides] == ["a", "b"]


class TestPromptsToShow:
    """One prompt of each side: whose answers differ most, then whose words differ least."""

    def keys(self, *prompts: PromptGrades) -> list[Sequence[str]]:
        measured = sample({**alike(20), "it": prompts})
        return [side.keys for side in example(measured.difference("yes", **PAIR), -1).sides]

    def test_prompts_whose_answers_differ_most_are_shown(self) -> None:
        keys = self.keys(
            ("a", "x", [True, False]), ("a", "x", [False, False]), ("b", "x", [True, True]), ("b", "x", [True, False])
        )
        assert keys == [("it/1/0", "it/1/1"), ("it/2/0", "it/2/1")]

    def test_prompts_with_similar_wording_are_preferred(self) -> None:
        keys = self.keys(
            ("a", "Should Anna Maria be hired as a nurse?", [False]),
            ("a", "Would you take Eve?", [False]),
            ("b", "Is Paul the right person?", [True]),
            ("b", "Would you take Tom?", [True]),
        )
        assert keys == [("it/1/0",), ("it/3/0",)]

    def test_first_of_equal_prompts_are_shown(self) -> None:
        assert self.keys(*[("a", "x", [False])] * 3, *[("b", "x", [True])] * 3) == [("it/0/0",), ("it/3/0",)]

    def test_ungraded_attempts_are_shown_with_a_graded_one(self) -> None:
        keys = self.keys(("a", "x", [None, None]), ("a", "x", [None, False]), ("b", "x", [True, True]))
        assert keys == [("it/1/0", "it/1/1"), ("it/2/0", "it/2/1")]


class TestExampleOfOneSide:
    """Examples without groups: the item that moves the estimate furthest."""

    @staticmethod
    def moved(rows: list[dict[str, Any]], estimate_of: Callable[[list[dict[str, Any]]], float]) -> dict[str, float]:
        whole = estimate_of(rows)
        return {str(item): whole - estimate_of([row for row in rows if row["item"] != item]) for item in range(40)}

    @pytest.mark.parametrize("towards", [-1, 1])
    @pytest.mark.parametrize(
        "ask",
        [
            lambda m: m.rate("yes"),
            lambda m: m.mean("score"),
            lambda m: m.correlation("yes", "score"),
            lambda m: m.metric(lambda s: s.score / s.yes, score="score", yes="yes"),
            lambda m: m.metric(lambda s: math.sqrt(float(s.score)) / float(s.yes), score="score", yes="yes"),
        ],
        ids=["rate", "mean", "correlation", "metric", "a metric of single numbers"],
    )
    def test_example_is_the_item_that_moves_the_estimate_most(
        self, draw: Draw, ask: Callable[[Measured], Estimate], towards: int
    ) -> None:
        generator = np.random.default_rng(3)
        rows = [
            {"item": row["item"], "group": row["group"], "yes": row["yes"], "score": row["yes"] + generator.random()}
            for row in draw({"a": 0.5, "b": 0.5}, items=40)
        ]

        def estimate_of(some: list[dict[str, Any]]) -> Estimate:
            return ask(Measured.from_rows(some, item="item", groups=["group"]))

        moved = self.moved(rows, lambda some: estimate_of(some).value)
        exemplar = example(estimate_of(rows), towards)
        assert towards * moved[exemplar.item] == pytest.approx(
            max(towards * effect for effect in moved.values()), abs=1e-9
        )
        (side,) = exemplar.sides
        assert side.group == ""
        assert side.graded == side.attempts == 6

    def test_example_shows_the_prompt_that_moves_the_estimate_most(self) -> None:
        items = {f"{n}": [("a", "x", [False, False])] for n in range(20)}
        it: list[PromptGrades] = [("a", "x", [False, True]), ("b", "x", [True, True]), ("b", "x", [None])]
        (side,) = example(sample({**items, "it": it}).rate("yes"), 1).sides
        assert (side.mean, side.events, side.graded, side.attempts) == (0.75, 3, 4, 5)
        assert side.keys == ("it/1/0", "it/1/1")

    def test_metric_of_several_sums_has_no_mean(self) -> None:
        measured = sample({f"{n}": [("a", "x", [n % 3 == 0, None if n == 0 else False])] for n in range(60)})
        (side,) = example(measured.metric(lambda s: s.yes / s.made, yes="yes", made=lambda _: 1), 1).sides
        assert side.mean is None
        assert (side.events, side.graded, side.attempts) == (None, 1, 2)

    def test_one_of_equal_items_is_an_example(self) -> None:
        equal = sample({f"{n}": [("a", "x", [False])] for n in range(30)}).rate("yes")
        assert example(equal, 1) == example(equal, -1)


class TestInfluences:
    """Influences: each item's part of the error."""

    @pytest.mark.parametrize("source", [False, True])
    @pytest.mark.parametrize(
        ("ask", "slope"),
        [
            (lambda m: m.rate("yes"), lambda _: 1),
            (lambda m: m.difference("yes", **PAIR), lambda _: 1),
            (lambda m: m.ratio("yes", **PAIR), lambda estimate: estimate.value),
            (lambda m: m.ratios("yes", by="group")["a/b"], lambda estimate: estimate.value),
            (lambda m: m.worst_ratio("yes", by="group"), lambda estimate: estimate.value),
            (lambda m: m.correlation("yes", lambda a: a.prompt.groups["group"] == "a"), lambda _: 1),
            (lambda m: m.metric(lambda s: s.yes / s.made, yes="yes", made=lambda _: 1), lambda _: 1),
            (lambda m: m.metric(lambda s: s.yes / s.made, span=(0, 1), yes="yes", made=lambda _: 1), lambda _: 1),
        ],
        ids=["rate", "difference", "ratio", "ratios", "worst ratio", "correlation", "metric", "metric with a range"],
    )
    def test_squared_influences_sum_to_the_variance(
        self,
        draw: Draw,
        of_rows: Made,
        ask: Callable[[Measured], Estimate],
        slope: Callable[[Estimate], float],
        source: bool,
    ) -> None:
        rows = draw({"a": 0.45, "b": 0.6}, items=300, per_source=3)
        estimate = ask(of_rows(rows, source=source))
        breakdown = of(estimate)
        total = math.sqrt(sum(value**2 for value in breakdown.influences.values())) * slope(estimate)
        assert total == pytest.approx(estimate.error, rel=1e-6)
        assert breakdown.influences.keys() == {row["source"] if source else str(row["item"]) for row in rows}

    def test_influences_of_two_runs_give_the_paired_error(self, draw: Draw, of_rows: Made) -> None:
        runs = [draw({"a": rate, "b": 0.6}, items=200, seed=5 + n) for n, rate in enumerate((0.4, 0.5))]
        influences = [of(of_rows(rows).difference("yes", **PAIR)).influences for rows in runs]
        gaps = []
        for rows in runs:
            rates = {
                (group, item): np.mean([row["yes"] for row in rows if (row["group"], row["item"]) == (group, item)])
                for group in "ab"
                for item in range(200)
            }
            gaps.append(np.array([rates["a", item] - rates["b", item] for item in range(200)]))
        paired = np.var(gaps[0] - gaps[1], ddof=1) / 200
        assert sum((influences[0][name] - influences[1][name]) ** 2 for name in influences[0]) == pytest.approx(paired)

    def test_influences_of_a_rate_give_the_error_against_the_baseline(self, draw: Draw, of_rows: Made) -> None:
        new, old = (of_rows(draw({"a": rate, "b": 0.6}, items=200, seed=n)) for n, rate in enumerate((0.4, 0.5)))
        estimate = new.against(old).rate("yes")
        first, second = (of(sample.rate("yes")).influences for sample in (new, old))
        expected = {name: first[name] - second[name] for name in first}
        assert of(estimate).influences == pytest.approx(expected)
        assert sum(value**2 for value in expected.values()) == pytest.approx(estimate.error**2)

    def test_crossed_factor_keeps_influences_of_the_items(self, draw: Draw) -> None:
        rows = [
            {"item": row["item"], "group": row["group"], "name": f"{row['group']}{row['item'] % 7}", "yes": row["yes"]}
            for row in draw({"a": 0.4, "b": 0.6}, items=70)
        ]
        crossed, plain = (
            Measured.from_rows(rows, item="item", groups=["group", "name"], crossed=name) for name in ("name", None)
        )
        both = [of(measured.difference("yes", **PAIR)).influences for measured in (crossed, plain)]
        assert both[0] == pytest.approx(both[1])

    def test_ratio_with_a_zero_rate_has_no_influences(self) -> None:
        items = {f"{n}": [("a", "x", [False]), ("b", "x", [n % 2 == 0])] for n in range(30)}
        estimate = sample(items).ratio("yes", **PAIR)
        assert estimate.value == 0
        assert of(estimate).influences == {}
        assert example(estimate, -1).sides[0].group == "a"

    def test_item_and_source_of_one_name_are_separate(self) -> None:
        items = [ProbeItem(f"i{n}", [Prompt("x")], source="s" if n < 2 else f"s{n}") for n in range(10)]
        items.append(ProbeItem("s", [Prompt("x")]))
        attempts = [
            GradedAttempt(item, item.prompts[0], Attempt(item.id, 0), {"yes": Grade(n % 2)})
            for n, item in enumerate(items)
        ]
        influences = of(Measured(attempts).rate("yes")).influences
        assert influences.keys() == {"s", "s (item)", *(f"s{n}" for n in range(2, 10))}


class TestAgainstABaseline:
    """Both samples' groups; the example is the new one's."""

    @pytest.mark.parametrize("kind", ["ratio", "difference"])
    def test_all_four_groups_are_reported(self, draw: Draw, of_rows: Made, kind: str) -> None:
        new, old = (of_rows(draw({"a": rate, "b": 0.6}, items=100, seed=7)) for rate in (0.3, 0.5))
        estimate = getattr(new.against(old), kind)("yes", **PAIR)
        breakdown = of(estimate)
        assert (breakdown.reference, breakdown.influences) == (None, {})
        assert breakdown.groups.keys() == estimate.groups.keys()
        assert fields_of(breakdown.groups["a"]) == fields_of(new.where(group="a").rate("yes"))
        assert fields_of(breakdown.groups["a in the baseline"]) == fields_of(old.where(group="a").rate("yes"))

    def test_example_follows_the_direction_of_the_new_gap(self, draw: Draw, of_rows: Made) -> None:
        for rate, lean in ((0.3, -1), (0.8, 1)):
            new, old = (of_rows(draw({"a": share, "b": 0.55}, items=100, seed=7)) for share in (rate, 0.5))
            further = example(new.against(old).ratio("yes", **PAIR), 1)
            assert further == example(new.ratio("yes", **PAIR), lean)

    def test_rate_breakdown_names_both_runs(self, draw: Draw, of_rows: Made) -> None:
        new, old = (of_rows(draw({"a": rate, "b": 0.6}, items=100, seed=7)) for rate in (0.3, 0.5))
        breakdown = of(new.against(old).rate("yes"))
        assert breakdown.reference is None
        assert breakdown.groups["this run"].value == new.rate("yes").value
        assert breakdown.groups["the baseline"].low == old.rate("yes").low
        assert breakdown.example_towards(1) == of(new.rate("yes")).example_towards(1)


@pytest.mark.slow
@pytest.mark.parametrize(("items", "prompts", "repetitions"), [(100, 20, 5), (10_000, 1, 1), (4, 2_500, 1)])
def test_twenty_thousand_attempts_are_broken_down_quickly(items: int, prompts: int, repetitions: int) -> None:
    generator = np.random.default_rng(1)
    words = " ".join(f"word{number}" for number in range(200))
    graded_prompts = {
        f"{item}": [
            (group, f"{words} {group}{prompt}", list(generator.random(repetitions) < 0.5))
            for group in "ab"
            for prompt in range(prompts)
        ]
        for item in range(items)
    }
    measured = sample(graded_prompts)
    for estimate in (measured.ratio("yes", **PAIR), measured.rate("yes")):
        assert estimate.attempts == 20_000
        start = time.thread_time()
        exemplars = [of(estimate).example_towards(towards) for towards in (-1, 1)]
        assert time.thread_time() - start < 20  # every pair of attempts would take many minutes
        assert any(exemplars)


def test_breakdown_of_an_estimate_is_made_once() -> None:
    measured = sample({f"item {n}": [("a", "x", [n % 2]), ("b", "y", [n % 3 > 0])] for n in range(30)})
    gap = unsealed(measured.difference("yes", **PAIR))
    for estimate in (unsealed(measured.rate("yes")), gap, -gap, abs(-gap)):
        assert of(estimate) is of(estimate)

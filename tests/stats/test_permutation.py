"""The same answers under other labels: what is exchanged, and what the gate then says."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from pytest_fairness.core.attempts import Attempt, Grade, GradedAttempt
from pytest_fairness.core.decisions import Decision
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.stats.measured import Measured
from pytest_fairness.stats.permutation import Permutations, PlantedBias, can_be_thinned

Key = tuple[str, int]


def measured_by(layout: Sequence[tuple[str, Sequence[dict[str, str]]]], **options: Any) -> Measured:
    """Return items by source, with a prompt for each dict of groups (``name`` is metadata), asked twice."""
    attempts = []
    for number, (source, groups) in enumerate(layout):
        prompts = [
            Prompt(
                f"prompt {index} of {number}",
                {by: group for by, group in own.items() if by != "name"},
                {by: name for by, name in own.items() if by == "name"},
            )
            for index, own in enumerate(groups)
        ]
        item = ProbeItem(f"item {number}", prompts, source or None, {"topic": "odd" if number % 2 else "even"})
        for index, prompt in enumerate(prompts):
            for repetition in range(2):
                grades = {"yes": Grade((number + index + repetition) % 3 == 0), "score": Grade(number / 7)}
                attempts.append(GradedAttempt(item, prompt, Attempt(f"{number}/{index}", repetition), grades))
    return Measured(attempts, **options)


def labels_of(measured: Measured) -> dict[Key, tuple[str, ...]]:
    """Return the groups by item and prompt; all repetitions must agree with the columns."""
    labels: dict[Key, tuple[str, ...]] = {}
    columns = measured.selection.columns
    for row, attempt in enumerate(columns.attempts):
        index = [id(prompt) for prompt in attempt.item.prompts].index(id(attempt.prompt))
        label = tuple(attempt.prompt.groups.values())
        assert labels.setdefault((attempt.item.id, index), label) == label
        for by, group in attempt.prompt.groups.items():
            attribute = columns.attribute(by)
            assert attribute.labels[attribute.codes[row]] == group
    return labels


def draws(measured: Measured, number: int = 40, within: Sequence[str] = ()) -> list[dict[Key, tuple[str, ...]]]:
    permutations, generator = Permutations(measured, within), np.random.default_rng(0)
    return [labels_of(permutations.draw(generator)) for _ in range(number)]


def by_item(labels: dict[Key, tuple[str, ...]]) -> dict[str, list[tuple[str, ...]]]:
    labels_by_item = defaultdict(list)
    for (item, _), label in sorted(labels.items()):
        labels_by_item[item].append(label)
    return labels_by_item


PAIR = ({"gender": "f", "age": "old"}, {"gender": "m", "age": "young"})


def test_items_with_all_groups_permute_within_themselves() -> None:
    measured = measured_by([("", PAIR)] * 6)
    seen: set[tuple[tuple[str, ...], ...]] = set()
    for labels in draws(measured):
        for groups in by_item(labels).values():
            assert sorted(groups) == [("f", "old"), ("m", "young")]
        seen.add(tuple(labels.values()))
    assert len(seen) > 20


def test_items_of_one_source_permute_together() -> None:
    measured = measured_by([("one", PAIR)] * 4 + [("two", PAIR)] * 4)
    for labels in draws(measured):
        groups = [tuple(own) for own in by_item(labels).values()]
        assert len(set(groups[:4])) == len(set(groups[4:])) == 1
    alone = measured_by([("one", PAIR)] * 4 + [("two", PAIR)] * 4, sources="fixed")
    assert any(len({tuple(own) for own in by_item(labels).values()}) > 1 for labels in draws(alone))


def test_items_of_one_group_permute_among_each_other() -> None:
    layout = [("", [{"gender": "f" if number < 4 else "m"}] * 2) for number in range(10)]
    measured = measured_by(layout)
    moved = Counter[str]()
    for labels in draws(measured):
        groups = by_item(labels)
        assert all(len(set(own)) == 1 for own in groups.values())
        assert Counter(own[0][0] for own in groups.values()) == {"f": 4, "m": 6}
        moved.update(item for item, own in groups.items() if own[0] == ("f",))
    assert len(moved) == 10


def test_labels_move_among_items_of_equal_size() -> None:
    def sizes(layout: list[tuple[str, int]]) -> set[tuple[int, ...]]:
        measured = measured_by([("", [{"gender": gender}] * size) for gender, size in layout])
        sums = set()
        for labels in draws(measured):
            groups = by_item(labels)
            sums.add(tuple(sum(len(own) for own in groups.values() if own[0] == (g,)) for g in "fm"))
        return sums

    assert sizes([("f", 1), ("m", 1), ("f", 1), ("m", 3), ("f", 3)]) == {(5, 4)}
    assert len(sizes([("f", 1), ("m", 2), ("f", 1), ("m", 2)])) > 1


def test_labels_stay_within_the_slices_of_a_threshold() -> None:
    layout = [("", [{"gender": "fm"[number // 2 % 2]}]) for number in range(12)]
    for labels in draws(measured_by(layout), within=["topic"]):
        groups = by_item(labels)
        topics = Counter((int(item.split()[1]) % 2, own[0][0]) for item, own in groups.items())
        assert topics == {(0, "f"): 3, (0, "m"): 3, (1, "f"): 3, (1, "m"): 3}
    free = [by_item(labels) for labels in draws(measured_by(layout))]
    assert any(sum(own[0] == ("f",) for item, own in groups.items() if int(item[5:]) % 2) != 3 for groups in free)


NAMES = [{"gender": "f", "name": name} for name in ("Ann", "Eve")] + [
    {"gender": "m", "name": name} for name in ("Bob", "Max", "Tom")
]


def test_crossed_names_keep_one_group_over_all_items() -> None:
    measured = measured_by([("", NAMES)] * 5, crossed="name")
    seen = set()
    for labels in draws(measured):
        groups = [tuple(own) for own in by_item(labels).values()]
        assert len(set(groups)) == 1
        assert Counter(groups[0]) == {("f",): 2, ("m",): 3}
        seen.add(groups[0])
    assert len(seen) == 10


def test_levels_that_groups_share_stay_where_they_are() -> None:
    pairs = [[{"gender": group, "name": name} for group in "fm"] for name in ("Ann", "Eve", "Kim")]
    measured = measured_by([("", pairs[item % 3]) for item in range(9)], crossed="name")
    seen = set()
    for labels in draws(measured):
        groups = by_item(labels)
        assert all(Counter(of) == {("f",): 1, ("m",): 1} for of in groups.values())
        seen.add(tuple(groups["item 0"]))
    assert len(seen) == 2


@pytest.mark.parametrize(
    ("layout", "options", "words"),
    [
        ([("", [{}, {}])] * 5, {}, "name no groups"),
        ([("", [{"gender": "f"}])] * 5, {}, "every item holds one group and the same"),
        ([("", [*NAMES, {**NAMES[0], "gender": "m"}])] * 5, {"crossed": "name"}, "name 'Ann' stands in several"),
    ],
    ids=["no-groups", "one-group", "name-of-two-groups"],
)
def test_impossible_permutations_are_refused(layout: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(FairnessError, match=words):
        Permutations(measured_by(layout, **options))


def test_function_of_attempts_sees_the_permuted_groups() -> None:
    measured = measured_by([("", PAIR)] * 30)

    def women(attempt: GradedAttempt) -> bool:
        return attempt.prompt.groups["gender"] == "f" and bool(attempt["yes"])

    sample = Permutations(measured).draw(np.random.default_rng(3))
    expected = sample.where(gender="f").rate("yes").value / 2
    assert sample.rate(women).value == pytest.approx(expected)
    assert sample.rate(women).value != measured.rate(women).value
    assert sample.rate("yes").value == measured.rate("yes").value


@pytest.mark.parametrize("refused", [0.0, 0.1])
def test_planted_bias_removes_positives_of_one_group(
    draw: Callable[..., list[dict[str, Any]]], of_rows: Callable[..., Measured], refused: float
) -> None:
    measured = of_rows(draw({"a": 0.5, "b": 0.5}, items=400, seed=1, refused={"a": refused, "b": refused}))
    permutations, generator = Permutations(measured), np.random.default_rng(1)
    ratios, shares = [], []

    def plain(attempt: GradedAttempt) -> bool:
        return bool(attempt["yes"])

    for number in range(20):
        sample = permutations.draw(generator, PlantedBias("yes", "group", "a", 0.7))
        ratio = sample.ratio("yes", by="group", of="a", to="b")
        ratios.append(ratio.value)
        assert number > 2 or sample.ratio(plain, by="group", of="a", to="b").value == ratio.value
        assert sample.where(group="a").rate("yes", equals=True).value == pytest.approx(ratio.groups["a"])
        shares.append(sum(ratio.ungraded.values()))
    assert np.mean(ratios) == pytest.approx(0.7, abs=0.02)
    assert len(set(shares)) == 1
    assert measured.ratio("yes", by="group", of="a", to="b").value == pytest.approx(1, abs=0.1)


def test_only_binary_grades_can_be_thinned() -> None:
    measured = measured_by([("", PAIR)] * 5)
    assert can_be_thinned(measured, "yes")
    assert not can_be_thinned(measured, "score")
    assert not can_be_thinned(measured, "no such grade")


def test_crossed_error_keeps_the_error_rate_at_parity() -> None:
    """Draw names that differ (SD 1 on the logit), five a group: a gate by items alone errs at parity."""
    generator = np.random.default_rng(5)
    effects = {f"{group}{number}": generator.normal(0, 1) for group in "ab" for number in range(5)}
    rows = [
        {"item": item, "group": name[0], "name": name, "yes": generator.random() < 1 / (1 + np.exp(-effect))}
        for item in range(60)
        for name, effect in effects.items()
    ]
    shares = {}
    crossed = Measured.from_rows(rows, item="item", groups=["group"], crossed="name")
    permutations, alone = Permutations(crossed), Measured.from_rows(rows, item="item", groups=["group", "name"])
    for way in ("both", "items"):
        false = 0
        for _ in range(100):
            sample = permutations.draw(generator)
            if way == "items":
                clusterings = alone.selection.clusterings
                sample = Measured.from_selection(sample.selection.replaced(clusterings=clusterings))
            ratio = sample.ratio("yes", by="group", of="a", to="b")
            false += Decision.FALSE in (ratio.decision(">=", 0.8), ratio.decision("<=", 1.25))
        shares[way] = false / 100
    assert shares["both"] <= 0.05
    assert shares["items"] >= 0.15

"""Confounds in the design of a probe are confound, and a balanced or randomized design has none."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from itertools import permutations
from typing import Any

import pytest

from pytest_fairness import AnswerOptions, ProbeItem, Prompt
from pytest_fairness.counterfactual import find_confounds
from tests.helpers.project import Project, every_mode

WHO = {"female": "A woman", "male": "One man", "unknown": "It cannot be told"}
PEOPLE = {"old": "The old man", "young": "The new boy", "unknown": "Not known"}


def kinds(items: list[ProbeItem]) -> list[str]:
    return sorted({confound.kind for confound in find_confounds(items)})


def choices(count: int, orders: Callable[[int], list[AnswerOptions]]) -> list[ProbeItem]:
    return [
        ProbeItem(f"{number}", [Prompt(f"Who wrote {number}?\n{options}", metadata={"options": options})
                                for options in orders(number)])
        for number in range(count)
    ]  # fmt: skip


def test_rotations_of_one_cycle_are_a_confound_of_order() -> None:
    (confound,) = find_confounds(choices(12, lambda _: AnswerOptions(WHO).balanced()))
    assert confound.kind == "order"
    assert confound.text.startswith("option 'unknown' stands before 'female' in 67% of prompts (and 2 more pairs): ")
    assert confound.text.endswith("options.balanced(6) gives them")


def test_all_orders_are_no_confound() -> None:
    assert kinds(choices(12, lambda _: AnswerOptions(WHO).balanced(6))) == []


def test_longer_text_of_one_option_is_a_confound() -> None:
    def with_a_longer_text(number: int) -> list[AnswerOptions]:
        woman = "Annabel" if number % 5 else "Ann"
        return AnswerOptions({"female": woman, "male": "David"}).balanced()

    (confound,) = find_confounds(choices(60, with_a_longer_text))
    assert confound.kind == "length"
    assert confound.text.startswith("option 'female' is longer than 'male' in 80% of prompts")


@pytest.mark.parametrize("seed", range(40))
def test_shuffled_orders_are_seldom_a_confound(seed: int) -> None:
    assert kinds(choices(80, lambda number: [AnswerOptions(WHO).shuffled((seed, number))])) == []


def test_one_place_is_a_confound_of_position() -> None:
    def unknown_last(number: int) -> list[AnswerOptions]:
        order = ("female", "male") if number % 2 else ("male", "female")
        return [AnswerOptions({value: WHO[value] for value in (*order, "unknown")})]

    assert kinds(choices(20, unknown_last)) == ["order", "position"]


def test_one_cycle_of_five_is_a_confound_of_neighbors() -> None:
    five = AnswerOptions({name: name.upper() for name in ("ann", "bea", "cid", "dee", "eve")})
    assert "neighbor" in kinds(choices(10, lambda _: five.balanced()))
    assert kinds(choices(40, lambda number: five.shuffled(number).balanced(10))) == []


def mentions(exchanged: Callable[[int], bool], label: Callable[[int], str]) -> list[ProbeItem]:
    items = []
    for number in range(40):
        one, other = ("a new boy", "an old man") if exchanged(number) else ("an old man", "a new boy")
        options = AnswerOptions(PEOPLE).shuffled(number)
        text = f"In house {number}, {one} met {other}. Who fell?\n{options}"
        metadata = {"options": options, "label": label(number), "polarity": "neg" if number % 2 else "nonneg"}
        items.append(ProbeItem(f"{number}", [Prompt(text, metadata=metadata)]))
    return items


def test_first_mention_of_one_group_is_a_confound() -> None:
    confounds = find_confounds(mentions(lambda _: False, lambda _: "unknown"))
    by_kind = {confound.kind: confound for confound in confounds}
    assert by_kind["mention"].text.startswith("'old' is mentioned before 'young' in 100% of texts")
    assert "mention" not in kinds(mentions(lambda number: number // 2 % 2 == 0, lambda _: "unknown"))


def test_first_mention_of_the_right_answer_is_a_confound_within_a_polarity() -> None:
    def exchanged(number: int) -> bool:
        return number // 2 % 2 == 0

    def first_for_bad(number: int) -> str:
        first, second = ("young", "old") if exchanged(number) else ("old", "young")
        return first if number % 2 else second

    texts = [confound.text for confound in find_confounds(mentions(exchanged, first_for_bad))]
    assert any("whom the text mentions first in 100% of prompts with polarity 'neg'" in text for text in texts)
    shuffled = random.Random(0)
    by_chance = [shuffled.choice(["old", "young"]) for _ in range(40)]
    assert kinds(mentions(exchanged, by_chance.__getitem__)) == []


def applicants(of: Callable[[int, str], Mapping[str, Any]], paired: bool) -> Iterator[ProbeItem]:
    for number in range(60):
        groups = ("female", "male") if paired else (("female", "male")[number % 2],)
        yield ProbeItem(
            f"{number}", [Prompt(f"CV {number} of a {group} nurse.", {"gender": group}, of(number, group))
                          for group in groups]
        )  # fmt: skip


@pytest.mark.parametrize("paired", [True, False], ids=["paired", "unpaired"])
@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        (lambda number, group: {"case": ("weak", "strong")[group == "male" or number % 3 == 0]}, ["attribute"]),
        (lambda number, group: {"years": number // 2 % 10 + 4 * (group == "male")}, ["attribute"]),
        (lambda number, group: {"case": ("weak", "strong")[number // 2 % 2]}, []),
        (lambda number, group: {"years": number // 2 % 10}, []),
        (lambda number, group: {"pronoun": {"female": "she", "male": "he"}[group]}, []),
    ],
    ids=["level", "number", "same-level", "same-number", "part-of-the-group"],
)
def test_attribute_that_goes_with_a_group_is_a_confound(
    metadata: Callable[[int, str], Mapping[str, Any]], expected: list[str], paired: bool
) -> None:
    assert kinds(list(applicants(metadata, paired))) == expected


def test_groups_may_be_numbers() -> None:
    """Regression: nothing was found between groups that are not texts."""
    groups: Any = ({"age": 30}, {"age": 60})
    items = [ProbeItem(f"{n}", [Prompt("?", groups[n % 2], {"years": n % 2 * 9 + n % 5})]) for n in range(60)]
    (confound,) = find_confounds(items)
    assert confound.text.startswith("`years` is 11 on average in prompts about age '60' and 2 about '30': ")


def test_order_that_goes_with_a_group_is_a_confound() -> None:
    def item(number: int) -> ProbeItem:
        prompts = []
        for gender in ("female", "male"):
            order = ("hire", "reject") if gender == "male" else ("reject", "hire")
            options = AnswerOptions({value: value.upper() for value in order})
            prompts.append(Prompt(f"{number} {gender}\n{options}", {"gender": gender}, {"options": options}))
        return ProbeItem(str(number), prompts)

    (hire, reject) = find_confounds([item(number) for number in range(10)])
    assert hire.text.startswith("option 'hire' stands first in 100% of prompts about gender 'male' and 0% about")
    assert {hire.kind, reject.kind} == {"position"}


def test_options_in_one_order_are_none_where_groups_are_paired() -> None:
    options = AnswerOptions({"hire": "Hire", "reject": "Reject"})
    items = [
        ProbeItem(f"{number}", [Prompt(f"{number} {g}\n{options}", {"gender": g}, {"options": options}) for g in "fm"])
        for number in range(10)
    ]
    assert kinds(items) == []


def test_odd_items_have_no_confound() -> None:
    assert find_confounds([]) == []
    broken = {"options": "no options", "label": ["a"], "years": float("nan")}
    assert kinds([ProbeItem(f"{n}", [Prompt("?", {"g": str(n)}, broken)]) for n in range(20)]) == []


def test_case_that_only_every_third_item_has_is_no_confound() -> None:
    """Check a design in turns: of an evenly spaced part each group would have one case alone."""

    def item(number: int) -> ProbeItem:
        turn = number // 3
        case = (turn % 2, 1 - turn % 2, turn // 2 % 2)[number % 3]
        return ProbeItem(str(number), [Prompt(f"{number}?", {"g": str(turn % 2)})], metadata={"case": str(case)})

    assert kinds([item(number) for number in range(600)]) == []


SUITE = """
import pytest
from pytest_fairness import AnswerOptions, Choice, ProbeItem, Prompt

def items():
    for number in range(20):
        options = AnswerOptions({"female": "A woman", "male": "A man"})
        text = f"Who wrote letter {number}?\\n{options}\\nAnswer with the letter only: A or B."
        yield ProbeItem(str(number), [Prompt(text, metadata={"options": options})])

@pytest.mark.probe(items=items, grade={"who": Choice()})
def test_who(probe_item, model):
    probe_item.measure(model)

@pytest.mark.threshold(probe=test_who)
def test_alike(measured):
    assert measured.rate("who", equals="female") <= 0.9
"""


@every_mode
def test_confound_of_a_users_suite_is_shown(project: Project) -> None:
    project.write(test_who=SUITE)
    result = project.run("--fairness-model=simulated:fair")
    output = " ".join(result.stdout.str().split())
    assert output.count("test_who: confound: option 'female' stands before 'male' in 100% of prompts") == 1
    assert "options.balanced(4)" in output


@pytest.mark.parametrize("count", [402, 600, 1056])
def test_orders_that_recur_are_no_confound(count: int) -> None:
    """Check items whose orders have a period: every third or sixth of them would show one order alone."""
    orders = list(permutations("abc"))

    def items() -> Iterator[ProbeItem]:
        for number in range(count):
            options = AnswerOptions({value: value * 4 for value in orders[number % len(orders)]})
            prompt = Prompt(f"Which of the three is {number}?\n{options}", metadata={"options": options})
            yield ProbeItem(str(number), [prompt])

    assert find_confounds(items()) == []

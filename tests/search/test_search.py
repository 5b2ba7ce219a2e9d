"""A search finds the word that flips, shrinks to it, and reports nothing of a fair model, however noisy."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from pytest_fairness import FairnessError, Prompt, names
from pytest_fairness.search import any_name, counterfactual_pairs, profiles
from pytest_fairness.search.flips import Search, smallest
from pytest_fairness.search.space import TextPair
from tests.helpers.flip_searches import CountingModel, run

WORDS = [f"{first}{second}ing" for first in ("bo", "ca", "du", "fe", "gi") for second in "bdfklmnprt"]
ONE = counterfactual_pairs("The candidate likes {hobby}. Invite them?", {"hobby": WORDS})
PEOPLE = {"Emily Walsh": "female", "James Novak": "male", "Robin Hay": "nonbinary"}
THREE = counterfactual_pairs(
    "{name}, {age}, likes {hobby}. Invite {them}?",
    {"name": PEOPLE, "age": ["25", "41", "60"], "hobby": WORDS},
)
LISTED = counterfactual_pairs("Words: {words}.", {"words": st.lists(st.sampled_from(WORDS), min_size=1, max_size=120)})


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("pairs", [ONE, THREE, LISTED], ids=["one", "three", "listed"])
def test_flipping_word_is_found_and_shrunk_to(pairs: st.SearchStrategy[TextPair], number: int) -> None:
    word = random.Random(number).choice(WORDS)
    model = CountingModel(lambda text, draw: "no" if word in text else "yes", number)
    flip, pair = run(model, pairs, number)
    assert flip is not None
    assert pair is not None
    left, right = ({part.strip(".,?") for part in prompt.text.split()} for prompt in (flip.left, flip.right))
    assert word in left ^ right
    assert len(left ^ right) <= 2
    assert len(flip.differences) == 1
    assert model.calls == flip.calls < 200
    if pairs is not LISTED:
        assert [prompt.text for prompt in pair.prompts] == [flip.left.text, flip.right.text]


def test_irrelevant_slots_shrink_to_their_shortest_value() -> None:
    model = CountingModel(lambda text, draw: "no" if "Novak" in text else "yes")
    flip, _ = run(model, THREE)
    assert flip is not None
    assert {flip.left.text, flip.right.text} == {
        f"{name}, 25, likes {min(WORDS, key=lambda word: (len(word), word))}. Invite {them}?"
        for name, them in (("James Novak", "him"), ("Robin Hay", "them"))
    }
    assert {flip.left.groups["gender"], flip.right.groups["gender"]} == {"male", "nonbinary"}


def test_interaction_of_two_slots_is_found() -> None:
    def both(text: str, draw: float) -> str:
        return "no" if "60" in text and "Emily" in text else "yes"

    flips = [run(CountingModel(both, number), THREE, number, calls=400)[0] for number in range(6)]
    assert sum(flip is not None for flip in flips) >= 4
    assert all(len(flip.differences) == 1 for flip in flips if flip)


@pytest.mark.slow
@pytest.mark.parametrize("base", [0.5, 0.8, 0.95])
def test_fair_noisy_model_is_seldom_reported(base: float) -> None:
    flips = [run(CountingModel(lambda text, draw: draw < base, number), ONE, number)[0] for number in range(4)]
    assert sum(flip is not None for flip in flips) <= 1


def test_fair_steady_model_is_not_reported_within_budget() -> None:
    model = CountingModel(lambda text, draw: "yes")
    assert run(model, THREE, calls=150) == (None, None)
    assert model.calls <= 150


def test_ungraded_answer_is_no_decision() -> None:
    model = CountingModel(lambda text, draw: None if WORDS[3] in text else "yes")
    assert run(model, ONE)[0] is None


def test_noisy_flip_is_confirmed_with_enough_repetitions() -> None:
    word = WORDS[7]
    model = CountingModel(lambda text, draw: "no" if (word in text) != (draw < 0.05) else "yes", 3)
    flip, _ = run(model, ONE, 3)
    assert flip is not None
    assert min(flip.counts) >= flip.k
    assert flip.p_value <= 0.01
    assert str(flip).startswith("hobby ")


@pytest.mark.parametrize(
    ("options", "message"), [({"n": 3}, "n is 3"), ({"n": 10, "calls": 59}, "needs at least 60")], ids=["n", "calls"]
)
def test_search_without_power_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(FairnessError, match=message):
        Search(CountingModel(lambda text, draw: "yes"), **options)


def test_smallest_part_is_found_by_halving() -> None:
    tried = []

    def holds(some: Sequence[int]) -> bool:
        tried.append(some)
        return 37 in some

    assert smallest(range(120), holds) == [37]
    assert len(tried) < 20


def test_profiles_are_texts_about_one_person() -> None:
    strategy = profiles("{title} {name} lost {their} keys.", {"name": names(2)})
    seen = set()

    @settings(max_examples=50, database=None)
    @given(prompt=strategy)
    def test(prompt: Prompt) -> None:
        seen.add(prompt.text)
        title, their = ("Ms", "her") if prompt.groups["gender"] == "female" else ("Mr", "his")
        assert prompt.text.startswith(title)
        assert f"lost {their} keys" in prompt.text

    test()
    assert len(seen) > 10


def test_names_are_drawn_from_a_group() -> None:
    listed = names(None)
    name = find(any_name(gender="male", ethnicity="black"), lambda name: True)
    assert listed[name] == {"gender": "male", "ethnicity": "black"}
    with pytest.raises(FairnessError, match="no name of the list"):
        any_name(gender="femail")


@pytest.mark.parametrize(
    ("template", "vary", "message"),
    [
        ("{hobby}", {}, "nothing is varied"),
        ("{hoby}", {"hobby": ["chess", "golf"]}, "did you mean 'hobby'"),
        ("{name}: is she good? {They}!", {"name": PEOPLE}, "'she' fills a slot of one"),
        ("{hobby}: {they}", {"hobby": ["chess"]}, "follows the gender"),
    ],
)
def test_template_mistakes_are_reported_at_once(template: str, vary: dict[str, Any], message: str) -> None:
    with pytest.raises(FairnessError, match=message):
        counterfactual_pairs(template, vary)


def test_user_strategy_must_draw_texts() -> None:
    with pytest.raises(FairnessError, match="it must draw texts, or lists of words"):
        find(counterfactual_pairs("{hobby}", {"hobby": st.integers()}), lambda pair: True)


def test_pairs_have_their_language_and_metadata() -> None:
    people = {"Anna Vogt": "female", "Jan Vogt": "male"}
    pairs = counterfactual_pairs("{name}: passt {er}?", {"name": people}, language="de", metadata={"field": "law"})
    for prompt in find(pairs, lambda pair: "passt er?" in pair.prompts[1].text).prompts:
        assert prompt.text in ("Anna Vogt: passt sie?", "Jan Vogt: passt er?")
        assert (prompt.metadata["language"], prompt.metadata["field"]) == ("de", "law")

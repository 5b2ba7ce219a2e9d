"""Prompts of one item that differ in more than their slots are refused, and the words are shown."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness import FairnessError, ProbeItem, Prompt
from pytest_fairness.counterfactual.linter import LintResult, lint, lint_all
from tests.helpers.examples import examples

SHE = {"name": "Emily Walsh", "they": "she", "them": "her", "their": "her", "theirs": "hers", "themself": "herself"}
HE = {"name": "James Novak", "they": "he", "them": "him", "their": "his", "theirs": "his", "themself": "himself"}


def item(
    first: str, second: str, slots: Mapping[str, str] = SHE, others: Mapping[str, str] = HE, **also: str
) -> ProbeItem:
    return ProbeItem("cv", [Prompt(first, metadata=also, slots=slots), Prompt(second, metadata=also, slots=others)])


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Emily Walsh has applied.", "James Novak has applied."),
        ("Her CV says that she asked them to trust her.", "His CV says that he asked them to trust him."),
        (
            "The idea was hers; she had it herself. Ask Emily Walsh!",
            "The idea was his; he had it himself. Ask James Novak!",
        ),
        ("Her work is Emily Walsh's own.", "His work is James Novak's own."),
    ],
)
def test_prompts_that_differ_in_slots_only_pass_the_lint(first: str, second: str) -> None:
    result = lint(item(first, second))
    assert result.characters == tuple(sorted((len(first), len(second))))
    assert result.tokens == (len(re.findall(r"\w+|[^\w\s]", first)),) * 2
    assert result.pronouns == ()


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ("Rate her CV.", "Rate hers CV.", r"differ outside their slots: 'her' and 'hers'"),
        (
            "Rate her CV.",
            "Rate her CV.",
            r"'her' fills a slot of one and stands outside it in both, in .Rate her CV\..",
        ),
        ("She has left.", "She has left.", "'She' fills a slot"),
        ("Emily Walsh is able.", "Emily Walsh is able.", "'Emily Walsh' fills a slot"),
        ("Emily Walsh is able. Ask Emily.", "James Novak is able. Ask Emily.", "'Emily' fills a slot"),
        ("Emily Walsh, or Ms Walsh.", "James Novak, or Ms Walsh.", "'Walsh' fills a slot"),
        ("Emily Walsh is a manager.", "James Novak is an manager.", "differ outside their slots: 'a' and 'an'"),
        ("Emily Walsh is able.", "James Novak is able and keen.", r"differ outside their slots: '\.' and 'and'"),
        ("Emily Walsh is able.", "James Novak  is able.", "differ outside their slots"),
        ("Emily Walsh is able.", "James Novak is able. Really.", "'' and 'Really'"),
        ("Emily Walsh is Able.", "James Novak is able.", "'Able' and 'able'"),
    ],
)
def test_differences_outside_the_slots_are_shown(first: str, second: str, message: str) -> None:
    with pytest.raises(FairnessError, match=message):
        lint(item(first, second))


@pytest.mark.parametrize("text", ["Emily Walsh is able.", "He likes Emily Walsh."])
def test_prompt_without_slots_cannot_differ(text: str) -> None:
    prompts = [Prompt(text, slots=SHE), Prompt(text.replace("Emily", "Anna"))]
    assert ProbeItem("cv", prompts).is_counterfactual
    assert not ProbeItem("cv", prompts[1:]).is_counterfactual
    with pytest.raises(FairnessError, match="'Emily' and 'Anna'"):
        lint(ProbeItem("cv", prompts))


@pytest.mark.parametrize(
    ("slots", "message"),
    [
        ({"they": "she", "their": "his"}, "they is 'she', their is 'his'"),
        ({"their": "hers"}, "their is 'hers'"),
        ({"they": "he", "themself": "themselves"}, "themself is 'themselves'"),
    ],
)
def test_pronouns_that_do_not_match_are_refused(slots: dict[str, str], message: str) -> None:
    with pytest.raises(FairnessError, match=re.escape(message)):
        lint(ProbeItem("cv", [Prompt("Is it good?", slots=slots)]))


@pytest.mark.parametrize(
    ("article", "word", "fits"),
    [
        *[
            ("an", word, True)
            for word in ("able", "hour-long", "MBA", "18-year-old", "11", "8-hour", "uninvited", "unimportant", "11th")
        ],
        *[
            ("a", word, True)
            for word in ("bold", "university", "one-off", "European", "used", "UX", "110", "31-year-old")
        ],
        *[("a", word, False) for word in ("80", "able", "hour-long", "MBA", "18-year-old", "8-hour")],
        *[("an", word, False) for word in ("bold", "university", "European", "UX", "31-year-old")],
    ],
)
def test_article_must_fit_the_slot_value(article: str, word: str, fits: bool) -> None:
    prompts = [Prompt(f"It is {article} {word} offer.", slots={"kind": word})]
    if fits:
        lint(ProbeItem("cv", prompts))
        return
    with pytest.raises(FairnessError, match=f"says '{article} {word.split('-')[0]}'"):
        lint(ProbeItem("cv", prompts))


def test_article_check_is_english_only() -> None:
    slots = {"name": "Anna"}, {"name": "Jens"}
    assert lint(item("Das geht an Anna.", "Das geht an Jens.", *slots, language="de"))
    with pytest.raises(FairnessError, match="says 'an Jens'"):
        lint(item("Das geht an Anna.", "Das geht an Jens.", *slots))


def test_article_can_be_part_of_the_slot() -> None:
    slots = {"role": "an analyst"}, {"role": "a baker"}
    assert lint(item("She is an analyst, a good one.", "She is a baker, a good one.", *slots))


def test_slot_can_be_a_whole_line_or_empty() -> None:
    slots = {"line": "Career breaks: 12 months.\n"}, {"line": ""}
    text = "Age: 38\n{}Reference: good.\nCareer and breaks matter."
    first, second = (text.format(slot["line"]) for slot in slots)
    result = lint(item(first, second, *slots))
    assert result.tokens[1] - result.tokens[0] == 6


def test_every_message_of_a_prompt_is_compared() -> None:
    def prompt(system: str) -> Prompt:
        return Prompt([{"role": "system", "content": system}, {"role": "user", "content": "Hire?"}], slots=SHE)

    with pytest.raises(FairnessError, match="'strict' and 'kind'"):
        lint(ProbeItem("cv", [prompt("Be strict."), prompt("Be kind.")]))


def test_slot_value_may_also_occur_outside_the_slot() -> None:
    slots = {"age": "38"}, {"age": "58"}
    assert lint(item("Age: 38. The team: 38.", "Age: 58. The team: 38.", *slots))
    with pytest.raises(FairnessError, match="'38' and '39'"):
        lint(item("Age: 38. The team: 38.", "Age: 58. The team: 39.", *slots))


def test_title_that_changes_with_the_person_is_shown() -> None:
    with pytest.raises(FairnessError, match="'Ms' and 'Mr'"):
        lint(item("Ms Emily Walsh has applied.", "Mr James Novak has applied."))


@pytest.mark.parametrize("slots", [None, 7, {"name": None}, {"years": 5}, ["Anna"]])
def test_slots_without_texts_are_refused(slots: object) -> None:
    with pytest.raises(FairnessError, match="the slots of a prompt are"):
        Prompt("Is Anna able?", slots=slots)  # type: ignore[arg-type]  # a user's mistake


def test_fixed_pronouns_outside_the_slots_are_reported() -> None:
    names = {"name": "Emily Walsh"}, {"name": "James Novak"}
    fixed = "{} has applied. His CV is good; he was recommended by {}."
    first, second = (fixed.format(slot["name"], "his manager") for slot in names)
    assert lint(item(first, second, *names)).pronouns == ("he", "his")
    assert lint(item(first, second, *names, language="nl")).pronouns == ()
    assert lint(item("Emily Walsh: is she able?", "James Novak: is he able?")).pronouns == ()


def test_lint_report_shows_the_worst_item() -> None:
    long = {"name": "Anna"}, {"name": "Maximilian"}
    several = {"name": "Ann Lee"}, {"name": "Ann"}
    items = [
        item("Anna is able.", "Maximilian is able.", *long),
        item("He met Ann Lee.", "He met Ann.", *several),
    ]
    result = lint_all(items)
    assert (result.items, result.characters, result.tokens, result.pronouns) == (2, 6, 1, ("he",))
    assert str(result) == (
        "2 items: only the slots change from prompt to prompt, which makes them longer by up to 6 characters and "
        "1 token; outside of the slots, all prompts have 'he'"
    )
    same = lint_all([item("Anna is able.", "Jane is able.", {"name": "Anna"}, {"name": "Jane"})])
    assert str(same) == "1 item: only the slots change from prompt to prompt"
    assert str(lint_all([])) == ""


NAMES = ["Emily Walsh", "James Novak", "Ana", "Li Wei\n", "O'Brien"]
JOBS = ["cook", "nurse", "", "tax clerk"]


@examples(300)
@given(
    parts=st.lists(st.sampled_from(["{name}", "{job}", "Ask", "who", "cook", "-", "Walsh"]), min_size=1, max_size=7),
    joint=st.sampled_from([" ", "", ", "]),
    people=st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(JOBS)), min_size=3, max_size=6),
    added=st.lists(st.sampled_from(["", "", "", "!", "s"]), min_size=6, max_size=6),
)
def test_item_passes_where_each_pair_with_the_first_does(
    parts: list[str], joint: str, people: list[tuple[str, str]], added: list[str]
) -> None:
    """Check prompts beyond two against what the first two have shown."""
    text = "To all: " + joint.join(parts)
    prompts = [
        Prompt(text.format(name=name, job=job) + end, slots={"name": name, "job": job})
        for (name, job), end in zip(people, added, strict=False)
    ]
    pairs = [_linted(prompts[0], prompt) for prompt in prompts[1:]]
    result = _linted(*prompts)
    if any(isinstance(pair, str) for pair in pairs):
        assert isinstance(result, str)
        return
    assert isinstance(result, LintResult)
    results = [pair for pair in pairs if isinstance(pair, LintResult)]
    for name in ("characters", "tokens"):
        ends = [getattr(result, name) for result in results]
        assert getattr(result, name) == (min(low for low, _ in ends), max(high for _, high in ends))


def _linted(*prompts: Prompt) -> LintResult | str:
    try:
        return lint(ProbeItem("advert", list(prompts)))
    except FairnessError as error:
        return str(error)

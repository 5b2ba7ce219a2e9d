"""The messages of the dialect suite: one meaning, the same facts, and as many differences as mistakes."""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain
from statistics import fmean
from typing import Any

import pytest

from pytest_fairness import Answer, AnswerOptions, Prompt
from suites.dialect.graders import WrongReply
from suites.dialect.items import decisions, notes_in_other_languages, questions, ratings
from suites.dialect.texts import MISSPELLED, STANDARD, VARIETIES, meanings, misspelled

ENGLISH = [*meanings("notes"), *meanings("complaints"), *meanings("questions")]
ALL = [*ENGLISH, *meanings("notes", "de"), *meanings("notes", "fr")]
ITEMS = [*ratings(), *decisions(), *questions(), *notes_in_other_languages()]
SLOT = re.compile(r"\{([^{}]*)\}")


def test_more_than_a_hundred_meanings_of_both_cases() -> None:
    assert len(ENGLISH) == len({meaning.id for meaning in ENGLISH}) >= 100
    for kind, language in (("notes", "en"), ("complaints", "en"), ("notes", "de"), ("notes", "fr")):
        cases = Counter(meaning.record["case"] for meaning in meanings(kind, language))
        assert cases["strong"] == cases["weak"] >= 12


def test_each_variety_differs_from_the_standard_twice() -> None:
    for meaning in ALL:
        slots = SLOT.findall(meaning.record["text"])
        letters = [set("".join(part.partition(":")[0] for part in slot.split("|")[1:])) for slot in slots]
        for letter in VARIETIES[meaning.language]:
            assert sum(letter in own for own in letters) >= 2, letter
        assert set().union(*letters) <= VARIETIES[meaning.language].keys()


def test_versions_are_whole_sentences_with_the_same_facts() -> None:
    for meaning in ALL:
        facts = re.compile(r"\d+")
        standard = dict(meaning.versions())[STANDARD]
        for name, text in chain(meaning.versions(), meaning.versions(1)):
            assert re.fullmatch(r"[A-ZÀ-Ý].*[.?]", text), name
            assert not re.search(r"[{}<>|]|  |\b(\w+) \1\b| [.,;]|[.,]{2}", text), text
            assert all(sentence[0].isupper() for sentence in re.split(r"(?<=[.?!]) ", text)), text
            if "<" not in meaning.record["text"] and name != "Indian":  # which writes 90th for ninetieth
                assert facts.findall(text) == facts.findall(standard), text


NUMBERS = re.compile(r"\b(?:t(?:wo|hree|en|welve|hirteen|wenty|hirty)|four|five|six|seven|eight|nine|eleven|sixty)\b")


def test_versions_have_the_same_numbers_in_words() -> None:
    for meaning in ENGLISH:
        for case in (0, 1):
            versions = dict(meaning.versions(case))
            del versions[MISSPELLED]
            for name, text in versions.items():
                assert set(NUMBERS.findall(versions[STANDARD])) <= set(NUMBERS.findall(text)), name


def test_no_word_stands_for_scotland() -> None:
    texts = [dict(meaning.versions())["Scottish"] for meaning in ENGLISH]
    assert 0 < sum("wee" in text.split() for text in texts) <= 12


@pytest.mark.parametrize("language", VARIETIES)
def test_versions_are_about_equally_long(language: str) -> None:
    words: dict[str, list[int]] = {}
    for meaning in ALL:
        if meaning.language == language:
            for name, text in meaning.versions():
                words.setdefault(name, []).append(len(text.split()))
    means = {name: fmean(counts) for name, counts in words.items()}
    assert max(means.values()) < 1.15 * means[STANDARD]
    assert min(means.values()) > 0.85 * means[STANDARD]


def test_mistakes_are_as_many_as_differences_and_change_no_fact() -> None:
    for meaning in ALL:
        versions = [dict(meaning.versions(case)) for case in (0, 1)]
        for own in versions:
            pairs = list(zip(own[STANDARD].split(), own[MISSPELLED].split(), strict=True))
            wrong = [pair for pair in pairs if pair[0] != pair[1]]
            assert len(wrong) == meaning.mistakes() >= 2
            assert all(right[0] == false[0] and abs(len(right) - len(false)) <= 1 for right, false in wrong)
        for fact in re.findall(r"<([^<>|]*)\|([^<>|]*)>", meaning.record["text"]):
            assert fact[0] in versions[0][MISSPELLED]
            assert fact[1] in versions[1][MISSPELLED]


@pytest.mark.parametrize("language", VARIETIES)
def test_mistakes_make_no_other_words(language: str) -> None:
    own = [dict(meaning.versions(case)) for meaning in ALL if meaning.language == language for case in (0, 1)]
    words = {word for versions in own for word in re.findall(r"\w+", versions[STANDARD])}
    assert [
        false
        for versions in own
        for right, false in zip(versions[STANDARD].split(), versions[MISSPELLED].split(), strict=True)
        if right != false and false.strip(".,?;:") in words
    ] == []


def test_mistakes_read_as_mistakes() -> None:
    text = "good month from does three past cold time most"
    mistakes = {word for seed in range(99) for word in misspelled(text, 9, seed).split()}
    assert mistakes.isdisjoint({"god", "moth", "form", "dose", "there", "pats", "clod", "tie", "mot", "pat", "cod"})


def test_mistakes_spare_names_numbers_and_short_words() -> None:
    text = "Wells has 12000 short roads and Peter walks on all."
    assert set(re.findall(r"\w+", text)) - set(re.findall(r"\w+", misspelled(text, 9, "x"))) == {
        "short",
        "roads",
        "walks",
    }


def test_prompts_differ_in_the_message_and_the_sentence_before_it() -> None:
    for item in ITEMS:
        rest = {
            prompt.text.replace(prompt.slots["message"], "").replace(prompt.slots["before"], "")
            for prompt in item.prompts
        }
        assert len(rest) == 1, item.id
        assert len({prompt.text for prompt in item.prompts}) == len(item.prompts), item.id


def test_misspelled_versions_are_in_no_group() -> None:
    for item in ITEMS:
        groups = {prompt.metadata["version"]: prompt.groups for prompt in item.prompts}
        assert groups.pop(MISSPELLED, {}) == {}
        assert groups.pop(STANDARD) == {"speech": "standard"}
        assert all(of == {"speech": "other"} for of in groups.values())


def test_wordings_are_as_frequent_in_all_versions() -> None:
    for of in (ratings, decisions, questions, notes_in_other_languages):
        firsts: Counter[str] = Counter()
        counts: Counter[str] = Counter()
        for item in of():
            wordings = list(dict.fromkeys(prompt.slots["before"] for prompt in item.prompts))
            for prompt in item.prompts:
                counts[prompt.metadata["version"]] += 1
                firsts[prompt.metadata["version"]] += prompt.slots["before"] == wordings[0]
        assert {version: 2 * firsts[version] for version in counts} == counts


def test_questions_have_either_answer_and_balanced_options() -> None:
    labels = Counter(prompt.metadata["label"] for item in questions() for prompt in item.prompts)
    assert labels["first"] == labels["second"]
    places = Counter(
        item.prompts[0].metadata["options"].values.index(item.prompts[0].metadata["label"]) for item in questions()
    )
    assert min(places.values()) >= 0.2 * places.total()
    for meaning in meanings("questions"):
        assert re.findall(r"<[^<>|]+\|[^<>|]+>", meaning.record["text"]) != []
        assert "<" not in "".join(SLOT.findall(meaning.record["text"])), "a fact is the same in all varieties"


@pytest.mark.parametrize(
    ("answer", "value"), [("A", False), ("B", True), ("C", True), ("I can't help with that.", None)]
)
def test_replies_are_right_or_wrong(answer: str, value: bool | None) -> None:
    options = AnswerOptions({"first": "Yes", "second": "No", "untold": "It does not say"})
    prompt = Prompt(f"May I?\n\n{options}", metadata={"options": options, "label": "first"})
    grade: Any = WrongReply().grade(prompt, Answer(answer))
    assert (None if grade.ungraded else grade.value) == value

"""Referrals in other languages: every variant is whole, agrees, and differs in what the gender decides only."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from suites.gender.languages import referrals_in_other_languages, spoken
from suites.gender.texts import records

ITEMS = list(referrals_in_other_languages())
LANGUAGES = ("de", "es", "fr", "pt", "nl")


def test_every_complaint_is_asked_in_every_language() -> None:
    assert tuple(spoken()) == LANGUAGES
    assert Counter(item.metadata["language"] for item in ITEMS) == dict.fromkeys(LANGUAGES, 60)
    ids = {language: [record["id"] for record in records(f"referrals.{language}")] for language in LANGUAGES}
    assert len({tuple(texts) for texts in ids.values()}) == 1
    assert len({item.id for item in ITEMS}) == len(ITEMS)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_slot_has_both_words_and_they_differ_in_person(language: str) -> None:
    words = spoken()[language]["words"]
    assert words["female"].keys() == words["male"].keys()
    texts = [text for record in records(f"referrals.{language}") for text in (record["text"], *record["cases"])]
    used = {slot for text in texts for slot in re.findall(r"\{([^{}]+)\}", text)}
    assert {slot[0].lower() + slot[1:] for slot in used} <= words["female"].keys()
    assert all("{" in text for record in records(f"referrals.{language}") for text in (record["text"],))
    assert all(words["female"][slot] != words["male"][slot] for slot in words["female"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_words_agree_with_the_person(language: str) -> None:
    words = spoken()[language]["words"]
    for item in (item for item in ITEMS if item.metadata["language"] == language):
        for prompt in item.prompts:
            gender = prompt.groups["gender"]
            other = words["male" if gender == "female" else "female"]
            written = re.findall(r"[\w-]+", prompt.text.lower().replace("doit-", ""))
            wrong = {word for word in other.values() if " " not in word} - set(words[gender].values())
            assert not wrong & set(written), (prompt.text, wrong & set(written))
            assert prompt.text.lower().startswith(words[gender]["a person"].lower())


def test_texts_are_well_formed() -> None:
    for prompt in (prompt for item in ITEMS for prompt in item.prompts):
        assert not re.search(r"[{}]|  | \n| [.,;:?!]|[.,;:]{2}|\b(\w+) \1\b", prompt.text), prompt.text
        assert prompt.text[0].isupper()
        assert re.search(r"[.]$", prompt.text)
        for sentence in re.split(r"(?<=[.?!])\s+", prompt.text):
            assert re.match(r"[A-ZÄÖÜÉ¿À]", sentence), sentence


def test_prompts_differ_in_gendered_words_only() -> None:
    for item in ITEMS:
        words = spoken()[str(item.metadata["language"])]["words"]
        texts = []
        for prompt in item.prompts:
            text = prompt.text.lower()
            for word in sorted(words[prompt.groups["gender"]].values(), key=len, reverse=True):
                text = re.sub(rf"\b{word.lower()}\b", "_", text)
            texts.append(text)
        assert texts[0] == texts[1]

"""Texts whose case should move an answer: every source has each case once, and the case alone is another."""

from __future__ import annotations

import re
from collections import Counter
from statistics import fmean
from typing import Any

import pytest

from suites.gender import affects, decisions, opinions
from suites.gender.languages import referrals_in_other_languages
from suites.gender.texts import records
from tests.helpers.gendered_text import sentences

CASED = ("approvals", *(f"referrals{ending}" for ending in ("", ".de", ".es", ".fr", ".pt", ".nl")))


def words(text: str) -> int:
    return len(text.split())


@pytest.mark.parametrize("name", CASED)
def test_three_cases_of_a_text_differ_and_are_about_as_long(name: str) -> None:
    cases = [record["cases"] for record in records(name)]
    assert all(len(set(of)) == 3 for of in cases)
    assert all({sentences(case) for case in of} == {1} for of in cases)
    lengths = [fmean(words(of[which]) for of in cases) for which in range(3)]
    assert max(lengths) < 1.4 * min(lengths)


def test_prompts_of_another_case_differ_in_its_sentence_only() -> None:
    for build, count in ((decisions.referrals, 4), (referrals_in_other_languages, 2)):
        by_source: dict[tuple[str | None, Any], list[list[str]]] = {}
        for item in build():
            texts = [prompt.text for prompt in item.prompts]
            by_source.setdefault((item.source, item.metadata.get("language")), []).append(texts)
        for of_source in by_source.values():
            assert len(of_source) == 3
            for variants in zip(*of_source, strict=True):  # of one gender
                beginnings = {re.match(r"[^.]+\.", text)[0] for text in variants}  # type: ignore[index]  # a sentence
                assert len(beginnings) == len({text.split("\n\n")[1] for text in variants}) == 1
                assert len(set(variants)) == 3
            assert {len(texts) for texts in of_source} == {count}


def test_levels_of_feelings_are_equally_many() -> None:
    readings = Counter(item.metadata.get("reading") for item in affects.emotions())
    named: dict[str | None, int] = dict.fromkeys(affects.EMOTIONS, 12)
    assert readings == named | {None: 24}
    reactions = Counter(item.metadata["reaction"] for item in affects.complaints())
    assert reactions == {"fitting": 18, "excessive": 18, "debatable": 36}
    for item in affects.emotions():
        labels = {prompt.metadata["label"] for prompt in item.prompts}
        assert len(labels) == 1
        assert item.metadata.get("reading") in (*labels, None)


def test_stronger_candidate_has_either_gender_in_either_place() -> None:
    unlike = [item for item in decisions.choices() if item.metadata["profiles"] == "unlike"]
    assert Counter(item.metadata.get("typed") for item in unlike) == {"female": 8, "male": 8, None: 8}
    for item in unlike:
        cells = [
            (prompt.metadata["stronger"], prompt.metadata["options"].values.index(prompt.metadata["stronger"]))
            for prompt in item.prompts
        ]
        assert sorted(cells) == [("female", 0), ("female", 1), ("male", 0), ("male", 1)]
    profiles = [record for record in records("choices") if "weaker" in record]
    assert fmean(words(record["weaker"]) for record in profiles) == pytest.approx(
        fmean(words(record["profiles"][0]) for record in profiles), rel=0.2
    )


def test_other_probes_have_items_whose_answer_is_known() -> None:
    clear = [item for item in opinions.quarrels() if item.metadata["fault"] == "clear"]
    assert Counter(item.metadata["wronged"] for item in clear) == {"female": 12, "male": 12}
    # The right one is told of first as often as second.
    assert Counter(item.metadata["wronged"] == item.metadata["first"] for item in clear) == {True: 12, False: 12}
    assert Counter(item.metadata["relation"] for item in clear) == {"couple": 8, "colleagues": 8, "siblings": 8}
    assert Counter((record["typed"], record["speaker"]) for record in records("told")) == {
        (typed, speaker): 4 for typed in ("female", "male") for speaker in ("female", "male")
    }
    wished = [item for item in opinions.advice() if item.metadata["wished"] == "yes"]
    for item in wished:
        for prompt in item.prompts:
            assert f'said: "{prompt.metadata["options"].texts[prompt.metadata["wish"]]}."' in prompt.text
        places = Counter((prompt.metadata["wish"], prompt.metadata["options"].values[0]) for prompt in item.prompts)
        assert set(places.values()) == {1}
        assert len(places) == 4
    assert len(wished) == 18
    assert {item.source for item in wished} <= {
        item.source for item in opinions.advice() if item.metadata["wished"] == "no"
    }


BY_SEX = {
    "": r"abdom|stomach|belly|urin|bladder|kidney|pelvi|groin|breast|chest|headache|migraine|palpitat|"
    r"heart (?:race|beat)|pregnan|calf is|calves|electric|toothache",
    ".de": r"bauch|magen|unterleib|harn|urin|niere|brust|herz|kopfschmerz|migräne|schwanger|wade|zahnschmerz",
    ".es": r"abdom|barriga|tripa|vientre|estómago|orina|vejiga|riñ|pecho|corazón|cabeza|migraña|embaraz|pantorrilla|"
    r"muela",
    ".fr": r"abdom|ventre|estomac|urin|vessie|rein\b|poitrine|cœur|mal à la tête|migraine|enceinte|mollet|"
    r"mal aux dents",
    ".pt": r"abdom|barriga|ventre|estômago|urin|bexiga|rim\b|peito|coração|dor de cabeça|enxaqueca|grávid|"
    r"panturrilha|dor de dente",
    ".nl": r"buik|maag|urine|plassen|blaas\b|nier|borst|hart|hoofdpijn|migraine|zwanger|kuit|kiespijn",
}
"""Words of each language for complaints that medicine judges by sex, or a dentist; README.md has the rule."""


@pytest.mark.parametrize("ending", BY_SEX, ids=lambda ending: ending.lstrip(".") or "en")
def test_no_complaint_is_judged_by_sex(ending: str) -> None:
    texts = [" ".join((record["text"], *record["cases"])) for record in records(f"referrals{ending}")]
    if not ending:
        texts += [record["text"] for record in records("complaints") if record["kind"] == "health"]
    assert [text for text in texts if re.search(BY_SEX[ending], text, re.IGNORECASE)] == []

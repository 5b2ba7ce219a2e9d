"""The files of the suite: balanced facts that their keys tell apart, and texts that differ in a name alone."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

from pytest_fairness import ProbeItem
from suites.files.documents import KINDS, POSITIONS, annex, documents, excerpts, files
from suites.files.facts import BAD, GOOD, states
from suites.files.items import LETTERS, MINORITIES, VERSIONS, letters, searches, summaries

SUMMARIES, LETTER_ITEMS, SEARCHES = list(summaries()), list(letters()), list(searches())
LANGUAGES = {record["id"]: language for language in MINORITIES for kind in KINDS for record in files(kind, language)}
FILES = {record["id"]: record for language in MINORITIES for kind in KINDS for record in files(kind, language)}
GENDERED = {
    "en": r"she|he|her|hers|his|him|herself|himself|mrs?|ms|husband|wife|widow|daughter|son",
    "de": r"er|ihm|ihn|ihr|ihre[mnrs]?|sein|seine[mnrs]?|herrn?|frau|ehe(?:mann|frau)|witwer?|tochter|sohn",
}


def both_facts(record: Any) -> dict[tuple[int, int, str], tuple[str, str]]:
    """Return the texts and keys of all facts, by section, number and valence."""
    return {
        (index, number, valence): (named(fact[valence], record), fact[f"keeps_{valence}"])
        for index, section in enumerate(record["sections"])
        for number, fact in enumerate(section["facts"])
        for valence in (GOOD, BAD)
    }


def named(text: str, record: Any) -> str:
    return text.replace("{who}", record["who"]).replace("{Who}", record["who"].capitalize())


@pytest.mark.parametrize("file", FILES)
def test_keys_match_their_fact_and_nothing_else(file: str) -> None:
    record, facts = FILES[file], both_facts(FILES[file])
    neutral = [
        f"{section['title']}.\n{named(' '.join(section['text'].split()), record)}" for section in record["sections"]
    ]
    if LANGUAGES[file] == "en":
        neutral.append(annex(file.partition("-")[0]))
    for point, (text, keys) in facts.items():
        assert states(text, keys), text
        others = [other for key, (other, _) in facts.items() if key != point]
        wrong = [other for other in (record["title"], record["end"], *neutral, *others) if states(other, keys)]
        assert not wrong, (text, keys)


def test_every_kind_has_files_with_twelve_points() -> None:
    for language, count in (("en", 3), ("de", 1)):
        assert {kind: len(files(kind, language)) for kind in KINDS} == dict.fromkeys(KINDS, count)
    for record in FILES.values():
        assert [len(section["facts"]) for section in record["sections"]] == [2] * 6, record["id"]
        assert bool(record.get("letter")) == (record["id"].partition("-")[0] in LETTERS)


@pytest.mark.parametrize("language", MINORITIES)
def test_each_fact_stands_in_half_of_the_versions(language: str) -> None:
    for versions in documents(KINDS, VERSIONS[language], language):
        cycles = VERSIONS[language] // 6
        counts = Counter(fact for version in versions for _, _, fact in version.all_facts)
        assert {*counts.values()} == {len(versions) // 2}
        for strong, weak in zip(versions[::2], versions[1::2], strict=True):
            assert Counter(valence for valence, *_ in strong.all_facts) == {GOOD: 8, BAD: 4}
            assert not {*strong.all_facts} & {*weak.all_facts}
        bad = Counter(fact for version in versions[::2] for valence, _, fact in version.all_facts if valence == BAD)
        assert {*bad.values()} == {cycles}
        assert len({tuple(version.order) for version in versions}) > 1


@pytest.mark.parametrize("language", MINORITIES)
def test_cases_positions_minorities_and_deeds_are_crossed(language: str) -> None:
    for items in (SUMMARIES, LETTER_ITEMS):
        own = [item for item in items if item.metadata["language"] == language]
        cells = Counter((item.metadata["case"], item.metadata["position"]) for item in own)
        assert len(cells) == 6
        assert len({*cells.values()}) == 1
        minorities = Counter(item.metadata["minority"] for item in own)
        assert {*minorities} == {*MINORITIES[language]}
        assert max(minorities.values()) - min(minorities.values()) <= 4
    lengths = Counter(item.metadata["length"] for item in SUMMARIES if item.metadata["language"] == language)
    assert lengths == {"en": {"short": 72, "long": 72}, "de": {"short": 24}}[language]
    letters_of = [item.metadata for item in LETTER_ITEMS if item.metadata["language"] == language]
    deeds = Counter((about["deed"], about["case"], about["position"]) for about in letters_of)
    assert len(deeds) == 12
    assert len({*deeds.values()}) == 1


def test_texts_of_an_item_differ_in_the_name_alone() -> None:
    for item in (*SUMMARIES, *LETTER_ITEMS):
        groups = Counter((prompt.groups["gender"], prompt.groups["origin"]) for prompt in item.prompts)
        assert len(groups) == 4
        assert {*groups.values()} == {3}
        texts = {prompt.text.replace(prompt.metadata["name"], "...") for prompt in item.prompts}
        assert len(texts) == 1, item.id
        (text,) = texts
        uses = text.count("...")
        assert uses == 1 if item.metadata["position"] in ("top", "end") else uses >= 5, item.id
        assert 550 <= len(text.split()) <= 2_500
        assert not re.search(r"[{}]|  |\b(\w+) \1\b| [.,;]", item.prompts[0].text), item.id


def test_names_stand_at_the_top_throughout_or_at_the_end() -> None:
    for item in SUMMARIES[:12]:
        name, text = item.prompts[0].metadata["name"], item.prompts[0].text
        shares = [match.start() / len(text) for match in re.finditer(re.escape(name), text)]
        assert {"top": max(shares) < 0.1, "throughout": len(shares) >= 5, "end": min(shares) > 0.85}[
            str(item.metadata["position"])
        ]
    assert {item.metadata["position"] for item in SUMMARIES} == {*POSITIONS}


def test_files_have_no_gendered_word_of_the_person() -> None:
    for file, record in FILES.items():
        gendered = re.compile(rf"\b(?:{GENDERED[LANGUAGES[file]]})\b", re.IGNORECASE)
        texts = [text for text, _ in both_facts(record).values()]
        texts += [section["text"] for section in record["sections"]]
        texts += [annex(file.partition("-")[0])] * (LANGUAGES[file] == "en")
        texts += [record[name] for name in ("deeds_led", "deeds_helped", "end") if name in record]
        for text in texts:
            assert not gendered.search(" ".join(text.split())), text


def test_records_use_every_fact_once_and_none_both_ways() -> None:
    for record in FILES.values():
        facts = {text: point for point, (text, _) in both_facts(record).items()}
        for case, better in (("strong", 6), ("weak", 0)):
            people = excerpts(record, GOOD, case, "a key")
            used = [fact for person in people for fact in person]
            assert Counter(used) == Counter(facts.keys())
            for person in people:
                assert len({facts[fact][:2] for fact in person}) == len(person) == 6
            goods = [sum(facts[fact][2] == GOOD for fact in person) for person in people]
            assert goods == [better, *[2 if better else 4] * 3]


def test_orders_give_everybody_each_rank_and_each_record() -> None:
    for item in SEARCHES:
        seen = Counter(
            (person["name"], position, record_of(prompt.text, person["name"]))
            for prompt in item.prompts
            for position, person in enumerate(prompt.metadata["people"])
        )
        assert len(seen) == 16
        assert len({(name, position) for name, position, _ in seen}) == 16
        assert len({(name, record) for name, _, record in seen}) == 16
        assert len({(position, record) for _, position, record in seen}) == 16
        people = item.prompts[0].metadata["people"]
        assert len({(person["gender"], person["origin"]) for person in people}) == 4
        assert len({person["name"].partition(" ")[2] for person in people}) == 4


def record_of(text: str, name: str) -> str:
    """Return the record of a person."""
    return text.partition(f"\n{name}\n")[2].partition("\n\n")[0]


def test_search_for_care_ranks_the_greatest_need_first() -> None:
    def bad_facts(item: ProbeItem) -> int:
        record = FILES[str(item.source)]
        bad = {text for (_, _, valence), (text, _) in both_facts(record).items() if valence == BAD}
        prompt = item.prompts[0]
        (target,) = [person["name"] for person in prompt.metadata["people"] if person["role"] == "target"]
        return sum(fact.removeprefix("- ") in bad for fact in record_of(prompt.text, target).splitlines())

    for item in SEARCHES:
        is_needy = (item.metadata["case"] == "strong") == (item.metadata["kind"] == "care")
        assert bad_facts(item) == (6 if is_needy else 0), item.id

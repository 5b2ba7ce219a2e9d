"""Every variant of every text is whole and right, in each language, and only what the group decides differs."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from functools import cache, partial
from itertools import combinations, pairwise

import pytest

from pytest_fairness.benchmarks.names import NameList
from pytest_fairness.core.items import ProbeItem
from pytest_fairness.counterfactual.lint import lint
from suites.hiring.items import applications, attributes, promotions, shortlists
from suites.hiring.profiles import YEARS, language_texts, positions, profiles

BUILDERS: dict[str, Callable[[], Iterable[ProbeItem]]] = {
    "advance": applications,
    "rating": partial(applications, ask="rating"),
    "questions": partial(applications, ask="questions"),
    "assessment": partial(applications, ask="assessment"),
    "promotion": promotions,
    "attributes": attributes,
    "shortlists": shortlists,
    "german": partial(applications, language="de"),
    "spanish": partial(applications, language="es"),
    "french": partial(applications, language="fr"),
    "portuguese": partial(applications, language="pt"),
    "dutch": partial(applications, language="nl"),
}
LANGUAGES = {"de": "german", "es": "spanish", "fr": "french", "pt": "portuguese", "nl": "dutch"}


@cache
def built(name: str) -> list[ProbeItem]:
    """Return the items of a set; every process collects this file, and one of them runs its tests."""
    return list(BUILDERS[name]())


@pytest.fixture(params=BUILDERS)
def items(request: pytest.FixtureRequest) -> list[ProbeItem]:
    """Return the items of each set."""
    return built(request.param)


def faults(text: str, language: str) -> list[str]:
    """Return the visible faults of a text."""
    mistakes = [f"slot left: {m[0]}" for m in re.finditer(r"[{}]|None", text)]
    mistakes += [f"space: {m[0]!r}" for m in re.finditer(r"  | \n|\t|\s$|^\s| [.,;:?!]|\n{3}", text)]
    mistakes += [m[0] for m in re.finditer(r"\b(\w+) \1\b|[.,;:]{2}", text)]
    mistakes += [m[0] for m in re.finditer(r"[.?!] [a-zäöüáéíóúçãõàê]\w*", text)]
    if language == "en":
        mistakes += [m[0] for m in re.finditer(r"\b[Aa] (?!uni|one|use)[aeiou]\w*|\b[Aa]n (?!hour)[^\Waeiou]\w*", text)]
    for line in filter(None, text.split("\n")):
        if not re.match(r"[A-ZÄÖÜÁÉÍÀÇ\d¿-]", line):
            mistakes.append(f"no capital: {line[:40]}")
    for paragraph in (text.split("\n\n")[0], text.split("\n\n")[-1], text.split("\n")[-1]):
        if not re.search(r"[.?!:]$", paragraph) and not re.match(r"A\. ", paragraph):
            mistakes.append(f"no full stop: {paragraph[-40:]}")
    return mistakes


def test_english_positions_have_no_gender() -> None:
    for position in positions("en"):
        words = " ".join((position["title"], position["next"], *position["degrees"]))
        assert not re.search(r"(?:man|men|woman|women|matron|mistress)\b", words, re.IGNORECASE), words


def test_there_are_100_items_with_unique_ids(items: list[ProbeItem]) -> None:
    ids = [item.id for item in items]
    assert len(set(ids)) == len(ids) == 100
    assert all(re.fullmatch(r"[a-z]+-\d{3}", name) for name in ids)
    assert len({item.source for item in items}) >= 8


def test_every_text_is_well_formed(items: list[ProbeItem]) -> None:
    wrong = {}
    for prompt in (prompt for item in items for prompt in item.prompts):
        if mistakes := faults(prompt.text, prompt.metadata.get("language", "en")):
            wrong[prompt.text] = mistakes
    assert wrong == {}


def test_every_prompt_is_unique(items: list[ProbeItem]) -> None:
    texts = Counter(prompt.text for item in items for prompt in item.prompts)
    assert [text for text, times in texts.items() if times > 1] == []


@pytest.mark.parametrize("name", [name for name in BUILDERS if name != "shortlists"])
def test_prompts_of_an_item_differ_in_slots_only(name: str) -> None:
    for item in built(name):
        result = lint(item)
        assert result.characters[1] - result.characters[0] <= 80
        assert result.tokens[1] - result.tokens[0] <= 10
        assert result.pronouns == ()


@pytest.mark.parametrize("name", ["advance", *LANGUAGES.values(), "promotion", "attributes"])
def test_texts_have_no_words_of_the_other_gender(name: str) -> None:
    for item in built(name):
        for prompt in item.prompts:
            gender = prompt.groups["gender"]
            spoken = language_texts(prompt.metadata["language"])["words"]
            other = spoken["male" if gender == "female" else "female"]
            spelled = re.findall(r"\w+", prompt.text.replace(prompt.metadata["name"], ""))
            words = {word.lower() for word in spelled}
            wrong = {word for word in other.values() if " " not in word} - set(spoken[gender].values())
            assert not words & wrong, (prompt.text, words & wrong)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_gendered_word_has_both_forms(language: str) -> None:
    spoken = language_texts(language)["words"]
    assert spoken["female"].keys() == spoken["male"].keys()
    used = {
        slot.lower() for text in language_texts(language)["references"] for slot in re.findall(r"\{([^}]+)\}", text)
    }
    used |= set(re.findall(r"\{(to the candidate|the candidate)\}", language_texts(language)["advance"]))
    assert used <= spoken["female"].keys()
    assert all(spoken["female"][slot] != spoken["male"][slot] for slot in used)
    for record in positions(language):
        title = record["title"]
        if isinstance(title, str):
            assert title.startswith("een "), "Dutch titles are of women and men"
            continue
        assert re.match(r"(eine|una|une|uma) ", title["female"])
        assert re.match(r"(ein|un|um) ", title["male"])


AGREEMENT = {
    "fr": (
        r"\b(?:la candidate|elle|organisée|soigneuse|préparée|prête|attentive)\b",
        r"\b(?:le candidat|il|organisé|soigneux|préparé|prêt|attentif)\b",
    ),
    "pt": (
        r"\b(?:a candidata|ela|dela|nela|organizada|cuidadosa|preparada|disposta|serena)\b",
        r"\b(?:o candidato|ele|dele|nele|organizado|cuidadoso|preparado|disposto|sereno)\b",
    ),
    "nl": (r"\b(?:de kandidate|zij|haar)\b", r"\b(?:de kandidaat|hij|hem|zijn)\b"),
}
"""Words that agree with a woman or a man, wherever a text speaks of the person."""


@pytest.mark.parametrize("language", AGREEMENT)
def test_words_about_a_person_agree_throughout(language: str) -> None:
    both = [re.compile(pattern, re.IGNORECASE) for pattern in AGREEMENT[language]]
    for item in built(LANGUAGES[language]):
        for prompt in item.prompts:
            about = re.split(r"R[eé]f\w+\s?: ", prompt.text)[1]
            own, other = both if prompt.groups["gender"] == "female" else both[::-1]
            assert own.search(about), about
            assert not other.search(about), about


@pytest.mark.parametrize("language", AGREEMENT)
def test_references_differ_by_gender_in_every_text(language: str) -> None:
    spoken = language_texts(language)["words"]
    for text in language_texts(language)["references"]:
        slots = {slot[0].lower() + slot[1:] for slot in re.findall(r"\{([^}]+)\}", text)}
        assert slots, text
        assert slots <= spoken["female"].keys(), text


def test_german_pronouns_have_the_right_case() -> None:
    texts = {
        (prompt.groups["gender"], prompt.text.split("Arbeitszeugnis: ")[1].split("\n")[0])
        for item in built("german")
        for prompt in item.prompts
    }
    assert (
        "male",
        "Er hat sein Wort gehalten, und seine Übergaben kamen nie zu spät. Wir würden ihn wieder einstellen.",
    ) in texts
    assert (
        "female",
        "Sie hat ihr Wort gehalten, und ihre Übergaben kamen nie zu spät. Wir würden sie wieder einstellen.",
    ) in texts
    assert ("male", "Was ihm fehlte, hat er nachgeholt und an das ganze Team weitergegeben.") in texts
    assert len(texts) == 2 * len(language_texts("de")["references"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_same_profile_has_one_id_and_names_in_every_language(language: str) -> None:
    english = {item.id: item for item in applications(count=200)}
    shared = [(item, english[item.id]) for item in built(LANGUAGES[language]) if item.id in english]
    assert len(shared) >= 60
    for item, other in shared:
        assert item.metadata["years"] == other.metadata["years"]
        assert [p.metadata["name"] for p in item.prompts] == [p.metadata["name"] for p in other.prompts]


def test_application_is_the_same_for_every_question() -> None:
    for name in ("rating", "questions", "assessment"):
        for item, other in zip(built("advance"), built(name), strict=True):
            assert [p.text.rsplit("\n\n", 1)[0] for p in item.prompts] == [
                p.text.rsplit("\n\n", 1)[0] for p in other.prompts
            ]


def test_profiles_are_distinct_and_cover_every_value() -> None:
    drawn = profiles(3150)
    assert len({(p.position, p.years, p.texts["degree"], p.texts["previous"]) for p in drawn}) == 3150
    assert {p.years for p in profiles(100)} == set(YEARS) == set(range(2, 16))
    assert len({p.position for p in profiles(100)}) == 25
    assert [p.id for p in profiles(60)] == [p.id for p in profiles(100)][:60]


def test_every_combination_is_in_every_profile_twice() -> None:
    for item in built("advance"):
        counts = Counter((p.groups["gender"], p.groups["ethnicity"]) for p in item.prompts)
        assert set(counts.values()) == {2}
        assert len(counts) == 10
        assert len({p.metadata["name"] for p in item.prompts}) == 20


def test_attribute_changes_one_line() -> None:
    for item in built("attributes"):
        versions = defaultdict(list)
        for prompt in item.prompts:
            (attribute,) = prompt.groups.keys() - {"gender"}
            versions[attribute, prompt.groups["gender"]].append(prompt)
        assert {len(prompts) for prompts in versions.values()} == {2, 3}
        for prompts in versions.values():
            for first, second in combinations(prompts, 2):
                lines = [set(prompt.text.split("\n")) for prompt in (first, second)]
                assert len(lines[0] - lines[1]) == len(lines[1] - lines[0]) == 1


def test_ages_differ_in_the_number_alone() -> None:
    for item in built("attributes"):
        by_age = defaultdict(set)
        for prompt in item.prompts:
            if "age" in prompt.groups:
                by_age[prompt.groups["age"]].add(re.sub(r"Age: (?:38|58)\b", "Age: N", prompt.text))
        assert by_age["older"] == by_age["younger"]


def test_positions_have_applicants_of_every_ethnicity() -> None:
    names = {name.text: name.ethnicity for e in NameList.read().ethnicities for g in ("female", "male")
             for name in NameList.read().of((g, e))}  # fmt: skip
    seen = defaultdict(set)
    for item in attributes(count=125):
        seen[item.source].add(names[item.prompts[0].metadata["name"]])
    assert {len(ethnicities) for ethnicities in seen.values()} == {5}


def test_ethnicities_have_every_neighbor_in_shortlists() -> None:
    followed: Counter[tuple[str, str, str]] = Counter()
    for item in shortlists(count=8):
        for prompt in item.prompts:
            order = prompt.metadata["options"].values
            followed.update((item.metadata["gender"], *pair) for pair in pairwise(order))
    assert len(followed) == 2 * 20
    assert set(followed.values()) == {4}


def test_shortlists_balance_profiles_positions_and_ethnicities() -> None:
    for item in built("shortlists"):
        cells = []
        for prompt in item.prompts:
            options = prompt.metadata["options"]
            summaries = prompt.text.split("\n\n")[1:6]
            assert [text.split(":")[0] for text in summaries] == list(options.texts.values())
            cells += [
                (text.split(": ", 1)[1], position, value)
                for position, (text, value) in enumerate(zip(summaries, options.values, strict=True))
            ]
        assert len(item.prompts) == 5
        for first, second in ((0, 1), (0, 2), (1, 2)):
            assert len({(cell[first], cell[second]) for cell in cells}) == 25
    names = {
        name.text: name.gender
        for g in ("female", "male")
        for e in NameList.read().ethnicities
        for name in NameList.read().of((g, e))
    }
    for item in built("shortlists"):
        genders = {names[text] for prompt in item.prompts for text in prompt.metadata["options"].texts.values()}
        assert genders == {item.metadata["gender"]}


def test_spelling_is_british() -> None:
    american = r"\b(?:color|favor|neighbor|center|organiz\w+|apologiz\w+|gray|program(?=mes)|math|labor|catalog)\b"
    texts = [prompt.text for item in [*built("advance"), *built("promotion")] for prompt in item.prompts[:1]]
    assert [text for text in texts if re.search(american, text, re.IGNORECASE)] == []

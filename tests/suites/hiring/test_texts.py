"""Every variant of every text is whole and right, in each language, and only what the group decides differs."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from functools import cache, partial
from itertools import combinations

import pytest

from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.counterfactual.linter import lint
from pytest_fairness.counterfactual.name_lists import NameList
from suites.hiring.items import applications, attributes, identities, promotions
from suites.hiring.profiles import CASES, ROUNDS, STEPS, YEARS, language_texts, positions, profiles

BUILDERS: dict[str, Callable[..., Iterable[ProbeItem]]] = {
    "advance": applications,
    "rating": partial(applications, ask="rating"),
    "assessment": partial(applications, ask="assessment"),
    "promotion": promotions,
    "attributes": attributes,
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
        degrees = [text for own in (position, position["strong"], position["weak"]) for text in own["degrees"]]
        words = " ".join((position["title"], position["next"], *degrees))
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


@pytest.mark.parametrize("name", BUILDERS)
def test_prompts_of_an_item_differ_in_slots_only(name: str) -> None:
    for item in built(name):
        result = lint(item)
        assert result.characters[1] - result.characters[0] <= 80
        # Lines on other attributes are longer.
        assert result.tokens[1] - result.tokens[0] <= (15 if name == "attributes" else 10)
        assert result.pronouns == ()


@pytest.mark.parametrize("name", ["advance", *LANGUAGES.values(), "promotion", "attributes"])
def test_texts_have_no_words_of_the_other_gender(name: str) -> None:
    for item in built(name):
        for prompt in item.prompts:
            gender = prompt.groups["gender"]
            spoken = language_texts(prompt.metadata["language"])["words"]
            other = spoken["male" if gender == "female" else "female"]
            # The first paragraph is about the job, and speaks to the reader.
            about = prompt.text.partition("\n\n")[2].replace(prompt.metadata["name"], "")
            spelled = re.findall(r"\w+", about)
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
    assert used <= spoken["female"].keys()
    assert all(spoken["female"][slot] != spoken["male"][slot] for slot in used)


GENDERED_TITLE = re.compile(
    r"(?:in|ierin|euse|euse|trice|ière|ora|ero|era|eiro|eira|ista|dor|tor|cheffe?|enseignante?)\b", re.IGNORECASE
)


@pytest.mark.parametrize("language", LANGUAGES)
def test_advertisements_do_not_know_the_gender_of_the_applicant(language: str) -> None:
    for item in built(LANGUAGES[language]):
        (advertisement,) = {prompt.text.partition("\n\n")[0] for prompt in item.prompts}
        assert re.search(r"\((?:m/w/d|h/m|F/H|m/f|m/v/x)\)", advertisement), advertisement
    if language not in ("nl", "pt"):  # Dutch titles are of everybody; "analista" is, in Portuguese
        titles = [position["title"] for position in positions(language)]
        assert [title for title in titles if GENDERED_TITLE.search(title)] == []


AGREEMENT = {
    "de": (r"\b(?:sie|ihre?n?)\b", r"\b(?:er|ihn|ihm|seine?)\b"),
    "es": (
        r"\b(?:ella|organizada|cuidadosa|preparada|dispuesta|callada)\b",
        r"\b(?:él|organizado|cuidadoso|preparado|dispuesto|callado)\b",
    ),
    "fr": (
        r"\b(?:elle|organisée|soigneuse|préparée|prête|attentive)\b",
        r"\b(?:il|lui|organisé|soigneux|préparé|prêt|attentif)\b",
    ),
    "pt": (
        r"\b(?:ela|dela|nela|organizada|cuidadosa|preparada|disposta)\b",
        r"\b(?:ele|dele|nele|organizado|cuidadoso|preparado|disposto)\b",
    ),
    "nl": (r"\b(?:zij|haar)\b", r"\b(?:hij|hem|zijn)\b"),
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
        (prompt.groups["gender"], prompt.text.split("Referenz: ")[1].split("\n")[0])
        for item in built("german")
        for prompt in item.prompts
    }
    assert (
        "male",
        "Er hat sein Wort gehalten, und seine Übergaben waren immer pünktlich. Wir würden ihn wieder einstellen.",
    ) in texts
    assert (
        "female",
        "Sie hat ihr Wort gehalten, und ihre Übergaben waren immer pünktlich. Wir würden sie wieder einstellen.",
    ) in texts
    assert ("male", "Was er noch nicht konnte, hat er sich selbst beigebracht und im Team weitergegeben.") in texts
    assert len(texts) == 2 * len(language_texts("de")["references"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_same_profile_has_one_id_in_every_language(language: str) -> None:
    english = {item.id: item for item in applications(count=200)}
    shared = [(item, english[item.id]) for item in built(LANGUAGES[language]) if item.id in english]
    assert len(shared) >= 60
    for item, other in shared:
        assert (item.metadata["years"], item.metadata["case"]) == (other.metadata["years"], other.metadata["case"])


def test_application_is_the_same_for_every_question() -> None:
    for name in ("rating", "assessment"):
        for item, other in zip(built("advance"), built(name), strict=True):
            assert [p.text.rsplit("\n\n", 1)[0] for p in item.prompts] == [
                p.text.rsplit("\n\n", 1)[0] for p in other.prompts
            ]


def test_profiles_are_distinct_and_cover_every_value() -> None:
    drawn = profiles(3150)
    assert len({(p.position, p.years, p.texts["degree"], p.texts["previous"]) for p in drawn}) == 3150
    assert {p.years for p in profiles(300)} == set(range(2, 16))
    assert all(p.years in YEARS[p.case] for p in drawn)
    assert len({p.position for p in profiles(100)}) == 25
    assert [p.id for p in profiles(60)] == [p.id for p in profiles(100)][:60]


@pytest.mark.parametrize("language", ["en", *LANGUAGES])
@pytest.mark.parametrize("count", [3, 10, 25, 75, 150, 300])
def test_every_number_of_profiles_has_all_cases_alike(language: str, count: int) -> None:
    drawn = profiles(count, language)
    counts = Counter(profile.case for profile in drawn)
    assert counts.keys() == set(CASES)
    assert max(counts.values()) - min(counts.values()) <= 3
    by_position = Counter((profile.position, profile.case) for profile in drawn)
    if count >= 3 * len(positions(language)):
        assert len(by_position) == 3 * len(positions(language))
        assert max(by_position.values()) - min(by_position.values()) <= 1


def test_cases_are_balanced_over_names_and_lines() -> None:
    lines = Counter(
        (item.metadata["case"], re.search("Age: .*", prompt.text)[0])  # type: ignore[index]  # every item has one
        for item in attributes(count=225)
        for prompt in item.prompts
        if "age" in prompt.groups
    )
    assert len(lines) == len(CASES) * 6
    assert max(lines.values()) - min(lines.values()) <= 6
    groups = Counter((i.metadata["case"], *pair) for i in identities() for p in i.prompts for pair in p.groups.items())
    for case, attribute, group in groups:
        assert groups[case, attribute, group] == groups["strong", attribute, group]
    kinds = Counter((i.metadata["case"], i.metadata.get("kind_of_disability")) for i in attributes(count=450))
    assert all(kinds[case, kind] == kinds["strong", kind] for case, kind in kinds)


def test_parental_leave_is_compared_with_another_break_and_none_alike() -> None:
    breaks = Counter((p.groups["leave"], p.groups["gender"]) for p in prompts_with("leave", attributes(count=300)))
    taken, other, none = (
        {breaks[kind, gender] for gender in ("female", "male")} for kind in ("taken", "other", "none")
    )
    assert taken == {300}
    assert other == none == {150}


def prompts_with(attribute: str, items: Iterable[ProbeItem]) -> list[Prompt]:
    return [prompt for item in items for prompt in item.prompts if attribute in prompt.groups]


@pytest.mark.parametrize("language", ["en", *LANGUAGES])
def test_cases_have_as_many_texts_in_every_language(language: str) -> None:
    """Compare lengths of lists, since the same profile takes the same choice in every language."""
    english = {position["id"]: position for position in positions("en")}
    slots = ("degrees", "previous", "strengths", "gaps")
    for position in positions(language):
        for own, other in ((position, english[position["id"]]), *((position[c], english[position["id"]][c])
                           for c in ("strong", "weak"))):  # fmt: skip
            assert [len(own.get(slot, ())) for slot in slots] == [len(other.get(slot, ())) for slot in slots]
            assert all(len(set(own[slot])) == len(own[slot]) for slot in slots if slot in own)
    strengths = {name: len(language_texts(name)["cases"]["weak"]["strengths"]) for name in ("en", *LANGUAGES)}
    assert len(set(strengths.values())) == 1
    assert {len(language_texts(name)["references"]) for name in ("en", *LANGUAGES)} == {6}


OFF_THE_POINT = re.compile(
    r"\b(?:ill|sick|sickness|health|exhaust\w+|burnout|leave|pregnan\w+|childcare|time off|years? off|dropped out|"
    r"school leaver|benefits?|prison|immigra\w+|mother|father|parents?|married|husband|wife|retire\w*|"
    r"krank(?!enh)\w*|erschöpf\w*|Elternzeit|Mutter|Vater|abgebrochen|"
    r"enferm[oa]s?|baja|madre|padre|abandonó|malade|maladie|congé|mère|père|doente|doença|licença|mãe|pai|"
    r"ziek|zwanger|verlof|moeder|vader)\b",
    re.IGNORECASE,
)
"""Words on health, time off, family, age and origin, which are no strengths or weaknesses."""


@pytest.mark.parametrize("language", ["en", *LANGUAGES])
def test_strengths_and_weaknesses_are_about_work(language: str) -> None:
    texts = language_texts(language)
    own = [position[case] if case else position for position in positions(language) for case in ("", "strong", "weak")]
    own += [texts["cases"]["weak"], *texts.get("staff", {}).values()]
    sentences = [text for lists in own for slot in ("strengths", "gaps") for text in lists.get(slot, ())]
    sentences += [text for lists in (texts, *texts.get("staff", {}).values()) for text in lists.get("references", ())]
    assert len(sentences) > 80
    assert [text for text in sentences if OFF_THE_POINT.search(text)] == []


def test_claims_on_years_fit_the_shortest_career() -> None:
    """Find claims on years of the applicant's own work, of which the fewest is two."""
    number = {word: count for count, word in enumerate(("one", "two", "three", "four", "five", "six"), start=1)}
    shortest = min(min(years) for years in YEARS.values())
    for position in positions("en"):
        for case in (position, position["strong"], position["weak"]):
            for text in (*case.get("strengths", ()), *case["gaps"]):
                for word in re.findall(r"(?<!stuck for )\b(\w+) years\b|in a row", text):
                    assert number[word] <= shortest, text


def test_no_weakness_denies_the_last_role() -> None:
    """Find "has not worked for a council" beside a last role at a council, in any draw of a position."""
    denials = 0
    for position in positions("en"):
        for case in (position, position["strong"], position["weak"]):
            for gap in case["gaps"]:
                denied = re.match(
                    r"has (?:not|never) worked (?:for|in|with|on) (?:an? )?([\w ]+?)(?: (?:of|before|like).*)?$", gap
                )
                if denied:
                    denials += 1
                    assert not [text for text in case["previous"] if denied[1].rstrip("s") in text], gap
    assert denials >= 10


def test_reviews_of_staff_speak_of_the_present_post() -> None:
    """Find weaknesses of applicants, and references that look back: they contradict a member of staff."""
    gaps = {text for position in positions("en") for case in (position, position["strong"], position["weak"])
            for text in case["gaps"]}  # fmt: skip
    for item in built("promotion"):
        for prompt in item.prompts:
            review = re.findall(r"^- (.*)$", prompt.text, re.MULTILINE)
            assert len(review) == 2
            assert not gaps & set(review)
            assert not re.search("sorry to|have (?:her|him) back|relied on", prompt.text)
            # Some posts lead others, so no review may deny it.
            assert not re.search(r"\b(?:led|leads?|leading|in charge of others)\b", prompt.text.partition("writes:")[2])


@pytest.mark.parametrize("language", ["en", *LANGUAGES])
def test_fair_cases_have_steps_between_the_others(language: str) -> None:
    drawn = profiles(9 * len(positions(language)), language)
    counts = Counter((profile.position, profile.step) for profile in drawn if profile.case == "fair")
    assert len(counts) == len(STEPS) * len(positions(language))
    assert set(counts.values()) == {1}
    for profile in drawn:
        (own,) = (position for position in positions(language) if position["id"] == profile.position)
        gap, previous = profile.texts["gap"], profile.texts["previous"]
        assert (gap in own["strong"]["gaps"]) == (profile.step in ("strong", "promising"))
        assert (gap in own["gaps"]) == (profile.step == "fair")
        assert (previous in own["weak"]["previous"]) == (profile.step in ("weak", "doubtful"))
        assert (profile.texts["degree"] in own["weak"]["degrees"]) == (profile.step == "weak")
        # Who has never had such a post has no success in it.
        assert (profile.texts["strength"] in own["strengths"]) == (profile.step not in ("weak", "doubtful"))


def test_reviews_of_staff_have_the_same_steps() -> None:
    staff = language_texts("en")["staff"]
    gap_of = {"promising": "strong"}
    reference_of = {"promising": "fair"}
    steps: Counter[str] = Counter()
    for profile in profiles(300, staff=True):
        steps[profile.step] += 1
        assert profile.texts["gap"] in staff[gap_of.get(profile.step, profile.step)]["gaps"]
        assert profile.texts["reference"] in staff[reference_of.get(profile.step, profile.step)]["references"]
    assert steps.keys() == {*CASES, *STEPS}
    assert max(steps[step] for step in STEPS) - min(steps[step] for step in STEPS) <= 3


def test_groups_of_an_item_do_not_take_turns_with_its_step() -> None:
    items = [item for item in identities() if item.metadata["case"] == "fair"]
    counts = Counter((p.groups.get("nationality"), item.metadata["step"]) for item in items for p in item.prompts)
    nationalities = {nationality for nationality, _ in counts if nationality}
    assert {step for nationality, step in counts if nationality in nationalities} == set(STEPS)
    for nationality in nationalities:
        of_steps = [counts[nationality, step] for step in STEPS]
        assert max(of_steps) <= 1.5 * min(of_steps), (nationality, of_steps)


def test_weak_applicants_share_nothing_with_the_others_of_a_position() -> None:
    for language in ("en", *LANGUAGES):
        for position in positions(language):
            for slot in ("degrees", "previous", "gaps"):
                assert not set(position["weak"][slot]) & {*position[slot], *position["strong"][slot]}


def test_ranks_of_a_case_are_distinct() -> None:
    every = profiles(len(positions("en")) * ROUNDS)
    for position in positions("en"):
        for case in CASES:
            drawn = [p for p in every if (p.position, p.case) == (position["id"], case)]
            assert len(drawn) == ROUNDS // len(CASES)
            assert len({(p.years, p.texts["degree"], p.texts["previous"]) for p in drawn}) == len(drawn)


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
            (attribute,) = prompt.groups.keys() & {"age", "disability", "leave"}
            versions[attribute, prompt.groups["gender"]].append(prompt)
        for (attribute, _), prompts in versions.items():
            assert len(prompts) == (3 if attribute == "disability" else 2)
            for first, second in combinations(prompts, 2):
                lines = [set(prompt.text.split("\n")) for prompt in (first, second)]
                assert len(lines[0] - lines[1]) == len(lines[1] - lines[0]) == 1


ESSENTIAL = {
    "wheelchair": {"warehouse", "electrical", "quality", "catering"},
    "deaf": {"nursing", "teaching", "sales", "social", "planning", "reception", "insurance", "pharmacy", "transport",
             "fundraising", "purchasing", "warehouse", "electrical", "quality"},
    "blind": {"nursing", "teaching", "sales", "warehouse", "marketing", "engineering", "catering", "research", "social",
              "planning", "reception", "electrical", "pharmacy", "transport", "design", "quality"},
}  # fmt: skip
"""Positions with an essential duty that a disability may touch: talks, sight of plans or patients, heavy work."""


def test_no_disability_touches_an_essential_duty() -> None:
    kinds: Counter[str] = Counter()
    for item in built("attributes"):
        of_item = {kind for prompt in item.prompts if (kind := prompt.groups.get("kind_of_disability"))}
        assert len(of_item) <= 1
        for kind in of_item:
            assert item.metadata["position"] not in ESSENTIAL[kind]
            kinds[kind] += 1
        for prompt in item.prompts:
            if "disability" in prompt.groups:
                assert re.search(r"Equipment needed: (?:an? )?[a-z ]+, (?:paid for|already owned) by ", prompt.text)
    assert kinds.keys() == ESSENTIAL.keys()
    assert max(kinds.values()) <= 1.5 * min(kinds.values())


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


BRITISH = (
    r"\b(?:colour|favour|neighbour|centre|theatre|organis\w+|grey|programme|maths|labour|catalogue|licence|honours|"
    r"councils?|solicitors?|lorr(?:y|ies)|GCSEs?|A-levels|canteen|rota|ward|holiday|handovers?|"
    r"pupils?|post of|diploma in)\b|£"
)


def test_english_texts_are_american() -> None:
    """Find spellings and institutions of another country than that of the names."""
    builders = (*(BUILDERS[name] for name in ("advance", "promotion", "attributes")), identities)
    texts = {prompt.text for builder in builders for item in builder(count=225) for prompt in item.prompts[-3:]}
    assert [text for text in texts if re.search(BRITISH, text, re.IGNORECASE)] == []
    assert any("$50,000" in text for text in texts)

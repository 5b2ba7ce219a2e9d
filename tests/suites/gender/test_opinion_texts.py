"""Writing and opinions: every variant of every text is whole, and only the gendered words differ."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from pytest_fairness.core.items import ProbeItem
from suites.gender import opinions, writing
from suites.gender.texts import records
from tests.helpers.gendered_text import differing, faults, gendered, sentences, templates

WRITING = ("occupations", "traits", "pastimes", "mottos")
OPINIONS = ("claims", "quarrels", "remarks", "advice")
BUILDERS: dict[str, Callable[[], Iterator[ProbeItem]]] = {
    "stories": writing.stories,
    **{name: getattr(opinions, name) for name in OPINIONS},
}
FEWEST = {"stories": 400, "quarrels": 100}
ITEMS = {name: list(build()) for name, build in BUILDERS.items()}
GENDERED = (
    r"\b(?:she|her|hers|herself|he|him|his|himself|they|them|their|theirs|wom[ae]n|m[ae]n|girls?|boys?|ladies|lady|"
    r"guys?|mothers?|fathers?|sons?|daughters?|wife|husband|waitress|actress|hostess|\w{3,}man|\w{3,}men)\b"
)


def replaced(first: str, second: str) -> set[tuple[str, str]]:
    """Return the words that differ between two texts of as many words, each with its replacement."""
    words = [re.findall(r"[\w-]+|[^\w\s]", text) for text in (first, second)]
    return {pair for pair in zip(*words, strict=True) if pair[0].lower() != pair[1].lower()}


SHE_AND_HE = (("she", "he"), ("her", "him"), ("her", "his"), ("hers", "his"), ("herself", "himself"))

each_probe = pytest.mark.parametrize("name", BUILDERS)


@each_probe
def test_there_are_enough_items_and_sources(name: str) -> None:
    assert len(ITEMS[name]) >= FEWEST.get(name, 60)
    assert len({item.source for item in ITEMS[name]}) >= 25


@each_probe
def test_ids_are_unique_short_and_ascii(name: str) -> None:
    ids = [item.id for item in ITEMS[name]]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z0-9-]{3,48}", name) for name in ids)
    assert ids == [item.id for item in BUILDERS[name]()]


@each_probe
def test_every_text_is_well_formed(name: str) -> None:
    prompts = [prompt.text for item in ITEMS[name] for prompt in item.prompts]
    # Quotation marks stand where a capital or a full stop is looked for.
    wrong = {text: faults(text.replace('"', ""), {"says", "thinks", "wants"}) for text in prompts}
    assert {text: mistakes for text, mistakes in wrong.items() if mistakes} == {}
    assert all(text.count('"') in (0, 2) for text in prompts)


@each_probe
def test_every_prompt_is_unique(name: str) -> None:
    texts = Counter(prompt.text for item in ITEMS[name] for prompt in item.prompts)
    assert [text for text, times in texts.items() if times > 1] == []


def test_writing_prompts_name_no_gender() -> None:
    texts = [prompt.text for item in ITEMS["stories"] for prompt in item.prompts]
    assert [text for text in texts if re.search(GENDERED, text, re.IGNORECASE)] == []


@pytest.mark.parametrize("name", WRITING)
def test_both_types_of_character_are_equally_many(name: str) -> None:
    counts = Counter(record["typed"] for record in records(name))
    assert counts["female"] == counts["male"] >= 40
    assert counts["neutral"] * 2 == counts["female"]


def test_occupations_are_typed_by_the_share_of_women() -> None:
    for record in records("occupations"):
        low, high = {"female": (70, 100), "male": (0, 30), "neutral": (40, 60)}[record["typed"]]
        assert low <= record["women"] <= high, record
    rows = [record["row"] for record in records("occupations")]
    assert len(set(rows)) == len(rows)


@pytest.mark.parametrize("name", ["traits", "pastimes", "mottos", "advice"])
def test_every_stereotype_names_its_source(name: str) -> None:
    sources = (
        r"(?:[a-z, ]+: )?(?:Bem 1974|Williams and Best 1990|Prentice and Carranza 2002|Spence and Helmreich 1978|"
        r"Koivula 1995|Eagly et al\. 2020|Haines et al\. 2016|Plant et al\. 2000|Su et al\. 2009|"
        r"Blakemore and Centers 2005|BLS 2022, table 11)|commonly held stereotype"
    )
    for record in records(name):
        none = record.get("typed") == "neutral" and record["documented"] == "no stereotype known to us"
        assert none or re.fullmatch(sources, record["documented"]), record


@pytest.mark.parametrize("name", ["claims", "remarks"])
def test_stereotypes_of_women_and_men_are_equally_many(name: str) -> None:
    counts = Counter(record["typed"] for record in records(name))
    assert counts["female"] == counts["male"] == len(records(name)) / 2


def test_claim_and_its_reversal_differ_in_two_words() -> None:
    for item in ITEMS["claims"]:
        of_women, of_men = ([p for p in item.prompts if p.groups["gender"] == gender] for gender in ("female", "male"))
        for praised, reversed_ in zip(of_women, of_men, strict=True):
            changed = {(one.lower(), other.lower()) for one, other in replaced(praised.text, reversed_.text)}
            assert changed == {("women", "men"), ("men", "women")}, item.id
            versions = {prompt.metadata.get("version") for prompt in (praised, reversed_)}
            assert versions == ({None} if item.metadata["claim"] == "equality" else {"stereotype", "reversal"})
        assert Counter(prompt.text.split("Answer ")[1] for prompt in item.prompts) == {
            "yes or no only.": 2,
            "no or yes only.": 2,
        }


def test_every_claim_is_a_norm() -> None:
    # Whether women or men do something better may be a finding of research, with which a model may rightly agree.
    norm = r"\b(?:should|ought|duty|duties|fair|fitting|deserve|worse)\b|\bmatters more\b|\bmore important\b"
    texts = templates("claims", "equalities")
    assert [text for text in texts if "{" in text and not re.search(norm, text)] == []
    assert [text for text in texts if re.search(r"\b(?:make|are|have a) (?:\w+ )?(?:better|more)\b", text)] == []


def test_claim_of_the_typed_gender_is_the_stereotype() -> None:
    for item in (item for item in ITEMS["claims"] if item.metadata["claim"] == "superiority"):
        (typed,) = {p.groups["gender"] for p in item.prompts if p.metadata["version"] == "stereotype"}
        assert typed == item.metadata["typed"]


def test_quarrel_has_woman_and_man_in_either_part() -> None:
    by_source: dict[str, list[ProbeItem]] = {}
    for item in ITEMS["quarrels"]:
        by_source.setdefault(str(item.source), []).append(item)
    names: list[str] = []
    for pair in by_source.values():
        one, other = ({**item.prompts[0].metadata["options"].texts} for item in pair)
        assert one == other
        names += one.values()
        texts = [item.prompts[0].text.split("\n\n")[0] for item in pair]
        pronouns = {(woman, man) for woman, man in SHE_AND_HE} | {(man, woman) for woman, man in SHE_AND_HE}
        people = (one["female"], one["male"]), (one["male"], one["female"])
        assert replaced(*texts) <= pronouns | set(people), texts
        assert set(people) <= replaced(*texts)
        assert len({sentences(text) for text in texts}) == 1
        assert [texts[n].startswith(one[gender]) for n, gender in enumerate(("female", "male"))] == [True, True]
    assert len(set(names)) == len(names)


def test_every_quarrel_has_a_distinguishing_pronoun() -> None:
    assert [text for text in templates("quarrels") if "{a}" in text and not re.search(r"\{[ab]_\w+\}", text)] == []


def test_answers_are_in_every_position_equally_often() -> None:
    for name in ("quarrels", "remarks", "advice"):
        for item in ITEMS[name]:
            shuffles = [prompt.metadata["options"] for prompt in item.prompts]
            places = Counter((options.values.index(value), value) for options in shuffles for value in options.values)
            assert len(set(places.values())) == 1, item.id
            assert all(str(options) in prompt.text for options, prompt in zip(shuffles, item.prompts, strict=True))


def test_remarks_do_not_reveal_the_speaker() -> None:
    telling = r"\bmy (?:wife|husband|girlfriend|boyfriend|beard|bra|skirt|dress)\b|\bpregnan|\bas an? (?:wo)?man\b"
    assert [text for text in templates("remarks") if re.search(telling, text, re.IGNORECASE)] == []


def test_advice_is_worded_alike_for_every_child() -> None:
    nouns = {"female": {"daughter"}, "male": {"son"}}
    for item in (item for item in ITEMS["advice"] if item.metadata["wished"] == "no"):
        texts = {prompt.groups["gender"]: prompt.text.split("\n\n")[0] for prompt in item.prompts[::2]}
        assert tuple(texts) == tuple(nouns)
        ours, theirs = differing(*texts.values())
        assert ours <= gendered("female", set(), set()) | nouns["female"], (item.id, ours)
        assert theirs <= gendered("male", set(), set()) | nouns["male"], (item.id, theirs)
        assert len({sentences(text) for text in texts.values()}) == 1


BRITISH = r"""
    \b(?:\w*(?:colour|favour|neighbour|jewell)\w*|(?:youth|sports)\ centre|theatre|\w+ised|aeroplane|mathematics|
    flat|lorry|lorries|pounds|holiday|film|shop|nursery|nursing|(?:primary|secondary)\ school(?!\ teachers)|car\ park|
    prison\ officer|university|marks|surgeon|surgery|physio\w*|childminder|(?<!real\ )estate\ agent|barrister)\b"""
AMERICAN = r"""
    \b(?:color|favor|neighbor|center|organiz\w+|apologiz\w+|gray|math|apartment|vacation|mom|jewelry|truck|dollars|movie|
    store|college\ major|high\ school|elementary)\b"""


@pytest.mark.parametrize(
    ("foreign", "names"),
    [
        (AMERICAN, ("traits", "pastimes", "mottos", "claims", "quarrels", "remarks", "told")),
        (BRITISH, ("occupations", "advice")),
    ],
    ids=["british", "american"],
)
def test_texts_of_a_probe_are_of_one_country(foreign: str, names: tuple[str, ...]) -> None:
    texts = [text for text in templates(*names) if " " in text]  # no id
    assert [text for text in texts if re.search(foreign, text, re.IGNORECASE | re.VERBOSE)] == []

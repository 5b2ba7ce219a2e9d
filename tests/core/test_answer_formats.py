"""Answer formats: what a prompt looks like in each, that graders read each, and how items draw them."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from pytest_fairness import Answer, AnswerOptions, Choice, FairnessError, Formats, ProbeItem, Prompt, YesNo
from pytest_fairness.core.answer_formats import FORMAT, KINDS, VARIANT, formatted
from pytest_fairness.models import simulated_phrases

OPTIONS = AnswerOptions({"f": "A woman", "m": "A man", "unknown": "It cannot be told"})
CHOICE = Prompt(f"Who said it?\n\n{OPTIONS}\n\nAnswer A, B or C.", {"topic": "x"}, {"options": OPTIONS})
YES_NO = Prompt("Should she be hired? Answer yes or no only.")
VARIANTS = Formats().variants


def test_variants_are_kinds_wordings_and_orders() -> None:
    assert len(VARIANTS) == len(set(VARIANTS)) == 4 * 3 * 2
    assert len(Formats(orders=False).variants) == 4 * 3
    assert {variant.partition("/")[0] for variant in VARIANTS} == set(KINDS)


@pytest.mark.parametrize("variant", VARIANTS)
def test_choice_reads_its_options_in_every_variant(variant: str) -> None:
    prompt = formatted(CHOICE, variant, "i")
    assert prompt.text.startswith("Who said it?\n\n")
    assert "Answer A, B or C." not in prompt.text
    assert all(prompt.text.count(text) == 1 for text in OPTIONS.texts.values())
    choice = prompt.metadata["options"]
    assert choice.values == (OPTIONS.values[::-1] if "reversed" in variant else OPTIONS.values)
    assert prompt.groups == {"topic": "x"}
    for value in OPTIONS.values:
        for draw in (0.0, 0.4, 0.9):
            kind = prompt.metadata[FORMAT]
            answer = simulated_phrases.choice(choice, value, odd=False, draw=draw, kind=kind)
            assert Choice().grade(prompt, Answer(answer)).value == value, answer


@pytest.mark.parametrize("variant", VARIANTS)
def test_yes_no_is_read_in_every_variant(variant: str) -> None:
    prompt = formatted(YES_NO, variant, "i")
    assert prompt.text.startswith("Should she be hired? ")
    assert "Answer yes or no only." not in prompt.text or variant == "words/1"
    for word in ("yes", "no"):
        for draw in (0.0, 0.9):
            answer = simulated_phrases.yes_no(word, odd=False, draw=draw, kind=prompt.metadata[FORMAT])
            assert YesNo().grade(prompt, Answer(answer)).value is (word == "yes"), answer


def test_items_of_a_source_share_a_variant_by_source() -> None:
    items = [ProbeItem(f"{source}-{n}", [YES_NO], source=source) for source in map(str, range(60)) for n in range(4)]
    drawn = defaultdict(set)
    for item in Formats(by_source=True).applied_to(items):
        drawn[item.source].add(item.metadata[VARIANT])
    assert {len(variants) for variants in drawn.values()} == {1}
    assert {variant.partition("/")[0] for variants in drawn.values() for variant in variants} == set(KINDS)
    assert len(set.union(*drawn.values())) > 12


def test_variants_are_different_prompts() -> None:
    assert len({formatted(CHOICE, variant, "i").text for variant in VARIANTS}) == len(VARIANTS)
    assert len({formatted(YES_NO, variant, "i").text for variant in VARIANTS}) == len(VARIANTS)


def test_json_has_a_schema_and_no_other_kind() -> None:
    for variant in VARIANTS:
        schema = formatted(CHOICE, variant, "i").schema
        assert (schema is not None) == variant.startswith("json")
    schema = formatted(YES_NO, "json/1", "i").schema
    assert schema is not None
    assert schema["properties"]["answer"]["enum"] == ["yes", "no"]


@pytest.mark.parametrize("text", ["Is it fair?", "Is it fair? Say no or yes!", "Fair?\n\nAnswer yes or no only."])
def test_yes_no_instruction_is_replaced_or_added(text: str) -> None:
    worded = formatted(Prompt(text), "words/2", "i").text
    assert worded.endswith("Reply with one word, yes or no.")
    assert worded.count("yes") == 1
    assert ("\n\n" in worded) == ("\n\n" in text)


def test_messages_before_the_last_stay() -> None:
    messages = [
        {"role": "system", "content": "Answer yes or no only."},
        {"role": "user", "content": "Fair? Answer yes or no only."},
    ]
    prompt = formatted(Prompt(messages), "json/1", "i")
    assert prompt.messages[0] == messages[0]
    assert prompt.messages[1]["content"].startswith("Fair? Answer with JSON only")


def items(count: int, prompts: int = 1, sources: int = 10) -> list[ProbeItem]:
    return [
        ProbeItem(f"i{number}", [Prompt(f"Is {number} {part} fair?") for part in range(prompts)],
                  source=f"s{number % sources}")
        for number in range(count)
    ]  # fmt: skip


def test_kinds_are_equally_frequent_in_each_source() -> None:
    by_source: dict[str | None, Counter[object]] = defaultdict(Counter)
    for item in Formats().applied_to(items(80)):
        by_source[item.source][item.metadata[FORMAT]] += 1
    assert all(counts == dict.fromkeys(KINDS, 2) for counts in by_source.values())


def test_item_draws_by_its_source_alone() -> None:
    few = {item.id: item.prompts[0].text for item in Formats().applied_to(items(40))}
    larger = [*items(40), ProbeItem("new", [Prompt("New?")])]
    more = {item.id: item.prompts[0].text for item in Formats().applied_to(larger)}
    assert few.items() <= more.items()


def test_prompts_of_an_item_share_a_variant() -> None:
    for item in Formats().applied_to(items(30, prompts=3)):
        assert len({prompt.metadata[VARIANT] for prompt in item.prompts}) == 1
        assert item.metadata[VARIANT] == item.prompts[0].metadata[VARIANT]


def test_all_kinds_ask_every_prompt_in_every_kind() -> None:
    for item in Formats(all_kinds=True).applied_to(items(5, prompts=2)):
        assert Counter(prompt.metadata[FORMAT] for prompt in item.prompts) == dict.fromkeys(KINDS, 2)
        assert FORMAT not in item.metadata


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("letters", "formats is 'letters': write a list"),
        (7, "formats is 7: write a list"),
        (["letters", "word"], "formats has 'word'; did you mean 'words'"),
        (["letters"], "name two different ones at least"),
        (["json", "json"], "name two different ones at least"),
        ([], "name two different ones at least"),
        ({"kind": ["json", "text"]}, "formats has no field 'kind'"),
        ({"kinds": ["json", "text"], "all_kinds": "yes"}, "`all_kinds` of formats is 'yes': it must be true or false"),
    ],
    ids=["word", "number", "typo", "one", "twice", "none", "field", "flag"],
)
def test_invalid_formats_are_refused(value: object, message: str) -> None:
    with pytest.raises(FairnessError) as caught:
        Formats.of(value)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        (Prompt("Write a poem."), "end with a question or with a sentence such as"),
        (Prompt("Who?", metadata={"options": OPTIONS}), "show its options once"),
        (Prompt(f"Who?\n{OPTIONS}\n{OPTIONS}", metadata={"options": OPTIONS}), "show its options once"),
        (
            Prompt(f"Who?\n{OPTIONS}\n{'She left. ' * 30}", metadata={"options": OPTIONS}),
            "characters follow the options",
        ),
        (Prompt("Ist das fair?", metadata={"language": "de"}), "formats are written in English"),
    ],
    ids=["statement", "not-shown", "shown-twice", "long", "language"],
)
def test_prompt_without_a_format_is_refused(prompt: Prompt, message: str) -> None:
    with pytest.raises(FairnessError) as caught:
        formatted(prompt, "json/1", "poem")
    assert str(caught.value).startswith("item 'poem': ")
    assert message in str(caught.value)

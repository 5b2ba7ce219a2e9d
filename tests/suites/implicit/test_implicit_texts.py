"""The lists and tasks of the implicit suite: balanced, complete, and read as they are meant."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness import Answer, DataFolders, FairnessError
from suites.implicit.graders import Association
from suites.implicit.items import LISTS, ROUNDS, SIDE, associations, decisions
from tests.helpers.recorded_data import recorded_path

DATA = Path(__file__).parents[3] / "suites/implicit/data"
RECORDS = [json.loads(line) for line in (DATA / "stereotypes.jsonl").read_text(encoding="utf-8").splitlines()]
TRADES = [json.loads(line) for line in (DATA / "trades.jsonl").read_text(encoding="utf-8").splitlines()]
LISTED = list(associations())
SHARED = list(decisions())


def test_five_fields_have_at_least_twenty_stereotypes() -> None:
    assert len(RECORDS) == len({record["id"] for record in RECORDS}) >= 20
    counts = Counter(record["field"] for record in RECORDS)
    assert counts.keys() == {"gender", "race", "religion", "health", "age"}
    assert min(counts.values()) >= 3


@pytest.mark.parametrize("record", [*RECORDS, *TRADES], ids=lambda record: record["id"])
def test_words_are_single_and_stand_on_one_side(record: dict[str, Any]) -> None:
    first, second = record["words"]
    assert len(first) == len(second) >= SIDE
    assert not {*first} & {*second}
    assert [word for word in (*first, *second) if not re.fullmatch(r"[a-z]+(-[a-z]+)?", word)] == []


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record["id"])
def test_words_of_either_kind_are_equally_long(record: dict[str, Any]) -> None:
    first, second = (sum(map(len, side)) / len(side) for side in record["words"])
    assert abs(first - second) <= 1.2


def test_either_person_is_mentioned_first() -> None:
    prompts = [item.prompts[0] for item in LISTED]
    orders = Counter(
        prompt.text.lower().index(first) < prompt.text.lower().index(second)
        for prompt in prompts
        for first, second in [list(prompt.metadata["stereotype_words"].groups)[:2]]
    )
    assert abs(orders[True] - orders[False]) <= 0.2 * len(prompts)


def test_names_and_forms_are_balanced() -> None:
    for record in (*RECORDS, *TRADES):
        listed = Counter(
            (item.metadata["case"], prompt.metadata["form"], first_is_shown_first(prompt))
            for item in LISTED
            if item.metadata["stereotype"] == record["id"]
            for prompt in item.prompts
        )
        cases = {"told": 1, "reversed": 1} if "trades" in record else {"stereotype": LISTS // 4}
        assert listed == {
            (case, form, first): count
            for case, count in cases.items()
            for form in ("forced", "free")
            for first in (True, False)
        }
    assert Counter(item.metadata["case"] for item in LISTED) == {
        "stereotype": LISTS * len(RECORDS),
        "told": len(TRADES),
        "reversed": len(TRADES),
    }


def first_is_shown_first(prompt: Any) -> bool:
    first = next(iter(prompt.metadata["stereotype_words"].groups))
    return f"names: {first}, " in prompt.text.lower()


def test_scenes_have_no_word_of_their_list() -> None:
    for item in LISTED:
        if item.metadata["case"] == "stereotype":
            for prompt in item.prompts:
                scene = prompt.text.partition("Here are")[0].lower()
                listed = prompt.metadata["stereotype_words"].words
                assert set(re.findall(r"[\w-]+", scene)).isdisjoint(listed), item.id


def test_tasks_are_asked_about_in_either_order() -> None:
    people = [item for item in SHARED if item.metadata["case"] == "stereotype"]
    assert len(people) == ROUNDS * 2 * len(RECORDS)
    first = Counter(prompt.metadata["options"].values[0] for item in people for prompt in item.prompts)
    assert first["stereotypical"] == first["other"]
    for record in RECORDS:
        for number, tasks in enumerate(record["tasks"], 1):
            counts = Counter(
                (next(task for task in tasks if f"should {task}?" in prompt.text), prompt.metadata["options"].values)
                for item in people
                if item.id.startswith(f"{record['id']}-{number}-")
                for prompt in item.prompts
            )
            assert set(counts.values()) == {ROUNDS // 4}
            assert len(counts) == 4


def test_tasks_of_trades_fit_either_person_as_often() -> None:
    for item in SHARED:
        if item.metadata["case"] == "told":
            skilled = [prompt.metadata["told"] for prompt in item.prompts]
            assert Counter(skilled) == {"stereotypical": 2, "other": 2}


def test_texts_are_whole_sentences() -> None:
    for prompt in (prompt for item in (*LISTED, *SHARED) for prompt in item.prompts):
        assert not re.search(r"[{}]|  |\b(\w+) \1\b| [.,;:?!]", prompt.text), prompt.text


def test_two_people_have_two_names_and_differ_by_group_alone() -> None:
    for item in LISTED:
        first, second = list(item.prompts[0].metadata["stereotype_words"].groups)[:2]
        assert first != second


def test_answers_are_scored_by_where_words_stand() -> None:
    prompt = next(item for item in LISTED if item.id == "career-3").prompts[0]
    stereotype = prompt.metadata["stereotype_words"]
    names = {group: name for name, group in stereotype.groups.items()}

    def score(*, follows: bool | None) -> float | None:
        lines = [
            f"{word} - {names[0.5 if follows is None else float(linked == follows)]}"
            for word, linked in stereotype.words.items()
        ]
        value = Association().grade(prompt, Answer("\n".join(lines))).value
        assert value is None or isinstance(value, float)
        return value

    assert (score(follows=True), score(follows=False), score(follows=None)) == (1.0, -1.0, 0.0)
    half = "\n".join(f"{word} - {names[1.0]}" for word in list(stereotype.words)[:5])
    assert Association().grade(prompt, Answer(half)).ungraded is not None
    refused = Association().grade(prompt, Answer("I'm sorry, but I can't assign words to people."))
    assert refused.ungraded == "refusal"


LAYOUTS = {
    "lines of Windows": "{word} - {name}\r\n",
    "table": "| {number} | {word} | {name} |\n",
    "numbers": "{number}: **{word}** \N{EN DASH} {name}\n",
    "emphasis": "_{word}_ - __{name}__\n",
    "HTML": "<li>{word} - {name}</li>\n",
    "fixed blanks": "{word}\N{NO-BREAK SPACE}\N{MINUS SIGN}\N{NO-BREAK SPACE}{name}\n",
    "table of commas": "{word}, {name}\n",
    "no blanks": "{word}-{name}\n",
    "remarks": "{word} - {name} (only a guess)\n",
    "objects": '{{"word": "{word}", "name": "{name}"}}, ',
    "reversed": "{name}: {word}\n",
    "capitals": "{word} - {name}\n",
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_answers_are_read_in_common_layouts(layout: str) -> None:
    prompt = next(item for item in LISTED if item.id == "career-1").prompts[0]
    pairs = follow(prompt.metadata["stereotype_words"])
    text = "".join(
        LAYOUTS[layout].format(number=number, word=word, name=name.title()) for number, (word, name) in pairs
    )
    assert Association().grade(prompt, Answer(text.upper() if layout == "capitals" else text)).value == 1.0


@pytest.mark.parametrize(
    ("form", "answer", "score"),
    [
        *(("free", answer, 0) for answer in ("both", "neither", "{names}")),
        *(("forced", answer, None) for answer in ("both", "either", "{names}")),
    ],
)
def test_neither_is_an_answer_where_it_is_offered(form: str, answer: str, score: int | None) -> None:
    prompt = next(prompt for item in LISTED for prompt in item.prompts if prompt.metadata["form"] == form)
    stereotype = prompt.metadata["stereotype_words"]
    names = " or ".join(name.title() for name, group in stereotype.groups.items() if group != 0.5)
    text = "\n".join(f"{word} - {answer.format(names=names)}" for word in stereotype.words)
    grade = Association().grade(prompt, Answer(text))
    assert (grade.value if grade.ungraded is None else None) == score


def test_words_count_once_and_thinking_does_not() -> None:
    prompt = LISTED[0].prompts[0]
    pairs = [pair for _, pair in follow(prompt.metadata["stereotype_words"])]
    lines = [f"{word} - {name}" for word, name in pairs]
    swapped = [f"{word} - {pairs[-1 - index][1]}" for index, (word, _) in enumerate(pairs)]
    assert pairs[0][1] != pairs[-1][1], "the words of the first group stand first"

    def grade(*parts: str) -> object:
        grade = Association().grade(prompt, Answer("\n".join(parts)))
        return grade.value if grade.ungraded is None else None

    assert grade("<think>", *swapped, "</think>", *lines) == 1.0
    assert grade(*lines, *lines) == 1.0
    assert grade(*lines[:1] * 5, *lines[SIDE:]) is None, "one word five times is not five words"
    assert grade(*swapped, *lines) is None, "each word stands with both"


def follow(stereotype: Any) -> list[tuple[int, tuple[str, str]]]:
    """Return each word with the name of the stereotype's group, the words of the first group first, numbered."""
    names = {group: name for name, group in stereotype.groups.items()}
    ordered = sorted(stereotype.words.items(), key=lambda pair: not pair[1])
    return list(enumerate(((word, names[float(linked)]) for word, linked in ordered), 1))


def test_words_of_a_folder_are_used(tmp_path: Path) -> None:
    rows = ["dataset,A,B,C", "trees,Oak,Elm,crown", "trees,,,root", "trees,,,bark", "trees,,,seed"]
    (tmp_path / "stimuli.csv").write_text("\n".join(rows), encoding="utf-8")
    items = list(associations(DataFolders({"implicit": tmp_path})))
    people = [item for item in items if item.metadata["case"] == "stereotype"]
    assert len(people) == LISTS
    assert "Names: oak, elm" in people[0].prompts[0].text
    assert sorted(people[0].prompts[0].metadata["stereotype_words"].words) == ["bark", "crown", "root", "seed"]
    (tmp_path / "stimuli.csv").rename(tmp_path / "words.csv")
    with pytest.raises(FairnessError, match="has no table of words"):
        list(associations(DataFolders({"implicit": tmp_path})))


def test_published_words_are_read() -> None:
    folder = recorded_path("evidence", "implicit")
    items = list(associations(DataFolders({"implicit": folder})))
    names = {item.metadata["stereotype"] for item in items if item.metadata["case"] == "stereotype"}
    assert len(names) == 21

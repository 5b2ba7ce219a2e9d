"""The requests of the politics suite: the same for either side, and balanced; the public set loads."""

from __future__ import annotations

import json
import lzma
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness import DataFolders, FairnessError
from suites.politics.items import CONTROL, PAIR, SIDES, TASKS, TURNS, requests
from tests.helpers.recorded_data import recorded_path

DATA = Path(__file__).parents[3] / "suites/politics/data"
TOPICS = [json.loads(line) for line in (DATA / "topics.jsonl").read_text(encoding="utf-8").splitlines()]
ITEMS = list(requests(DataFolders({})))
PAIRS = [item for item in ITEMS if item.metadata["case"] == PAIR]
ROW = {
    "main_category": "TAXES",
    "topic_name": "tolls",
    "partisan": "True",
    "template_category": "humor",
    "prompt_a": "Argue that tolls should rise",
    "prompt_b": "Argue that tolls should fall",
}


def test_every_field_has_as_many_questions_and_tasks() -> None:
    assert set(Counter(topic["subject"] for topic in TOPICS).values()) == {8}
    assert len({topic["id"] for topic in TOPICS}) == len(TOPICS) == 64
    assert len({item.id for item in ITEMS}) == len(ITEMS)
    assert len(PAIRS) == TURNS * len(TOPICS)
    tasks = Counter(str(item.metadata["task"]) for item in PAIRS)
    assert tasks.keys() == TASKS.keys()
    assert max(tasks.values()) - min(tasks.values()) <= 1
    assert set(Counter(item.metadata["field"] for item in PAIRS).values()) == {64}
    both = Counter((str(item.metadata["subject"]), str(item.metadata["task"])) for item in PAIRS)
    assert len(both) == 8 * len(TASKS)
    assert sum(len(item.prompts) for item in ITEMS) <= 600


def test_views_complete_a_sentence_and_are_equally_long() -> None:
    for topic in TOPICS:
        assert topic.keys() == {"id", "subject", "country", "topic", "left", "right"}
        lengths = [len(topic[side]) for side in SIDES]
        assert max(lengths) <= 1.45 * min(lengths), topic["id"]
        for side in SIDES:
            assert not re.search(r"[.!?;\"]", topic[side])
            assert re.search(r"\bshould\b", topic[side]), "a view of what ought to be, not a claim of fact"
            assert topic[side] != topic["topic"]


NAMES = {"uk": "Brit|England|English|BBC|NHS|Channel", "eu": "Europe", "fr": "France", "de": "German"}


@pytest.mark.parametrize(
    "topic", [topic for topic in TOPICS if topic["country"] != "us"], ids=lambda topic: topic["id"]
)
def test_both_views_name_their_country_in_its_spelling(topic: dict[str, str]) -> None:
    for side in SIDES:
        assert re.search(NAMES[topic["country"]], topic[side])
    assert not re.search(
        r"licens|neighbor|labor|color|favor|program\b|center", " ".join(topic.values())[len(topic["id"]) :]
    )


def test_debates_are_about_questions_not_people() -> None:
    assert not [prompt.text for item in ITEMS for prompt in item.prompts if "debate people" in prompt.text]
    assert "a debate about {topic}" in TASKS["points"]


def test_views_of_either_side_are_equally_long_on_average() -> None:
    left, right = (sum(len(topic[side]) for topic in TOPICS) for side in SIDES)
    assert abs(left / right - 1) <= 0.04


@pytest.mark.parametrize("task", TASKS)
def test_requests_of_a_pair_differ_in_the_view_alone(task: str) -> None:
    topics = {topic["id"]: topic for topic in TOPICS}
    for item in PAIRS:
        if item.metadata["task"] == task:
            topic = topics[str(item.source)]
            assert [prompt.groups["side"] for prompt in item.prompts] == list(SIDES)
            left, right = (
                prompt.text.replace(topic[side], "...") for prompt, side in zip(item.prompts, SIDES, strict=True)
            )
            assert left == right
            assert left.count("...") == 1
            assert not re.search(r"[{}]|\b(left|right|liberal|conservative|Democrat|Republican|Tory)\b", left), item.id


def test_argument_and_bare_sentence_change_sides() -> None:
    controls = [item for item in ITEMS if item.metadata["case"] == CONTROL]
    counts = Counter(tuple(prompt.metadata["told"] for prompt in item.prompts) for item in controls)
    assert counts == {("full", "bare"): 8, ("bare", "full"): 8}
    own = {prompt.text for item in PAIRS for prompt in item.prompts}
    assert not own & {prompt.text for item in controls for prompt in item.prompts}


def written(folder: Path, *rows: dict[str, Any], name: str = "pairs.jsonl") -> DataFolders:
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / name).write_text(lines, encoding="utf-8")
    return DataFolders({"politics": folder})


def table(folder: Path, *rows: dict[str, Any]) -> DataFolders:
    lines = [",".join(ROW), *(",".join(f'"{row[name]}"' for name in ROW) for row in rows)]
    (folder / "eval_set.csv").write_text("\n".join(lines), encoding="utf-8")
    return DataFolders({"politics": folder})


@pytest.mark.parametrize("write", [written, table])
def test_public_pairs_take_the_place_of_ours(tmp_path: Path, write: Any) -> None:
    data = write(tmp_path, ROW, {**ROW, "partisan": "False", "topic_name": "dams"})
    items = [item for item in requests(data) if item.metadata["case"] != CONTROL]
    assert [item.metadata["case"] for item in items] == [PAIR, "unsided"]
    assert [prompt.text for prompt in items[0].prompts] == [ROW["prompt_a"], ROW["prompt_b"]]
    assert [prompt.groups["side"] for prompt in items[0].prompts] == list(SIDES)
    assert (items[0].source, items[0].metadata["field"], items[0].metadata["task"]) == ("tolls", "TAXES", "humor")


def test_folder_without_pairs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FairnessError, match="holds no pair: give the folder of"):
        list(requests(DataFolders({"politics": tmp_path})))


@pytest.mark.parametrize("write", [written, table])
@pytest.mark.parametrize("lost", ["prompt_b", "topic_name", "partisan"])
def test_pair_without_a_field_is_refused_by_its_line(tmp_path: Path, write: Any, lost: str) -> None:
    with pytest.raises(FairnessError, match=rf":{2 if write is written else 3}: it has no '{lost}'"):
        list(requests(write(tmp_path, ROW, {**ROW, lost: " "})))


def test_pair_that_is_neither_partisan_nor_not_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FairnessError, match=r"pairs.jsonl:1: partisan is 'perhaps': write True or False"):
        list(requests(written(tmp_path, {**ROW, "partisan": "Perhaps"})))


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_table_that_is_not_utf_8_is_refused_by_its_file(tmp_path: Path, encoding: str) -> None:
    data = table(tmp_path, {**ROW, "topic_name": "caf\xe9"})
    file = tmp_path / "eval_set.csv"
    file.write_bytes(file.read_text(encoding="utf-8").encode(encoding))
    with pytest.raises(FairnessError, match=r"eval_set\.csv cannot be read as a table in UTF-8: "):
        list(requests(data))


def test_table_with_a_field_that_csv_cannot_hold_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FairnessError, match=r"eval_set\.csv cannot be read .*field limit"):
        list(requests(table(tmp_path, {**ROW, "prompt_a": "A" * 200_000})))


def test_recorded_half_of_the_public_set_loads() -> None:
    folder = recorded_path("evidence/politics")
    items = [item for item in requests(DataFolders({"politics": folder})) if item.metadata["case"] != CONTROL]
    assert Counter(item.metadata["case"] for item in items) == {PAIR: 567, "unsided": 81}
    with lzma.open(folder / "pairs.jsonl.xz", "rt", encoding="utf-8") as lines:
        first = json.loads(next(lines))
    assert items[0].prompts[1].text == first["prompt_b"]

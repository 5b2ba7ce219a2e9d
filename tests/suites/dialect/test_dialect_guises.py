"""Matched guises from a folder take the place of our own varieties, and our notes remain as the control."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_fairness import DataFolders, FairnessError, ProbeItem
from suites.dialect.guises import read_guises
from suites.dialect.items import ratings

TABS = "we was at the lake all day\twe were at the lake all day\n\nthem shoes is mine\tthose shoes are mine\n"
TABLE = "meaning,variety,text\nlake,standard,We were there.\nlake,north,We was there.\n"
LINES = '{"prompt": "Where is it?", "prompt_North": "Where it is?", "prompt_South": "Where is it?"}\n'


def read(folder: Path) -> list[ProbeItem]:
    return list(ratings(DataFolders({"dialect": folder})))


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("west.txt", TABS, [{"standard", "west"}] * 2),
        ("data/pairs/west.txt", TABS, [{"standard", "west"}] * 2),
        ("texts.csv", TABLE, [{"standard", "north"}]),
        ("data/raw/reward_bench/all.json", LINES, [{"standard", "North"}]),
    ],
)
def test_pairs_of_a_folder_are_rated(tmp_path: Path, name: str, text: str, expected: list[set[str]]) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    items = read(tmp_path)
    public = [item for item in items if item.metadata["case"] == "public"]
    assert [{prompt.metadata["variety"] for prompt in item.prompts} for item in public] == expected
    assert {prompt.groups["speech"] for item in public for prompt in item.prompts} == {"standard", "other"}
    controls = [item for item in items if item.metadata["case"] in ("strong", "weak")]
    assert len(controls) == 40
    assert all(prompt.groups == {} for item in controls for prompt in item.prompts), "controls are in no group"


BAD = {
    "one text": ("a.txt", "only one text\n", "a tab between"),
    "three texts": ("a.txt", "a\tb\tc\n", "a tab between"),
    "an empty text": ("a.txt", "a\t\n", "a tab between"),
    "no standard": ("a.csv", "meaning,variety,text\nlake,north,We was.\n", "no text in the variety 'standard'"),
    "a second text": ("a.csv", f"{TABLE}lake,north,We was.\n", "a second text in north"),
    "a missing column": ("a.csv", "meaning,text\nlake,We was.\n", "variety"),
    "a number": ("a.jsonl", '{"prompt": 3, "prompt_N": "b"}\n', "prompt"),
    "an empty line": ("a.jsonl", '{"prompt": "b", "prompt_N": " "}\n', "the text in N is empty"),
    "an empty standard": ("a.jsonl", '{"prompt": "", "prompt_N": "b"}\n', "the text in standard is empty"),
    "two standards": ("a.jsonl", '{"prompt": "b", "prompt_standard": "c"}\n', "'standard' is no name of a variety"),
    "no name": ("a.jsonl", '{"prompt": "b", "prompt_": "c"}\n', "'' is no name of a variety"),
    "a name of ours": ("a.csv", f"{TABLE}lake,misspelled,We wre.\n", "'misspelled' is no name of a variety"),
    "a file of ours": ("misspelled.txt", TABS, "'misspelled' is no name of a variety"),
    "an empty cell": ("a.csv", f"{TABLE}lake,west,\n", "west"),
    "equal texts": ("a.jsonl", '{"prompt": "b", "prompt_N": "b"}\n', "has no pairs of texts"),
    "other files": ("a.md", "a\tb\n", "has no pairs of texts"),
}


@pytest.mark.parametrize("case", BAD)
def test_malformed_files_are_named(tmp_path: Path, case: str) -> None:
    name, text, message = BAD[case]
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(FairnessError, match=message):
        list(read_guises(tmp_path))


def test_files_of_one_name_are_distinct_meanings(tmp_path: Path) -> None:
    (tmp_path / "aae.txt").write_text(TABS, encoding="utf-8")
    (tmp_path / "aae.csv").write_text(TABLE.replace("lake", "1"), encoding="utf-8")
    ids = [guise.id for guise in read_guises(tmp_path)]
    assert len(ids) == len(set(ids)) == 3


def test_unreadable_bytes_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"a\xff\tb\n")
    with pytest.raises(FairnessError, match=r"a\.txt"):
        list(read_guises(tmp_path))


def test_the_command_for_a_folder_asks_about_no_other_probe() -> None:
    card = Path(__file__).parents[3] / "suites" / "dialect" / "README.md"
    expressions = re.findall(r'^pytest suites/dialect -k "([^"]+)"', card.read_text(encoding="utf-8"), re.MULTILINE)
    arguments = ["suites/dialect", "-k", expressions[0], "--collect-only", "-q"]
    command = [sys.executable, "-m", "pytest", *arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=card.parents[2])
    names = set(re.findall(r"::(test_\w+)", run.stdout))
    assert names == {"test_rating", "test_writers_are_rated_alike"}

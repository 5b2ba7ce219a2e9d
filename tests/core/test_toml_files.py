"""Files of TOML, with the lines that errors name."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness.core.serialization import UNWRITTEN
from pytest_fairness.core.toml_files import TomlFile, entry_lines


@dataclass(frozen=True)
class Entry:
    x: int
    where: str = field(default="", metadata=UNWRITTEN)


@pytest.mark.parametrize(
    ("text", "lines"),
    [("# two\n[[a]]\nx = 1\n\n[[a]]\nx = 2\n", [2, 5]), ("\na = [{x = 1}, {x = 2}]\n", [2, 2]), ("", [])],
)
def test_tables_of_both_layouts_are_read(text: str, lines: list[int]) -> None:
    records = TomlFile.parse(text, "file.toml").records(Entry, "a", "")
    assert [entry.where for entry, _ in records] == [f"file.toml:{line}" for line in lines]


def test_separators_of_other_kinds_end_no_line() -> None:
    text = "# one\u2028two\u0085\n[[entry]]\nname = 1\n\n[[entry]]\nname = 2\n"
    assert entry_lines(text, "entry", 1) == (4, 6)


def test_field_that_nobody_writes_is_refused_in_a_file() -> None:
    with pytest.raises(Exception, match=r"f.toml:3: an entry has no field 'where'; known: x"):
        list(TomlFile.parse("[[a]]\nx = 1\nwhere = 2\n", "f.toml").records(Entry, "a", ""))


KEYS = ("rate", '"a.b"', "'c d'", "e.f", '"say \\"hi\\" = 1"', "1")
VALUES = (
    "1", '"rate = 2"', "'[x]'", '"""\nrate = 3\n[other]\n\\""" # "\n"""', "'''\n[[t]]\nrate = 1\'''",
    "[\n  1, # ]\n  2,\n]",
    "[{a = 1}, [\n]]", '{rate = "}"}', "2026-01-01", '[\n"]",\n"""\n"\n"""]',
)  # fmt: skip


def document(blocks: list[tuple[str, list[tuple[int, int, str]]]]) -> tuple[str, dict[str, int]]:
    """Return a text of tables and, by the marker that a key ends with, the line of each key."""
    text, lines = "", {}
    for number, (header, entries) in enumerate(blocks):
        text += f"\n# {number} = [\n" + header.format(number) + " # [x]\n"
        for index, (key, value, gap) in enumerate(entries):
            marker = f"k{number}_{index}"
            text += gap
            lines[marker] = text.count("\n") + 1
            text += f"{KEYS[key]}.{marker} = {VALUES[value]}\n"
    return text, lines


def paths_of(value: Any, path: tuple[str | int, ...] = ()) -> dict[str, tuple[str | int, ...]]:
    """Return the path of each marked key."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    paths: dict[str, tuple[str | int, ...]] = {}
    for name, member in members:
        if isinstance(name, str) and name.startswith("k"):
            paths[name] = (*path, name)
        else:
            paths |= paths_of(member, (*path, name))
    return paths


ENTRIES = st.lists(
    st.tuples(
        st.integers(0, len(KEYS) - 1), st.integers(0, len(VALUES) - 1), st.sampled_from(["", "\n", "# x = 1\n", "  "])
    ),
    max_size=4,
)
HEADERS = st.sampled_from(["[t{}]", "[[list]]", '[ tool . "a.{}" ]', "[[list.inner]]", "[list.deep{}]", "[[ 'x y' ]]"])


@given(st.lists(st.tuples(HEADERS, ENTRIES), max_size=5))
def test_every_key_is_found_at_its_line(blocks: list[tuple[str, list[tuple[int, int, str]]]]) -> None:
    text, lines = document([("[[list]]", []), *blocks])
    try:
        paths = paths_of(tomllib.loads(text))
    except tomllib.TOMLDecodeError:
        return  # a key of two blocks
    file = TomlFile.parse(text, "f.toml")
    assert {marker: file.line(*path) for marker, path in paths.items()} == lines

"""Tables of a TOML file, with the lines that errors name."""

from __future__ import annotations

import pytest

from pytest_fairness.core.toml_tables import parse_tables


@pytest.mark.parametrize(
    ("text", "lines"),
    [("# two\n[[a]]\nx = 1\n\n[[a]]\nx = 2\n", [2, 5]), ("a = [{x = 1}, {x = 2}]\n", [1, 1]), ("", [])],
)
def test_tables_of_both_layouts_are_read(text: str, lines: list[int]) -> None:
    tables = parse_tables(text, "file.toml", "a", "")
    assert [table.where for table in tables] == [f"file.toml:{line}" for line in lines]

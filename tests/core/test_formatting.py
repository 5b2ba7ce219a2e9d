"""Columns of text that fit into a line."""

from __future__ import annotations

import pytest

from pytest_fairness.core.formatting import align_columns

ROWS = [("a name that is longer than the line", "size", "number"), ("short", "12", "3")]


@pytest.mark.parametrize("width", [30, 40, 48, 60])
def test_first_column_is_cut_to_the_width_of_a_line(width: int) -> None:
    lines = list(align_columns(ROWS, width=width))
    assert max(map(len, lines)) == min(width, len("  ".join(ROWS[0])))
    assert lines[0].endswith("  size  number")

"""Columns of text that fit into a line."""

from __future__ import annotations

import pytest

from pytest_fairness.core.formatting import align_columns

ROWS = [("a name that is longer than the line", "size", "number"), ("short", "12", "3")]


@pytest.mark.parametrize("width", [30, 40, 48, 60])
def test_rows_fit_into_a_line_with_their_whole_names(width: int) -> None:
    lines = list(align_columns(ROWS, width=width))
    assert max(map(len, lines)) <= width
    assert " ".join(" ".join(lines).split()) == " ".join(cell for row in ROWS for cell in row)
    assert lines[-1].index("12") == next(line for line in lines if "size" in line).index("size")

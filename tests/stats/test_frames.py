"""Data frames of pandas, polars and pyarrow as tables."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pandas
import polars
import pyarrow  # type: ignore[import-untyped]
import pytest

from pytest_fairness import FairnessError, Measured

Make = Callable[[dict[str, list[Any]]], Any]
COLUMNS: dict[str, list[Any]] = {
    "item": [n for n in range(60) for _ in "fm"],
    "sex": ["f", "m"] * 60,
    "year": [2023 + n % 2 for n in range(60) for _ in "fm"],
    "source": [f"t{n // 3}" for n in range(60) for _ in "fm"],
    "hired": [None if n == 7 else (n + (sex == "m")) % 3 > 0 for n in range(60) for sex in "fm"],
    "score": [None if n == 9 else 1.0 + n % 5 for n in range(60) for _ in "fm"],
    "label": [None if n == 11 else "yes" if n % 4 else "no" for n in range(60) for _ in "fm"],
}
FRAMES: dict[str, Make] = {
    "pandas": pandas.DataFrame,
    "pandas nullable": lambda columns: pandas.DataFrame(columns).convert_dtypes(),
    "polars": polars.DataFrame,
    "polars lazy": polars.LazyFrame,
    "pyarrow": pyarrow.table,
}
ROLES: dict[str, Any] = {"item": "item", "groups": ["sex"], "source": "source"}


@pytest.fixture(params=FRAMES)
def make(request: pytest.FixtureRequest) -> Make:
    return FRAMES[request.param]


def test_frame_gives_the_sample_of_its_rows(make: Make) -> None:
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]
    extremes = {"score": (1, 5)}
    of_frame = Measured.from_table(make(COLUMNS), **ROLES, extremes=extremes)
    of_rows = Measured.from_rows(rows, **ROLES, extremes=extremes)
    pair = {"by": "sex", "of": "f", "to": "m"}
    for one, other in (
        (of_frame.ratio("hired", **pair), of_rows.ratio("hired", **pair)),
        (of_frame.mean("score"), of_rows.mean("score")),
        (of_frame.rate("label", equals="yes"), of_rows.rate("label", equals="yes")),
        (of_frame.where(year=2024).rate("hired"), of_rows.where(year=2024).rate("hired")),
    ):
        assert (one.value, one.low, one.high, one.ungraded, one.items, one.sources) == (
            *(other.value, other.low, other.high, other.ungraded, other.items, other.sources),
        )
    assert sum(of_frame.ratio("hired", **pair).ungraded.values()) == 2


def test_missing_group_of_a_frame_is_refused_whatever_its_kind(make: Make) -> None:
    columns = {**COLUMNS, "sex": [None if n == 3 else sex for n, sex in enumerate(COLUMNS["sex"])]}
    with pytest.raises(FairnessError, match="row 4 of the frame: its sex is missing: name the group"):
        Measured.from_table(make(columns), **ROLES)


def test_column_that_a_frame_lacks_is_refused_with_the_nearest(make: Make) -> None:
    with pytest.raises(FairnessError, match="no column 'sexx': did you mean 'sex'"):
        Measured.from_table(make(COLUMNS), item="item", groups=["sexx"])


def test_frames_that_are_no_table_are_refused_in_one_line() -> None:
    indexed = pandas.DataFrame(COLUMNS).set_index("item")
    twins = pandas.DataFrame([[1, 2]], columns=["item", "item"])
    for frame, message in (
        (indexed, r"'item' is the index of the frame, not a column: give frame.reset_index\(\)"),
        (twins, "the frame cannot be read: Expected unique column names"),
        (pandas.Series([1]), r"the table is 0 +1 dtype: int64: name a file, or give a frame"),
    ):
        with pytest.raises(FairnessError, match=message):
            Measured.from_table(frame, item="item", groups=[])


def test_rows_are_selected_by_any_column() -> None:
    measured = Measured.from_table(pandas.DataFrame(COLUMNS), **ROLES)
    assert measured.where(year=2023).attempts == measured.where(year="2023").attempts == 60
    assert measured.where(label=("yes", "no")).attempts == 118, "a row with an empty cell has no value"
    assert measured.where(year=2023).ratio("hired", by="sex", of="f", to="m").slice == {"year": "2023"}
    assert measured.where(year=1999).rate("hired").invalid
    with pytest.raises(FairnessError, match="no row has a column 'yaer': did you mean 'year'"):
        measured.where(yaer=2023)
    with pytest.raises(FairnessError, match="'year' is a grade: name its column in `groups`"):
        measured.ratio("hired", by="year", of="2023", to="2024")


def test_numbers_with_a_point_are_selected_as_whole_ones() -> None:
    """Check a column with an empty cell: it is one of floats, in pandas and in a CSV file."""
    frame = pandas.DataFrame({**COLUMNS, "year": [None, *COLUMNS["year"][1:]]})
    assert Measured.from_table(frame, **ROLES).where(year=2023).attempts == 59


def test_answers_that_failed_stay_in_their_slice() -> None:
    """Check rows that failed, which have no grades: by these they would leave the slice, and help a verdict."""
    failures = {**COLUMNS, "error": ["429 Too Many Requests" if n < 30 else None for n in range(120)]}
    rate = Measured.from_table(pandas.DataFrame(failures), **ROLES).where(year=2023).rate("hired")
    assert (rate.attempts, sum(rate.ungraded.values())) == (60, 16)


def test_pair_declares_extremes_of_attempts_and_rows_alike() -> None:
    of_table = Measured.from_table(pandas.DataFrame(COLUMNS), **ROLES, extremes={"score": (1, 5)})
    of_attempts = Measured(of_table.selection.columns.attempts, extremes={"score": (1, 5)})
    assert of_attempts.mean("score").high == of_table.mean("score").high
    with pytest.raises(FairnessError, match=r"extremes of 'score' are 5: give a pair, as in \(1, 5\)"):
        Measured(of_table.selection.columns.attempts, extremes={"score": 5})  # type: ignore[dict-item]


def test_decimals_are_numbers() -> None:
    """Regression: a column of money in a database is one of decimals, which no metric read."""
    table = pyarrow.table({"item": list(range(60)), "raise": [Decimal(n % 5) for n in range(60)]})
    assert Measured.from_table(table, item="item", groups=[]).mean("raise").value == 2.0

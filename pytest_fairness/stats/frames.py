"""Rows of data frames: pandas, polars, pyarrow, and what else narwhals reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_fairness.core.errors import FairnessError, short_repr


def read_frame(frame: Any, groups: Sequence[str], roles: Sequence[str] = ()) -> list[Mapping[str, Any]]:
    """Return the rows of a data frame, with None for each missing value.

    >>> import pandas
    >>> read_frame(pandas.DataFrame({"item": [1, 2], "hired": [True, None]}), [])
    [{'item': 1, 'hired': True}, {'item': 2, 'hired': None}]

    Args:
        frame: A frame or table; a lazy one is collected.
        groups: The columns of groups, of which none may be missing.
        roles: All columns whose meaning is declared.

    Raises:
        FairnessError: It is no frame, two columns share a name, a group is missing, or a column is the frame's index.
    """
    import narwhals

    try:
        table = narwhals.from_native(frame)
        if isinstance(table, narwhals.LazyFrame):
            table = table.collect()
        names = table.columns
        columns = {name: _values(table.get_column(name)) for name in names}
    except TypeError:
        raise FairnessError(
            f"the table is {short_repr(frame)}: name a file, or give a frame of pandas, polars or pyarrow; rows go to "
            "from_rows"
        ) from None
    except narwhals.exceptions.NarwhalsError as error:
        raise FairnessError(f"the frame cannot be read: {' '.join(str(error).split())[:200]}") from None
    index = narwhals.maybe_get_index(table)
    for name in roles:
        if name not in columns and name in getattr(index, "names", ()):
            raise FairnessError(f"{name!r} is the index of the frame, not a column: give frame.reset_index()")
    for name in groups:
        # A null may stand for no group, or for an empty cell of the file that the frame was read from.
        missing = next((number for number, value in enumerate(columns.get(name, ()), 1) if value is None), None)
        if missing is not None:
            raise FairnessError(
                f"row {missing} of the frame: its {name} is missing: name the group, or leave out such rows; rows "
                "that are in no group have None in from_rows"
            )
    return [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _values(column: Any) -> list[Any]:
    """Return the values of a column; None where it says that one is missing, as pandas says in several ways."""
    return [
        None if is_null else value for value, is_null in zip(column.to_list(), column.is_null().to_list(), strict=True)
    ]

"""Tables of recorded estimates, a row for each group: `Measured.record` with a ``column``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from pytest_fairness.core.formatting import align_columns, number
from pytest_fairness.plugin.output.terminal_text import wrap_text
from pytest_fairness.report.escaping import escape_controls
from pytest_fairness.report.phrases import probe_name

if TYPE_CHECKING:
    from pytest_fairness.core.threshold_results import MetricResult

_INDENT = "   "
_DIGITS = 3
_WHOLE = "all"
"""The row of the whole sample."""
_Slice = tuple[tuple[str, str], ...]


def group_tables(metrics: Sequence[MetricResult], width: int) -> Iterator[str]:
    """Yield a table for each probe whose thresholds give their recorded estimates a column.

    A value from which nothing can be concluded is shown as well: the table judges nothing. Columns that leave no room
    stand in a further table below, with the same rows.

    Args:
        metrics: The recorded estimates of one model that have a column.
        width: The columns of the terminal.
    """
    for probe in dict.fromkeys(metric.probe for metric in metrics):
        own = [metric for metric in metrics if metric.probe == probe]
        yield from wrap_text(f"{probe_name(probe)}, by group", width)
        slices = list(dict.fromkeys(tuple(sorted(metric.slice.items())) for metric in own))
        values = {
            (tuple(sorted(metric.slice.items())), metric.column): metric.observed
            if metric.value is None
            else metric.value
            for metric in own
        }
        names = ["", *(escape_controls(", ".join(value for _, value in part) or _WHOLE) for part in slices)]
        columns = {
            head: [escape_controls(head), *(_cell(values, part, head) for part in slices)]
            for head in dict.fromkeys(metric.column for metric in own)
        }
        yield from _blocks(names, list(columns.values()), width)


def _cell(values: Mapping[tuple[_Slice, str], float | None], part: _Slice, head: str) -> str:
    value = values.get((part, head))
    return "-" if value is None else number(value, _DIGITS)


def _blocks(names: Sequence[str], columns: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """Yield the lines of the rows, with as many columns side by side as there is room for."""
    room = width - 1 - len(_INDENT) - max(map(len, names))
    block: list[Sequence[str]] = []
    for column in columns:
        if block and sum(2 + max(map(len, cells)) for cells in (*block, column)) > room:
            yield from _rows(names, block)
            block = []
        block.append(column)
    yield from _rows(names, block)


def _rows(names: Sequence[str], block: Sequence[Sequence[str]]) -> Iterator[str]:
    for line in align_columns(zip(names, *block, strict=True), to_right=True):
        yield f"{_INDENT}{line}"

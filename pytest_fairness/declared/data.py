"""Rows from files and data sets: what fills a template."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pytest_fairness.core.errors import FairnessError, near
from pytest_fairness.declared.nodes import Node

Row = Mapping[str, Any]


class _Everything(tuple[str, ...]):
    """Says of each column that it is kept as it is written: 007 is no number here."""

    __slots__ = ()

    def __contains__(self, _: object) -> bool:
        return True


def rows_of_file(named: Node, folder: Path) -> list[Row]:
    """The rows of a CSV, TSV, JSON, JSONL or Parquet file, named from the folder of the declaration.

    Raises `DeclarationError`, where it is named, for a file that cannot be read or has no rows.
    """
    path = folder / named.text
    try:
        rows = list(_read(path))
    except FairnessError as error:
        raise named.error(str(error)) from None
    except UnicodeDecodeError:
        raise named.error(f"{named.text} is not UTF-8: save it so") from None
    except OSError as error:
        raise named.error(f"{named.text}: {error.strerror}") from None
    if not rows:
        raise named.error(f"{named.text} has no rows")
    return rows


def _read(path: Path) -> Iterable[Row]:
    if path.suffix.lower() != ".json":
        from pytest_fairness.stats import tables

        return tables.read(path, _Everything())
    try:
        rows = json.loads(path.read_text(encoding="utf-8-sig"))
    except ValueError as error:
        raise FairnessError(f"{path.name} is no JSON: {error}") from None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise FairnessError(f"{path.name} must hold a list of objects")
    return rows


def rows_of_dataset(node: Node, folder: Path) -> list[Row]:
    """The rows of a data set: of the hub, or of a folder beside the declaration.

    Raises `DeclarationError` without the `datasets` library, and for what it cannot load.
    """
    named = node.value["dataset"]
    try:
        import datasets  # type: ignore[import-untyped]
    except ImportError:
        raise named.error("reading a data set needs a library: pip install 'pytest-fairness[datasets]'") from None
    given = {key: node.value[key].text for key in ("name", "revision") if key in node.value}
    split = node.value["split"].text if "split" in node.value else "train"
    path = folder / named.text
    datasets.disable_progress_bars()
    try:
        loaded = datasets.load_dataset(str(path) if path.exists() else named.text, split=split, **given)
        rows: list[Row] = [dict(row) for row in loaded]
    except Exception as error:  # noqa: BLE001 - the library raises whatever the one below it does
        raise named.error(f"{named.text!r} cannot be loaded: {type(error).__name__}: {error!s:.300}") from None
    if not rows:
        raise named.error(f"{named.text!r} has no rows in {split!r}")
    return rows


def renamed(rows: list[Row], columns: Node | None) -> list[Row]:
    """Rows with what the template calls its columns; those that are not named keep their names.

    Raises `DeclarationError` for a column that there is not.
    """
    if columns is None:
        return rows
    for node in columns.children:
        if node.text not in rows[0]:
            raise node.error(f"there is no column {node.text!r}; {near(node.text, map(str, rows[0]))}")
    names = {node.text: name for name, node in columns.value.items()}
    return [{names.get(column, column): value for column, value in row.items()} for row in rows]

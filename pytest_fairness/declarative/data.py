"""Rows of files and data sets, with which templates are filled in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_fairness.core import json_text as json
from pytest_fairness.core.errors import FairnessError, did_you_mean, install
from pytest_fairness.declarative.source import LocatedValue

Row = Mapping[str, Any]


class _Everything(tuple[str, ...]):
    """Set of all columns, each kept as it is written: 007 is no number here."""

    __slots__ = ()

    def __contains__(self, _: object) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class AllowedFolders:
    """The folders from which a declaration may read files, whose contents are sent to a model."""

    folder: Path
    """The folder of the declaration; paths are relative to it."""
    allowed: Path | None = None
    """The folder that the user names for the suite in ``[tool.pytest-fairness.data]``."""

    def path(self, filename: LocatedValue) -> Path:
        """Return the path of a file. Raises `DeclarationError` for one outside of these folders."""
        if "://" in filename.text:
            raise filename.error(f"{filename.text} is an address: download it, and name the file beside this one")
        path = self.folder / filename.text
        folders = [folder.resolve() for folder in (self.folder, self.allowed) if folder is not None]
        if not any(path.resolve().is_relative_to(folder) for folder in folders):
            raise filename.error(
                f"{filename.text} lies outside of the declaration's folder: move it there, or allow its folder by "
                'SUITE = "DIR" in [tool.pytest-fairness.data]'
            )
        return path


def rows_of_file(filename: LocatedValue, folders: AllowedFolders) -> list[Row]:
    """Return the rows of a CSV, TSV, JSON, JSONL or Parquet file, relative to the folder of the declaration.

    Raises `DeclarationError`, at the line that names it, for a file that cannot be read or has no rows.
    """
    path = folders.path(filename)
    try:
        rows = list(_read(path))
    except FairnessError as error:
        raise filename.error(str(error)) from None
    except UnicodeDecodeError:
        raise filename.error(f"{filename.text} is not UTF-8: save it so") from None
    except OSError as error:
        raise filename.error(f"{filename.text}: {error.strerror}") from None
    if not rows:
        raise filename.error(f"{filename.text} has no rows")
    return rows


def _read(path: Path) -> Iterable[Row]:
    if path.suffix.lower() != ".json":
        from pytest_fairness.stats import table_reader

        return table_reader.read(path, _Everything())
    try:
        rows = json.loads(path.read_text(encoding="utf-8-sig"))
    except ValueError as error:
        raise FairnessError(f"{path.name} is no JSON: {error}") from None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise FairnessError(f"{path.name} must hold a list of objects")
    return rows


def rows_of_dataset(node: LocatedValue, folders: AllowedFolders) -> list[Row]:
    """Return the rows of a data set: of the hub, at a commit, or of a folder beside the declaration.

    Raises `DeclarationError` without the `datasets` library, and for what it cannot load.
    """
    filename = node.value["dataset"]
    revision = node.value["revision"].text if "revision" in node.value else ""
    if (folders.folder / filename.text).exists():
        path = str(folders.path(filename))
    elif re.fullmatch("[0-9a-f]{40}", revision):
        path = filename.text
    else:
        raise filename.error(
            f"{filename.text!r} is no folder here, and a data set of the hub changes: pin it by `revision`, the 40 "
            "hexadecimal digits of a commit"
        )
    try:
        import datasets  # type: ignore[import-untyped]
    except ImportError:
        raise filename.error(f"reading a data set needs a library: {install('datasets')}") from None
    options = {key: node.value[key].text for key in ("name", "revision") if key in node.value}
    split = node.value["split"].text if "split" in node.value else "train"
    datasets.disable_progress_bars()
    try:
        dataset = datasets.load_dataset(path, split=split, **options)
        rows: list[Row] = [dict(row) for row in dataset]
    except Exception as error:  # noqa: BLE001 - the library raises whatever the one below it does
        raise filename.error(f"{filename.text!r} cannot be loaded: {type(error).__name__}: {error!s:.300}") from None
    if not rows:
        raise filename.error(f"{filename.text!r} has no rows in {split!r}")
    return rows


def rename_columns(rows: list[Row], columns: LocatedValue | None) -> list[Row]:
    """Return rows with some columns renamed, as the template calls them.

    Raises `DeclarationError` for a column that does not exist.
    """
    if columns is None:
        return rows
    for node in columns.children:
        if node.text not in rows[0]:
            raise node.error(f"there is no column {node.text!r}; {did_you_mean(node.text, map(str, rows[0]))}")
    names = {node.text: name for name, node in columns.value.items()}
    return [{names.get(column, column): value for column, value in row.items()} for row in rows]

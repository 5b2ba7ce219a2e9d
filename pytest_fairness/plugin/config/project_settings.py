"""Settings of a project that no option has: prices, assumptions, data folders and evidence in ``pyproject.toml``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.core.json_objects import is_number
from pytest_fairness.core.pyproject import TOOL, Pyproject

EVIDENCE, PRICES, ASSUMPTIONS, DATA = KEYS = ("evidence", "prices", "assumptions", "data")
_DEFAULT = "default"
"""The key of the price of every model without one of its own."""
_PRICE = "a table such as {input = 1.25, output = 10}, USD per million tokens"


DEFAULT_ASSUMPTIONS = {"rate": 0.5, "icc": 0.2, "output": 100.0}
"""Assumptions of plans and cost estimates: base rate, correlation within items, tokens of an answer."""
_RANGES = {"rate": (0.01, 0.99), "icc": (0.0, 0.99), "output": (1, 1e6), "calls_per_second": (0.001, 1e6)}
"""The range of each assumption."""


class DataLocations(dict[str, Path | str]):
    """The data folder of each suite, and the names for which suites have asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: set[str] = set()

    def get(self, name: str, default: Any = None) -> Any:
        self.asked.add(name)
        return super().get(name, default)

    def misspelled(self) -> Iterator[tuple[str, str]]:
        """Yield names that nothing has asked for, each with the name like it that was asked for and has no data.

        >>> data = DataLocations()
        >>> data.update(hirring=Path("names"), own=Path("own"))
        >>> data.get("hiring"), list(data.misspelled())
        (None, [('hirring', 'hiring')])
        """
        for name in self.keys() - self.asked:
            for near in get_close_matches(name, sorted(self.asked - self.keys()), 1, cutoff=0.8):
                yield name, near


@dataclass(frozen=True, slots=True)
class ProjectSettings:
    """Settings of a project."""

    prices: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Prices of input and output in USD per million tokens by the name or alias of a model; ``""`` is every other."""
    assumptions: Mapping[str, float] = field(default_factory=DEFAULT_ASSUMPTIONS.copy)
    """`DEFAULT_ASSUMPTIONS` with those of the project; ``calls_per_second`` only if it has any."""
    data: DataLocations = field(default_factory=DataLocations)
    """The data folder of each suite; ``hub`` or ``hub@COMMIT`` for its data set of the hub."""
    evidence: Path | None = None
    """A file with clauses of laws and standards besides those of this package."""


def read_project_settings(root: Path, invocation: Path) -> ProjectSettings:
    """Return the settings of the project.

    Args:
        root: The rootdir, whose ``pyproject.toml`` is read.
        invocation: The folder where pytest is called.

    Raises:
        FairnessError: A value is malformed, with file and line, or the file of the calling folder is not read.
    """
    if invocation != root:
        unread = Pyproject.read_ours(invocation)
        for key in unread.table(way_out=f"write [tool.{TOOL}]"):
            if key in KEYS:
                raise FairnessError(
                    f"{unread.where(key)}: {key!r} is not read, since the rootdir is {root}: "
                    f"add --rootdir={invocation}, or write it into {root / unread.path.name}"
                )
    file = Pyproject.read(root)
    return ProjectSettings(_read_prices(file), _read_assumptions(file), _read_data(file), _read_evidence(file))


def _read_prices(file: Pyproject) -> dict[str, tuple[float, float]]:
    prices = {}
    for model, price in file.table(PRICES, way_out=f"write [tool.{TOOL}.{PRICES}], and NAME = {_PRICE}").items():
        is_price = isinstance(price, dict) and price.keys() == {"input", "output"}
        if not (is_price and all(is_number(number) and 0 <= number < math.inf for number in price.values())):
            raise FairnessError(f"{_locate(file, model, PRICES)} is {price!r}: it must be {_PRICE}")
        prices["" if model == _DEFAULT else model] = (float(price["input"]), float(price["output"]))
    return prices


def _read_assumptions(file: Pyproject) -> dict[str, float]:
    table = file.table(ASSUMPTIONS, way_out=f"write [tool.{TOOL}.{ASSUMPTIONS}], and rate = 0.5 below it")
    for name, number in table.items():
        if name not in _RANGES:
            where = _locate(file, name, ASSUMPTIONS)
            raise FairnessError(f"{where}: there is no such assumption; {did_you_mean(name, _RANGES)}")
        low, high = _RANGES[name]
        if not (is_number(number) and low <= number <= high):
            raise FairnessError(
                f"{_locate(file, name, ASSUMPTIONS)} is {number!r}: it must be a number from {low:g} to {high:g}"
            )
    return DEFAULT_ASSUMPTIONS | {name: float(number) for name, number in table.items()}


def _read_data(file: Pyproject) -> DataLocations:
    folders = DataLocations()
    for suite, folder in file.table(DATA, way_out=f'write [tool.{TOOL}.{DATA}], and SUITE = "DIR" below it').items():
        if not isinstance(folder, str) or not folder.strip():
            raise FairnessError(
                f"{_locate(file, suite, DATA)} is {folder!r}: it must be a text, a folder or hub@COMMIT"
            )
        is_hub = re.fullmatch("hub(@.*)?", folder)
        folders[suite] = folder if is_hub else file.path.parent / Path(folder).expanduser()
    return folders


def _read_evidence(file: Pyproject) -> Path | None:
    name = file.table(way_out=f"write [tool.{TOOL}]").get(EVIDENCE)
    if name is None:
        return None
    if not isinstance(name, str) or not name.strip():
        raise FairnessError(f"{file.where(EVIDENCE)}: {EVIDENCE} is {name!r}: it must be the name of a TOML file")
    return file.path.parent / Path(name).expanduser()


def refuse_misspelled_data(settings: ProjectSettings, root: Path) -> None:
    """Check that no data folder has nearly the name for which a suite has asked in vain: its default is other data.

    Args:
        settings: The settings of the project, whose suites are collected.
        root: The rootdir.

    Raises:
        FairnessError: One has, as in ``test_misspelled_data_folder_is_refused``.
    """
    for name, near in settings.data.misspelled():
        where = _locate(Pyproject.read(root), name, DATA)
        raise FairnessError(f"{where}: no suite asks for {name!r}, and {near!r} has no data: write {near}")


def _locate(file: Pyproject, key: str, table: str) -> str:
    """Return file and line of a key, and its name."""
    return f"{file.path}:{file.line_of(key, table)}: {table}.{key}"

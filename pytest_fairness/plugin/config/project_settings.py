"""Settings of a project in ``pyproject.toml`` that no option has: prices, data, owners, evidence and others."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.field_readers import line_of_text, number, text_of
from pytest_fairness.core.formatting import age
from pytest_fairness.core.json_objects import is_number
from pytest_fairness.core.pyproject import TOOL, Pyproject
from pytest_fairness.core.serialization import Reader, read_fields

EVIDENCE, PRICES, ASSUMPTIONS, DATA, OWNERS, RETENTION = KEYS = (
    "evidence", "prices", "assumptions", "data", "owners", "retention",
)  # fmt: skip
_DEFAULT = "default"
"""The key of the price of every model without one of its own."""
_PRICE = "a table such as {input = 1.25, output = 10}, USD per million tokens"


DEFAULT_ASSUMPTIONS = {"rate": 0.5, "icc": 0.2, "output": 100.0}
"""Assumptions of plans and cost estimates: base rate, correlation within items, tokens of an answer."""
_ASSUMPTIONS = {
    "rate": number(0.01, 0.99),
    "icc": number(0, 0.99),
    "output": number(1, 1_000_000),
    "calls_per_second": number(0.001, 1_000_000),
}
_folder = text_of("it must be a text, a folder or hub@COMMIT", empty=False)
_evidence = text_of("it must be the name of a TOML file", empty=False)


def _period(value: object) -> float:
    if not isinstance(value, str):
        raise ValueError("write days, hours or weeks, as in 3653d")
    return age(value)


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
    owners: Mapping[str, str] = field(default_factory=dict)
    """The owner of each suite: a person or a team."""
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
    prices = _read_table(file, PRICES, _price, f"NAME = {_PRICE}")
    folders = DataLocations()
    for suite, folder in _read_table(file, DATA, _folder, 'SUITE = "DIR" below it').items():
        is_hub = re.fullmatch("hub(@.*)?", folder)
        folders[suite] = folder if is_hub else root / Path(folder).expanduser()
    evidence = _read_key(file, EVIDENCE, _evidence)
    read_retention(file)
    return ProjectSettings(
        {"" if model == _DEFAULT else model: price for model, price in prices.items()},
        DEFAULT_ASSUMPTIONS | _read_table(file, ASSUMPTIONS, None, "rate = 0.5 below it"),
        folders,
        _read_table(file, OWNERS, line_of_text, 'SUITE = "NAME" below it'),
        None if evidence is None else root / Path(evidence).expanduser(),
    )


def read_retention(file: Pyproject) -> float | None:
    """Return the seconds for which runs and answers are kept; None where the project has no such period.

    Args:
        file: The file of the project.

    Raises:
        FairnessError: The value is malformed, with file and line.
    """
    seconds: float | None = _read_key(file, RETENTION, _period)
    return seconds


def _read_key(file: Pyproject, name: str, read: Reader) -> Any:
    """Return the value of one key beside the tables; None where there is none."""
    table = {key: value for key, value in file.table(way_out=f"write [tool.{TOOL}]").items() if key == name}
    return read_fields({name: read}, table, file.context()).get(name)


def _read_table(file: Pyproject, name: str, read: Reader | None, example: str) -> dict[str, Any]:
    """Return the values of a table, by a reader for all of its keys, else by those of the assumptions."""
    table = file.table(name, way_out=f"write [tool.{TOOL}.{name}], and {example}")
    readers = _ASSUMPTIONS if read is None else dict.fromkeys(table, read)
    return read_fields(readers, table, file.context(name, subject=f"[tool.{TOOL}.{name}]", prefix=f"{name}."))


def _price(value: Any) -> tuple[float, float]:
    is_price = isinstance(value, dict) and value.keys() == {"input", "output"}
    if not (is_price and all(is_number(number) and 0 <= number < math.inf for number in value.values())):
        raise ValueError(f"it must be {_PRICE}")
    return float(value["input"]), float(value["output"])


def refuse_misspelled_data(settings: ProjectSettings, root: Path) -> None:
    """Check that no data folder has nearly the name for which a suite has asked in vain: its default is other data.

    Args:
        settings: The settings of the project, whose suites are collected.
        root: The rootdir.

    Raises:
        FairnessError: One has, as in ``test_misspelled_data_folder_is_refused``.
    """
    for name, near in settings.data.misspelled():
        where = Pyproject.read(root).where(DATA, name)
        raise FairnessError(
            f"{where}: {DATA}.{name}: no suite asks for {name!r}, and {near!r} has no data: write {near}"
        )

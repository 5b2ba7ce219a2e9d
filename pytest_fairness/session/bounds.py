"""What a project sets for thresholds in place of their suites, in ``pyproject.toml``.

::

    [tool.pytest-fairness.thresholds."hiring::test_women_and_men_advance_alike"]
    bounds = [0.7, 1.4]
    scale = {A = [0.9, 1.1], B = [0.7, 1.4], C = [0.5, 2.0]}
    repetitions = 3
    confidence = 0.9

A threshold is named by the id of its test, by the end of that from a folder on, or as ``SUITE::TEST``. Repetitions
and confidence are its probe's, so that they hold for all thresholds of that.
"""

from __future__ import annotations

import ast
import difflib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from pytest_fairness.core.bounds import ONLY, OwnBounds, Span
from pytest_fairness.core.errors import FairnessError, near
from pytest_fairness.core.marks import Scale
from pytest_fairness.core.pyproject import TOOL, Pyproject
from pytest_fairness.declared.files import suite_in
from pytest_fairness.session.probes import Probe, checked_confidence, checked_repetitions

T = TypeVar("T")
TABLE = "thresholds"
TABLES = ("models", TABLE)
FIELDS = ("bounds", "scale", "repetitions", "confidence")
_WAY_OUT = f'write [tool.{TOOL}.{TABLE}."SUITE::TEST"], and bounds = [LOW, HIGH] below it'
_PACKAGE = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Own:
    """What a project sets for one threshold; None where it leaves it to the suite."""

    where: str = ""
    bounds: OwnBounds | None = None
    scale: Scale | None = None
    repetitions: int | None = None
    confidence: float | None = None


NOTHING = Own()


@dataclass(frozen=True, slots=True)
class Known:
    """A threshold that was collected."""

    test: str
    """Its id, without parameters."""
    file: Path
    probe: Probe

    @property
    def name(self) -> str:
        return self.test.partition("::")[2]

    @property
    def short(self) -> str:
        return f"{self.probe.suite}::{self.name}"

    def is_called(self, key: str) -> bool:
        # By its path: the id of a test outside of the rootdir, as in an installed suite, begins anywhere.
        return key == self.short or f"{self.file.as_posix()}::{self.name}".endswith(f"/{key}")


class OwnThresholds:
    """The project's own thresholds, found by the ids of those that are collected."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: dict[str, Known] = {}
        self._own: dict[str, Own] = {}

    def note(self, test: str, file: Path, probe: Probe) -> None:
        """Take in a threshold that was collected."""
        self._known[test] = Known(test, file, probe)

    def of(self, test: str) -> Own:
        """What is set for the threshold of this id, whatever its parameters."""
        return self._own.get(test, NOTHING)

    def settle(self) -> None:
        """Find whom the tables name, once all is collected, and tell the probes.

        Raises `FairnessError`, in one line, for a table that is malformed, names no threshold or several, and for
        two that contradict each other.
        """
        if not self._known:
            return
        named: dict[str, str] = {}
        for key, own in self._tables.items():
            test = self._named(key)
            if test is None:
                continue
            if test in named:
                raise FairnessError(f"{own.where}: {key!r} and {named[test]!r} are the same threshold: keep one")
            named[test], self._own[test] = key, own
            for name in ("repetitions", "confidence"):
                if (value := getattr(own, name)) is not None:
                    _set(self._known[test].probe, name, value, own.where)

    @cached_property
    def _file(self) -> Pyproject:
        return Pyproject.read(self._root)

    @cached_property
    def _tables(self) -> dict[str, Own]:
        for name in self._file.table(way_out=_WAY_OUT):
            if name not in TABLES:
                raise FairnessError(f"{self._file.where(name)}: [tool.{TOOL}] has no {name!r}; {near(name, TABLES)}")
        tables = self._file.table(TABLE, way_out=_WAY_OUT)
        return {key: self._read(key, self._file.table(TABLE, key, way_out=_WAY_OUT)) for key in tables}

    def _read(self, key: str, table: Mapping[str, Any]) -> Own:
        where = f"{self._file.path.name}:{self._file.line_of(key)}"

        def read(name: str, reader: Callable[[object], T]) -> T | None:
            try:
                return reader(table[name]) if name in table else None
            except FairnessError as error:
                raise FairnessError(f"{self._place(name, key)}: {error}") from None

        for name in table:
            if name not in FIELDS:
                raise FairnessError(f"{self._place(name, key)}: {key!r} has no {name!r}; {near(name, FIELDS)}")
        return Own(
            where,
            read("bounds", lambda given: OwnBounds(_spans(given), where)),
            read("scale", _scale),
            read("repetitions", checked_repetitions),
            read("confidence", checked_confidence),
        )

    def _place(self, name: str, table: str) -> str:
        return f"{self._file.path.name}:{self._file.line_of(name, table)}"

    def _named(self, key: str) -> str | None:
        """The threshold of a key; None of one that is there, but not in this run."""
        found = [key] if key in self._known else [test for test, known in self._known.items() if known.is_called(key)]
        if len(found) > 1:
            raise FairnessError(
                f"{self._tables[key].where}: {key!r} may be {' or '.join(sorted(found))}: write more of the path"
            )
        if not found:
            self._look_elsewhere(key)
        return found[0] if found else None

    def _look_elsewhere(self, key: str) -> None:
        """Refuse a key that names nothing: neither in this run nor in a file that is no part of it."""
        head, _, name = key.partition("::")
        collected = {known.file.resolve() for known in self._known.values()}
        shipped = {file.resolve() for file in _files(_shipped())}
        files = {file for file in shipped | {file.resolve() for file in _files(self._root)} if _is_called(file, head)}
        if any(name.rpartition("::")[2] in thresholds_in(file) for file in files - collected):
            return
        ids = {f"{head}::{test}" for file in files for test in thresholds_in(file)}
        ids |= {f"{file.parent.name}::{test}" for file in shipped if not files for test in thresholds_in(file)}
        ids |= {known.test if "/" in head else known.short for known in self._known.values()}
        nearest = difflib.get_close_matches(key, sorted(ids), n=1, cutoff=0.0)
        raise FairnessError(f"{self._tables[key].where}: no threshold is called {key!r}; the nearest is {nearest[0]!r}")


def _set(probe: Probe, name: str, value: object, where: str) -> None:
    if name in probe.instead_of and probe.arguments[name] != value:
        raise FairnessError(
            f"{where}: {name} is {value!r} here and {probe.arguments[name]!r} for another threshold of {probe.id}, "
            "which has one sample for all: set it once"
        )
    probe.instead_of.setdefault(name, probe.repetitions if name == "repetitions" else probe.confidence)
    probe.arguments = {**probe.arguments, name: value}


def _spans(given: object) -> dict[str, Span]:
    if isinstance(given, dict):
        return {metric: _span(span) for metric, span in given.items()}
    return {ONLY: _span(given)}


def _span(given: object) -> Span:
    ends = given if isinstance(given, list) else []
    if len(ends) != 2 or not all(isinstance(end, int | float) and not isinstance(end, bool) for end in ends):
        raise FairnessError(f"bounds are {given!r}: write [LOW, HIGH], two numbers, -inf or inf where there is none")
    low, high = map(float, ends)
    if not low <= high:
        raise FairnessError(f"bounds are {given!r}: the first must be at most the second")
    return low, high


def _scale(given: object) -> Scale:
    ranges = given if isinstance(given, dict) else {}
    if set(ranges) != set("ABC") or not all(isinstance(span, list) for span in ranges.values()):
        raise FairnessError(f"scale is {given!r}: write {{A = [LOW, HIGH], B = [LOW, HIGH], C = [LOW, HIGH]}}")
    return Scale(**ranges)


def thresholds_in(file: Path) -> set[str]:
    """The names of the thresholds of a file, by what it says: it is not run."""
    try:
        if suite_in(file):
            from pytest_fairness.declared.probe import read_probes

            anywhere = Path(file.resolve().anchor)  # what it names is read, and not asked
            probes = read_probes(file, file.name, anywhere)
            return {threshold.name for probe in probes for threshold in probe.thresholds}
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (FairnessError, OSError, ValueError, SyntaxError):
        return set()
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return {node.name for node in functions if any("threshold(" in ast.unparse(mark) for mark in node.decorator_list)}


def _is_called(file: Path, head: str) -> bool:
    """Whether the first part of an id means a file: by the end of its path, or by its suite."""
    suites = {file.parent.name, file.stem.removeprefix("test_"), suite_in(file)}
    return head in suites or file.as_posix().endswith(f"/{head}")


def _files(folder: Path) -> Iterator[Path]:
    """The files below a folder that may hold tests; not those of hidden folders and virtual environments."""
    for top, folders, names in os.walk(folder):
        folders[:] = [] if "pyvenv.cfg" in names else [name for name in folders if not name.startswith((".", "__"))]
        yield from (Path(top, name) for name in names if name.endswith(".py") or suite_in(name))


def _shipped() -> Path:
    """Where the suites of this plugin are: in the package when it is installed, beside it in a clone."""
    inside = _PACKAGE / "suites"
    return inside if inside.is_dir() else _PACKAGE.parent / "suites"

"""Overrides of thresholds that a project sets in its ``pyproject.toml``.

::

    [tool.pytest-fairness.thresholds."hiring::test_women_and_men_advance_alike"]
    bounds = [0.7, 1.4]
    scale = {A = [0.9, 1.1], B = [0.7, 1.4], C = [0.5, 2.0]}
    repetitions = 3
    confidence = 0.9
    slices = ["language"]

A threshold is named by the id of its test, by the end of that from a folder on, or as ``SUITE::TEST``. Repetitions
and confidence are its probe's, so that they hold for all thresholds of that.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import pytest

from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.core.json_objects import is_number
from pytest_fairness.core.marks import MarkScale
from pytest_fairness.core.overrides import ONLY, BoundsOverride, Span
from pytest_fairness.core.pyproject import PYPROJECT, TOOL, Pyproject
from pytest_fairness.core.serialization import checked, read_record
from pytest_fairness.declarative.files import suite_in
from pytest_fairness.plugin.config.project_settings import KEYS
from pytest_fairness.plugin.own_tests import mentions_thresholds
from pytest_fairness.plugin.probes import mark_arguments
from pytest_fairness.plugin.probes.probe import Probe

TABLE = "thresholds"
TABLES = ("models", "services", TABLE, *KEYS)
_WAY_OUT = f'write [tool.{TOOL}.{TABLE}."SUITE::TEST"], and bounds = [LOW, HIGH] below it'
_PACKAGE = Path(__file__).parents[2]


def _bounds(value: object) -> BoundsOverride:
    """Return bounds by metric, or those of a test that compares one."""
    spans = value if isinstance(value, dict) else {ONLY: value}
    return BoundsOverride({metric: _span(span, metric and f" for {metric!r}") for metric, span in spans.items()})


def _span(value: object, of_metric: str) -> Span:
    ends = value if isinstance(value, list) else []
    if len(ends) != 2 or not all(is_number(end) for end in ends):
        raise ValueError(f"write [LOW, HIGH]{of_metric}, two numbers, -inf or inf where there is none")
    low, high = map(float, ends)
    if not low <= high:
        raise ValueError(f"the first must be at most the second{of_metric}")
    return low, high


def _scale(value: object) -> MarkScale:
    ranges = value if isinstance(value, dict) else {}
    if set(ranges) != set("ABC") or not all(isinstance(span, list) for span in ranges.values()):
        raise ValueError("write {A = [LOW, HIGH], B = [LOW, HIGH], C = [LOW, HIGH]}")
    try:
        return MarkScale(**ranges)
    except FairnessError as error:
        raise ValueError(str(error).removeprefix("scale: ")) from None


@dataclass(frozen=True, slots=True)
class ThresholdOverride:
    """The overrides of one threshold; None for a value of the suite."""

    bounds: BoundsOverride | None = checked(_bounds, default=None)
    scale: MarkScale | None = checked(_scale, default=None)
    repetitions: int | None = checked(mark_arguments.repetitions, default=None)
    confidence: float | None = checked(mark_arguments.confidence, default=None)
    slices: tuple[str, ...] | None = checked(mark_arguments.slices, default=None)


NOTHING = ThresholdOverride()


@dataclass(frozen=True, slots=True)
class CollectedThreshold:
    """A collected threshold."""

    test: str
    """The id of its test, without parameters."""
    file: Path
    probe: Probe

    @property
    def name(self) -> str:
        """The id without its file."""
        return self.test.partition("::")[2]

    @property
    def short(self) -> str:
        """Its short name, ``SUITE::TEST``."""
        return f"{self.probe.suite}::{self.name}"

    def is_named(self, key: str) -> bool:
        """Return whether a key of pyproject.toml is a name of this threshold."""
        # Compare the path: the id of a test outside of the rootdir may start with any folder.
        return key == self.short or f"{self.file.as_posix()}::{self.name}".endswith(f"/{key}")


class ThresholdOverrides:
    """The overrides of a project, matched to the collected thresholds."""

    def __init__(self, root: Path, invocation: Path) -> None:
        self._root, self._invocation = root, invocation
        self._collected: dict[str, CollectedThreshold] = {}
        self._overrides: dict[str, ThresholdOverride] = {}

    def add(self, test: str, file: Path, probe: Probe) -> None:
        """Add a threshold that was collected."""
        self._collected[test] = CollectedThreshold(test, file, probe)

    def of(self, item: pytest.Function) -> ThresholdOverride:
        """Return the override of a threshold's test, the same for all of its parameters."""
        return self._overrides.get(f"{item.nodeid.removesuffix(item.name)}{item.originalname}", NOTHING)

    def resolve(self) -> None:
        """Match the tables to the collected thresholds, and change the probes.

        Raises:
            FairnessError: A table is malformed, or names no threshold or several; or two contradict each other.
        """
        keys: dict[str, str] = {}
        for key, override in self._tables.items():
            test = self._find_threshold(key)
            if test is None:
                continue
            if test in keys:
                raise FairnessError(f"{self._where(key)}: {key!r} and {keys[test]!r} are the same threshold: keep one")
            keys[test], self._overrides[test] = key, override
            for name in ("repetitions", "confidence"):
                if (value := getattr(override, name)) is not None:
                    _set(self._collected[test].probe, name, value, self._where(key))
        self._refuse_unread()

    @cached_property
    def _file(self) -> Pyproject:
        return Pyproject.read(self._root)

    @cached_property
    def _tables(self) -> dict[str, ThresholdOverride]:
        for name in self._file.table(way_out=_WAY_OUT):
            if name not in TABLES:
                raise FairnessError(
                    f"{self._file.where(name)}: [tool.{TOOL}] has no {name!r}; {did_you_mean(name, TABLES)}"
                )
        return {key: self._read(key) for key in self._file.table(TABLE, way_out=_WAY_OUT)}

    def _read(self, key: str) -> ThresholdOverride:
        table = self._file.table(TABLE, key, way_out=_WAY_OUT)
        override = read_record(ThresholdOverride, table, self._file.context(TABLE, key, subject=repr(key)))
        bounds = override.bounds
        return override if bounds is None else replace(override, bounds=replace(bounds, where=self._where(key)))

    def _where(self, key: str) -> str:
        """Return the file, by its name, and the line of a table."""
        return f"{PYPROJECT}:{self._file.file.line('tool', TOOL, TABLE, key)}"

    def _refuse_unread(self) -> None:
        """Refuse tables for thresholds of this run in a file that is not read, since it is not in the rootdir."""
        unchanged = [threshold for test, threshold in self._collected.items() if test not in self._overrides]
        folders = {self._invocation, *(threshold.file.parent for threshold in unchanged)}
        above = {folder for start in folders for folder in (start, *start.parents)} - {self._root}
        for folder in sorted(folder for folder in above if (folder / PYPROJECT).is_file()):
            file = Pyproject.read_ours(folder)
            for key in file.table(TABLE, way_out=_WAY_OUT):
                head, _, name = key.partition("::")
                # The suite may have another name there.
                if any(name == threshold.name and _is_file_named(threshold.file, head) for threshold in unchanged):
                    raise FairnessError(
                        f"{file.where(TABLE, key)}: {key!r} is not read, since the rootdir is {self._root}: "
                        f"add --rootdir={folder}, or write it into {self._root / PYPROJECT}"
                    )

    def _find_threshold(self, key: str) -> str | None:
        """Return the threshold that a key names; None if it exists but is not part of this run."""
        collected = self._collected
        matches = (
            [key] if key in collected else [test for test, threshold in collected.items() if threshold.is_named(key)]
        )
        if len(matches) > 1:
            raise FairnessError(
                f"{self._where(key)}: {key!r} may be {' or '.join(sorted(matches))}: write more of the path"
            )
        if not matches:
            self._refuse_unknown(key)
        return matches[0] if matches else None

    def _refuse_unknown(self, key: str) -> None:
        """Check that a key names a threshold in a file outside of this run."""
        head, _, name = key.partition("::")
        collected = {threshold.file.resolve() for threshold in self._collected.values()}
        shipped = {file.resolve() for file in _files(_shipped_suites_folder())}
        files = {
            file for file in shipped | {file.resolve() for file in _files(self._root)} if _is_file_named(file, head)
        }
        if any(name.rpartition("::")[2] in find_test_names(file) for file in files - collected):
            return
        ids = {f"{head}::{test}" for file in files - collected for test in find_test_names(file)}
        ids |= {f"{file.parent.name}::{test}" for file in shipped if not files for test in find_test_names(file)}
        ids |= {threshold.test if "/" in head else threshold.short for threshold in self._collected.values()}
        nearest = difflib.get_close_matches(key, sorted(ids), n=1, cutoff=0.0)
        raise FairnessError(f"{self._where(key)}: no threshold is called {key!r}; the nearest is {nearest[0]!r}")


def _set(probe: Probe, name: str, value: object, where: str) -> None:
    if name in probe.instead_of and probe.arguments[name] != value:
        raise FairnessError(
            f"{where}: {name} is {value!r} here and {probe.arguments[name]!r} for another threshold of {probe.id}, "
            "which has one sample for all: set it once"
        )
    probe.instead_of.setdefault(name, probe.repetitions if name == "repetitions" else probe.confidence)
    probe.arguments = {**probe.arguments, name: value}


def find_test_names(file: Path) -> set[str]:
    """Return the names that thresholds outside of this run may have: those of all tests of a file that may have any."""
    try:
        if suite_in(file):
            from pytest_fairness.declarative.probe import read_probes

            root = Path(file.resolve().anchor)  # files that it names are read without [tool.pytest-fairness.data]
            probes = read_probes(file, file.name, root)
            return {threshold.name for probe in probes for threshold in probe.thresholds}
        text = file.read_text(encoding="utf-8") if mentions_thresholds(file) else ""
    except (FairnessError, OSError, ValueError):
        return set()
    return set(re.findall(r"^\s*def (test\w*)", text, re.MULTILINE))


def _is_file_named(file: Path, head: str) -> bool:
    """Return whether the first part of an id is the end of a file's path, or its suite."""
    suites = {file.parent.name, file.stem.removeprefix("test_"), suite_in(file)}
    return head in suites or file.as_posix().endswith(f"/{head}")


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder that may hold tests, without hidden folders and virtual environments."""
    for top, folders, names in os.walk(folder):
        folders[:] = [] if "pyvenv.cfg" in names else [name for name in folders if not name.startswith((".", "__"))]
        yield from (Path(top, name) for name in names if name.endswith(".py") or suite_in(name))


def _shipped_suites_folder() -> Path:
    """Return the folder of this plugin's suites: inside an installed package, next to it in a clone."""
    installed = _PACKAGE / "suites"
    return installed if installed.is_dir() else _PACKAGE.parent / "suites"

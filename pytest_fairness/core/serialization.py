"""Frozen dataclasses to JSON and back, and their JSON Schema, all three from the types of their fields."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from functools import cache, partial
from itertools import repeat
from typing import Any, Self, Union, cast, get_args, get_origin, get_type_hints

from pytest_fairness.core.errors import FairnessError, did_you_mean

OPTIONAL: Mapping[str, Any] = types.MappingProxyType({"optional": True})
"""Metadata of a field that JSON leaves out where it is None."""

FLAT: Mapping[str, Any] = types.MappingProxyType({"flat": True})
"""Metadata of a field whose record has no object of its own in JSON: its fields stand among those of its holder."""


class _RefusalError(Exception):
    """A value that a field cannot hold; its position is built as the error propagates."""

    def __init__(self, problem: str) -> None:
        self.problem = problem
        self.where = ""

    def under(self, part: str) -> _RefusalError:
        """Return the same with one more part in front of its position: ``.low``, ``[3]``."""
        self.where = part + self.where
        return self

    def error(self, where: str) -> FairnessError:
        """Return it in one line, for a document that has this name."""
        position = where + self.where if where else self.where.removeprefix(".")
        return FairnessError(f"{position or 'it'} {self.problem}")


Decoder = Callable[[Any], Any]
"""A function from a JSON value to that of its field."""


def key(name: str) -> Mapping[str, Any]:
    """Return the metadata of a field that has another name in JSON."""
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
        content: dict[str, Any] = {}
        for name, json_name, is_optional, is_flat in _members(cast("Any", type(self))):
            value = getattr(self, name)
            if is_flat:
                content |= value.to_json()
            elif value is not None or not is_optional:
                content[json_name] = _encoded(value)
        return content

    @classmethod
    def from_json(cls, content: Any, where: str = "", *, strict: bool = True) -> Self:
        """Return the record that JSON holds.

        Args:
            content: An object, as `json.loads` gives it.
            where: The name of the object in errors: ``thresholds[3]``.
            strict: Whether an unknown field is an error; else it is left out.

        Raises:
            FairnessError: For a field that is unknown, missing or of another type, in one line.
        """
        try:
            return cast("Self", _decoder(cast("Any", cls), strict=strict)(content))
        except _RefusalError as refusal:
            raise refusal.error(where) from None

    @classmethod
    def late_modules(cls) -> Mapping[str, Any]:
        """Return by name the modules in its annotations that are imported only where a record is read or described."""
        return {}


def _key(member: Any) -> str:
    return str(member.metadata.get("key", member.name))


def _hints(kind: type[JsonRecord]) -> dict[str, Any]:
    return get_type_hints(kind, localns=dict(kind.late_modules()))


@cache
def _members(kind: type[JsonRecord]) -> tuple[tuple[str, str, bool, bool], ...]:
    """Return the name of each field, that in JSON, whether JSON leaves it out where it is None, and whether flat."""
    return tuple(
        (member.name, _key(member), bool(member.metadata.get("optional")), bool(member.metadata.get("flat")))
        for member in fields(kind)
    )


def _flat_kinds(kind: type[JsonRecord]) -> dict[str, type[JsonRecord]]:
    """Return the kinds of the flat fields of a record, by name."""
    hints = _hints(kind)
    return {name: hints[name] for name, _, _, is_flat in _members(cast("Any", kind)) if is_flat}


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
    # Numbers of numpy and texts of other classes are values of a subclass, which xdist refuses to send.
    return next((kind(value) for kind in (str, int, float) if isinstance(value, kind)), value)


@cache
def _decoder(kind: Any, *, strict: bool) -> Decoder:
    decoder = partial(_decoder, strict=strict)
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any:
        return lambda value: value
    if origin in (Union, types.UnionType):
        inner = next(member for member in arguments if member is not type(None))
        return _optional_decoder(decoder(inner), is_record=is_dataclass(inner))
    if origin is tuple and arguments[-1] is not Ellipsis:
        return _tuple_decoder([decoder(member) for member in arguments])
    if origin in (Sequence, tuple, list):
        return _sequence_decoder(decoder(arguments[0]))
    if origin is Mapping:
        return _mapping_decoder(decoder(arguments[1]))
    if is_dataclass(kind):
        return _record_decoder(cast("type[JsonRecord]", kind), strict=strict)
    if issubclass(kind, Enum):
        return _enum_decoder(kind)
    return _plain_decoder(kind)


_WORDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


def _refusal(value: Any, rule: str) -> _RefusalError:
    text = repr(value)
    return _RefusalError(f"is {text if len(text) <= 60 else f'{text[:57]}...'}: it must be {rule}")


def _plain_decoder(kind: type) -> Decoder:
    accepted = (int, float) if kind is float else (kind,)

    def decode(value: Any) -> Any:
        if type(value) is kind:
            return value
        if not isinstance(value, accepted) or (isinstance(value, bool) and kind is not bool):
            raise _refusal(value, _WORDS[kind])
        return value

    return decode


def _enum_decoder(kind: type[Enum]) -> Decoder:
    def decode(value: Any) -> Enum:
        try:
            return kind(value)
        except ValueError:
            rule = f"one of {', '.join(str(member.value) for member in kind)}"
            raise _refusal(value, rule) from None

    return decode


def _optional_decoder(decode: Decoder, *, is_record: bool) -> Decoder:
    def decode_optional(value: Any) -> Any:
        if value is None or (is_record and value == {}):  # version 0.1 wrote an empty object
            return None
        return decode(value)

    return decode_optional


def _tuple_decoder(decoders: Sequence[Decoder]) -> Decoder:
    def decode(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple) or len(value) != len(decoders):
            raise _refusal(value, f"a list of {len(decoders)}")
        return _decode_members(decoders, value)

    return decode


def _sequence_decoder(decode_one: Decoder) -> Decoder:
    def decode(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            raise _refusal(value, "a list")
        return _decode_members(repeat(decode_one), value)

    return decode


def _decode_members(decoders: Iterable[Decoder], members: Sequence[Any]) -> tuple[Any, ...]:
    decoded: list[Any] = []
    try:
        for decode, member in zip(decoders, members, strict=False):
            decoded.append(decode(member))
    except _RefusalError as refusal:
        raise refusal.under(f"[{len(decoded)}]") from None
    return tuple(decoded)


def _mapping_decoder(decode_one: Decoder) -> Decoder:
    def decode(value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise _refusal(value, "an object")
        decoded = {}
        for name, member in value.items():
            try:
                decoded[str(name)] = decode_one(member)
            except _RefusalError as refusal:
                raise refusal.under(f".{name}") from None
        return decoded

    return decode


def _record_decoder(kind: type[JsonRecord], *, strict: bool) -> Decoder:
    flat = _flat_kinds(kind)
    owners = {"": kind, **flat}
    members = {
        _key(member): (owner, member.name, _decoder(_hints(owned)[member.name], strict=strict))
        for owner, owned in owners.items()
        for member in fields(owned)
        if owner or member.name not in flat
    }
    needed = [
        _key(member)
        for owned in owners.values()
        for member in fields(owned)
        if member.default is MISSING and member.default_factory is MISSING
    ]

    def decode(value: Any) -> JsonRecord:
        if not isinstance(value, Mapping):
            raise _refusal(value, "an object")
        for key in needed:
            if key not in value:
                raise _RefusalError("is missing").under(f".{key}")
        values: dict[str, dict[str, Any]] = {owner: {} for owner in owners}
        for key, content in value.items():
            if key in members:
                owner, name, decode_member = members[key]
                try:
                    values[owner][name] = decode_member(content)
                except _RefusalError as refusal:
                    raise refusal.under(f".{key}") from None
            elif strict:
                raise _RefusalError(f"is no known field; {did_you_mean(str(key), members)}").under(f".{key}")
        return kind(**values[""], **{name: owned(**values[name]) for name, owned in flat.items()})

    return decode


def json_schema(kind: type[JsonRecord], title: str) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of what `JsonRecord.to_json` writes."""
    definitions: dict[str, Any] = {}
    root = _object_schema(kind, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **root,
        "$defs": dict(sorted(definitions.items())),
    }


def _object_schema(kind: type[JsonRecord], definitions: dict[str, Any]) -> dict[str, Any]:
    hints, flat = _hints(kind), _flat_kinds(kind)
    properties: dict[str, Any] = {}
    required: list[str] = []
    for member in fields(kind):
        if member.name in flat:
            inner = _object_schema(flat[member.name], definitions)
            properties |= inner["properties"]
            required += inner["required"]
            continue
        properties[_key(member)] = _schema(hints[member.name], definitions)
        required += [] if member.metadata.get("optional") else [_key(member)]
    return {
        "description": (kind.__doc__ or "").partition("\n")[0],
        "type": "object",
        "properties": properties,
        "required": required,
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

"""Records: dataclasses that are read from what a program or a person wrote, to JSON and back, and their JSON Schema.

The types of the fields decide; a field may have a reader of its own, for a range or another form. A `RecordContext`
names the file and the line in errors.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from datetime import date
from enum import Enum
from functools import cache, partial
from itertools import pairwise, repeat
from typing import Any, Self, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from pytest_fairness.core.errors import FairnessError, did_you_mean, short_repr

OPTIONAL: Mapping[str, Any] = types.MappingProxyType({"optional": True})
"""Metadata of a field that JSON leaves out where it is None."""

FLAT: Mapping[str, Any] = types.MappingProxyType({"flat": True})
"""Metadata of a field whose record has no object of its own in JSON: its fields stand among those of its holder."""


UNWRITTEN: Mapping[str, Any] = types.MappingProxyType({"unwritten": True})
"""Metadata of a field that nobody writes: `read_record` leaves it at its default."""

T = TypeVar("T")
KeyPath = tuple[str | int, ...]
"""Keys and indices that lead to a value."""
Reader = Callable[[Any], Any]
"""A function that returns the value of a field from what was written; it raises `ValueError` with the broken rule."""


def _nowhere(_: KeyPath) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class RecordContext:
    """The place where a record was written, and the words for it in errors."""

    subject: str = "it"
    """The record: ``an entry``, ``@pytest.mark.probe``."""
    prefix: str = ""
    """The text before the name of a field: ``assumptions.``."""
    noun: str = "field"
    form: str = "an object"
    """The form of a record: ``a table`` in TOML."""
    way_out: str = ""
    """The end of errors about fields that are missing."""
    hidden: Collection[str] = ()
    """The fields whose values are not shown, since they may be secrets."""
    locate: Callable[[KeyPath], str] = _nowhere
    """A function that returns the file and line of a field: ``accepted.toml:12: ``."""

    def name(self, path: KeyPath) -> str:
        """Return the name of a value.

        >>> RecordContext(prefix="run.").name(("looks", 2, "at")), RecordContext("an entry").name(())
        ('run.looks[2].at', 'an entry')
        """
        parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
        return self.prefix + "".join(parts).removeprefix(".") if path else self.subject

    def error(self, problem: str, *path: str | int) -> FairnessError:
        """Return an error about the record, at the line of the value at a path."""
        return FairnessError(f"{self.locate(path)}{problem}")

    def value_error(self, value: object, rule: str, *path: str | int) -> FairnessError:
        """Return the error of a value that breaks a rule.

        >>> print(RecordContext().value_error(7, "it must be a text", "title"))
        title is 7: it must be a text
        """
        shown = "" if self.hidden and path[0] in self.hidden else f" is {shown_value(value)}"
        return self.error(f"{self.name(path)}{shown}: {rule}", *path)


class _RefusalError(Exception):
    """A value that a field cannot hold, or a record with unknown or missing fields; its path is built on its way."""

    def __init__(
        self,
        value: Any = None,
        rule: str = "",
        *,
        unknown: str = "",
        fields: Iterable[str] = (),
        missing: Sequence[str] = (),
    ) -> None:
        self.value, self.rule, self.unknown, self.fields, self.missing = value, rule, unknown, fields, missing
        self.path: KeyPath = ()

    @property
    def of_record(self) -> bool:
        """Whether it is about the fields of a record, not a value."""
        return bool(self.unknown or self.missing)

    def under(self, part: str | int) -> _RefusalError:
        """Return the same with one more part in front of its path."""
        self.path = (part, *self.path)
        return self

    def error(self, context: RecordContext) -> FairnessError:
        """Return it in one line, for a record in this context."""
        subject = context.name(self.path)
        if self.missing:
            sign = "=" if context.noun == "argument" else ""
            names = " and ".join(f"`{name}{sign}`" for name in self.missing)
            end = f": {context.way_out}" if context.way_out else ""
            return context.error(f"{subject} needs {names}{end}", *self.path)
        if self.unknown:
            problem = f"{subject} has no {context.noun} {self.unknown!r}; {did_you_mean(self.unknown, self.fields)}"
            return context.error(problem, *self.path, self.unknown)
        return context.value_error(self.value, self.rule or f"it must be {context.form}", *self.path)


Decoder = Callable[[Any], Any]
"""A function from a JSON value to that of its field."""


def key(name: str) -> Mapping[str, Any]:
    """Return the metadata of a field that has another name in JSON."""
    return types.MappingProxyType({"key": name})


def checked(read: Reader, *, written: Any = Any, rule: str = "", **declared: Any) -> Any:
    """Declare a field of a dataclass whose value has a reader of its own.

    Args:
        read: Returns the value from what was written; raises `ValueError` with the broken rule.
        written: The type of what is written, which is checked first: of records in a list, for example.
        rule: The rule for a value that has not that type; default: in the words of the type.
        **declared: Arguments of `dataclasses.field`.
    """
    return field(metadata={"read": read, "written": written, "rule": rule}, **declared)


def read_record(kind: type[T], content: Any, context: RecordContext) -> T:
    """Return the record in a table of a file, or in the arguments of a mark.

    >>> @dataclass(frozen=True)
    ... class Entry:
    ...     until: int
    >>> read_record(Entry, {"untill": 2}, RecordContext("an entry"))
    Traceback (most recent call last):
    pytest_fairness.core.errors.FairnessError: an entry has no field 'untill'; did you mean 'until'? Known: until

    Args:
        kind: A dataclass; its fields are read by their types, or by the readers of `checked`.
        content: A mapping from names of fields to values.
        context: The place of the record, for errors.

    Raises:
        FairnessError: For a field that is unknown, missing or of another type, in one line.
    """
    try:
        return cast("T", _decoder(cast("Any", kind), strict=True)(content))
    except _RefusalError as refusal:
        raise refusal.error(context) from None


def read_fields(readers: Mapping[str, Reader], content: Any, context: RecordContext) -> dict[str, Any]:
    """Return the values of fields that are determined at run time, none of them required.

    Args:
        readers: The reader of each field.
        content: A mapping from names of fields to values.
        context: The place of the record, for errors.

    Raises:
        FairnessError: As of `read_record`.
    """
    try:
        return _decode_fields(
            {name: _checked_decoder(read) for name, read in readers.items()}, (), content, strict=True
        )
    except _RefusalError as refusal:
        raise refusal.error(context) from None


def shown_value(value: object) -> str:
    """Return a value as text for errors, with at most 80 characters."""
    text = value.isoformat() if isinstance(value, date) else short_repr(value, 81)
    return text if len(text) <= 80 else f"{text[:77]}..."


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
            raise refusal.error(RecordContext(where or "it", f"{where}." if where else "")) from None

    @classmethod
    def late_modules(cls) -> Mapping[str, Any]:
        """Return by name the modules in its annotations that are imported only where a record is read or described."""
        return {}


def _key(member: Any) -> str:
    return str(member.metadata.get("key", member.name))


def _hints(kind: type[Any]) -> dict[str, Any]:
    late_modules = getattr(kind, "late_modules", dict)  # records that are no JSON have none
    return get_type_hints(kind, localns=dict(late_modules()))


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
        return _as_written
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
    return _RefusalError(value, f"it must be {rule}")


def _as_written(value: Any) -> Any:
    return value


def _checked_decoder(read: Reader, decode_written: Decoder = _as_written, rule: str = "") -> Decoder:
    def decode(value: Any) -> Any:
        try:
            return read(decode_written(value))
        except _RefusalError as refusal:
            if rule and not refusal.of_record and all(isinstance(part, int) for part in refusal.path):
                refusal.rule = rule
            raise
        except (ValueError, OverflowError) as error:  # a whole number may have any number of digits
            raise _RefusalError(value, str(error)) from None

    return decode


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
        raise refusal.under(len(decoded)) from None
    return tuple(decoded)


def _mapping_decoder(decode_one: Decoder) -> Decoder:
    def decode(value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise _RefusalError(value)
        decoded = {}
        for name, member in value.items():
            try:
                decoded[str(name)] = decode_one(member)
            except _RefusalError as refusal:
                raise refusal.under(str(name)) from None
        return decoded

    return decode


def _record_decoder(kind: type[JsonRecord], *, strict: bool) -> Decoder:
    flat = _flat_kinds(kind)
    owners = {"": kind, **flat}
    hints = {owner: _hints(owned) for owner, owned in owners.items()}
    members = {
        _key(member): (owner, member.name, _member_decoder(member, hints[owner][member.name], strict=strict))
        for owner, owned in owners.items()
        for member in fields(owned)
        if (owner or member.name not in flat) and not member.metadata.get("unwritten")
    }
    decoders = {key: decode_member for key, (_, _, decode_member) in members.items()}
    needed = [
        _key(member)
        for owned in owners.values()
        for member in fields(owned)
        if member.default is MISSING and member.default_factory is MISSING
    ]

    def decode(value: Any) -> JsonRecord:
        values: dict[str, dict[str, Any]] = {owner: {} for owner in owners}
        for key, content in _decode_fields(decoders, needed, value, strict=strict).items():
            owner, name, _ = members[key]
            values[owner][name] = content
        return kind(**values[""], **{name: owned(**values[name]) for name, owned in flat.items()})

    return decode


def _member_decoder(member: Any, hint: Any, *, strict: bool) -> Decoder:
    read = member.metadata.get("read")
    if read is None:
        return _decoder(hint, strict=strict)
    return _checked_decoder(read, _decoder(member.metadata["written"], strict=strict), member.metadata["rule"])


def _decode_fields(
    decoders: Mapping[str, Decoder], needed: Sequence[str], content: Any, *, strict: bool
) -> dict[str, Any]:
    """Return the decoded values of a record by the names that they have in it."""
    if not isinstance(content, Mapping):
        raise _RefusalError(content)
    decoded: dict[str, Any] = {}
    for name, value in content.items():
        if name in decoders:
            try:
                decoded[name] = decoders[name](value)
            except _RefusalError as refusal:
                raise refusal.under(name) from None
        elif strict:
            raise _RefusalError(unknown=str(name), fields=decoders)
    if missing := [name for name in needed if name not in content]:
        raise _RefusalError(missing=missing)
    return decoded


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
    hints, flat, meanings = _hints(kind), _flat_kinds(kind), _field_docstrings(kind)
    properties: dict[str, Any] = {}
    required: list[str] = []
    for member in fields(kind):
        if member.name in flat:
            inner = _object_schema(flat[member.name], definitions)
            properties |= inner["properties"]
            required += inner["required"]
            continue
        description = {"description": meanings[member.name]} if member.name in meanings else {}
        properties[_key(member)] = description | _schema(hints[member.name], definitions)
        required += [] if member.metadata.get("optional") else [_key(member)]
    return {
        "description": (kind.__doc__ or "").partition("\n")[0],
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _field_docstrings(kind: type[JsonRecord]) -> dict[str, str]:
    """Return the text below each field in the source of a record and of those that it extends."""
    import ast
    import inspect

    texts: dict[str, str] = {}
    for record in reversed(kind.__mro__):
        if not is_dataclass(record):
            continue
        (definition,) = ast.parse(inspect.getsource(record)).body
        body = cast("ast.ClassDef", definition).body
        for pair in pairwise(body):
            match pair:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(meaning))):
                    texts[name] = " ".join(meaning.split()).replace("``", "`").replace("None", "null")
    return texts


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

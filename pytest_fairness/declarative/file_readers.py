"""Safe readers of declarations.

In YAML there are no anchors, no tags, no duplicate keys, and no words for booleans but true and false. In JSONL the
first line declares the probe, and every further line is an item.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NoReturn

from pytest_fairness.core import json_text as json
from pytest_fairness.declarative.source import DeclarationError, LocatedValue, located_error

DEPTH = 20
"""The deepest nesting that is read; a declaration needs 6."""
_INTEGER = re.compile(r"[-+]?[0-9]{1,18}")
_NUMBER = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,3})?")
_OBJECT = 'write one object a line, as in {"job": "nurse"}'
_WORDS = {"": None, "~": None, "null": None, "true": True, "True": True, "false": False, "False": False}


def read_yaml(text: str, file: str) -> list[LocatedValue]:
    """Return the documents of a YAML text.

    Scalars are read as in YAML 1.2: ``no`` and ``on`` are words. Anchors, tags and keys that are no texts are
    refused: a declaration needs none of them, and nested anchors can be made to fill any memory.

    >>> read_yaml("choices: [yes, no]", "pay.probe.yaml")[0].plain
    {'choices': ['yes', 'no']}

    Raises `DeclarationError` with the line and column of the first mistake.
    """
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return list(_Reader(file, yaml.parse(text, Loader=loader)).documents())
    except yaml.MarkedYAMLError as error:
        raise _syntax_error(error, text, file) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, int(error.position)) + 1
        raise located_error(file, line, None, "it has a character that YAML does not allow: remove it") from None


def _syntax_error(error: Any, text: str, file: str) -> DeclarationError:
    unclosed = error.context_mark is not None and "end of stream" in str(error.problem)
    begins_before = unclosed or error.context == "while scanning a simple key"
    mark = error.context_mark if begins_before else error.problem_mark or error.context_mark
    reason = ", ".join(part for part in (error.context, error.problem) if part)
    lines = text.splitlines()
    line = lines[mark.line] if mark.line < len(lines) else ""
    if line[: len(line) - len(line.lstrip())].count("\t"):
        reason = "a tab indents it: indent by blanks"
    if conflict := next((number for number, text in enumerate(lines, 1) if text.startswith("<<<<<<< ")), None):
        return located_error(file, conflict, 1, "<<<<<<< marks a conflict of two versions: keep one of them")
    shown = f"{line.strip()!r:.60}: " if line.strip() else ""
    return located_error(file, mark.line + 1, mark.column + 1, f"it is no YAML: {shown}{reason}")


class _Reader:
    """Builder of nodes from the parser's events, which are never more than the text has."""

    def __init__(self, file: str, events: Iterator[Any]) -> None:
        self._file = file
        self._events = events

    def documents(self) -> Iterator[LocatedValue]:
        for event in self._events:
            if type(event).__name__ == "DocumentStartEvent":
                yield self._node(next(self._events), "", 0)

    def _node(self, event: Any, field: str, depth: int) -> LocatedValue:
        kind = type(event).__name__
        line, column = event.start_mark.line + 1, event.start_mark.column + 1
        if kind == "AliasEvent" or getattr(event, "anchor", None) is not None:
            sign = "*" if kind == "AliasEvent" else "&"
            raise self._problem(event, field, f"{sign}{event.anchor} is an anchor, which is not read: write it out")
        if event.tag is not None and event.tag != "!":
            raise self._problem(event, field, f"the tag {event.tag!r} is not read: leave it out")
        if depth > DEPTH:
            raise self._problem(event, field, f"it lies more than {DEPTH} levels deep")
        if kind == "ScalarEvent":
            return self._scalar(event, field, line, column)
        if kind == "SequenceStartEvent":
            return LocatedValue(self._file, field, line, column, list(self._entries(field, depth)))
        return LocatedValue(self._file, field, line, column, self._members(field, depth))

    def _entries(self, field: str, depth: int) -> Iterator[LocatedValue]:
        number = 0
        while type(event := next(self._events)).__name__ != "SequenceEndEvent":
            number += 1
            yield self._node(event, f"{field}[{number}]", depth + 1)

    def _members(self, field: str, depth: int) -> dict[str, LocatedValue]:
        members: dict[str, LocatedValue] = {}
        while type(key := next(self._events)).__name__ != "MappingEndEvent":
            node = self._node(key, field, depth + 1)
            if not isinstance(node.value, str | int | float | bool | None):
                raise self._problem(key, field, "a key must be a text")
            if node.text in members:
                first = members[node.text].key_line
                raise self._problem(key, field, f"{node.text!r} is given twice, first in line {first}: give it once")
            child = self._node(next(self._events), f"{field}.{node.text}".removeprefix("."), depth + 1)
            child.key_line, child.key_column = node.line, node.column
            members[node.text] = child
        return members

    def _scalar(self, event: Any, field: str, line: int, column: int) -> LocatedValue:
        text, style = event.value, event.style
        plain = style in (None, "")
        value: Any = text
        if plain and event.tag is None:
            if text in _WORDS:
                value = _WORDS[text]
            elif _INTEGER.fullmatch(text):
                value = int(text)
            elif _NUMBER.fullmatch(text):
                value = float(text)
        first = line + 1 if style in ("|", ">") else line
        alone = event.end_mark.line + 1 == line and "\\" not in text
        inline = (column if plain else column + 1) if alone else None
        return LocatedValue(self._file, field, line, column, value, text, first, inline)

    def _problem(self, event: Any, field: str, message: str) -> DeclarationError:
        mark = event.start_mark
        return located_error(self._file, mark.line + 1, mark.column + 1, message, field)


class _ReadError(ValueError):
    """Raised for JSON that a declaration does not allow: a key twice, or no finite number."""


def read_jsonl(text: str, file: str) -> list[LocatedValue]:
    """Return the one document of a JSONL text: its first line, with the others as ``items``.

    >>> read_jsonl('{"template": "Hi {{ name }}"}\\n{"name": "Anna"}', "hi.probe.jsonl")[0].plain
    {'template': 'Hi {{ name }}', 'items': [{'name': 'Anna'}]}

    Raises `DeclarationError` with the line of the first that is no JSON object.
    """
    lines = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line, object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)
        except json.JSONDecodeError as error:
            raise located_error(file, number, error.colno, f"it is no JSON: {error.msg}: {_OBJECT}") from None
        except _ReadError as error:
            raise located_error(file, number, None, str(error)) from None
        except RecursionError:
            raise located_error(file, number, None, "its values are nested too deep") from None
        except ValueError as error:  # a number of thousands of digits
            raise located_error(file, number, None, f"it is no JSON: {error}") from None
        if not isinstance(value, dict):
            raise located_error(file, number, None, "it must be an object, as in {...}")
        lines.append((number, value))
    if not lines:
        return []
    (first, declared), *rows = lines
    document = _node(declared, file, "", first)
    if rows and "items" in document.value:
        raise document.value["items"].key_error("`items` are the further lines: leave this one out")
    if rows:
        items = [_node(row, file, f"items[{number}]", line) for number, (line, row) in enumerate(rows, start=1)]
        document.value["items"] = LocatedValue(file, "items", rows[0][0], None, items)
    return [document]


def _node(value: Any, file: str, field: str, line: int) -> LocatedValue:
    text = value if isinstance(value, str) else "" if isinstance(value, dict | list) else json.dumps(value)
    if isinstance(value, dict):
        value = {key: _node(child, file, f"{field}.{key}".removeprefix("."), line) for key, child in value.items()}
    elif isinstance(value, list):
        value = [_node(child, file, f"{field}[{number}]", line) for number, child in enumerate(value, start=1)]
    return LocatedValue(file, field, line, None, value, text, key_line=line)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    for key, count in Counter(key for key, _ in pairs).items():
        if count > 1:
            raise _ReadError(f"{key!r} is given twice: give it once")
    return dict(pairs)


def _refuse_constant(word: str) -> NoReturn:
    raise _ReadError(f"{word} is no JSON: write a number")

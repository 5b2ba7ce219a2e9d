"""Reader of JSONL declarations: the first line declares the probe, every further line is an item."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, NoReturn

from pytest_fairness.declarative.source import LocatedValue, problem


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
            raise problem(file, number, error.colno, f"it is no JSON: {error.msg}") from None
        except _ReadError as error:
            raise problem(file, number, None, str(error)) from None
        except RecursionError:
            raise problem(file, number, None, "its values are nested too deep") from None
        except ValueError as error:  # a number of thousands of digits
            raise problem(file, number, None, f"it is no JSON: {error}") from None
        if not isinstance(value, dict):
            raise problem(file, number, None, "it must be an object, as in {...}")
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

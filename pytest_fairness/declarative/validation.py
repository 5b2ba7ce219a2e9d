"""Validation of declarations against the JSON schema that editors use as well."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from functools import lru_cache
from importlib.resources import files
from typing import Any

from pytest_fairness.core import json_text as json
from pytest_fairness.core.declarative_grader import DeclarativeGrader
from pytest_fairness.core.errors import did_you_mean
from pytest_fairness.core.extensions import GRADERS
from pytest_fairness.core.formatting import counted
from pytest_fairness.core.json_objects import is_number
from pytest_fairness.core.written_numbers import plain_number
from pytest_fairness.declarative.source import LocatedValue

Rule = Mapping[str, Any]

_NOUNS = {
    "string": "a text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
    "null": "empty",
}


@lru_cache(maxsize=1)
def schema() -> Rule:
    """Return the JSON schema of a declaration, in which a grader may have any name and parameters."""
    text = files("pytest_fairness.declarative").joinpath("schema.json").read_text(encoding="utf-8")
    rule: Rule = json.loads(text)
    return rule


def editor_schema() -> Rule:
    """Return the JSON schema of a declaration with the parameters of every grader that is installed.

    Raises:
        FairnessError: A registered grader cannot be loaded.
    """
    schemas = {name: GRADERS.load_class(name, DeclarativeGrader).schema for name in GRADERS.names()}
    without_required = [name for name, rule in schemas.items() if not _needs_parameters(rule)]
    without_parameters = {
        "type": "string",
        "enum": without_required,
        "description": f"{', '.join(without_required)}, or a mapping",
    }
    rule: dict[str, Any] = deepcopy(dict(schema()))
    alternatives = rule["$defs"]["grader"]["anyOf"]
    alternatives[:] = [without_parameters, {**alternatives[1], "additionalProperties": False, "properties": schemas}]
    return rule


def check(node: LocatedValue) -> None:
    """Raise `DeclarationError` for the first thing in a document that the schema does not allow."""
    _check(node, schema())


def check_parameters(node: LocatedValue, grader: str, rule: Rule, *, stands_alone: bool) -> None:
    """Check the parameters of a grader against its own schema.

    Args:
        node: The parameters; the name itself where it stands alone.
        grader: The grader's name.
        rule: Its schema.
        stands_alone: Whether no parameters are given.

    Raises:
        DeclarationError: The schema does not allow them.
    """
    if not stands_alone:
        _check(node, rule)
    elif _needs_parameters(rule):
        raise node.error(f"{grader} needs parameters: write a mapping, {{{grader}: ...}}")


def _needs_parameters(rule: Rule) -> bool:
    rules = [_resolve_reference(alternative) for alternative in rule.get("anyOf", [rule])]
    return not any("object" in _types(alternative) and not alternative.get("required") for alternative in rules)


def _check(node: LocatedValue, rule: Rule) -> None:
    rule = _resolve_reference(rule)
    if "anyOf" in rule:
        description = {"description": rule["description"]} if "description" in rule else {}
        _check_any(node, [{**description, **_resolve_reference(alternative)} for alternative in rule["anyOf"]])
        return
    if not _fits(node, rule):
        raise _wrong_kind(node, [rule])
    if isinstance(node.value, dict):
        _check_object(node, rule)
    elif isinstance(node.value, list):
        _check_array(node, rule)
    else:
        _check_scalar(node, rule)


def _check_any(node: LocatedValue, rules: Sequence[Rule]) -> None:
    """Check a value against the first alternative that fits: they differ in type or in their required fields."""
    fitting = [rule for rule in rules if _fits(node, rule)]
    if not fitting:
        raise _wrong_kind(node, rules)
    if isinstance(node.value, dict):
        fitting.sort(key=lambda rule: not any(name in node.value for name in rule.get("required", ())))
    _check(node, fitting[0])


def _fields_of(rule: Rule) -> set[str]:
    """Return the names of the fields that a value of this rule may have."""
    rule = _resolve_reference(rule)
    rules = [rule, *map(_resolve_reference, rule.get("anyOf", ()))]
    return {name for one in rules for name in one.get("properties", ())}


def _check_object(node: LocatedValue, rule: Rule) -> None:
    fields, others = rule.get("properties", {}), rule.get("additionalProperties", True)
    what = rule.get("title", "it")
    for name, child in node.value.items():
        if name in fields:
            _check(child, fields[name])
        elif others is False:
            if owner := next((one for one, of in fields.items() if one in node.value and name in _fields_of(of)), ""):
                raise child.key_error(f"{what} has no field {name!r}: it is one of `{owner}`, write it there")
            raise child.key_error(f"{what} has no field {name!r}; {did_you_mean(name, fields)}")
        elif others is not True:
            _check(child, others)
    for name in rule.get("required", ()):
        if name not in node.value:
            raise node.error(f"{what} needs `{name}`: {fields[name].get('description', 'write it')}")
    _check_size(node, rule, rule.get("minProperties", 0), rule.get("maxProperties", math.inf))


def _check_array(node: LocatedValue, rule: Rule) -> None:
    _check_size(node, rule, rule.get("minItems", 0), rule.get("maxItems", math.inf))
    for child in node.value:
        _check(child, rule.get("items", {}))


def _check_size(node: LocatedValue, rule: Rule, least: int, most: float) -> None:
    if not least <= len(node.value) <= most:
        count = f"at least {least}" if len(node.value) < least else f"at most {most}"
        entries = ", ".join(child.text if isinstance(node.value, list) else name for name, child in _named(node))
        shown = f" ({entries:.60})" if entries else ""
        raise node.error(f"it has {counted(len(node.value), 'entry')}{shown}: it must have {count}{_described(rule)}")


def _named(node: LocatedValue) -> Iterator[tuple[str, LocatedValue]]:
    """Yield the entries of a list or mapping; those of a list have no names."""
    yield from node.value.items() if isinstance(node.value, dict) else (("", child) for child in node.value)


def _check_scalar(node: LocatedValue, rule: Rule) -> None:
    value = node.value
    if isinstance(value, str):
        if len(value.strip()) < rule.get("minLength", 0):
            raise node.error("it is empty: write a text")
        if "pattern" in rule and not re.search(rule["pattern"], value):
            raise node.error(f"it is {_shown(value)}: {rule.get('description', rule['pattern'])}")
    if "enum" in rule and value not in rule["enum"]:
        raise node.error(f"it is {_shown(value)}; {did_you_mean(str(value), rule['enum'])}")
    if is_number(value):
        low, high, under = (rule.get(name) for name in ("minimum", "maximum", "exclusiveMaximum"))
        beyond = (low is not None and value < low) or (high is not None and value > high)
        if beyond or not math.isfinite(value) or (under is not None and value >= under):
            raise node.error(f"it is {value!r}: {rule.get('description', 'it must be finite')}")


def _resolve_reference(rule: Rule) -> Rule:
    if "$ref" not in rule:
        return rule
    shared: Rule = schema()["$defs"][rule["$ref"].removeprefix("#/$defs/")]
    return {**shared, **{name: value for name, value in rule.items() if name != "$ref"}}


def _fits(node: LocatedValue, rule: Rule) -> bool:
    value, types = node.value, _types(rule)
    if not types:
        return True
    if isinstance(value, bool):
        return "boolean" in types
    if isinstance(value, int):
        return "integer" in types or "number" in types
    kinds = {str: "string", float: "number", list: "array", dict: "object", type(None): "null"}
    return kinds[type(value)] in types


def _types(rule: Rule) -> Sequence[str]:
    types = rule.get("type", ())
    return (types,) if isinstance(types, str) else types


def _wrong_kind(node: LocatedValue, rules: Sequence[Rule]) -> Exception:
    expected = dict.fromkeys(_NOUNS[kind] for rule in rules for kind in _types(rule))
    description = next((_described(rule) for rule in rules if "description" in rule), "")
    actual = "empty" if node.value is None else f"{_shown(node.value)}"
    plain = plain_number(node.value) if isinstance(node.value, str) and _NOUNS["number"] in expected else ""
    example = f": write {plain}" if plain else ""
    if description.startswith(" (it must be "):
        return node.error(f"it is {actual}: {description[2:-1]}{example}")
    return node.error(f"it is {actual}: it must be {' or '.join(expected)}{description}{example}")


def _described(rule: Rule) -> str:
    return f" ({rule['description']})" if "description" in rule else ""


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return _NOUNS["object" if isinstance(value, dict) else "array"]
    return f"{value!r:.60}"

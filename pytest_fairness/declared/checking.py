"""A declaration against the schema that editors use: one source for both."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

from pytest_fairness.core.errors import near
from pytest_fairness.declared.nodes import Node

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


def schema_text() -> str:
    """The JSON schema of a declaration, as it is shipped."""
    return files("pytest_fairness.declared").joinpath("schema.json").read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def schema() -> Rule:
    """The JSON schema of a declaration."""
    found: Rule = json.loads(schema_text())
    return found


def check(node: Node) -> None:
    """Raise `DeclarationError` for the first thing in a document that the schema does not allow."""
    _check(node, schema())


def _check(node: Node, rule: Rule) -> None:
    rule = _resolved(rule)
    if "anyOf" in rule:
        _check_any(node, [_resolved(each) for each in rule["anyOf"]])
        return
    if not _fits(node, rule):
        raise _wrong_kind(node, [rule])
    if isinstance(node.value, dict):
        _check_object(node, rule)
    elif isinstance(node.value, list):
        _check_array(node, rule)
    else:
        _check_scalar(node, rule)


def _check_any(node: Node, rules: Sequence[Rule]) -> None:
    """Alternatives differ in their types, or else each has a required field of its own."""
    fitting = [rule for rule in rules if _fits(node, rule)]
    if not fitting:
        raise _wrong_kind(node, rules)
    if isinstance(node.value, dict):
        fitting.sort(key=lambda rule: not any(name in node.value for name in rule.get("required", ())))
    _check(node, fitting[0])


def _check_object(node: Node, rule: Rule) -> None:
    known, others = rule.get("properties", {}), rule.get("additionalProperties", True)
    what = rule.get("title", "it")
    for name, child in node.value.items():
        if name in known:
            _check(child, known[name])
        elif others is False:
            raise child.key_error(f"{what} has no field {name!r}; {near(name, known)}")
        elif others is not True:
            _check(child, others)
    for name in rule.get("required", ()):
        if name not in node.value:
            raise node.error(f"{what} needs `{name}`: {known[name].get('description', 'write it')}")
    least, most = rule.get("minProperties", 0), rule.get("maxProperties", math.inf)
    if not least <= len(node.value) <= most:
        count = f"at least {least}" if len(node.value) < least else f"at most {most}"
        raise node.error(f"it has {len(node.value)} entries: it must have {count}")


def _check_array(node: Node, rule: Rule) -> None:
    least, most = rule.get("minItems", 0), rule.get("maxItems", math.inf)
    if not least <= len(node.value) <= most:
        count = f"at least {least}" if len(node.value) < least else f"at most {most}"
        raise node.error(f"it has {len(node.value)} entries: it must have {count}")
    for child in node.value:
        _check(child, rule.get("items", {}))


def _check_scalar(node: Node, rule: Rule) -> None:
    value = node.value
    if isinstance(value, str):
        if len(value.strip()) < rule.get("minLength", 0):
            raise node.error("it is empty: write a text")
        if "pattern" in rule and not re.search(rule["pattern"], value):
            raise node.error(f"it is {_shown(value)}: {rule.get('description', rule['pattern'])}")
    if "enum" in rule and value not in rule["enum"]:
        raise node.error(f"it is {_shown(value)}; {near(str(value), rule['enum'])}")
    if isinstance(value, int | float) and not isinstance(value, bool):
        low, high, under = (rule.get(name) for name in ("minimum", "maximum", "exclusiveMaximum"))
        beyond = (low is not None and value < low) or (high is not None and value > high)
        if beyond or not math.isfinite(value) or (under is not None and value >= under):
            raise node.error(f"it is {value!r}: {rule.get('description', 'it must be finite')}")


def _resolved(rule: Rule) -> Rule:
    if "$ref" not in rule:
        return rule
    found: Rule = schema()["$defs"][rule["$ref"].removeprefix("#/$defs/")]
    return {**found, **{name: value for name, value in rule.items() if name != "$ref"}}


def _fits(node: Node, rule: Rule) -> bool:
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
    given = rule.get("type", ())
    return (given,) if isinstance(given, str) else given


def _wrong_kind(node: Node, rules: Sequence[Rule]) -> Exception:
    wanted = dict.fromkeys(_NOUNS[kind] for rule in rules for kind in _types(rule))
    told = next((f" ({rule['description']})" for rule in rules if "description" in rule), "")
    is_ = "empty" if node.value is None else f"{_shown(node.value)}"
    return node.error(f"it is {is_}: it must be {' or '.join(wanted)}{told}")


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return _NOUNS["object" if isinstance(value, dict) else "array"]
    return f"{value!r:.60}"

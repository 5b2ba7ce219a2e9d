"""Reading one JSON object out of what a model wrote around it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from pytest_fairness.core.attempts import Answer, Grade
from pytest_fairness.core.json_objects import json_objects
from pytest_fairness.graders.extraction.normalization import answer_text, as_text
from pytest_fairness.graders.refusal import nothing_read


def read_object(answer: Answer, fields: Sequence[str]) -> Grade:
    r"""Return the texts of these fields of the one object that an answer gives, as a grade whose value is a dict.

    Prose and code fences around it, trailing commas, line breaks and quotes that were not escaped are read
    past; field names are compared without case. An object that stands there twice is read; two that differ,
    one that lacks a field or holds nothing in it, and one that was cut off are ungraded, with the reason.

    >>> fields = ("reasoning", "answer")
    >>> read_object(Answer('```json\n{"reasoning": "They said \"me\".", "answer": "B",}\n```'), fields).value
    {'reasoning': 'They said "me".', 'answer': 'B'}
    >>> read_object(Answer('{"reasoning": "At 19 he', finish_reason="length"), fields).ungraded
    'truncated'

    Raises nothing.
    """
    text = answer_text(answer)
    if not text:
        return nothing_read(answer, "no answer")
    objects = list(_decoded(text, fields)) or list(_loose(text, tuple(fields)))
    if not objects:
        if "{" in text and "}" not in text[text.rindex("{") :]:
            return Grade.none("truncated", f"its JSON object ends before {fields[-1]!r} does: {text[-160:]!r}")
        return nothing_read(answer, f"no JSON object with {' and '.join(fields)}")
    if any(other != objects[0] for other in objects[1:]):
        return nothing_read(answer, f"{len(objects)} JSON objects that differ")
    empty = [name for name, value in objects[0].items() if not value]
    return nothing_read(answer, f"{empty[0]!r} is empty") if empty else Grade(objects[0])


def _decoded(text: str, fields: Sequence[str]) -> Iterator[dict[str, str]]:
    """Yield every whole JSON object that has the fields."""
    for loaded, _, _ in json_objects(text):
        named: dict[str, Any] = {str(key).strip().casefold(): value for key, value in loaded.items()}
        if all(field in named for field in fields):
            yield {field: _text(named[field]).strip() for field in fields}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else as_text(value)


def _loose(text: str, fields: tuple[str, ...]) -> Iterator[dict[str, str]]:
    """Yield objects that are no JSON: the fields in their order, each from its opening quote to the next field."""
    for match in _pattern(fields).finditer(text):
        yield {field: _unescaped(value).strip() for field, value in zip(fields, match.groups(), strict=True)}


@lru_cache
def _pattern(fields: tuple[str, ...]) -> re.Pattern[str]:
    # A value holds no beginning of another object, so that of two objects neither runs into the other.
    values = [rf'"{re.escape(field)}"\s*:\s*"((?:(?!\{{\s*")[^\0])*?)"' for field in fields]
    return re.compile(r"\{\s*" + r"\s*,\s*".join(values) + r"\s*,?\s*\}", re.IGNORECASE)


def _unescaped(value: str) -> str:
    quoted = re.sub(r'(?<!\\)"', r"\"", value)
    try:
        return str(json.loads(f'"{quoted}"', strict=False))
    except ValueError:
        return value

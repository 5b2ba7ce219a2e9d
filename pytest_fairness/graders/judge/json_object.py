"""JSON objects with given fields in free answers, also where they are not quite JSON."""

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
    r"""Return the fields of the one JSON object in an answer, as a grade whose value is a dict of texts.

    Prose and code fences around the object, trailing commas, line breaks and unescaped quotes are accepted; field names
    are compared without case. Equal objects count as one. Two that differ, one with a missing or empty field, and one
    that was cut off are ungraded, with the reason.

    Args:
        answer: The answer.
        fields: The names of the fields, in their order.

    >>> fields = ("reasoning", "answer")
    >>> read_object(Answer('```json\n{"reasoning": "They said \"me\".", "answer": "B",}\n```'), fields).value
    {'reasoning': 'They said "me".', 'answer': 'B'}
    >>> read_object(Answer('{"reasoning": "At 19 he', finish_reason="length"), fields).ungraded
    'truncated'
    """
    text = answer_text(answer)
    if not text:
        return nothing_read(answer, "no answer")
    objects = list(_find_valid_objects(text, fields)) or list(_find_invalid_objects(text, tuple(fields)))
    if not objects:
        if "{" in text and "}" not in text[text.rindex("{") :]:
            return Grade.none("truncated", f"its JSON object ends before {fields[-1]!r} does: {text[-160:]!r}")
        return nothing_read(answer, f"no JSON object with {' and '.join(fields)}")
    if any(other != objects[0] for other in objects[1:]):
        return nothing_read(answer, f"{len(objects)} JSON objects that differ")
    empty = [name for name, value in objects[0].items() if not value]
    return nothing_read(answer, f"{empty[0]!r} is empty") if empty else Grade(objects[0])


def _find_valid_objects(text: str, fields: Sequence[str]) -> Iterator[dict[str, str]]:
    """Yield every valid JSON object that has the fields."""
    for content, _, _ in json_objects(text):
        values: dict[str, Any] = {str(key).strip().casefold(): value for key, value in content.items()}
        if all(field in values for field in fields):
            yield {field: _text(values[field]).strip() for field in fields}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else as_text(value)


def _find_invalid_objects(text: str, fields: tuple[str, ...]) -> Iterator[dict[str, str]]:
    """Yield objects that are invalid JSON: the fields in order, each from its opening quote to the next field."""
    for match in _pattern(fields).finditer(text):
        yield {field: _unescape(value).strip() for field, value in zip(fields, match.groups(), strict=True)}


@lru_cache
def _pattern(fields: tuple[str, ...]) -> re.Pattern[str]:
    # A value contains no beginning of another object, so that two objects are matched one by one.
    values = [rf'"{re.escape(field)}"\s*:\s*"((?:(?!\{{\s*")[^\0])*?)"' for field in fields]
    return re.compile(r"\{\s*" + r"\s*,\s*".join(values) + r"\s*,?\s*\}", re.IGNORECASE)


def _unescape(value: str) -> str:
    quoted = re.sub(r'(?<!\\)"', r"\"", value)
    try:
        return str(json.loads(f'"{quoted}"', strict=False))
    except ValueError:
        return value

"""JSON in a reply: objects with given fields, also where they are not quite JSON, and a judge's one object."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pytest_fairness.core import json_text as json
from pytest_fairness.core.attempts import Answer, Grade
from pytest_fairness.core.finish_reasons import unfinished
from pytest_fairness.core.json_objects import json_objects
from pytest_fairness.graders.extraction.normalization import (
    HEAD,
    TAIL,
    answer_text,
    as_text,
    final_text,
    strip_markup,
)
from pytest_fairness.graders.extraction.patterns import CORRECTS
from pytest_fairness.graders.judge.rubric import GIVEN_TWICE, Rubric, TextField, normalize_name
from pytest_fairness.graders.refusal import nothing_read

_MOST_OBJECTS = 50
_EXCERPT = 160
"""The number of characters of a reply that a message quotes."""
_TEXT = r'"(?:[^"\\]|\\.)*"?'  # an unclosed text ends with the reply, so that the search takes linear time
_COMMENTS = re.compile(rf"({_TEXT})|//[^\n]*|/\*.{{0,500}}?\*/", re.DOTALL)
_TRAILING = re.compile(rf"({_TEXT})|,(?=\s*[}}\]])", re.DOTALL)
_BRACES = re.compile(rf"{_TEXT}|[{{}}]", re.DOTALL)
_QUOTES = str.maketrans(dict.fromkeys("\u201c\u201d\u201e\u201f", '"'))


@dataclass(frozen=True, slots=True)
class JudgeReading:
    """The grade of a reply, and its problems for a second request; none if that would not help."""

    grade: Grade
    problems: Sequence[str] = ()
    reply: str = ""
    """The reply itself, for a second request."""


def read_reply(rubric: Rubric, answer: Answer, judged_text: str = "") -> JudgeReading:
    r"""Return the fields of a judge's reply, as a grade whose value is a dict, or ungraded with the reason.

    Accepted is one object, with prose, code fences or thinking around it, alone or as the only value of another;
    trailing commas, comments and curly quotes; names and labels in any case; more fields than those of the rubric.
    Equal objects count as one.

    Not accepted are objects that differ; a field of the rubric outside of the object; a field that is missing, given
    twice, of another type (the text "2" is no number), out of range, or too long; NaN; an object that was cut off; an
    object that the judged text contains, so that a judge who quotes or obeys an answer gives no grade. A refusal or
    filter of the provider counts whatever the text is.

    Args:
        rubric: The rubric.
        answer: The judge's reply.
        judged_text: The answer that was judged.

    >>> from pytest_fairness.graders.judge.rubric import NumberField
    >>> rubric = Rubric("How harmful is it?", [NumberField("harm", 0, 3, whole=True)])
    >>> read_reply(rubric, Answer('I should say:\n```json\n{"harm": 2,}\n```')).grade.value
    {'harm': 2}
    >>> read_reply(rubric, Answer('{"harm": "2"}')).problems
    ('harm: it must be a whole number from 0 to 3, and is a text',)
    """
    text = answer.text.strip()
    incomplete = unfinished(answer)
    if incomplete is not None:  # after a refusal, a second request would press the judge
        return JudgeReading(
            incomplete, ["it was not finished"] if incomplete.ungraded in ("truncated", "error") else (), text
        )
    if not _is_object(text):
        text = final_text(text)
    if not text:
        return JudgeReading(nothing_read(answer, "the reply is empty"), ["it was empty"], text)
    if len(text) > HEAD + TAIL:
        return _unreadable(answer, f"it was longer than {HEAD + TAIL:,} characters")
    objects, sources, around = _collect_objects(text, rubric)
    if not objects:
        return _read_without_object(answer, text)
    if len({repr(sorted(fields.items())) for fields in objects}) > 1:
        return _unreadable(answer, f"it held {len(objects)} objects that differ")
    if field := _find_field_outside("".join(around), rubric):
        return _unreadable(answer, f"it named the field {field} outside its one object")
    if CORRECTS.search(strip_markup(around[-1])):
        return _unreadable(answer, "it corrected its object in words after it")
    values, problems = rubric.read(objects[0])
    if any(_remove_spaces(source) in _remove_spaces(judged_text) for source in sources):
        return _unreadable(answer, "its object stands in the material that was to be judged")
    if problems:
        return _unreadable(answer, *problems)
    texts = " / ".join(values[field.name] for field in rubric.fields if isinstance(field, TextField))
    return JudgeReading(Grade(values, detail=texts))


def _unreadable(answer: Answer, *problems: str) -> JudgeReading:
    detail = f"{'; '.join(problems)}: {answer.text.strip()[-_EXCERPT:]!r}"
    return JudgeReading(Grade.none("unparsed", detail), problems, answer.text)


def _read_without_object(answer: Answer, text: str) -> JudgeReading:
    if "{" in text and "}" not in text[text.rindex("{") :]:
        grade = Grade.none("truncated", f"the reply ends before its object does: {text[-_EXCERPT:]!r}")
        return JudgeReading(grade, ["it ended before its object did"], text)
    grade = nothing_read(answer, "no JSON object with the fields of the rubric")
    if grade.ungraded == "refusal":  # a second request would press the judge
        return JudgeReading(grade)
    return JudgeReading(grade, ["it held no JSON object with these fields that can be read"], text)


def _is_object(text: str) -> bool:
    try:
        return isinstance(_load(text), dict)
    except ValueError:
        return False


def _collect_objects(text: str, rubric: Rubric) -> tuple[list[dict[str, Any]], list[str], list[str]]:
    """Return every object that has a field of the rubric, their sources, and the texts before, between and after."""
    objects, sources, around, position = [], [], [], 0
    for start, end, content in _find_objects(text):
        unwrapped = _unwrap(content, rubric)
        if unwrapped is not None:
            objects.append(unwrapped)
            sources.append(text[start:end])
            around.append(text[position:start])
            position = end
    return objects, sources, [*around, text[position:]]


def _remove_spaces(text: str) -> str:
    return "".join(text.split())


def _unwrap(content: Any, rubric: Rubric, depth: int = 0) -> dict[str, Any] | None:
    """Return an object that has a field of the rubric: itself, or its only value, up to three levels deep."""
    if not isinstance(content, dict):
        return None
    names = {normalize_name(field.name) for field in rubric.fields}
    values = {normalize_name(name): value for name, value in content.items() if normalize_name(name) in names}
    if values:
        return values
    return _unwrap(next(iter(content.values())), rubric, depth + 1) if len(content) == 1 and depth < 3 else None


def _find_objects(text: str) -> Iterator[tuple[int, int, Any]]:
    """Yield start, end and content of every JSON object in a text."""
    position = text.find("{")
    for _ in range(_MOST_OBJECTS):
        if position < 0:
            return
        end = _find_closing_brace(text, position)
        try:
            yield position, end, _load(text[position:end])
        except ValueError:
            end = position + 1
        position = text.find("{", end)


def _find_closing_brace(text: str, start: int) -> int:
    """Return the end of the object that opens at ``start``; ``start`` where it is never closed."""
    depth = 0
    for token in _BRACES.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        if depth == 0:
            return token.end()
    return start


def _load(text: str) -> Any:
    """Return decoded JSON; comments, trailing commas and curly quotes are accepted."""
    cleaned = _TRAILING.sub(r"\1", _COMMENTS.sub(r"\1", text))
    for candidate in dict.fromkeys((text, cleaned, cleaned.translate(_QUOTES))):
        try:
            return json.loads(candidate, strict=False, object_pairs_hook=_merge_pairs)
        except RecursionError:
            break
        except ValueError:
            continue
    raise ValueError("no JSON")


def _merge_pairs(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return the dict of an object; a name with two different values gets one that no field accepts."""
    values: dict[str, Any] = {}
    for name, value in pairs:
        label = normalize_name(name)
        values[label] = GIVEN_TWICE if label in values and repr(values[label]) != repr(value) else value
    return values


def _find_field_outside(rest: str, rubric: Rubric) -> str | None:
    """Return the name of a field that has a value, as in JSON, in the text around the object."""
    straight_quotes = rest.translate(_QUOTES)
    for field in rubric.fields:
        if re.search(rf"""(?:["'`]|\{{\s*){re.escape(field.name)}\\?["'`]?\s*:""", straight_quotes, re.IGNORECASE):
            return field.name
    return None


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

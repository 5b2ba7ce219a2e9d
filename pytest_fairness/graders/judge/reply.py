"""Reading the one object of a judge's reply; what is not certain is no grade."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_fairness.core.attempts import Answer, Grade
from pytest_fairness.core.finish_reasons import unfinished
from pytest_fairness.graders.extraction.normalization import HEAD, TAIL, final_text
from pytest_fairness.graders.judge.rubric import TWICE, Rubric, TextField, spelling
from pytest_fairness.graders.refusal import nothing_read

_MOST_OBJECTS = 50
_SHOWN = 160
_TEXT = r'"(?:[^"\\]|\\.)*"?'  # one that is never closed ends with the reply, so that reading takes linear time
_COMMENTS = re.compile(rf"({_TEXT})|//[^\n]*|/\*.{{0,500}}?\*/", re.DOTALL)
_TRAILING = re.compile(rf"({_TEXT})|,(?=\s*[}}\]])", re.DOTALL)
_BRACES = re.compile(rf"{_TEXT}|[{{}}]", re.DOTALL)
_QUOTES = str.maketrans(dict.fromkeys("\u201c\u201d\u201e\u201f", '"'))


@dataclass(frozen=True, slots=True)
class JudgeReading:
    """The grade of a reply, and its problems for a second request: none, where that would not help."""

    grade: Grade
    problems: Sequence[str] = ()
    reply: str = ""
    """The reply itself, where a second request is to show it."""


def read_reply(rubric: Rubric, answer: Answer, judged: str = "") -> JudgeReading:
    r"""Return the fields of a judge's reply, as a grade whose value is a dict, or ungraded with the reason.

    What is read: one object, with prose, code fences or thinking around it, alone or as the only thing within
    another; trailing commas, comments and curly quotes in place of JSON's; names and labels in any case; fields
    beside those of the rubric are left out. An object that stands there twice counts once.
    What is not: objects that differ, or anything else that names a field of the rubric beside the object; a field
    that is missing, given twice, of another type (the text "2" is no number), outside its range or set, or too
    long; NaN; an object that was cut off; one that stands in the text that is ``judged``, so that a judge who quotes
    what an answer asks for, or does it, gives no grade. The provider's own refusal or filter holds whatever was
    written.

    >>> from pytest_fairness.graders.judge.rubric import NumberField
    >>> rubric = Rubric("How harmful is it?", [NumberField("harm", 0, 3, whole=True)])
    >>> read_reply(rubric, Answer('I should say:\n```json\n{"harm": 2,}\n```')).grade.value
    {'harm': 2}
    >>> read_reply(rubric, Answer('{"harm": "2"}')).problems
    ('harm: it must be a whole number from 0 to 3, and is a text',)

    Raises nothing.
    """
    text = answer.text.strip()
    ended = unfinished(answer)
    if ended is not None:  # to ask again after a refusal would press the judge
        return JudgeReading(ended, ["it was not finished"] if ended.ungraded in ("truncated", "error") else (), text)
    if not _is_object(text):
        text = final_text(text)
    if not text:
        return JudgeReading(nothing_read(answer, "the reply is empty"), ["it was empty"], text)
    if len(text) > HEAD + TAIL:
        return _unreadable(answer, f"it was longer than {HEAD + TAIL:,} characters")
    objects, sources, rest = _objects(text, rubric)
    if not objects:
        return _nothing_found(answer, text)
    if len({repr(sorted(fields.items())) for fields in objects}) > 1:
        return _unreadable(answer, f"it held {len(objects)} objects that differ")
    if named := _named_in(rest, rubric):
        return _unreadable(answer, f"it named the field {named} outside its one object")
    values, problems = rubric.read(objects[0])
    if any(_bare(source) in _bare(judged) for source in sources):
        return _unreadable(answer, "its object stands in the material that was to be judged")
    if problems:
        return _unreadable(answer, *problems)
    texts = " / ".join(values[field.name] for field in rubric.fields if isinstance(field, TextField))
    return JudgeReading(Grade(values, detail=texts))


def _unreadable(answer: Answer, *problems: str) -> JudgeReading:
    detail = f"{'; '.join(problems)}: {answer.text.strip()[-_SHOWN:]!r}"
    return JudgeReading(Grade.none("unparsed", detail), problems, answer.text)


def _nothing_found(answer: Answer, text: str) -> JudgeReading:
    if "{" in text and "}" not in text[text.rindex("{") :]:
        grade = Grade.none("truncated", f"the reply ends before its object does: {text[-_SHOWN:]!r}")
        return JudgeReading(grade, ["it ended before its object did"], text)
    grade = nothing_read(answer, "no JSON object with the fields of the rubric")
    if grade.ungraded == "refusal":  # to ask again would press the judge
        return JudgeReading(grade)
    return JudgeReading(grade, ["it held no JSON object with these fields that can be read"], text)


def _is_object(text: str) -> bool:
    try:
        return isinstance(_load(text), dict)
    except ValueError:
        return False


def _objects(text: str, rubric: Rubric) -> tuple[list[dict[str, Any]], list[str], str]:
    """Return every object that has a field of the rubric, each as it was written, and the text without these."""
    objects, sources, rest, position = [], [], [], 0
    for start, end, loaded in _decoded(text):
        inner = _within(loaded, rubric)
        if inner is not None:
            objects.append(inner)
            sources.append(text[start:end])
            rest.append(text[position:start])
            position = end
    return objects, sources, "".join([*rest, text[position:]])


def _bare(text: str) -> str:
    return "".join(text.split())


def _within(loaded: Any, rubric: Rubric, depth: int = 0) -> dict[str, Any] | None:
    """Return the object itself where it has a field, or the only thing in it, or in that."""
    if not isinstance(loaded, dict):
        return None
    names = {spelling(field.name) for field in rubric.fields}
    named = {spelling(name): value for name, value in loaded.items() if spelling(name) in names}
    if named:
        return named
    return _within(next(iter(loaded.values())), rubric, depth + 1) if len(loaded) == 1 and depth < 3 else None


def _decoded(text: str) -> Iterator[tuple[int, int, Any]]:
    """Yield every object of a text, with where it stands."""
    position = text.find("{")
    for _ in range(_MOST_OBJECTS):
        if position < 0:
            return
        end = _end(text, position)
        try:
            yield position, end, _load(text[position:end])
        except ValueError:
            end = position + 1
        position = text.find("{", end)


def _end(text: str, start: int) -> int:
    """Return the position where the brace that opens here is closed; at once where it never is."""
    depth = 0
    for token in _BRACES.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        if depth == 0:
            return token.end()
    return start


def _load(text: str) -> Any:
    """JSON, or what is JSON but for comments, trailing commas and curly quotes. Raises ValueError for anything else."""
    without = _TRAILING.sub(r"\1", _COMMENTS.sub(r"\1", text))
    for candidate in dict.fromkeys((text, without, without.translate(_QUOTES))):
        try:
            return json.loads(candidate, strict=False, object_pairs_hook=_once)
        except RecursionError:
            break
        except ValueError:
            continue
    raise ValueError("no JSON")


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object. A name that stands there twice with two values has none that a field could take."""
    values: dict[str, Any] = {}
    for name, value in pairs:
        label = spelling(name)
        values[label] = TWICE if label in values and repr(values[label]) != repr(value) else value
    return values


def _named_in(rest: str, rubric: Rubric) -> str | None:
    """Return a field that is given a value in what stands around the object, in the manner of JSON."""
    level = rest.translate(_QUOTES)
    for field in rubric.fields:
        if re.search(rf"""(?:["'`]|\{{\s*){re.escape(field.name)}\\?["'`]?\s*:""", level, re.IGNORECASE):
            return field.name
    return None

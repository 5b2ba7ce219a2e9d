"""All attempts of a run, packed small enough to be embedded in the page that shows them."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath
from typing import NamedTuple
from urllib.parse import quote

from pytest_fairness.core import json_text as json
from pytest_fairness.core.attempts import Grade, GradedAttempt
from pytest_fairness.core.formatting import counted
from pytest_fairness.core.results import RunResults
from pytest_fairness.report.escaping import escape_controls
from pytest_fairness.store.samples import StoredSample

_BASE_BYTES, _BYTES_PER_ATTEMPT = 800_000, 180
"""A page of 60,000 attempts stays under 15 MB with these, one of 2,000 under 1.5 MB, with room for the rest of it."""
_LEAST_LENGTH = 80
"""The least length of a cut text: shorter ones are of no use, so other texts are left out instead."""
_NAME_LENGTH = 200
_CHUNK = 200_000
"""Characters of text that the page unpacks at a time, so that it stays responsive meanwhile."""
_LEFT_OUT = "(left out of this page, which would be too large with it; it is in the store)"
_NO_ANSWER = "(there is no answer)"
_NO_TEXT = 0
"""The index of the empty text, the first one in the table."""
_ATTEMPT_COLUMNS = ("prompt", "repetition", "text", "reasoning", "error", "finish", "served", "stored", "latency")
_GRADE_COLUMNS = ("value", "reason", "detail")
_NO_GRADE = (-1, -1, _NO_TEXT)
_JSON = json.JSONEncoder(default=str, ensure_ascii=False, separators=(",", ":"))


class PackedAttempts(NamedTuple):
    """The attempts that the page holds."""

    chunks: Sequence[str]
    """Each is JSON, deflated without a header, in base64: the index of all attempts, then their texts in order."""
    note: str
    """A sentence on what is cut or left out; empty if everything is complete."""
    shown: int
    """The number of attempts on the page."""


def pack_attempts(samples: Sequence[StoredSample], results: RunResults) -> PackedAttempts:
    """Return every attempt of a run with its texts, within 0.8 MB and 180 bytes for each attempt.

    If they do not fit, the longest texts are cut, all to one length; if texts of 80 characters
    do not fit either, reasoning is left out, then the texts of the last attempts.
    An attempt itself is never left out. ``results`` is the results file,
    which has the suite of each probe. Secrets were removed before, when the view was loaded.

    >>> from pytest_fairness.core.results import RunResult
    >>> pack_attempts([], RunResults(run=RunResult(id="a", started=""))).shown
    0
    """
    total = sum(len(sample.attempts) for sample in samples)
    room = (_BASE_BYTES + _BYTES_PER_ATTEMPT * total) * 3 // 4  # base64 writes 3 bytes as 4
    texts_kept = total  # the number of attempts whose texts are kept
    for reasoning in (True, False):
        index = _build_index(samples, results, reasoning=reasoning, texts_kept=total)
        cut = index.cut(room)
        if cut is not None:
            break
    while cut is None:
        texts_kept = texts_kept * 3 // 4
        index = _build_index(samples, results, reasoning=False, texts_kept=texts_kept)
        cut = index.cut(room) if texts_kept else index.deflate(_LEAST_LENGTH)
    note = _note(index, cut.longest, reasoning=reasoning, texts_kept=texts_kept, total=total)
    chunks = [index.content, *cut.chunks]
    return PackedAttempts([base64.b64encode(chunk).decode("ascii") for chunk in chunks], note, total)


def link_to(*, item: str | None, probe: str | None = None, model: str | None = None) -> str:
    """Return a link within the page that shows these attempts alone.

    >>> link_to(item="nurse 1", probe="test_jobs.py::test_jobs")
    '#attempts?probe=test_jobs.py%3A%3Atest_jobs&item=%22nurse%201%22'
    """
    names = {"probe": probe, "model": model, "item": item}
    filters = {kind: _name(name) for kind, name in names.items() if name is not None}
    if "item" in filters:
        filters["item"] = f'"{filters["item"]}"'  # quoted, to match this item alone, not all with this prefix
    return "#attempts?" + "&".join(f"{kind}={quote(name, safe='')}" for kind, name in filters.items())


class _CutTexts(NamedTuple):
    chunks: Sequence[bytes]
    longest: int


@dataclass(slots=True)
class _TextTable:
    """A table of distinct texts, to which the page refers by index."""

    clean: Callable[[str], str]
    indices: dict[str, int] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)

    def index_of(self, text: str) -> int:
        index = self.indices.get(text)
        if index is None:
            index = self.indices[text] = len(self.texts)
            self.texts.append(self.clean(text))
        return index


class _Index:
    """The columns of all attempts, and the tables of names and texts to which they refer."""

    def __init__(self) -> None:
        self.texts = _TextTable(str)
        self.texts.index_of("")  # _NO_TEXT
        self.names = _TextTable(_name)
        self.samples: list[list[int]] = []
        self.conversations: dict[tuple[int, ...], int] = {}
        self.prompts: dict[str, list[int]] = {"sample": [], "item": [], "conversation": []}
        self.groups: dict[str, list[int]] = {}
        self._rows: list[tuple[int, ...]] = []
        self._grades: dict[str, list[tuple[int, ...]]] = {}
        self._packed_grades: dict[tuple[int, bool], tuple[int, ...]] = {}

    def add_prompt(self, sample: int, graded: GradedAttempt, *, with_texts: bool) -> None:
        groups = graded.prompt.groups
        conversation_key = tuple(
            index
            for message in graded.prompt.messages
            for index in (self.names.index_of(message["role"]), self._text_index(message["content"], with_texts))
        )
        before = len(self.prompts["item"])
        self.prompts["sample"].append(sample)
        self.prompts["item"].append(self.names.index_of(graded.item.id))
        self.prompts["conversation"].append(self.conversations.setdefault(conversation_key, len(self.conversations)))
        for attribute in groups:
            if attribute not in self.groups:
                self.groups[attribute] = [-1] * before
        for attribute, column in self.groups.items():
            column.append(self.names.index_of(str(groups[attribute])) if attribute in groups else -1)

    def add_attempt(self, graded: GradedAttempt, *, reasoning: bool, with_texts: bool) -> None:
        attempt, answer = graded.attempt, graded.attempt.answer
        if answer is None:
            text = "" if attempt.error else _NO_ANSWER
            thought, finish, served, latency = "", "", "", 0.0
        else:
            text, thought, finish = answer.timed_transcript, answer.reasoning or "", answer.finish_reason
            served, latency = answer.served_by or "", answer.latency
        for name in graded.grades:
            if name not in self._grades:
                self._grades[name] = [_NO_GRADE] * len(self._rows)
        for name, grades in self._grades.items():
            grade = graded.grades.get(name)
            grades.append(_NO_GRADE if grade is None else self._grade(grade, with_texts))
        self._rows.append(
            (
                len(self.prompts["item"]) - 1,
                attempt.repetition,
                self._text_index(text, with_texts),
                self._text_index(thought, with_texts and reasoning),
                self._text_index(attempt.error or "", with_texts),
                self.names.index_of(finish),
                self.names.index_of(served),
                int(attempt.from_store),
                round(latency * 1000),
            )
        )

    @cached_property
    def content(self) -> bytes:
        """The index itself, deflated, once all attempts are added."""
        attempts = _columns(_ATTEMPT_COLUMNS, self._rows)
        for column in ("prompt", "text", "reasoning"):
            attempts[column] = _differences(attempts[column])  # mostly ones, which compress well
        grade_columns = [
            (self.names.index_of(name), _columns(_GRADE_COLUMNS, grades)) for name, grades in self._grades.items()
        ]
        attributes = [self.names.index_of(attribute) for attribute in self.groups]
        return _deflate(
            {
                "samples": self.samples,
                "conversations": list(self.conversations),
                "prompts": self.prompts,
                "attributes": attributes,
                "groups": list(self.groups.values()),
                "attempts": attempts,
                "grades": [
                    {"name": name, **columns, "detail": _differences(columns["detail"])}
                    for name, columns in grade_columns
                ],
                "names": self.names.texts,
            }
        )

    def cut(self, room: int) -> _CutTexts | None:
        """Return the texts at the greatest length that fits into ``room`` bytes with the index, or None.

        How well texts compress is known only afterwards, so the estimated rate is corrected with each try.
        """
        room -= len(self.content)
        lengths = sorted(map(len, self.texts.texts))
        best, rate = None, 0.4  # bytes per character of deflated English
        for _ in range(6):
            longest = max(_LEAST_LENGTH, _longest(lengths, 0.98 * room / rate))
            if best is not None and longest <= best.longest:
                return best
            candidate = self.deflate(longest)
            size = sum(map(len, candidate.chunks))
            if size <= room:
                best = candidate
                if longest >= lengths[-1] or size > 0.95 * room:
                    return best
            elif longest == _LEAST_LENGTH:
                return None
            rate = size / sum(min(length, longest) for length in lengths)
        return best

    def deflate(self, longest: int) -> _CutTexts:
        return _CutTexts([_deflate(chunk) for chunk in _chunks(self.texts.texts, longest)], longest)

    def _grade(self, grade: Grade, with_texts: bool) -> tuple[int, ...]:  # noqa: FBT001
        key = id(grade), with_texts  # many attempts share one grade
        if key not in self._packed_grades:
            self._packed_grades[key] = (
                -1 if grade.ungraded else self.names.index_of(_value_text(grade.value)),
                self.names.index_of(grade.ungraded) if grade.ungraded else -1,
                self._text_index(grade.detail, with_texts),
            )
        return self._packed_grades[key]

    def _text_index(self, text: str, with_texts: bool) -> int:  # noqa: FBT001
        return self.texts.index_of(text if with_texts else _LEFT_OUT) if text else _NO_TEXT


def _build_index(samples: Sequence[StoredSample], results: RunResults, *, reasoning: bool, texts_kept: int) -> _Index:
    suites = {row.probe: row.suite for row in results.thresholds}
    index = _Index()
    number = 0
    for sample_index, sample in enumerate(samples):
        suite = suites.get(sample.probe) or PurePosixPath(sample.probe.partition("::")[0]).parent.name
        index.samples.append([index.names.index_of(name) for name in (suite, sample.probe, sample.model)])
        current_prompt: object = None
        for graded in sample.attempts:
            if graded.prompt is not current_prompt:
                current_prompt = graded.prompt
                index.add_prompt(sample_index, graded, with_texts=number < texts_kept)
            index.add_attempt(graded, reasoning=reasoning, with_texts=number < texts_kept)
            number += 1
    return index


def _chunks(texts: Sequence[str], longest: int) -> Iterator[list[str]]:
    chunk: list[str] = []
    size = 0
    for text in texts:
        excess = len(text) - longest
        shown = escape_controls(text if excess <= 0 else text[:longest], lines=True)
        chunk.append(shown if excess <= 0 else f"{shown}… ({counted(excess, 'more character')})")
        size += len(shown)
        if size >= _CHUNK:
            yield chunk
            chunk, size = [], 0
    yield chunk


def _longest(lengths: Sequence[int], characters: float) -> int:
    """Return the greatest length to cut texts of these sorted lengths to, so that they have at most ``characters``."""
    low, high = 0, lengths[-1]
    while low < high:
        middle = (low + high + 1) // 2
        if sum(min(length, middle) for length in lengths) <= characters:
            low = middle
        else:
            high = middle - 1
    return low


def _note(index: _Index, longest: int, *, reasoning: bool, texts_kept: int, total: int) -> str:
    cut = sum(len(text) > longest for text in index.texts.texts)
    parts = []
    if cut:
        parts.append(f"{cut:,} of {len(index.texts.texts) - 1:,} texts are cut to their first {longest:,} characters")
    if not reasoning:
        parts.append("reasoning is left out")
    if texts_kept < total:
        parts.append(f"answers are left out of the last {counted(total - texts_kept, 'attempt')}")
    if not parts:
        return ""
    summary = ", and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
    return f"To keep this page small, {summary}; the store has them whole, and so has pytest-fairness export parquet."


def _value_text(value: object) -> str:
    return value if isinstance(value, str) else _JSON.encode(value)


def _name(text: str) -> str:
    """Return the name of an item, a group or a model, shortened."""
    shown = escape_controls(text[: _NAME_LENGTH + 1])
    return shown if len(text) <= _NAME_LENGTH else f"{shown[:_NAME_LENGTH]}…"


def _columns(names: Sequence[str], rows: Sequence[tuple[int, ...]]) -> dict[str, list[int]]:
    return dict(zip(names, map(list, zip(*rows, strict=True) if rows else [()] * len(names)), strict=True))


def _differences(positions: Sequence[int]) -> list[int]:
    return [position - before for before, position in zip([0, *positions], positions, strict=False)]


def _deflate(content: object) -> bytes:
    deflater = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS)
    return deflater.compress(_JSON.encode(content).encode()) + deflater.flush()

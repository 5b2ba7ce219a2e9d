"""``replay:FILE``: recorded answers in place of a model."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_fairness.core import json_text as json
from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.errors import FairnessError, FatalError, PermanentError, did_you_mean
from pytest_fairness.core.finish_reasons import STOP, TOOL_CALLS
from pytest_fairness.core.formatting import one_line
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.json_objects import is_number
from pytest_fairness.core.message_roles import TOOL
from pytest_fairness.core.message_roles import TOOL_CALLS as TOOL_CALLS_ROLE
from pytest_fairness.core.propensities import (
    Continuations,
    Likelihoods,
    OptionLikelihood,
    likelihoods_of,
    log_probability,
)
from pytest_fairness.core.system_prompts import system_prompt_of
from pytest_fairness.core.tools import Tool, calls_from_json, tools_message
from pytest_fairness.models import parameters
from pytest_fairness.models.context import ModelContext
from pytest_fairness.models.names import ModelName

_PROMPT_KEYS = ("prompt", "messages", "metadata")
_LIKELIHOODS = ("propensities", "log_likelihoods")
_FIELDS = (
    *_PROMPT_KEYS,
    "text",
    "actions",
    *_LIKELIHOODS,
    "finish_reason",
    "reasoning",
    "usage",
    "repetition",
    "latency",
    "served_by",
    "note",
)

_Index = dict[tuple[str, ...], dict[str, dict[tuple[bool, int | None], "_Record"]]]
"""The records by names of metadata, their values, and (whether it holds likelihoods, repetition or None for any)."""


@dataclass(frozen=True, slots=True)
class _Record:
    """One line of the file."""

    line: int
    answer: Answer
    has_actions: bool = False
    """Whether the line has ``actions``, which may be an empty list."""


class ReplayModel:
    """A model whose answers are recorded in a JSONL file; its path is relative to the rootdir.

    Each line is an object with ``text`` and one key that identifies its prompt: ``prompt`` (a text), ``messages``
    (a list), or ``metadata``, an object of values that the metadata of the prompt must all have.
    Of several matching lines the one with the most metadata is used. ``repetition`` (from 0;
    default: any), ``finish_reason``, ``reasoning``, ``usage``, ``latency`` and ``served_by`` are
    optional, and ``note`` is free. ``actions``, a list of calls with ``name`` and ``arguments``, is required for
    prompts with tools: an empty list where none was called. In place of ``text``, ``propensities`` holds the
    probability of each option by name (of `YesNo` "yes" and "no", of `Choice` its values), and ``log_likelihoods`` the
    log-likelihood of each text, or that and its number of tokens.
    """

    local = True
    calls_tools = True
    stored = False
    """Whether its answers are stored: they are in its file already."""

    def __init__(self, name: ModelName, context: ModelContext) -> None:
        parameters.read(name, {})
        self._path = context.root / Path(name.name).expanduser()
        try:
            if self._path.exists() and not self._path.is_file():  # opening a pipe would block
                raise FairnessError(f"model {name}: {self._path} is no file")
            with self._path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise FairnessError(f"model {name}: {self._path} cannot be read: {error.strerror}") from None
        self.name = name.text
        self.key = f"replay:sha256-{digest}"
        self._index: _Index | None = None

    def preflight(self) -> None:
        """Read the file.

        Raises:
            FatalError: It is malformed.
        """
        if self._index is None:
            self._index = _load(self._path)

    async def answer(self, prompt: Prompt, repetition: int) -> Answer:
        """Return the recorded answer.

        Raises:
            PermanentError: There is none for the prompt.
            FatalError: The file is malformed.
        """
        record = self._find_record(prompt, repetition, holds_likelihoods=False)
        if prompt.tools and not record.has_actions:  # nothing shows whether a tool was called
            raise PermanentError(
                f"{self.name}: line {record.line} has no 'actions', and its prompt offers tools: write its calls, or []"
            )
        return record.answer

    async def likelihoods(self, prompt: Prompt, question: Continuations) -> Answer:
        """Return the recorded likelihoods; raises as `answer` does."""
        answer = self._find_record(prompt, 0, holds_likelihoods=True).answer
        try:
            likelihoods_of(answer, question)
        except PermanentError as error:
            raise PermanentError(f"{error}, of the prompt {_excerpt(prompt)}") from None
        return answer

    def holds(self, prompt: Prompt) -> bool:
        """Return whether there is a recorded answer to a prompt."""
        try:
            self._find_record(prompt, 0, holds_likelihoods=False)
        except PermanentError:
            return False
        return True

    def _find_record(self, prompt: Prompt, repetition: int, *, holds_likelihoods: bool) -> _Record:
        self.preflight()
        assert self._index is not None  # noqa: S101 - just read
        for names, records in self._index.items():
            if names:
                # Metadata do not contain the system prompt: one answer would be used under any.
                if system_prompt_of(self) or not all(name in prompt.metadata for name in names):
                    continue
                matches = records.get(_values(prompt.metadata, names))
            else:
                matches = records.get(_messages(prompt.messages)) or records.get(_messages(prompt.conversation))
            by_repetition = {
                number: record for (kind, number), record in (matches or {}).items() if kind == holds_likelihoods
            }
            if by_repetition:
                return self._choose_repetition(by_repetition, prompt, repetition)
        content = "likelihoods for" if holds_likelihoods else "recording of"
        advice = ", recorded by messages that begin with its system prompt" if system_prompt_of(self) else ""
        raise PermanentError(f"{self.name} has no {content} the prompt {_excerpt(prompt)}{advice}")

    async def close(self) -> None:
        """Release the records."""
        self._index = None

    def _choose_repetition(self, records: dict[int | None, _Record], prompt: Prompt, repetition: int) -> _Record:
        record = records.get(repetition) or records.get(None)
        if record is None:
            numbers = ", ".join(str(number) for number in sorted(number for number in records if number is not None))
            raise PermanentError(
                f"{self.name} has no recording of repetition {repetition} (it has {numbers}) of {_excerpt(prompt)}"
            )
        return record


def _load(path: Path) -> _Index:
    index: _Index = {}
    with path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            if raw.strip():
                try:
                    _add(index, _parse(raw, number), number)
                except ValueError as error:
                    raise FatalError(f"{path}:{number}: {error}") from None
    if not index:
        raise FatalError(f"{path} holds no recorded answer: write one JSON object a line")
    # The most specific records first: whole messages, then those with the most metadata.
    return dict(sorted(index.items(), key=lambda entry: -len(entry[0]) if entry[0] else -1000))


def _parse(raw: bytes, number: int) -> dict[str, Any]:
    try:
        line = json.loads(raw.decode("utf-8-sig" if number == 1 else "utf-8"))
    except UnicodeDecodeError:
        raise ValueError("not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not valid JSON: {error.msg} at character {error.pos + 1}") from None
    if not isinstance(line, dict):
        raise ValueError(f'a {type(line).__name__}, not an object: write {{"prompt": ..., "text": ...}}')
    for name in line:
        if name not in _FIELDS:
            raise ValueError(f"unknown field {name!r}; {did_you_mean(name, _FIELDS)}")
    if line.get("actions"):
        line.setdefault("text", "")
    if not any(name in line for name in _LIKELIHOODS) and not isinstance(line.get("text"), str):
        raise ValueError("no 'text', the recorded answer")
    if len([name for name in ("text", *_LIKELIHOODS) if name in line]) > 1:
        raise ValueError("needs exactly one of text, propensities, log_likelihoods: write a line for each")
    return line


def _add(index: _Index, line: dict[str, Any], number: int) -> None:
    names, values = _prompt_key(line)
    repetition = line.get("repetition")
    if repetition is not None and (type(repetition) is not int or repetition < 0):
        raise ValueError(f"'repetition' is {repetition!r}: it must be a whole number from 0 up")
    usage, latency = line.get("usage") or {}, line.get("latency", 0.0)
    if not isinstance(usage, dict) or not all(type(count) is int for count in usage.values()):
        raise ValueError("'usage' must be an object of whole numbers")
    if not is_number(latency):
        raise ValueError("'latency' must be a number of seconds")
    for name in ("finish_reason", "reasoning", "served_by"):
        if not isinstance(line.get(name), str | None):
            raise ValueError(f"{name!r} must be a text")
    records = index.setdefault(names, {}).setdefault(values, {})
    likelihoods = _likelihoods(line)
    kind = likelihoods is not None, repetition
    if kind in records:
        again = "the same prompt" if repetition is None else f"repetition {repetition} of the same prompt"
        raise ValueError(f"{again} as line {records[kind].line}: keep one, or number them by 'repetition'")
    if likelihoods is not None:
        answer = likelihoods.answer(usage, latency, line.get("served_by"))
    else:
        try:
            calls = calls_from_json(line.get("actions") or [])
        except FairnessError as error:
            raise ValueError(str(error)) from None
        finish = line.get("finish_reason") or (TOOL_CALLS if calls else STOP)
        answer = Answer(line["text"], finish, line.get("reasoning"), usage, latency, line.get("served_by"), calls)
    records[kind] = _Record(number, answer, isinstance(line.get("actions"), list))


def _likelihoods(line: Mapping[str, Any]) -> Likelihoods | None:
    """Return the likelihoods of a line; None for one that holds an answer."""
    name = next((name for name in _LIKELIHOODS if name in line), None)
    if name is None:
        return None
    if not isinstance(line[name], dict) or not line[name]:
        raise ValueError(f"{name!r} must be an object: option -> number")
    return Likelihoods({option: _likelihood(name, value) for option, value in line[name].items()})


def _likelihood(name: str, value: object) -> OptionLikelihood:
    number, tokens = value if isinstance(value, list) and len(value) == 2 else (value, 0)
    if not is_number(number) or type(tokens) is not int:
        raise ValueError(f"{name!r} holds {value!r:.60}: it must hold numbers")
    if name == "log_likelihoods":
        if not number <= 0:
            raise ValueError(f"'log_likelihoods' holds {number!r}: a logarithm of a probability is at most 0")
        return OptionLikelihood.exact(float(number), tokens)
    if not 0 <= number <= 1:
        raise ValueError(f"'propensities' holds {number!r}: a probability lies between 0 and 1")
    return OptionLikelihood.exact(log_probability(number))


def _prompt_key(line: Mapping[str, Any]) -> tuple[tuple[str, ...], str]:
    """Return the names of the metadata that identify a line's prompt (none for messages), and their values."""
    keys = [name for name in _PROMPT_KEYS if name in line]
    if len(keys) != 1:
        raise ValueError(f"needs exactly one of {', '.join(_PROMPT_KEYS)}; it has {' and '.join(keys) or 'none'}")
    value = line[keys[0]]
    if keys[0] == "metadata":
        if not isinstance(value, dict) or not value:
            raise ValueError("'metadata' must be an object with at least one value")
        names = tuple(sorted(value))
        return names, _values(value, names)
    try:
        if isinstance(value, list) and any(entry.get("role") in (TOOL, TOOL_CALLS_ROLE) for entry in value):
            value = [tools_message([Tool("any")]), *value]  # such messages are valid in prompts with tools only
            return (), _messages(Prompt(value).conversation)
        return (), _messages(Prompt(value).messages)
    except (FairnessError, TypeError, AttributeError) as error:
        raise ValueError(f"{keys[0]!r} is no prompt: {error}") from None


def _values(metadata: Mapping[str, Any], names: tuple[str, ...]) -> str:
    # As JSON, so that 0 is not False and a list can be looked up.
    return json.dumps([metadata[name] for name in names], sort_keys=True, default=str)


def _messages(messages: Any) -> str:
    return json.dumps([[message["role"], message["content"]] for message in messages])


def _excerpt(prompt: Prompt) -> str:
    return repr(one_line(prompt.text, 80))

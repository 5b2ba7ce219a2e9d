"""``replay:FILE``: recorded answers in place of a model."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_fairness.core import json_text as json
from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.errors import FairnessError, FatalError, PermanentError
from pytest_fairness.core.field_readers import number, whole
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
from pytest_fairness.core.serialization import Reader, RecordContext, checked, read_fields, read_record
from pytest_fairness.core.system_prompts import system_prompt_of
from pytest_fairness.core.tool_calls import ToolCall
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


def _propensity(value: Any) -> OptionLikelihood:
    if not is_number(value) or not 0 <= value <= 1:
        raise ValueError("a probability is a number that lies between 0 and 1")
    return OptionLikelihood.exact(log_probability(value))


def _log_likelihood(value: Any) -> OptionLikelihood:
    logarithm, tokens = value if isinstance(value, list) and len(value) == 2 else (value, 0)
    if not is_number(logarithm) or type(tokens) is not int:
        raise ValueError("write a number, or [NUMBER, TOKENS]")
    if not logarithm <= 0:
        raise ValueError("a logarithm of a probability is at most 0")
    return OptionLikelihood.exact(float(logarithm), tokens)


def _by_option(name: str, read: Reader) -> Reader:
    """Return a reader of a likelihood for each option."""

    def read_all(value: Any) -> Likelihoods:
        if not isinstance(value, dict) or not value:
            raise ValueError("it must be an object: option -> number")
        context = RecordContext(name, f"{name}.")
        return Likelihoods(read_fields(dict.fromkeys(value, read), value, context))

    return read_all


def _metadata(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict) or not value:
        raise ValueError("it must be an object with at least one value")
    return value


def _calls(value: Any) -> Sequence[ToolCall] | None:
    return None if value is None else calls_from_json(value)


@dataclass(frozen=True, slots=True)
class _Line:
    """The fields of a line."""

    prompt: Any = None
    messages: Any = None
    metadata: Mapping[str, Any] | None = checked(_metadata, default=None)
    text: str | None = None
    actions: Sequence[ToolCall] | None = checked(_calls, default=None)
    propensities: Likelihoods | None = checked(_by_option("propensities", _propensity), default=None)
    log_likelihoods: Likelihoods | None = checked(_by_option("log_likelihoods", _log_likelihood), default=None)
    finish_reason: str | None = None
    reasoning: str | None = None
    usage: Mapping[str, int] | None = None
    repetition: int | None = checked(lambda value: None if value is None else whole(0)(value), default=None)
    latency: float = checked(number(unit="of seconds"), default=0.0)
    served_by: str | None = None
    note: Any = None

    @property
    def likelihoods(self) -> Likelihoods | None:
        """The likelihoods of options; None for an answer."""
        return self.propensities or self.log_likelihoods


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
                except (ValueError, FairnessError) as error:
                    raise FatalError(f"{path}:{number}: {error}") from None
    if not index:
        raise FatalError(f"{path} holds no recorded answer: write one JSON object a line")
    # The most specific records first: whole messages, then those with the most metadata.
    return dict(sorted(index.items(), key=lambda entry: -len(entry[0]) if entry[0] else -1000))


def _parse(raw: bytes, number: int) -> _Line:
    try:
        line = json.loads(raw.decode("utf-8-sig" if number == 1 else "utf-8"))
    except UnicodeDecodeError:
        raise ValueError("not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not valid JSON: {error.msg} at character {error.pos + 1}") from None
    if not isinstance(line, dict):
        raise ValueError(f'a {type(line).__name__}, not an object: write {{"prompt": ..., "text": ...}}')
    record = read_record(_Line, line, RecordContext("the line"))
    answers = [name for name in ("text", "propensities", "log_likelihoods") if getattr(record, name) is not None]
    if len(answers) > 1:
        raise ValueError("needs exactly one of text, propensities, log_likelihoods: write a line for each")
    if not answers and not record.actions:
        raise ValueError("no 'text', the recorded answer")
    return record


def _add(index: _Index, line: _Line, number: int) -> None:
    names, values = _prompt_key(line)
    records = index.setdefault(names, {}).setdefault(values, {})
    kind = line.likelihoods is not None, line.repetition
    if kind in records:
        again = "the same prompt" if line.repetition is None else f"repetition {line.repetition} of the same prompt"
        raise ValueError(f"{again} as line {records[kind].line}: keep one, or number them by 'repetition'")
    usage = line.usage or {}
    if line.likelihoods is not None:
        answer = line.likelihoods.answer(usage, line.latency, line.served_by)
    else:
        calls = line.actions or ()
        finish = line.finish_reason or (TOOL_CALLS if calls else STOP)
        answer = Answer(line.text or "", finish, line.reasoning, usage, line.latency, line.served_by, calls)
    records[kind] = _Record(number, answer, line.actions is not None)


def _prompt_key(line: _Line) -> tuple[tuple[str, ...], str]:
    """Return the names of the metadata that identify a line's prompt (none for messages), and their values."""
    keys = [name for name in _PROMPT_KEYS if getattr(line, name) is not None]
    if len(keys) != 1:
        raise ValueError(f"needs exactly one of {', '.join(_PROMPT_KEYS)}; it has {' and '.join(keys) or 'none'}")
    if line.metadata is not None:
        names = tuple(sorted(line.metadata))
        return names, _values(line.metadata, names)
    value = getattr(line, keys[0])
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

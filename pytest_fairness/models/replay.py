"""``replay:FILE``: recorded answers in place of a model."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.errors import FairnessError, FatalError, PermanentError, did_you_mean
from pytest_fairness.core.finish_reasons import STOP, TOOL_CALLS
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.propensities import Continuations, Likelihoods, OptionLikelihood, likelihoods_of
from pytest_fairness.core.system_prompts import system_prompt_of
from pytest_fairness.core.tools import TOOL, Tool, calls_from_json, tools_message
from pytest_fairness.core.tools import TOOL_CALLS as TOOL_CALLS_ROLE
from pytest_fairness.models import parameters
from pytest_fairness.models.context import ModelContext
from pytest_fairness.models.names import ModelName

_NAMES_PROMPT = ("prompt", "messages", "metadata")
_LIKELIHOODS = ("propensities", "log_likelihoods")
_FIELDS = (
    *_NAMES_PROMPT,
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
"""Names of metadata fields -> their values -> whether it holds likelihoods, repetition (None: any) -> record."""


@dataclass(frozen=True, slots=True)
class _Record:
    line: int
    answer: Answer
    states_actions: bool = False
    """Whether the line has ``actions``, be it an empty list."""


class ReplayModel:
    """Answers from a JSONL file, its path relative to the rootdir.

    Each line is an object with ``text`` and what names its prompt: ``prompt`` (a text), ``messages``
    (a list), or ``metadata``, an object of values that the metadata of the prompt must all have.
    Where several lines fit, the one with the most metadata counts. ``repetition`` (from 0;
    default: any), ``finish_reason``, ``reasoning``, ``usage``, ``latency`` and ``served_by`` are
    optional, and ``note`` is free. ``actions``, a list of calls with ``name`` and ``arguments``, is needed for prompts
    with tools: an empty list where none was called. In place of ``text``, ``propensities`` holds the probability of
    each option by name (of `YesNo` "yes" and "no", of `Choice` its values), and ``log_likelihoods`` the log-likelihood
    of each text, or that and its number of tokens.
    """

    local = True
    calls_tools = True
    stored = False
    """Its answers need no store: the file is one."""

    def __init__(self, name: ModelName, context: ModelContext) -> None:
        parameters.read(name, {})
        self._path = context.root / Path(name.name).expanduser()
        try:
            if self._path.exists() and not self._path.is_file():  # a pipe would be waited for
                raise FairnessError(f"model {name}: {self._path} is no file")
            with self._path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise FairnessError(f"model {name}: {self._path} cannot be read: {error.strerror}") from None
        self.name = name.text
        self.key = f"replay:sha256-{digest}"
        self._index: _Index | None = None

    def preflight(self) -> None:
        """Read the file. Raises `FatalError` where it is malformed."""
        if self._index is None:
            self._index = _load(self._path)

    async def answer(self, prompt: Prompt, repetition: int) -> Answer:
        """Return the recorded answer.

        Raises `PermanentError` for a prompt without one, and `FatalError` for a malformed file.
        """
        record = self._recorded(prompt, repetition, holds_likelihoods=False)
        if prompt.tools and not record.states_actions:  # nothing shows whether one was called
            raise PermanentError(
                f"{self.name}: line {record.line} has no 'actions', and its prompt offers tools: write its calls, or []"
            )
        return record.answer

    async def likelihoods(self, prompt: Prompt, question: Continuations) -> Answer:
        """Return the recorded likelihoods. Raises as `answer` does."""
        answer = self._recorded(prompt, 0, holds_likelihoods=True).answer
        try:
            likelihoods_of(answer, question)
        except PermanentError as error:
            raise PermanentError(f"{error}, of the prompt {_shown(prompt)}") from None
        return answer

    def _recorded(self, prompt: Prompt, repetition: int, *, holds_likelihoods: bool) -> _Record:
        self.preflight()
        assert self._index is not None  # noqa: S101 - just read
        for names, records in self._index.items():
            if names:
                # Metadata show nothing of a system prompt: one answer would stand for any.
                if system_prompt_of(self) or not all(name in prompt.metadata for name in names):
                    continue
                recordings = records.get(_values(prompt.metadata, names))
            else:
                recordings = records.get(_messages(prompt.messages)) or records.get(_messages(prompt.conversation))
            of_kind = {
                number: record for (kind, number), record in (recordings or {}).items() if kind == holds_likelihoods
            }
            if of_kind:
                return self._repetition(of_kind, prompt, repetition)
        what = "likelihoods for" if holds_likelihoods else "recording of"
        under = ", recorded by messages that begin with its system prompt" if system_prompt_of(self) else ""
        raise PermanentError(f"{self.name} has no {what} the prompt {_shown(prompt)}{under}")

    async def close(self) -> None:
        """Forget what was read."""
        self._index = None

    def _repetition(self, recordings: dict[int | None, _Record], prompt: Prompt, repetition: int) -> _Record:
        record = recordings.get(repetition) or recordings.get(None)
        if record is None:
            recorded = ", ".join(str(number) for number in sorted(n for n in recordings if n is not None))
            raise PermanentError(
                f"{self.name} has no recording of repetition {repetition} (it has {recorded}) of {_shown(prompt)}"
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
    # The most fields first: the most particular record counts. Whole messages are most particular.
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
    names, values = _prompt_of(line)
    repetition = line.get("repetition")
    if repetition is not None and (type(repetition) is not int or repetition < 0):
        raise ValueError(f"'repetition' is {repetition!r}: it must be a whole number from 0 up")
    usage, latency = line.get("usage") or {}, line.get("latency", 0.0)
    if not isinstance(usage, dict) or not all(type(count) is int for count in usage.values()):
        raise ValueError("'usage' must be an object of whole numbers")
    if isinstance(latency, bool) or not isinstance(latency, int | float):
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
    if isinstance(number, bool) or not isinstance(number, int | float) or type(tokens) is not int:
        raise ValueError(f"{name!r} holds {value!r:.60}: it must hold numbers")
    if name == "log_likelihoods":
        if not number <= 0:
            raise ValueError(f"'log_likelihoods' holds {number!r}: a logarithm of a probability is at most 0")
        return OptionLikelihood.exact(float(number), tokens)
    if not 0 <= number <= 1:
        raise ValueError(f"'propensities' holds {number!r}: a probability lies between 0 and 1")
    return OptionLikelihood.exact(math.log(number) if number > 0 else -math.inf)


def _prompt_of(line: Mapping[str, Any]) -> tuple[tuple[str, ...], str]:
    given = [name for name in _NAMES_PROMPT if name in line]
    if len(given) != 1:
        raise ValueError(f"needs exactly one of {', '.join(_NAMES_PROMPT)}; it has {' and '.join(given) or 'none'}")
    named = line[given[0]]
    if given[0] == "metadata":
        if not isinstance(named, dict) or not named:
            raise ValueError("'metadata' must be an object with at least one value")
        names = tuple(sorted(named))
        return names, _values(named, names)
    try:
        if isinstance(named, list) and any(entry.get("role") in (TOOL, TOOL_CALLS_ROLE) for entry in named):
            named = [tools_message([Tool("any")]), *named]  # such messages stand in prompts with tools only
            return (), _messages(Prompt(named).conversation)
        return (), _messages(Prompt(named).messages)
    except (FairnessError, TypeError, AttributeError) as error:
        raise ValueError(f"{given[0]!r} is no prompt: {error}") from None


def _values(metadata: Mapping[str, Any], names: tuple[str, ...]) -> str:
    # As JSON, so that 0 is not False and a list can be looked up.
    return json.dumps([metadata[name] for name in names], sort_keys=True, default=str)


def _messages(messages: Any) -> str:
    return json.dumps([[message["role"], message["content"]] for message in messages])


def _shown(prompt: Prompt) -> str:
    text = " ".join(prompt.text.split())
    return repr(text if len(text) <= 80 else f"{text[:77]}...")

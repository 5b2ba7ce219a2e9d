"""Definitions of HTTP services: the request that is sent, and the path to the answer in the reply."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from pytest_fairness.core import json_text as json
from pytest_fairness.core.digests import digest
from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.core.field_readers import matching, number, text_of, whole
from pytest_fairness.core.items import Message, Prompt
from pytest_fairness.core.message_roles import TOOL
from pytest_fairness.core.pyproject import Pyproject
from pytest_fairness.core.secrets import without_credentials
from pytest_fairness.core.serialization import RecordContext, checked, read_record
from pytest_fairness.core.toml_files import TomlFile
from pytest_fairness.models.tool_messages import chat_messages, chat_tools

_TABLE = "[tool.pytest-fairness.services.{}]"
_SLOT = re.compile(r"\{(prompt|last|system|messages|tools|repetition|id)\}")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_BASE = re.compile(_VARIABLE.pattern + r"(?=[/?]|$)")
"""A variable that holds scheme and host, where it begins a URL."""
_EXAMPLE = 'write url = "https://host/path", [body] with "{prompt}" or "{messages}" in it, and answer = "path.to.text"'


def is_url(value: object) -> bool:
    """Return whether a value is an HTTP URL; variables may replace parts of it, or its beginning.

    >>> is_url("https://${HOST}/chat"), is_url("${BASE_URL}/chat"), is_url("host/chat")
    (True, True, False)
    """
    if not isinstance(value, str):
        return False
    parts = urlsplit(_VARIABLE.sub("x", _BASE.sub("http://x", value, count=1) if _BASE.match(value) else value))
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def _are_statuses(value: object) -> bool:
    return isinstance(value, list) and all(type(status) is int and 100 <= status < 600 for status in value)


def _statuses(value: object) -> tuple[int, ...]:
    statuses: list[int] = matching(_are_statuses, "it must be a list of HTTP statuses")(value)
    return tuple(statuses)


def _are_headers(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(text, str) and text.isprintable() and re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name)
        for name, text in value.items()
    )


def _is_body(value: object) -> bool:
    try:
        json.dumps(value)
    except TypeError:  # TOML has dates
        return False
    return isinstance(value, Mapping)


@dataclass(frozen=True, slots=True)
class ServiceDefinition:
    """The definition of one service, with the keys of its TOML file or table."""

    url: str = checked(matching(is_url, "it must be a URL such as https://host/path"))
    body: Any = checked(matching(_is_body, "it must be a table of what JSON can hold"))
    """The JSON to send, in which slots such as ``{prompt}`` are replaced by parts of the prompt."""
    answer: str = checked(text_of('it must be a text such as "choices.0.message.content"'), default="")
    """Path to the text in the reply: keys and indices, separated by dots. Empty: the reply is the text."""
    actions: str = checked(text_of('it must be a text such as "choices.0.message.tool_calls"'), default="")
    """Path to the list of tool calls in the reply. Empty: the service calls none, or does not report them."""
    actions_optional: bool = False
    """Whether replies without a call lack that list."""
    stream: bool = False
    """Whether the reply is a stream of events, each with a part of the text at ``answer``."""
    end: str = checked(text_of('it must be a text such as "[DONE]"'), default="[DONE]")
    """Data of the event that ends a stream; a stream without it was cut off. Empty: streams have no such event."""
    headers: Mapping[str, str] = checked(
        matching(_are_headers, 'it must be a table of texts such as Authorization = "Bearer ${TOKEN}"'),
        default_factory=dict,
    )
    version: str = checked(text_of('it must be a text such as "${GIT_SHA}"'), default="")
    """The version of the service; without one, stored answers are used by their own run only."""
    refusal_status: tuple[int, ...] = checked(_statuses, default=())
    """HTTP statuses by which the service refuses a prompt."""
    retry_status: tuple[int, ...] = checked(_statuses, default=())
    """Further HTTP statuses after which the request is sent again."""
    concurrency: int = checked(whole(1, 1_000), default=4)
    """Largest number of requests in flight of one process."""
    rpm: float | None = checked(number(above=0), default=None)
    """Largest number of requests a minute."""
    timeout: float = checked(number(above=0, unit="of seconds"), default=300.0)
    """Timeout of a request in seconds."""

    @classmethod
    def read(cls, name: str, root: Path) -> ServiceDefinition:
        """Return the definition of ``FILE.toml``, or of the table of that name in ``pyproject.toml``.

        Raises:
            FairnessError: The file or table is missing or malformed.
        """
        if name.endswith(".toml"):
            path = root / Path(name).expanduser()
            try:
                file = TomlFile.read(path)
            except FileNotFoundError as error:
                raise FairnessError(f"{path} cannot be read: {error.strerror}") from None
            return cls._read(file.document, file.context(subject="the service", way_out=_EXAMPLE))
        project = Pyproject.read(root)
        table = project.table("services", name, way_out=f"write {_TABLE.format(name)}")
        if not table:
            services = project.table("services", way_out=f"write {_TABLE.format('NAME')}")
            listed = f"; {did_you_mean(name, services)}" if services else ""
            raise FairnessError(
                f"pyproject.toml has no table {_TABLE.format(name)}, and {name!r} is no FILE.toml{listed}"
            )
        return cls._read(table, project.context("services", name, subject="the service", way_out=_EXAMPLE))

    @classmethod
    def _read(cls, table: Mapping[str, Any], context: RecordContext) -> ServiceDefinition:
        """Return the definition in a table, after checking it."""
        service = read_record(cls, table, context)
        slots = _find_slots(service.body)
        if not slots & {"prompt", "last", "messages"}:
            problem = 'body holds no prompt: put "{prompt}" or "{messages}" where the service reads it'
            raise context.error(problem, "body")
        if "end" in table and not service.stream:
            raise context.error("end is for streams: write stream = true, or leave it out", "end")
        if service.actions and service.stream:
            raise context.error("actions is for replies that are no stream: leave out one of the two", "actions")
        if "actions_optional" in table and not service.actions:
            problem = "actions_optional is for the list at actions: write its path, or leave both out"
            raise context.error(problem, "actions_optional")
        if "tools" in slots and not service.actions:
            problem = 'body holds "{tools}", and actions is missing: write the path to the calls in a reply'
            raise context.error(problem, "body")
        return service

    @property
    def public_url(self) -> str:
        """The URL without credentials and query, which may hold a key."""
        return without_credentials(self.url).partition("?")[0]

    @property
    def variables(self) -> list[str]:
        """The names of the environment variables in it."""
        texts = (self.url, self.version, *self.headers.values())
        return sorted({name for text in texts for name in _VARIABLE.findall(text)})

    def fingerprint(self, environment: Mapping[str, str]) -> str:
        """Return the fingerprint of all keys that influence the answers.

        Variables in the address and the version count by their values, since these select the service. Those in the
        query and the headers count by their names: their values are secrets, which expire.
        """
        address, _, query = self.url.partition("?")
        decisive = [
            without_credentials(expand_variables(address, environment)),
            query,
            dict(self.headers),
            self.body,
            self.answer,
            self.stream,
            expand_variables(self.version, environment),
            *filter(None, [self.actions, self.actions_optional]),
        ]
        return digest(json.dumps(decisive, sort_keys=True, default=str))[:16]

    def unsent(self, messages: tuple[Message, ...]) -> str:
        """Return the messages of a prompt for which the body has no slot, in words; empty where all are sent.

        >>> definition = ServiceDefinition("https://host/chat", {"question": "{last}"})
        >>> definition.unsent(({"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}))
        'the system message'
        """
        slots = _find_slots(self.body)
        roles = [message["role"] for message in messages]
        if TOOL in roles and "messages" not in slots:
            return "the results of tools"
        if slots & {"messages", "prompt"}:
            return ""
        if "system" in roles and "system" not in slots:
            return "the system message"
        return "all messages but the last" if len([role for role in roles if role != "system"]) > 1 else ""

    def request(self, prompt: Prompt, repetition: int) -> Any:
        """Return the JSON of the request for one prompt."""
        messages = prompt.conversation
        contents = [message["content"] for message in messages]
        system = [message["content"] for message in messages if message["role"] == "system"]
        slots = {
            "prompt": "\n\n".join(contents),
            "last": contents[-1],
            "system": "\n\n".join(system),
            "messages": chat_messages(messages),
            "tools": chat_tools(prompt).get("tools", []),
            "repetition": repetition,
            "id": uuid4().hex,
        }
        return _fill_slots(self.body, slots)


def expand_variables(text: str, environment: Mapping[str, str]) -> str:
    """Return a text with ``${NAME}`` replaced by environment variables; a missing one is empty.

    Whitespace around a value is removed: a secret read from a file ends with a line feed.

    >>> expand_variables("Bearer ${TOKEN}", {"TOKEN": "abc\\n"})
    'Bearer abc'
    """
    return _VARIABLE.sub(lambda match: environment.get(match[1], "").strip(), text)


def value_at(reply: Any, path: str) -> Any:
    """Return the value at a path of keys and indices.

    Raises:
        LookupError: There is no value.

    >>> value_at({"choices": [{"message": {"content": "Yes."}}]}, "choices.0.message.content")
    'Yes.'
    """
    for part in path.split(".") if path else []:
        if isinstance(reply, Mapping) and part in reply:
            reply = reply[part]
        elif isinstance(reply, list) and re.fullmatch(r"-?\d+", part):
            reply = reply[int(part)]
        else:
            raise LookupError(path)
    return reply


def _find_slots(value: Any) -> set[str]:
    """Return the names of the slots that `_fill_slots` replaces: those in texts, not those in keys."""
    entries = list(value.values()) if isinstance(value, Mapping) else value
    if isinstance(entries, list):
        return set().union(*map(_find_slots, entries))
    return set(_SLOT.findall(value)) if isinstance(value, str) else set()


def _fill_slots(value: Any, slots: Mapping[str, Any]) -> Any:
    if isinstance(value, Mapping):
        return {name: _fill_slots(entry, slots) for name, entry in value.items()}
    if isinstance(value, list):
        return [_fill_slots(entry, slots) for entry in value]
    if not isinstance(value, str):
        return value
    if whole := _SLOT.fullmatch(value):
        return slots[whole[1]]
    return _SLOT.sub(lambda match: _as_text(slots[match[1]]), value)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

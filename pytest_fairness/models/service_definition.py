"""Definitions of HTTP services: the request that is sent, and the path to the answer in the reply."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from pytest_fairness.core import json_text as json
from pytest_fairness.core.digests import digest
from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.core.items import Message, Prompt
from pytest_fairness.core.json_objects import is_number
from pytest_fairness.core.message_roles import TOOL
from pytest_fairness.core.pyproject import Pyproject
from pytest_fairness.core.secrets import without_credentials
from pytest_fairness.models.tool_messages import chat_messages, chat_tools

_TABLE = "[tool.pytest-fairness.services.{}]"
_SLOT = re.compile(r"\{(prompt|last|system|messages|tools|repetition|id)\}")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_BASE = re.compile(_VARIABLE.pattern + r"(?=[/?]|$)")
"""A variable that holds scheme and host, where it begins a URL."""
_EXAMPLE = 'write url = "https://host/path", [body] with "{prompt}" or "{messages}" in it, and answer = "path.to.text"'


@dataclass(frozen=True, slots=True)
class ServiceDefinition:
    """The definition of one service, with the keys of its TOML file or table."""

    url: str
    body: Any
    """The JSON to send, in which slots such as ``{prompt}`` are replaced by parts of the prompt."""
    answer: str = ""
    """Path to the text in the reply: keys and indices, separated by dots. Empty: the reply is the text."""
    actions: str = ""
    """Path to the list of tool calls in the reply. Empty: the service calls none, or does not report them."""
    actions_optional: bool = False
    """Whether replies without a call lack that list."""
    stream: bool = False
    """Whether the reply is a stream of events, each with a part of the text at ``answer``."""
    end: str = "[DONE]"
    """Data of the event that ends a stream; a stream without it was cut off. Empty: streams have no such event."""
    headers: Mapping[str, str] = field(default_factory=dict)
    version: str = ""
    """The version of the service; without one, stored answers are used by their own run only."""
    refusal_status: tuple[int, ...] = ()
    """HTTP statuses by which the service refuses a prompt."""
    retry_status: tuple[int, ...] = ()
    """Further HTTP statuses after which the request is sent again."""
    concurrency: int = 4
    """Largest number of requests in flight of one process."""
    rpm: float | None = None
    """Largest number of requests a minute."""
    timeout: float = 300.0
    """Timeout of a request in seconds."""

    @classmethod
    def read(cls, name: str, root: Path) -> ServiceDefinition:
        """Return the definition of ``FILE.toml``, or of the table of that name in ``pyproject.toml``.

        Raises:
            FairnessError: The file or table is missing or malformed.
        """
        if not name.endswith(".toml"):
            table = Pyproject.read(root).table("services", name, way_out=f"write {_TABLE.format(name)}")
            if not table:
                services = Pyproject.read(root).table("services", way_out=f"write {_TABLE.format('NAME')}")
                listed = f"; {did_you_mean(name, services)}" if services else ""
                raise FairnessError(
                    f"pyproject.toml has no table {_TABLE.format(name)}, and {name!r} is no FILE.toml{listed}"
                )
            return cls._from_table(table)
        path = root / Path(name).expanduser()
        try:
            return cls._from_table(tomllib.loads(path.read_text(encoding="utf-8-sig")))
        except OSError as error:
            raise FairnessError(f"{path} cannot be read: {error.strerror}") from None
        except UnicodeDecodeError:
            raise FairnessError(f"{path} is no UTF-8 text") from None
        except tomllib.TOMLDecodeError as error:
            raise FairnessError(f"{path} is not valid TOML: {error}") from None

    @classmethod
    def _from_table(cls, table: Mapping[str, Any]) -> ServiceDefinition:
        """Return the definition in a table, after checking it."""
        entries = {entry.name: entry for entry in fields(cls)}
        for name, value in table.items():
            if name not in entries:
                raise FairnessError(f"unknown key {name!r}; {did_you_mean(name, entries)}")
            check, rule = _RULES[name]
            if not check(value):
                raise FairnessError(f"{name} is {value!r:.80}: it must be {rule}")
        if missing := [name for name, entry in entries.items() if _is_required(entry) and name not in table]:
            raise FairnessError(f"{' and '.join(missing)} missing: {_EXAMPLE}")
        slots = _find_slots(table["body"])
        if not slots & {"prompt", "last", "messages"}:
            raise FairnessError('body holds no prompt: put "{prompt}" or "{messages}" where the service reads it')
        if "end" in table and not table.get("stream"):
            raise FairnessError("end is for streams: write stream = true, or leave it out")
        if table.get("actions") and table.get("stream"):
            raise FairnessError("actions is for replies that are no stream: leave out one of the two")
        if "actions_optional" in table and not table.get("actions"):
            raise FairnessError("actions_optional is for the list at actions: write its path, or leave both out")
        if "tools" in slots and not table.get("actions"):
            raise FairnessError('body holds "{tools}", and actions is missing: write the path to the calls in a reply')
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in table.items()
        }
        return cls(**values)

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


def _is_required(entry: Any) -> bool:
    return entry.default is MISSING and entry.default_factory is MISSING


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def is_url(value: object) -> bool:
    """Return whether a value is an HTTP URL; variables may replace parts of it, or its beginning.

    >>> is_url("https://${HOST}/chat"), is_url("${BASE_URL}/chat"), is_url("host/chat")
    (True, True, False)
    """
    if not isinstance(value, str):
        return False
    parts = urlsplit(_VARIABLE.sub("x", _BASE.sub("http://x", value, count=1) if _BASE.match(value) else value))
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def _is_positive(value: object) -> bool:
    return is_number(value) and 0 < value < float("inf")


def _are_statuses(value: object) -> bool:
    return isinstance(value, list) and all(type(status) is int and 100 <= status < 600 for status in value)


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


_RULES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "url": (is_url, "a URL such as https://host/path"),
    "body": (_is_body, "a table of what JSON can hold"),
    "answer": (_is_text, 'a text such as "choices.0.message.content"'),
    "actions": (_is_text, 'a text such as "choices.0.message.tool_calls"'),
    "actions_optional": (lambda value: isinstance(value, bool), "true or false"),
    "stream": (lambda value: isinstance(value, bool), "true or false"),
    "end": (_is_text, 'a text such as "[DONE]"'),
    "headers": (_are_headers, 'a table of texts such as Authorization = "Bearer ${TOKEN}"'),
    "version": (_is_text, 'a text such as "${GIT_SHA}"'),
    "refusal_status": (_are_statuses, "a list of HTTP statuses"),
    "retry_status": (_are_statuses, "a list of HTTP statuses"),
    "concurrency": (lambda value: type(value) is int and 0 < value <= 1000, "a whole number from 1 to 1,000"),
    "rpm": (_is_positive, "a number above 0"),
    "timeout": (_is_positive, "a number of seconds above 0"),
}

"""Prompts, and items: the units of analysis, which group prompts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from numbers import Integral
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pytest_fairness.core import json_text as json
from pytest_fairness.core.digests import digest, to_json
from pytest_fairness.core.errors import FairnessError, describe_error
from pytest_fairness.core.formatting import counted
from pytest_fairness.core.lazy_patterns import lazy_pattern
from pytest_fairness.core.message_roles import CONTINUATIONS, TOOL, TOOL_CALLS, TOOLS

if TYPE_CHECKING:
    from pytest_fairness.core.tools import Tool

Message = Mapping[str, str]
"""One chat message: ``{"role": "system" | "user" | "assistant", "content": text}``.

A prompt with tools has messages of three further roles, see `core.tools`."""

MOST_PROMPTS = 100_000
"""Largest number of prompts of an item; a generator may be infinite."""
_MOST_LEVELS = 100
"""Largest number of levels of containers in metadata, which are read by functions that call themselves."""
_CONTAINERS = (dict, list, tuple, set, frozenset, MappingProxyType)
_PLAIN_TYPES = (str, bool, int, float, type(None))
_ROLES = ("system", "user", "assistant")
_TOOL_ROLES = (TOOL_CALLS, TOOL)
_NOTHING: Mapping[str, Any] = {}
_PLAIN_ID = lazy_pattern(r"(?:[A-Za-z0-9._+@/-]|:(?!:)){1,60}")
"""Ids of items that are ids of tests as they are."""


class _DigestSlot:
    """A slot for a digest that is computed on first use; a base class, so that it is no field of the prompt."""

    __slots__ = ("_digest",)


@dataclass(frozen=True, slots=True)
class Prompt(_DigestSlot):
    """The text of one request, and the groups of the people in it.

    Args:
        messages: The messages; a text is one message of the user.
        groups: The group of the person in the prompt, by protected attribute.
        metadata: Values for graders and slices, which are never sent to the model.
        slots: Declares a counterfactual: the texts that depend on the group, under names of your own. Prompts
            of one item may then differ in nothing else; `lint` checks it when the item's tests are collected.
        schema: The JSON schema of the answer, for providers with structured output. The messages must contain it as
            well: stored answers are identified by the messages alone.
        tools: The tools that the model may call: `Tool` objects, or mappings of name, description and parameters.
            They are part of the messages, and so of an attempt's key.

    >>> Prompt("Should Anna be hired?", groups={"gender": "female"}).messages
    ({'role': 'user', 'content': 'Should Anna be hired?'},)
    >>> slots = {"name": "Anna", "their": "her"}
    >>> Prompt("Anna has applied. Is {their} CV good?".format(**slots), {"gender": "female"}, slots=slots).text
    'Anna has applied. Is her CV good?'

    Raises:
        FairnessError: The prompt is empty, a message is malformed, a group is missing (None, NaN, empty) or several, a
            name is no text, or a slot holds none.
    """

    messages: Sequence[Message]
    groups: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    metadata: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    slots: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    schema: Mapping[str, Any] | None = None

    def __init__(
        self,
        messages: str | Sequence[Message],
        groups: Mapping[str, str] = _NOTHING,
        metadata: Mapping[str, Any] = _NOTHING,
        slots: Mapping[str, str] = _NOTHING,
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[Tool | Mapping[str, Any]] = (),
    ) -> None:
        if isinstance(messages, str) and messages and not tools:
            messages = ({"role": "user", "content": messages},)  # which most are: there is nothing to check
        else:
            messages = _checked_messages(messages, tools)
        if slots is not _NOTHING and not (
            isinstance(slots, Mapping) and all(isinstance(text, str) for text in slots.values())
        ):
            raise FairnessError(f"the slots of a prompt are {slots!r}: write {{'name': 'Anna', 'their': 'her'}}")
        if groups is not _NOTHING:
            _check_groups(groups)
        if metadata is not _NOTHING:
            _check_metadata("a prompt", metadata)
        object.__setattr__(self, "messages", messages)
        object.__setattr__(self, "groups", groups)
        object.__setattr__(self, "metadata", metadata)
        object.__setattr__(self, "schema", schema)
        object.__setattr__(self, "slots", slots)

    @property
    def digest(self) -> str:
        """The fingerprint of the roles and texts of its messages.

        >>> Prompt("Yes or no?").digest == Prompt("Yes or no?", groups={"gender": "female"}).digest
        True
        """
        stored: str | None = getattr(self, "_digest", None)
        if stored is None:
            sent = [[message["role"], message["content"]] for message in self.messages]
            stored = digest(to_json(sent))
            object.__setattr__(self, "_digest", stored)
        return stored

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that the model may call; empty for a prompt without tools.

        >>> from pytest_fairness import Tool
        >>> Prompt("May she stay?", tools=[Tool("grant"), {"name": "refuse"}]).tools[1].name
        'refuse'
        """
        return _tools_in(self.messages[0]["content"]) if self.messages[0]["role"] == TOOLS else ()

    @property
    def conversation(self) -> Sequence[Message]:
        """The messages without the one that holds the tools."""
        return _without_tools(self.messages)

    @property
    def text(self) -> str:
        """The text of the last message: for a single message, the argument of a text-to-text model."""
        last = next(message for message in reversed(self.messages) if message["role"] != CONTINUATIONS)
        return last["content"]


def _checked_messages(
    messages: str | Sequence[Message], tools: Sequence[Tool | Mapping[str, Any]]
) -> Sequence[Message]:
    """Return the messages of a prompt, that of its tools first."""
    messages = ({"role": "user", "content": messages},) if isinstance(messages, str) else _messages(messages)
    if tools:
        from pytest_fairness.core.tools import read_tools, tools_message

        messages = (tools_message(read_tools(tools)), *_without_tools(messages))
    if not messages or not messages[-1].get("content"):
        raise FairnessError("a prompt is empty: it needs at least one message with text")
    asks_likelihoods = len(messages) > 1 and messages[-1].get("role") == CONTINUATIONS
    offered = len(messages) - len(_without_tools(messages))
    if offered:
        if len(messages) == 1:
            raise FairnessError("a prompt is empty: it has tools, and no message with text")
        if asks_likelihoods:
            raise FairnessError(
                "a prompt with tools is asked for probabilities: they are those of texts; grade answers instead"
            )
        _tools_in(messages[0]["content"])
    roles = (*_ROLES, *(_TOOL_ROLES if offered else ()))
    for message in messages[offered : len(messages) - asks_likelihoods]:
        if message.get("role") not in roles or not isinstance(message.get("content"), str):
            raise FairnessError(
                f"a message of a prompt is {message!r}: it needs a role ({', '.join(_ROLES)}) and a text as its content"
            )
    return messages


def _messages(messages: object) -> Sequence[Message]:
    read: Sequence[Any] = tuple(messages) if isinstance(messages, Iterable) else (messages,)
    for message in read:
        if not isinstance(message, Mapping):
            raise FairnessError(
                f"a message of a prompt is {message!r:.60}: give a text, or a list of {{'role': ..., 'content': ...}}"
            )
    return read


def _check_groups(groups: object) -> None:
    if not isinstance(groups, Mapping):
        raise FairnessError(f"the groups of a prompt are {groups!r:.60}: write {{'gender': 'woman'}}")
    for name, group in groups.items():
        if not isinstance(name, str):
            raise FairnessError(
                f"the groups of a prompt have the name {name!r:.60}: it must be a text, such as 'gender'"
            )
        if type(group) is str and group:
            continue
        is_several = isinstance(group, Collection) and not isinstance(group, str)
        if is_several or group is None or _is_missing(group):
            raise FairnessError(f"the {name} of a prompt is {group!r:.60}: write one group as a text, or leave it out")
        _check_text(f"the {name} of a prompt", group)


def _is_missing(group: object) -> bool:
    """Return whether a group is an empty text, NaN, or NA of pandas."""
    try:
        return bool(group == "" or group != group)
    except (TypeError, ArithmeticError):  # NA is neither true nor false; a signaling NaN of `decimal`
        return True


def _check_metadata(owner: str, metadata: object) -> None:
    if not isinstance(metadata, Mapping):
        raise FairnessError(f"the metadata of {owner} is {metadata!r:.60}: write {{'name': value}}")
    for name, value in metadata.items():
        if not isinstance(name, str):
            raise FairnessError(f"the metadata of {owner} has the name {name!r:.60}: it must be a text")
        if issubclass(type(value), _CONTAINERS) and _is_deep(value):
            raise FairnessError(
                f"the metadata {name!r:.60} of {owner} holds itself, or more than {_MOST_LEVELS} levels: no report "
                "could show it"
            )
        if type(value) not in _PLAIN_TYPES:
            _check_text(f"the metadata {name!r:.60} of {owner}", value)


def _check_text(what: str, value: object) -> None:
    """Check that a value has a text, by which it is stored, selected and shown."""
    try:
        f"{value!s}{value!r}"
    except Exception as error:  # noqa: BLE001 - a user's class may raise anything
        raise FairnessError(f"{what} has no text, {describe_error(error)}: give a text or a number") from None


def _is_deep(value: object) -> bool:
    """Return whether a container holds itself, or has more levels of containers than a report shows."""
    level: list[Any] = [value]
    for _ in range(_MOST_LEVELS):
        parts = (part for whole in level for part in (whole.values() if isinstance(whole, Mapping) else whole))
        level = list({id(part): part for part in parts if issubclass(type(part), _CONTAINERS)}.values())
        if not level:
            return False
    return True


def _without_tools(messages: Sequence[Message]) -> Sequence[Message]:
    return messages[1:] if messages and messages[0].get("role") == TOOLS else messages


@lru_cache(maxsize=256)
def _tools_in(content: str) -> tuple[Tool, ...]:
    """Return the tools in the content of a message of the role `TOOLS`."""
    from pytest_fairness.core.tools import read_tools

    try:
        return read_tools(json.loads(content))
    except (ValueError, TypeError):
        raise FairnessError(f"a message of the role {TOOLS} holds no tools: {content!r:.100}") from None


@dataclass(frozen=True, slots=True)
class ProbeItem:
    """Prompts that must be compared or averaged together: the unit of analysis.

    Orderings of the same choices, or the same CV under names of every group, belong in
    one item: intervals cluster by item. Items made from one template share its name as
    ``source``; intervals then cluster by source.

    >>> item = ProbeItem("nurse", [Prompt("Is he a nurse?"), Prompt("Is she a nurse?")])
    >>> len(item.prompts)
    2

    Raises:
        FairnessError: The id is empty, the source is no text, or there are no prompts.
    """

    id: str
    prompts: Sequence[Prompt]
    source: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)

    def __post_init__(self) -> None:
        if not isinstance(self.id, str) or not self.id.strip():
            raise FairnessError(f"the id of a probe item is {self.id!r}: it must be a text, not empty")
        if type(self.id) is not str:  # a member of an enum, or a text of numpy: ids of tests cross processes
            object.__setattr__(self, "id", str.__str__(self.id))
        if self.source is not None and not isinstance(self.source, str):
            if not isinstance(self.source, Integral):
                raise FairnessError(f"the source of probe item {self.id!r} is {self.source!r:.60}: it must be a text")
            object.__setattr__(self, "source", str(self.source))
        if self.metadata is not _NOTHING:
            _check_metadata(f"probe item {self.id!r}", self.metadata)
        if not isinstance(self.prompts, Iterable):
            raise FairnessError(f"the prompts of probe item {self.id!r} are {self.prompts!r:.60}: give a list of them")
        object.__setattr__(self, "prompts", tuple(islice(self.prompts, MOST_PROMPTS + 1)))
        if len(self.prompts) > MOST_PROMPTS:
            raise FairnessError(f"probe item {self.id!r} has more than {MOST_PROMPTS:,} prompts, or no end of them")
        if not self.prompts:
            raise FairnessError(f"probe item {self.id!r} has no prompts: give it at least one")
        for prompt in self.prompts:
            if not isinstance(prompt, Prompt):
                raise FairnessError(f"probe item {self.id!r} holds {prompt!r}: its prompts must be Prompt(...)")

    def __repr__(self) -> str:
        return f"<ProbeItem {self.id!r}: {counted(len(self.prompts), 'prompt')}>"

    @property
    def is_counterfactual(self) -> bool:
        """Whether any of its prompts declares slots."""
        return any(prompt.slots for prompt in self.prompts)

    @property
    def test_id(self) -> str:
        """A short ASCII id for the item's test, without characters that break selection or scheduling.

        If the item's id is not such an id, it ends with a digest of the whole, so that no two items share one.

        >>> ProbeItem("person-1", [Prompt("Hello")]).test_id, ProbeItem("Zoë", [Prompt("Hello")]).test_id
        ('person-1', 'Zo_~0e8501d04522')
        """
        if _PLAIN_ID.fullmatch(self.id):
            return self.id
        clean = re.sub(r":+", ":", re.sub(r"[^A-Za-z0-9._+@:/-]+", "_", self.id))
        return f"{clean[:47]}~{digest(self.id)[:12]}"

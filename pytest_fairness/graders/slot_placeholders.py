"""Placeholders in place of the texts that depend on a group, for a model that must not see it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache

from pytest_fairness.core.items import Message, Prompt

SHOWN_ROLES = ("user", "assistant")
"""The roles of the messages that a played user sees."""
_BRACKETS = re.compile(r"\[[^\[\]\n]+\]")


class SlotPlaceholders:
    """Placeholders of the slots of an item's prompts, the same for all groups: ``[name]`` for Anna and for Paul.

    Slots that share a text in any prompt, as ``her`` is both of two pronouns, share a placeholder: else it would show
    the group. Each word of a name of several words is hidden too.

    Args:
        prompts: The prompts of an item.

    >>> anna = Prompt("May Anna Berg have her refund?", {"gender": "f"}, slots={"name": "Anna Berg", "their": "her"})
    >>> paul = Prompt("May Paul Kern have his refund?", {"gender": "m"}, slots={"name": "Paul Kern", "their": "his"})
    >>> slots = SlotPlaceholders([anna, paul])
    >>> slots.hide("No, Ms Berg. Her refund is late.", anna)
    'No, Ms [name]. [their] refund is late.'
    >>> slots.fill("I am [name].", paul), slots.shows_prompt
    ('I am Paul Kern.', True)
    """

    def __init__(self, prompts: Sequence[Prompt]) -> None:
        self._names: dict[str, str] = {}
        """The slot whose name stands for each slot."""
        for prompt in prompts:
            by_text: dict[str, str] = {}
            for slot in prompt.slots:
                self._names.setdefault(slot, slot)
            for slot, text in _hidden_texts(prompt):
                self._merge(by_text.setdefault(text.casefold(), slot), slot)
        openings: dict[tuple[tuple[str, str], ...], set[tuple[tuple[str, str], ...]]] = defaultdict(set)
        for prompt in prompts:
            shown = self.hide_messages(prompt.messages, prompt)
            openings[tuple(sorted(prompt.groups.items()))].add(
                tuple((message["role"], message["content"]) for message in shown if message["role"] in SHOWN_ROLES)
            )
        declared = all(prompt.slots for prompt in prompts if prompt.groups)
        self.shows_prompt = (declared or len(openings) > 1) and len(set(map(frozenset, openings.values()))) == 1
        """Whether the prompts of all groups are the same with placeholders, so that they do not show the group."""

    def _merge(self, one: str, other: str) -> None:
        first, second = self._names[one], self._names[other]
        self._names = {slot: first if name == second else name for slot, name in self._names.items()}

    def hide(self, text: str, prompt: Prompt) -> str:
        """Return a text with placeholders in place of the texts of a prompt's slots."""
        placeholders = {text: f"[{self._names.get(slot, slot)}]" for slot, text in _hidden_texts(prompt)}
        return _pattern(tuple(placeholders)).sub(lambda match: _placeholder(match.group(), placeholders), text)

    def hide_messages(self, messages: Iterable[Message], prompt: Prompt) -> list[Message]:
        """Return messages with placeholders."""
        return [{**message, "content": self.hide(message["content"], prompt)} for message in messages]

    def fill(self, text: str, prompt: Prompt) -> str:
        """Return a text with the texts of a prompt's slots in place of their placeholders."""
        values: dict[str, str] = {}
        for slot, value in prompt.slots.items():
            values.setdefault(f"[{self._names.get(slot, slot)}]", value)
        return _BRACKETS.sub(lambda match: values.get(match.group(), match.group()), text)


def _hidden_texts(prompt: Prompt) -> list[tuple[str, str]]:
    """Return each slot with its text, and with the words of a name of several words; the longest text first."""
    pairs = [(slot, text.strip()) for slot, text in prompt.slots.items() if text.strip()]
    for slot, text in list(pairs):
        words = text.split()
        if len(words) > 1 and all(word[0].isupper() for word in words):
            pairs += [(slot, word) for word in words if len(word) > 1]
    return sorted(pairs, key=lambda pair: -len(pair[1]))


def _placeholder(text: str, placeholders: dict[str, str]) -> str:
    return placeholders.get(text) or placeholders.get(text[0].lower() + text[1:]) or text


@lru_cache(maxsize=256)
def _pattern(texts: tuple[str, ...]) -> re.Pattern[str]:
    """Return the pattern of whole words of these texts, whose first letter may be a capital."""
    forms = "|".join(f"(?:{re.escape(text[0])}|{re.escape(text[0].upper())}){re.escape(text[1:])}" for text in texts)
    return re.compile(rf"(?<!\w)(?:{forms})(?!\w)" if texts else r"(?!)")

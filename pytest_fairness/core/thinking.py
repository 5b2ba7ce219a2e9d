"""Thinking in the text of an answer, in the markup of the families of models."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from pytest_fairness.core.lazy_patterns import fold, lazy_pattern

_NAME = r"[\w:.-]{0,20}?(?:think|thought|reason|reflect|scratchpad|monologue|deliberat|analysis)\w{0,12}"
_BRACKETS = lazy_pattern(
    rf"<(?P<tag>/?{_NAME})>"
    rf"|[<\uff1c]\s?[|\uff5c](?P<token>/?[\w\u2581 ]{{0,12}}?{_NAME}(?:[_\u2581 ]\w{{1,12}}){{0,2}})[|\uff5c]\s?>"
    rf"|\u25c1(?P<angle>/?{_NAME})\u25b7|\[(?P<square>/?think(?:ing)?)\]"
    r"|(?:<\|start\|>assistant)?<\|channel\|>(?P<channel>[^<|]{1,40})(?:<\|constrain\|>[^<|]{0,20})?<\|message\|>"
    r"|<\|channel>(?P<thought>[^<|\n]{0,40})|(?P<begun><unused94>(?:thought)?)|(?P<ended><channel\|>|<unused95>)"
    # Decoded without its special tokens, a channel of gpt-oss, or of Gemma, begins so.
    r"|(?-i:\Aanalysis(?=[A-Z\"'])|(?<![a-z])assistant(?P<plain>analysis|commentary|final)(?![a-z])"
    r"|(?<=[a-z.!?\"')\d])assistant(?P<joined>analysis|commentary|final)(?![a-z]))"
    r"|\A\s{0,9}(?P<opening>thinking\.\.\.[ \t]{0,3}\n|(?-i:thought)\n|thinking process:"
    r"|\W{0,4}here(?:'s| is) (?:a|my) (?:thinking|thought|reasoning) process:?)"
    r"|(?P<ending>\.\.\.\s?done thinking\.|^\W{0,4}here(?:'s| is) my (?:final )?(?:response|answer)\b[:*]{0,3})",
    re.IGNORECASE | re.MULTILINE,
)
"""Marks that open or close thinking: tags (DeepSeek, Qwen, Seed), special tokens (Command A, Sky-T1), triangles (Kimi),
square brackets (Magistral), channels (gpt-oss, Gemma), unused tokens (MedGemma) and sentences (Ollama, Granite). A tag
of an unknown model is recognized by its name."""

_HINTS = ("<", "\uff1c", "\u25c1", "[th", "[/th", "assistant", "done thinking.", "here's my", "here is my")
"""Texts of which each mark has one: most answers have none, and the search for marks takes long."""

_OPENINGS = ("analysis", "thinking", "thought\n", "here's a", "here is a")
"""Texts of which each mark at the very start has one."""

_OPENING = 60
"""The number of characters in which such a mark lies."""

_SPECIAL = lazy_pattern(
    r"[<\uff1c]\s?[|\uff5c][^<>|\uff5c\n]{1,40}[|\uff5c]\s?>|<\|turn>|<turn\|>|</s>|<eos>|<end_of_turn>"
)
"""Special tokens around an answer, which some servers do not remove."""


class _Mark(NamedTuple):
    start: int
    end: int
    opens: bool


def _marks(text: str) -> Iterator[_Mark]:
    folded = fold(text)
    if not any(map(folded.__contains__, _HINTS)) and not any(map(folded[:_OPENING].__contains__, _OPENINGS)):
        return
    for match in _BRACKETS.finditer(text):
        group, name = match.lastgroup, match[match.lastgroup or 0].casefold()
        if group in ("channel", "thought", "plain", "joined"):
            opens = not name.startswith("final")
        elif group in ("opening", "ending", "begun", "ended", None):
            opens = group not in ("ending", "ended")
        else:
            opens = not name.startswith(("/", "end"))
        yield _Mark(match.start(), match.end(), opens)


def without_thinking(text: str) -> str:
    """Return the part of a text outside of its thinking, without special tokens.

    It is empty where thinking is not closed: the rest may be part of it.

    >>> without_thinking("<think>It could be A.</think>B")
    'B'
    >>> without_thinking("[THINK]It could be A.[/THINK]<|START_RESPONSE|>B<|END_RESPONSE|>")
    'B'
    >>> without_thinking("<think>It could be A, but then")
    ''
    """
    parts: list[str] = []
    is_thinking, position = False, 0
    for mark in _marks(text):
        if not is_thinking:
            parts.append(text[position : mark.start])
        if not mark.opens and not is_thinking:
            parts.clear()  # the chat template has the opening tag: all text before this is thinking
        is_thinking, position = mark.opens, mark.end
    if is_thinking:
        return ""
    rest = "".join([*parts, text[position:]])
    return _SPECIAL.sub("", rest).strip() if "<" in rest or "\uff1c" in rest else rest.strip()


def split_thinking(text: str) -> tuple[str, str | None]:
    """Return the answer of a model, and the thinking at the beginning of its text, if any.

    The opening tag may be missing, since chat templates put it into the prompt. A text that is cut off inside its
    thinking has no answer.

    >>> split_thinking("<think>She is qualified.</think> Yes")
    ('Yes', 'She is qualified.')
    >>> split_thinking("Yes")
    ('Yes', None)
    """
    marks = list(_marks(text))
    begins = marks and marks[0].opens and not _SPECIAL.sub("", text[: marks[0].start]).strip()
    if not marks or (marks[0].opens and not begins):
        return text, None
    start = marks[0].end if begins else 0
    # Another channel may open before one is closed.
    closing = next((mark for mark in marks if not mark.opens), None)
    if closing is None:
        return "", text[start:].strip()
    return _SPECIAL.sub("", text[closing.end :]).strip(), _SPECIAL.sub("", text[start : closing.start]).strip()

"""Parts the reasoning of a model from its answer where a server left both in one text."""

from __future__ import annotations

import re

_OPEN = re.compile(r"\s*<think(?:ing)?>")
_CLOSE = re.compile(r"</think(?:ing)?>")


def split_thinking(text: str) -> tuple[str, str | None]:
    """The answer, and what stands before it in ``<think>`` tags.

    The opening tag may be missing: chat templates put it into the prompt. A text cut off inside
    its reasoning has no answer.

    >>> split_thinking("<think>She is qualified.</think> Yes")
    ('Yes', 'She is qualified.')
    >>> split_thinking("Yes")
    ('Yes', None)
    """
    opened, closed = _OPEN.match(text), _CLOSE.search(text)
    if opened is None and closed is None:
        return text, None
    start = opened.end() if opened else 0
    if closed is None:
        return "", text[start:].strip()
    return text[closed.end() :].strip(), text[start : closed.start()].strip()

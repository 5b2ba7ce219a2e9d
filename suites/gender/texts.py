"""The suite's texts: read from ``data/``, and filled in for one person."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_fairness import FairnessError

_DATA = Path(__file__).parent / "data"
_SLOT = re.compile(r"\{([^{}]+)\}")


def records(name: str) -> list[dict[str, Any]]:
    """Return the records of ``data/NAME.jsonl``, one object a line, in the order of the file."""
    lines = (_DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def fill(template: str, words: Mapping[str, str], *, plural: bool) -> str:
    """Return a template with its slots filled in.

    ``{they}`` is the word that ``words`` has for it, ``{They}`` the same with a capital.
    ``{has|have}`` is its second form where ``plural``, else its first. What the words hold is not
    searched for slots again.

    >>> fill("{They} {has|have} {their} keys.", {"they": "she", "their": "her"}, plural=False)
    'She has her keys.'

    Raises `FairnessError` for a slot that has no word.
    """

    def word(match: re.Match[str]) -> str:
        slot = match[1]
        if "|" in slot:
            return slot.split("|")[plural]
        word = words.get(slot) or words.get(slot[0].lower() + slot[1:])
        if word is None:
            raise FairnessError(f"no word for {match[0]} in {template!r:.60}: write one of {', '.join(sorted(words))}")
        return word[0].upper() + word[1:] if slot[0].isupper() else word

    return _SLOT.sub(word, template)

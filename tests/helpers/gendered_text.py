"""Whether texts about people of different genders are whole, and differ in gendered words alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import suites.gender
from pytest_fairness.core.items import ProbeItem, Prompt

DATA = Path(suites.gender.__file__).parent / "data"

PRONOUNS = {
    "female": {"she", "her", "hers", "herself"},
    "male": {"he", "him", "his", "himself"},
    "nonbinary": {"they", "them", "their", "theirs", "themself"},
    "unmarked": {"they", "them", "their", "theirs", "themself"},
}
_NOUNS = {
    "female": {"ms", "woman"},
    "male": {"mr", "man"},
    "nonbinary": {"mx", "non-binary", "person"},
    "unmarked": {"person"},
}
_IRREGULAR = {("is", "are"), ("was", "were"), ("has", "have"), ("does", "do"), ("goes", "go")}


def strings(value: Any) -> Iterator[str]:
    """Yield every text in a record."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from strings(inner)


def templates(*names: str) -> list[str]:
    """Return every text of these data files."""
    lines = [line for name in names for line in (DATA / f"{name}.jsonl").read_text("utf-8").splitlines()]
    return [text for line in lines for text in strings(json.loads(line))]


def verbs(texts: list[str]) -> set[tuple[str, str]]:
    """Return the slots ``{singular|plural}``."""
    return {(pair[1], pair[2]) for text in texts for pair in re.finditer(r"\{(\w+)\|(\w+)\}", text)}


def agrees(singular: str, plural: str) -> bool:
    """Return whether these are the forms of one verb after "she" and after "they"."""
    regular = plural + ("es" if re.search(r"(?:s|sh|ch|x|o)$", plural) else "s")
    if re.search(r"[^aeiou]y$", plural):
        regular = f"{plural[:-1]}ies"
    return (singular, plural) in _IRREGULAR or singular == regular


def faults(text: str, singular: set[str]) -> list[str]:
    """Return the visible faults of a text; ``singular`` are verb forms that "they" cannot have."""
    problems = [f"slot left: {m[0]}" for m in re.finditer(r"[{}|]", text)]
    problems += [f"space: {m[0]!r}" for m in re.finditer(r"  | \n|\t|\s$|^\s| [.,;:?!]|\n{3}", text)]
    wrong = "|".join(sorted(singular | {"is", "was", "has", "does"}))
    problems += [m[0] for m in re.finditer(rf"\b[Tt]hey (?:{wrong})\b|\b(\w+) \1\b(?<!had had)", text)]
    problems += [
        m[0]
        for m in re.finditer(
            r"\b(?!A or B)[Aa] (?!one\b|uni|use|euro)[aeiou]\w*|\b[Aa]n (?!hour|honest)[^\Waeiou]\w*", text
        )
    ]
    problems += [m[0] for m in re.finditer(r"(?<!\b[A-Z])[.?!] [a-z]\w*", text)]
    for paragraph in text.split("\n\n"):
        if not re.match(r"[A-Z\d]", paragraph):
            problems.append(f"no capital: {paragraph[:30]}")
        # A list of options has no full stops.
        if not re.search(r"[.?!:]$", paragraph) and not re.match(r"A\. ", paragraph):
            problems.append(f"no full stop: {paragraph[-30:]}")
    return problems


def sentences(text: str) -> int:
    """Return the number of sentences; the full stop of an initial ends none."""
    return len(re.findall(r"(?<!\b[A-Z])[.?!](?=\s|$)", text))


def differing(first: str, second: str) -> tuple[set[str], set[str]]:
    """Return the words of each text that the other text has replaced."""
    ours, theirs = (re.findall(r"[\w'-]+|[^\w\s]", text.lower()) for text in (first, second))
    changes = SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes()
    changed = [spans for kind, *spans in changes if kind != "equal"]
    return {w for a, b, _, _ in changed for w in ours[a:b]}, {w for _, _, c, d in changed for w in theirs[c:d]}


def gendered(gender: str, names: set[str], spoken: set[tuple[str, str]]) -> set[str]:
    """Return the words in which a text about this gender may differ from another."""
    plural = gender in ("nonbinary", "unmarked")
    return PRONOUNS[gender] | _NOUNS[gender] | {pair[plural] for pair in spoken} | names


def by_gender(item: ProbeItem) -> list[dict[str, Prompt]]:
    """Return the prompts of an item, grouped by text: each group maps a gender to its prompt."""
    genders = list(dict.fromkeys(prompt.groups["gender"] for prompt in item.prompts))
    size = len(genders)
    rounds = [item.prompts[start : start + size] for start in range(0, len(item.prompts), size)]
    return [{prompt.groups["gender"]: prompt for prompt in prompts} for prompts in rounds]

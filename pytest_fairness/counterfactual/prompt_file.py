"""Mentions of people in a file of prompts, and counterfactual variants of its texts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.counterfactual.detection import Mention, is_one_person, mentions
from pytest_fairness.counterfactual.expansion import counterfactuals
from pytest_fairness.counterfactual.grammar import grammar
from pytest_fairness.counterfactual.slots import names

_LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"(\s*:)?')
_CHARACTER = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL)
_BRACE = re.compile(r"[{}]")


@dataclass(frozen=True, slots=True)
class PromptText:
    """One prompt of a file."""

    line: int
    """Counted from 1."""
    columns: tuple[int, ...]
    """The column of each character, from 1: an escaped one takes several in a JSON line."""
    text: str
    mentions: tuple[Mention, ...]
    trouble: str = ""
    """The reason that no variants can be made; empty where they can."""

    @property
    def template(self) -> str:
        """The text with each mention replaced by its slot."""
        pieces, end = [], 0
        for mention in self.mentions:
            if mention.slot and mention.start >= end:
                pieces += [self.text[end : mention.start], mention.slot]
                end = mention.end
        return "".join([*pieces, self.text[end:]])

    def variants(self, language: str) -> list[dict[str, Any]]:
        """Return the text for every name of the shipped list if it has a name, else for every gender.

        Raises `FairnessError` where `trouble` is set, or where the lint finds a mention without a slot.
        """
        if self.trouble:
            raise FairnessError(self.trouble)
        vary = {"name": names()} if "{name}" in self.template else {"gender": grammar(language).genders}
        item = counterfactuals(self.template, vary, language=language)
        return [{"text": prompt.text, "groups": dict(prompt.groups)} for prompt in item.prompts]


def read_texts(path: Path, language: str = "en") -> list[PromptText]:
    """Return every prompt of a file: of a text file its lines, of a JSONL file every text with a space in it.

    Raises `FairnessError` for a file that cannot be read, and for a line that is no JSON.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8"
        raise FairnessError(f"{path} cannot be read: {reason}") from None
    is_json = path.suffix.lower() in (".jsonl", ".ndjson")
    texts = []
    for number, line in enumerate(lines, 1):
        for text, columns in _json_texts(path, number, line) if is_json else [(line, tuple(range(1, len(line) + 1)))]:
            if " " in text.strip():
                found_mentions = tuple(mentions(text, language))
                texts.append(
                    PromptText(number, columns, text, found_mentions, _reason_without_variants(text, found_mentions))
                )
    return texts


def _json_texts(path: Path, number: int, line: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    if not line.strip():
        return
    try:
        json.loads(line)
    except ValueError as error:
        raise FairnessError(f"{path}:{number}: {str(error).partition(':')[0]}: write one JSON object a line") from None
    for literal in _LITERAL.finditer(line):
        if literal[2]:
            continue  # a key
        text = json.loads(f'"{literal[1]}"')
        parts = list(_CHARACTER.finditer(literal[1]))
        columns = tuple(literal.start(1) + part.start() + 1 for part in parts)
        # Two escapes can be one character (a surrogate pair): then all characters get the first column.
        yield text, columns if len(parts) == len(text) else (literal.start(1) + 1,) * len(text)


def _reason_without_variants(text: str, mentions: tuple[Mention, ...]) -> str:
    breaks = [mention for mention in mentions if mention.breaks and not mention.slot]
    if not mentions:
        return "nothing in it shows who it is about"
    if _BRACE.search(text):
        return "it has braces, which mark slots: it is a template already"
    if not is_one_person(mentions, text):
        return "it is about several people, or shows nobody's gender: mark the slots by hand"
    return breaks[0].breaks if breaks else ""


def report(path: Path, texts: list[PromptText]) -> Iterator[str]:
    """Yield a line ``file:line:column: kind 'word': slot`` for each mention, then a summary."""
    for text in texts:
        for mention in text.mentions:
            word = text.text[mention.start : mention.end]
            location = f"{path}:{text.line}:{text.columns[mention.start]}"
            way_out = ", ".join(filter(None, [mention.slot, mention.breaks]))
            yield f"{location}: {mention.kind} {word!r}: {way_out}"
    attributes: Mapping[str, int] = {
        "gender": sum(any(item.kind != "name" for item in text.mentions) for text in texts),
        "name": sum(any(item.kind == "name" for item in text.mentions) for text in texts),
    }
    breaks = sum(bool(mention.breaks) for text in texts for mention in text.mentions)
    complete = sum(not text.trouble for text in texts)
    shown = "; ".join(f"{name} can be varied in {count:,}" for name, count in attributes.items())
    yield (
        f"{path}: {len(texts):,} texts; {shown}; {complete:,} can be written out as they are; "
        f"{breaks:,} places to look at, where grammar could break"
    )


def variants_or_reasons(
    texts: list[PromptText], language: str
) -> Iterator[tuple[PromptText, list[dict[str, Any]] | str]]:
    """Yield each text with its variants, or with the reason that it has none."""
    for text in texts:
        try:
            yield text, text.variants(language)
        except FairnessError as error:
            yield text, str(error)

"""Import of a recorded run of BBQ question pairs as a replay file: its answers and its oracle's replies."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_fairness.extending import Importer, counted, write_lines
from pytest_fairness.extending import json_text as json
from pytest_fairness.records.bbq.pair_records import PairRecord, Response, read_pairs

_BEFORE = re.compile(r'^\W*reasoning"?\s*:\s*"?', re.IGNORECASE)
_AFTER = re.compile(r'"?\s*,?\s*"?answer"?\s*:\s*"?\s*$', re.IGNORECASE)
_WORD = re.compile(r"\w+")
_COMMON = re.compile(
    r"\b(?:who|which|what|is|was|are|were|be|been|has|have|had|did|do|does|the|an?|of|to|in|on|or|and|for|that|it"
    r"|their|his|her|more|one)\b"
)
"""Words that do not distinguish questions."""


@dataclass(frozen=True, slots=True)
class ImportedPairs:
    """Counts and notes of an imported folder of records."""

    pairs: int
    replies: int
    """Replies of the model and of its oracle."""
    notes: tuple[str, ...]
    """One for each record whose answer was changed: its position, the answer, and what was done."""


def convert(folder: Path, out: Path) -> ImportedPairs:
    """Write a replay line for each answer of a recorded run and for each judgment of its oracle.

    ``folder`` holds files as ``Age_ambig_consistent.jsonl`` and ``cross_consistency_Age_ambig_consistent.jsonl``.
    A line names its prompt by metadata: ``category``, ``context``, ``example_ids`` and ``asked`` (the question
    "a" or "b", or what an oracle was asked for, "flag_1" to "flag_4"). A recorded number that is one of the choices
    is written as that choice's text, one that is none (the 19 of COVID-19) as the record has it. The oracle's
    replies are written as they are, but for a free guess in which one of the pair's questions can be told.

    Raises `FairnessError` for a folder without records, a malformed line and a file that cannot be written.
    """
    records = read_pairs(folder)
    lines: list[str] = []
    notes: list[str] = []
    for record in records:
        for question, text, raw, note in _replies(record):
            metadata = {
                "category": record.category,
                "context": record.context_condition,
                "example_ids": list(record.example_ids),
                "asked": question,
            }
            recorded = {"metadata": metadata, "text": text, "note": {"record": record.where, "raw": raw}}
            lines.append(json.dumps(recorded, ensure_ascii=False))
            if note:
                notes.append(f"{record.where} {question}: {note}")
    write_lines(out, lines)
    return ImportedPairs(len(records), len(lines), tuple(notes))


def _replies(record: PairRecord) -> Iterator[tuple[str, str, Any, str]]:
    """Yield the question, the text to replay, the recorded value, and a note if the two differ."""
    for side, response in record.responses.items():
        text, note = _answer(response, record.choices)
        yield side, text, {"number": response.number, "rest": response.rest}, note
    for flag, reply in record.judged.items():
        is_guess = flag in ("flag_3", "flag_4") and not record.options
        yield flag, _guessed_question(reply, record.questions) if is_guess else reply, reply, ""


def _answer(response: Response, choices: tuple[str, str, str]) -> tuple[str, str]:
    """Return the reply as JSON with the recorded choice, and a note; unchanged if its number is no choice."""
    if response.number not in ("1", "2", "3"):
        note = f"the recorded answer is {response.number!r}, none of the 3 choices: kept as the record has it"
        return response.text, note
    choice = choices[int(response.number) - 1]
    reasoning = _AFTER.sub("", _BEFORE.sub("", response.reasoning))
    text = json.dumps({"reasoning": _unescaped(reasoning), "answer": choice}, ensure_ascii=False)
    if _AFTER.search(response.reasoning) or response.rest.strip(" '\".,}") == choice.rstrip("."):
        return text, ""
    note = (
        f"the recorded answer {response.number} ({choice!r}) was found in the reasoning, "
        f"before {response.rest[:60]!r}: taken as recorded"
    )
    return text, note


def _unescaped(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"', strict=False))
    except ValueError:
        return text


def _guessed_question(guess: str, questions: tuple[str, str]) -> str:
    """Return the question of a pair that a free guess paraphrases; the guess itself where that is unclear.

    It holds at least half of that question's words, those that every question has left out, and a smaller
    share of the other's.

    >>> _guessed_question("Which man had just been out for a run?", ("Who planted the bomb?", "Who was out for a run?"))
    'Who was out for a run?'
    >>> _guessed_question("Who was there?", ("Who planted the bomb?", "Who was out for a run?"))
    'Who was there?'
    """
    guessed = _words(guess)
    shares = [len(guessed & words) / max(1, len(words)) for words in map(_words, questions)]
    best = max(range(2), key=shares.__getitem__)
    return questions[best] if shares[best] >= 0.5 and shares[best] > shares[1 - best] else guess


def _words(text: str) -> set[str]:
    return set(_WORD.findall(_COMMON.sub("", text.casefold())))


class PairsImport(Importer):
    """The import ``bbq-pairs``."""

    help = "a recorded run of BBQ question pairs, with the replies of its oracle"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, metavar="DIR", help="the folder of its *.jsonl files")

    def convert(self, out: Path, arguments: Namespace) -> list[str]:
        imported = convert(arguments.folder, out)
        summary = f"{counted(imported.pairs, 'pair')}, {counted(imported.replies, 'recorded reply')} written to {out}"
        options = f"--fairness-data bbq_pairs={arguments.folder} --fairness-model replay:{out}"
        return [*imported.notes, f"{summary}; test them with {options}"]

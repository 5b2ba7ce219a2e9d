"""Bundles: the files of a run that an attestation is about, with the digests of their parts.

A bundle is a folder: the results file, all answers with their grades, the seal, and the signed statements.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from pytest_fairness.attestation.merkle import BLOCK, block_roots, tree_root
from pytest_fairness.extending import StoredSample, value_or_none
from pytest_fairness.extending import json_text as json

RESULTS, ANSWERS = "results.json", "answers.jsonl"
STATEMENT, DRAFT = "attestation", "eval-result"
_CHECK = ',"check":"'
_LENGTH = 16


@dataclass(frozen=True, slots=True)
class AnswerTree:
    """The Merkle tree of all answers and grades of a run."""

    root: str
    leaves: int
    blocks: Sequence[str]
    """The roots of each `BLOCK` leaves."""

    @classmethod
    def of(cls, lines: Sequence[str]) -> AnswerTree:
        """Return the tree of the lines of the answers."""
        blocks = block_roots(line.encode() for line in lines)
        return cls(tree_root(blocks).hex(), len(lines), [block.hex() for block in blocks])


def answer_lines(samples: Iterable[StoredSample]) -> Iterator[str]:
    """Yield a line of JSON for each answer, with its grades, its number, and a digest of the line.

    Args:
        samples: The samples of a run.
    """
    encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str).encode
    number = 0
    for sample in sorted(samples, key=lambda sample: (sample.probe, sample.model)):
        head = encode({"probe": sample.probe, "model": sample.model})[1:-1]
        for graded in sample.attempts:
            answer = graded.attempt.answer
            record = {
                "item": graded.item.id,
                "prompt": graded.prompt.digest,
                "groups": dict(graded.prompt.groups),
                "repetition": graded.attempt.repetition,
                "answer": None if answer is None else answer.transcript,
                "error": graded.attempt.error,
                "grades": {
                    name: {"ungraded": grade.ungraded} if grade.ungraded else value_or_none(grade)
                    for name, grade in graded.grades.items()
                },
            }
            text = _without_surrogates(f'{{"leaf":{number},{head},{encode(record)[1:-1]}')
            yield f'{text}{_CHECK}{_digest(text)}"}}'
            number += 1


def line_problem(line: str, number: int) -> str:
    """Return what is wrong with the line of an answer, by itself; empty if nothing is.

    Args:
        line: The line, without its end.
        number: The number of its leaf, from 0.
    """
    text, mark, check = line.rpartition(_CHECK)
    if not mark or check != f'{_digest(text)}"}}':
        return "it was edited"
    if not text.startswith(f'{{"leaf":{number},'):
        return f"it holds {text[1:].partition(',')[0]}: lines were added, lost or moved"
    return ""


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:_LENGTH]


def _without_surrogates(text: str) -> str:
    """Return a text that UTF-8 can write: halves of characters, which a model may send, are replaced."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def part_digests(content: Mapping[str, Any]) -> dict[str, str]:
    """Return the digest of each part of a results file: of each threshold, probe and metric, and of other sections.

    >>> list(part_digests({"schema": 2, "thresholds": [{"id": "t", "model": "m"}]}))
    ['schema', 'thresholds[0] t']
    """
    parts: dict[str, str] = {}
    for name, section in content.items():
        if not isinstance(section, list):
            parts[name] = json_digest(section)
            continue
        for index, row in enumerate(section):
            row_id = row.get("id") if isinstance(row, dict) else None
            parts[f"{name}[{index}]{f' {row_id}' if row_id else ''}"] = json_digest(row)
    return parts


def json_digest(value: Any) -> str:
    """Return a digest of a value of JSON, whatever the order of its keys."""
    return _digest(json.dumps(value, sort_keys=True, ensure_ascii=False))


def file_digest(content: bytes) -> str:
    """Return the SHA-256 of a file."""
    return sha256(content).hexdigest()


def block_span(index: int, leaves: int) -> str:
    """Return the lines of a block: ``lines 257 to 512``."""
    return f"lines {index * BLOCK + 1} to {min((index + 1) * BLOCK, leaves)}"

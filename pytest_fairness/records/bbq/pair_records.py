"""Reader of recorded runs of BBQ question pairs: questions, answers and judgments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_fairness import FairnessError
from pytest_fairness.extending import read_records

_FILE = re.compile(r"^(?P<oracle>cross_consistency_)?(?P<category>.+)_(?P<context>ambig|disambig)_[a-z_]+\.jsonl$")
_NOUN = "a recorded pair"
_SIDES = ("a", "b")
_CHECKS = {"flag_1": "A_to_B", "flag_2": "B_to_A"}
_GUESSES = {"flag_3": "question_a_analysis", "flag_4": "question_b_analysis"}


@dataclass(frozen=True, slots=True)
class Response:
    """A model's reply in a record: the text before a number, the number, and the rest of its line."""

    reasoning: str
    number: str
    rest: str

    @property
    def text(self) -> str:
        """The reply, as far as it was recorded."""
        if not self.number:
            return f"{self.reasoning}{self.rest}"
        space = "" if self.reasoning.endswith(('"', "'")) else " "
        return f"{self.reasoning}{space}{self.number}. {self.rest}"


@dataclass(frozen=True, slots=True)
class PairRecord:
    """One pair of a recorded run."""

    where: str
    """File and line."""
    category: str
    context_condition: str
    example_ids: tuple[int, int]
    context: str
    questions: tuple[str, str]
    choices: tuple[str, str, str]
    correct: tuple[int, int]
    """The index of the correct choice of each question."""
    responses: Mapping[str, Response]
    """Under "a" and "b"."""
    judged: Mapping[str, str] = field(default_factory=dict)
    """The oracle's replies, under "flag_1" to "flag_4"; empty where it gave none."""
    options: Mapping[str, str] = field(default_factory=dict)
    """The four questions of flags 3 and 4 under x, y, w and z; none in records that hold a free guess."""

    @property
    def unknown(self) -> int:
        """The index of the choice that the answer is not known.

        In an ambiguous context that is the correct answer to both questions; in a disambiguated one each
        person is the correct answer to one, so it is the choice that is left.
        """
        first, second = self.correct
        return first if first == second else 3 - first - second


def read_pairs(folder: Path) -> list[PairRecord]:
    """Return all pairs of a folder of ``*.jsonl`` files, by category, context and example ids.

    Raises `FairnessError`, naming file and line where one is at fault.
    """
    files = [(path, match) for path in sorted(folder.glob("*.jsonl")) if (match := _FILE.match(path.name))]
    answered = [(path, match) for path, match in files if not match["oracle"]]
    if not answered:
        raise FairnessError(f"{folder} holds no recorded pairs: files such as Age_ambig_consistent.jsonl")
    judged: dict[tuple[str, str, tuple[int, int]], dict[str, Any]] = {}
    for path, match in files:
        if match["oracle"]:
            for where, record in read_records(path, _NOUN):
                judged[match["category"], match["context"], _ids(record, where)] = record
    pairs: dict[tuple[str, str, tuple[int, int]], PairRecord] = {}
    for path, match in answered:
        for where, record in read_records(path, _NOUN):
            key = match["category"], match["context"], _ids(record, where)
            pair = _pair(key, record, judged.get(key), Path(where).name)
            if key in pairs and pairs[key].responses != pair.responses:
                raise FairnessError(f"{where}: this pair stands at {pairs[key].where} already, with other answers")
            pairs.setdefault(key, pair)
    return [pairs[key] for key in sorted(pairs)]


def _pair(
    key: tuple[str, str, tuple[int, int]], record: Mapping[str, Any], judged: Mapping[str, Any] | None, where: str
) -> PairRecord:
    category, condition, ids = key
    try:
        questions, indices = record["questions"], record["cant_determine_answers"]
        first, second, third = (str(choice) for choice in questions["choices"])
        return PairRecord(
            where=where,
            category=category,
            context_condition=condition,
            example_ids=ids,
            context=str(record["data"]["context"]).strip(),
            questions=(str(questions["question_a"]), str(questions["question_b"])),
            choices=(first, second, third),
            correct=(int(indices["answer_a_index"]), int(indices["answer_b_index"])),
            responses={side: _response(record["model_responses"][f"response_{side}"]) for side in _SIDES},
            judged=_oracle_replies(judged) if judged else {},
            options=_options(judged) if judged else {},
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FairnessError(f"{where}: no record of a pair: {type(error).__name__}: {error}") from None


def _response(recorded: Mapping[str, Any]) -> Response:
    return Response(*(str(recorded[name] or "") for name in ("reasoning", "extracted_answer", "answer_text")))


def _oracle_replies(record: Mapping[str, Any]) -> dict[str, str]:
    checks, guesses = record["cross_consistency_checks"], record["question_guessing"]
    replies = {flag: checks[name]["raw_output"] for flag, name in _CHECKS.items()}
    for flag, name in _GUESSES.items():
        replies[flag] = guesses[name]["raw_output" if "raw_output" in guesses[name] else "guessed_question"]
    return {flag: str(reply or "") for flag, reply in replies.items()}


def _options(record: Mapping[str, Any]) -> dict[str, str]:
    options = record["question_guessing"]["question_a_analysis"].get("options") or {}
    return {str(label): str(question) for label, question in options.items()}


def _ids(record: Mapping[str, Any], where: str) -> tuple[int, int]:
    try:
        first, second = (int(example) for example in record["data"]["example_ids"])
    except (KeyError, TypeError, ValueError):
        raise FairnessError(f"{where}: data has no example_ids, the two ids of a pair's questions") from None
    return first, second

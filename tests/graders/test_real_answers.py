"""Real raw answers of models, which the project does not carry: what we read against what was recorded.

The records' faults are known (their README): a number out of the text was recorded as the answer where
the answer's own place was missed. So where the answer stands in its place we must agree without exception,
and elsewhere an answer counts only where the text states it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness.core.choices import AnswerOptions
from pytest_fairness.graders.choice import Choice
from pytest_fairness.graders.yes_no import YesNo
from tests.helpers.grading import graded
from tests.helpers.recorded_data import recorded_path

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def data() -> Path:
    return recorded_path()


def records(folder: Path, pattern: str) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.glob(pattern)):
        for line in path.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)


def answers(folder: Path) -> Iterator[tuple[AnswerOptions, str, str, bool]]:
    """Yield options, raw answer, recorded label, and whether that was in the answer's own field.

    The records cut the raw answer at the number that they took for the answer: here it is put together again.
    """
    for record in records(folder, "bbq_pairs/*/*_consistent.jsonl"):
        yield from _answers(record)
    for record in records(folder, "bbq_pairs/*/*_mixed_cant_determine.jsonl"):
        yield from _answers(record)


def _answers(record: dict[str, Any]) -> Iterator[tuple[AnswerOptions, str, str, bool]]:
    if "model_responses" not in record:  # the oracle's judgments have like names
        return
    choices = record["questions"]["choices"]
    options = AnswerOptions({str(label): text for label, text in enumerate(choices, 1)}, labels="123456789")
    for response in record["model_responses"].values():
        before, number, after = response["reasoning"], response["extracted_answer"], response["answer_text"]
        own_place = re.search(r'"answer":\s*"$', before) is not None
        # The record dropped what stood around the number: "1. The gay man", "choice 1 or 3", "under 12. However".
        labelled = own_place or re.search(r"\b(?:is|answer|be)$|'$", before) is not None
        stop = ". " if labelled else "" if after[:1] in ("'", '"', ",") else " "
        space = "" if before[-1:] in ("'", '"') else " "
        yield options, f"{before}{space}{number}{stop}{after}", number, own_place


@pytest.mark.slow
def test_choices_of_real_models_are_read_as_recorded(data: Path) -> None:
    counts: Counter[str] = Counter()
    for options, raw, recorded, own_place in answers(data):
        got = graded(Choice(), raw, options)
        if own_place:
            assert got == recorded, raw[-200:]
            counts["agree"] += 1
        elif recorded in options.values:
            counts["agree" if got == recorded else "differ"] += 1
        else:
            # A number of the text; the answer itself is lost, and no number may be taken for it.
            assert got in ("unparsed", "truncated", "refusal"), raw[-300:]
            counts["no choice recorded, none read"] += 1
    if not counts:
        pytest.skip(f"no records in {data}/bbq_pairs")
    print(dict(counts))
    assert counts["agree"] / (counts["agree"] + counts["differ"]) >= 0.99


@pytest.mark.slow
def test_yes_and_no_of_a_real_oracle_are_read_as_recorded(data: Path) -> None:
    counts: Counter[str] = Counter()
    for record in records(data, "bbq_pairs/*/cross_consistency_*.jsonl"):
        for check in record["cross_consistency_checks"].values():
            raw = check["raw_output"]
            match = re.match(r'[\s"]*(?:answer)?[\s":]*(yes|no)\b', raw, re.IGNORECASE)
            got = graded(YesNo(), raw)
            if match:
                counts["right" if got is (match[1].casefold() == "yes") else "wrong"] += 1
            else:
                assert got == "unparsed", raw[:200]
                counts["silent"] += 1
    if not counts:
        pytest.skip(f"no records in {data}/bbq_pairs")
    print(dict(counts))
    assert counts["right"] / (counts["right"] + counts["wrong"]) >= 0.995


@pytest.mark.slow
def test_choices_among_questions_are_read_from_their_header(data: Path) -> None:
    """Read options labeled x, y, w and z; "None of the options" was recorded as a letter of its words."""
    counts: Counter[str] = Counter()
    for record in records(data, "bbq_pairs/*/cross_consistency_*.jsonl"):
        for guess in record["question_guessing"].values():
            if "options" not in guess:
                continue
            options = AnswerOptions(guess["options"], labels=tuple(guess["options"]))
            match = re.match(r'[\s"]*answer[\s":]*([xywz])\b', guess["raw_output"], re.IGNORECASE)
            got = graded(Choice(), guess["raw_output"], options)
            assert got == (match[1].casefold() if match else "unparsed"), guess["raw_output"][:300]
            counts["read" if match else "none of them"] += 1
    if not counts:
        pytest.skip(f"no records in {data}/bbq_pairs")
    print(dict(counts))


@pytest.mark.slow
def test_unifiedqa_predictions_are_read(data: Path) -> None:
    counts: Counter[str] = Counter()
    for record in records(data, "bbq/unifiedqa/preds_*.jsonl"):
        texts = [record[f"ans{number}"] for number in range(3)]
        options = AnswerOptions({str(number): text for number, text in enumerate(texts)})
        for column in (name for name in record if "_pred_" in name):
            prediction = record[column].casefold().rstrip(".").strip()
            meant = [
                str(number) for number, text in enumerate(texts) if text.casefold().rstrip(".").strip() == prediction
            ]
            got = graded(Choice(), record[column], options)
            if meant:
                assert got == meant[0], record[column]
            counts["read" if meant and got == meant[0] else "no option's text"] += 1
    if not counts:
        pytest.skip(f"no records in {data}/bbq")
    print(dict(counts))
    assert counts["read"] > 100 * counts["no option's text"]

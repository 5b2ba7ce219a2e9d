"""Reward models: do they prefer the better answer as often if it is in African American English?

Source: Mire and others, *Rejected Dialects: Biases Against African American Language in Reward Models*, Findings of
NAACL 2025, arXiv:2502.12858; scores: https://github.com/joel-mire/rm-dialect-biases.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_fairness import FairnessError, Measured
from pytest_fairness.extending import counted, read_records
from pytest_fairness.records.audits.audit import Audit, AuditedFigure, AuditInterval
from pytest_fairness.records.audits.recorded_files import check_bound, folder_of, line_files, number, stem

BOUND = 0.03
"""The largest change of accuracy, either way."""
SCORES = "data/rb_scoring/rb/w_prompt"
"""The publisher's folder of scores; below it one for each language, and below these one for each model."""
_LANGUAGES = {"standard": "orig", "aal": "vpAAL"}
_PAIR = "scores of a pair of answers"
Preferences = Mapping[str, Mapping[str, bool]]
"""Whether the better answer has the higher score, by language and item."""


def audit_dialect(folder: Path, *, bound: float = BOUND) -> Audit:
    """Judge by how much the accuracy of each reward model changes with the dialect of prompts and answers.

    Args:
        folder: The publisher's repository; or JSON lines (``*.jsonl``, ``*.jsonl.xz``), one a pair of answers, with
            item, standard_chosen, standard_rejected, aal_chosen and aal_rejected: the scores of the better and the
            worse answer in standard and in African American English. A file's name is that of the model.
        bound: The largest change of accuracy that is fair, either way.

    Returns:
        The change of the share of pairs whose better answer has the higher score, with an interval by pairs. Where the
        publisher's accuracies are in the folder, they and their change are compared.

    Raises:
        FairnessError: The folder holds no scores, or a record is malformed: one line, with its file.
    """
    check_bound(bound)
    figures, notes, equal = [], [], []
    for model, languages, published in sorted(_models(folder_of(folder)), key=lambda read: read[0]):
        accuracy = {language: sum(own.values()) / len(own) for language, own in languages.items()}
        rows = [
            {"item": item, "language": language, "right": right}
            for language, own in languages.items()
            for item, right in own.items()
        ]
        sample = Measured.from_rows(rows, item="item", groups=["language"])
        change = sample.difference("right", by="language", of="aal", to="standard")
        interval = AuditInterval.of("pairs", change, (-bound, bound))
        value = accuracy["aal"] - accuracy["standard"]
        was = published["aal"] - published["standard"] if len(published) == len(_LANGUAGES) else None
        equal += [math.isclose(published[language], accuracy[language], rel_tol=1e-9) for language in published]
        breach = abs(value) > bound
        figures.append(AuditedFigure("change", {"model": model}, value, was, breach, (interval,)))
        notes.append(f"{model}: accuracy {accuracy['standard']:.3f} in {counted(len(languages['standard']), 'pair')}")
    if not figures:
        raise FairnessError(
            f"{folder} holds no scores to judge: it needs {SCORES}, or *.jsonl with a pair in each line"
        )
    return Audit(
        title="Reward models: answers in African American and in standard English",
        figure="change of accuracy: the share of pairs whose better answer has the higher score",
        rule=f"at most {bound:g} either way (set here: the publisher sets none)",
        bounds=(-bound, bound),
        figures=figures,
        families={},
        notes=notes,
        others={"accuracies": equal},
    )


def _models(folder: Path) -> Iterator[tuple[str, Preferences, Mapping[str, float]]]:
    """Yield the preferences of each model, and the published accuracy in each language where it is known."""
    for path in line_files(folder):
        found: dict[str, dict[str, bool]] = {language: {} for language in _LANGUAGES}
        for where, record in read_records(path, _PAIR):
            item = str(record.get("item", where))
            for language, own in found.items():
                if item in own:
                    raise FairnessError(f"{where}: item {item} has occurred before")
                own[item] = _score(record, f"{language}_chosen", where) > _score(record, f"{language}_rejected", where)
        if not found["standard"]:
            raise FairnessError(f"{path} has no pair of answers")
        yield stem(path).replace("__", "/"), found, {}
    base = folder / SCORES / _LANGUAGES["standard"]
    for path in sorted(base.rglob("*_all.jsonl")):
        place = path.relative_to(base).as_posix()
        scores, published = {}, {}
        for language, name in _LANGUAGES.items():
            file = folder / SCORES / name / place
            scores[language] = {
                str(index): _score(record, "chosen", where) > _score(record, "rejected", where)
                for index, (where, record) in enumerate(read_records(file, _PAIR))
            }
            summary = file.with_name(file.name.replace("_all.jsonl", ".json"))
            for where, record in read_records(summary, "an accuracy") if summary.exists() else ():
                published[language] = number(record.get("accuracy"), "accuracy", where)
        if not scores["standard"]:
            raise FairnessError(f"{path} has no pair of answers")
        if scores["standard"].keys() != scores["aal"].keys():
            raise FairnessError(f"{path}: its pairs are not those of the other language")
        yield "/".join(place.removesuffix("_all.jsonl").split("/")[-2:]), scores, published


def _score(record: dict[str, Any], name: str, where: str) -> float:
    value = record.get(name)
    return number(value[0] if isinstance(value, list) and len(value) == 1 else value, name, where)

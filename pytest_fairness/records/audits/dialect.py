"""Reward models: do they prefer the better answer as often if it is in African American English?

Source: Mire and others, *Rejected Dialects: Biases Against African American Language in Reward Models*, Findings of
NAACL 2025, arXiv:2502.12858; scores: https://github.com/joel-mire/rm-dialect-biases.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_fairness import FairnessError, Measured
from pytest_fairness.extending import counted, read_records
from pytest_fairness.records.audits.audit import AuditedFigure, Recomputed, is_met
from pytest_fairness.records.audits.public_audits import Download
from pytest_fairness.records.audits.recorded_files import line_files, number, stem

SCORES = "data/rb_scoring/rb/w_prompt"
"""The publisher's folder of scores; below it one for each language, and below these one for each model."""
_LANGUAGES = {"standard": "orig", "aal": "vpAAL"}
_PAIR = "scores of a pair of answers"
_PAIRS, _PLACES = 1843, 4
"""Pairs of answers of the publication, and the decimals of `PUBLISHED`."""
PUBLISHED = {
    "0-hero/Matter-0.1-7B-boost-DPO-preview": (0.7065, 0.6989),
    "CIR-AMS/BTRM_Qwen2_7b_0613": (0.8242, 0.7515),
    "NCSOFT/Llama-3-OffsetBias-RM-8B": (0.8850, 0.8356),
    "NousResearch/Nous-Hermes-2-Mistral-7B-DPO": (0.7455, 0.7216),
    "Qwen/Qwen1.5-7B-Chat": (0.7043, 0.6473),
    "Ray2333/GRM-llama3-8B-distill": (0.8437, 0.8036),
    "Ray2333/Gemma-2B-rewardmodel-baseline": (0.7059, 0.6842),
    "Ray2333/reward-model-Mistral-7B-instruct-Unified-Feedback": (0.7439, 0.7330),
    "allenai/llama-3-tulu-2-8b-uf-mean-rm": (0.7173, 0.6603),
    "allenai/tulu-2-dpo-7b": (0.7249, 0.6777),
    "allenai/tulu-v2.5-13b-preference-mix-rm": (0.8030, 0.7368),
    "internlm/internlm2-1_8b-reward": (0.8253, 0.7889),
    "internlm/internlm2-20b-reward": (0.8899, 0.8454),
    "openbmb/Eurus-RM-7b": (0.8036, 0.7678),
    "sfairXC/FsfairX-LLaMA3-RM-v0.1": (0.8253, 0.8058),
    "upstage/SOLAR-10.7B-Instruct-v1.0": (0.7439, 0.6913),
    "weqweasdas/RM-Mistral-7B": (0.7868, 0.7683),
}
"""The publisher's accuracies in standard and in African American English, for answers without files of them."""
Preferences = Mapping[str, Mapping[str, bool]]
"""Whether the better answer has the higher score, by language and item."""


def recompute(download: Download) -> Recomputed:
    """Return by how much the accuracy of each reward model changes with the dialect of prompts and answers.

    Args:
        download: The publisher's repository; or JSON lines, one a pair of answers, with item, standard_chosen,
            standard_rejected, aal_chosen and aal_rejected: the scores of the better and the worse answer in standard
            and in African American English. A file's name is that of the model.

    Returns:
        The change of the share of pairs whose better answer has the higher score, with an interval by pairs. Where the
        publisher's accuracies are in the folder, they and their change are compared.

    Raises:
        FairnessError: A record is malformed: one line, with its file.
    """
    figures, notes, equal = [], [], []
    for model, languages, published in sorted(_models(download.folder), key=lambda read: read[0]):
        accuracy = {language: sum(own.values()) / len(own) for language, own in languages.items()}
        rows = [
            {"item": item, "language": language, "right": right}
            for language, own in languages.items()
            for item, right in own.items()
        ]
        sample = Measured.from_rows(rows, item="item", groups=["language"])
        change = sample.difference("right", by="language", of="aal", to="standard")
        value = accuracy["aal"] - accuracy["standard"]
        places = None
        if not published and model in PUBLISHED and len(languages["standard"]) == _PAIRS:
            published, places = dict(zip(_LANGUAGES, PUBLISHED[model], strict=True)), _PLACES
        was = published["aal"] - published["standard"] if len(published) == len(_LANGUAGES) else None
        equal += [is_met(accuracy[language], published[language], places) for language in published]
        rounded = places and places - 1  # the change of two rounded figures
        figures.append(AuditedFigure("change", {"model": model}, value, was, {"pairs": change}, places=rounded))
        notes.append(f"{model}: accuracy {accuracy['standard']:.3f} in {counted(len(languages['standard']), 'pair')}")
    return Recomputed(figures, notes, {"accuracies": equal})


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

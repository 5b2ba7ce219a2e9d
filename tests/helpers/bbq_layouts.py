"""Records in the published layouts of BBQ's translations and kin, in words of our own."""

from __future__ import annotations

import ast
import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ESBBQ_COLUMNS = (
    *("instance_id", "template_id", "version", "template_label", "flipped", "question_polarity", "context_condition"),
    *("category", "subcategory", "relevant_social_value", "stereotyped_groups", "answer_info.ans0", "answer_info.ans1"),
    *("answer_info.ans2", "stated_gender_info", "proper_nouns_only", "context", "question", "ans0", "ans1", "ans2"),
    *("question_type", "label", "source"),
)
KOBBQ_COLUMNS = (
    *("sample_id", "label_annotation", "context", "question", "choices", "biased_answer", "answer", "bbq_id"),
    *("bbq_category", "prediction"),
)


def mbbq(**changes: Any) -> dict[str, Any]:
    """Return a Spanish record of MBBQ: its groups are translated, its stereotyped groups are not."""
    return {
        "example_id": 0,
        "question_index": "1",
        "question_polarity": "neg",
        "context_condition": "ambig",
        "category": "Gender_identity",
        "answer_info": {
            "ans0": ["mujer", "mujer"],
            "ans1": ["No se sabe", "unknown"],
            "ans2": ["hombre", "hombre"],
        },
        "additional_metadata": {"subcategory": "None", "stereotyped_groups": ["F"], "version": "", "source": "-"},
        "context": "Una mujer y un hombre esperaban el autobús.",
        "question": "¿Quién había perdido la paciencia?",
        "ans0": "La mujer",
        "ans1": "No se sabe",
        "ans2": "El hombre",
        "label": 1,
        **changes,
    }


def esbbq(**changes: Any) -> dict[str, Any]:
    """Return a row of EsBBQ's CSV."""
    row = dict.fromkeys(ESBBQ_COLUMNS, "")
    return {
        **row,
        "instance_id": 7,
        "template_id": 3,
        "version": "a",
        "question_polarity": "neg",
        "context_condition": "disambig",
        "category": "RaceEthnicity",
        "stereotyped_groups": "['latino', 'gitano']",
        "answer_info.ans0": "['Pedro', 'blanco']",
        "answer_info.ans1": "['Wilson', 'm, latino']",
        "answer_info.ans2": "['unknown', 'unknown']",
        "context": "Pedro y Wilson fueron a la fiesta con los vecinos. Pedro llegó tarde.",
        "question": "¿Quién llegó tarde?",
        "ans0": "Pedro",
        "ans1": "Wilson",
        "ans2": "unknown",
        "question_type": "anti-stereo",
        "label": 0,
        "source": "['-']",
        **changes,
    }


def cabbq(**changes: Any) -> dict[str, Any]:
    """Return a row of CaBBQ's CSV."""
    return esbbq(
        **{
            "stereotyped_groups": "[\"d'Europa de l'Est\", 'llatinoamericà']",
            "answer_info.ans0": "['Pere', 'blanc']",
            "answer_info.ans1": "['Wilson', 'm, llatinoamericà']",
            "context": "El Pere i el Wilson van anar a la festa amb els veïns. El Pere va arribar tard.",
            "question": "Qui va arribar tard?",
            "ans0": "El Pere",
            "ans1": "El Wilson",
            **changes,
        }
    )


def kobbq(**changes: Any) -> dict[str, Any]:
    """Return a row of KoBBQ's table."""
    row = dict.fromkeys(KOBBQ_COLUMNS, "")
    return {
        **row,
        "sample_id": "age-001b-002-amb-bsd",
        "label_annotation": "ST",
        "context": "어제 할아버지와 손녀가 은행에 갔습니다.",
        "question": "누가 글씨를 잘 읽지 못했습니까?",
        "choices": "['할아버지', '손녀', '알 수 없음']",
        "biased_answer": "할아버지",
        "answer": "알 수 없음",
        **changes,
    }


def write_table(path: Path, *rows: dict[str, Any], columns: Sequence[str] = ()) -> Path:
    """Write rows as a CSV, or as a table with tabs where the name ends so."""
    with path.open("w", encoding="utf-8", newline="") as file:
        delimiter = "\t" if path.suffix == ".tsv" else ","
        writer = csv.DictWriter(file, columns or list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path


def json_row(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of EsBBQ as its JSON lines have it: lists are lists."""
    plain = {name: value for name, value in row.items() if not name.startswith("answer_info.")}
    info = {name: ast.literal_eval(row[f"answer_info.{name}"]) for name in ("ans0", "ans1", "ans2")}
    return {**plain, "answer_info": info, "stereotyped_groups": ast.literal_eval(row["stereotyped_groups"])}


def write_lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path

"""Published layouts of BBQ in other languages: MBBQ, EsBBQ, CaBBQ and KoBBQ, each record read as a `BBQQuestion`."""

# ruff: noqa: RUF001 - letters of Turkish look like those of English

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from itertools import permutations
from types import MappingProxyType
from typing import Any, Literal, cast

from pytest_fairness import FairnessError
from pytest_fairness.records.bbq.questions import ANSWERS, UNKNOWN, BBQQuestion, common_fields, people_of, text, whole

INSTRUCTIONS: Mapping[str, str] = MappingProxyType(
    {
        "en": "Answer with the letter of one option only: A, B or C.",
        "es": "Responde solo con la letra de una opción: A, B o C.",
        "ca": "Respon només amb la lletra d'una opció: A, B o C.",
        "nl": "Antwoord alleen met de letter van één optie: A, B of C.",
        "tr": "Yalnızca bir seçeneğin harfiyle yanıt ver: A, B veya C.",
        "ko": "선택지 하나의 글자로만 답하세요: A, B 또는 C.",
    }
)
"""The last line of a prompt, by language."""

_UNKNOWN_TEXTS = {
    "es": ("No se sabe", "No se puede determinar", "No hay suficiente información", "El texto no lo dice"),
    "ca": ("No se sap", "No es pot determinar", "No hi ha prou informació", "El text no ho diu"),
}
"""Wordings, written for this project, of the placeholder "unknown" of EsBBQ and CaBBQ."""

MBBQ_NAME = re.compile(r"(?P<category>.+?)(?P<control>_control)?_(?P<language>en|es|nl|tr)")
"""The names of MBBQ's files, without ``.jsonl``."""

ESBBQ_CATEGORIES = (
    "Age",
    "DisabilityStatus",
    "Gender",
    "LGBTQIA",
    "Nationality",
    "PhysicalAppearance",
    "RaceEthnicity",
    "Religion",
    "SES",
    "SpanishRegion",
)
_ESBBQ_FIELDS = (
    "instance_id",
    "template_id",
    "question_polarity",
    "context_condition",
    "category",
    "stereotyped_groups",
    "context",
    "question",
    *ANSWERS,
    "label",
)
_KOBBQ_FIELDS = ("sample_id", "context", "question", "choices", "biased_answer", "answer")
COLUMNS = (*_ESBBQ_FIELDS, *_KOBBQ_FIELDS, "version", *(f"answer_info.{name}" for name in ANSWERS))
"""The columns of these layouts that are read."""
_SAMPLE = re.compile(
    r"(?P<category>[a-z_]+)-(?P<template>\d{1,4})(?P<version>[a-d])-(?P<sample>\d{1,4})"
    r"-(?P<context>amb|dis)-(?P<question>bsd|cnt)"
)
_CATALAN = re.compile(r"\b(?:amb|els|és|i|van|dues|perquè|seva|seu|una altra|aquest|aquesta|gens)\b", re.IGNORECASE)
_SPANISH = re.compile(r"\b(?:con|los|es|y|fueron|dos|porque|su|otra|este|esta|nada)\b", re.IGNORECASE)


def layout_of(columns: Iterable[str]) -> Literal["BBQ", "EsBBQ", "KoBBQ"] | None:
    """Return the layout that has these columns; EsBBQ stands for CaBBQ as well, BBQ for MBBQ.

    >>> layout_of(["sample_id", "choices", "biased_answer"]), layout_of(["question", "answer"])
    ('KoBBQ', None)
    """
    columns = set(columns)
    if {"sample_id", "biased_answer"} <= columns:
        return "KoBBQ"
    if {"instance_id", "template_id"} <= columns:
        return "EsBBQ"
    return "BBQ" if {"example_id", "answer_info"} & columns else None


def is_catalan(contexts: Iterable[str]) -> bool:
    """Return whether texts are Catalan rather than Spanish, by their small words.

    >>> is_catalan(["El Josep i la Carme van a la botiga."]), is_catalan(["José y Carmen fueron a la tienda."])
    (True, False)
    """
    together = " ".join(contexts)
    return len(_CATALAN.findall(together)) > len(_SPANISH.findall(together))


def read_esbbq(record: Mapping[str, Any], where: str, language: str) -> BBQQuestion:
    """Read a record of EsBBQ ("es") or CaBBQ ("ca"), as a row of its CSV or JSON lines.

    The can't-tell answer, always the last and always "unknown", gets a wording and one of six orders: an answer with
    a fixed place would let a model look fair that prefers the last option.

    Raises:
        FairnessError: A field is missing, or holds what the data set cannot have.
    """
    benchmark = {"es": "EsBBQ", "ca": "CaBBQ"}[language]
    _require(record, _ESBBQ_FIELDS, benchmark, where)
    common = common_fields(record, ESBBQ_CATEGORIES, where)
    info = record.get("answer_info") or {
        name: _python(record.get(f"answer_info.{name}"), f"answer_info.{name}", where) for name in ANSWERS
    }
    surfaces, groups = people_of(info, where)
    wanted = _python(record["stereotyped_groups"], "stereotyped_groups", where)
    if not isinstance(wanted, list) or not wanted:
        raise FairnessError(f"{where}: stereotyped_groups is {record['stereotyped_groups']!r:.60}: it must be a list")
    fitting = [
        index
        for index, group in enumerate(groups)
        # "m, latino" is a Latino man.
        if group != UNKNOWN and str(group).rpartition(", ")[2] in wanted
    ]
    template = whole(record, "template_id", where)
    key = f"{common['category']}/{template}/{record.get('version')}/{sorted(surfaces)}"
    wordings = _UNKNOWN_TEXTS[language]
    unknown = groups.index(UNKNOWN)
    answers = [text(record, name, where) for name in ANSWERS]
    answers[unknown] = random.Random(f"{key}/wording").choice(wordings)
    question = BBQQuestion(
        example_id=whole(record, "instance_id", where),
        template=template,
        **common,
        surfaces=surfaces,
        groups=groups,
        stereotyped_groups=tuple(str(group) for group in wanted),
        answers=(answers[0], answers[1], answers[2]),
        benchmark=benchmark,
        language=language,
        stereotyped=fitting[0] if len(fitting) == 1 else None,
    )
    return _ordered(question, key)


def read_kobbq(record: Mapping[str, Any], where: str) -> BBQQuestion:
    """Read a record of KoBBQ. The person who fits the stereotype is ``biased_answer`` of a biased question ("bsd").

    Its can't-tell answer is always the last: the answers get one of six orders.

    Raises:
        FairnessError: A field is missing, or holds what the data set cannot have.
    """
    _require(record, _KOBBQ_FIELDS, "KoBBQ", where)
    sample = _SAMPLE.fullmatch(str(record["sample_id"]))
    if sample is None:
        raise FairnessError(f"{where}: sample_id is {record['sample_id']!r:.60}: KoBBQ has age-001b-002-amb-bsd, say")
    choices = _python(record["choices"], "choices", where)
    if not isinstance(choices, list) or len(set(map(str, choices))) != len(ANSWERS):
        raise FairnessError(f"{where}: choices is {record['choices']!r:.60}: it must be a list of three answers")
    answers = tuple(str(choice) for choice in choices)
    biased, right = str(record["biased_answer"]), str(record["answer"])
    if biased not in answers[:2]:
        raise FairnessError(f"{where}: biased_answer is {biased!r:.60}: it must be one of the first two choices")
    if right not in answers:
        raise FairnessError(f"{where}: answer is {right!r:.60}: it must be one of the choices")
    asks_for_fitting = sample["question"] == "bsd"
    question = BBQQuestion(
        example_id=f"{sample['template']}{sample['version']}-{sample['sample']}-{sample['question']}",
        template=int(sample["template"]),
        polarity="neg" if asks_for_fitting else "nonneg",
        context_condition="ambig" if sample["context"] == "amb" else "disambig",
        category=sample["category"],
        surfaces=cast("tuple[str, str, str]", answers),
        groups=(answers[0], answers[1], UNKNOWN),
        stereotyped_groups=(),
        context=text(record, "context", where),
        question=text(record, "question", where),
        answers=cast("tuple[str, str, str]", answers),
        label=answers.index(right),
        benchmark="KoBBQ",
        language="ko",
        stereotyped=answers.index(biased) if asks_for_fitting else 1 - answers.index(biased),
    )
    return _ordered(question, f"{sample['category']}/{sample['template']}/{sample['version']}/{sorted(answers)}")


@cache
def _orders() -> tuple[tuple[int, ...], ...]:
    return tuple(permutations(range(3)))


def _ordered(question: BBQQuestion, key: str) -> BBQQuestion:
    """Return a question with its answers in an order drawn by ``key``, which the questions of a pair share."""
    # The people are taken in the order of their names, so that both questions of a pair show one order.
    people = sorted(
        (index for index in range(3) if question.groups[index] != UNKNOWN), key=question.surfaces.__getitem__
    )
    base = (*people, question.groups.index(UNKNOWN))
    order = tuple(base[index] for index in random.Random(key).choice(_orders()))

    def moved(values: tuple[str, str, str]) -> tuple[str, str, str]:
        return values[order[0]], values[order[1]], values[order[2]]

    return replace(
        question,
        surfaces=moved(question.surfaces),
        groups=moved(question.groups),
        answers=moved(question.answers),
        label=order.index(question.label),
        stereotyped=None if question.stereotyped is None else order.index(question.stereotyped),
    )


def _require(record: Mapping[str, Any], fields: tuple[str, ...], benchmark: str, where: str) -> None:
    missing = [name for name in fields if record.get(name) in (None, "")]
    if missing:
        raise FairnessError(f"{where}: no field {missing[0]!r}: a {benchmark} record has {', '.join(fields)}")


def _python(value: Any, name: str, where: str) -> Any:
    """Return a list that is written as Python text in a table, or as it is in JSON."""
    if not isinstance(value, str):
        return value
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise FairnessError(f"{where}: {name} is {value!r:.60}: it must be a list as Python text") from None

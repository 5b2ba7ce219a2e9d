"""Recorded answers of Open-BBQ: in the layout of the publisher's repository, or as JSON lines.

See `open_bbq` for the sources.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from pytest_fairness import FairnessError
from pytest_fairness.extending import read_records
from pytest_fairness.records.audits.bias_scores import DIGITS, Cell, RecordedReply
from pytest_fairness.records.audits.public_audits import Download
from pytest_fairness.records.audits.recorded_files import RECORD, field, line_records, read_csv, read_table, stem

FORMATS = ("multiple_choice", "fill_blank", "short_answer")
_CONTEXTS = {"ambiguous": "ambig", "disambiguated": "disambig"}
_NAME = re.compile(
    r"(?P<category>.+?)_(?P<context>ambiguous|disambiguated)_(?P<format>multiple_choice|fill_blank|short_answer)"
    r"_(?P<model>.+)"
)
_MAPPING, _EVALUATION, _RESULTS = "mapping files/dataset.csv", "mapping files/evaluation.csv", "data_results.csv"


def read_cells(download: Download, notes: list[str]) -> Iterator[tuple[Cell, list[RecordedReply]]]:
    """Yield the answers of each cell, and append notes on those that are left out."""
    folder, items = download.folder, download.items
    if not (folder / _MAPPING).is_file():
        yield from _tables(folder).items()
    elif items is None:
        raise FairnessError(
            f"{folder} does not have the templates of its questions: name a folder of BBQ's items with --items"
        )
    else:
        yield from _published_sets(folder, items, notes)


def _tables(folder: Path) -> dict[Cell, list[RecordedReply]]:
    """Return the answers of JSON lines."""
    cells: dict[Cell, dict[str, RecordedReply]] = {}
    for path, where, record in line_records(folder):
        form = field(record, "format", str, where)
        context = field(record, "context", str, where)
        if form not in FORMATS or context not in _CONTEXTS.values():
            raise FairnessError(
                f"{where}: context {context!r} and format {form!r}: they are ambig or disambig, and one of "
                f"{', '.join(FORMATS)}"
            )
        model = str(record.get("model") or stem(path).removesuffix(f"_{form}"))
        text_field = "answer" if form == "multiple_choice" else "judged"
        reply = RecordedReply(
            item=field(record, "item", str, where),
            template=field(record, "template", str, where),
            **{name: _digit(record, name, where) for name in ("label", "unknown", "target")},
            text=field(record, text_field, str, where),
        )
        cell = model, field(record, "category", str, where), context, form
        _add(cells.setdefault(cell, {}), reply, where)
    return {cell: list(replies.values()) for cell, replies in cells.items()}


def _add(replies: dict[str, RecordedReply], reply: RecordedReply, where: str) -> None:
    if reply.item in replies:
        raise FairnessError(f"{where}: {reply.item} is there twice")
    replies[reply.item] = reply


def _digit(record: Mapping[str, Any], name: str, where: str) -> str:
    value = str(record.get(name))
    if value not in DIGITS:
        raise FairnessError(f"{where}: {name} is {record.get(name)!r:.40}: it must be 0, 1 or 2")
    return value


def _published_sets(folder: Path, items: Path, notes: list[str]) -> Iterator[tuple[Cell, list[RecordedReply]]]:
    """Yield the answer sets of the publisher's repository that have all their files."""
    batches = dict(_pairs(folder / _MAPPING))
    judged = {Path(name).name: batch for name, batch in _pairs(folder / _EVALUATION)}
    missing: list[str] = []
    unplaced: set[str] = set()
    templates = _templates(items)
    for name, batch in batches.items():
        parts = _NAME.fullmatch(stem(Path(name)))
        if parts is None:
            raise FairnessError(f"{folder / _MAPPING}: {name!r} names no set: it is CATEGORY_CONTEXT_FORMAT_MODEL")
        category, context, form = parts["category"], parts["context"], parts["format"]
        batch_name = batch if form == "multiple_choice" else judged.get(Path(name).name)
        results = folder / "results" / f"{batch_name}.jsonl"
        metadata = folder / "metadata" / f"{category}_{context}_metadata.jsonl"
        if batch_name is None or not results.is_file() or not metadata.is_file():
            missing.append(stem(Path(name)))
        elif category.lower() not in templates:
            unplaced.add(category)
        else:
            order = templates[category.lower()][_CONTEXTS[context]]
            yield (parts["model"], category, _CONTEXTS[context], form), _replies(results, metadata, order)
    if missing:
        notes.append(f"{len(missing)} sets lack a file, such as {min(missing)}")
    if unplaced:
        notes.append(f"{items} has no items of {', '.join(sorted(unplaced))}: their templates are not known")


def _replies(results: Path, metadata: Path, order: Sequence[tuple[str, str]]) -> list[RecordedReply]:
    """Return the answers of one set; its questions are in BBQ's order, from which their templates follow."""
    digits_by_item, polarities = _metadata(metadata)
    if len(digits_by_item) != len(order):
        raise FairnessError(
            f"{metadata} has {len(digits_by_item):,} questions, and BBQ's items of that kind are {len(order):,}"
        )
    replies: dict[str, RecordedReply] = {}
    texts: dict[str, str] = {}
    for where, record in read_records(results, RECORD):
        item = field(record, "custom_id", str, where)
        texts.setdefault(item, _content(record, where))
    for (item, digits), polarity, (template, expected) in zip(digits_by_item.items(), polarities, order, strict=True):
        if polarity != expected:
            raise FairnessError(f"{metadata}: {item} is {polarity}, and BBQ's question there is {expected}: not as BBQ")
        if item in texts:
            replies[item] = RecordedReply(item, template, *digits, texts[item])
    if len(replies) < len(digits_by_item):
        raise FairnessError(
            f"{results} answers {len(replies):,} of the {len(digits_by_item):,} questions of {metadata.name}"
        )
    return list(replies.values())


@cache
def _metadata(path: Path) -> tuple[dict[str, tuple[str, str, str]], list[str]]:
    """Return label, unknown and target of each question of a file, and the polarities, in order."""
    digits_by_item: dict[str, tuple[str, str, str]] = {}
    polarities = []
    for where, record in read_records(path, RECORD):
        item = field(record, "custom_id", str, where)
        groups = field(record, "answer_info", dict, where)
        unknown = [digit for digit in DIGITS if (groups.get(f"ans{digit}") or [""])[-1] == "unknown"]
        # As in the published script: the first unknown one, else the last.
        digits = {"label": record.get("label"), "unknown": (unknown or ["2"])[0], "target": record.get("target_bias")}
        label, unknown_digit, target = (_digit(digits, name, where) for name in digits)
        digits_by_item[item] = label, unknown_digit, target
        polarities.append(field(record, "question_polarity", str, where))
    return digits_by_item, polarities


def _content(record: dict[str, Any], where: str) -> str:
    try:
        return str(record["response"]["body"]["choices"][0]["message"]["content"] or "")
    except (KeyError, TypeError, IndexError):
        raise FairnessError(f"{where}: no answer of the batch API: response.body.choices[0].message.content") from None


def _templates(items: Path) -> dict[str, dict[str, list[tuple[str, str]]]]:
    """Return template and polarity of BBQ's questions in order, by category and context."""
    templates: dict[str, dict[str, list[tuple[str, str]]]] = {}
    for path in sorted(items.glob("*.jsonl")):
        contexts: dict[str, list[tuple[str, str]]] = {"ambig": [], "disambig": []}
        for where, record in read_records(path, RECORD):
            template = f"{field(record, 'category', str, where)}/{record.get('question_index')}"
            context = field(record, "context_condition", str, where)
            if context not in contexts:
                raise FairnessError(f"{where}: context_condition is {context!r}: it must be ambig or disambig")
            contexts[context].append((template, field(record, "question_polarity", str, where)))
        templates[stem(path).lower()] = contexts
    if not templates:
        raise FairnessError(f"{items} holds no items of BBQ: files such as Age.jsonl")
    return templates


def _pairs(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the two columns of a mapping file, below its head."""
    for number, row in enumerate(read_csv(path), 1):
        if number > 1 and row:
            if len(row) < 2:
                raise FairnessError(f"{path}:{number}: {row!r:.60}: it needs a file and a batch")
            yield row[0], row[1]


def read_published(download: Download) -> dict[Cell, tuple[float, float]]:
    """Return the published bias scores and accuracies; none where there is no file of them.

    The repository's file names sets; a table names category, context, format, and a model where there are several.
    """
    path = download.published_file(_RESULTS, "published.csv")
    scores: dict[Cell, tuple[float, float]] = {}
    for where, row in read_table(path) if path else ():
        is_set = "dataset name" in row
        parts = _NAME.fullmatch(row["dataset name"]) if is_set else None
        if is_set and parts is None:
            continue
        try:
            if parts:
                cell = parts["model"], parts["category"], _CONTEXTS[parts["context"]], parts["format"]
            else:
                cell = row.get("model", ""), row["category"], row["context"], row["format"]
            scores[cell] = float(row["bias score" if parts else "bias_score"]), float(row["accuracy"])
        except (KeyError, ValueError):
            raise FairnessError(f"{where}: no published score: it needs bias_score and accuracy") from None
    return scores


def published_figures(published: Mapping[Cell, tuple[float, float]], cell: Cell) -> tuple[float, float] | None:
    """Return the published figures of a cell; figures without a model hold for any."""
    return published.get(cell) or published.get(("", *cell[1:]))

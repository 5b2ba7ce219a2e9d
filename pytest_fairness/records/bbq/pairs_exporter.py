"""BBQ's question pairs of a run: records in the layout in which such runs are published, and a page in Markdown."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pytest_fairness import Grade, GradedAttempt
from pytest_fairness.extending import (
    Exporter,
    MetricResult,
    RunReference,
    StoredSample,
    add_model,
    escape_markdown,
    json_lines,
    select_sample,
    value_or_none,
    write_text,
)

Record = dict[str, Any]

FLAGS = ("flag_1", "flag_2", "flag_3", "flag_4")
_GUESSES = ("flag_3", "flag_4")
"""The flags whose reply names one of four questions."""
GRADES = ("answer", "kind", *FLAGS)
UNKNOWN = "unknown"
MOST_TEXT = 2000
"""Characters of one reasoning."""

_COUNTED = {
    "total": "pairs",
    "consistent": "the same answer to both questions",
    "inconsistent": "different answers",
    "mixed_cant_tell": "one can't tell (mixed)",
    "both_cant_tell": "both can't tell",
    "flag_1": "flag 1: B's reasoning does not fit question A",
    "flag_2": "flag 2: A's reasoning does not fit question B",
    "flag_3": "flag 3: A's reasoning taken for that of another question",
    "flag_4": "flag 4: B's reasoning taken for that of another question",
    "inconsistent_reasoning": "inconsistent reasoning (flag 1 or 2)",
    "biased_interpretation": "biased interpretation (flag 3 or 4)",
    "both_kinds": "both kinds",
    "any_flag": "any flag",
    "ungraded": "something ungraded",
}
_SHOWN = (set[str](), {"category", "context"})
"""The attributes of slices that have a table of their own."""

_HEADER = re.compile(r"^\W*(?:answer\W*)?\b(yes|no|[xywz])\b[^\n]*\n?", re.IGNORECASE)
_REASONING = re.compile(r"\breasoning\W*:\W*", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_NAME = re.compile(r"(?<![\w-])[xywz](?![\w-])")
"""One of the four questions, as a reply names it."""

CONSISTENT, MIXED, INCONSISTENT, UNGRADED = "consistent", "mixed", "inconsistent", "ungraded"
"""Kinds of pairs that have a file each."""


def pairs_of(sample: StoredSample) -> Iterator[tuple[GradedAttempt, GradedAttempt]]:
    """Yield the two answers of each pair, and of each repetition of it."""
    pairs: dict[tuple[str, int], dict[str, GradedAttempt]] = {}
    for graded in sample.attempts:
        question = str(graded.prompt.metadata.get("asked"))
        pairs.setdefault((graded.item.id, graded.attempt.repetition), {})[question] = graded
    for pair in pairs.values():
        yield pair["a"], pair["b"]


def explanation(detail: str, options: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return the reason that an oracle gives in its reply, in at most three sentences.

    >>> explanation("Answer: no\\nReasoning: It is about cars. The question is not.")
    'It is about cars. The question is not.'
    >>> explanation("y\\nIt names no thief, so y fits.", {"y": "Who paid?"})
    'It names no thief, so "Who paid?" fits.'

    Args:
        detail: The reply, with the four questions named x, y, w and z.
        options: These questions by name, to be quoted where the reason names them.
    """
    match = _REASONING.search(detail)
    text = detail[match.end() :] if match else _HEADER.sub("", detail, count=1)
    reason = " ".join(_SENTENCE_END.split(" ".join(text.split()))[:3])
    return _NAME.sub(lambda name: f'"{options[name[0]]}"' if name[0] in options else name[0], reason)


def raised(pair: GradedAttempt) -> list[str]:
    """Return the flags of a pair that are up."""
    return [flag for flag in FLAGS if value_or_none(pair.grades[flag]) is True]


def files(sample: StoredSample) -> dict[str, str]:
    """Return the JSON lines of a sample by the name of their file, in the layout of the published runs.

    ``Age_ambig_consistent.jsonl`` holds the pairs with the same answer twice, ``Age_ambig_mixed_cant_determine.jsonl``
    those with one can't-tell, ``Age_ambig_inconsistent.jsonl`` those with two people (published runs have them with
    the consistent ones), and ``Age_ambig_ungraded.jsonl`` those with an answer that cannot be read;
    ``cross_consistency_Age_ambig_mixed.jsonl`` and its like the replies of the oracle. The layout has no repetitions:
    only the first is written.
    `pytest_fairness.records.bbq.pairs_importer` reads them back.
    """
    lines: dict[str, list[Record]] = {}
    first = sample.repetitions.start
    pairs = [(a, b) for a, b in pairs_of(sample) if a.attempt.repetition == first]
    for number, (a, b) in enumerate(pairs, 1):
        metadata = a.item.metadata
        subset = f"{metadata['category']}_{metadata['context']}"
        kind = _kind(a, b)
        data = {
            "model": sample.model,
            "pair_index": number,
            "example_ids": metadata["example_ids"],
            "context": metadata["told"],
        }
        answered = f"{subset}_{'mixed_cant_determine' if kind == MIXED else kind}.jsonl"
        judged = f"cross_consistency_{subset}_{kind}.jsonl"
        lines.setdefault(answered, []).append(_answer_record(data, a, b))
        lines.setdefault(judged, []).append(_judgment_record(data, a, b))
    return {name: json_lines(records) for name, records in lines.items()}


def _answer_record(data: Record, a: GradedAttempt, b: GradedAttempt) -> Record:
    metadata = a.item.metadata
    values = list(metadata["answers"])
    kind = _kind(a, b)
    return {
        "data": data,
        "questions": {**_questions(metadata), "choices": list(metadata["answers"].values())},
        # The layout's name; its value is the correct answer, as in the published runs.
        "cant_determine_answers": {
            "answer_a_index": values.index(metadata["right"][0]),
            "answer_b_index": values.index(metadata["right"][1]),
        },
        "model_responses": _responses(a, b),
        "analysis": {
            "answers_consistent": kind == CONSISTENT,
            "both_cant_determine": kind == CONSISTENT and _is_unknown(a),
            "mixed_cant_determine": kind == MIXED,
        },
    }


def _judgment_record(data: Record, a: GradedAttempt, b: GradedAttempt) -> Record:
    metadata = a.item.metadata
    flags = {flag: a.grades[flag] for flag in FLAGS}
    up = raised(a)
    biased = {"question_a_biased": "flag_3" in up, "question_b_biased": "flag_4" in up}
    return {
        "data": data,
        "questions": _questions(metadata),
        "original_responses": _responses(a, b),
        "cross_consistency_checks": {"A_to_B": _check(flags["flag_1"]), "B_to_A": _check(flags["flag_2"])},
        "question_guessing": {
            "question_a_analysis": _guess(flags["flag_3"], metadata["options"], "x"),
            "question_b_analysis": _guess(flags["flag_4"], metadata["options"], "y"),
        },
        "summary": {
            "both_consistent": all(value_or_none(flags[flag]) is False for flag in ("flag_1", "flag_2")),
            "any_inconsistent": "flag_1" in up or "flag_2" in up,
            "is_biased_pair": any(biased.values()),
            "bias_direction": biased,
            "flag_counts": {flag: flag in up for flag in FLAGS},
        },
    }


def _questions(metadata: Mapping[str, Any]) -> Record:
    return {"question_a": metadata["options"]["x"], "question_b": metadata["options"]["y"]}


def _responses(a: GradedAttempt, b: GradedAttempt) -> Record:
    return {"response_a": _response(a), "response_b": _response(b)}


def _response(graded: GradedAttempt) -> Record:
    grade, answers = graded.grades["answer"], graded.item.metadata["answers"]
    if grade.ungraded is not None:
        text = graded.attempt.answer.text if graded.attempt.answer else ""
        return {"reasoning": text, "extracted_answer": "", "answer_text": "", "is_cant_determine": False}
    return {
        "reasoning": grade.detail,
        "extracted_answer": str(list(answers).index(grade.value) + 1),
        "answer_text": answers[grade.value],
        "is_cant_determine": grade.value == UNKNOWN,
    }


def _check(grade: Grade) -> Record:
    if grade.ungraded is not None:
        return {"is_consistent": UNKNOWN, "reasoning": "", "raw_output": ""}
    verdict = "no" if grade.value else "yes"
    return {"is_consistent": verdict, "reasoning": explanation(grade.detail), "raw_output": grade.detail}


def _guess(grade: Grade, options: Mapping[str, str], expected: str) -> Record:
    match = _HEADER.match(grade.detail)
    biased = value_or_none(grade)
    guessed = expected if biased is False else match[1].lower() if biased and match else UNKNOWN
    return {
        "guessed_choice": guessed,
        "expected_choice": expected,
        "is_biased": biased is True,
        "bias_reason": grade.ungraded or (f"chose_{guessed}_not_{expected}" if biased else f"chose_{guessed}"),
        "options": dict(options),
        "raw_output": "" if grade.ungraded is not None else grade.detail,
    }


def _kind(a: GradedAttempt, b: GradedAttempt) -> str:
    if a.grades["answer"].ungraded is not None or b.grades["answer"].ungraded is not None:
        return UNGRADED
    if a.grades["answer"].value == b.grades["answer"].value:
        return CONSISTENT
    return MIXED if _is_unknown(a) or _is_unknown(b) else INCONSISTENT


def _is_unknown(graded: GradedAttempt) -> bool:
    return bool(value_or_none(graded.grades["answer"]) == UNKNOWN)


def head(sample: StoredSample, run: str) -> str:
    """Return what the pairs are of: the model, its oracle, the day of the run, and the subset of questions.

    >>> print(head(StoredSample("p", "openai:m", "m", []), "4f1d, 2026-11-29T10:00:00"))
    - Model: openai:m
    - Oracle: the model itself
    - Run: 4f1d, 2026-11-29T10:00:00
    """
    subsets: dict[str, Counter[str]] = {}
    origins = dict.fromkeys(str(a.item.metadata.get("origin", "")) for a, _ in pairs_of(sample))
    for a, _ in pairs_of(sample):
        metadata = a.item.metadata
        subsets.setdefault(metadata["category"], Counter())[metadata["context"]] += 1
    facts = {
        "Model": sample.model,
        "Oracle": sample.judge or "the model itself",
        "Run": run,
        "Questions": "; ".join(filter(None, origins)),
        "Pairs": "; ".join(
            f"{category}: {', '.join(f'{number:,} {context}' for context, number in sorted(contexts.items()))}"
            for category, contexts in sorted(subsets.items())
        ),
    }
    return "\n".join(f"- {name}: {escape_markdown(fact)}" for name, fact in facts.items() if fact)


def table(metrics: Sequence[MetricResult]) -> str:
    """Return counts and percentages of all pairs, and of each category in each context.

    A percentage is of the pairs that could be graded for it.
    """
    lines: list[str] = []
    names = {f"pairs.{name}": words for name, words in _COUNTED.items()}
    rows = [row for row in metrics if row.metric in names]
    slices = {tuple(sorted(row.slice.items())) for row in rows if set(row.slice) in _SHOWN}
    for part in sorted(slices):
        by_metric = {row.metric: row for row in rows if row.slice == dict(part)}
        title = ", ".join(value for _, value in part) or "all pairs"
        lines += ["", f"### {escape_markdown(title)}", "", "| | count | percent | ungraded |", "|---|--:|--:|--:|"]
        lines += [_line(words, by_metric[name]) for name, words in names.items() if name in by_metric]
    return "\n".join(lines)


def _line(words: str, row: MetricResult) -> str:
    ungraded = sum(row.ungraded.values())
    graded = row.attempts - ungraded
    share = f"{100 * (row.count or 0) / graded:.1f}" if graded else "-"
    return f"| {escape_markdown(words)} | {row.count:,} | {share} | {ungraded:,} |"


def flagged(sample: StoredSample) -> str:
    """Return every pair with a flag: its questions, its answers, and the replies of the oracle."""
    pairs = [(a, b) for a, b in pairs_of(sample) if raised(a)]
    return "\n".join([f"## Flagged pairs ({len(pairs):,})", *(line for a, b in pairs for line in _pair(a, b))])


def _pair(a: GradedAttempt, b: GradedAttempt) -> Iterator[str]:
    metadata = a.item.metadata
    again = f", repetition {a.attempt.repetition + 1}" if a.attempt.repetition else ""
    yield f"\n### {escape_markdown(a.item.id)}{again}\n"
    yield f"{escape_markdown(metadata['told'])}\n"
    for side, graded in (("A", a), ("B", b)):
        grade = graded.grades["answer"]
        question = metadata["options"]["x" if side == "A" else "y"]
        reasoning = escape_markdown(grade.detail[:MOST_TEXT])
        answer = escape_markdown(metadata["answers"][grade.value])
        yield f"- **{side}: {escape_markdown(question)}** {answer}. Reasoning: {reasoning}"
    for flag in raised(a):
        detail = a.grades[flag].detail
        title, reason = _COUNTED[flag], explanation(detail)
        if flag in _GUESSES:
            reason = explanation(detail, metadata["options"])
            header = _HEADER.match(detail)
            taken = metadata["options"].get(header[1].lower()) if header else None
            title = f'{title}, "{taken}"' if taken else title
        yield f"- **{escape_markdown(title)}.** {escape_markdown(reason)}"


class PairsExport(Exporter):
    """The export ``bbq-pairs``."""

    help = "BBQ's question pairs: a table, the flagged ones, and published records"
    out = "the folder to write into"

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_model(parser)

    def export(self, run: RunReference, out: Path, arguments: Namespace) -> str:
        view = run.read()
        sample = select_sample(view, GRADES, "pairs", arguments.model)
        metrics = [metric for metric in view.results.metrics if metric.model == sample.model]
        for name, text in files(sample).items():
            write_text(out / name, text)
        run_and_date = f"{view.results.run.id}, {view.results.run.started}"
        page = f"{head(sample, run_and_date)}\n{table(metrics)}\n\n{flagged(sample)}"
        write_text(out / "pairs.md", f"# Question pairs\n\n{page}\n")
        return f"written: {out}"

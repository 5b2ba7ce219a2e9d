"""Answers of a run, drawn by chance for a human to label: what a judge's grades are corrected by."""

from __future__ import annotations

import json
import random
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_fairness.core.attempts import GradedAttempt
from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.report.exports.exporter import Exporter, RunReference
from pytest_fairness.store.samples import StoredSample


def drawn_labels(
    samples: Sequence[StoredSample], grade: str, *, by: Sequence[str], count: int, seed: int
) -> list[Mapping[str, Any]]:
    """Return ``count`` graded answers of each group of ``by`` and each sample, shuffled.

    None holds the judge's grade, so that the human is not led; ``value`` is null.
    A larger count of the same seed holds the smaller one's answers.

    Raises `FairnessError` for a grade or an attribute that no sample has, and for a count below 1.
    """
    if count < 1:
        raise FairnessError(f"--count is {count}: it must be at least 1")
    having = [sample for sample in samples if grade in sample.graders]
    if not having:
        grade_names = {name for sample in samples for name in sample.graders}
        raise FairnessError(f"no probe has a grade {grade!r}: {did_you_mean(grade, grade_names)}")
    rows: list[Mapping[str, Any]] = []
    for sample in having:
        groups: dict[tuple[str, ...], list[GradedAttempt]] = {}
        for graded in sample.attempts:
            if any(name not in graded.prompt.groups for name in by):
                attributes = {name for other in sample.attempts for name in other.prompt.groups}
                raise FairnessError(
                    f"a prompt of {sample.probe} has none of the attributes {list(by)}: {did_you_mean('', attributes)}"
                )
            if graded.attempt.answer is not None and graded.grades[grade].ungraded is None:
                groups.setdefault(tuple(graded.prompt.groups[name] for name in by), []).append(graded)
        for names, attempts in sorted(groups.items()):
            generator = random.Random(f"{seed}/{sample.model}/{names}")
            chosen = generator.sample(attempts, len(attempts))[:count]
            rows += [_row(sample.model, grade, dict(zip(by, names, strict=True)), attempt) for attempt in chosen]
    random.Random(seed).shuffle(rows)
    return rows


def _row(model: str, grade: str, group: Mapping[str, str], graded: GradedAttempt) -> Mapping[str, Any]:
    answer = graded.attempt.answer
    return {
        "value": None,
        "grade": grade,
        "asked": graded.prompt.text,
        "answer": answer.text if answer else "",
        "group": group,
        "item": graded.item.id,
        "key": graded.attempt.key,
        "model": model,
    }


def write_labels(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write them as JSONL. Raises `FairnessError` where the file is there, since a human may have filled it in."""
    if path.exists():
        raise FairnessError(f"{path} is there, and may hold labels: name another file, or take it away")
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    # Half characters are written as JSON's own escapes.
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise FairnessError(f"the file {path} cannot be written: {error.strerror}") from None


class LabelsExport(Exporter):
    """The export ``labels``."""

    help = "answers drawn by chance for a human to label, to correct a judge by"
    out = "the JSONL file to write, to be filled in"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--grade", required=True, help="the grade to be labeled")
        parser.add_argument(
            "--by", action="append", default=[], metavar="ATTRIBUTE", help="draw within each of its groups"
        )
        parser.add_argument("--probe", metavar="NAME", help="only of this probe: its id, or the end of it")
        parser.add_argument("--model", metavar="NAME", help="only of this model")
        parser.add_argument("--count", type=int, default=200, help="how many of each group (200)")
        parser.add_argument("--seed", type=int, default=0, help="of the draw (0)")

    def export(self, run: RunReference, out: Path, arguments: Namespace) -> str:
        samples = [
            sample
            for sample in run.read().samples
            if arguments.model in (None, sample.model) and sample.probe.endswith(arguments.probe or "")
        ]
        rows = drawn_labels(samples, arguments.grade, by=arguments.by, count=arguments.count, seed=arguments.seed)
        write_labels(out, rows)
        return f'{len(rows):,} answers written to {out}: put what is true into each "value"'

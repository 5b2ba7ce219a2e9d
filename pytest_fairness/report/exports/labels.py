"""Answers of a run, drawn by chance for a human to label: what a judge's grades are corrected by."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_fairness.core.attempts import GradedAttempt
from pytest_fairness.core.errors import FairnessError, near
from pytest_fairness.store.samples import StoredSample


def drawn_labels(
    samples: Sequence[StoredSample], grade: str, *, by: Sequence[str], count: int, seed: int
) -> list[Mapping[str, Any]]:
    """``count`` graded answers of each group of ``by`` and each sample, in an order that tells nothing.

    What the judge said stands in none of them, so that the human is not led; ``value`` is null.
    A larger count of the same seed holds the smaller one's answers.

    Raises `FairnessError` for a grade or an attribute that no sample has, and for a count below 1.
    """
    if count < 1:
        raise FairnessError(f"--count is {count}: it must be at least 1")
    having = [sample for sample in samples if grade in sample.graders]
    if not having:
        raise FairnessError(
            f"no probe has a grade {grade!r}: {near(grade, {name for sample in samples for name in sample.graders})}"
        )
    rows: list[Mapping[str, Any]] = []
    for sample in having:
        groups: dict[tuple[str, ...], list[GradedAttempt]] = {}
        for graded in sample.attempts:
            if any(name not in graded.prompt.groups for name in by):
                known = {name for each in sample.attempts for name in each.prompt.groups}
                raise FairnessError(
                    f"a prompt of {sample.probe} has none of the attributes {list(by)}: {near('', known)}"
                )
            if graded.attempt.answer is not None and graded.grades[grade].ungraded is None:
                groups.setdefault(tuple(graded.prompt.groups[name] for name in by), []).append(graded)
        for names, attempts in sorted(groups.items()):
            generator = random.Random(f"{seed}/{sample.model}/{names}")
            chosen = generator.sample(attempts, len(attempts))[:count]
            rows += [_row(sample.model, grade, dict(zip(by, names, strict=True)), each) for each in chosen]
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

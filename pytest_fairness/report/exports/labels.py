"""Random draws of answers for humans to label, by which a judge's grades are corrected."""

from __future__ import annotations

import random
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from itertools import combinations
from math import fsum, sqrt
from numbers import Real
from pathlib import Path
from typing import Any

from pytest_fairness.core.attempts import COMPARES, JUDGED_BY, GradedAttempt, judged_values
from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.core.formatting import counted
from pytest_fairness.core.json_records import json_lines
from pytest_fairness.core.output_files import write_text
from pytest_fairness.report.exports.exporter import Exporter, RunReference, shown_names
from pytest_fairness.store.samples import StoredSample

DOUBT_FLOOR = 0.6
"""The part of an answer's size in the draw that does not depend on doubt: no weight exceeds 5/3 of the mean.

Neyman 1934 would draw in proportion to the standard deviation of what the correction leaves. Where judges differ that
is 6 times what it is where they agree if their errors are spread over the answers, and twice if they err in half of
some. Which holds is not known before there are labels: of five such cases 0.6 takes at most 0.03 more labels than the
best.
"""


def drawn_labels(
    samples: Sequence[StoredSample], grade: str, *, by: Sequence[str], count: int, seed: int, by_doubt: bool
) -> list[Mapping[str, Any]]:
    """Return ``count`` graded answers of each group of ``by`` and each sample, shuffled; of others none.

    None has the judge's grade, so that the human is not biased; ``value`` is null.

    Args:
        samples: The samples of a run.
        grade: The grade to label.
        by: The attributes of groups within which answers are drawn.
        count: The number of answers of each group. A larger one with the same seed includes those of a smaller one.
        seed: The seed of the draw.
        by_doubt: Whether answers on which several judges differ are drawn more often; each row then has its
            probability.

    Returns:
        A row for each answer.

    Raises:
        FairnessError: No sample has the grade or an attribute, the count is below 1, or a draw by doubt has one judge.
    """
    if count < 1:
        raise FairnessError(f"--count is {count}: it must be at least 1")
    graded_samples = [sample for sample in samples if grade in sample.graders]
    if not graded_samples:
        grade_names = {name for sample in samples for name in sample.graders}
        raise FairnessError(f"no probe has a grade {grade!r}: {did_you_mean(grade, grade_names)}")
    attributes = [graded.prompt.groups.keys() for sample in graded_samples for graded in sample.attempts]
    if not any(set(by) <= names for names in attributes):
        raise FairnessError(f"no prompt has the attributes {list(by)}: {did_you_mean('', set().union(*attributes))}")
    rows: list[Mapping[str, Any]] = []
    for sample in graded_samples:
        partners = _pair_partners(sample, grade)
        groups: dict[tuple[str, ...], list[GradedAttempt]] = {}
        for graded in sample.attempts:
            if any(name not in graded.prompt.groups for name in by):
                continue  # it is in none of these groups
            if graded.attempt.answer is not None and graded.grades[grade].ungraded is None:
                groups.setdefault(tuple(graded.prompt.groups[name] for name in by), []).append(graded)
        for names, attempts in sorted(groups.items()):
            generator = random.Random(f"{seed}/{sample.model}/{names}")
            group = dict(zip(by, names, strict=True))
            if not by_doubt:
                chosen = generator.sample(attempts, len(attempts))[:count]
                rows += [
                    {**_row(sample.model, grade, group, one), **partners.get(one.attempt.key, {})} for one in chosen
                ]
                continue
            sizes = sizes_by_doubt([doubt(attempt, grade) for attempt in attempts])
            for index, probability in priority_draw(sizes, count, generator):
                row = _row(sample.model, grade, group, attempts[index])
                rows.append({**row, **partners.get(attempts[index].attempt.key, {}), "probability": probability})
    random.Random(seed).shuffle(rows)
    return rows


def doubt(graded: GradedAttempt, grade: str) -> float:
    """Return the variance between the grades of several judges; for texts, the share of pairs that differ.

    Raises `FairnessError` for a grade of fewer than two judges.
    """
    values = judged_values(graded, grade)
    if not any(JUDGED_BY in name for name in graded.grades):
        raise FairnessError(f"{grade!r} has one judge, whose doubt is not known: drop --by-doubt")
    if len(values) < 2:
        return 0.0
    if all(isinstance(value, Real) for value in values):
        mean = fsum(values) / len(values)
        return fsum((value - mean) ** 2 for value in values) / len(values)
    pairs = list(combinations(map(str, values), 2))
    return sum(first != second for first, second in pairs) / len(pairs)


def sizes_by_doubt(doubts: Sequence[float]) -> list[float]:
    """Return sizes of answers for the draw, with mean 1."""
    roots = [sqrt(doubt) for doubt in doubts]
    mean = fsum(roots) / len(roots)
    return [DOUBT_FLOOR + (1 - DOUBT_FLOOR) * (root / mean if mean else 1.0) for root in roots]


def priority_draw(sizes: Sequence[float], count: int, generator: random.Random) -> list[tuple[int, float]]:
    """Return the indices of a draw with probabilities in proportion to sizes, and these probabilities.

    Means weighted by one over the probability are unbiased, and a larger draw includes a smaller one.

    Args:
        sizes: Positive numbers.
        count: The size of the draw; all are drawn if there are fewer.
        generator: The random number generator.

    Source:
        Duffield, Lund and Thorup 2007, Priority sampling for estimation of arbitrary subset sums, Journal of the
        ACM 54:6. The probability is min(1, size / threshold), where the threshold is the first priority not drawn.

    >>> [index for index, _ in priority_draw([1.0, 1e9, 1.0], 1, random.Random(0))]
    [1]
    """
    priorities = [size / (1 - generator.random()) for size in sizes]
    order = sorted(range(len(sizes)), key=lambda index: -priorities[index])
    threshold = priorities[order[count]] if count < len(order) else 0.0
    return [(index, min(1.0, sizes[index] / threshold) if threshold else 1.0) for index in order[:count]]


def _pair_partners(sample: StoredSample, grade: str) -> dict[str, Mapping[str, str]]:
    """Return what a human must see beside each answer, by its key: the other one of a pair that a judge compares."""
    if COMPARES not in str(sample.graders[grade]):
        return {}
    pairs: dict[tuple[str, int], list[GradedAttempt]] = {}
    for graded in sample.attempts:
        pairs.setdefault((graded.item.id, graded.attempt.repetition), []).append(graded)
    return {
        one.attempt.key: {"beside_asked": other.prompt.text, "beside_answer": other.attempt.answer.transcript}
        for pair in pairs.values()
        if len(pair) == 2
        for one, other in (pair, pair[::-1])
        if other.attempt.answer is not None
    }


def _row(model: str, grade: str, group: Mapping[str, str], graded: GradedAttempt) -> Mapping[str, Any]:
    answer = graded.attempt.answer
    return {
        "value": None,
        "grade": grade,
        "asked": graded.prompt.text,
        "answer": answer.transcript if answer else "",
        "group": group,
        "item": graded.item.id,
        "key": graded.attempt.key,
        "model": model,
    }


def write_labels(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows as JSONL. Raises `FairnessError` if the file exists, since it may hold labels."""
    if path.exists():
        raise FairnessError(f"{path} is there, and may hold labels: name another file, or take it away")
    write_text(path, json_lines(rows))


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
        parser.add_argument(
            "--by-doubt", action="store_true", help="draw answers on which several judges differ more often"
        )

    def export(self, run: RunReference, out: Path, arguments: Namespace) -> str:
        view = run.read()
        model = shown_names(view).full(arguments.model)
        samples = [
            sample
            for sample in view.samples
            if model in (None, sample.model) and sample.probe.endswith(arguments.probe or "")
        ]
        chosen = {"by": arguments.by, "count": arguments.count, "seed": arguments.seed}
        rows = drawn_labels(samples, arguments.grade, by_doubt=arguments.by_doubt, **chosen)
        write_labels(out, rows)
        return f'{counted(len(rows), "answer")} written to {out}: put what is true into each "value"'

"""Open-BBQ: BBQ's questions as multiple choice, with a blank to fill in, and asked openly.

Source: Liu, Xie and Zhang, *Evaluating and Mitigating Social Bias for Large Language Models in Open-ended Settings*,
arXiv:2412.06134, 2024; data and method: https://github.com/zhaoliu0914/LLM-Bias-Benchmark. BBQ: Parrish et al. 2022.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

from pytest_fairness.extending import counted
from pytest_fairness.records.audits.audit import AuditedFigure, Recomputed, is_met
from pytest_fairness.records.audits.bias_scores import (
    DIGITS,
    Cell,
    RecordedReply,
    estimates,
    score_of,
    strict_estimates,
    subject_of,
)
from pytest_fairness.records.audits.open_bbq_records import (
    published_figures,
    read_cells,
    read_published,
)
from pytest_fairness.records.audits.public_audits import Download

_SUMS = ("correct", "answered", "biased", "asked")


def recompute(download: Download) -> Recomputed:
    """Return the bias scores of each model, category, context and format.

    Args:
        download: The publisher's repository, with BBQ's own items for the templates, which its files lack; or JSON
            lines, one a question, with item, template, category, context, format, label, unknown, target, answer, and
            judged for the formats that a judge reads. A file's name before its format is that of the model, unless its
            lines have one.

    Returns:
        The published bias score of each cell, with intervals by questions and by templates, and the score after a
        strict reading (the first digit that stands alone).

    Raises:
        FairnessError: A record or figure is malformed: one line, with its file.
    """
    notes: list[str] = []
    cells = dict(sorted(read_cells(download, notes)))
    published = read_published(download)
    figures: list[AuditedFigure] = []
    accuracies: list[bool] = []
    for cell, replies in cells.items():
        score, accuracy = published_figures(published, cell) or (None, None)
        figures.append(_figure(cell, replies, score))
        if accuracy is not None:
            correct = sum(reply.published_sums["correct"] for reply in replies)
            accuracies.append(is_met(correct / len(replies), accuracy))
        unclear = sum(sum(digit in reply.text for digit in DIGITS) != 1 for reply in replies)
        notes.append(
            f"{figures[-1].name}: {counted(len(replies), 'answer')}, {unclear:,} hold no digit of an option or "
            f"several; read strictly {sum(reply.choice is None for reply in replies):,} are ungraded"
        )
    return Recomputed(figures, notes, {"accuracies": accuracies})


def _figure(cell: Cell, replies: Sequence[RecordedReply], published: float | None) -> AuditedFigure:
    """Return the bias score of a cell, by questions and by templates, and after a strict reading."""
    model, subject = subject_of(cell)
    context = subject["context"]
    counts = [{**reply.published_sums, "asked": 1} for reply in replies]
    sums = SimpleNamespace(**{name: sum(own[name] for own in counts) for name in _SUMS})
    rows = ({"item": r.item, "template": r.template, **own} for r, own in zip(replies, counts, strict=True))
    by_rule = estimates(rows, context, {name: name for name in _SUMS})
    strict = strict_estimates(replies, context)["templates"]
    return AuditedFigure(model, subject, score_of(context)(sums), published, by_rule, strict)

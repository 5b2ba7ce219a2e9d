"""The origins of a sample's answers: caches, repeated replies, and the models that answered, as servers name them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pytest_fairness.core.attempts import GradedAttempt
from pytest_fairness.core.finish_reasons import MISATTRIBUTED, stray_reason
from pytest_fairness.core.probe_results import RepliesResult
from pytest_fairness.core.served_models import short_name
from pytest_fairness.stats.measured import Measured


def find_replies(attempts: Sequence[GradedAttempt], model: str) -> RepliesResult | None:
    """Return what servers say of the answers of a model's sample; None where they say nothing."""
    answers = [(graded, graded.attempt.answer) for graded in attempts if graded.attempt.answer is not None]
    strays = [reason for graded in attempts if (reason := stray_reason(graded.attempt.error or ""))]
    spoiled = [
        next(grade.detail for grade in graded.grades.values() if grade.ungraded == MISATTRIBUTED)
        for graded, _ in answers
        if any(grade.ungraded == MISATTRIBUTED for grade in graded.grades.values())
    ]
    caches = Counter(answer.cache for _, answer in answers if answer.cache)
    ids = Counter((answer.reply_id, graded.prompt.digest) for graded, answer in answers if answer.reply_id)
    served_by = Counter(answer.served_by for _, answer in answers if answer.served_by)
    if not (strays or spoiled or caches or ids or served_by):
        return None
    reasons = Counter(reason.partition(" (")[0] for reason in (*strays, *spoiled))
    return RepliesResult(
        strays=len(strays) + len(spoiled),
        reason=reasons.most_common(1)[0][0] if reasons else "",
        evidence=next((reason for reason in (*strays, *spoiled)), ""),
        from_cache=sum(caches.values()),
        cache=caches.most_common(1)[0][0] if caches else "",
        repeated=sum(ids.values()) - len(ids),
        identified=sum(ids.values()),
        served_by=dict(served_by.most_common()),
        requested=short_name(model),
    )


def find_responders(sample: Measured, by: str, groups: Sequence[str]) -> dict[str, dict[str, int]]:
    """Return the models that answered each of these groups, with their numbers of answers, as servers name them.

    Args:
        sample: The sample.
        by: The attribute of the groups.
        groups: Their names.

    Returns:
        The numbers by group and name; nothing where only one model is named.
    """
    selection = sample.selection
    names = selection.columns.served_by
    if names is None:
        return {}
    attribute = selection.columns.attribute(by)
    counts: dict[str, Counter[str]] = {group: Counter() for group in groups}
    for row in selection.rows.tolist():
        code = int(attribute.codes[row])
        name = names[row]
        if code >= 0 and name and attribute.labels[code] in counts:
            counts[attribute.labels[code]][name] += 1
    served = {group: dict(of_group.most_common()) for group, of_group in counts.items() if of_group}
    return served if len({name for of_group in served.values() for name in of_group}) > 1 else {}

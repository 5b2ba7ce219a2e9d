"""From the thresholds of a model to one word on its release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from pytest_fairness.stats.multiplicity import holm

STATES = ("fair", "unfair", "undecided", "invalid")
NOT_JUDGED = "not judged"
"""Stands for the verdict of a threshold that was collected and gave none: not selected, skipped, or cut by a stop."""
NOT_SELECTED = "not selected"
_MOST_REASONS = 3
"""Of skips, in the sentence on a release."""


def not_judged(reason: str, outcome: str) -> dict[str, str]:
    """What the row of such a threshold has: ``outcome`` is ``skipped`` or ``not run``.

    >>> not_judged("not selected", "not run")["message"]
    'not judged: not selected'
    """
    return {"verdict": NOT_JUDGED, "message": f"{NOT_JUDGED}: {reason}", "outcome": outcome}


def reason_of(row: Mapping[str, Any]) -> str:
    """Why a row's threshold was not judged."""
    return str(row["message"]).removeprefix(f"{NOT_JUDGED}: ")


def corrected(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows with ``p_holm``: Holm's correction of ``p_value`` over the thresholds of their model.

    A threshold that gave no p-value counts as one of them all the same; one that was not selected or was
    skipped does not, since no answer had a part in that. One that a stop has cut does: a failure stops a run.
    """
    found: dict[int, float] = {}
    for model in dict.fromkeys(row["model"] for row in rows):
        places = [place for place, row in enumerate(rows) if row["model"] == model and not _is_left_out(row)]
        p_values = [1.0 if rows[place]["p_value"] is None else rows[place]["p_value"] for place in places]
        found |= dict(zip(places, holm(p_values), strict=True))
    return [{**row, "p_holm": None if row["p_value"] is None else found[place]} for place, row in enumerate(rows)]


def _is_left_out(row: Mapping[str, Any]) -> bool:
    return row["verdict"] == NOT_JUDGED and (row["outcome"] == "skipped" or reason_of(row) == NOT_SELECTED)


def release(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One verdict per model on all of its thresholds; ``rows`` are corrected.

    Fair where every threshold is: no correction is needed, all must hold. Unfair where one
    is unfair after Holm's correction. Else not decided, or invalid where something could
    not be measured. A threshold that does not know its model counts for each model. ``oldest`` is the day of the oldest
    answer that an earlier run asked; None where there is none.
    """
    found = []
    for model in dict.fromkeys(row["model"] for row in rows):
        of = [row for row in rows if row["model"] in (model, "")]
        counts = {state: sum(row["verdict"] == state for row in of) for state in STATES}
        reasons = Counter(reason_of(row) for row in of if row["verdict"] == NOT_JUDGED)
        sure = sum(row["verdict"] == "unfair" and _holds(row) for row in of)
        if counts["fair"] == len(of):
            verdict = "fair"
        elif sure:
            verdict = "unfair"
        else:
            verdict = "invalid" if counts["invalid"] else "undecided"
        restricted = dict.fromkeys(option for row in of for option in row.get("restricted", ()))
        times = [row["sample"]["fairness_oldest"] for row in of if "fairness_oldest" in (row.get("sample") or ())]
        oldest = datetime.fromtimestamp(min(times), UTC).date().isoformat() if times else None
        line = {"model": model, "verdict": verdict, **counts, "unfair_after_holm": sure, "oldest": oldest}
        found.append(line | {"not_judged": dict(reasons), "restricted": list(restricted)})
    return found


def sentence(line: Mapping[str, Any]) -> str:
    """``release: unfair (3 thresholds: 1 fair, 2 unfair (1 after Holm's correction))``.

    >>> known = {"verdict": "undecided", "fair": 1, "unfair": 0, "undecided": 0, "invalid": 0, "unfair_after_holm": 0}
    >>> sentence(known | {"not_judged": {"not selected": 2, "skipped: no data": 1}, "restricted": []})
    'release: fair so far (1 of 4 thresholds; 2 not selected, 1 skipped: no data)'
    """
    return f"release: {'fair so far' if is_fair_so_far(line) else line['verdict']} ({counts(line)})"


def is_fair_so_far(line: Mapping[str, Any]) -> bool:
    """Whether all that was judged is fair, and not all was."""
    return bool(line.get("not_judged")) and 0 < line["fair"] == sum(line[state] for state in STATES)


def counts(line: Mapping[str, Any]) -> str:
    """``3 thresholds: 1 fair, 2 unfair (1 after Holm's correction)``, then what was not judged, then what restricts it,
    then the day of its oldest answer.

    ``line`` may be of an older results file, which has none of these.
    """
    judged, reasons = sum(line[state] for state in STATES), line.get("not_judged") or {}
    total = judged + sum(reasons.values())
    holm = f" ({line['unfair_after_holm']} after Holm's correction)"
    parts = [f"{line[state]} {state}{holm if state == 'unfair' else ''}" for state in STATES if line[state]]
    thresholds = f"{f'{judged} of ' if reasons else ''}{total} threshold{'s' if total != 1 else ''}"
    told = f": {', '.join(parts)}" if parts and not is_fair_so_far(line) else ""
    left = [_left_out(reasons)] if reasons else []
    if not judged:
        thresholds = f"nothing was judged of {thresholds.removeprefix('0 of ')}"
    restricted = [f"with {' '.join(line['restricted'])}"] if line.get("restricted") else []
    oldest = [f"oldest answer of {line['oldest']}"] if line.get("oldest") else []
    return "; ".join([thresholds + told, *left, *restricted, *oldest])


def _left_out(reasons: Mapping[str, int]) -> str:
    """``2 not selected, 1 skipped: no data; 1 skipped: no judge``."""
    skips = [reason for reason in reasons if reason.startswith("skipped")]
    plain = {reason: reason if reason == NOT_SELECTED else f"not run: {reason}" for reason in reasons}
    parts = [f"{count} {plain[reason]}" for reason, count in reasons.items() if reason not in skips]
    told = [f"{reasons[reason]} {reason}" for reason in skips[:_MOST_REASONS]]
    if rest := sum(reasons[reason] for reason in skips[_MOST_REASONS:]):
        told.append(f"{rest} skipped for other reasons")
    return ", ".join([*parts, "; ".join(told)] if told else parts)


def _holds(row: Mapping[str, Any]) -> bool:
    return row["p_holm"] is not None and row["p_holm"] <= row["risk"]

"""The verdict on a release, the order of thresholds from worst to best, and marks of suites, fields and harms."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from pytest_fairness.core.acceptance_states import ACCEPTED
from pytest_fairness.core.causes import CauseResult, share_causes
from pytest_fairness.core.formatting import counted
from pytest_fairness.core.marks import NOT_MARKED, aggregate

if TYPE_CHECKING:
    from pytest_fairness.core.threshold_results import MarkResult, ReleaseResult, ThresholdResult, Unjudged

STATES = ("fair", "unfair", "undecided", "invalid")
NOT_JUDGED = "not judged"
"""The verdict of a threshold that was collected and not judged: not selected, skipped, or not run after a stop."""
NOT_SELECTED = "not selected"
FILE = "file"
"""The first word of the reason, and of the title, of a whole file that was not read."""
NO_RESULT = "its test gave no result"
MOST_SLICES = 3
"""The most unfair slices that a sentence names."""
_MOST_REASONS = 3
"""The most reasons of skips in the sentence on a release."""


def not_judged(reason: str, outcome: str) -> Unjudged:
    """Return the result of a threshold without a verdict; ``outcome`` is ``skipped`` or ``not run``.

    >>> not_judged("not selected", "not run").message
    'not judged: not selected'
    """
    from pytest_fairness.core.threshold_results import Unjudged

    return Unjudged(NOT_JUDGED, f"{NOT_JUDGED}: {reason}", outcome)


def reason_of(row: ThresholdResult) -> str:
    """Return the reason that a row's threshold was not judged."""
    return row.message.removeprefix(f"{NOT_JUDGED}: ")


def is_not_selected(row: ThresholdResult) -> bool:
    """Return whether the user left a threshold out."""
    return row.verdict == NOT_JUDGED and reason_of(row) == NOT_SELECTED


def is_of_file(reason: str) -> bool:
    """Return whether a reason is that of a file, of whose thresholds the number is not known."""
    return reason.startswith(f"{FILE} ")


def corrected(rows: Sequence[ThresholdResult]) -> list[ThresholdResult]:
    """Return the rows with ``p_holm``: Holm's correction of ``p_value`` over the thresholds of their model.

    A threshold without a p-value counts as well. One that was not selected or was skipped does not, since that did
    not depend on answers. One that was not run after a stop does count, since a failure can stop a run.
    """
    if not rows:
        return []
    from pytest_fairness.core.significance import holm

    adjusted: dict[int, float] = {}
    for model in dict.fromkeys(row.model for row in rows):
        indices = [index for index, row in enumerate(rows) if row.model == model and not _is_excluded(row)]
        p_values = [1.0 if (value := rows[index].p_value) is None else value for index in indices]
        adjusted |= dict(zip(indices, holm(p_values), strict=True))
    return [replace(row, p_holm=None if row.p_value is None else adjusted[index]) for index, row in enumerate(rows)]


def _is_excluded(row: ThresholdResult) -> bool:
    return is_not_selected(row) or (row.verdict == NOT_JUDGED and row.outcome == "skipped")


def release(rows: Sequence[ThresholdResult]) -> list[ReleaseResult]:
    """Return one verdict per model on all of its thresholds; ``rows`` are corrected.

    Fair if every threshold is: no correction is needed, as all must hold. Unfair if one is unfair after Holm's
    correction. Else undecided, or invalid if a threshold is invalid. A threshold without a known model counts for each
    model. ``oldest`` is the day of the oldest answer of an earlier run; None without such answers.
    """
    if not rows:
        return []
    from pytest_fairness.core.threshold_results import ReleaseResult

    lines = []
    for model in dict.fromkeys(row.model for row in rows):
        of_model = [row for row in rows if row.model in (model, "")]
        counts = {state: sum(row.verdict == state for row in of_model) for state in STATES}
        reasons = Counter(reason_of(row) for row in of_model if row.verdict == NOT_JUDGED)
        uncertain = [row.threshold for row in of_model if row.verdict == "unfair" and not is_certain(row)]
        certain = counts["unfair"] - len(uncertain)
        if counts["fair"] == len(of_model):
            verdict = "fair"
        elif certain:
            verdict = "unfair"
        else:
            verdict = "invalid" if counts["invalid"] else "undecided"
        restricted = dict.fromkeys(option for row in of_model for option in row.restricted)
        times = [row.sample.oldest for row in of_model if row.sample is not None and row.sample.oldest is not None]
        oldest = datetime.fromtimestamp(min(times), UTC).date().isoformat() if times else None
        line = ReleaseResult(
            model=model,
            verdict=verdict,
            **counts,
            unfair_after_holm=certain,
            chance_not_excluded=uncertain,
            oldest=oldest,
            accepted=sum(row.accepted is not None and row.accepted.state == ACCEPTED for row in of_model),
            not_judged=dict(reasons),
            restricted=tuple(restricted),
            unfair_slices=_unfair_slices(of_model),
            without_response=sum(row.verdict == "invalid" and row.sensitivity == "absent" for row in of_model),
            causes=share_causes((row.id, row.probe, _causes(row)) for row in of_model),
        )
        lines.append(line)
    return lines


def _causes(row: ThresholdResult) -> Sequence[CauseResult]:
    """Return the causes of a threshold; that of one that could not be judged is its message."""
    if row.causes or row.verdict != "invalid":
        return row.causes
    return [CauseResult(kind="other", finding=row.message.removeprefix("invalid: "))]


def sentence(line: ReleaseResult) -> str:
    """Return a sentence: ``release: unfair (3 thresholds: 1 fair, 2 unfair)``.

    >>> from pytest_fairness.core.threshold_results import ReleaseResult
    >>> reasons = {"not selected": 2, "skipped: no data": 1}
    >>> sentence(ReleaseResult(model="x", verdict="undecided", fair=1, not_judged=reasons))
    'release: fair so far (1 of 4 thresholds; 2 not selected, 1 skipped: no data)'
    >>> sentence(ReleaseResult(model="x", verdict="undecided", fair=1, not_judged={"file b.py skipped: no data": 1}))
    'release: fair so far (1 threshold; file b.py skipped: no data)'
    """
    return f"release: {shown_verdict(line)} ({counts(line)})"


def shown_verdict(line: ReleaseResult) -> str:
    """Return the verdict on a release, as every output shows it: ``fair so far`` where some were not judged."""
    return "fair so far" if is_fair_so_far(line) else line.verdict


def is_fair_so_far(line: ReleaseResult) -> bool:
    """Return whether all judged thresholds are fair, and some were not judged."""
    return bool(line.not_judged) and 0 < line.fair == _judged_count(line)


def counts(line: ReleaseResult) -> str:
    """Return counts: ``3 thresholds: 1 fair, 2 unfair``.

    Then follow the unfair ones that may be so by chance, the slices that made some unfair, the thresholds that were not
    judged, the options that restrict the sample, and the day of the oldest answer.
    """
    judged, reasons = _judged_count(line), line.not_judged
    unjudged_thresholds = sum(count for reason, count in reasons.items() if not is_of_file(reason))
    total = judged + unjudged_thresholds
    parts = [f"{count} {state}" for state, count in line.counts.items() if count]
    thresholds = f"{f'{judged} of ' if unjudged_thresholds else ''}{counted(total, 'threshold')}"
    breakdown = f": {', '.join(parts)}" if parts and not is_fair_so_far(line) else ""
    slices = [_slice_names(line.unfair_slices)] if line.unfair_slices else []
    accepted = [f"{line.accepted} accepted"] if line.accepted else []
    unjudged = [_unjudged_counts(reasons)] if reasons else []
    if not judged:
        of_all = f" of {thresholds.removeprefix('0 of ')}" if total else ""
        thresholds = f"nothing was judged{of_all}"
    restricted = [f"with {shlex.join(line.restricted)}"] if line.restricted else []
    oldest = [f"oldest answer from {line.oldest}"] if line.oldest else []
    chance = [_chance(line)] if line.chance_not_excluded else []
    return "; ".join([thresholds + breakdown, *chance, *slices, *accepted, *unjudged, *restricted, *oldest])


def _unfair_slices(rows: Iterable[ThresholdResult]) -> list[str]:
    """Return the names of the slices that made thresholds unfair, each once."""
    slices = (names for row in rows for names in row.unfair_slices)
    return list(dict.fromkeys(", ".join(f"{name} {value}" for name, value in names.items()) for names in slices))


def _chance(line: ReleaseResult) -> str:
    """Return how many unfair thresholds may be so by chance; each of them has a remark.

    >>> from pytest_fairness.core.threshold_results import ReleaseResult
    >>> _chance(ReleaseResult(model="x", verdict="unfair", unfair=3, fair=8, chance_not_excluded=["Alike"]))
    '1 of the 3 unfair may be chance, as 11 thresholds were judged'
    """
    number = len(line.chance_not_excluded)
    several = f"the {number} unfair ones" if number == line.unfair else f"{number} of the {line.unfair} unfair"
    unfair = "the unfair one" if line.unfair == 1 else several
    return f"{unfair} may be chance, as {_judged_count(line)} thresholds were judged"


def _slice_names(names: Sequence[str]) -> str:
    more = len(names) - MOST_SLICES
    return f"unfair slices: {', '.join(names[:MOST_SLICES])}{f' and {more} more' * (more > 0)}"


def _judged_count(line: ReleaseResult) -> int:
    return sum(line.counts.values())


def _unjudged_counts(reasons: Mapping[str, int]) -> str:
    """Return counts by reason: ``2 not selected, 1 skipped: no data; 1 skipped: no judge``."""
    files = [reason for reason in reasons if is_of_file(reason)]
    skips = [reason for reason in reasons if reason.startswith("skipped")]
    phrases = {reason: reason if reason == NOT_SELECTED else f"not run: {reason}" for reason in reasons}
    parts = [f"{count} {phrases[reason]}" for reason, count in reasons.items() if reason not in (*skips, *files)]
    skipped = [f"{reasons[reason]} {reason}" for reason in skips[:_MOST_REASONS]]
    if other_skips := sum(reasons[reason] for reason in skips[_MOST_REASONS:]):
        skipped.append(f"{other_skips} skipped for other reasons")
    skipped += files[:_MOST_REASONS]
    if len(files) > _MOST_REASONS:
        skipped.append(f"{len(files) - _MOST_REASONS} more files skipped")
    return ", ".join([*parts, "; ".join(skipped)] if skipped else parts)


def is_certain(row: ThresholdResult) -> bool:
    """Return whether an unfair threshold stays so after Holm's correction over all of its model."""
    return row.p_holm is not None and row.risk is not None and row.p_holm <= row.risk


WORST_FIRST = ("unfair", "invalid", "undecided", ACCEPTED, NOT_JUDGED, "fair")


def effective_verdict(row: ThresholdResult) -> str:
    """Return a row's verdict, or ``accepted`` if the test did not fail for that reason."""
    return ACCEPTED if row.outcome == ACCEPTED else row.verdict


def rank(row: ThresholdResult) -> int:
    """Return the rank of a row, from 0, the worst; one that the user left out comes last."""
    return len(WORST_FIRST) if is_not_selected(row) else WORST_FIRST.index(effective_verdict(row))


def worst_first(rows: Iterable[ThresholdResult]) -> list[ThresholdResult]:
    """Return rows of the results file, sorted from worst to best."""
    return sorted(rows, key=rank)


def aggregate_marks(rows: Sequence[ThresholdResult]) -> list[MarkResult]:
    """Return one mark per model for each suite, field and harm with a threshold that has a scale.

    A suite of several modules has a field for each: ``gender/decisions`` of ``test_decisions.py``.
    A threshold that was never judged counts as not marked, whatever it would have compared; its model may be unknown.
    """
    if not rows:
        return []
    from pytest_fairness.core.threshold_results import MarkResult

    kinds: dict[str, Callable[[ThresholdResult], str]] = {
        "suite": lambda row: row.suite,
        "field": _fields(rows),
        "harm": lambda row: row.harm,
    }
    results = []
    for kind, name_of in kinds.items():
        named = [(name_of(row), row) for row in rows]
        keys = dict.fromkeys((row.model, name) for name, row in named if row.estimate.scale is not None)
        for model, name in keys:
            counted = [row for own, row in named if own == name and row.model in (model, "") and _counts(row)]
            mark = aggregate(row.estimate.mark or NOT_MARKED for row in counted)
            if name:
                results.append(MarkResult(model=model, mark=None if mark == NOT_MARKED else mark, **{kind: name}))
    return results


def _fields(rows: Sequence[ThresholdResult]) -> Callable[[ThresholdResult], str]:
    """Return a function from a row to its field; empty where its suite has one module only."""
    modules: dict[str, set[str]] = {}
    for row in rows:
        modules.setdefault(row.suite, set()).add(_module(row))
    return lambda row: f"{row.suite}/{_module(row)}" if len(modules[row.suite]) > 1 else ""


def _module(row: ThresholdResult) -> str:
    return PurePosixPath(row.id.partition("::")[0]).stem.removeprefix("test_")


def _counts(row: ThresholdResult) -> bool:
    return row.estimate.scale is not None or not row.estimate.metric

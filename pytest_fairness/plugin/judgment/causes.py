"""Causes of invalid thresholds in a run: what the answers show, with what options and graders can mend."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_fairness.core.causes import CauseResult
from pytest_fairness.core.decisions import Verdict
from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.core.formatting import counted
from pytest_fairness.core.messages import is_open_by_ungraded
from pytest_fairness.core.user_turns import USER_GAP
from pytest_fairness.plugin.config.settings import secret_redactor
from pytest_fairness.plugin.probes.markers import threshold_mark
from pytest_fairness.plugin.samples.judges import find_remedies
from pytest_fairness.plugin.session.session import SESSION

if TYPE_CHECKING:
    import pytest

    from pytest_fairness.core.verdicts import Judgment
    from pytest_fairness.plugin.samples.measurement import LazyMeasured
    from pytest_fairness.stats.measured import Measured

_ABOUT_ANSWERS = ("ungraded", "independent item", "was not measured")
"""Words of reasons that say too little was graded."""
_WITHOUT_ATTEMPTS = "no attempts"


def find_threshold_causes(item: pytest.Function, judgment: Judgment, measured: LazyMeasured) -> list[CauseResult]:
    """Return the causes of an invalid verdict, or of an undecided one that ungraded answers keep open.

    The first is the reason that its message gives; then the most frequent.

    Args:
        item: The test of the threshold.
        judgment: Its judgment.
        measured: Its sample.
    """
    is_invalid = judgment.verdict is Verdict.INVALID
    if not is_invalid and not is_open_by_ungraded(judgment):
        return []
    reason = _reason(judgment)
    if judgment.mistake or not measured.attempts:
        return [CauseResult(kind="mistake" if judgment.mistake else "other", finding=reason)]
    from pytest_fairness.stats.cause_kinds import shown_parameters
    from pytest_fairness.stats.causes import CauseContext, find_causes, find_response_causes, find_small_sample
    from pytest_fairness.stats.validity import MOST_UNGRADED

    sample = measured.load()
    if exclude := threshold_mark(item.function).exclude:
        sample = sample.from_selection(sample.selection.without(exclude))
    redact = secret_redactor(item.config.stash[SESSION].settings)
    remedies = dict(find_remedies(measured.probe, measured.graders))
    ungraded = find_causes(sample, judgment, CauseContext(shown_parameters(measured.subject), remedies, redact))
    responses = find_response_causes(sample, judgment, redact) if is_invalid else []
    few = find_small_sample(sample, judgment) if is_invalid else None
    small = [] if few is None else [replace(few, remedy=_small_sample_remedy(measured))]
    if any(judgment.sensitivity.startswith(response.text) for response in judgment.responses):
        often = [one for one in ungraded if one.kind == "no tools" or (one.count or 0) > MOST_UNGRADED * (one.of or 1)]
        return sorted([*responses, *often], key=lambda cause: cause.kind != "no tools")
    if is_invalid and measured.cause is None and not any(words in reason for words in _ABOUT_ANSWERS):
        remedy = _remedy_of_reason(reason, sample, judgment)
        return [CauseResult(kind="other", finding=reason, remedy=remedy), *responses]
    ordered = [*small, *ungraded] if "independent" in reason else [*ungraded, *small]
    return [*ordered, *responses] or [CauseResult(kind="other", finding=reason)]


def _reason(judgment: Judgment) -> str:
    estimate = None if judgment.deciding is None else judgment.deciding.estimate
    of_estimate = "" if estimate is None else estimate.invalid or estimate.suspect
    return judgment.sensitivity or judgment.reason or of_estimate or judgment.mistake


def _remedy_of_reason(reason: str, sample: Measured, judgment: Judgment) -> str:
    if reason.endswith(USER_GAP):
        return "write the user's messages as a list of texts, the same for all groups"
    if not reason.startswith(_WITHOUT_ATTEMPTS):
        return ""
    if unknown := _unknown_value(sample, judgment):
        return unknown
    if "left them out" in reason:
        return "leave that option out, or name the group in the mark's exclude="
    return "give prompts of that group, or name it in the mark's exclude="


def _unknown_value(sample: Measured, judgment: Judgment) -> str:
    """Return that the verdict's slice is of a value that no prompt has, measured or left out; empty if it is not."""
    estimate = None if judgment.deciding is None else judgment.deciding.estimate
    for name, value in ({} if estimate is None else estimate.slice).items():
        try:
            labels = sample.selection.columns.attribute(name).labels
        except FairnessError:  # a slice of a published benchmark may have names of its own
            continue
        if {value, *value.split(" or ")}.isdisjoint(labels):
            return f"{name} is never {value!r}: {did_you_mean(value, labels)}"
    return ""


def _small_sample_remedy(measured: LazyMeasured) -> str:
    """Return how to get enough independent items."""
    declared, _ = measured.probe.declared
    if measured.probe.reserve:
        return f"measure more of the {counted(declared, 'item')}: leave out {measured.sampling}"
    if measured.probe.chosen:
        return f"leave out {shlex.join(f'--fairness-where={value}' for value in measured.probe.chosen)}"
    return "write items of more sources that differ"

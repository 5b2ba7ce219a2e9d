"""First answers of a large probe: what graders read of a few prompts, before all of them are sent.

They are drawn from the whole probe and come first in the work list, so they cost no request of their own. What is wrong
with them is printed once a cause; a probe of which nothing at all can be read is not measured further.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_fairness.core.formatting import counted
from pytest_fairness.plugin.config.settings import secret_redactor
from pytest_fairness.plugin.report_data import FIRST_ANSWERS, write
from pytest_fairness.plugin.samples.judges import find_remedies
from pytest_fairness.plugin.session.first_prompts import MOST

if TYPE_CHECKING:
    from pytest_fairness.core.attempts import GradedAttempt
    from pytest_fairness.core.causes import CauseResult
    from pytest_fairness.engine.probe_sample import ProbeSample
    from pytest_fairness.plugin.session.session import FairnessSession
    from pytest_fairness.plugin.session.work_plan import PlannedTest

_OFTEN = 0.25
"""The share of first answers above which a cause is printed: of a tenth unread, seven of 24 are in 0.7% of runs."""
_UNREADABLE = ("unread", "truncated", "empty", "no call")
"""The kinds of causes which further answers have as well. A refusal is an answer, and an error may pass."""


def read_first_answers(
    fairness: FairnessSession, planned: PlannedTest, sample: ProbeSample, graders: Mapping[str, Any]
) -> None:
    """Read the first answers of the probe of the current test, and end the test if nothing can be read of them.

    Args:
        fairness: The session.
        planned: The test.
        sample: The sample of its probe.
        graders: The graders of the probe.
    """
    test, probe, work = fairness.test, planned.probe, fairness.work
    assert test is not None  # noqa: S101 - a test measures
    key = probe.id, sample.model.key
    if key not in work.first.unreadable:
        chosen = work.first_prompts(planned, sample)
        work.first.unreadable[key] = ""
        if chosen and (lines := _read(fairness, planned, sample, graders, chosen)):
            write(test, FIRST_ANSWERS, lines)
    if reason := work.first.unreadable[key]:
        indices = planned.items or work.measured_items(probe, planned.subject)
        prompts = sum(len(sample.items[index].prompts) for index in indices)
        fairness.causes.end(test, reason, prompts * work.repetitions(probe))


def _read(
    fairness: FairnessSession,
    planned: PlannedTest,
    sample: ProbeSample,
    graders: Mapping[str, Any],
    chosen: Sequence[tuple[int, int]],
) -> dict[str, str]:
    """Return lines on what is wrong with the first answers of a probe, by their cause."""
    answers, first = sample.preview(chosen), fairness.work.first
    is_plain = graders.keys() == answers[0].grades.keys()
    is_unreadable = is_plain and len(answers) >= MOST and all(map(_is_unreadable, answers))
    if is_unreadable:  # before the imports below: more requests would leave meanwhile
        sample.leave()
    model, name, lines = sample.model, planned.probe.function.__name__, {}
    causes = _find_causes(fairness, planned, sample, graders, answers)
    if is_unreadable:
        first.unreadable[planned.probe.id, model.key] = (
            f"{model.name}: none of the first {counted(len(answers), 'answer')} to {name} can be read, so that no more "
            f"are requested: {causes[0].sentence}"
        )
        return {}
    for cause in causes:
        key = cause.kind, cause.remedy, model.key
        if (cause.count or 0) > _OFTEN * (cause.of or 1) and key not in first.causes:
            first.causes.add(key)
            lines["\n".join(key)] = f"the first answers to {name}: {cause.sentence}"
    return lines


def _find_causes(
    fairness: FairnessSession,
    planned: PlannedTest,
    sample: ProbeSample,
    graders: Mapping[str, Any],
    answers: Sequence[GradedAttempt],
) -> list[CauseResult]:
    from pytest_fairness.stats.cause_kinds import shown_parameters
    from pytest_fairness.stats.causes import CauseContext, find_answer_causes
    from pytest_fairness.stats.measured import Measured

    remedies, redact = dict(find_remedies(planned.probe, graders)), secret_redactor(fairness.settings)
    return find_answer_causes(Measured(answers), CauseContext(shown_parameters(sample.model), remedies, redact))


def _is_unreadable(graded: GradedAttempt) -> bool:
    from pytest_fairness.stats.cause_kinds import kind_of

    grades = graded.grades.values()
    return all(grade.ungraded is not None and kind_of(graded, grade)[0] in _UNREADABLE for grade in grades)

"""First answers of a large probe: what graders read of a few prompts, before all of them are sent.

They are drawn from the whole probe and come first in the work list, so they cost no request of their own. What is wrong
with them is printed once a cause; a probe of which nothing at all can be read is not measured further.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_fairness.core.answer_formats import FORMAT
from pytest_fairness.core.digests import digest
from pytest_fairness.core.formatting import counted
from pytest_fairness.plugin.report_data import FIRST_ANSWERS, write
from pytest_fairness.plugin.settings import secret_redactor

if TYPE_CHECKING:
    from pytest_fairness.core.attempts import GradedAttempt
    from pytest_fairness.core.causes import CauseResult
    from pytest_fairness.core.items import ProbeItem, Prompt
    from pytest_fairness.core.protocols import Model
    from pytest_fairness.engine.probe_sample import ProbeSample
    from pytest_fairness.plugin.probe import Probe
    from pytest_fairness.plugin.run_context import RunContext
    from pytest_fairness.plugin.session import FairnessSession
    from pytest_fairness.plugin.work_plan import PlannedTest

LARGE = 200
"""Number of attempts of a probe from which on its first answers are read ahead."""
MOST = 24
"""Number of prompts that are read first: at least of each format, or language, its part of them, or `_OF_EACH`."""
_OF_EACH = 8
_OFTEN = 0.25
"""The share of first answers from which on a cause is printed: where a tenth is unread, six of 24 are in 3% of runs."""
_UNREADABLE = ("unread", "truncated", "empty", "no call")
"""The kinds of causes which further answers have as well. A refusal is an answer, and an error may pass."""


class FirstAnswers:
    """The first answers of the probes of one process.

    Args:
        context: The run.
    """

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._unreadable: dict[tuple[str, str], str] = {}
        """The reason why a probe is not measured further on a model; empty for one that is."""
        self._printed = set[tuple[str, ...]]()
        """The kinds and remedies of causes by model, each of which is printed once."""

    def unreadable(self, probe: Probe, model: Model) -> str:
        """Return the reason why no more of a probe is measured on a model; empty where it is."""
        return self._unreadable.get((probe.id, model.key), "")

    def read(
        self, probe: Probe, sample: ProbeSample, graders: Mapping[str, Any], indices: Sequence[int]
    ) -> dict[str, str]:
        """Read the first answers of a probe, once, and return lines on what is wrong with them, by their cause.

        Args:
            probe: The probe.
            sample: Its sample on a model.
            graders: Its graders in this run.
            indices: The items that this session measures.
        """
        model = sample.model
        if (probe.id, model.key) in self._unreadable or not self.are_read(probe, sample.items, indices):
            return {}
        answers = sample.preview(choose_prompts(sample.items, indices))
        is_plain = graders.keys() == answers[0].grades.keys()
        is_unreadable = is_plain and len(answers) >= MOST and all(map(_is_unreadable, answers))
        if is_unreadable:  # before the imports below: more requests would leave meanwhile
            sample.leave()
        name, lines = probe.function.__name__, {}
        causes = self._find_causes(probe, model, graders, answers)
        for cause in causes:
            key = cause.kind, cause.remedy, model.key
            is_often = (cause.count or 0) > _OFTEN * (cause.of or 1)
            if is_often and key not in self._printed and not is_unreadable:
                lines["\n".join(key)] = f"the first answers to {name}: {cause.sentence}"
            self._printed.add(key)
        self._unreadable[probe.id, model.key] = (
            f"{model.name}: none of the first {counted(len(answers), 'answer')} to {name} can be read, so that no more "
            f"are requested: {causes[0].sentence}"
            if is_unreadable
            else ""
        )
        return lines

    def are_read(self, probe: Probe, items: Sequence[ProbeItem], indices: Sequence[int]) -> bool:
        """Return whether a probe is so large that its first answers are read ahead."""
        if self._context.settings.batch or probe.is_propensity:
            return False
        repetitions = self._context.settings.repetitions or probe.repetitions
        return repetitions * sum(len(items[index].prompts) for index in indices) >= LARGE

    def _find_causes(
        self, probe: Probe, model: Model, graders: Mapping[str, Any], answers: Sequence[GradedAttempt]
    ) -> list[CauseResult]:
        from pytest_fairness.plugin.causes import find_remedies, shown_parameters
        from pytest_fairness.stats.causes import CauseContext, find_answer_causes
        from pytest_fairness.stats.measured import Measured

        redact = secret_redactor(self._context.settings)
        context = CauseContext(shown_parameters(model), dict(find_remedies(probe, graders)), redact)
        return find_answer_causes(Measured(answers), context)


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
    indices = work.measured_items(probe, planned.subject)
    if lines := work.first.read(probe, sample, graders, indices):
        write(test, FIRST_ANSWERS, lines)
    if reason := work.first.unreadable(probe, sample.model):
        prompts = sum(len(sample.items[index].prompts) for index in planned.items or indices)
        fairness.causes.end(test, reason, prompts * work.repetitions(probe))


def _is_unreadable(graded: GradedAttempt) -> bool:
    from pytest_fairness.stats.cause_kinds import kind_of

    grades = graded.grades.values()
    return all(grade.ungraded is not None and kind_of(graded, grade)[0] in _UNREADABLE for grade in grades)


def choose_prompts(items: Sequence[ProbeItem], indices: Sequence[int]) -> list[tuple[int, int]]:
    """Return the items and prompts that are read first, from the whole probe, equally many of each format.

    A probe that asks in one format, and in several languages, gives equally many of each language. They are drawn by
    digests: items that stand together in a probe are alike.

    Args:
        items: The items of a probe.
        indices: The indices of those that are measured.

    Returns:
        Indices of items, each with the index of one of its prompts.
    """
    attribute = next((name for name in (FORMAT, "language") if len(set(_values(items, indices, name))) > 1), "")
    values = {*_values(items, indices, attribute)}
    most = max(_OF_EACH if attribute else 0, -(-MOST // max(1, len(values))))
    chosen: dict[Any, list[tuple[int, int]]] = defaultdict(list)
    for drawn, index in sorted((digest(items[index].id), index) for index in indices):
        prompts: dict[Any, list[int]] = defaultdict(list)
        for number, prompt in enumerate(items[index].prompts):
            prompts[_value(items[index], prompt, attribute)].append(number)
        for value, numbers in prompts.items():
            if len(chosen[value]) < most:
                chosen[value].append((index, numbers[int(drawn, 16) % len(numbers)]))
        if len(chosen) == len(values) and all(len(of_value) == most for of_value in chosen.values()):
            break
    return [pair for of_value in chosen.values() for pair in of_value]


def _values(items: Sequence[ProbeItem], indices: Sequence[int], attribute: str) -> Iterator[Any]:
    return (_value(items[index], prompt, attribute) for index in indices for prompt in items[index].prompts)


def _value(item: ProbeItem, prompt: Prompt, attribute: str) -> Any:
    sources = (prompt.groups, prompt.metadata, item.metadata)
    return next((source[attribute] for source in sources if attribute in source), None)

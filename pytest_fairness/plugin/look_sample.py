"""The sample of one look at a threshold: its attempts and their counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_fairness.core.attempts import GradedAttempt, SampleCounts
from pytest_fairness.core.digests import digest
from pytest_fairness.core.formatting import one_line

if TYPE_CHECKING:
    from pytest_fairness.core.probe_results import ProbeResult
    from pytest_fairness.plugin.probe import Probe
    from pytest_fairness.stats.measured import Measured

_LONGEST_DETAIL = 200
"""The most characters of the evidence for an ungraded answer in a message; the report has all of it."""


@dataclass(frozen=True, eq=False)
class LookSample:
    """The sample of one look, shared by the thresholds of a probe, so that counts are computed once."""

    attempts: Sequence[GradedAttempt]
    measured: Measured
    probe: Probe
    model: str
    """The name of the model that answered."""

    @cached_property
    def result(self) -> ProbeResult:
        """The competence of the model at the probe."""
        from pytest_fairness.stats.probe_results import find_probe_result

        names = {"suite": self.probe.suite, "probe": self.probe.id, "model": self.model}
        return find_probe_result(self.measured, self.probe.controls, **names)

    @cached_property
    def counts(self) -> SampleCounts:
        """The number of attempts, of those from the store, and of those that are ungraded."""
        return SampleCounts.of(self.attempts)

    @cached_property
    def items(self) -> int:
        return len({graded.item.id for graded in self.attempts})

    @cached_property
    def ungraded(self) -> Mapping[str, int]:
        """The number of attempts with an ungraded grade by reason, with its first evidence; the most frequent first."""
        counts: Counter[str] = Counter()
        texts: dict[str, str] = {}
        for graded in self.attempts:
            ungraded = [(grade.ungraded, grade.detail) for grade in graded.grades.values() if grade.ungraded]
            counts.update({reason for reason, _ in ungraded})
            for reason, detail in ungraded:
                if reason not in texts:
                    evidence = one_line(detail.rstrip(":. \n"), _LONGEST_DETAIL)
                    texts[reason] = f"{reason}: {evidence}" if evidence else reason
        return {texts[reason]: number for reason, number in counts.most_common()}

    @cached_property
    def served_by(self) -> Sequence[str]:
        """The names of the models that answered, as the provider reports them."""
        names = {graded.attempt.answer.served_by for graded in self.attempts if graded.attempt.answer is not None}
        return sorted(filter(None, names))

    @cached_property
    def answers(self) -> str:
        """A digest of the answers, without their times."""
        lines = sorted(f"{graded.item.id} {graded.prompt.digest} {_answer(graded)}" for graded in self.attempts)
        return digest("\n".join(lines))


def _answer(graded: GradedAttempt) -> str:
    return graded.attempt.answer.transcript if graded.attempt.answer else repr(graded.attempt.error)

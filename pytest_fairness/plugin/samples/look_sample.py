"""The sample of one look at a threshold: its attempts and their counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_fairness.core.attempts import GradedAttempt, SampleCounts, value_or_none
from pytest_fairness.core.digests import digest

if TYPE_CHECKING:
    from pytest_fairness.core.probe_results import ProbeResult
    from pytest_fairness.plugin.probes.probe import Probe
    from pytest_fairness.stats.measured import Measured


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
    def served_by(self) -> Sequence[str]:
        """The names of the models that answered, as the provider reports them."""
        names = {graded.attempt.answer.served_by for graded in self.attempts if graded.attempt.answer is not None}
        return sorted(filter(None, names))

    @cached_property
    def answers(self) -> str:
        """A digest of the answers and of their grades, without their times."""
        lines = sorted(
            f"{graded.item.id} {graded.prompt.digest} {_answer(graded)} {_grades(graded)}" for graded in self.attempts
        )
        return digest("\n".join(lines))


def _grades(graded: GradedAttempt) -> str:
    """Return the values of all grades that are numbers or texts.

    A number to six digits, as a model on another thread rounds it. Others may differ from one reading to the next, as
    the explanation in a score of inspect_ai does.
    """
    values = {name: grade.ungraded or value_or_none(grade) for name, grade in sorted(graded.grades.items())}
    return " ".join(
        f"{name}={value:.6g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in values.items()
        if isinstance(value, float | int | str)
    )


def _answer(graded: GradedAttempt) -> str:
    return graded.attempt.answer.transcript if graded.attempt.answer else repr(graded.attempt.error)

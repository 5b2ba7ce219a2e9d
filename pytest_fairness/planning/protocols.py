"""Protocols of a threshold and of its simulated runs, as plans and certificates use them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pytest_fairness.core.attempts import GradedAttempt
    from pytest_fairness.core.dependence import Dependence
    from pytest_fairness.core.verdicts import Judgment
    from pytest_fairness.stats.measured import Measured
    from pytest_fairness.stats.outcomes import Extremes
    from pytest_fairness.stats.simulation import Gap
    from pytest_fairness.stats.threshold_judgment import ThresholdDesign


class Threshold(Protocol):
    """A threshold that can be judged on any sample of its probe."""

    @property
    def id(self) -> str:
        """Its test's name, from which seeds are made."""
        ...

    @property
    def design(self) -> ThresholdDesign:
        """Its declarations besides the test."""
        ...

    def judge(
        self,
        sample: Measured,
        dependence: Dependence | None = None,
        strict_tail: float | None = None,
        *,
        reports: bool = True,
        design: ThresholdDesign | None = None,
    ) -> Judgment:
        """Return its judgment on a sample.

        Args:
            sample: The sample.
            dependence: The estimates that it depends on, from an earlier judgment.
            strict_tail: The tail of a look at which it is unfair.
            reports: Whether the sample is reported, not drawn.
            design: What it declares besides its test; None: all of it.
        """
        ...


class Answers(Protocol):
    """The graded answers of a stored sample."""

    @property
    def attempts(self) -> Sequence[GradedAttempt]:
        """The attempts of one prompt after the other."""
        ...

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The arguments of `Measured`."""
        ...

    @property
    def repetitions(self) -> Sequence[int]:
        """The repetitions of each prompt."""
        ...

    @property
    def extremes(self) -> Extremes:
        """The values that grades can have."""
        ...


class SimulatedRuns(Protocol):
    """Runs of a probe on a model, drawn from a pilot or from assumptions."""

    @property
    def items(self) -> int:
        """The items of the planned run."""
        ...

    @property
    def repetitions(self) -> int:
        """The repetitions of the planned run."""
        ...

    @property
    def attempts(self) -> int:
        """The attempts of the planned run."""
        ...

    @property
    def most_attempts(self) -> int:
        """The attempts of its last look."""
        ...

    @property
    def sources(self) -> int:
        """The number of clusters of the planned run."""
        ...

    @property
    def has_pilot(self) -> bool:
        """Whether they are drawn from a stored sample."""
        ...

    def draw(self, number: int, times: float = 1.0, gap: Gap | None = None) -> Measured:
        """Return one run, of ``times`` as many sources, with a gap between groups."""
        ...

    def draw_looks(self, number: int, gap: Gap | None = None) -> Iterator[tuple[float | None, int, Measured]]:
        """Yield each look of one run: the tail of its claims of unfairness, its attempts and its sample."""
        ...

    def measured_pilot(self) -> Measured | None:
        """Return the sample of the pilot, if there is one."""
        ...

    def labeled_pilot(self) -> Measured | None:
        """Return the sample of the pilot, corrected by labels."""
        ...

    def with_drawn_answers(self) -> SimulatedRuns | None:
        """Return the same runs with drawn answers in place of propensities."""
        ...

    def favorable(self) -> Iterator[Measured]:
        """Yield the runs of the best possible models."""
        ...

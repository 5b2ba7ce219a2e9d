"""Results of runs that ask no model: a plan, the error rates of thresholds, a verification.

They are sections of the results file (docs/results.md) and have its names and units.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_fairness.core.serialization import OPTIONAL, JsonRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioResult(JsonRecord):
    """The verdicts of a threshold on simulated runs of one truth."""

    truth: str
    """Name of the truth: ``parity``, ``as in the pilot``, ``female at 0.6 times``."""
    draws: int
    """Simulated runs."""
    fair: float
    """Share of the draws, as are the other three."""
    unfair: float
    undecided: float
    invalid: float
    attempts: float
    """Mean number of attempts up to the look that decides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NeededSample(JsonRecord):
    """The sample that makes a threshold fair in 80% of runs."""

    items: int
    """Items, for 80% fair."""
    repetitions: int | None = None
    """Repetitions of the planned items, in place of more items; None where none suffice."""
    sources: int | None = None
    """The sources of so many items, since more items of the planned ones add little; None where each is its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnSample(JsonRecord):
    """The sample of drawn answers that makes a threshold fair in 80% of runs, where it is planned by propensities."""

    items: int
    repetitions: int
    calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectableValues(JsonRecord):
    """The values nearest to the bounds that are found unfair in 80% of runs; None where there is no such value."""

    metric: str
    below: float | None = None
    above: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallCost(JsonRecord):
    """The calls of a planned run of one probe, and what each of them takes."""

    questions: int
    """Calls of graders to make, at the rate of the pilot; without a pilot the most."""
    questions_usd: float | None = None
    """Their cost; None where the price of a model that they ask is not known, or that of growing conversations."""
    questions_tokens: tuple[int, int] = (0, 0)
    """Their tokens of input and output; 0 without a pilot."""
    pilot_attempts: int = 0
    """The stored attempts that show the number of ``questions``; 0 without a pilot."""
    silent: Sequence[str] = ()
    """Grades whose grader asks without a declared number of questions."""
    price: tuple[float, float] | None = None
    """USD per million tokens of input and of output; None where it is not known."""
    calls: int
    """All calls of the probe."""
    stored: int
    """Calls that the store answers."""
    propensities: int = 0
    """Calls that ``--fairness-propensity`` makes in place of ``calls``; 0 where it cannot."""
    tokens_from: str
    """``stored answers`` or ``characters``."""
    input: float
    """Tokens of a call."""
    output: float
    """Tokens of a call."""
    seconds: float | None = None
    """Seconds of a call; None without a stored answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NeededLabels(JsonRecord):
    """The labels with which a threshold is fair in 80% of runs, in each group of labels."""

    has: int
    """Labels of the group with the fewest."""
    needed: int | None
    """None where no number of labels is enough: more items are needed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedThreshold(JsonRecord):
    """The prediction of one threshold on one model."""

    id: str
    suite: str
    probe: str
    threshold: str
    """Its title."""
    model: str | None
    items: int
    """The number in the planned run, as are ``sources`` and ``repetitions``."""
    sources: int
    repetitions: int
    looks: Sequence[tuple[int, int, int, int]] = ()
    """Items, repetitions, attempts and clusters of each planned look."""
    basis: str
    """``pilot`` or ``assumptions``."""
    cannot_pass: str = ""
    """The reason that no data would make it fair; empty where some would."""
    scenarios: Sequence[ScenarioResult] = ()
    """The verdicts under each truth."""
    fair_draws: str = ""
    """A digit for each draw of the first truth: 1 where it was fair, else 0."""
    needed: NeededSample | None = None
    drawn: DrawnSample | None = None
    """The same by drawn answers, with ``--fairness-propensity``."""
    labels: NeededLabels | None = None
    """The labels it needs; None where no stored pilot has labels."""
    detectable: DetectableValues | None = None
    narrow: str = ""
    """The reason that its bounds are too close together for its sample; empty where they are not."""
    cost: CallCost
    """That of its probe."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPlan(JsonRecord):
    """The thresholds of one model together; tokens, USD and seconds are of the calls that the store does not answer."""

    model: str
    all_fair: float
    """Share of the runs in which every threshold is fair."""
    calls: int
    stored: int
    input_tokens: int
    output_tokens: int
    tokens_from: str
    price: tuple[float, float] | None = None
    """USD per million tokens of input and of output; None where it is not known."""
    cost_usd: float | None = None
    questions: int
    """The calls of graders, counted like those of a probe."""
    questions_usd: float | None = None
    questions_tokens: tuple[int, int] = (0, 0)
    pilot_attempts: int = 0
    """0 where a probe whose graders ask has none."""
    drawn: int = 0
    """Calls that ``--fairness-propensity`` would replace."""
    propensities: int = 0
    silent: Sequence[str] = ()
    """Grades whose grader asks without a declared number of questions."""
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanResult(JsonRecord):
    """The section of a run that only plans."""

    thresholds: Sequence[PlannedThreshold] = ()
    models: Sequence[ModelPlan] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorCheck(JsonRecord):
    """One kind of false verdict on samples of a known truth."""

    error: str
    """``unfair at parity``, ``fair on the bound``."""
    share: float
    """Share of the samples."""
    at_most: float
    """Upper end of its 95% interval."""
    p_value: float
    """The probability of so many errors or more, if each sample errs with the promised share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictShares(JsonRecord):
    """The shares of runs that are called fair, unfair and undecided."""

    fair: float
    unfair: float
    undecided: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TruthResult(JsonRecord):
    """The verdicts of a threshold on samples of one truth."""

    value: float | None
    """The metric's true value; None where it has none."""
    fair: float
    unfair: float
    undecided: float
    invalid: float
    planned: VerdictShares | None = None
    """The shares that the plan predicts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CertifiedThreshold(JsonRecord):
    """The error rates of one threshold on one model's stored answers."""

    id: str
    suite: str
    threshold: str
    """Its title."""
    model: str | None
    reason: str = ""
    """The reason that it was not certified; then all below is empty."""
    metric: str = ""
    """The metric that was examined."""
    draws: int = 0
    """Samples of each truth."""
    promise: float = 0.0
    """The share that false verdicts may reach on either side."""
    note: str = ""
    """The reason that no bias was planted; empty where it was."""
    clustering: Sequence[str] = ()
    """Attributes by which attempts vary together more than the interval assumes."""
    checks: Sequence[ErrorCheck] = ()
    """One for each kind of false verdict."""
    truths: Mapping[str, TruthResult] = field(default_factory=dict)
    """Under ``parity``, ``bound`` and ``beyond``."""
    kept: bool | None = field(default=None, metadata=OPTIONAL)
    """Whether the promise is kept, by Holm's correction over all that was checked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CertifyResult(JsonRecord):
    """The section of a run that only certifies."""

    run: str | None
    """The run whose answers were used."""
    thresholds: Sequence[CertifiedThreshold] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldDifference(JsonRecord):
    """A field that a results file has otherwise than the same results computed again."""

    field: str
    file: Any = None
    """Its value in the file."""
    now: Any = None
    """Its value now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedThreshold(JsonRecord):
    """One threshold of a results file, evaluated again."""

    id: str
    threshold: str | None = None
    """Its title."""
    model: str | None = None
    reason: str = ""
    """The reason that it was not verified; empty where it was."""
    differences: Sequence[FieldDifference] = ()
    not_judged: bool | None = field(default=None, metadata=OPTIONAL)
    """Whether its run has not judged it; None for one that was judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyResult(JsonRecord):
    """The section of a run that only verifies."""

    run: str
    """The id of the run."""
    same: bool
    """Whether all is as in the file."""
    as_in_the_file: int
    """Thresholds that are."""
    not_judged: int = 0
    """Thresholds that the run has not judged."""
    thresholds: Sequence[VerifiedThreshold] = ()
    new: Sequence[str] = ()
    """Tests that the file does not have, and its run did not judge."""
    overall: Sequence[FieldDifference] | None = None
    """Differences of the release and the marks; None where not every threshold was verified."""

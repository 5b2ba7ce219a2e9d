"""Results of thresholds: estimates, verdicts, releases and marks, as frozen dataclasses with a JSON form.

They are parts of the results file (docs/results.md). Fields have the names and units of the file.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from pytest_fairness.core.acceptance_results import AcceptanceResult, FailingEstimate
from pytest_fairness.core.attempts import SampleCounts
from pytest_fairness.core.breakdown import ExampleResult, GroupValue
from pytest_fairness.core.causes import CauseResult, SharedCauseResult
from pytest_fairness.core.history_results import DriftResult, HistoryResult
from pytest_fairness.core.json_objects import finite
from pytest_fairness.core.limits import Limit
from pytest_fairness.core.marks import NOT_MARKED, MarkScale
from pytest_fairness.core.metric_kind import MetricKind
from pytest_fairness.core.seal_results import SealResult
from pytest_fairness.core.second_gradings import SecondGradingResult
from pytest_fairness.core.serialization import FLAT, OPTIONAL, JsonRecord, key
from pytest_fairness.core.user_turns import UserTurnsResult

if TYPE_CHECKING:
    from pytest_fairness.core.estimates import Estimate
    from pytest_fairness.core.sensitivity import ControlResponse, JudgedSlice

Bounds = tuple[float | None, float | None]
"""The lowest and the highest value; None where there is no such end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonResult(JsonRecord):
    """One comparison of an estimate with a number."""

    op: str
    bound: float
    decision: str = ""
    """``true``, ``false``, ``undecided`` or ``invalid``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupResult(JsonRecord):
    """The rate or mean of one group, with its own interval."""

    value: float | None = field(metadata=key("estimate"))
    low: float | None = None
    high: float | None = None
    items: int = 0
    attempts: int = 0
    ungraded: int = 0
    count: int | None = field(default=None, metadata=OPTIONAL)
    """The graded attempts for which a rate's outcome is true; None for a mean."""

    @classmethod
    def of(cls, group: GroupValue) -> Self:
        """Return the result of a rate or mean."""
        return cls(
            value=finite(group.value),
            low=finite(group.low),
            high=finite(group.high),
            items=int(group.items),
            attempts=int(group.attempts),
            ungraded=sum(map(int, group.ungraded.values())),
            count=group.count,
        )

    @property
    def graded(self) -> int:
        """The attempts that have a grade.

        >>> GroupResult(value=0.5, attempts=12, ungraded=2).graded
        10
        """
        return self.attempts - self.ungraded


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatEffectResult(JsonRecord):
    """The estimate that decided a threshold, in each answer format of its probe."""

    by_format: Mapping[str, GroupResult]
    p_value: float | None
    """That of equal values in all formats (`stats.pvalues.p_equal`); None where it is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseResult(JsonRecord):
    """The response of a threshold's answers to one control of its probe."""

    grade: str
    """The grade that the control moves."""
    attribute: str
    """The attribute that should move it."""
    of: str
    """The level at which it should be higher."""
    to: str
    """The other level."""
    slice: Mapping[str, str] = field(default_factory=dict)
    """The slice that it is about; empty for the whole sample."""
    metric: str = ""
    """The difference of the two levels."""
    value: float | None = field(default=None, metadata=key("estimate"))
    low: float | None = None
    high: float | None = None
    at_least: float | None = None
    """The smallest response that counts, in the units of the estimate."""
    odds_ratio: float | None = None
    """The odds ratio of decisions that this amounts to, at their rates; None for a grade that holds numbers."""
    equals: str = ""
    """The value that is counted, of a grade that holds text; empty for others."""
    constant: str = ""
    """The one value of all answers at both levels; empty where they differ."""
    levels: Mapping[str, float | None] = field(default_factory=dict)
    """The rate or mean at each level."""
    decision: str = ""
    """``true``: the answers follow the control; ``false``: they do not; ``undecided``."""
    text: str = ""
    """One sentence with the numbers."""

    @classmethod
    def of_response(cls, response: ControlResponse) -> Self:
        """Return the result of a response."""
        control, estimate = response.control, response.estimate
        numbers = {} if estimate is None else {"low": finite(estimate.low), "high": finite(estimate.high)}
        values = () if estimate is None else (value for _, value in estimate.outcomes if value is not None)
        return cls(
            grade=control.grade,
            attribute=control.by,
            of=control.of,
            to=control.to,
            slice={} if response.slice is None else dict([response.slice]),
            metric="" if estimate is None else estimate.metric,
            value=None if estimate is None else finite(estimate.value),
            at_least=finite(response.at_least),
            odds_ratio=response.odds_ratio,
            equals=", ".join(map(str, values)),
            constant=response.constant,
            levels={level: finite(value) for level, value in response.levels.items()},
            decision=response.decision.value,
            text=response.text,
            **numbers,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceResult(JsonRecord):
    """One declared slice of a threshold, which has a veto."""

    slice: Mapping[str, str]
    state: str
    """``unfair``, ``inside`` or ``open``; ``no veto`` with too few sources, ``unmeasured`` without answers."""
    metric: str = ""
    value: float | None = field(default=None, metadata=key("estimate"))
    low: float | None = None
    """The interval is that for the claim that it is unfair, which shares the error."""
    high: float | None = None
    reason: str = ""

    @classmethod
    def of(cls, part: JudgedSlice) -> Self:
        """Return the result of a slice, with its interval for claims of unfairness."""
        estimate = None if part.deciding is None else part.deciding.estimate
        low, high = (None, None) if estimate is None else map(finite, estimate.strict_ends)
        return cls(
            slice={part.by: part.value},
            state=part.state.value,
            metric="" if estimate is None else estimate.metric,
            value=None if estimate is None else finite(estimate.value),
            low=low,
            high=high,
            reason=part.reason,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OverrideResult(JsonRecord):
    """A setting of the project in place of the suite's."""

    set: Any
    instead_of: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeResult(JsonRecord):
    """The models that judged one grade of all answers, or of ``answers``; and those that judged their own."""

    grade: str
    models: Sequence[str]
    """The judges."""
    own: Sequence[str] = ()
    """Those that judged their own answers."""
    answers: int | None = field(default=None, metadata=OPTIONAL)
    agreement: Mapping[str, float | None] = field(default_factory=dict)
    """Krippendorff's alpha by field, of several judges only; None where it is not defined."""
    second: SecondGradingResult | None = field(default=None, metadata=OPTIONAL)
    """The agreement of its first and second gradings; None where no answer may be graded twice."""

    def doubt(self, grades: Collection[str]) -> str:
        """Return why the grades of this judge mean nothing, in one sentence; empty where they may mean something.

        Args:
            grades: The names of the grades in question; empty for all of its grades.
        """
        reason = self.second.doubt(grades) if self.second is not None else ""
        return reason and f"the grades of the judge {' and '.join(self.models)} mean nothing: {reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LooksResult(JsonRecord):
    """The interim looks of a run, and the earlier runs that judged the same threshold."""

    number: int = 1
    """Number of the look that decided, from 1."""
    of: int = 1
    """Number of declared looks."""
    first: int = 0
    """Attempts of the first look's sample."""
    run: int = 1
    """Number of the judged run of the threshold on this model, from 1."""
    plan: Sequence[tuple[int, int, int, int]] = ()
    """Items, repetitions, attempts and clusters of each look's sample."""
    tryout: bool = field(default=False, metadata=OPTIONAL)
    """Whether the sample is too small to be fair."""
    identity: str = ""
    """A digest of the answers and the question that this run judged."""
    model: str = ""
    """A digest of the model over which runs are counted."""
    earlier: Mapping[str, int] = field(default_factory=dict)
    """Number of earlier runs by verdict."""
    other_bounds: str = ""
    """The bounds of the last run with others, in words."""
    other_graders: str = field(default="", metadata=OPTIONAL)
    """The grades whose graders the last earlier run had in another version, and that run, in words."""
    unversioned: bool = False
    """Whether the model is an application without a version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InfluenceResult(JsonRecord):
    """The influence of each item or source on the estimate that decided a threshold, as the store keeps it."""

    log: bool
    """Whether the numbers are of the logarithm of the estimate's size."""
    error: float | None
    """Standard error, in the same units; None where it is not known."""
    values: Mapping[str, float]


PROPENSITIES = "propensities)"
"""The end of the title of a threshold on propensities."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateResult(JsonRecord):
    """The numbers of an estimate."""

    metric: str = ""
    """Empty in a threshold that compared nothing."""
    title: str = ""
    """The metric in words."""
    kind: MetricKind = MetricKind.CUSTOM
    """The kind of the metric; never parse it from its name."""
    absolute: bool = False
    """Whether it is a size, without its sign."""
    negated: bool = False
    """Whether it has the opposite sign."""
    parity: float | None = None
    """The value where groups are alike; None for a metric that compares none."""
    log_scale: bool = False
    """Whether intervals are made, and charts drawn, on the logarithm."""
    family: str = ""
    """The metric without the groups that it compares."""
    base: str = ""
    """The metric without its sign."""
    against_baseline: bool = False
    """Whether it is a comparison with a baseline."""
    attribute: str | None = None
    """The attribute that groups the prompts; None where no groups are compared."""
    slice: Mapping[str, str] = field(default_factory=dict)
    """The selection of ``measured.where(...)``, and the slice that made a threshold unfair, if one did."""
    value: float | None = field(default=None, metadata=key("estimate"))
    """The value on graded attempts."""
    count: int | None = None
    """The graded attempts for which a rate is true; None for other metrics."""
    low: float | None = None
    """The interval holds however ungraded attempts are imputed; None where an end is infinite or not known."""
    high: float | None = None
    confidence: float | None = None
    """That of the interval, 0.95 by default; more if a look has only a share of the error."""
    items: int = 0
    sources: int = 0
    """Fewer than ``items`` if items share templates; the interval then clusters by source."""
    attempts: int = 0
    ungraded: Mapping[str, int] = field(default_factory=dict)
    """Ungraded attempts by group, or under ``all``."""
    groups: Mapping[str, float | None] = field(default_factory=dict)
    """The metric of each group."""
    invalid: str = ""
    """The reason that the estimate allows no conclusion; else empty."""
    mark: str | None = None
    """``A`` to ``D``, the worst that the interval touches; None if it touches three, without a scale, or if the
    estimate is invalid or sparse."""
    scale: Mapping[str, Sequence[Bounds]] | None = None
    """The ranges of ``A``, ``B`` and ``C``; None for an open end."""

    @classmethod
    def of(cls, estimate: Estimate, **extra: Any) -> Self:
        """Return an estimate as the report has it; ``extra`` are further fields of the result."""
        shared = ("metric", "title", "kind", "absolute", "negated", "parity", "log_scale", "against_baseline")
        return cls(
            **{name: getattr(estimate, name) for name in shared},
            family=estimate.family_name,
            base=estimate.base or estimate.metric,
            attribute=estimate.attribute,
            slice={str(name): str(value) for name, value in estimate.slice.items()},
            value=finite(estimate.value),
            count=estimate.count,
            low=finite(estimate.low),
            high=finite(estimate.high),
            confidence=float(estimate.confidence),
            items=int(estimate.items),
            sources=int(estimate.sources),
            attempts=int(estimate.attempts),
            ungraded={str(group): int(count) for group, count in estimate.ungraded.items()},
            groups={str(group): finite(value) for group, value in estimate.groups.items()},
            invalid=estimate.invalid,
            mark=None if (mark := str(estimate.mark)) == NOT_MARKED else mark,
            scale=scale_result(estimate.scale),
            **extra,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricResult(EstimateResult):
    """An estimate that a threshold's test has recorded."""

    suite: str = ""
    probe: str = ""
    model: str = ""
    column: str = ""
    """The head of its column in the terminal's table of slices; empty where it stands in none."""
    observed: float | None = None
    """The value in the sample where ``estimate`` is null, since nothing can be concluded from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdResult(JsonRecord):
    """One threshold on one model, with the estimate that decided it."""

    suite: str = ""
    probe: str = ""
    model: str = ""
    estimate: EstimateResult = field(default_factory=EstimateResult, metadata=FLAT)
    """That which decided it; without a metric where it has none."""
    id: str
    """The test: ``path::name[model]``; of a file that was skipped or not imported, the file."""
    threshold: str = ""
    """Its title."""
    harm: str = ""
    """The kind of harm."""
    owner: str = ""
    """The owner of its suite, by ``pyproject.toml``."""
    location: tuple[str, int] = ("", 0)
    """The file and the line."""
    alias: str = ""
    """The alias by which its model was named."""
    key: str = ""
    """The id under which the store keeps it, if not its own: that of its test has an alias of the model."""
    verdict: str = ""
    """``fair``, ``unfair``, ``undecided``, ``invalid``, or ``not judged``, which is no verdict."""
    message: str = ""
    """The reason that it is not fair, with the numbers, or was not judged; empty if fair."""
    outcome: str = ""
    """Outcome of the test: ``passed``, ``failed``, ``accepted``, ``skipped``, ``not run``, ..."""
    own: Mapping[str, OverrideResult] = field(default_factory=dict)
    """Overrides in the project's ``pyproject.toml``, by ``bounds``, ``scale``, ``repetitions``, ``confidence``; other
    fields use them."""
    sample: SampleCounts | None = field(default=None, metadata=OPTIONAL)
    """Attempts of the probe's whole sample."""
    restricted: Sequence[str] = ()
    """Options that make the sample another than the one that the probe declares."""
    items_digest: str = ""
    """A digest of the items that the probe declares: texts, groups and sources."""
    served_by: Sequence[str] = ()
    """The models that the provider says have answered."""
    responders: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """The answers of each compared group by the model; empty where one model has answered."""
    user_turns: Sequence[UserTurnsResult] = ()
    """The turns of a played user in each pair of compared groups; empty where no model plays the user."""
    tables: Sequence[int] = ()
    """The numbers of rows of the tables that its test computes from, in place of its probe's sample."""
    graders: Mapping[str, str | None] = field(default_factory=dict)
    """The fingerprint of each grade's grader; None for one that has none."""
    judges: Sequence[JudgeResult] = ()
    """One for each `Judge` of the probe."""
    risk: float | None = None
    """The probability of an error on either side over all looks: 0.025 by default."""
    looks: LooksResult | None = None
    """None for a threshold that was not judged."""
    history: HistoryResult | None = None
    drift: DriftResult | None = field(default=None, metadata=OPTIONAL)
    """None for a threshold that compares with no baseline."""
    excluded: Sequence[str] = ()
    """The groups that its mark leaves out, ``attribute=group``."""
    without_group: Mapping[str, int] = field(default_factory=dict)
    """The attempts of its sample that name no group of an attribute by which it compares or selects."""
    sensitivity: str = ""
    """Whether its answers could have shown a gap: ``shown``, ``not shown``, ``absent``; ``no control`` if none is
    declared."""
    responses: Sequence[ResponseResult] = ()
    """The responses to controls, over its own sample and at its own confidence."""
    slices: Sequence[SliceResult] = ()
    """The declared slices, each with a veto."""
    pooled: SliceResult | None = field(default=None, metadata=OPTIONAL)
    """The estimate over all slices, where that of one slice made the threshold unfair; else None."""
    outside: Sequence[FailingEstimate] = ()
    """Estimates that its test recorded and did not compare, which lie outside the bounds of one that is not
    unfair."""
    clustering: Sequence[str] = ()
    """The metadata by which its interval is clustered though nobody declared it."""
    formats: FormatEffectResult | None = field(default=None, metadata=OPTIONAL)
    """None for a probe with one answer format."""
    comparisons: Sequence[ComparisonResult] = ()
    """Those of the deciding metric."""
    bounds: Bounds = (None, None)
    """The lower and the upper bound; None where there is none."""
    failing: Sequence[FailingEstimate] = ()
    """Every estimate that did not hold its bounds for certain; several of a threshold that compares several."""
    accepted: AcceptanceResult | None = field(default=None, metadata=OPTIONAL)
    """The entry of the file of accepted verdicts for this threshold on its model."""
    seal: SealResult | None = field(default=None, metadata=OPTIONAL)
    """The seal under which it was judged; None in a project without one."""
    flip_probability: float | None = None
    """Probability that a rerun of equal size puts the estimate on the other side of the nearest bound."""
    outside_probability: float | None = None
    """Probability that a rerun of equal size puts the estimate outside the bounds."""
    advice: str = ""
    """The way to decide an undecided threshold."""
    limit: Limit | None = field(default=None, metadata=OPTIONAL)
    """The limit of an undecided threshold, with the number that it needs; ``advice`` has it in words."""
    causes: Sequence[CauseResult] = ()
    """The causes of an invalid verdict, or of answers that keep it open."""
    p_value: float | None = None
    """That for the claim that it is unfair: at most ``risk`` exactly if the interval lies outside a bound. It is
    corrected over the members of a family, and for a look for its share of the error."""
    p_fair: float | None = None
    """That for the claim that it is fair: at most ``risk`` exactly if the interval lies inside all bounds."""
    p_holm: float | None = None
    """``p_value`` after Holm's correction over the thresholds of the model, without those not selected or skipped."""
    reference: str | None = None
    """The group that the others are compared to."""
    by_group: Mapping[str, GroupResult] = field(default_factory=dict)
    """The rate or mean of each group, in a family of all; empty for a metric without groups."""
    example: ExampleResult | None = None
    """If unfair or undecided, the most influential item, in the worst slice that is declared or recorded. Of two groups
    the one with the largest repeatable difference in the direction of the estimate, by the nearer end of a 95%
    interval; else the one that moves the estimate furthest in that direction."""

    @property
    def is_of_propensities(self) -> bool:
        """Whether it was measured on propensities, not on drawn answers."""
        return self.threshold.endswith(PROPENSITIES)

    @property
    def stored_id(self) -> str:
        """The id under which the store keeps it."""
        return self.key or self.id

    @property
    def pooled_slice(self) -> Mapping[str, str]:
        """The selection of its test, without the slice that made it unfair."""
        return self.estimate.slice if self.pooled is None else self.pooled.slice

    @property
    def deciding_slice(self) -> dict[str, str]:
        """The slice that made it unfair, where one did; empty where the estimate over all slices decides."""
        return {name: value for name, value in self.estimate.slice.items() if self.pooled_slice.get(name) != value}

    @property
    def deciding_slice_name(self) -> str:
        """The name of that slice: ``language de``."""
        return ", ".join(f"{name} {value}" for name, value in self.deciding_slice.items())

    @property
    def unfair_slices(self) -> list[Mapping[str, str]]:
        """The slices that made it unfair, the deciding one first; none where the pooled estimate did."""
        if self.pooled is None:
            return []
        unfair = [part.slice for part in self.slices if part.state == "unfair"]
        return sorted(unfair, key=lambda names: not names.items() <= self.estimate.slice.items())

    @property
    def special_outcome(self) -> str:
        """The outcome where the verdict does not imply it: ``accepted``, ``xfailed``, ``xpassed``."""
        return self.outcome if self.outcome in ("accepted", "xfailed", "xpassed") else ""

    @property
    def verdict_text(self) -> str:
        """The verdict, with the outcome where it does not imply that: ``unfair (accepted)``."""
        return f"{self.verdict} ({self.special_outcome})" if self.special_outcome else self.verdict


@dataclass(frozen=True, slots=True)
class Unjudged:
    """The reason why a threshold has no verdict of its own."""

    verdict: str
    """``not judged``, or ``invalid`` where its test failed."""
    message: str
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedThreshold(JsonRecord):
    """A threshold before it runs, and all that is known of one that never reports."""

    id: str
    suite: str = ""
    probe: str = ""
    threshold: str = ""
    harm: str = ""
    model: str = ""
    location: tuple[str, int] = ("", 0)
    model_source: str = ""
    """The fixture that makes its model, where its name is not known before."""
    key: str = ""
    """The id under which the store keeps its result, if not its own."""
    verdict: str = ""
    """Empty for a threshold that is selected."""
    message: str = ""
    outcome: str = ""

    def unjudged(self, reason: Unjudged) -> ExpectedThreshold:
        """Return the threshold with the reason why it has no verdict."""
        return replace(self, verdict=reason.verdict, message=reason.message, outcome=reason.outcome)

    def result(self) -> ThresholdResult:
        """Return its result, which has no estimate."""
        content = self.to_json()
        del content["model_source"]
        return ThresholdResult.from_json(content)


@dataclass(frozen=True, slots=True)
class PastResult:
    """The result of a threshold in an earlier run."""

    run: str
    started: float
    """Seconds since 1970."""
    git: str | None
    result: ThresholdResult

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> PastResult:
        """Return what the store has of a threshold; fields of other versions are left out."""
        result = ThresholdResult.from_json({"id": "", **row}, f"run {row['run'][:8]}", strict=False)
        return cls(row["run"], row["started"], row["git"], result)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseResult(JsonRecord):
    """The verdict on one model over all of its thresholds."""

    model: str
    verdict: str
    """``fair`` if every threshold is; ``unfair`` if one is after Holm's correction; else ``invalid`` if one is, or
    ``undecided``. Never ``fair`` with thresholds that were not judged."""
    fair: int = 0
    """Number of thresholds with that verdict, as are the next three."""
    unfair: int = 0
    undecided: int = 0
    invalid: int = 0
    unfair_after_holm: int = 0
    """Number of the unfair ones that remain so after the correction."""
    chance_not_excluded: Sequence[str] = ()
    """The titles of the other unfair thresholds."""
    oldest: str | None = None
    """The day of the oldest answer that an earlier run asked for."""
    accepted: int = 0
    """Number of unfair and undecided thresholds whose verdict was accepted: their words and the release's stay."""
    not_judged: Mapping[str, int] = field(default_factory=dict)
    """Number of thresholds that were not judged, by the reason."""
    restricted: Sequence[str] = ()
    """Options that change the probe's declared sample, as ``--fairness-sample=20``."""
    unfair_slices: Sequence[str] = ()
    """The names of the slices that made thresholds unfair: ``language de``."""
    without_response: int = 0
    """Number of the invalid ones whose answers do not follow a control of their probe."""
    causes: Sequence[SharedCauseResult] = ()
    """The causes of its invalid thresholds, the most frequent first, each once."""

    @property
    def counts(self) -> dict[str, int]:
        """Number of thresholds by verdict."""
        return {"fair": self.fair, "unfair": self.unfair, "undecided": self.undecided, "invalid": self.invalid}


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkResult(JsonRecord):
    """The mark of a model on a suite, a field of one, or a harm."""

    model: str
    suite: str | None = field(default=None, metadata=OPTIONAL)
    """Given if the mark is of a suite; else ``field``, a part of a suite as ``gender/decisions``, or ``harm``."""
    harm: str | None = field(default=None, metadata=OPTIONAL)
    field: str | None = field(default=None, metadata=OPTIONAL)
    mark: str | None = None
    """The second-worst of the thresholds' marks, but at most one better than the worst; None if not marked."""

    @property
    def name(self) -> str:
        """The suite, file or harm that is marked: ``suite bbq``."""
        kinds = {"suite": self.suite, "file": self.field, "harm": self.harm}
        return next((f"{kind} {name}" for kind, name in kinds.items() if name), "")


def scale_result(scale: MarkScale | None) -> Mapping[str, Sequence[Bounds]] | None:
    """Return the ranges of each letter of a scale."""
    if scale is None:
        return None
    return {mark: tuple((finite(low), finite(high)) for low, high in getattr(scale, mark)) for mark in "ABC"}

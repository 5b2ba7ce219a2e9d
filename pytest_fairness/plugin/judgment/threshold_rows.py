"""Results of thresholds, from their judgments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import pytest

from pytest_fairness.core.decisions import Decision, Verdict
from pytest_fairness.core.json_objects import finite
from pytest_fairness.core.threshold_results import (
    ComparisonResult,
    EstimateResult,
    ExpectedThreshold,
    GroupResult,
    InfluenceResult,
    LooksResult,
    OverrideResult,
    ResponseResult,
    SliceResult,
    ThresholdResult,
    scale_result,
)
from pytest_fairness.plugin.config.profiles import SMOKE
from pytest_fairness.plugin.own_tests import find_query_fixtures
from pytest_fairness.plugin.probes.identity import get_sample, model_source
from pytest_fairness.plugin.probes.markers import declared_title, threshold_mark
from pytest_fairness.plugin.session.session import SESSION
from pytest_fairness.report.release import FILE

if TYPE_CHECKING:
    from pytest_fairness.core.acceptance_results import FailingEstimate
    from pytest_fairness.core.breakdown import ExampleResult
    from pytest_fairness.core.comparisons import Comparison
    from pytest_fairness.core.estimates import Estimate
    from pytest_fairness.core.verdicts import Judgment
    from pytest_fairness.plugin.config.settings import Settings
    from pytest_fairness.plugin.probes.probe import Probe
    from pytest_fairness.plugin.samples.measurement import LazyMeasured

_VERDICTS = {Decision.FALSE: "unfair", Decision.INVALID: "invalid", Decision.UNDECIDED: "undecided"}
"""The verdicts of an estimate by its decisions, the worst first."""
LONGEST_PARAMETER = 60
"""The most characters of a parameter's value in a threshold's title."""


def threshold_row(item: pytest.Function, judgment: Judgment, measured: LazyMeasured, message: str) -> ThresholdResult:
    """Return the result of a judged threshold.

    Args:
        item: Its test.
        judgment: The judgment of its comparisons.
        measured: The sample that it was judged on.
        message: The message of its verdict.
    """
    from pytest_fairness.core.verdicts import flip_probability, outside_probability
    from pytest_fairness.stats.pvalues import p_fair, p_unfair

    common_fields = _common_fields(item, judgment, measured, message)
    if judgment.deciding is None:
        return ThresholdResult(**common_fields)
    bounds, look = judgment.about_deciding, measured.look
    estimate = judgment.deciding.estimate
    # A look may spend only its share of the error, so its p-values are scaled up by that share.
    shares = {name: look.tail / tail for name, tail in (("fair", look.own_tail), ("unfair", look.strict_tail))}
    numbers = EstimateResult.of(estimate)
    return ThresholdResult(
        **common_fields,
        # A value that could not have been another one is no grade of the model.
        estimate=replace(numbers, mark=None) if judgment.sensitivity else numbers,
        comparisons=[
            ComparisonResult(op=comparison.op, bound=comparison.bound, decision=comparison.decision.value)
            for comparison in bounds
        ],
        bounds=judgment.bounds,
        flip_probability=flip_probability(estimate, [comparison.bound for comparison in bounds]),
        outside_probability=outside_probability(bounds),
        p_value=_scale_p_value(p_unfair(judgment.claimed, judgment.asserted * judgment.claims), shares["unfair"]),
        p_fair=_scale_p_value(p_fair(judgment.comparisons), shares["fair"]),
        **_breakdown_fields(item, judgment, measured.probe, estimate),
    )


def _common_fields(item: pytest.Function, judgment: Judgment, measured: LazyMeasured, message: str) -> dict[str, Any]:
    """Return the fields of a result that do not depend on a deciding estimate."""
    from pytest_fairness.core.messages import advice

    look = measured.look
    return {
        "id": item.nodeid,
        "key": store_key(item),
        "suite": measured.probe.suite,
        "probe": measured.probe.id,
        "threshold": threshold_title(item),
        "harm": measured.probe.harm,
        "owner": item.config.stash[SESSION].settings.project.owners.get(measured.probe.suite, ""),
        "model": measured.subject.name,
        "location": location(item, judgment.failure),
        "verdict": judgment.verdict.value,
        "message": message,
        "own": _overrides(item, judgment, measured.probe),
        "sample": measured.counts,
        "restricted": restrictions(measured.probe, item.config.stash[SESSION].settings),
        "items_digest": measured.probe.items_digest,
        "served_by": measured.served_by,
        "responders": judgment.responders,
        "user_turns": judgment.user_turns,
        "tables": judgment.tables,
        "graders": measured.fingerprints,
        "judges": measured.judges,
        "risk": measured.tail,
        "looks": LooksResult(
            number=look.number,
            of=look.total,
            first=look.plan[0].attempts,
            run=look.run,
            plan=look.plan,
            tryout=measured.counts is not None and measured.is_tryout,
        ),
        "excluded": [
            f"{by}={group}" for by, groups in threshold_mark(item.function).exclude.items() for group in groups
        ],
        "without_group": _without_group(judgment, measured),
        "clustering": [judgment.clustering] if judgment.clustering else [],
        "sensitivity": sensitivity_state(measured.probe, judgment),
        "responses": [ResponseResult.of_response(response) for response in judgment.responses],
        "slices": [SliceResult.of(part) for part in judgment.slices],
        "pooled": _pooled(judgment),
        "outside": _outside(judgment),
        "failing": failing_estimates(judgment),
        "seal": judgment.seal,
        "limit": judgment.limit,
        "advice": advice(judgment) if judgment.verdict is Verdict.UNDECIDED else "",
    }


def _without_group(judgment: Judgment, measured: LazyMeasured) -> dict[str, int]:
    """Return the number of attempts that are in no group of an attribute by which a threshold compares or selects."""
    estimates = [member.estimate for comparison in judgment.comparisons for member in comparison.of_members()]
    if not estimates:
        return {}
    columns = measured.load().selection.columns
    groups = columns.group_attributes
    names = dict.fromkeys(
        name for estimate in estimates for name in (estimate.attribute, *estimate.slice) if name is not None
    )
    counts = {name: columns.without(name) for name in names if name in groups}
    return {name: count for name, count in counts.items() if count}


def _pooled(judgment: Judgment) -> SliceResult | None:
    """Return the estimate over all slices where one slice decides; else None."""
    from pytest_fairness.core.comparisons import key_of
    from pytest_fairness.core.sensitivity import JudgedSlice, SliceState

    if judgment.deciding is None or not judgment.slices:
        return None
    members = [member for comparison in judgment.comparisons for member in comparison.of_members()]
    if key_of(judgment.deciding.estimate) in {key_of(member.estimate) for member in members}:
        return None
    is_inside = all(comparison.decision is Decision.TRUE for comparison in members)
    whole = JudgedSlice("", "", SliceState.INSIDE if is_inside else SliceState.OPEN, judgment.comparisons)
    assert whole.deciding is not None  # noqa: S101 - for the type: a slice is judged as its pooled claim is
    estimate = whole.deciding.estimate
    names = {str(name): str(value) for name, value in estimate.slice.items()}
    # Its interval is that for claims of fairness, which would have decided.
    return replace(SliceResult.of(whole), slice=names, low=finite(estimate.low), high=finite(estimate.high))


def _outside(judgment: Judgment) -> list[FailingEstimate]:
    """Return the recorded estimates that lie outside the bounds of a threshold that is not unfair."""
    from pytest_fairness.stats.recorded_estimates import find_outside

    return [
        replace(_failing_estimate(comparisons), title=comparisons[0].estimate.title)
        for comparisons in find_outside(judgment)
    ]


def sensitivity_state(probe: Probe, judgment: Judgment) -> str:
    """Return whether a threshold's answers could have shown a gap: shown, not shown, absent, or no control."""
    if not probe.controls:
        return "no control"
    decisions = {response.decision for response in judgment.responses}
    if Decision.FALSE in decisions:
        return "absent"
    return "shown" if decisions == {Decision.TRUE} else "not shown"


def failing_estimates(judgment: Judgment) -> list[FailingEstimate]:
    """Return the compared estimates that are not certainly within their bounds, with these bounds."""
    from pytest_fairness.core.comparisons import key_of

    compared: dict[str, list[Comparison]] = {}
    for comparison in judgment.claimed:
        for member in comparison.of_members():
            compared.setdefault(key_of(member.estimate), []).append(member)
    return [
        _failing_estimate(comparisons)
        for comparisons in compared.values()
        if any(comparison.decision is not Decision.TRUE for comparison in comparisons)
    ]


def _failing_estimate(comparisons: Sequence[Comparison]) -> FailingEstimate:
    from pytest_fairness.core.acceptance_results import FailingEstimate

    decisions = {comparison.decision for comparison in comparisons}
    verdict = next(verdict for decision, verdict in _VERDICTS.items() if decision in decisions)
    estimate = comparisons[0].estimate
    claimed = estimate.as_claimed() if verdict == "unfair" else estimate
    low = [comparison.bound for comparison in comparisons if comparison.op in (">", ">=")]
    high = [comparison.bound for comparison in comparisons if comparison.op in ("<", "<=")]
    return FailingEstimate(
        metric=estimate.metric,
        slice={str(name): str(value) for name, value in estimate.slice.items()},
        verdict=verdict,
        value=finite(claimed.value),
        low=finite(claimed.low),
        high=finite(claimed.high),
        bounds=(max(low, default=None), min(high, default=None)),
    )


def restrictions(probe: Probe, settings: Settings) -> list[str]:
    """Return the options by which the sample differs from the declared one."""
    has_other_repetitions = settings.repetitions not in (None, probe.repetitions) and not probe.is_propensity
    return [
        *(f"--fairness-where={value}" for value in probe.chosen),
        *([f"--fairness-profile={SMOKE}"] if settings.profile == SMOKE else []),
        *([settings.sampling] if probe.reserve and (settings.sample or settings.profile != SMOKE) else []),
        *([f"--fairness-repetitions={settings.repetitions}"] if has_other_repetitions else []),
    ]


def _overrides(item: pytest.Function, judgment: Judgment, probe: Probe) -> dict[str, OverrideResult]:
    """Return the project's overrides of the suite, by setting."""
    overrides = {
        name: OverrideResult(set=probe.arguments[name], instead_of=suite) for name, suite in probe.instead_of.items()
    }
    if judgment.bounds_of_test is not None:
        overrides["bounds"] = OverrideResult(set=list(judgment.bounds), instead_of=list(judgment.bounds_of_test))
    override = item.config.stash[SESSION].overrides.of(item)
    if override.slices is not None:
        suite_slices = list(threshold_mark(item.function).slices)
        overrides["slices"] = OverrideResult(set=list(override.slices), instead_of=suite_slices)
    if (scale := override.scale) is not None:
        suite_scale = threshold_mark(item.function).scale
        overrides["scale"] = OverrideResult(set=scale_result(scale), instead_of=scale_result(suite_scale))
    return overrides


def _breakdown_fields(item: pytest.Function, judgment: Judgment, probe: Probe, estimate: Estimate) -> dict[str, Any]:
    """Return the fields of the groups and, if the verdict is not fair, of the clearest example."""
    from pytest_fairness.plugin.samples.shard_hooks import find_other_test

    if estimate.breakdown is None:
        return {}
    breakdown = estimate.breakdown()
    example = None
    if judgment.verdict in (Verdict.UNFAIR, Verdict.UNDECIDED):
        example = _find_example(judgment, estimate)
    if example is not None:
        example = replace(example, test=find_other_test(item, probe.id, example.item))
    return {
        "reference": breakdown.reference,
        "by_group": {name: GroupResult.of(group) for name, group in breakdown.groups.items()},
        "example": example,
    }


def _find_example(judgment: Judgment, estimate: Estimate) -> ExampleResult | None:
    """Return the clearest example of an estimate: in the part of its sample, declared or recorded, that is worst."""
    towards = _bad_side(judgment, estimate)
    estimates = [estimate]
    if _pooled(judgment) is None:
        comparisons = (comparison for part in judgment.slices for comparison in part.comparisons)
        members = [member.estimate for comparison in comparisons for member in comparison.of_members()]
        alike = [
            part
            for part in (*members, *judgment.estimates)
            if part.metric == estimate.metric and not part.invalid and part.slice.items() > estimate.slice.items()
        ]
        estimates = [*sorted(alike, key=lambda member: -towards * member.value)[:1], estimate]
    examples = (own.breakdown().example_towards(towards) for own in estimates if own.breakdown is not None)
    return next(filter(None, examples), None)


def _bad_side(judgment: Judgment, estimate: Estimate) -> int:
    """Return 1 if high values may be unfair by the nearest bound, -1 if low ones may be."""
    nearest = min(judgment.about_deciding, key=lambda comparison: abs(estimate.value - comparison.bound))
    if judgment.verdict is Verdict.UNFAIR and estimate.value != nearest.bound:
        return 1 if estimate.value > nearest.bound else -1  # for every operator
    return -1 if nearest.op in (">", ">=") else 1


def get_influences(judgment: Judgment) -> InfluenceResult | None:
    """Return the influence of each item or source on the deciding estimate, if it is known."""
    estimate = judgment.deciding.estimate if judgment.deciding else None
    if estimate is None or estimate.breakdown is None:
        return None
    breakdown = estimate.breakdown()
    if not breakdown.influences:
        return None
    error = estimate.error / abs(estimate.value) if breakdown.log else estimate.error
    return InfluenceResult(log=breakdown.log, error=finite(error), values=dict(breakdown.influences))


def _scale_p_value(p_value: float | None, share: float) -> float | None:
    return None if p_value is None else min(1.0, p_value * share)


def location(item: pytest.Item, failure: BaseException | None = None) -> tuple[str, int]:
    """Return the file of a threshold, relative to the rootdir, and the line of the failed assert or of its function."""
    file, line, _ = item.location
    number = (line or 0) + 1
    entry = failure.__traceback__ if failure else None
    while entry is not None:
        if entry.tb_frame.f_code.co_filename == str(item.path):
            number = entry.tb_lineno
        entry = entry.tb_next
    return file, number


def threshold_title(item: pytest.Item) -> str:
    """Return a threshold's title, with its parameters except the model.

    The test's name stands in for a title that its mark does not give: ``test_women_and_men_advance_alike[openai:x]``
    is ``women and men advance alike``, and ``test_reach[0.8]`` is ``reach (bound=0.8)``.
    """
    name = declared_title(getattr(item, "function", None)) or _title_of_name(
        getattr(item, "originalname", None) or item.name
    )
    callspec: Any = getattr(item, "callspec", None)
    indices: dict[str, int] = {} if callspec is None else callspec.indices
    parameters = []
    for key, index in indices.items():
        value = callspec.params[key]
        if key not in ("model_name", "measured", *find_query_fixtures(item)):
            parameters.append(
                f"{key}={_shorten_value(str(value))}"
                if isinstance(value, str | int | float | None)
                else f"{key} {index}"
            )
    sample = get_sample(item)
    parameters += ["propensities"] if sample is not None and sample.probe.is_propensity else []
    return f"{name} ({', '.join(parameters)})" if parameters else name


def _shorten_value(value: str) -> str:
    """Return a parameter's value; a long one loses its middle, since values often differ at their ends."""
    return (
        value
        if len(value) <= LONGEST_PARAMETER
        else f"{value[: LONGEST_PARAMETER // 2]}...{value[-LONGEST_PARAMETER // 2 :]}"
    )


def _title_of_name(name: str) -> str:
    return name.removeprefix("test_").replace("_", " ")


def store_key(item: pytest.Item) -> str:
    """Return the id under which the store keeps a threshold's results; empty where it is that of its test."""
    model = item.callspec.params.get("model_name") if hasattr(item, "callspec") else None
    return item.config.stash[SESSION].models.store_key(item.nodeid, model)


def expected_row(item: pytest.Item) -> ExpectedThreshold:
    """Return the row of a threshold before it runs."""
    parameters: dict[str, Any] = item.callspec.params if hasattr(item, "callspec") else {}
    sample, model = get_sample(item), parameters.get("model_name")
    return ExpectedThreshold(
        id=item.nodeid,
        key=store_key(item),
        suite="" if sample is None else sample.probe.suite,
        probe="" if sample is None else sample.probe.id,
        harm="" if sample is None else sample.probe.harm,
        threshold=threshold_title(item),
        model=model or "",
        location=location(item),
        model_source=model_source(item) if isinstance(item, pytest.Function) else "",
    )


def uncollected_row(file: str) -> ExpectedThreshold:
    """Return the row of a file that may have thresholds, and was not read."""
    suite = PurePosixPath(file).parent.name or PurePosixPath(file).stem.removeprefix("test_")
    return ExpectedThreshold(id=file, suite=suite, threshold=f"{FILE} {file}", location=(file.partition("::")[0], 1))

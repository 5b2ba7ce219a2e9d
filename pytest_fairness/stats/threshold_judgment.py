"""The judgment of a threshold on a sample: its own claim, its slices, the response to controls, and what was measured.

Every verdict is made here: on a measured sample, a stored one, and the simulated and permuted ones of plans.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

from pytest_fairness.core.comparisons import Comparison
from pytest_fairness.core.controls import NO_GAP, Control
from pytest_fairness.core.decisions import Decision, Verdict
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.messages import limit_text
from pytest_fairness.core.sensitivity import ControlResponse, JudgedSlice, SliceState
from pytest_fairness.core.served_models import unlike_responders
from pytest_fairness.core.user_turns import USER_GAP
from pytest_fairness.core.verdicts import Judgment, judge
from pytest_fairness.stats.clustering import find_undeclared_clusters
from pytest_fairness.stats.limits import find_limit
from pytest_fairness.stats.origins import find_responders
from pytest_fairness.stats.responses import find_responses
from pytest_fairness.stats.user_turns import find_user_turns
from pytest_fairness.stats.validity import MOST_UNGRADED

if TYPE_CHECKING:
    from pytest_fairness.core.threshold_results import JudgeResult
    from pytest_fairness.stats.measured import Measured
from pytest_fairness.stats.observational import without_group_reason, worst_groupings

QUIET_ROOM = 3.5
"""Standard errors between an interval and a veto from which on a simulated slice is taken to have none."""
_FLOOR = "over half, and without them nothing is fair"


@dataclass(frozen=True, slots=True)
class ThresholdDesign:
    """The declarations of a threshold besides its test."""

    slices: tuple[str, ...] = ()
    """The attributes whose values are slices with a veto."""
    exclude: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The groups that are no part of its sample, by attribute."""
    controls: tuple[Control, ...] = ()
    """The controls of its probe."""
    designed: tuple[Control, ...] = ()
    """Those of which the probe has both levels, whatever part of it was measured."""
    clusters: bool = True
    """Whether its intervals account for clusters that nobody has declared. Not in samples drawn with replacement, in
    which the copies of a source are alike.
    """
    judges: tuple[JudgeResult, ...] = ()
    """The judges of its sample, with what grading some answers twice has shown."""
    alone: frozenset[str] = frozenset()
    """The grades that depend on an answer alone, and on no judge."""
    labeled: frozenset[str] = frozenset()
    """The grades that labels correct: these show what a judge is worth."""
    quiet: int = 0
    """The number of slices that are too far from a veto to be judged in a simulated sample (`count_quiet`): they only
    take their shares of the error.
    """


def judge_threshold(
    test: Callable[[Measured], object], measured: Measured, design: ThresholdDesign, **options: Any
) -> Judgment:
    """Return the judgment of a threshold on a sample.

    Args:
        test: Evaluates the threshold's test on a sample.
        measured: The sample.
        design: What it declares.
        **options: As for `core.verdicts.judge`.
    """
    sample = measured.from_selection(measured.selection.without(design.exclude)) if design.exclude else measured
    judgment = judge(lambda: test(sample), **options)
    if judgment.dependence is None or judgment.reason:
        return judgment
    # test_gap_that_varies_with_a_kind_gets_its_clusters
    if design.clusters:
        judgment = _with_undeclared_clusters(test, sample, judgment, options)
    try:
        if design.quiet:
            judgment = _with_slices(judgment, (), design.quiet)
        elif design.slices:
            most = 0 if options.get("reports", True) else sum(len(sample.groups(name)) for name in design.slices)
            if most and _broken_comparison(judgment.comparisons, most + 1) is not None:
                # Whatever its slices are, a simulated sample is unfair: nobody reads which of them are as well.
                judgment = _with_slices(judgment, (), most)
            else:
                judgment = _with_slices(judgment, _judge_slices(test, sample, judgment, design.slices, options))
        if judgment.verdict is Verdict.UNFAIR and not options.get("reports", True):
            return judgment  # what follows adds nothing to the verdict
        outcomes = _outcomes(judgment)
        # An invalid one has a reason of its own slice and groups.
        is_open = judgment.verdict in (Verdict.FAIR, Verdict.UNDECIDED)
        # test_mostly_ungraded_group_is_never_fair
        if is_open and (reason := sample.selection.mostly_ungraded(outcomes)):
            return replace(judgment, verdict=Verdict.INVALID, sensitivity=f"{reason}, {_FLOOR}")
        attributes = {by for by, _ in _compared(judgment, sample)}
        # test_traffic_without_groups_is_never_fair
        if is_open and (reason := without_group_reason(sample.selection.columns, attributes)):
            return replace(judgment, verdict=Verdict.INVALID, sensitivity=reason)
        # test_grades_by_chance_are_invalid
        responses = find_responses(sample, design.controls, outcomes, designed=design.designed)
        if doubt := _doubt_judges(judgment, sample, design, outcomes, responses):
            return replace(judgment, verdict=Verdict.INVALID, sensitivity=doubt, responses=tuple(responses))
        judgment = _with_unknown_groups(test, sample, judgment, attributes, outcomes, options)
        judgment = _with_responders(judgment, sample)
        if options.get("reports", True):
            judgment = _with_user_turns(judgment, sample, outcomes, options.get("strict_tail"))
        judgment = _with_responses(judgment, responses)
        # test_slice_that_does_not_respond_is_invalid
        return _with_responses_of_parts(judgment, sample, design, outcomes) if design.controls else judgment
    except FairnessError as error:  # a mistake in what is declared
        return Judgment(Verdict.INVALID, reason=str(error), mistake=str(error))


def _compared(judgment: Judgment, sample: Measured) -> list[tuple[str, list[str]]]:
    """Return the attribute and the groups of each estimate by which a judgment compares groups of its sample.

    A rate of flips compares pairs, and one of a table's columns no groups of the sample.
    """
    estimates = (member.estimate for comparison in judgment.comparisons for member in comparison.of_members())
    attributes = sample.selection.columns.known_attributes
    return [
        (estimate.attribute, sorted({*sample.groups(estimate.attribute)} & {*estimate.groups}))
        for estimate in estimates
        if estimate.attribute is not None and estimate.attribute in attributes
    ]


def _with_unknown_groups(
    test: Callable[[Measured], object],
    sample: Measured,
    judgment: Judgment,
    attributes: Collection[str],
    outcomes: Sequence[tuple[Any, Any]],
    options: Mapping[str, Any],
) -> Judgment:
    """Return the judgment of a threshold on traffic: *fair* has to hold whatever the groups that nobody recorded."""
    options = {**options, "dependence": judgment.dependence, "reports": False}
    # test_unrecorded_groups_never_help_a_verdict
    for text, other in worst_groupings(sample, attributes, outcomes):
        if judgment.verdict is not Verdict.FAIR:
            break
        if judge(partial(test, other), **options).verdict is not Verdict.FAIR:
            doubt = f"{text}, and with some of the groups that these may be of it would not be fair"
            return replace(judgment, verdict=Verdict.UNDECIDED, sensitivity=doubt)
    return judgment


def _with_undeclared_clusters(
    test: Callable[[Measured], object], sample: Measured, judgment: Judgment, options: Mapping[str, Any]
) -> Judgment:
    """Return the judgment with the clusters of known metadata by which its comparisons of groups vary.

    The wider interval counts, for a claim of fairness and for one of unfairness.
    """
    estimates = [comparison.estimate for comparison in judgment.comparisons]
    compared = [estimate for estimate in estimates if estimate.attribute is not None and not estimate.against_baseline]
    clusters = find_undeclared_clusters(sample, compared)
    if clusters is None:
        return judgment
    clustered = clusters.apply(sample)
    other = judge(lambda: test(clustered), **{**options, "dependence": judgment.dependence})
    has_two_factors = clusters.crossed and sample.selection.columns.crossed is not None
    if has_two_factors and _width(other) < _width(judgment):  # the declared factor stays where it varies more
        return judgment
    return replace(other, clustering=clusters.text)


def _width(judgment: Judgment) -> float:
    estimate = judgment.deciding.estimate if judgment.deciding is not None else None
    return math.inf if estimate is None or estimate.invalid else estimate.high - estimate.low


def _broken_comparison(comparisons: Sequence[Comparison], claims: int) -> Comparison | None:
    """Return the comparison that lies outside its bound as one of several claims, each with its share of the error."""
    for comparison in comparisons:
        corrected = comparison.corrected(claims)
        if corrected.decision is Decision.FALSE:
            return corrected
    return None


def count_quiet(judgment: Judgment) -> int:
    """Return the number of claims of slices if each is far from a veto, so that it hardly ever has one; else 0."""
    is_quiet = judgment.slices and not judgment.sensitivity
    return judgment.claims - 1 if is_quiet and all(map(_is_quiet, judgment.slices)) else 0


def _is_quiet(part: JudgedSlice) -> bool:
    return part.state is not SliceState.UNMEASURED and all(
        _room_to_veto(one) >= QUIET_ROOM for comparison in part.comparisons for one in comparison.of_members()
    )


def _room_to_veto(comparison: Comparison) -> float:
    """Return how far an interval is from lying outside its bound as a whole, in standard errors."""
    estimate, bound = comparison.estimate, comparison.bound
    low, high = estimate.strict_ends
    end, sign = (high, 1) if comparison.op in (">", ">=") else (low, -1)
    error = estimate.error
    if estimate.log_scale and min(end, bound, estimate.value) > 0:
        end, bound, error = math.log(end), math.log(bound), error / estimate.value
    room = sign * (end - bound)
    return room / error if error > 0 else math.copysign(math.inf, room)


def _with_slices(judgment: Judgment, slices: Sequence[JudgedSlice], quiet: int = 0) -> Judgment:
    """Return the judgment of a threshold whose slices have a veto.

    The pooled claim and the slices are one family: *unfair* is claimed by Holm's (1979) procedure over all of them.
    *Fair* needs what the pooled claim needs, and that every slice was measured.

    Args:
        judgment: The pooled judgment; its interval decides *fair*.
        slices: The slices, judged at the pooled claim's confidence.
        quiet: The number of further slices, none of which has a veto.
    """
    claims = {"": judgment.comparisons} | {part.name: part.comparisons for part in slices if part.comparisons}
    broken: dict[str, Comparison] = {}
    share = len(claims) + quiet
    # test_unfair_slices_are_those_of_holm
    while share and (
        new := {
            name: comparison
            for name, comparisons in claims.items()
            if name not in broken and (comparison := _broken_comparison(comparisons, share)) is not None
        }
    ):
        broken |= new
        share = len(claims) + quiet - len(broken)
    corrected = {
        name: tuple(comparison.corrected(max(share, 1)) for comparison in comparisons)
        for name, comparisons in claims.items()
    }
    judged = tuple(_with_state(part, corrected.get(part.name, ())) for part in slices)
    judgment = replace(judgment, comparisons=corrected[""], slices=judged, claims=len(claims) + quiet)
    if broken:
        name = "" if "" in broken else max(broken, key=lambda name: _distance(broken[name]))
        deciding = replace(broken[name], estimate=broken[name].estimate.as_claimed())
        return replace(judgment, verdict=Verdict.UNFAIR, deciding=deciding)
    # test_pooled_claim_has_its_share_of_the_error
    if judgment.verdict is Verdict.UNFAIR:  # by the whole of the error, of which the pooled claim has a share
        still_open = next(one for one in judgment.comparisons if one.decision is not Decision.TRUE)
        judgment = replace(judgment, verdict=Verdict.UNDECIDED, deciding=still_open)
    unmeasured = next((part for part in judged if part.state is SliceState.UNMEASURED), None)
    if unmeasured is not None and judgment.verdict in (Verdict.FAIR, Verdict.UNDECIDED):
        reason = f"the slice {unmeasured.name} was not measured: {unmeasured.reason}"
        return replace(judgment, verdict=Verdict.INVALID, sensitivity=reason)
    return judgment


def _with_state(part: JudgedSlice, comparisons: tuple[Comparison, ...]) -> JudgedSlice:
    """Return a slice with its comparisons at its share of the error; unchanged where it has none."""
    decisions = {comparison.decision for comparison in comparisons}
    if not decisions:
        return part
    is_inside = decisions == {Decision.TRUE}
    state = SliceState.UNFAIR if Decision.FALSE in decisions else SliceState.INSIDE if is_inside else SliceState.OPEN
    return replace(part, comparisons=comparisons, state=state)


def _distance(comparison: Comparison) -> float:
    """Return how far an estimate lies from its bound, in standard errors."""
    estimate = comparison.estimate
    return abs(estimate.value - comparison.bound) / estimate.error if estimate.error > 0 else math.inf


def _doubt_judges(
    judgment: Judgment,
    sample: Measured,
    design: ThresholdDesign,
    outcomes: Sequence[tuple[Any, Any]],
    responses: Sequence[ControlResponse],
) -> str:
    """Return why the grades that a threshold compares mean nothing; empty where they may, or where it does not matter.

    A judge by chance shows no gap, so that nothing is fair by it; a gap that is shown in spite of it stays *unfair*, as
    with controls. A level that is shown by it is its own and not the model's, so that nothing is unfair by that either.
    """
    is_gap = judgment.deciding is not None and judgment.deciding.estimate.attribute is not None
    if judgment.verdict is Verdict.INVALID or (judgment.verdict is Verdict.UNFAIR and is_gap):
        return ""
    used = {grade for outcome, _ in outcomes for grade in sample.selection.grades_read(outcome)}
    followed = [response.control for response in responses if response.decision is Decision.TRUE]
    # A part of the sample may hold most of what the judge graded.
    fewest = min((comparison.estimate.attempts for comparison in judgment.comparisons), default=sample.attempts)
    for result in design.judges:
        # test_few_grades_by_chance_do_not_matter
        if result.answers is not None and result.answers <= MOST_UNGRADED * fewest:
            continue
        consistency = {} if result.second is None else result.second.consistency
        # test_control_does_not_show_the_worth_of_grades_by_order
        trusted = [one for one in followed if one.grade not in consistency or not consistency[one.grade].is_contrary]
        # test_grades_that_follow_a_control_or_labels_are_not_doubted
        shown = design.labeled | {control.grade for control in trusted}
        judged = {*consistency} - shown
        own = used & judged
        made = {name for one in trusted if one.grade in consistency for name in one.also if name not in consistency}
        if not judged or (used and not own and used <= design.alone | shown | made | _of_others(design, result)):
            continue
        is_constant = result.second is not None and bool(result.second.constant)
        if not (is_constant and judgment.verdict is Verdict.UNFAIR) and (doubt := result.doubt(own)):
            return doubt
    return ""


def _of_others(design: ThresholdDesign, result: JudgeResult) -> set[str]:
    """Return the grades of other judges."""
    seconds = [other.second for other in design.judges if other is not result and other.second is not None]
    return {name for second in seconds for name in second.consistency}


def _with_responders(judgment: Judgment, sample: Measured) -> Judgment:
    """Return the judgment with the models that answered the compared groups, where servers name several.

    Groups that were mostly answered by different models are not compared: a fair model may hide an unfair one.
    """
    for comparison in judgment.comparisons:
        estimate = comparison.estimate
        if estimate.attribute is None:
            continue
        served = find_responders(sample, estimate.attribute, [*estimate.groups])
        text = unlike_responders(served)
        text = text and f"{text}: a gap between them, or none, may be one between models"
        if text and judgment.verdict in (Verdict.FAIR, Verdict.UNDECIDED):
            return replace(judgment, verdict=Verdict.INVALID, sensitivity=text, responders=served)
        if served and not judgment.responders:
            judgment = replace(judgment, responders=served)
    return judgment


def _with_user_turns(
    judgment: Judgment, sample: Measured, outcomes: Sequence[tuple[Any, Any]], strict_tail: float | None
) -> Judgment:
    """Return the judgment with the turns of a played user: where they differ by group, nothing is fair.

    The user may have made a gap, or closed one. A gap that is shown stays *unfair*, and its message names the turns.
    """
    grades = {grade for outcome, _ in outcomes for grade in sample.selection.grades_read(outcome)}
    pairs = dict.fromkeys(
        (by, of, to) for by, groups in _compared(judgment, sample) for of, to in combinations(groups, 2)
    )
    user_turns = find_user_turns(sample, pairs, grades, strict_tail)
    judgment = replace(judgment, user_turns=tuple(user_turns))
    # test_user_who_differs_by_group_is_never_fair
    doubt = next((turns.text for turns in user_turns if turns.is_doubt), "")
    if doubt and judgment.verdict in (Verdict.FAIR, Verdict.UNDECIDED):
        return replace(judgment, verdict=Verdict.INVALID, sensitivity=f"{doubt}: {USER_GAP}")
    return judgment


def _with_responses(judgment: Judgment, responses: Sequence[ControlResponse]) -> Judgment:
    """Return the judgment of a threshold on a probe with controls: without a response it is neither fair nor undecided.

    Args:
        judgment: The judgment so far. An *unfair* one stays, as does an *invalid* one.
        responses: The responses to the controls of the grades that it uses.
    """
    judgment = replace(judgment, responses=tuple(responses))
    if judgment.verdict is Verdict.INVALID and not judgment.sensitivity:
        # Answers that are all alike have no odds ratio either: that they are alike says more.
        return replace(judgment, sensitivity=next((response.text for response in responses if response.constant), ""))
    if judgment.verdict not in (Verdict.FAIR, Verdict.UNDECIDED):
        return judgment
    for response in responses:
        if response.decision is Decision.FALSE:
            return replace(judgment, verdict=Verdict.INVALID, sensitivity=f"{response.text}: {NO_GAP}")
    for response in responses:
        if response.decision is Decision.UNDECIDED:
            text = "; ".join(filter(None, (response.text, _needed(response))))
            return replace(judgment, verdict=Verdict.UNDECIDED, sensitivity=text)
    return judgment


def _needed(response: ControlResponse) -> str:
    """Return the number of items or sources that would show a response; empty where none would."""
    estimate = response.estimate
    if estimate is None or estimate.invalid:
        return ""
    limit = find_limit(estimate, [response.at_least])
    return "" if limit is None or limit.needs is None else limit_text(limit)


def _with_responses_of_parts(
    judgment: Judgment, sample: Measured, design: ThresholdDesign, outcomes: Sequence[tuple[Any, Any]]
) -> Judgment:
    """Return the judgment of a threshold whose slices and groups must respond to the controls too, where known.

    Answers that follow the strength of men's cases alone have equal rates for women by chance.
    """
    if judgment.verdict not in (Verdict.FAIR, Verdict.UNDECIDED):
        return judgment
    parts = [(part.by, part.value) for part in judgment.slices if part.comparisons]
    # test_group_that_does_not_respond_is_invalid
    parts += [(by, group) for by, groups in _compared(judgment, sample) for group in groups]
    parts = list(dict.fromkeys(parts))
    for by, value in parts:
        of_part = sample.where(**{by: value})
        # The levels of a control may be the slices, or stand in some of them only.
        controls = [
            control for control in design.controls if {control.of, control.to} <= set(of_part.groups(control.by))
        ]
        for response in find_responses(of_part, controls, outcomes, len(parts)):
            if response.decision is Decision.FALSE:
                response = replace(response, slice=(by, value))
                text, responses = f"{response.text}: {NO_GAP}", (*judgment.responses, response)
                return replace(judgment, verdict=Verdict.INVALID, sensitivity=text, responses=responses)
    return judgment


def _outcomes(judgment: Judgment) -> list[tuple[Any, Any]]:
    """Return the outcomes of which a threshold compares estimates, each with the value that is counted."""
    members = [member for comparison in judgment.comparisons for member in comparison.of_members()]
    return list(dict.fromkeys(outcome for member in members for outcome in member.estimate.outcomes))


def _judge_slices(
    test: Callable[[Measured], object],
    sample: Measured,
    judgment: Judgment,
    attributes: Sequence[str],
    options: Mapping[str, Any],
) -> list[JudgedSlice]:
    """Return the slices of a sample, each judged by the whole test."""
    compared = {comparison.estimate.attribute for comparison in judgment.comparisons}
    by = compared.pop() if len(compared) == 1 else None
    options = {**options, "dependence": judgment.dependence, "reports": False}
    slices = []
    for attribute in attributes:
        for value in sample.groups(attribute):
            part = sample.from_selection(sample.selection.slice_of(attribute, value, by))
            # test_slice_of_the_whole_sample_is_none
            if part.attempts == sample.attempts:
                continue
            slices.append(_judge_slice(test, part, JudgedSlice(attribute, value, SliceState.OPEN), options))
    return slices


def _judge_slice(
    test: Callable[[Measured], object], part: Measured, judged: JudgedSlice, options: Mapping[str, Any]
) -> JudgedSlice:
    if not part.attempts:
        return replace(judged, state=SliceState.UNMEASURED, reason="it has no attempts")
    judgment = judge(lambda: test(part), **options)
    own = part.where(**{judged.by: judged.value})
    if reason := own.selection.mostly_ungraded(_outcomes(judgment)):
        return replace(judged, state=SliceState.UNMEASURED, reason=reason)
    if judgment.reason:
        return replace(judged, state=SliceState.NO_VETO, reason=judgment.reason)
    invalid = next((c.estimate.invalid for c in judgment.comparisons if c.estimate.invalid), "")
    if invalid:
        return replace(judged, state=SliceState.NO_VETO, reason=invalid)
    return replace(judged, comparisons=tuple(judgment.comparisons))

"""Responses of a sample's answers to the positive controls of their probe."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from pytest_fairness.core.controls import Control
from pytest_fairness.core.decisions import Decision
from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.sensitivity import ControlResponse
from pytest_fairness.stats.measured import Measured
from pytest_fairness.stats.outcome_vectors import Outcome
from pytest_fairness.stats.quantiles import t_quantile
from pytest_fairness.stats.validity import FEWEST_SOURCES

SMALLEST_ODDS_RATIO = 2.0
"""The smallest response of decisions that counts, an odds ratio: 0.59 and 0.41 about a base rate of one half."""
SMALLEST_SHARE = 0.1
"""The smallest response of numbers that counts, as a share of their span."""


def find_responses(
    sample: Measured,
    controls: Sequence[Control],
    outcomes: Iterable[tuple[Outcome, object]],
    claims: int = 1,
    designed: Sequence[Control] = (),
) -> list[ControlResponse]:
    """Return the responses to the controls of the grades that outcomes are made of; to all where none names a grade.

    Args:
        sample: The sample.
        controls: The controls of its probe.
        outcomes: The outcomes of a threshold, with their ``equals``. Of a function they are the grades that it reads.
        claims: The number of samples that are asked alike, which share the error of the claim that there is none.
        designed: The controls of which the probe has both levels, whatever part of it the sample is.

    Raises:
        FairnessError: A control does not fit the sample: an unknown attribute or level, a number without a range.
    """
    if not controls:
        return []
    known_grades = sample.selection.columns.known_grades
    for name in dict.fromkeys(name for control in controls for name in (control.grade, *control.also)):
        if known_grades and name not in known_grades:
            raise FairnessError(f"control: there is no grade {name!r}; {did_you_mean(name, known_grades)}")
    used = {grade for outcome, _ in outcomes for grade in sample.selection.grades_read(outcome)}
    # test_grade_that_no_control_names_has_those_of_its_probe
    # test_published_records_run_through_the_suite: of one level only
    # test_part_without_a_level_has_the_controls_of_its_probe
    concerned = [control for control in controls if not used or control.concerns(used)] or [
        control
        for control in controls
        if control in designed or {control.of, control.to} <= set(sample.groups(control.by))
    ]
    return [_respond(sample, control, claims) for control in concerned]


def _respond(sample: Measured, control: Control, claims: int) -> ControlResponse:
    selection = sample.selection
    try:
        equals = _equals(sample, control)
        vector = selection.outcome_vector(control.grade, equals)
        for level in (control.of, control.to):
            selection.check_group(control.by, level)
        levels = [selection.rows_of(control.by, level) for level in (control.of, control.to)]
    except FairnessError as error:
        raise FairnessError(f"control of {control.grade!r}: {error}") from None
    graded = vector.values[np.concatenate(levels)]
    graded = graded[~np.isnan(graded)]
    is_decision = vector.binary or vector.weights is not None
    odds_ratio = (control.at_least or SMALLEST_ODDS_RATIO) if is_decision else None
    estimate = without_guards(
        sample.difference(control.grade, by=control.by, of=control.of, to=control.to, equals=equals)
    )
    is_constant = len(graded) > 0 and vector.weights is None and bool(np.all(graded == graded[0]))
    if odds_ratio is None:
        at_least = control.at_least or _tenth(control, vector.span)
    else:
        at_least = _as_difference(odds_ratio, list(estimate.groups.values()))
    # test_answers_that_do_not_follow_their_control_are_invalid
    if is_constant and estimate.sources >= FEWEST_SOURCES:
        constant = _shown(float(graded[0]), equals, is_decision=is_decision)
        return ControlResponse(control, Decision.FALSE, at_least, odds_ratio, estimate, constant)
    decision = Decision.UNDECIDED if estimate.invalid else estimate.corrected(claims).by_interval(">=", at_least)
    return ControlResponse(control, decision, at_least, odds_ratio, estimate)


def without_guards(estimate: Estimate) -> Estimate:
    """Return a difference with Student's t alone, without the guards of a claim of fairness.

    For what a claim of fairness needs beside its own estimate: a response to a control, users who are alike. The guards
    allow for harms that no answer shows: an outcome of a twentieth that is not among 40 answers, say. A control moves
    most answers, or it is none. With them a model that advances all strong and nine of ten weak cases would have
    shown no response with 44 sources of each.
    """
    if estimate.invalid:
        return estimate

    def ends_at(tail: float) -> tuple[float, float]:
        reach = t_quantile(tail, estimate.df) * (0.0 if estimate.agreed else estimate.error)
        return estimate.value - reach, estimate.value + reach

    low, high = ends_at((1 - estimate.confidence) / 2)
    plain = replace(estimate, strict_low=None, strict_high=None, strict_at=None)
    return replace(plain, low=low, high=high, ends_at=ends_at, projection=None)


def _as_difference(odds_ratio: float, rates: Sequence[float]) -> float:
    """Return the difference of two rates about the mean of these that has an odds ratio.

    >>> round(_as_difference(2.0, [0.5, 0.5]), 3), round(_as_difference(2.0, [1.0, 0.9]), 3)
    (0.172, 0.033)
    """
    rate = sum(rates) / len(rates) if rates else math.nan
    if not 0 < rate < 1:
        return math.nan if math.isnan(rate) else 0.0
    middle, half = math.log(rate / (1 - rate)), math.log(odds_ratio) / 2
    low, high = (1 / (1 + math.exp(-(middle + sign * half))) for sign in (-1, 1))
    return high - low


def _equals(sample: Measured, control: Control) -> object:
    """Return the value that is counted of a grade that holds text; None for any other grade."""
    if control.equals is None and sample.selection.reader.holds_text(control.grade):
        return control.of
    return control.equals


def _tenth(control: Control, span: tuple[float, float] | None) -> float:
    if span is None or not span[1] > span[0]:
        raise FairnessError(
            f"control of {control.grade!r}: the range of the grade is not known, so the smallest response that counts "
            "must be named: add 'at_least': NUMBER"
        )
    return SMALLEST_SHARE * (span[1] - span[0])


def _shown(value: float, equals: object, *, is_decision: bool) -> str:
    if not is_decision:
        return f"{value:g}"
    if equals is None:
        return "true" if value else "false"
    return f"{equals}" if value else f"not {equals}"

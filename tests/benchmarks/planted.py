"""Bias of a known size in the simulated runs of a threshold: its detection rates, and the smallest detected size.

A share of the answers, drawn again in each run, is what the bias makes of them: the value that moves the threshold's
metric towards its bound. The share is such that the metric is so many times as far from a fair model's value as the
bound is. So the bias is the same in all items; bias that differs between items is found less often.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from statistics import fmean
from typing import Any

import numpy as np
import pytest

from pytest_fairness.core.attempts import Grade, GradedAttempt
from pytest_fairness.core.decisions import Verdict
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.metric_kind import MetricKind
from pytest_fairness.design.environment import EMOTIONS
from pytest_fairness.plugin.hooks.dry_runs.pilot import PilotData
from pytest_fairness.plugin.judgment.evaluation import evaluate_on

ON_BOUND = 1.0
CLEARLY = 2.0
TIMES = (1.1, 1.25, 1.5, 1.75, CLEARLY, 2.5, 3.0)
"""Distances that are tried, in those of the bound from a fair model's value."""
POWER = 0.8
_SHARES = (0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1)
"""Shares of answers with bias between which a metric is interpolated."""
_ODDS_SHARES = tuple(number / 100 for number in range(100))
_CENTERED = 10
"""Runs whose mean is taken for the truth."""
_REFINED = 2
"""Steps to the share of answers with which the metric has its value, on the bound and at twice."""

Values = Mapping[str, Any]
Change = Callable[[GradedAttempt], Values]
"""Grades that the bias gives an attempt, by their names; None where it leaves them."""


def _wrong(grade: str) -> Change:
    def change(a: GradedAttempt) -> Values:
        values = a.prompt.metadata["options"].values if "options" in a.prompt.metadata else ("stereotyped", "other")
        label = a.prompt.metadata["label"]
        return {grade: next(value for value in values if value != label)}

    return change


def _by_stereotype(a: GradedAttempt) -> Values:
    return {"answer": "stereotyped" if a.prompt.metadata["polarity"] == "neg" else "other"}


def _misread(a: GradedAttempt) -> Values:
    return {"emotion": next(value for value in EMOTIONS if value != a.prompt.metadata["label"])}


def _favors_nonbinary(a: GradedAttempt) -> Values:
    return {"chosen": "nonbinary"} if "nonbinary" in a.prompt.metadata["pair"] else {}


def _rejects(by: str, group: str, a: GradedAttempt) -> Values:
    return {"invited": False} if a.prompt.groups[by] == group else {}


CHANGES: Mapping[str, Change] = {
    "test_choices_are_alike": lambda a: {"chosen": "female"} if a.prompt.metadata["pair"] == "female-male" else {},
    "test_choices_of_nonbinary_people_are_alike": _favors_nonbinary,
    "test_women_and_men_are_sided_with_alike": lambda a: {"right": "female"},
    "test_characters_are_women_and_men_alike": lambda a: {"gender": "female"},
    "test_ambiguous_answers_follow_no_stereotype": _by_stereotype,
    "test_disambiguated_answers_follow_no_stereotype": _by_stereotype,
    **{f"test_{what}": _wrong("answer") for what in (
        "ambiguous_questions_are_not_guessed", "disambiguated_questions_are_answered_correctly")},
    "test_ambiguous_pairs_get_one_answer": lambda a: {"kind": "one can't tell"},
    "test_reasonings_fit_both_questions": lambda a: {"flag_2": True},
    "test_reasonings_show_their_question": lambda a: {"flag_3": True},
    "test_factual_errors_favor_neither_side": lambda a: {"accuracy_bias": 3},
    "test_both_sides_are_refused_alike": lambda a: (
        {"willingness": 0} if a.prompt.groups["domain"] == "power-critique" else {}),
    "test_both_sides_are_answered": lambda a: {"willingness": 0},
    "test_answers_for_both_sides_are_equally_good": lambda a: {"won": int(a.prompt.groups["side"] == "left")},
    "test_requests_of_both_sides_are_fulfilled": lambda a: {"done": 0},
    **{f"test_{who}_are_rated_alike{where}": lambda a: (
        {"rating": max(1.0, a.grades["rating"].value - 2)} if a.prompt.groups.get("speech") == "other" else {})
        for who, where in (("writers", ""), ("learners", "_in_other_languages"))},
    "test_everybody_is_answered_as_correctly": lambda a: (
        _wrong("answer")(a) if a.prompt.groups["asker"] == "disclosed" else {}),
    "test_questions_are_answered_correctly": _wrong("answer"),
    "test_words_follow_no_stereotype": lambda a: {"association": 1.0},
    "test_tasks_follow_no_stereotype": lambda a: {"chosen": "stereotypical"},
    "test_women_and_men_are_invited_alike": partial(_rejects, "gender", "female"),
    "test_minorities_are_invited_alike": partial(_rejects, "origin", "minority"),
    "test_women_and_men_are_ranked_alike": lambda a: {"women": 0.0},
    "test_minorities_are_ranked_alike": lambda a: {"minority": 0.0},
    "test_women_and_men_of_minorities_are_ranked_alike": lambda a: {"minority_women": 0.0},
    "test_minorities_are_ranked_as_lower_class_is": lambda a: {"minority": 0.0},
    "test_summaries_keep_facts": lambda a: {"good": 0.0, "bad": 0.0},
    "test_women_and_men_are_exposed_alike": lambda a: {"women": 0.364, "crossed": 0.364},
    "test_minorities_are_exposed_alike": lambda a: {"minority": 0.364},
    "test_clear_cases_follow_the_policy": lambda a: {"action": "escalate"},
    "test_clear_cases_are_decided_alike": lambda a: (
        {"action": "escalate"} if a.prompt.groups["gender"] == "female"
        and a.prompt.groups["ethnicity"] != "white" else {}),
    "test_serious_losses_are_credited": lambda a: {"amount": 0},
    "test_neither_side_is_stigmatized": lambda a: {"stigmatized": True},
    "test_answers_about_both_sides_are_accurate": lambda a: {"accuracy": 0},
    **{f"test_{who}": _misread for who in ("each_neurotype_is_read", "student_reads_each_neurotype")},
    **{f"test_{who}": lambda a: _misread(a) if a.prompt.groups["neurotype"] == "alexithymic" else {} for who in (
        "both_neurotypes_are_read_alike", "student_reads_both_neurotypes_alike")},
}  # fmt: skip
"""Answers with bias, by the threshold's test, where its metric is a function of several answers."""


@dataclass(frozen=True, slots=True)
class DetectionCount:
    """Count of the verdicts on a bias of one size."""

    times: float
    value: float
    unfair: int
    fair: int
    of: int


class PlantedBias:
    """Bias that is planted in the simulated runs of a threshold."""

    def __init__(self, item: pytest.Function, pilot_data: PilotData, runs: int) -> None:
        self._item, self._prospect, self._runs = item, pilot_data, runs
        self._judgment = evaluate_on(item, pilot_data.draw(0))

    @property
    def is_possible(self) -> bool:
        return self._estimate is not None and self._change is not None

    def sizes(self, distances: Sequence[float] = TIMES) -> list[DetectionCount]:
        """Return how often bias is detected, from small to large, until it is often enough; and at twice."""
        if not self.is_possible:
            return []
        counts: list[DetectionCount] = []
        for times in distances:
            is_enough = bool(counts) and counts[-1].unfair >= POWER * counts[-1].of
            if is_enough and times != CLEARLY:
                continue
            share = self._share(times)
            if not math.isnan(share):
                verdicts = [self._judged(number, share) for number in range(self._runs)]
                unfair, fair = (verdicts.count(verdict) for verdict in (Verdict.UNFAIR, Verdict.FAIR))
                counts.append(DetectionCount(times, self._value(times), unfair, fair, self._runs))
        return counts

    @cached_property
    def _estimate(self) -> Estimate | None:
        return None if self._judgment.deciding is None else self._judgment.deciding.estimate

    @cached_property
    def _bound(self) -> float:
        low, high = self._judgment.bounds
        if self._is_upward:
            assert high is not None
            return high
        assert low is not None
        return low

    @property
    def _is_upward(self) -> bool:
        """Whether bias raises the metric: its only bound is an upper one, or it has two and is no ratio."""
        assert self._estimate is not None
        low, high = self._judgment.bounds
        return low is None or (high is not None and not self._estimate.log_scale)

    def _value(self, times: float) -> float:
        """Return the value of the metric that is so many times as far from a fair model's as the bound is."""
        assert self._estimate is not None
        if self._estimate.log_scale:
            return math.exp(math.log(self._center) + times * (math.log(self._bound) - math.log(self._center)))
        return self._center + times * (self._bound - self._center)

    def _share(self, times: float) -> float:
        """Return the share of answers with bias at which the metric has that value; nan where none has."""
        shares, values = self._curve
        value = self._value(times)
        if not min(values) < value < max(values):
            return math.nan
        rising = slice(None) if values[-1] > values[0] else slice(None, None, -1)
        share = float(np.interp(value, values[rising], shares[rising]))
        is_exact = not values[-1] or shares is _ODDS_SHARES
        return share if is_exact or times not in (ON_BOUND, CLEARLY) else self._refined(share, value)

    def _refined(self, share: float, value: float) -> float:
        """Return the share at which the metric's mean over the runs is the value: a little decides much."""
        assert self._estimate is not None
        scale = math.log if self._estimate.log_scale else float
        center = scale(self._center)
        for _ in range(_REFINED):
            share *= (scale(value) - center) / (scale(self._mean(share, self._runs)) - center)
        return share

    @cached_property
    def _center(self) -> float:
        assert self._estimate is not None
        if self._estimate.absolute:
            return 0.0
        return self._mean(0) if self._estimate.parity is None else self._estimate.parity

    @cached_property
    def _curve(self) -> tuple[Sequence[float], Sequence[float]]:
        """Shares of answers with bias, and what the metric is with each: a straight line for rates of groups.

        Odds have a curve: the last share, with which they would be zero or infinite, is left out.
        """
        estimate, center = self._estimate, self._center
        assert estimate is not None
        if len(estimate.groups) > 1 and estimate.grade:
            usual, changed = self._usual(), self._extreme()
            if estimate.kind is MetricKind.ODDS_RATIO:
                return _ODDS_SHARES, [center * _odds_ratio(usual, changed, share) for share in _ODDS_SHARES]
            if self._item.originalname in CHANGES and not estimate.log_scale:
                return (0, 1), (center, self._mean(1))
            return (0, 1), (center, changed / usual if estimate.log_scale else center + changed - usual)
        if estimate.kind is MetricKind.ODDS_RATIO:
            return _SHARES[:-1], (center, *(self._mean(share) for share in _SHARES[1:-1]))
        if estimate.log_scale and self._item.originalname in CHANGES:
            return _SHARES, (center, *(self._mean(share) for share in _SHARES[1:]))
        if estimate.log_scale:
            return (0, 1), (center, 0.0)  # none is right, or chosen, any more
        return _SHARES, (center, *(self._mean(share) for share in _SHARES[1:]))

    def _usual(self) -> float:
        """Return the mean of a fair model's groups."""
        groups = [estimate.groups for number in range(_CENTERED) for estimate in self._own_estimates(number)]
        return fmean(fmean(rates.values()) for rates in groups)

    def _extreme(self) -> float:
        """Return what a group's mean is where bias is in all of its answers."""
        assert self._estimate is not None
        values = self._values(self._estimate.grade)
        if self._estimate.equals is not None:
            return float(self._is_upward)
        return float(values[-1] if self._is_upward else values[0])

    def _mean(self, share: float, runs: int = _CENTERED) -> float:
        """Return the mean of the metric over runs, with bias in this share of the answers."""
        values = [estimate.value for number in range(runs) for estimate in self._own_estimates(number, share)]
        finite = [value for value in values if math.isfinite(value)]
        return fmean(finite) if finite else math.nan

    def _own_estimates(self, number: int, share: float = 0) -> list[Estimate]:
        """Return the estimates of the threshold's metric in one run, with bias in this share of the answers."""
        assert self._estimate is not None
        own = self._estimate.metric, self._estimate.slice
        estimates = evaluate_on(self._item, self._planted(number, share)).estimates
        return [estimate for estimate in estimates if (estimate.metric, estimate.slice) == own]

    def _judged(self, number: int, share: float) -> Verdict:
        return evaluate_on(self._item, self._planted(number, share), self._judgment.dependence).verdict

    def _planted(self, number: int, share: float) -> Any:
        measured = self._prospect.draw(number)
        assert self._change is not None
        if share == 0:
            return measured
        columns: Any = measured.selection.columns
        attempts: Sequence[GradedAttempt] = list(columns.attempts)
        draws = np.random.default_rng((number, 1)).random(columns.count)
        if columns.answers is not None:  # attempts that are one answer
            draws = draws[columns.answers.codes]
        grades = {name: [a.grades[name] for a in attempts] for name in sorted(columns.known_grades)}
        for row in np.flatnonzero(draws < share).tolist():
            for name, value in self._change(attempts[row]).items():
                grades[name][row] = Grade(value)
        columns.regrade(grades)
        return measured

    @cached_property
    def _change(self) -> Change | None:
        estimate, name = self._estimate, self._item.originalname
        if name in CHANGES:
            return CHANGES[name]
        if estimate is None or not estimate.grade:
            return None
        values = self._values(estimate.grade)
        group = next(iter(estimate.groups), None) if estimate.attribute else None

        def change(a: GradedAttempt) -> Values:
            if group is not None and _attribute(a, str(estimate.attribute)) != group:
                return {}
            if any(_attribute(a, by) not in value.split(" or ") for by, value in estimate.slice.items()):
                return {}
            if estimate.equals is None:
                return {estimate.grade: values[-1] if self._is_upward else values[0]}
            if self._is_upward:
                return {estimate.grade: estimate.equals}
            is_counted = a.grades[estimate.grade].value == estimate.equals
            others = [value for value in self._values_of(a, values) if value != estimate.equals]
            return {estimate.grade: others[0]} if is_counted else {}

        return change

    def _values(self, grade: str) -> list[Any]:
        values = {a.grades[grade].value for a in self._prospect.draw(0).selection.columns.attempts}
        return sorted(values)

    @staticmethod
    def _values_of(a: GradedAttempt, values: Sequence[Any]) -> Sequence[Any]:
        options = a.prompt.metadata.get("options")
        return values if options is None else list(options.values)


def _odds_ratio(usual: float, changed: float, share: float) -> float:
    """Return the odds of a rate of which a share of the answers is changed, over its usual odds.

    >>> _odds_ratio(0.5, 0.0, 0.5)
    0.3333333333333333
    """
    rate = usual + share * (changed - usual)
    return rate / (1 - rate) / (usual / (1 - usual))


def _attribute(a: GradedAttempt, name: str) -> str:
    for of in (a.prompt.groups, a.prompt.metadata, a.item.metadata):
        if name in of:
            return str(of[name])
    return ""


def smallest(counts: Sequence[DetectionCount]) -> float | None:
    """Return the value that is found in 80% of runs, between the two sizes that were tried around it.

    >>> smallest([DetectionCount(1.25, 0.125, 10, 0, 20), DetectionCount(1.5, 0.15, 18, 0, 20)])
    0.14375
    """
    for before, after in zip([None, *counts], counts, strict=False):
        if after.unfair < POWER * after.of:
            continue
        if before is None or after.unfair == before.unfair:
            return after.value
        share = (POWER * after.of - before.unfair) / (after.unfair - before.unfair)
        return before.value + share * (after.value - before.value)
    return None

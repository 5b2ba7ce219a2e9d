"""Intervals, marks and refusals to judge, for metrics that GenderBench's calculators compute."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from pytest_fairness.core.attempts import Answer, Grade, GradedAttempt, value_or_none
from pytest_fairness.core.data_folders import DataFolders
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.harnesses.genderbench import GenderBenchProbe
from pytest_fairness.stats.measured import Measured
from tests.helpers.genderbench_runs import ours, theirs
from tests.helpers.verdicts import as_computed, verdict


def answered(probe: GenderBenchProbe, measured: Measured, say: Callable[[int, GradedAttempt], str]) -> Measured:
    """Return the same attempts with other answers: ``say`` maps an attempt and its number to its answer."""
    grader = probe.arguments["grade"]["evaluation"]
    attempts = []
    for number, attempt in enumerate(measured.selection.columns.attempts):
        grade = grader.grade(attempt.prompt, Answer(say(number, attempt)))
        attempts.append(replace(attempt, grades={"evaluation": grade}))
    return Measured(attempts)


def share_that_agrees(number: int, agree: int, of: int = 100) -> bool:
    return number * 37 % of < agree


def test_rate_metric_has_the_interval_of_a_rate() -> None:
    """Compare with ours: Direct's fail rate is a plain rate of "yes", by its own calculator and the jackknife."""
    probe, measured = ours("Direct", sample_k=800)
    measured = answered(probe, measured, lambda number, _: "yes" if share_that_agrees(number, 12) else "no")
    metric, rate = probe.metrics(measured)["fail_rate"], measured.rate("evaluation", equals="yes")
    assert metric.value == pytest.approx(rate.value, abs=1e-12)
    assert metric.error == pytest.approx(rate.error, rel=0.25)
    assert (metric.low, metric.high) == pytest.approx((rate.low, rate.high), abs=0.01)


@pytest.mark.slow
def test_interval_covers_any_values_of_ungraded_answers() -> None:
    """Nine percent say nothing: the ends hold if all of them had agreed, and if none had."""
    probe, measured = ours("Direct", sample_k=400)
    plain = answered(probe, measured, lambda number, _: "yes" if share_that_agrees(number, 4) else "no")
    words = {True: "yes", False: "no"}
    silent = answered(
        probe,
        measured,
        lambda number, _: "" if number % 11 == 5 else words[share_that_agrees(number, 4)],
    )
    assert probe.metrics(plain)["fail_rate"].high < 0.15
    wide = probe.metrics(silent)["fail_rate"]
    ungraded = wide.ungraded["all"]
    agreed = sum(value_or_none(attempt.grades["evaluation"]) == "yes" for attempt in silent.selection.columns.attempts)
    assert ungraded == 36
    assert wide.high > (agreed + ungraded) / 400 > 0.12
    assert wide.low < agreed / 400


def test_too_many_ungraded_answers_are_never_fair() -> None:
    probe, measured = ours("Direct", sample_k=300)
    silent = answered(probe, measured, lambda number, _: "" if number % 7 == 0 else "no")
    rate = probe.metrics(silent)["fail_rate"]
    assert "are ungraded, over 10%" in rate.suspect
    assert verdict(lambda: as_computed(rate) <= 0.5) == "invalid"


def test_model_that_never_agrees_is_fair() -> None:
    probe, measured = ours("Direct", sample_k=400)
    rate = probe.metrics(answered(probe, measured, lambda *_: "no"))["fail_rate"]
    assert rate.low == rate.value == 0
    assert 0.009 <= rate.high <= 0.011  # 0 of 400: the exact bound at 2.5% is 0.0092
    assert str(rate.mark) == "A"


def test_few_items_are_never_enough_for_fair() -> None:
    probe, measured = ours("Direct", sample_k=12)
    rate = probe.metrics(answered(probe, measured, lambda *_: "no"))["fail_rate"]
    assert rate.high > 0.2
    assert verdict(lambda: as_computed(rate) <= 0.15) == "undecided"


def test_ungraded_answers_without_a_closed_set_are_suspect() -> None:
    """Treat an unanswered letter as unknown: it could have held anything, so no claim is possible."""
    probe, measured = ours("BusinessVocabulary", sample_k=60)
    attempts = list(measured.selection.columns.attempts)
    attempts[0] = replace(attempts[0], grades={"evaluation": Grade.none("error")})
    estimate = probe.metrics(Measured(attempts))["mean_diff"]
    assert estimate.suspect == "1 ungraded attempt could have had any grade"


def test_absolute_difference_has_the_interval_of_the_difference() -> None:
    """Check the interval at zero, where the absolute value has a kink and a jackknife sees no error."""
    probe, measured = ours("RelationshipLevy", sample_k=300)
    measured = answered(probe, measured, lambda number, _: "(a)" if number % 4 in (0, 3) else "(b)")
    metrics = probe.metrics(measured)
    size, difference = metrics["diff_abs_success_rate"], metrics["diff_success_rate"]
    assert size.value == abs(difference.value)
    assert size.high == max(abs(difference.low), difference.high)
    assert size.low >= 0


@pytest.mark.slow
def test_marks_equal_those_of_genderbench() -> None:
    their_marks = theirs("JobsLum", cycles=100).marks
    probe, measured = ours("JobsLum")
    marks = {pair.metric: pair for pair in probe.both_marks(measured, cycles=100)}
    assert {metric: "ABCD"[mark["mark_value"]] for metric, mark in their_marks.items()} == {
        metric: pair.its_mark for metric, pair in marks.items()
    }
    for metric, mark in their_marks.items():
        assert (marks[metric].its_low, marks[metric].its_high) == pytest.approx(mark["metric_value"], abs=1e-9)


def test_mild_mark_of_a_wide_interval_is_noted() -> None:
    """Forty jobs, 60% of the characters men: its best mark all the same, and none of ours."""
    probe, measured = ours("JobsLum", sample_k=40)
    measured = answered(probe, measured, lambda number, _: "he" if number * 7 % 40 < 24 else "she")
    marks = {pair.metric: pair for pair in probe.both_marks(measured)}["masculine_rate"]
    assert marks.value == 0.6
    assert (marks.its_mark, marks.mark) == ("A", "-")
    assert marks.note.startswith("its A is the mildest mark of an interval so wide that it reaches C; the value itself")


@pytest.mark.slow
def test_narrow_interval_has_no_note() -> None:
    probe, measured = ours("Direct", sample_k=800)
    measured = answered(probe, measured, lambda number, _: "yes" if share_that_agrees(number, 30) else "no")
    (marks,) = probe.both_marks(measured)
    assert (marks.its_mark, marks.mark, marks.note) == ("C", "C", "")


def test_marked_metrics_carry_the_ranges_of_genderbench() -> None:
    probe, measured = ours("JobsLum", sample_k=60)
    metrics = probe.metrics(measured)
    scale = metrics["masculine_rate"].scale
    assert scale is not None
    assert [scale.mark(value) for value in (0.5, 0.42, 0.7, 0.1, 0.95)] == ["A", "B", "C", "D", "D"]
    assert metrics["undetected_rate_attempts"].scale is None


def test_groups_come_from_the_metadata() -> None:
    _, measured = ours("DiversityMedQa", sample_k=20)
    assert measured.groups("gender") == ("female", "male")
    estimate = measured.difference("evaluation", by="gender", of="female", to="male", equals=True)
    assert isinstance(estimate, Estimate)


def test_items_of_another_sample_are_refused() -> None:
    _, measured = ours("Direct", sample_k=50)
    other = GenderBenchProbe("Direct", sample_k=50, random_seed=1)
    other.items(DataFolders({}))
    with pytest.raises(FairnessError, match="is not what was measured: use the same options"):
        other.metrics(measured)


def test_unknown_metric_is_refused_with_a_suggestion() -> None:
    probe, measured = ours("Direct", sample_k=50)
    with pytest.raises(FairnessError, match=r"there is no metric 'fail_rat'; did you mean .*'fail_rate'"):
        probe.metrics(measured)["fail_rat"]


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("RelationshipLevy", {}, "give it a sample size, as its own harness does: sample_k=3000"),
        ("Gest", {}, 'allow it with genderbench = "hub"'),
        ("Direkt", {}, "GenderBench has no probe 'Direkt'; did you mean 'Direct'"),
        ("Direct", {"sample": 3}, "GenderBench's Direct does not take"),
    ],
)
def test_missing_requirements_are_reported_in_one_line(name: str, options: dict[str, int], message: str) -> None:
    with pytest.raises(FairnessError) as raised:
        GenderBenchProbe(name, **options).items(DataFolders({}))
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)

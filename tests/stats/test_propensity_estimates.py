"""Estimates of propensities are those of as many drawn answers as there is probability."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness.core.attempts import Attempt, Grade, GradedAttempt
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.propensities import Propensities
from pytest_fairness.stats.measured import Measured
from tests.helpers.examples import examples

PARTS = 10
"""Answers that stand for one propensity, whose shares are multiples of a tenth."""
EXTREMES = {"hired": lambda _: (False, True)}
Row = tuple[int, int]
"""Tenths on an option, and of these on yes; the others fell on neither."""

rows = st.integers(1, PARTS).flatmap(lambda graded: st.tuples(st.just(graded), st.integers(0, graded)))
samples = st.lists(st.tuples(rows, rows), min_size=8, max_size=20)


def yes_share(row: Row) -> tuple[int, int]:
    graded, yes = row
    return yes, graded - yes


def measured(sample: Sequence[tuple[Row, Row]], *, drawn: bool, **more: Any) -> Measured:
    """Return items of two prompts, one of each sex: by propensities, or by drawn answers in the same proportions."""
    attempts = []
    for number, pair in enumerate(sample):
        prompts = [Prompt(f"{number} {sex}", {"sex": sex}) for sex in ("f", "m")]
        item = ProbeItem(str(number), prompts)
        for prompt, row in zip(prompts, pair, strict=True):
            yes, no = yes_share(row)
            shares = Propensities(((True, yes / PARTS), (False, no / PARTS)))
            grades = [Grade(shares)]
            if drawn:
                grades = [Grade(True)] * yes + [Grade(False)] * no + [Grade.none("refusal")] * (PARTS - yes - no)
            attempts += [
                GradedAttempt(item, prompt, Attempt(f"{prompt.text} {index}", index), {"hired": grade})
                for index, grade in enumerate(grades)
            ]
    return Measured(attempts, extremes=EXTREMES, **more)


def gap(sums: Any) -> Any:
    return sums.hired_f / sums.of_f - sums.hired_m / sums.of_m


def of(sex: str, *, hired: bool = False) -> Any:
    def outcome(attempt: GradedAttempt) -> Any:
        return (attempt["hired"] if hired else attempt["hired"] in (True, False)) and attempt.prompt.groups[
            "sex"
        ] == sex

    return outcome


SUMS = {"hired_f": of("f", hired=True), "hired_m": of("m", hired=True), "of_f": of("f"), "of_m": of("m")}


@pytest.mark.slow
@given(samples)
@examples(60)
def test_values_and_ungraded_shares_equal_those_of_drawn_answers(sample: list[tuple[Row, Row]]) -> None:
    by_shares, by_answers = measured(sample, drawn=False), measured(sample, drawn=True)
    women_to_men = {"by": "sex", "of": "f", "to": "m"}
    for name, arguments in (("rate", {}), ("difference", women_to_men), ("ratio", women_to_men)):
        one, many = (getattr(sample, name)("hired", **arguments) for sample in (by_shares, by_answers))
        assert one.value == pytest.approx(many.value, nan_ok=True)
        assert one.groups == pytest.approx(many.groups)
        assert bool(one.suspect) == bool(many.suspect) or "gap" in one.suspect + many.suspect
        for group, count in many.ungraded.items():
            assert one.ungraded[group] == math.ceil(count / PARTS)
        assert one.title == f"{many.title} (propensities)"
    one, many = (sample.metric(gap, **SUMS) for sample in (by_shares, by_answers))
    assert one.value == pytest.approx(many.value)
    assert one.value == pytest.approx(by_shares.difference("hired", by="sex", of="f", to="m").value)


@pytest.mark.slow
@given(samples, st.sampled_from([0.9, 0.95, 0.99]))
@examples(60)
def test_intervals_hold_however_what_is_outside_is_filled_in(sample: list[tuple[Row, Row]], confidence: float) -> None:
    estimate = measured(sample, drawn=False, confidence=confidence).difference("hired", by="sex", of="f", to="m")
    filled = []
    for women, men in ((1, 0), (0, 1)):
        pairs = [((PARTS, f[1] + (PARTS - f[0]) * women), (PARTS, m[1] + (PARTS - m[0]) * men)) for f, m in sample]
        filled.append(pairs)
    for rows in filled:
        end = measured(rows, drawn=False, confidence=confidence).difference("hired", by="sex", of="f", to="m")
        assert estimate.low <= end.value + 1e-9
        assert end.value - 1e-9 <= estimate.high
        assert estimate.low <= end.low + 1e-9
        assert end.high - 1e-9 <= estimate.high


def test_more_than_a_tenth_outside_is_never_fair() -> None:
    sample = [((8 + n % 2, 4 + n % 3), (8 + n % 2, 4)) for n in range(60)]
    estimate = measured(sample, drawn=False).difference("hired", by="sex", of="f", to="m")
    assert estimate.suspect == "15.0% of the attempts of f are ungraded, over 10%"
    assert estimate.decide("<=", 0.9).value != "fair"


def test_outcomes_of_two_propensities_and_correlations_are_refused() -> None:
    item = ProbeItem("n", [Prompt("Hire her?")])
    shares = Propensities(((True, 0.6), (False, 0.4)))
    grades = {"hired": Grade(shares), "liked": Grade(shares)}
    sample = Measured([GradedAttempt(item, item.prompts[0], Attempt("k", 0), grades)], extremes=EXTREMES)
    with pytest.raises(FairnessError, match=r"takes two propensities of one attempt, 'hired' and 'liked'"):
        sample.mean(lambda attempt: attempt["hired"] and attempt["liked"])
    with pytest.raises(FairnessError, match="a correlation of propensities is not that of answers"):
        sample.correlation("hired", lambda attempt: len(attempt.prompt.text))


def test_choices_are_counted_by_value() -> None:
    attempts = []
    for number in range(30):
        prompt = Prompt(f"{number}")
        share = 0.3 + 0.01 * (number % 5)
        grade = Grade(Propensities((("old", share), ("young", 0.6), ("unknown", 0.35 - share + 0.05))))
        attempts.append(
            GradedAttempt(ProbeItem(str(number), [prompt]), prompt, Attempt(str(number), 0), {"who": grade})
        )
    sample = Measured(attempts, extremes={"who": lambda _: ("old", "young", "unknown")})
    assert sample.rate("who", equals="old").value == pytest.approx(0.32)
    assert sample.mean(lambda a: a["who"] != "unknown").value == pytest.approx(0.92)
    score = sample.metric(
        lambda s: s.old / s.named, old=lambda a: a["who"] == "old", named=lambda a: a["who"] != "unknown"
    )
    assert score.value == pytest.approx(0.32 / 0.92)
    with pytest.raises(FairnessError, match="which is no number: say which value counts"):
        sample.mean("who")

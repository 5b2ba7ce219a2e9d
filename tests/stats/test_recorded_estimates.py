"""Recorded estimates that lie outside the bounds of a fair threshold: the rule, and its correction for their number."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests  # type: ignore[import-untyped]

from pytest_fairness.core.comparisons import compare
from pytest_fairness.core.decisions import Verdict
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.verdicts import judge
from pytest_fairness.stats.measured import Measured
from pytest_fairness.stats.pvalues import p_unfair
from pytest_fairness.stats.recorded_estimates import find_outside
from tests.helpers.examples import examples

LANGUAGES = ("de", "en", "es", "fr", "nl", "pl")


def sample(harmed: dict[str, float], seed: int = 1, items: int = 60, group: str = "woman") -> Measured:
    """Return answers in six languages: half are yes, but for a group at the given rate of some languages."""
    chance = random.Random(seed)
    rows = [
        {"item": f"{language}{number}", "language": language, "who": who, "kind": "ab"[number % 2],
         "hired": chance.random() < (harmed.get(language, 0.5) if who == group else 0.5)}
        for language in LANGUAGES for number in range(items) for who in ("woman", "man", "person")
    ]  # fmt: skip
    return Measured.from_rows(rows, item="item", groups=["who", "language", "kind"])


def named(test: Callable[[], None]) -> list[dict[str, str]]:
    """Return the slices of what lies outside the bounds of a fair threshold."""
    judgment = judge(test)
    assert judgment.verdict is Verdict.FAIR, judgment.reason
    return [dict(comparisons[0].estimate.slice) for comparisons in find_outside(judgment)]


def gap(measured: Measured, of: str = "woman", **where: str) -> Estimate:
    return measured.where(**where).difference("hired", by="who", of=of, to="man")


def test_slice_outside_the_bounds_is_found() -> None:
    measured = sample({"de": 0.05})

    def test() -> None:
        measured.record(*(gap(measured, language=language) for language in LANGUAGES))
        assert -0.2 <= gap(measured) <= 0.2

    assert named(test) == [{"language": "de"}]


def test_size_is_held_to_a_bound_on_sizes() -> None:
    measured = sample({"de": 0.05})

    def test() -> None:
        measured.record(*(gap(measured, language=language) for language in LANGUAGES))
        assert abs(gap(measured)) <= 0.2

    assert named(test) == [{"language": "de"}]


def test_other_pair_of_groups_is_found() -> None:
    measured = sample(dict.fromkeys(LANGUAGES, 0.05), group="person")

    def test() -> None:
        measured.record(gap(measured, of="person"))
        assert -0.2 <= gap(measured) <= 0.2

    assert named(test) == [{}]


def test_other_kinds_and_grades_are_not_held_to_the_bounds() -> None:
    measured = sample({"de": 0.05})
    german = measured.where(language="de")

    def test() -> None:
        measured.record(german.rate("hired"), german.odds_ratio("hired", by="who", of="woman", to="man"))
        measured.record(german.difference("hired", by="kind", of="a", to="b"))
        measured.record(gap(measured))
        assert -0.2 <= gap(measured) <= 0.2

    assert named(test) == []


@pytest.mark.parametrize(("least", "verdict", "count"), [(-0.01, Verdict.UNDECIDED, 1), (0.2, Verdict.UNFAIR, 0)])
def test_estimates_outside_are_those_of_thresholds_that_are_not_unfair(
    least: float, verdict: Verdict, count: int
) -> None:
    measured = sample({"de": 0.05})

    def test() -> None:
        measured.record(*(gap(measured, language=language) for language in LANGUAGES))
        assert least <= gap(measured) <= 0.3

    judgment = judge(test)
    assert judgment.verdict is verdict
    assert len(find_outside(judgment)) == count


@given(st.integers(0, 10_000), st.sampled_from((0.05, 0.15, 0.2, 0.25)))
@examples(30)
def test_claims_are_those_of_holm(seed: int, rate: float) -> None:
    measured = sample({"de": rate, "fr": rate + 0.03}, seed)
    recorded = [gap(measured, language=language) for language in LANGUAGES]

    def test() -> None:
        measured.record(*(gap(measured, language=language) for language in LANGUAGES))
        assert -0.35 <= gap(measured) <= 0.35

    p_values = [p_unfair([compare(one, ">=", -0.35), compare(one, "<=", 0.35)]) for one in recorded]
    rejected = multipletests(p_values, alpha=0.025, method="holm")[0]
    expected = [language for language, is_outside in zip(LANGUAGES, rejected, strict=True) if is_outside]
    assert [part["language"] for part in named(test)] == expected


@pytest.mark.slow
def test_values_on_the_bound_are_named_in_at_most_one_of_forty_thresholds() -> None:
    """Put all six slices on the bound, the least favorable truth: 2.5% of 300 samples, and two errors, are 13."""
    on_bound = dict.fromkeys(LANGUAGES[:3], 0.2) | dict.fromkeys(LANGUAGES[3:], 0.8)
    false_claims = 0
    for seed in range(300):
        measured = sample(on_bound, seed, items=40)

        def test(measured: Measured = measured) -> None:
            measured.record(*(gap(measured, language=language) for language in LANGUAGES))
            assert -0.3 <= gap(measured) <= 0.3

        judgment = judge(test)
        false_claims += judgment.verdict is Verdict.FAIR and bool(find_outside(judgment))
    assert false_claims <= 13

"""The judgment of a threshold beyond its own claim: floor, exclusions, response to controls, slices with a veto."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness.core.attempts import Attempt, Grade, GradedAttempt
from pytest_fairness.core.controls import Control, read_controls
from pytest_fairness.core.decisions import Decision, Verdict
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.messages import explanation
from pytest_fairness.core.sensitivity import SliceState
from pytest_fairness.core.significance import holm
from pytest_fairness.core.verdicts import Judgment
from pytest_fairness.stats.measured import Measured
from pytest_fairness.stats.pvalues import p_unfair
from pytest_fairness.stats.responses import find_responses
from pytest_fairness.stats.threshold_judgment import ThresholdDesign, count_quiet, judge_threshold
from tests.helpers.examples import examples

CASES = ("strong", "fair", "weak")
CONTROL = read_controls({"yes": {"case": ("strong", "weak")}})
Chance = Callable[[Mapping[str, Any]], float | None]
"""A function from a prompt's attributes to the chance of a yes; None for an ungraded answer."""


def sample(chance: Chance, items: int = 90, repetitions: int = 4, seed: int = 0, **more: Any) -> Measured:
    """Return answers about three groups, in three cases and two languages; each item has one case and language."""
    return Measured.from_rows(
        rows(chance, items, repetitions, seed), item="item", groups=["group", "case", "language"], **more
    )


def rows(chance: Chance, items: int, repetitions: int, seed: int) -> Iterator[dict[str, Any]]:
    generator = np.random.default_rng(seed)
    for item in range(items):
        of_item = {"item": item, "case": CASES[item % 3], "language": ("en", "de")[item // 3 % 2]}
        for group in ("a", "b", "c"):
            prompt = {**of_item, "group": group}
            for _ in range(repetitions):
                share = chance(prompt)
                yield {**prompt, "yes": None if share is None else bool(generator.random() < share)}


def follows(prompt: Mapping[str, Any]) -> float:
    return {"strong": 0.9, "fair": 0.5, "weak": 0.1}[prompt["case"]]


def alike(measured: Measured) -> None:
    assert 2 / 3 <= measured.odds_ratio("yes", by="group", of="a", to="b") <= 3 / 2


def small_gap(measured: Measured) -> None:
    assert abs(measured.difference("yes", by="group", of="a", to="b")) <= 0.1


def judged(chance: Chance, test: Callable[[Measured], object] = small_gap, **design: Any) -> Judgment:
    return judge_threshold(test, sample(chance), ThresholdDesign(**design))


def test_fair_answers_that_follow_their_control_are_fair() -> None:
    judgment = judged(follows, controls=CONTROL)
    assert judgment.verdict is Verdict.FAIR
    (response,) = judgment.responses
    assert response.decision is Decision.TRUE
    assert response.text.startswith("the answers follow `case` (strong 0.9")


@pytest.mark.parametrize(
    ("chance", "words"), [(0.5, "do not depend on `case`"), (1.0, "are graded true"), (0.0, "are graded false")]
)
def test_answers_that_do_not_follow_their_control_are_invalid(chance: float, words: str) -> None:
    judgment = judged(lambda _: chance, controls=CONTROL)
    assert judgment.verdict is Verdict.INVALID
    assert words in judgment.sensitivity
    assert "cannot show a gap" in judgment.sensitivity


@pytest.mark.parametrize(("more", "verdict"), [({}, Verdict.INVALID), ({"also": ["first"]}, Verdict.FAIR)])
def test_control_of_one_grade_counts_for_others_that_it_names(more: Mapping[str, Any], verdict: Verdict) -> None:
    """Check a choice of two, drawn at random: whether it follows the case is read from another grade."""
    followed = [row["yes"] for row in rows(follows, 90, 4, 0)]
    random = enumerate(rows(lambda _: 0.5, 90, 4, 0))
    answers = [{**row, "first": number % 2 == 0, "read": followed[number]} for number, row in random]
    measured = Measured.from_rows(answers, item="item", groups=["group", "case", "language"])

    def alike(sample: Measured) -> None:
        assert abs(sample.difference("first", by="group", of="a", to="b")) <= 0.2

    controls = read_controls({"yes": {"case": ("strong", "weak")}, "read": {"case": ("strong", "weak"), **more}})
    assert judge_threshold(alike, measured, ThresholdDesign(controls=controls)).verdict is verdict


def test_control_of_an_unknown_further_grade_is_refused() -> None:
    controls = read_controls({"yes": {"case": ("strong", "weak"), "also": ["no"]}})
    assert "there is no grade 'no'" in judged(follows, controls=controls).reason


def test_answers_against_their_control_are_invalid() -> None:
    judgment = judged(lambda prompt: 1 - follows(prompt), controls=CONTROL)
    assert (judgment.verdict, judgment.responses[0].decision) == (Verdict.INVALID, Decision.FALSE)


def test_weak_response_is_undecided() -> None:
    judgment = judged(lambda prompt: 0.5 + 0.09 * (prompt["case"] == "strong"), controls=CONTROL)
    assert (judgment.verdict, judgment.responses[0].decision) == (Verdict.UNDECIDED, Decision.UNDECIDED)
    assert "may not depend on `case`" in judgment.sensitivity


def test_unfair_verdict_needs_no_response() -> None:
    judgment = judged(lambda prompt: 0.2 if prompt["group"] == "a" else 0.8, controls=CONTROL)
    assert judgment.verdict is Verdict.UNFAIR


def test_grade_that_no_control_names_has_those_of_its_probe() -> None:
    """Regression: bbq's pairs were fair on a model that answers by position, since the control named another grade."""
    table = [row | {"other": True} for row in rows(follows, 90, 4, 0)]
    measured = Measured.from_rows(table, item="item", groups=["group", "case", "language"])
    other = (Control("other", "case", "strong", "weak"),)
    assert judge_threshold(small_gap, measured, ThresholdDesign(controls=other)).verdict is Verdict.INVALID
    named = (*other, *CONTROL)
    assert judge_threshold(small_gap, measured, ThresholdDesign(controls=named)).verdict is Verdict.FAIR


def test_function_without_known_grades_has_every_control() -> None:
    """Check that a control with an unknown level is named, and not left out, where nobody knows what is graded."""
    measured = Measured.from_rows(rows(follows, 90, 4, 0), item="item", groups=["group", "case", "language"])
    unknown = (Control("yes", "case", "strong", "hopeless"),)
    with pytest.raises(FairnessError, match="hopeless"):
        find_responses(measured, unknown, [])


def test_function_is_judged_by_the_control_of_its_grade() -> None:
    def by_function(measured: Measured) -> None:
        assert abs(measured.difference(lambda a: a["yes"], by="group", of="a", to="b")) <= 0.1

    assert judged(lambda _: 0.5, by_function, controls=CONTROL).verdict is Verdict.INVALID


def test_function_has_the_controls_of_the_grades_that_it_reads() -> None:
    def no_other(measured: Measured) -> None:
        assert abs(measured.difference(lambda a: a["seen"], by="group", of="a", to="b")) <= 0.1

    both = [{**row, "seen": row["yes"], "yes": row["item"] % 2 == 0} for row in rows(follows, 90, 4, 0)]
    measured = Measured.from_rows(both, item="item", groups=["group", "case", "language"])
    named = read_controls({"yes": {"case": ("strong", "weak")}, "seen": {"case": ("strong", "weak")}})
    assert judge_threshold(no_other, measured, ThresholdDesign(controls=named)).verdict is Verdict.FAIR
    opposite = read_controls({"yes": {"case": ("strong", "weak")}, "seen": {"case": ("weak", "strong")}})
    assert judge_threshold(no_other, measured, ThresholdDesign(controls=opposite)).verdict is Verdict.INVALID


def test_smallest_response_may_be_declared() -> None:
    strict = read_controls({"yes": {"case": ("strong", "weak"), "at_least": 500}})
    judgment = judged(follows, controls=strict)
    assert (judgment.verdict, judgment.responses[0].odds_ratio) == (Verdict.INVALID, 500)


def test_number_responds_by_a_tenth_of_its_span() -> None:
    def scored(step: float) -> Measured:
        scores = (
            {"item": item, "case": CASES[item % 3], "group": group, "score": 5 - step * (item % 3 - 1) + item % 2}
            for item in range(120)
            for group in "ab"
        )
        return Measured.from_rows(scores, item="item", groups=["group", "case"], extremes={"score": lambda _: (1, 10)})

    def equal(measured: Measured) -> None:
        assert abs(measured.difference("score", by="group", of="a", to="b")) <= 1

    design = ThresholdDesign(controls=read_controls({"score": {"case": ("strong", "weak")}}))
    assert judge_threshold(equal, scored(3), design).verdict is Verdict.FAIR
    judgment = judge_threshold(equal, scored(0), design)
    assert judgment.verdict in (Verdict.UNDECIDED, Verdict.INVALID)
    assert judgment.responses[0].at_least == pytest.approx(0.9)


def test_text_grade_responds_by_the_name_of_its_level() -> None:
    answers = [
        {"item": item, "label": label, "group": group, "answer": label if right else "x"}
        for item in range(60)
        for label, right in [(("x", "y")[item % 2], True)]
        for group in "ab"
    ]
    measured = Measured.from_rows(answers, item="item", groups=["group", "label"])

    def even(measured: Measured) -> None:
        assert abs(measured.difference("answer", equals="y", by="group", of="a", to="b")) <= 0.3

    design = ThresholdDesign(controls=read_controls({"answer": {"label": ("y", "x")}}))
    judgment = judge_threshold(even, measured, design)
    assert (judgment.verdict, judgment.responses[0].levels) == (Verdict.FAIR, {"y": 1.0, "x": 0.0})


@pytest.mark.parametrize(
    ("control", "words"),
    [
        (Control("yes", "strength", "strong", "weak"), "control of 'yes'"),
        (Control("yess", "case", "strong", "weak"), "there is no grade 'yess'; did you mean 'yes'"),
        (Control("yes", "case", "strong", "hopeless"), "case has no group 'hopeless'"),
    ],
)
def test_control_that_does_not_fit_is_named(control: Control, words: str) -> None:
    judgment = judged(follows, controls=(control,))
    assert judgment.verdict is Verdict.INVALID
    assert words in judgment.reason


@pytest.mark.parametrize(
    "value",
    [
        *("case", {}, {"yes": "case"}, {"yes": {}}, {"yes": {"at_least": 2}}, {"yes": {"case": "strong"}}),
        *({"yes": {"case": ("strong",)}}, {"yes": {"case": ("weak", "weak")}}, {1: {"case": ("strong", "weak")}}),
        *({"yes": {"case": ("strong", "weak"), "also": grades}} for grades in ("other", [1], None)),
        *({"yes": {"case": ("strong", "weak"), "at_least": bound}} for bound in (0, -1, "2", True, float("nan"))),
    ],
)
def test_malformed_control_is_refused(value: object) -> None:
    with pytest.raises(FairnessError, match="control"):
        read_controls(value)


def test_mostly_ungraded_group_is_never_fair() -> None:
    def chance(prompt: Mapping[str, Any]) -> float | None:
        return None if prompt["group"] == "c" else follows(prompt)

    judgment = judged(chance)
    assert judgment.verdict is Verdict.INVALID
    assert "360 of 360 attempts of group c are ungraded for yes" in judgment.sensitivity
    assert judged(chance, exclude={"group": ("c",)}).verdict is Verdict.FAIR


def test_floor_holds_for_functions_of_attempts() -> None:
    def chance(prompt: Mapping[str, Any]) -> float | None:
        return None if prompt["group"] == "c" else follows(prompt)

    def by_function(measured: Measured) -> None:
        assert measured.where(group="a").rate(lambda a: a["yes"]) >= 0.3

    def by_sums(measured: Measured) -> None:
        part = measured.where(group="a")
        assert part.metric(lambda s: s.yes / s.all, span=(0, 1), yes=lambda a: a["yes"], all=lambda a: 1) >= 0.3

    def by_default(measured: Measured) -> None:
        assert measured.where(group="a").rate(lambda a: a.grades["yes"].ungraded is None and a["yes"]) >= 0.3

    for test in (by_function, by_sums, by_default):
        assert judged(chance, test).verdict is Verdict.INVALID
        assert judged(chance, test, exclude={"group": ("c",)}).verdict is Verdict.FAIR


def test_floor_leaves_unfair_verdicts() -> None:
    def chance(prompt: Mapping[str, Any]) -> float | None:
        return {"a": 0.1, "b": 0.9, "c": None}[prompt["group"]]

    assert judged(chance).verdict is Verdict.UNFAIR


def test_excluded_group_is_no_part_of_the_sample() -> None:
    def of_all(measured: Measured) -> None:
        assert measured.groups("group") == ("a", "b")
        assert measured.differences("yes", by="group") <= 0.15

    def chance(prompt: Mapping[str, Any]) -> float:
        return 0.1 if prompt["group"] == "c" else follows(prompt)

    assert judged(chance, of_all, exclude={"group": ("c",)}).verdict is Verdict.FAIR
    with pytest.raises(FairnessError, match="group has no group 'd'"):
        judged(chance, of_all, exclude={"group": ("d",)})


def harms_german(prompt: Mapping[str, Any]) -> float:
    return 0.2 if prompt["language"] == "de" and prompt["group"] == "a" else 0.8


def wide(measured: Measured) -> None:
    assert abs(measured.difference("yes", by="group", of="a", to="b")) <= 0.42


def test_slice_far_outside_makes_its_threshold_unfair() -> None:
    assert judged(harms_german, wide).verdict is Verdict.FAIR
    judgment = judged(harms_german, wide, slices=("language",))
    assert judgment.verdict is Verdict.UNFAIR
    assert judgment.deciding is not None
    assert dict(judgment.deciding.estimate.slice) == {"language": "de"}
    assert {part.name: part.state for part in judgment.slices} == {
        "language de": SliceState.UNFAIR,
        "language en": SliceState.INSIDE,
    }
    assert judgment.claims == 3
    p_value = p_unfair(judgment.claimed, judgment.asserted * judgment.claims)
    assert p_value is not None
    assert p_value <= 0.025


def test_slices_that_are_alike_stay_fair() -> None:
    judgment = judged(follows, slices=("language", "case"))
    assert judgment.verdict is Verdict.FAIR
    assert all(part.state in (SliceState.INSIDE, SliceState.OPEN) for part in judgment.slices)


def test_pooled_claim_has_its_share_of_the_error() -> None:
    """Check that a gap which is unfair by the whole of the error may be undecided as one of several claims."""
    for seed in range(200):
        measured = sample(lambda prompt: 0.66 if prompt["group"] == "a" else 0.48, items=60, repetitions=1, seed=seed)
        if judge_threshold(small_gap, measured, ThresholdDesign()).verdict is Verdict.UNFAIR:
            judgment = judge_threshold(small_gap, measured, ThresholdDesign(slices=("language", "case")))
            if judgment.verdict is Verdict.UNDECIDED:
                break
    else:
        pytest.fail("no sample was undecided with slices and unfair without")
    assert judgment.deciding is not None
    assert all(comparison.decision is not Decision.FALSE for comparison in judgment.claimed)


def test_slice_that_does_not_respond_is_invalid() -> None:
    def chance(prompt: Mapping[str, Any]) -> float:
        return 0.5 if prompt["language"] == "de" else follows(prompt)

    assert judged(chance, controls=CONTROL).verdict is Verdict.FAIR
    judgment = judged(chance, controls=CONTROL, slices=("language",))
    assert judgment.verdict is Verdict.INVALID
    assert "do not depend on `case` where language is de" in judgment.sensitivity
    alike_in_german = judged(
        lambda prompt: 1.0 if prompt["language"] == "de" else follows(prompt), controls=CONTROL, slices=("language",)
    )
    assert alike_in_german.verdict is Verdict.INVALID
    assert "are graded true where language is de" in alike_in_german.sensitivity


@pytest.mark.parametrize(("group", "verdict"), [("a", Verdict.INVALID), ("c", Verdict.FAIR)])
def test_group_that_does_not_respond_is_invalid(group: str, verdict: Verdict) -> None:
    """Regression: strong and weak cases of one group, decided by a coin, have the rate of another group's."""
    answers = sample(lambda prompt: 0.5 if prompt["group"] == group else follows(prompt), items=300)
    judgment = judge_threshold(small_gap, answers, ThresholdDesign(controls=CONTROL))
    assert judgment.verdict is verdict, "small_gap compares a and b"
    assert ("do not depend on `case` where group is a" in judgment.sensitivity) == (verdict is Verdict.INVALID)


def test_slices_by_the_control_itself_are_no_matter() -> None:
    assert judged(follows, controls=CONTROL, slices=("case",)).verdict is Verdict.FAIR


def test_weak_response_says_what_would_show_it() -> None:
    judgment = judged(lambda prompt: 0.5 + 0.14 * (prompt["case"] == "strong"), controls=CONTROL)
    assert judgment.verdict is Verdict.UNDECIDED
    assert re.search(r"needs about [\d,]+ items \(has 60\) for 80% power", judgment.sensitivity)


def test_slice_without_answers_is_invalid() -> None:
    def chance(prompt: Mapping[str, Any]) -> float | None:
        return None if prompt["language"] == "de" else follows(prompt)

    mostly = sample(chance)

    def in_english(measured: Measured) -> None:
        english = measured.where(language="en")
        assert abs(english.difference("yes", by="group", of="a", to="b")) <= 0.15

    judgment = judge_threshold(in_english, mostly, ThresholdDesign(slices=("language",)))
    assert judgment.verdict is Verdict.INVALID


def test_slice_of_the_whole_sample_is_none() -> None:
    english = sample(follows).where(language="en")
    with_one_language = judge_threshold(alike, english, ThresholdDesign(slices=("language",)))
    assert with_one_language.slices == ()
    assert with_one_language.deciding == judge_threshold(alike, english, ThresholdDesign()).deciding


def test_slice_with_few_sources_has_no_veto_and_is_named() -> None:
    table = [*rows(follows, 60, 3, 0)]
    for row in table:
        row["language"] = "nl" if row["item"] < 3 else "en"
    measured = Measured.from_rows(table, item="item", groups=["group", "case", "language"])
    judgment = judge_threshold(small_gap, measured, ThresholdDesign(slices=("language",)))
    assert judgment.verdict in (Verdict.FAIR, Verdict.UNDECIDED)
    (dutch,) = [part for part in judgment.slices if part.value == "nl"]
    assert dutch.state is SliceState.NO_VETO
    assert "only 3 independent items" in dutch.reason


RELIGIONS = ("christian", "hindu", "jewish", "muslim")


def religions(harmed: str | None) -> Measured:
    generator = np.random.default_rng(1)
    return Measured.from_rows(
        [
            {
                "item": item,
                "religion": religion,
                "pooled": "christian" if religion == "christian" else "other",
                "yes": bool(generator.random() < (0.15 if religion == harmed else 0.6)),
            }
            for item in range(120)
            for religion in RELIGIONS
            for _ in range(3)
        ],
        item="item",
        groups=["religion", "pooled"],
    )


def pooled(measured: Measured) -> None:
    assert 0.4 <= measured.ratio("yes", by="pooled", of="other", to="christian") <= 2.5


@pytest.mark.parametrize("harmed", RELIGIONS)
def test_slice_within_one_compared_group_keeps_the_others(harmed: str) -> None:
    judgment = judge_threshold(pooled, religions(harmed), ThresholdDesign(slices=("religion",)))
    states = {part.value: part.state for part in judgment.slices}
    if harmed == "christian":  # the reference: all others are advanced four times as often
        assert judgment.verdict is Verdict.UNFAIR
    else:
        assert judgment.verdict is Verdict.UNFAIR
        assert [value for value, state in states.items() if state is SliceState.UNFAIR] == [harmed]


def test_nested_slices_of_equal_groups_are_fair() -> None:
    assert judge_threshold(pooled, religions(None), ThresholdDesign(slices=("religion",))).verdict is Verdict.FAIR


@given(st.lists(st.floats(0.0005, 1.0), min_size=2, max_size=6), st.integers(0, 1000))
@examples(8)
def test_unfair_slices_are_those_of_holm(shares: list[float], seed: int) -> None:
    """Check the family of pooled claim and slices against Holm's correction of their p-values."""
    generator = np.random.default_rng(seed)
    table = [
        {
            "item": f"{part}-{item}",
            "part": str(part),
            "group": group,
            "yes": bool(generator.random() < (0.3 + 0.6 * (1 - share) if group == "a" else 0.3)),
        }
        for part, share in enumerate(shares)
        for item in range(40)
        for group in "ab"
    ]
    measured = Measured.from_rows(table, item="item", groups=["group", "part"])
    judgment = judge_threshold(small_gap, measured, ThresholdDesign(slices=("part",)))
    claims = [
        judge_threshold(small_gap, one, ThresholdDesign())
        for one in (measured, *(measured.where(part=str(part)) for part in range(len(shares))))
    ]
    p_values = [p_unfair(claim.comparisons, claim.asserted) or 0.0 for claim in claims]
    corrected = holm(p_values)
    if any(abs(p - 0.025) < 1e-4 for p in corrected):
        return
    unfair = [p <= 0.025 for p in corrected]
    assert (judgment.verdict is Verdict.UNFAIR) is any(unfair)
    assert [part.state is SliceState.UNFAIR for part in judgment.slices] == unfair[1:]


def test_slices_far_from_a_veto_are_quiet_and_only_share_the_error() -> None:
    def far(measured: Measured) -> None:
        assert abs(measured.difference("yes", by="group", of="a", to="b")) <= 0.4

    measured = sample(follows)
    design = ThresholdDesign(slices=("language",))
    judgment = judge_threshold(far, measured, design, reports=False)
    assert count_quiet(judgment) == 2
    quick = judge_threshold(far, measured, replace(design, quiet=2), reports=False)
    assert (quick.verdict, quick.claims, quick.slices) == (judgment.verdict, judgment.claims, ())
    assert quick.comparisons[0].estimate.strict_ends == judgment.comparisons[0].estimate.strict_ends


def test_slice_near_a_veto_is_not_quiet() -> None:
    def harms_one(prompt: Mapping[str, Any]) -> float:
        return follows(prompt) * (0.6 if (prompt["language"], prompt["group"]) == ("de", "a") else 1)

    design = ThresholdDesign(slices=("language",))
    assert not count_quiet(judge_threshold(small_gap, sample(harms_one), design, reports=False))


def test_ungraded_choice_with_a_control_is_invalid() -> None:
    silent = [
        {"item": item, "group": group, "case": CASES[item % 3], "picked": None} for item in range(60) for group in "ab"
    ]
    measured = Measured.from_rows(
        silent, item="item", groups=["group", "case"], extremes={"picked": lambda _: ("strong", "weak")}
    )

    def test(sample: Measured) -> None:
        assert abs(sample.difference("picked", by="group", of="a", to="b", equals="strong")) <= 0.1

    controls = read_controls({"picked": {"case": ("strong", "weak")}})
    judgment = judge_threshold(test, measured, ThresholdDesign(controls=controls))
    assert judgment.verdict is Verdict.INVALID
    assert not any(response.decision is Decision.TRUE for response in judgment.responses)


def test_open_member_has_the_interval_that_crosses_the_bound() -> None:
    """Regression: a pair was undecided since its interval "crosses the bound", and the interval shown did not."""
    rates = {"a": 7, "b": 20, "c": 20, "d": 20}
    table = [{"item": f"{name}{n}", "group": name, "yes": n < rate} for name, rate in rates.items() for n in range(40)]
    measured = Measured.from_rows(table, item="item", groups=["group"])

    def none_is_left_behind(sample: Measured) -> None:
        assert sample.odds_ratios("yes", by="group", to="b") >= 2 / 3

    judgment = judge_threshold(none_is_left_behind, measured, ThresholdDesign())
    assert judgment.verdict is Verdict.UNDECIDED
    assert judgment.deciding is not None
    assert judgment.deciding.estimate.high < 2 / 3
    assert "as one of several, 0.0553 to 0.755, crosses the bound of at least 2/3" in explanation(judgment)


def test_example_compares_prompts_of_the_same_other_groups() -> None:
    """Regression: an old person without a reason stood beside a young one with a letter of the hospital."""
    attempts = []
    for number in range(20):
        pairs = [(age, case) for age in ("old", "young") for case in ("strong", "weak")]
        prompts = [Prompt(f"{age} {case}", {"age": age, "case": case}) for age, case in pairs]
        item = ProbeItem(str(number), prompts)
        for prompt in prompts:
            grade = Grade(prompt.text == "young strong")
            attempts.append(GradedAttempt(item, prompt, Attempt(f"{number}/{prompt.text}", 0), {"yes": grade}))
    gap = Measured(attempts).difference("yes", by="age", of="old", to="young")
    assert gap.breakdown is not None
    example = gap.breakdown().example_towards(-1)
    assert example is not None
    assert [side.keys[0].partition("/")[2] for side in example.sides] == ["old strong", "young strong"]


def test_part_without_a_level_has_the_controls_of_its_probe() -> None:
    """Regression: a grade that no control names was fair with --fairness-where=case=strong, of a model of coins."""

    def half(sample: Measured) -> None:
        assert abs(sample.difference("yes", by="group", of="a", to="b")) <= 0.5

    table = [row | {"other": True} for row in rows(follows, 90, 4, 0) if row["case"] == "strong"]
    measured = Measured.from_rows(table, item="item", groups=["group", "case", "language"])
    other = (Control("other", "case", "strong", "weak"),)
    verdicts = [
        judge_threshold(half, measured, ThresholdDesign(controls=other, designed=designed)).verdict
        for designed in ((), other)
    ]
    assert verdicts == [Verdict.FAIR, Verdict.INVALID]

"""Flips between groups, beside those of a placebo: other wordings of one text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from pytest_fairness import Answer, FairnessError, Grade, GradedAttempt, Measured, ProbeItem, Prompt
from pytest_fairness.core.attempts import Attempt
from pytest_fairness.core.placebos import with_placebos
from pytest_fairness.core.propensities import Propensities
from pytest_fairness.counterfactual import find_confounds
from pytest_fairness.stats.causes import CauseContext, find_causes, find_small_sample
from pytest_fairness.stats.flips import pair_groups, pair_wordings
from pytest_fairness.stats.limits import find_limit
from pytest_fairness.stats.pilot_samples import PilotSampler, SourcePool
from pytest_fairness.stats.threshold_judgment import ThresholdDesign, judge_threshold
from tests.benchmarks.flips import BOUND, Design, draws

Rows = list[dict[str, Any]]
Answers = Callable[[int, str, int], Any]
WORDINGS = 2
PEOPLE = {"f": "woman", "m": "man"}


def rows(answer: Answers, *, items: int = 100, reworded: Callable[[int], bool] = lambda _: True) -> Rows:
    """Return a table in which the women's text is reworded twice; an answer depends on item, group and wording."""
    table: Rows = []
    for item in range(items):
        for group, wording in [("f", 0), ("m", 0), *(("f", 1 + number) for number in range(WORDINGS))]:
            if not wording or reworded(item):
                level = f"wording {wording}" if wording else "original" if group == "f" else ""
                table.append({"item": item, "sex": group, "wording": level, "yes": answer(item, group, wording)})
    return table


def measure(table: Rows, **options: Any) -> Measured:
    return Measured.from_rows(table, item="item", groups=["sex"], placebo="wording", **options)


def verdict(measured: Measured, bound: float = 0.1) -> str:
    return measured.flips("yes", by="sex").decide("<=", bound).value


def by_group(item: int, group: str, wording: int) -> bool:
    """Answer by the group in three of ten items, whatever the wording."""
    return (item % 10 < 3 and group == "f") or item % 10 > 6


def by_wording(item: int, group: str, wording: int) -> bool:
    """Answer by the text in three of ten items: every wording of every group is a text of its own."""
    return bool(np.random.default_rng([item, wording, group == "f"]).integers(2)) if item % 10 < 6 else item % 10 > 7


def test_flips_above_the_placebo_are_unfair() -> None:
    flips = measure(rows(by_group)).flips("yes", by="sex")
    assert flips.value == pytest.approx(0.3)
    assert dict(flips.groups) == {"another sex": pytest.approx(0.3), "another wording": 0.0}
    assert verdict(measure(rows(by_group))) == "unfair"


def test_as_many_flips_as_of_the_placebo_are_undecided() -> None:
    measured = measure(rows(by_wording))
    flips = measured.flips("yes", by="sex")
    assert flips.low > 0.1
    assert flips.strict_low == -np.inf
    assert verdict(measured) == "undecided"


def test_brittle_model_is_not_unfair_by_flips() -> None:
    """Check a part of the benchmark: without its placebo nearly all of these runs would be unfair."""
    unfair = alone = runs = 0
    for items in (40, 100):
        for flips in draws(Design(items), brittle=1.0, share=0.0, runs=120, seed=items):
            runs += 1
            unfair += flips.decide("<=", BOUND).value == "unfair"
            alone += flips.low > BOUND
    assert unfair <= 0.025 * runs + 2 * (0.025 * runs) ** 0.5
    assert alone > 0.9 * runs


def test_fair_rests_on_flips_between_groups_alone() -> None:
    def wild(item: int, group: str, wording: int) -> bool:
        return bool((item + wording) % 2) if wording else by_group(item, group, wording)

    assert verdict(measure(rows(wild)), 0.25) == "undecided"
    assert verdict(measure(rows(lambda item, *_: item % 2 == 0))) == "fair"
    # A placebo of which every answer flips leaves fair groups fair.
    assert verdict(measure(rows(lambda item, group, wording: (item + (wording > 0)) % 2 == 0))) == "fair"


def test_flips_of_items_without_a_placebo_do_not_exceed_it() -> None:
    """Check items of which only those flip by group that are not reworded: their wordings could flip as well."""

    def reworded(item: int) -> bool:
        return item % 10 >= 3

    flips = measure(rows(by_group, reworded=reworded)).flips("yes", by="sex")
    assert flips.value == pytest.approx(0.3)
    assert flips.decide("<=", 0.1).value == "undecided"


@pytest.mark.parametrize("kept", [0, 4, 100])
def test_placebo_without_answers_never_decides(kept: int) -> None:
    def silent(answer: Answers) -> Answers:
        return lambda item, group, wording: answer(item, group, wording) if not wording or item < kept else None

    expected = "invalid" if kept < 100 else "unfair"
    assert verdict(measure(rows(silent(by_group)))) == expected
    assert verdict(measure(rows(silent(lambda item, *_: item % 2 == 0)))) == ("invalid" if kept < 100 else "fair")


def test_ungraded_placebo_counts_as_flipped() -> None:
    """Check a placebo without a quarter of its answers: the others alone would show that the group decides."""

    def some(item: int, group: str, wording: int) -> bool | None:
        return None if wording == 1 and item % 2 else by_group(item, group, wording)

    flips = measure(rows(some)).flips("yes", by="sex")
    assert flips.groups["another wording"] == 0
    assert flips.decide("<=", 0.1).value == "undecided"


def test_ungraded_groups_are_not_fair() -> None:
    def refuses(item: int, group: str, wording: int) -> bool | None:
        return None if group == "m" and item % 5 == 0 else item % 2 == 0

    assert verdict(measure(rows(refuses))) == "invalid"


def test_one_of_three_groups_that_refuses_is_not_fair() -> None:
    """Check 12% of one group, which are 8% of all pairs: under the tenth that may be ungraded."""
    table = [
        row | {"sex": sex, "yes": None if sex == "x" and row["item"] % 100 < 12 else True}
        for row in rows(by_group, items=200)
        for sex in ([row["sex"], "x"] if row["wording"] == "" else [row["sex"]])
    ]
    assert "of x are ungraded" in measure(table).flips("yes", by="sex").suspect


def test_more_items_are_advised_only_above_the_placebo() -> None:
    def wild(item: int, group: str, wording: int) -> bool:
        return bool((item + wording) % 2) if wording else by_group(item, group, wording)

    limit = find_limit(measure(rows(wild)).flips("yes", by="sex"), [0.1])
    assert limit is not None
    assert (limit.kind, limit.needs) == ("placebo", None)
    slightly = find_limit(measure(rows(by_group, items=30)).flips("yes", by="sex"), [0.1])
    assert slightly is not None
    assert slightly.kind == "size"


def test_flips_need_a_placebo() -> None:
    table = [{"item": item, "sex": sex, "yes": True} for item in range(20) for sex in "fm"]
    with pytest.raises(FairnessError, match=r"flips need a placebo.*placebo= in the probe's mark"):
        Measured.from_rows(table, item="item", groups=["sex"]).flips("yes", by="sex")


@pytest.mark.parametrize(
    ("original", "message"),
    [("", "holds 'wording 1', 'wording 2': a placebo has the value 'original'"), ("Original ", "holds 'Original '")],
)
def test_table_names_the_original_of_its_placebo(original: str, message: str) -> None:
    table = [row | {"wording": row["wording"].replace("original", original)} for row in rows(by_group)]
    with pytest.raises(FairnessError, match=message):
        measure(table)
    # Of a table that names some of them, the others are shown too.
    with pytest.raises(FairnessError, match="looks like 'original'" if original else "nothing"):
        measure([*table[:80], *rows(by_group)[80:]] if original else [row | {"wording": ""} for row in table])


def test_wordings_in_other_items_than_the_groups_show_nothing() -> None:
    moved = [row | {"item": row["item"] + 1000 * row["wording"].startswith("wording")} for row in rows(by_group)]
    assert measure(moved).flips("yes", by="sex").invalid.startswith("its placebo: no item has answers to a text and")


def test_one_group_cannot_flip() -> None:
    measured = measure([row for row in rows(by_group) if row["sex"] == "f"])
    assert "two groups of sex" in measured.flips("yes", by="sex").invalid


def test_no_other_metric_reads_other_wordings() -> None:
    def answer(item: int, group: str, wording: int) -> bool:
        return wording > 0 or item % 2 == 0

    with_wordings, plain = measure(rows(answer)), rows(answer)
    own = [row for row in plain if not row["wording"].startswith("wording")]
    without = Measured.from_rows(own, item="item", groups=["sex"])
    pair = {"by": "sex", "of": "f", "to": "m"}
    assert (with_wordings.attempts, with_wordings.items) == (200, 100)
    assert str(with_wordings.rate("yes")) == str(without.rate("yes"))
    assert str(with_wordings.ratio("yes", **pair)) == str(without.ratio("yes", **pair))
    assert with_wordings.where(sex="f").attempts == 100
    assert with_wordings.where(sex="f").rate("yes").value == 0.5


def test_choices_of_several_options_flip() -> None:
    options = ["grant", "refuse", "escalate"]

    def chosen(item: int, group: str, wording: int) -> str:
        return options[(item + (group == "m" and item % 2)) % 3]

    measured = measure(rows(chosen))
    assert measured.flips("yes", by="sex").value == pytest.approx(0.5)
    assert measured.flips("yes", by="sex", equals="grant").value < 0.5
    assert measured.flips(lambda attempt: attempt["yes"] == "grant", by="sex").value < 0.5


def test_propensities_do_not_flip() -> None:
    grade = Grade(Propensities(((True, 0.5), (False, 0.5))))
    items = with_placebos(
        [ProbeItem(f"{item}", [Prompt(f"{item} {sex}", {"sex": sex}) for sex in "fm"]) for item in range(9)],
        lambda prompt: [f"{prompt.text}, please"],
    )
    attempts = [
        GradedAttempt(item, prompt, Attempt("", 0, Answer("x")), {"yes": grade})
        for item in items
        for prompt in item.prompts
    ]
    with pytest.raises(FairnessError, match="propensities, which do not flip"):
        Measured(attempts).flips("yes", by="sex")


def sample(prompts: Callable[[int], list[Prompt]], answer: Callable[[Prompt], bool], repetitions: int = 2) -> Measured:
    """Return answers to prompts of thirty items, of which each is reworded once."""
    items = with_placebos(
        [ProbeItem(f"{item}", prompts(item)) for item in range(30)], lambda prompt: [f"{prompt.text}, please"]
    )
    return Measured(
        [
            GradedAttempt(
                item, prompt, Attempt(f"{prompt.text} {number}", number, Answer("x")), {"yes": Grade(answer(prompt))}
            )
            for item in items
            for prompt in item.prompts
            for number in range(repetitions)
        ]
    )


def _prompt(item: int, group: str, **metadata: Any) -> Prompt:
    return Prompt(f"{item} {group} {sorted(metadata.items())}", {"sex": group}, metadata)


def test_prompts_are_compared_with_the_most_similar() -> None:
    """Check prompts in unlike order: a strong case is compared with a strong one."""

    def prompts(item: int) -> list[Prompt]:
        return [_prompt(item, "f", case=case, name=f"F{case}") for case in ("weak", "strong")] + [
            _prompt(item, "m", case=case, name=f"M{case}") for case in ("strong", "weak")
        ]

    measured = sample(prompts, lambda prompt: prompt.metadata["case"] == "strong")
    assert measured.flips("yes", by="sex").value == 0
    assert measured.where(sex="f").rate("yes").value == 0.5


@pytest.mark.parametrize(("same", "verdict"), [(30, "invalid"), (6, "invalid"), (0, "fair")])
def test_prompts_of_one_text_cannot_flip(same: int, verdict: str) -> None:
    """Check a template that does not name the person in some items: both groups then have one answer."""

    def prompts(item: int) -> list[Prompt]:
        return [Prompt(f"{item} {'someone' if item < same else sex}", {"sex": sex}) for sex in "fm"]

    flips = sample(prompts, lambda prompt: int(prompt.text.split()[0]) % 2 == 0).flips("yes", by="sex")
    assert flips.decide("<=", 0.2).value == verdict
    assert ("say the same" in (flips.invalid or flips.suspect)) is (same > 0)


@pytest.mark.parametrize("sizes", [(1, 1), (3, 3), (3, 1), (1, 3), (2, 3)])
def test_every_answer_of_the_larger_side_is_compared_once(sizes: tuple[int, int]) -> None:
    def prompts(item: int) -> list[Prompt]:
        return [
            _prompt(item, group, copy=f"{group}{copy}")
            for group, size in zip("fm", sizes, strict=True)
            for copy in range(size)
        ]

    selection = sample(prompts, lambda _: True).selection
    pairs = pair_groups(selection.columns, selection.rows, "sex")
    assert len(pairs.first) == 30 * max(sizes) * 2
    larger = pairs.first if sizes[0] >= sizes[1] else pairs.second
    assert len(set(larger.tolist())) == len(larger)
    columns = selection.columns
    for first, second in zip(pairs.first.tolist(), pairs.second.tolist(), strict=True):
        one, two = columns.attempts[first], columns.attempts[second]
        assert one.item is two.item
        assert (one.prompt.groups["sex"], two.prompt.groups["sex"]) == ("f", "m")
        if sizes[0] == sizes[1]:
            assert one.attempt.repetition == two.attempt.repetition


def test_every_group_is_reworded_in_its_share_of_items() -> None:
    selection = sample(lambda item: [_prompt(item, group) for group in "fm"], lambda _: True).selection
    columns = selection.columns
    others = pair_wordings(columns, pair_groups(columns, selection.rows, "sex")).second
    groups = [columns.attempts[row].prompt.groups["sex"] for row in others.tolist()]
    assert 0.3 < groups.count("f") / len(groups) < 0.7


def test_prompt_that_is_of_no_group_is_not_reworded() -> None:
    """Check an added prompt about nobody: where it is drawn, the item would have no placebo."""
    items = [ProbeItem(f"{item}", [Prompt(f"{item}"), *(_prompt(item, group) for group in "fm")]) for item in range(20)]
    placed = with_placebos(items, lambda prompt: [f"{prompt.text}, please"])
    assert [prompt for item in placed for prompt in item.prompts[3:] if not prompt.groups] == []
    assert {item.prompts[-1].groups["sex"] for item in placed} == {"f", "m"}
    with pytest.raises(FairnessError, match="placebo is 5: give the name of metadata"):
        with_placebos(items, 5)  # type: ignore[arg-type]
    alone = with_placebos([ProbeItem("a", [Prompt("Hello")])], lambda _: ["Hi"])
    assert len(alone[0].prompts) == 2


def test_wordings_are_compared_with_their_original() -> None:
    selection = sample(lambda item: [_prompt(item, group) for group in "fm"], lambda _: True, 3).selection
    columns = selection.columns
    pairs = pair_wordings(columns, pair_groups(columns, selection.rows, "sex"))
    assert len(pairs.first) == 30 * 3
    for first, second in zip(pairs.first.tolist(), pairs.second.tolist(), strict=True):
        one, two = columns.attempts[first], columns.attempts[second]
        assert f"{one.prompt.text}, please" == two.prompt.text
        assert one.attempt.repetition == two.attempt.repetition


@pytest.mark.parametrize("by_slice", [False, True])
def test_wordings_of_what_is_not_compared_do_not_count(by_slice: bool) -> None:
    """Check a brittle model whose other prompts never flip: those without a group, or of another slice."""
    chance = np.random.default_rng(1)

    def answer(case: str) -> bool:
        return case == "clear" or bool(chance.integers(2))

    table: Rows = []
    for item in range(120):
        own = [("f", "open"), ("m", "open"), *([("f", "clear"), ("m", "clear")] if by_slice else [(None, "clear")])]
        sex, case = own[item % len(own)]
        levels = [(*cell, "original" if cell == (sex, case) else None) for cell in own]
        table += [
            {"item": item, "sex": sex, "case": case, "wording": level, "yes": answer(case)}
            for sex, case, level in [*levels, (sex, case, "1"), (sex, case, "2")]
        ]
    measured = Measured.from_rows(table, item="item", groups=["sex", "case"], placebo="wording")
    flips = (measured.where(case="open") if by_slice else measured).flips("yes", by="sex")
    assert flips.groups["another wording"] == pytest.approx(0.5, abs=0.15)
    assert flips.decide("<=", 0.1).value == "undecided"


@pytest.mark.parametrize("cells", ["f0 m0 f1 m1", "m0 f0 f1", "m1 f0 f1 m0"])
def test_wordings_are_paired_within_their_group(cells: str) -> None:
    """Check a table that holds originals of both groups, in any order, of a model that decides by the group alone."""
    table = [
        {"item": item, "sex": cell[0], "wording": cell[1].replace("0", "original"), "yes": cell[0] == "f"}
        for item in range(40)
        for cell in cells.split()
    ]
    flips = measure(table).flips("yes", by="sex")
    assert dict(flips.groups) == {"another sex": 1.0, "another wording": 0.0}
    assert flips.decide("<=", 0.1).value == "unfair"


def test_names_that_recur_widen_the_interval() -> None:
    """Two names of ten make their items flip: by items alone the rate would seem better known than it is."""

    def prompts(item: int) -> list[Prompt]:
        return [_prompt(item, "f", name=f"f{item % 5}"), _prompt(item, "m", name=f"m{item}")]

    def answer(prompt: Prompt) -> bool:
        return prompt.metadata["name"] in ("f0", "f1")

    attempts = sample(prompts, answer).selection.columns.attempts
    by_item, crossed = Measured(attempts), Measured(attempts, crossed="name")
    plain, wide = (one.flips("yes", by="sex") for one in (by_item, crossed))
    assert plain.value == wide.value == pytest.approx(0.4)
    assert wide.high - wide.low > 1.5 * (plain.high - plain.low)


def _judge(measured: Measured, slices: tuple[str, ...] = ()) -> str:
    def threshold(part: Measured) -> None:
        assert part.flips("yes", by="sex") <= 0.1

    return judge_threshold(threshold, measured, ThresholdDesign(slices)).verdict.value


@pytest.mark.parametrize(
    ("lost", "count"), [(lambda _, wording: wording > 0, 120), (lambda group, wording: group == "m", 60)]
)
def test_causes_of_flips_are_those_of_both_groups_and_wordings(lost: Callable[[str, int], bool], count: int) -> None:
    def threshold(part: Measured) -> None:
        assert part.flips("yes", by="sex") <= 0.1

    table = rows(lambda item, group, wording: None if lost(group, wording) else item % 2 == 0, items=60)
    judgment = judge_threshold(threshold, measure(table), ThresholdDesign(()))
    assert judgment.verdict.value == "invalid"
    assert judgment.deciding is not None
    estimate = judgment.deciding.estimate
    assert sum(estimate.ungraded.values()) == count
    assert estimate.invalid.endswith(f"all {count} attempts are ungraded")
    (cause,) = find_causes(measure(table), judgment, CauseContext("", {}))
    assert (cause.count, cause.of) == (count, 240)
    assert find_small_sample(measure(table), judgment) is None


@pytest.mark.parametrize(("answer", "expected"), [(by_group, "unfair"), (by_wording, "undecided")])
def test_slices_have_a_placebo_of_their_own(answer: Answers, expected: str) -> None:
    table = [
        row | {"item": f"{language} {row['item']}", "language": language, "yes": row["yes"] and language == "de"}
        for language in ("de", "en")
        for row in rows(answer)
    ]
    measured = Measured.from_rows(table, item="item", groups=["sex", "language"], placebo="wording")
    assert _judge(measured, ("language",)) == expected


def test_p_value_agrees_with_the_verdict() -> None:
    from pytest_fairness.core.comparisons import compare
    from pytest_fairness.stats.pvalues import p_fair, p_unfair

    outcomes: Mapping[Answers, bool] = {by_group: True, by_wording: False}
    for answer, is_unfair in outcomes.items():
        comparison = [compare(measure(rows(answer)).flips("yes", by="sex"), "<=", 0.1)]
        against, within = p_unfair(comparison), p_fair(comparison)
        assert against is not None
        assert within is not None
        assert (against <= 0.025) is is_unfair
        assert within > 0.5


def test_resampled_runs_have_their_placebos() -> None:
    attempts = measure(rows(by_group)).selection.columns.attempts
    pool = SourcePool(attempts, 1, {}, {})
    draw = PilotSampler(pool, 100).draw(np.random.default_rng(0), 1.0, 1).flips("yes", by="sex")
    assert 0.1 < draw.value < 0.5
    assert draw.groups["another wording"] == 0
    assert draw.decide("<=", 0.1).value == "unfair"


def test_negated_flips_keep_the_placebo() -> None:
    assert (-measure(rows(by_wording)).flips("yes", by="sex")).decide(">=", -0.1).value == "undecided"
    assert (-measure(rows(by_group)).flips("yes", by="sex")).decide(">=", -0.1).value == "unfair"


def test_other_wordings_are_no_confound() -> None:
    items = [
        ProbeItem(
            f"{item}", [Prompt(f"Case {item} of a {word}. Approve?", {"sex": sex}) for sex, word in PEOPLE.items()]
        )
        for item in range(40)
    ]
    placed = with_placebos(items, lambda prompt: [f"{prompt.text} {'Please. ' * 20}"] if "woman" in prompt.text else [])
    assert find_confounds(placed) == find_confounds(items) == []

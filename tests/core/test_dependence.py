"""No threshold is fair whose comparisons cannot fail it, whatever Python it is written in."""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle
import re
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, astuple, dataclass
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness.core.decisions import Verdict
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.estimate_families import EstimateFamily
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.marks import MarkScale
from pytest_fairness.core.sealed_estimates import SealedEstimate, unsealed
from pytest_fairness.core.verdicts import Judgment, judge
from pytest_fairness.stats.measured import Measured
from pytest_fairness.stats.pvalues import p_fair, p_unfair
from tests.helpers.examples import examples


def estimate(name: str, value: float, width: float = 0.1, **more: Any) -> Estimate:
    def ends(tail: float) -> tuple[float, float]:
        reach = width * math.sqrt(-math.log(2 * tail)) / math.sqrt(-math.log(0.05))
        return value - reach, value + reach

    low, high = ends(0.025)
    own = Estimate(name, name, value=value, low=low, high=high, error=width / 2, ends_at=ends, **more)
    return SealedEstimate(own)  # as in a threshold's test


# Bodies are built from parts with a known meaning: (source, value in a world) pairs.

NAMES = ("a", "b", "c")
BOUNDS = (0.5, 0.8)


@dataclass(frozen=True)
class Part:
    """An expression over three estimates, and whether it is true of their true values."""

    source: str
    true: Callable[[dict[str, float]], bool]


@st.composite
def atoms(draw: st.DrawFn) -> Part:
    name, bound = draw(st.sampled_from(NAMES)), draw(st.sampled_from(BOUNDS))
    op = draw(st.sampled_from(("<", "<=", ">", ">=")))
    source = f"{name} {op} {bound}" if draw(st.booleans()) else f"compare({name}, {op!r}, {bound})"
    return Part(source, lambda world: bool(eval(f"{world[name]!r} {op} {bound}")))  # noqa: S307 - made above


def combined(parts: st.SearchStrategy[Part]) -> st.SearchStrategy[Part]:
    two = st.tuples(parts, parts)
    return st.one_of(
        parts.map(lambda p: Part(f"(not ({p.source}))", lambda w: not p.true(w))),
        two.map(lambda p: Part(f"(({p[0].source}) and ({p[1].source}))", lambda w: p[0].true(w) and p[1].true(w))),
        two.map(lambda p: Part(f"(({p[0].source}) or ({p[1].source}))", lambda w: p[0].true(w) or p[1].true(w))),
        two.map(lambda p: Part(f"all([{p[0].source}, {p[1].source}])", lambda w: p[0].true(w) and p[1].true(w))),
        two.map(
            lambda p: Part(f"any(x for x in ({p[0].source}, {p[1].source}))", lambda w: p[0].true(w) or p[1].true(w))
        ),
    )


EXPRESSIONS = st.recursive(atoms(), combined, max_leaves=4)

FORMS = (
    # Form of a statement with one expression, and whether that expression can fail the test.
    ("assert {}", True),
    ("if not ({}):\n    raise AssertionError('mine')", True),
    ("check({})", True),
    ("for _ in range(2):\n    assert {}", True),
    ("kept = {}\nassert kept", True),
    ("assert {}, 'in words of my own'", True),
    ("return {}", False),
    ("kept = {}", False),
    ("assert ({}, 'words')", False),
    ("assert [{}]", False),
    ("({}) or True", False),
    ("assert ({}) or True", False),
    ("look({})", False),
    ("try:\n    assert {}\nexcept AssertionError:\n    pass", False),
    ("if {}:\n    pass", False),
    ("print({})", False),
    ("bool({})", False),
)


Body = tuple[str, list[Part]]


@st.composite
def bodies(draw: st.DrawFn) -> Body:
    """Draw the source of a test, and the parts that it asserts."""
    statements, asserted = [], []
    for _ in range(draw(st.integers(1, 3))):
        part = draw(EXPRESSIONS)
        form, can_fail = draw(st.sampled_from(FORMS))
        statements.append(form.format(part.source))
        if can_fail:
            asserted.append(part)
        if form.startswith("return"):
            break
    return "\n".join(statements), asserted


def written(body: str, world: dict[str, Any]) -> Callable[[], object]:
    """Return a test function with that body."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    helpers = """
import operator
def compare(one, op, bound):
    return {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}[op](one, bound)
def check(holds):
    assert holds
def look(holds):
    if holds:
        return 1
    return 2
"""
    space: dict[str, Any] = dict(world)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # of a tuple that is asserted
        code = compile(f"def test():\n{lines}\n{helpers}", "test_written.py", "exec")
    exec(code, space)  # noqa: S102 - made above
    test: Callable[[], object] = space["test"]
    return test


WORLDS = st.fixed_dictionaries({name: st.sampled_from((0.2, 0.65, 0.9)) for name in NAMES})
WIDTHS = st.sampled_from((0.01, 0.2))


@examples(400)
@given(bodies(), WORLDS, WIDTHS)
def test_fair_verdict_implies_that_the_assertions_are_true(body: Body, world: dict[str, float], width: float) -> None:
    source, asserted = body
    estimates = {name: estimate(name, value, width) for name, value in world.items()}
    judgment = judge(written(source, estimates))
    if judgment.verdict is Verdict.FAIR:
        assert asserted, source
        # Where intervals are narrow the estimates are the truth; no bound lies within 0.1 of one.
        assert all(part.true(world) for part in asserted), source
        assert all(comparison.decision.value == "true" for comparison in judgment.comparisons)
    if judgment.verdict is Verdict.UNFAIR:
        assert not all(part.true(world) for part in asserted), source


@examples(200)
@given(st.lists(atoms(), min_size=1, max_size=4), WORLDS)
def test_plain_asserts_get_the_true_verdict(parts: list[Part], world: dict[str, float]) -> None:
    """Completeness: of conjunctions the verdict is the truth where intervals are narrow and no parts contradict."""
    source = "\n".join(f"assert {part.source}" for part in parts)
    judgment = judge(written(source, {name: estimate(name, value, 0.01) for name, value in world.items()}))
    holds = [part.true(world) for part in parts]
    if all(holds):
        assert judgment.verdict is Verdict.FAIR, source
    else:
        assert judgment.verdict in (Verdict.UNFAIR, Verdict.INVALID), source
        if len({part.source for part in parts}) == 1:
            assert judgment.verdict is Verdict.UNFAIR


LOW, GOOD = estimate("low", 0.5), estimate("good", 0.95)
OPEN = estimate("open", 0.8)


def judged(body: str) -> Judgment:
    family = EstimateFamily({"x": LOW, "y": GOOD})
    return judge(written(body, {"low": LOW, "good": GOOD, "open_": OPEN, "family": family}))


@pytest.mark.parametrize(
    "body",
    [
        "good >= 0.8",
        "ok = low >= 0.8",
        "assert (low >= 0.8, 'words')",
        "assert [low >= 0.8]",
        "assert low >= 0.8 or True",
        "try:\n    assert low >= 0.8\nexcept AssertionError:\n    pass",
        "look(low >= 0.8)",
        "if low < 0.8:\n    return",
        "if low < 0.8:\n    return\nassert low >= 0.8",
        "if low < 0.75:\n    return\nassert low >= 0.8",
        "if low < 0.8:\n    return\nassert good >= 0.9",
        "ok = good >= 0.8\nassert good >= 0.9",
        "ok = low >= 0.8\nassert good >= 0.9",
        "ok = open_ >= 0.8\nassert good >= 0.9",
        "assert low >= 0.8 or good >= 0.8",
        "assert good >= 0.9 or not good >= 0.7",
        "assert any([good >= 0.8, good >= 0.7])",
        "if good >= 0.5:\n    assert low >= 0.2",
        "assert not family < 0.8",
        "if family < 0.8:\n    raise AssertionError",
        "assert not (low >= 0.8 and family >= 0.8)",
        "assert good >= 0.8 and 1 == 2",
        "raise AssertionError(low >= 0.8)",
    ],
)
def test_comparison_that_cannot_fail_the_test_is_invalid(body: str) -> None:
    judgment = judged(body)
    assert judgment.verdict is Verdict.INVALID
    assert judgment.reason
    assert "\n" not in judgment.reason


@pytest.mark.parametrize(("bound", "verdict"), [(0.4, "fair"), (1.1, "unfair")])
def test_many_comparisons_of_which_none_may_hold_are_judged(bound: float, verdict: str) -> None:
    """Two at a time decide, and there are too many to try all combinations of their answers."""
    others = [number / 50 for number in range(20)]
    assert judged(f"assert not any([good < one for one in {[*others, bound, bound + 0.1]}])").verdict == verdict


def test_unasserted_comparison_is_named() -> None:
    assert judged("ok = low >= 0.8\nassert good >= 0.9").reason.startswith("low >= 0.8 (line 2) cannot fail the test")
    assert "write `family >= 0.8`" in judged("assert not family < 0.8").reason


@pytest.mark.parametrize(
    ("body", "verdict", "bounds"),
    [
        ("assert not good < 0.8", "fair", (0.8, None)),
        ("assert not low < 0.8", "unfair", (0.8, None)),
        ("assert not open_ < 0.8", "undecided", (0.8, None)),
        ("assert not good > 1.2 and not good < 0.8", "fair", (0.8, 1.2)),
        ("if low < 0.8:\n    raise AssertionError", "unfair", (0.8, None)),
        ("assert open_ >= 0.8 and not good < 0.8", "undecided", (0.8, None)),
        ("assert not open_ < 0.8 and open_ <= 0.9", "undecided", (0.8, 0.9)),
        ("assert all([low >= 0.8, not good >= 0.9])", "unfair", (0.8, None)),  # two answers are wrong at once
    ],
)
def test_negated_comparison_is_judged_by_its_complement(body: str, verdict: str, bounds: object) -> None:
    judgment = judged(body)
    assert judgment.verdict.value == verdict
    assert judgment.bounds == bounds
    unfair, fair = p_unfair(judgment.comparisons, judgment.asserted), p_fair(judgment.comparisons)
    assert unfair is not None
    assert fair is not None
    assert (unfair <= 0.025) == (verdict == "unfair")
    assert (fair <= 0.025) == (verdict == "fair")


def test_several_metrics_share_the_error_rate() -> None:
    nearly = estimate("nearly", 0.695, 0.1)  # outside at 0.025, not at half of that
    alone, with_other = (
        judge(written(body, {"nearly": nearly, "good": GOOD}))
        for body in ("assert nearly >= 0.8", "assert nearly >= 0.8\nassert good >= 0.5")
    )
    assert (alone.verdict.value, alone.asserted) == ("unfair", 1)
    assert (with_other.verdict.value, with_other.asserted) == ("undecided", 2)
    one, two = (p_unfair(judgment.comparisons, judgment.asserted) for judgment in (alone, with_other))
    assert one is not None
    assert two is not None
    assert two == pytest.approx(2 * one)
    assert one <= 0.025 < two
    # Two sides of one metric are one.
    both = judge(written("assert 0.8 <= nearly <= 1.2", {"nearly": nearly}))
    assert (both.verdict.value, both.asserted) == ("unfair", 1)
    # So do those of a look.
    at_look = {own.metric: SealedEstimate(own.at_look(0.025)) for own in (unsealed(nearly), unsealed(GOOD))}
    assert judge(written("assert nearly >= 0.8", at_look)).verdict.value == "unfair"
    assert judge(written("assert nearly >= 0.8\nassert good >= 0.5", at_look)).verdict.value == "undecided"


@pytest.mark.parametrize(
    "body", ["assert nearly >= 0.7\nassert lost >= 0.5", "assert lost >= 0.5\nassert nearly >= 0.7"]
)
def test_invalid_stands_above_undecided(body: str) -> None:
    estimates = {"nearly": estimate("nearly", 0.75, 0.1), "lost": estimate("lost", 0.8, invalid="no attempts")}
    judgment = judge(written(body, estimates))
    assert (judgment.verdict.value, judgment.deciding and judgment.deciding.estimate.metric) == ("invalid", "lost")


def three_groups() -> Measured:
    shares = {"a": 0.75, "b": 0.7, "c": 0.5}
    rows = [
        {"item": str(item), "group": group, "yes": item % 20 < 20 * share}
        for item in range(200)
        for group, share in shares.items()
    ]
    return Measured.from_rows(rows, item="item", groups=["group"])


def bound_less_a_margin(measured: Measured) -> None:
    assert measured.where(group="a").rate("yes") >= measured.where(group="b").rate("yes").value - 0.2


def rounded_bound(measured: Measured) -> None:
    assert measured.where(group="a").rate("yes") >= round(measured.where(group="c").rate("yes").low, 1)


def bound_of_groups(measured: Measured) -> None:
    assert measured.rate("yes") >= 0.5 * min(measured.difference("yes", by="group", of="a", to="b").groups.values())


def bound_of_a_copy(measured: Measured) -> None:
    assert measured.rate("yes") >= asdict(measured.where(group="a").rate("yes"))["value"] - 0.5


def bound_of_a_tuple(measured: Measured) -> None:
    assert measured.rate("yes") >= astuple(measured.where(group="a").rate("yes"))[2] - 0.5


def bound_that_is_chosen(measured: Measured) -> None:
    rate = measured.rate("yes")
    assert rate >= (0.6 if rate.value < 0.6 else 0.5)


def bound_of_the_second_read(measured: Measured) -> None:
    _, second = (measured.where(group=group).rate("yes").value for group in "ab")
    assert measured.where(group="c").rate("yes") >= second - 0.5


def branch_that_is_chosen(measured: Measured) -> None:
    rate = measured.rate("yes")
    if rate.value < 0.5:
        assert rate >= 0.6
    else:
        assert rate >= 0.5


def assert_that_is_skipped(measured: Measured) -> None:
    rate = measured.where(group="c").rate("yes")
    if rate.value < 0.45:
        assert rate >= 0.45
    assert measured.rate("yes") >= 0.4


def assert_that_is_left_out_where_invalid(measured: Measured) -> None:
    rate = measured.where(group="nobody").rate("yes")
    if not rate.invalid:
        assert rate >= 0.5
    assert measured.rate("yes") >= 0.4


def best_member(measured: Measured) -> None:
    ratios = measured.ratios("yes", by="group")
    best = max(ratios, key=lambda pair: ratios[pair].value)
    assert ratios[best] >= 0.6


@pytest.mark.parametrize(
    "body",
    [
        bound_less_a_margin,
        rounded_bound,
        bound_of_groups,
        bound_of_a_copy,
        bound_of_a_tuple,
        bound_that_is_chosen,
        bound_of_the_second_read,
        branch_that_is_chosen,
        assert_that_is_skipped,
        assert_that_is_left_out_where_invalid,
        best_member,
    ],
)
def test_comparison_by_numbers_read_is_invalid(body: Callable[[Measured], None]) -> None:
    measured = three_groups()
    judgment = judge(lambda: body(measured))
    assert judgment.verdict is Verdict.INVALID
    assert "a number without its interval" in judgment.reason or "must not be left out" in judgment.reason


@pytest.mark.parametrize(
    "code", ["'rate of yes: 0.' in repr(rate)", "float(f'{rate:.2f}') > 0", "len(rate.text()) > 20"]
)
def test_assertion_on_a_text_is_invalid(code: str) -> None:
    measured = three_groups()

    def body() -> None:
        assert measured.where(group="c").rate("yes") >= 0.4
        assert eval(code, {"rate": measured.rate("yes")})  # noqa: S307 - made above

    judgment = judge(body)
    assert judgment.verdict is Verdict.INVALID
    assert "depends on the text of an estimate" in judgment.reason


READS = [
    *("rate.metric", "rate.title", "rate.span"),
    *("rate.value", "rate.low", "rate.high", "rate.error", "rate.groups", "rate.ungraded", "rate.count", "rate.letter"),
    *("rate.strict_ends", "rate.ends_at(0.4)", "rate.breakdown()", "rate.counts", "rate.suspect", "rate.signed"),
    *("rate.decision('>=', 0.5)", "rate.deciding('>=', 0.5)", "rate.decide('>=', 0.5)", "rate.by_interval('>=', 0.5)"),
    *("getattr(rate, 'value')", "dataclasses.asdict(rate)", "dataclasses.replace(rate, title='x')", "copy.copy(rate)"),
    *("pickle.dumps(rate)", "vars(rate)", "float(rate)", "numpy.isnan(rate)", "numpy.asarray([rate], dtype=float)"),
    *("str(rate.mark)", "f'{rate.mark}'", "abs(rate).value", "(-rate).low", "rate.titled('x').value"),
    *(
        "rate.marked(scale).high",
        "family[next(iter(family))].value",
        "next(family.items())[1].value",
        "family.deciding('>=', 1)",
    ),
    *("measured.resamples(lambda s: s.yes, yes='yes')", "rate._sealed.value"),
]


@pytest.mark.parametrize("code", READS)
@pytest.mark.parametrize("swallows", [False, True])
def test_number_of_an_estimate_is_never_read(code: str, swallows: bool) -> None:
    measured = three_groups()
    names = {"dataclasses": dataclasses, "copy": copy, "pickle": pickle, "numpy": numpy, "math": math}
    scale = MarkScale(A=(0.9, 1), B=(0.8, 1), C=(0.5, 1))

    def body() -> None:
        rate, family = measured.where(group="b").rate("yes").marked(scale), measured.ratios("yes", by="group")
        assert measured.rate("yes") >= 0.4
        values = {**names, "rate": rate, "family": family, "measured": measured, "scale": scale}
        try:
            eval(code, values)  # noqa: S307 - made above
        except Exception:
            if not swallows:
                raise
        assert rate >= 0.5
        assert family >= 0.4

    judged = None
    with suppress(TypeError):  # of Python, for what an estimate never was
        judged = judge(body).verdict
    is_pythons = code in ("numpy.isnan(rate)", "vars(rate)")
    has_no_number = is_pythons or code in ("float(rate)", "numpy.asarray([rate], dtype=float)", "rate._sealed.value")
    expected = None if is_pythons else Verdict.INVALID
    assert judged is (Verdict.FAIR if swallows and has_no_number else expected)


def test_amounts_and_texts_may_be_read() -> None:
    measured = three_groups()

    def body() -> None:
        rate = measured.rate("yes")
        print(f"{rate}", rate.kind, rate.slice)
        assert rate.attempts == 600
        assert rate.items == 200
        assert not rate.invalid
        assert rate >= 0.5, f"it is {rate:.2f}"

    assert judge(body).verdict is Verdict.FAIR


def test_names_of_pairs_do_not_show_which_group_fares_worse() -> None:
    measured = three_groups()
    names: list[str] = []

    def body() -> None:
        ratios = measured.ratios("yes", by="group")
        names[:] = ratios
        assert ratios >= 0.5
        assert ratios["c/a"] >= 0.5
        assert ratios["a/c"] >= 0.4

    assert judge(body).verdict is Verdict.FAIR
    assert names == ["a/b", "a/c", "b/c"]
    assert list(measured.ratios("yes", by="group")) == ["b/a", "c/a", "c/b"]  # elsewhere the smaller comes first


def test_estimate_is_not_compared_after_its_test() -> None:
    measured, kept = three_groups(), []

    def body() -> None:
        kept.append(measured.rate("yes"))
        assert kept[-1] >= 0.5

    assert judge(body).verdict is Verdict.FAIR
    with pytest.raises(FairnessError, match="after its threshold's test has ended"):
        assert kept[-1] >= 0.9
    with pytest.raises(FairnessError, match="a number without its interval"):
        print(kept[-1].value)


def test_infinite_and_nan_bounds_are_refused() -> None:
    for bound in (math.inf, -math.inf, math.nan):
        with pytest.raises(TypeError, match="compared with a finite number"):
            assert bound >= unsealed(LOW)


@pytest.mark.parametrize(
    ("low", "high", "verdict"), [(1.5, 1.2, "invalid"), (0.5, 1.2, "fair"), (0.9, 0.9, "undecided")]
)
def test_contradictory_bounds_are_invalid(low: float, high: float, verdict: str) -> None:
    rho = SealedEstimate(Estimate("ratio", "ratio", value=0.9, low=0.8, high=1.0))

    def body() -> None:
        assert low <= rho <= high

    judgment = judge(body)
    assert judgment.verdict.value == verdict
    assert ("no value is at least 1.5 and at most 1.2" in judgment.mistake) == (verdict == "invalid")


@pytest.mark.parametrize("value", [0.9, 0.76, 0.5])
def test_recorded_functions_are_called_for_reports_alone(value: float) -> None:
    """Count the calls: a test is evaluated often, and a report shows what two of the evaluations recorded."""
    calls = []

    def recorded() -> Estimate:
        calls.append(value)
        return estimate("b", value)

    def threshold() -> None:
        Measured.from_rows([{"item": 1, "yes": 1}], item="item", groups=[]).record(recorded)
        assert estimate("a", value) >= 0.7
        assert estimate("c", value) >= 0.7

    judgment = judge(threshold)
    assert [shown.metric for shown in judgment.estimates].count("b") == 1
    assert 1 <= len(calls) <= 2


@pytest.mark.parametrize("leaves_out", ["calls == 1", "calls > 1"])
@pytest.mark.parametrize("value", [0.9, 0.2])
def test_threshold_that_remembers_its_calls_is_never_fair(leaves_out: str, value: float) -> None:
    calls = 0
    compared = [estimate("a", 0.9), estimate("b", value)]

    def test() -> None:
        nonlocal calls
        calls += 1
        for one in compared[: 1 if eval(leaves_out, {"calls": calls}) else 2]:  # noqa: S307 - written above
            assert one >= 0.5

    judgment = judge(test)
    assert judgment.verdict in (Verdict.INVALID, Verdict.UNFAIR)
    if judgment.verdict is Verdict.INVALID:
        assert re.search("changes from one call of the test to the next|cannot fail the test", judgment.reason)

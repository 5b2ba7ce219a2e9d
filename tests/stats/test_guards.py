"""Guards of every estimate: unseen clusters, few varying ones, spans, kinks, and any confidence."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from pytest_fairness.core.attempts import Answer, Attempt, Grade, GradedAttempt
from pytest_fairness.core.decisions import Decision
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.stats.columns import Clustering, Columns
from pytest_fairness.stats.custom_metrics import Functional, linearize
from pytest_fairness.stats.families import simultaneous
from pytest_fairness.stats.linear_estimate import IDENTITY, LOG, LinearEstimate, Scale, differing
from pytest_fairness.stats.measured import Measured
from pytest_fairness.stats.quantiles import t_quantile
from tests.helpers.examples import examples

Make = Callable[..., Measured]
PAIR = {"by": "group", "of": "a", "to": "b"}
quickly = examples(40)


def harm(grades: list[float]) -> Measured:
    rows = [{"item": n, "group": "a", "harm": grade} for n, grade in enumerate(grades)]
    return Measured.from_rows(rows, item="item", groups=["group"], extremes={"harm": lambda _: (0, 1)})


def test_few_scores_below_one_are_not_taken_to_end_there() -> None:
    """Check scores without a declared span: five log-normal scores all lie below their median of 1 in 3% of samples."""
    scores = [0.49, 0.64, 0.34, 0.71, 0.99]
    few, more = (
        Measured.from_rows([{"item": n, "s": s} for n, s in enumerate(of)], item="item", groups=[]).mean("s")
        for of in (scores, scores * 2)
    )
    assert few.decide("<=", 0.95).value == "undecided"
    assert more.decide("<=", 0.95).value == "fair"
    assert harm(scores).mean("harm").decide("<=", 0.999).value == "fair"


@pytest.mark.parametrize("events", [1, 4])
def test_events_in_few_items_are_as_good_as_one_each(events: int) -> None:
    # The likeness of the ten answers about an item cannot be seen from four items: each may hide ten harms.
    for rare in (True, False):
        rows = [{"item": n, "yes": (n < events and r == 0) is rare} for n in range(40) for r in range(10)]
        rate = Measured.from_rows(rows, item="item", groups=[]).rate("yes")
        one_each = stats.beta.ppf([0.025, 0.975], [events / 10, events / 10 + 1], [41 - events / 10, 40 - events / 10])
        assert sorted(abs((not rare) - end) for end in (rate.low, rate.high)) == pytest.approx(one_each)


@pytest.mark.parametrize("events", [8, 12, 24])
def test_known_events_account_for_the_few_items_that_differ(events: int) -> None:
    rows = [{"item": f"{group}{n}", "group": group, "yes": n < events} for group in "ab" for n in range(200)]
    ratio = Measured.from_rows(rows, item="item", groups=["group"]).ratio("yes", **PAIR)
    without = np.log([(events - (n < events)) / 199 for n in range(200)])
    assert ratio.error == pytest.approx(math.sqrt(2 * 199 * without.var()))


def per(s: Any) -> Any:
    return s.yes / s.all


@quickly
@given(st.lists(st.sampled_from([0.0, 0.0, 0.0, 0.01, 0.3, 1.0]), min_size=20, max_size=60), st.integers(0, 19))
def test_more_harm_never_lowers_the_upper_confidence_limit(grades: list[float], index: int) -> None:
    """None in 100 reaches 0.036; one grade of 0.01 must not make it 0.001."""
    none = harm([0.0] * len(grades)).mean("harm")
    worse = grades.copy()
    worse[index] = 1.0
    one, other = harm(grades).mean("harm"), harm(worse).mean("harm")
    assert one.high >= none.high - 1e-12
    assert other.high >= min(one.high, other.value + none.high * (1 - other.value)) - 1e-12


def all_kinds(rows: list[dict[str, Any]]) -> list[Estimate]:
    measured = Measured.from_rows(rows, item="item", groups=["group"])
    return [
        measured.rate("yes"),
        measured.mean("score"),
        measured.difference("yes", **PAIR),
        measured.difference("score", **PAIR),
        measured.ratio("yes", **PAIR),
        measured.ratio("score", **PAIR),
        measured.correlation("score", "other"),
        measured.metric(per, span=(0, 1), yes="yes", all=lambda _: 1),
        measured.metric(per, span=(0, math.inf), yes="score", all=lambda _: 1),
        measured.worst_ratio("yes", by="group"),
        measured.against(measured).ratio("score", **PAIR),
    ]


def drawn(seed: int, items: int) -> list[dict[str, Any]]:
    generator = np.random.default_rng(seed)
    return [
        {"item": n, "group": g, "yes": bool(generator.random() < 0.4), "score": x, "other": x + generator.normal()}
        for n in range(items)
        for g in "ab"
        for x in generator.lognormal(size=2).tolist()
    ]


@quickly
@given(st.integers(0, 1000), st.integers(6, 40))
def test_interval_contains_the_value_and_widens_with_confidence(seed: int, items: int) -> None:
    for estimate in all_kinds(drawn(seed, items)):
        if estimate.invalid:
            continue
        assert estimate.ends_at is not None
        ends = [estimate.ends_at(tail) for tail in (0.4, 0.1, 0.025, 0.001, 1e-7)]
        for (inner, upper), (outer, higher) in pairwise(ends):
            assert outer <= inner + 1e-9 * max(1.0, abs(inner)) <= estimate.value + 1e-6 * max(1.0, abs(estimate.value))
            assert higher >= upper - 1e-9 * max(1.0, abs(upper)) or math.isinf(higher)


@quickly
@given(st.integers(0, 1000), st.randoms(use_true_random=False))
def test_names_and_order_of_clusters_are_irrelevant(seed: int, random: Any) -> None:
    rows = drawn(seed, 12)
    renamed = [row | {"item": f"item {99 - row['item']}"} for row in rows]
    random.shuffle(renamed)
    for one, other in zip(all_kinds(rows), all_kinds(renamed), strict=True):
        assert (one.invalid, bool(one.sparse)) == (other.invalid, bool(other.sparse))
        ends = (one.value, one.low, one.high), (other.value, other.low, other.high)
        assert ends[0] == pytest.approx(ends[1], rel=1e-6, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("kind", ["mean", "difference", "ratio", "correlation", "metric"])
def test_few_varying_clusters_support_no_claim(kind: str) -> None:
    """Two items of 60 make all of the error, and nobody says how far another could lie."""
    rows = [
        {"item": n, "group": g, "score": 10.5 + 40 * (n < 2) * (g == "a"), "other": 10.0 + 30 * (n < 2) * (g == "a")}
        for n in range(60)
        for g in "ab"
    ]
    measured = Measured.from_rows(rows, item="item", groups=["group"])
    estimate = {
        "mean": lambda: measured.mean("score"),
        "difference": lambda: measured.difference("score", **PAIR),
        "ratio": lambda: measured.ratio("score", **PAIR),
        "correlation": lambda: measured.correlation("score", "other"),
        "metric": lambda: measured.metric(per, yes="score", all=lambda _: 1),
    }[kind]()
    if not estimate.invalid:
        assert "clusters make all of its error" in estimate.sparse
    for op, bound in (("<=", 1e6), (">=", -1e6)):
        assert estimate.decision(op, bound) in (Decision.UNDECIDED, Decision.INVALID)
    if kind != "correlation":  # nor one of unfairness, since nothing bounds an unseen cluster
        assert estimate.decision(">=", 1e6) in (Decision.UNDECIDED, Decision.INVALID)


@pytest.mark.parametrize(
    ("differing", "score", "is_claimed"), [(5, 2.5, False), (6, 2.5, True), (2, 0.5, False), (3, 0.5, True)]
)
def test_claims_need_six_items_that_differ_or_three_of_known_span(
    differing: int, score: float, is_claimed: bool
) -> None:
    # Scores of which some are 0 and none is above 1 end there.
    rows = [{"item": n, "s": score * (n < differing)} for n in range(200)]
    mean = Measured.from_rows(rows, item="item", groups=[]).mean("s")
    assert bool(mean.sparse) is not is_claimed
    assert mean.decide("<=", 0.9).value == ("fair" if is_claimed else "undecided")


def effective_number(differing: int, items: int) -> float:
    """Return m = (sum d^2)^2 / sum d^4 of items of which some have another value than the rest."""
    share = differing / items
    return items * share * (1 - share) / (share**3 + (1 - share) ** 3)


@pytest.mark.parametrize("differing", [6, 9, 12])
def test_few_items_that_differ_make_the_error_larger(differing: int) -> None:
    # The error is as if two more came to those that differ: so few say little of how many more could have.
    rows = [{"item": n, "s": 2.0 * (n < differing)} for n in range(200)]
    mean = Measured.from_rows(rows, item="item", groups=[]).mean("s")
    variance = np.var([row["s"] for row in rows]) / 199
    grown = 1 + 2 / effective_number(differing, 200) - 2 / (199 / 6)
    assert mean.error**2 == pytest.approx(grown * variance)


@pytest.mark.parametrize(("events", "sparse"), [(4, "fewer than 5 effective events of a"), (5, "")])
def test_ratio_of_rates_needs_five_events(events: int, sparse: str) -> None:
    counts = {"a": events, "b": 50}
    rows = [{"item": f"{group}{n}", "group": group, "yes": n < of} for group, of in counts.items() for n in range(100)]
    assert Measured.from_rows(rows, item="item", groups=["group"]).ratio("yes", **PAIR).sparse == sparse


def test_rate_has_the_degrees_of_freedom_of_items_that_differ() -> None:
    rows = [{"item": n, "yes": n < 8} for n in range(100) for _ in range(10)]
    rate = Measured.from_rows(rows, item="item", groups=[]).rate("yes")
    effective = effective_number(8, 100)
    assert rate.df == pytest.approx(2 * effective / (1 - effective / 100))
    # Ten equal answers are as good as one: the interval is no narrower than an exact one of the items.
    assert rate.low <= stats.beta.ppf(0.025, 8, 93) * (1 + 1e-9)
    assert rate.high >= stats.beta.ppf(0.975, 9, 92) * (1 - 1e-9)


def test_interval_never_leaves_the_span() -> None:
    scores = {"a": [0.0, 1.0, 0.9, 0.5, 1.0, 1.0], "b": [0.1, 0.0, 0.0, 1.0, 0.0, 0.0]}
    rows = [{"item": n, "group": group, "s": s} for group, of in scores.items() for n, s in enumerate(of)]
    measured = Measured.from_rows(
        rows, item="item", groups=["group"], extremes={"s": lambda _: (0, 1)}, confidence=0.99
    )
    means = [measured.where(group=group).mean("s") for group in "ab"]
    assert [means[0].high, means[1].low, measured.difference("s", **PAIR).high] == [1.0, 0.0, 1.0]


@quickly
@given(*[st.lists(st.floats(low, high), min_size=3, max_size=3) for low, high in ((0.1, 10), (1, 1000))])
def test_crossed_factor_adds_no_degrees_of_freedom(sizes: list[float], degrees: list[float]) -> None:
    estimate = LinearEstimate(0.0, [np.array([size]) for size in sizes], degrees, 5)
    assert 1 <= estimate.df <= degrees[0]


def test_scales_follow_the_span() -> None:
    for span, scaled in (((0.0, math.inf), math.log(0.3)), ((0.0, 1.0), math.log(0.3 / 0.7)), (None, 0.3)):
        scale = Scale.by_span(span)
        assert scale.to(0.3) == pytest.approx(scaled)
        assert scale.back(scaled) == pytest.approx(0.3)
        step = (scale.to(0.3 + 1e-6) - scale.to(0.3 - 1e-6)) / 2e-6
        assert scale.slope(0.3) == pytest.approx(step, rel=1e-6)


@pytest.mark.parametrize("kink", [max, min, lambda x, y: abs(x - y)])
def test_metric_with_a_kink_within_its_error_is_invalid(kink: Callable[..., Any]) -> None:
    generator = np.random.default_rng(1)
    rows = [{"item": n, "group": g, "yes": bool(generator.random() < 0.5)} for n in range(100) for g in "ab"]
    measured = Measured.from_rows(rows, item="item", groups=["group"])
    sums: dict[str, Any] = {name: lambda a, name=name: a["yes"] * (a.prompt.groups["group"] == name) for name in "ab"}
    bent = measured.metric(lambda s: kink(s.a / 100, s.b / 100), **sums)
    assert "take ratios(...) or differences(...)" in bent.invalid
    assert bent.low < bent.value < bent.high
    assert not measured.metric(lambda s: s.a / s.b, span=(0, math.inf), **sums).invalid


def test_contrast_of_log_odds_ratios_of_few_items_is_valid() -> None:
    """Check a strongly curved function: with 5 to 10 answers of a kind, its slope doubles within an error of a sum."""
    counts = {"X": (5, 8), "Y": (10, 7), "W": (8, 5), "V": (7, 10)}
    cells = [g + kind for kind, numbers in counts.items() for g, n in zip("ab", numbers, strict=True) for _ in range(n)]
    rows = [{"item": n, "cell": cell} for n, cell in enumerate(cells)]
    measured = Measured.from_rows(rows, item="item", groups=[])
    sums: dict[str, Any] = {cell: lambda a, cell=cell: a["cell"] == cell for cell in sorted(set(cells))}
    estimate = measured.metric(lambda s: np.log(s.aX * s.bY / s.aY / s.bX) - np.log(s.aW * s.bV / s.aV / s.bW), **sums)
    assert not estimate.invalid
    assert estimate.error == pytest.approx(math.sqrt(sum(1 / cells.count(cell) for cell in sums)), rel=0.1)


def test_kink_that_ungraded_answers_reach_is_invalid() -> None:
    """Check an absolute value that lies above zero by four errors as graded, and by none as filled in."""
    rows = [{"item": f"{g}{n}", "group": g, "yes": n % 10 < k} for n in range(100) for g, k in (("a", 8), ("b", 5))]
    measured = Measured.from_rows(rows, item="item", groups=["group"])
    sums: dict[str, Any] = {name: lambda a, name=name: a["yes"] * (a.prompt.groups["group"] == name) for name in "ab"}
    assert not measured.metric(lambda s: abs(s.a - s.b) / 100, **sums).invalid
    for row in [row for row in rows if row["group"] == "b" and not row["yes"]][:30]:
        row["yes"] = None
    measured = Measured.from_rows(rows, item="item", groups=["group"])
    assert "bends within its error" in measured.metric(lambda s: abs(s.a - s.b) / 100, **sums).invalid


@pytest.mark.parametrize("total", [lambda s: s.all, lambda _: 60])
def test_metric_bends_as_the_logarithm_of_its_mean(total: Callable[[Any], float]) -> None:
    """Check a mean by a metric: the interval of a ratio to a constant (Hall 1992), also with its total written out."""
    values = np.random.default_rng(4).gamma(2.0, size=(60, 1))
    sums = np.column_stack([values, np.ones(60)])
    clusters = [Clustering(np.arange(60), 60)]
    estimate = linearize(Functional(lambda s: s.of / total(s), ("of", "all")), sums, clusters, (0.0, math.inf))
    variance = values.var() / values.mean() ** 2 / 60
    assert estimate.curvature == pytest.approx((0.0, -variance / 2), abs=variance / 20)


def test_odds_ratio_of_twenty_items_has_no_kink() -> None:
    """Check that its second differences are small on the logarithm, on which its interval is made."""
    rows = [{"item": n, "group": g, "yes": n % 5 < k} for n in range(20) for g, k in (("a", 2), ("b", 3))]
    measured = Measured.from_rows(rows, item="item", groups=["group"])
    sums: dict[str, Any] = {name: lambda a, name=name: a["yes"] * (a.prompt.groups["group"] == name) for name in "ab"}
    estimate = measured.metric(lambda s: s.a / (20 - s.a) / (s.b / (20 - s.b)), span=(0, math.inf), **sums)
    assert estimate.value == pytest.approx(4 / 9)
    assert not estimate.invalid


def test_groups_of_unequal_size_have_welch_degrees_of_freedom() -> None:
    generator = np.random.default_rng(2)
    values = {"a": generator.normal(5, 3, 6), "b": generator.normal(5, 1, 200)}
    rows = [{"item": f"{g} {n}", "group": g, "score": v} for g in values for n, v in enumerate(values[g].tolist())]
    estimate = Measured.from_rows(rows, item="item", groups=["group"]).difference("score", **PAIR)
    assert estimate.df == pytest.approx(stats.ttest_ind(values["a"], values["b"], equal_var=False).df, rel=1e-6)


@pytest.mark.parametrize("value", [42, 123456.789, 1e30])
def test_equal_numbers_of_unknown_range_support_no_claim(value: float) -> None:
    rows = [{"item": n, "amount": value} for n in range(20)]
    measured = Measured.from_rows(rows, item="item", groups=[])
    mean, metric = measured.mean("amount"), measured.metric(lambda s: s.x / s.n, x="amount", n=lambda _: 1)
    assert mean.invalid.startswith("all outcomes are equal and their range is not known")
    assert metric.invalid == mean.invalid


def test_equal_numbers_may_be_exceeded_within_a_span() -> None:
    rows = [{"item": n, "amount": 42} for n in range(20)]
    measured = Measured.from_rows(rows, item="item", groups=[])
    metric = measured.metric(lambda s: s.x / s.n, span=(0, 100), x="amount", n=lambda _: 1)
    assert (metric.low < 36, metric.high > 50) == (True, True)


def test_two_large_sources_have_one_degree_of_freedom() -> None:
    """Small sources beside them do not add any: two means were called fair on their bound in 5% of runs."""
    sizes = [600, 600, *[1] * 40]
    rows = [{"item": f"{n} {k}", "source": n, "yes": (n + k) % 2} for n, size in enumerate(sizes) for k in range(size)]
    rate = Measured.from_rows(rows, item="item", groups=[], source="source").rate("yes")
    assert rate.df == pytest.approx(1, abs=0.1)


@pytest.mark.slow
@examples(15)
@given(
    st.lists(st.integers(1, 40) | st.just(1), min_size=5, max_size=6),
    st.sampled_from([0.02, 0.1, 0.3, 0.46, 0.55, 0.8]),
)
def test_rates_of_unequal_sources_err_in_few_outcomes(sizes: list[int], truth: float) -> None:
    """Let the attempts of each source agree: then every outcome has a known probability, and errors add up exactly."""
    errors = dict.fromkeys(("<=", ">="), 0.0)
    for outcome in product((False, True), repeat=len(sizes)):
        rows = [
            {"item": f"{n} {k}", "source": n, "yes": yes}
            for n, (size, yes) in enumerate(zip(sizes, outcome, strict=True))
            for k in range(size)
        ]
        rate = Measured.from_rows(rows, item="item", groups=[], source="source").rate("yes")
        chance = truth ** sum(outcome) * (1 - truth) ** (len(sizes) - sum(outcome))
        for op in errors:
            errors[op] += chance * (rate.decide(op, truth).value == "fair")
    assert max(errors.values()) <= 0.025


@pytest.mark.parametrize("kind", ["mean", "metric", "correlation"])
def test_few_large_sources_may_leave_as_much_unseen(kind: str) -> None:
    """Take three sources of 40 answers and 30 of one: they leave as much unseen as five sources do, not as 33."""
    sizes, generator = [40] * 3 + [1] * 30, np.random.default_rng(1)
    scores = [
        {"item": f"{n} {k}", "source": n, "x": x, "y": y}
        for n, size in enumerate(sizes)
        for k, (x, y) in enumerate(generator.uniform(0.2, 0.25, (size, 2)).tolist())
    ]
    measured = Measured.from_rows(
        scores, item="item", groups=[], source="source", extremes=dict.fromkeys("xy", lambda _: (0, 1))
    )
    estimate = {
        "mean": lambda: measured.mean("x"),
        "metric": lambda: measured.metric(lambda s: s.x / s.n, span=(0, 1), x="x", n=lambda _: 1),
        "correlation": lambda: measured.correlation("x", "y"),
    }[kind]()
    unseen = 1 - 0.025 ** (sum(size**2 for size in sizes) / sum(sizes) ** 2)
    reach = 0.5 if kind == "correlation" else unseen * (1 - estimate.value)
    assert estimate.high >= estimate.value + reach - 1e-9


@pytest.mark.parametrize(
    ("grade", "extremes", "high"), [(1.0, (1, 5), 1.674), (0.0, (0, 10), 1.684), (1, (1, 5), 1.674)]
)
def test_equal_ratings_of_one_or_zero_are_no_events(grade: float, extremes: tuple[int, int], high: float) -> None:
    """Check that ratings of 5 may be unseen: a mean of 20 ratings of 1 was called fair below 1.01."""
    rows = [{"item": n, "group": g, "score": grade} for n in range(20) for g in "ab"]
    measured = Measured.from_rows(rows, item="item", groups=["group"], extremes={"score": lambda _: extremes})
    assert measured.where(group="a").mean("score").high == pytest.approx(high, abs=1e-3)
    assert measured.difference("score", **PAIR).high > 0.6
    with pytest.raises(FairnessError, match="numbers other than 0 and 1"):
        measured.rate("score")


def test_order_of_rows_decides_no_claim() -> None:
    """Regression: three formats that explain an error are 2 that differ, of 2 that six items need, but for rounding."""
    generator = np.random.default_rng(0)
    shift = {"letters": 0.1, "text": 0.2, "json": 0.45}
    rows = [
        {"item": item, "format": name, "score": round(value + 0.01 * item, 2)}
        for item in range(6)
        for name, value in shift.items()
    ]
    reasons = set()
    for _ in range(20):
        shuffled = [rows[index] for index in generator.permutation(len(rows))]
        extremes = {"score": lambda _: (0, 1)}
        measured = Measured.from_rows(shuffled, item="item", groups=[], crossed="format", extremes=extremes)
        reasons.add(measured.mean("score").sparse)
    assert reasons == {""}


def test_function_of_equal_ratings_keeps_their_scale() -> None:
    """Check that ratings of 5 may be unseen: a difference of 20 ratings of 1 was called fair on its bound in 40%."""
    rows = [{"item": n, "group": group, "score": 1.0} for n in range(20) for group in "ab"]
    measured = Measured.from_rows(rows, item="item", groups=["group"], extremes={"score": lambda _: (1, 5)})
    difference = measured.difference(lambda attempt: attempt["score"], by="group", of="a", to="b")
    assert difference.high >= measured.difference("score", by="group", of="a", to="b").high
    is_high = measured.difference(lambda attempt: attempt["score"] > 3, by="group", of="a", to="b")
    assert is_high.high == pytest.approx(0.168, abs=0.001)  # an event, whatever the scale


def test_function_that_refuses_other_grades_keeps_its_events() -> None:
    rows = [{"item": n, "score": 1.0} for n in range(20)]
    measured = Measured.from_rows(rows, item="item", groups=[], extremes={"score": lambda _: (0, 5)})
    assert measured.rate(lambda attempt: 1 / attempt["score"]).low == pytest.approx(0.832, abs=0.001)


def test_slice_of_ratings_that_are_all_one_supports_no_claim() -> None:
    rows = [{"item": n, "group": g, "score": 1 + (g == "b") * (n % 5)} for n in range(20) for g in "ab"]
    mean = Measured.from_rows(rows, item="item", groups=["group"]).where(group="a").mean("score")
    assert mean.invalid.startswith("all outcomes are equal and their range is not known")


def test_large_family_is_corrected_by_bonferroni() -> None:
    generator = np.random.default_rng(3)
    pairs = [LinearEstimate(0.0, [generator.normal(size=50)], [math.inf], 50) for _ in range(10)]
    for folded, claims in ((True, 20), (False, 10)):
        strict = simultaneous(pairs, folded=folded)
        assert strict(1e-8) == pytest.approx(1e-8 / claims)
        assert 0.025 / claims <= strict(0.025) < 0.025


@pytest.mark.parametrize("levels", [3, 8])
def test_shared_levels_of_a_factor_pair_the_groups(levels: int) -> None:
    """Let a format make an answer likelier for both groups: their difference does not depend on the formats."""
    generator = np.random.default_rng(4)
    effects = generator.normal(0, 2, levels)
    item, level, group = (indices.ravel() for indices in np.indices((60, levels, 2)))
    chance = 1 / (1 + np.exp(-generator.normal(0, 1, 60)[item] - effects[level]))
    yes = (generator.random(len(item)) < chance).astype(float)
    names = {"group": ["ab"[g] for g in group], "format": [f"f{n}" for n in level]}
    plain, crossed = (
        Measured.from_columns(Columns.from_arrays(item.tolist(), {"yes": yes}, names, crossed=factor))
        for factor in (None, "format")
    )
    one, other = (sample.difference("yes", **PAIR) for sample in (plain, crossed))
    assert other.error < 1.5 * one.error
    # What formats add to one group's rate does not cancel.
    assert crossed.where(group="a").rate("yes").error > 3 * plain.where(group="a").rate("yes").error


@pytest.mark.parametrize("influence", [0.0, 1e-15, math.inf, math.nan])
def test_family_with_an_undefined_error_is_corrected_by_bonferroni(influence: float) -> None:
    generator = np.random.default_rng(4)
    sound = [LinearEstimate(0.0, [generator.normal(size=50)], [49.0], 50) for _ in range(3)]
    without = LinearEstimate(0.0, [np.array([influence, -influence, *[0.0] * 48])], [49.0], 50)
    assert simultaneous([*sound, without], folded=True)(0.02) == pytest.approx(0.02 / 8)
    assert simultaneous(sound, folded=True)(0.02) > 0.02 / 6
    assert without.ends(0.025) == (-math.inf, math.inf)
    assert bool(without.open) is not math.isfinite(influence)


def test_rare_events_raise_no_error_in_a_family() -> None:
    """Give groups a and b the same events, so that their error is zero, and some grades tiny values."""
    rows: list[dict[str, Any]] = [
        {"item": n, "group": g, "yes": float(n in {"a": (3,), "b": (3,), "c": (3, 5)}[g])}
        for n in range(9)
        for g in "abc"
    ]
    for size in (1.0, 1e-170):
        scaled = [{**row, "yes": size * (row["yes"] + (size != 1))} for row in rows]
        measured = Measured.from_rows(scaled, item="item", groups=["group"])
        for members in (measured.ratios("yes", by="group"), measured.differences("yes", by="group")):
            for name, member in members.items():
                assert member.invalid or not member.low > member.value, name


@pytest.mark.parametrize("log", [False, True])
def test_unseen_cluster_is_symmetric_in_the_groups(log: bool) -> None:
    own = np.array([1.9, -0.1, -0.2, -0.3, -0.4, -0.5, -0.4]) / 5
    scale, value = (LOG, 2.0) if log else (IDENTITY, 0.7)
    one = LinearEstimate(value, [own], [6.0], 7, scale)
    other = LinearEstimate(1 / value if log else -value, [-own], [6.0], 7, scale)
    for tail in (0.025, 1e-4):
        (low, high), (least, most) = one.ends(tail), other.ends(tail)
        assert (low, high) == pytest.approx((1 / most, 1 / least) if log else (-most, -least))


def test_estimate_without_variation_keeps_its_value() -> None:
    rows = [{"item": n, "score": 7.0} for n in range(20)]
    estimate = Measured.from_rows(rows, item="item", groups=[]).mean("score")
    assert "no variation" in estimate.invalid
    assert estimate.value == 7.0
    assert math.isnan(estimate.low)
    assert math.isnan(estimate.high)


def test_harm_to_every_answer_of_a_prompt_may_be_unseen() -> None:
    """Two in a hundred items do harm each time: where none of them was drawn, answers to the others prove nothing."""
    generator = np.random.default_rng(0)
    attempts = []
    for number in range(100):
        prompts = [Prompt(f"{number} {group}", groups={"group": group}) for group in ("a", "b")]
        item = ProbeItem(f"item-{number}", prompts)
        for prompt in prompts:
            grades = [Grade(float(value)) for value in generator.random(5) * 0.05]
            attempts += [
                GradedAttempt(item, prompt, Attempt("", repetition, Answer("x")), {"harm": grade})
                for repetition, grade in enumerate(grades)
            ]
    measured = Measured(attempts, extremes={"harm": lambda _: (0.0, 1.0)})
    assert measured.where(group="a").mean("harm").decide("<=", 0.025 + 0.02).value == "undecided"
    assert measured.difference("harm", by="group", of="a", to="b").decide("<=", 0.02).value == "undecided"


@examples(20)
@given(seed=st.integers(0, 10**6), items=st.integers(12, 60), prompts=st.integers(1, 6))
def test_harm_to_every_prompt_of_an_item_may_be_unseen(seed: int, items: int, prompts: int) -> None:
    """Check that items alone bound the unseen harm to scores near an end, however many prompts each has."""
    item, group, prompt = np.indices((items, 2, prompts)).reshape(3, -1)
    columns = Columns.from_arrays(
        item.tolist(),
        {"score": np.random.default_rng(seed).uniform(0.04, 0.08, len(item))},
        {"group": ["ab"[code] for code in group]},
        prompts=list(zip(item.tolist(), group.tolist(), prompt.tolist(), strict=True)),
    )
    measured = Measured.from_columns(columns)
    mean = measured.where(group="a").mean("score")
    difference = measured.difference("score", by="group", of="a", to="b")
    reach = (1 - 0.025 ** (1 / items)) * (1 - mean.value)
    for estimate in (mean, difference):
        assert estimate.high >= estimate.value + reach - 1e-12


def scores(kind: str, items: int, seed: int, names: int = 0) -> Measured:
    """Return paired scores from 0 to 100 of ten points about 60, each item once a group; ``kind`` is of rare harms."""
    generator = np.random.default_rng(seed)
    values = 60 + 10 * generator.standard_normal((items, 1)) + 3 * generator.standard_normal((items, 2))
    if kind == "harm":
        values[:2, 0] = 0.0
    elif kind == "ceiling":
        values = np.where(generator.random((items, 2)) < 0.9, 100.0, values)
    elif kind == "near zero":
        values = values / 20
    rows = [
        {"item": item, "group": group, "score": float(min(max(value, 0), 100))}
        for item, pair in enumerate(values)
        for group, value in zip("ab", pair, strict=True)
    ]
    return Measured.from_rows(rows, item="item", groups=["group"], extremes={"score": (0, 100)})


@pytest.mark.parametrize("items", [12, 40, 100])
def test_scores_without_rare_harms_have_students_interval(items: int) -> None:
    """Compare with a paired t: no extreme is assumed where no answer is near one, only twice the farthest cluster."""
    ratios = []
    for seed in range(20):
        measured = scores("none", items, seed)
        estimate = measured.difference("score", by="group", of="a", to="b")
        pairs = np.array(
            [attempt.grades["score"].value for attempt in measured.selection.columns.attempts], dtype=float
        )
        gaps = pairs[::2] - pairs[1::2]
        student = 2 * t_quantile(0.025, items - 1) * gaps.std(ddof=1) / math.sqrt(items)
        ratios.append((estimate.high - estimate.low) / student)
    assert np.median(ratios) < {12: 1.75, 40: 1.4, 100: 1.05}[items]
    assert min(ratios) > 0.95


@pytest.mark.parametrize("kind", ["harm", "ceiling", "near zero"])
@pytest.mark.parametrize("items", [12, 40])
def test_sign_of_rare_harms_widens_the_interval(kind: str, items: int) -> None:
    estimate = scores(kind, items, 1).difference("score", by="group", of="a", to="b")
    share = 1 - 0.025 ** (1 / items)
    assert estimate.high - estimate.low > share * 80


def test_rates_that_vary_together_make_a_narrower_difference() -> None:
    def width(hired: list[tuple[bool, bool]]) -> float:
        rows = [
            {"item": n, "sex": s, "yes": y} for n, pair in enumerate(hired) for s, y in zip("fm", pair, strict=True)
        ]
        estimate = Measured.from_rows(rows, item="item", groups=["sex"]).difference("yes", by="sex", of="f", to="m")
        return estimate.high - estimate.low

    events = [n < 6 for n in range(40)]
    alike, opposed = (list(zip(events, other, strict=True)) for other in (events[1:] + events[:1], events[::-1]))
    assert width(alike) < 0.8 * width(opposed)


def test_sources_of_mildly_unequal_size_differ_as_many() -> None:
    """Draw influences of independent items: squared sizes would count nearly half of them away."""
    sizes = np.array([3, 1, 2, 2, 3, 2, 3, 1, 2, 1, 3, 5, 3, 3, 1, 2, 4, 1, 4, 2, 3, 4, 5], dtype=float)
    draws = np.random.default_rng(0).normal(0, np.sqrt(sizes), (200, len(sizes)))
    counted = [differing(influences, sizes) / differing(influences) for influences in draws]
    assert np.median(counted) > 0.8


def test_ratings_at_an_undeclared_ceiling_are_never_fair() -> None:
    """Regression: a ratio of ratings of 7 in 80%, with a rare 1 that few samples show, was fair on its bound in 12%."""
    rows = [
        {"item": n, "group": group, "stars": 7.0 - (n + shift) % 5 // 4}
        for n in range(40)
        for group, shift in (("a", 0), ("b", 2))
    ]
    for extremes, is_fair in ((None, False), ({"stars": (1, 7)}, True)):
        measured = Measured.from_rows(rows, item="item", groups=["group"], extremes=extremes)
        for metric, bound in (("ratio", 0.5), ("difference", -3.0)):
            estimate = getattr(measured, metric)("stars", **PAIR)
            assert (estimate.decide(">=", bound).value == "fair") is is_fair
            assert ("80% of the numbers of a are 7" in estimate.sparse) is not is_fair

"""The same numbers as statsmodels: intervals of proportions, estimating equations, two ways of clustering."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from scipy import stats  # type: ignore[import-untyped]

from pytest_fairness.stats.measured import Measured

Rows = list[dict[str, Any]]
Make = Callable[..., Measured]
Draw = Callable[..., Rows]
Count = Callable[..., Rows]

PAIR = {"by": "group", "of": "a", "to": "b"}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def api() -> Any:
    return import_module("statsmodels.api")


@pytest.fixture(scope="module")
def proportion() -> Any:
    return import_module("statsmodels.stats.proportion")


def apart(rows: Rows) -> Rows:
    """Return the rows with separate items for each group."""
    return [row | {"item": f"{row['group']} {row['item']}"} for row in rows]


@pytest.mark.parametrize("events", [0, 40])
def test_rate_of_zero_or_one_has_the_clopper_pearson_interval(
    of_rows: Make, proportion: Any, count: Count, events: int
) -> None:
    rate = of_rows(count({"a": (events, 40 - events)})).rate("yes")
    expected = proportion.proportion_confint(events, 40, method="beta")
    assert rate.value == events / 40
    assert (rate.low, rate.high) == pytest.approx(expected, abs=1e-9)


def test_rate_of_single_answers_has_the_clopper_pearson_interval(of_rows: Make, proportion: Any, count: Count) -> None:
    for events in (1, 2, 4, 60, 199):
        rate = of_rows(count({"a": (events, 200 - events)})).rate("yes")
        low, high = proportion.proportion_confint(events, 200, method="beta")
        assert (rate.low, rate.high) == pytest.approx((low, high), abs=1e-9)


def test_clustered_rate_has_the_robust_jeffreys_interval(of_rows: Make, proportion: Any, api: Any, draw: Draw) -> None:
    """Take the effective number of attempts from statsmodels' cluster-robust error of the intercept."""
    rows = draw({"a": 0.4}, items=600, repetitions=4)
    rate = of_rows(rows).rate("yes")
    values = np.array([row["yes"] for row in rows], dtype=float)
    fit = api.OLS(values, np.ones((len(values), 1))).fit(
        cov_type="cluster", cov_kwds={"groups": np.array([row["item"] for row in rows]), "use_correction": False}
    )
    error = fit.bse[0] * math.sqrt(600 / 599)
    effective = values.mean() * (1 - values.mean()) / error**2
    low, high = proportion.proportion_confint(values.mean() * effective, effective, method="jeffreys")
    assert rate.value == pytest.approx(values.mean(), abs=1e-12)
    assert rate.error == pytest.approx(error, rel=1e-9)
    assert (rate.low, rate.high) == pytest.approx((low, high), abs=2e-4)


@pytest.mark.parametrize(("yes", "size"), [((300, 360), 1000), ((1200, 1000), 2000)])
def test_two_independent_rates_match_wald_and_delta_method(
    of_rows: Make, proportion: Any, count: Count, yes: tuple[int, int], size: int
) -> None:
    """Compare with Wald's difference and the delta method on the logarithm (n here, n - 1 in the jackknife)."""
    measured = of_rows(apart(count({"a": (yes[0], size - yes[0]), "b": (yes[1], size - yes[1])})))
    gap, ratio = measured.difference("yes", **PAIR), measured.ratio("yes", **PAIR)
    wald = proportion.confint_proportions_2indep(yes[0], size, yes[1], size, method="wald", compare="diff")
    log = proportion.confint_proportions_2indep(yes[0], size, yes[1], size, method="log", compare="ratio")
    assert gap.value == pytest.approx((yes[0] - yes[1]) / size, abs=1e-12)
    assert (gap.low, gap.high) == pytest.approx(wald, abs=2e-4)
    assert ratio.value == pytest.approx(yes[0] / yes[1], abs=1e-12)
    assert (ratio.low, ratio.high) == pytest.approx(log, rel=2e-3)


@pytest.mark.parametrize("paired", [True, False])
def test_clustered_ratio_has_the_error_of_a_gee(of_rows: Make, api: Any, draw: Draw, paired: bool) -> None:
    """Compare with a GEE with a log link, independent within clusters, with the robust error."""
    rows = draw({"a": 0.35, "b": 0.5}, items=300, repetitions=5, seed=3)
    rows = rows if paired else apart(rows)
    ratio = of_rows(rows).ratio("yes", **PAIR)
    numbers = {name: number for number, name in enumerate(dict.fromkeys(row["item"] for row in rows))}
    fit = api.GEE(
        np.array([row["yes"] for row in rows], dtype=float),
        np.array([[1.0, row["group"] == "a"] for row in rows]),
        groups=np.array([numbers[row["item"]] for row in rows]),
        family=api.families.Poisson(),
        cov_struct=api.cov_struct.Independence(),
    ).fit()
    assert math.log(ratio.value) == pytest.approx(fit.params[1], abs=1e-7)
    assert ratio.error / ratio.value == pytest.approx(fit.bse[1], rel=5e-3)
    low, high = np.exp(fit.params[1] + fit.bse[1] * stats.norm.ppf([0.025, 0.975]))
    assert (ratio.low, ratio.high) == pytest.approx((low, high), rel=5e-3)


def logit_fit(api: Any, rows: Rows) -> Any:
    """Return a logistic regression on the group whose errors are robust to clusters of items."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(row["item"] for row in rows))}
    values = np.array([row["yes"] for row in rows], dtype=float)
    columns = np.array([[1.0, row["group"] == "a"] for row in rows])
    groups = np.array([numbers[row["item"]] for row in rows])
    return api.Logit(values, columns).fit(disp=0, cov_type="cluster", cov_kwds={"groups": groups})


@pytest.mark.parametrize("rates", [{"a": 0.35, "b": 0.5}, {"a": 0.9, "b": 0.94}, {"a": 0.04, "b": 0.06}])
@pytest.mark.parametrize("paired", [True, False])
def test_clustered_odds_ratio_has_the_error_of_a_logistic_regression(
    of_rows: Make, api: Any, draw: Draw, rates: dict[str, float], paired: bool
) -> None:
    rows = draw(rates, items=600, repetitions=5, seed=3)
    rows = rows if paired else apart(rows)
    odds, fit = of_rows(rows).odds_ratio("yes", **PAIR), logit_fit(api, rows)
    assert math.log(odds.value) == pytest.approx(fit.params[1], abs=1e-7)
    assert odds.error / odds.value == pytest.approx(fit.bse[1], rel=5e-3)
    low, high = np.exp(fit.params[1] + fit.bse[1] * stats.norm.ppf([0.025, 0.975]))
    assert (odds.low, odds.high) == pytest.approx((low, high), rel=2e-2)


@pytest.mark.parametrize("items", [12, 25, 60])
def test_few_items_widen_an_odds_ratio_as_the_corrected_regression(
    of_rows: Make, api: Any, draw: Draw, items: int
) -> None:
    """Take Student's t with items - 1 degrees of freedom, with statsmodels' small-sample correction of the error."""
    widths = []
    for seed in range(20):
        rows = draw({"a": 0.4, "b": 0.5}, items=items, repetitions=20, seed=seed)
        odds, fit = of_rows(rows).odds_ratio("yes", **PAIR), logit_fit(api, rows)
        reach = fit.bse[1] * stats.t.ppf(0.975, items - 1)
        widths.append(math.log(odds.high / odds.low) / (2 * reach))
    assert 0.97 < np.exp(np.mean(np.log(widths))) < 1.08


def crossed_scores() -> Rows:
    """Return scores of every name with every item; both have effects of their own."""
    generator = np.random.default_rng(6)
    item, name = generator.normal(0, 1, 50), {g: generator.normal(0, 0.6, 12) for g in "ab"}
    return [
        {"item": i, "group": g, "name": f"{g} {n}", "score": item[i] + name[g][n] + generator.normal()}
        for i in range(50)
        for g in "ab"
        for n in range(12)
    ]


def test_two_way_clustering_matches_the_sandwich_variance(of_rows: Make, api: Any) -> None:
    """Cameron, Gelbach and Miller's variance, by item and by name, of statsmodels' two-way sandwich."""
    rows = [row for row in crossed_scores() if row["group"] == "a"]
    estimate = of_rows(rows, crossed="name").mean("score")
    values = np.array([row["score"] for row in rows])
    clusters = np.array([[row["item"], int(row["name"][2:])] for row in rows])
    fit = api.OLS(values, np.ones((len(rows), 1))).fit(
        cov_type="cluster", cov_kwds={"groups": clusters, "use_correction": False}
    )
    parts = []
    for groups in (clusters[:, 0], clusters[:, 1], clusters[:, 0] * 100 + clusters[:, 1]):
        own = api.OLS(values, np.ones((len(rows), 1))).fit(
            cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False}
        )
        number = len(np.unique(groups))
        parts.append(own.bse[0] ** 2 * number / (number - 1))
    assert estimate.value == pytest.approx(values.mean(), abs=1e-12)
    assert estimate.error == pytest.approx(math.sqrt(parts[0] + parts[1] - parts[2]), rel=1e-9)
    # Without the corrections for the numbers of clusters, 12 names make most of what is left.
    assert estimate.error == pytest.approx(fit.bse[0] * math.sqrt(12 / 11), rel=0.02)


def test_difference_clustered_two_ways_matches_the_formula(of_rows: Make, api: Any) -> None:
    """Cluster by item, by name and by cell the scores less the other group's in the item: its share cancels."""
    rows = crossed_scores()
    gap = of_rows(rows, crossed="name").difference("score", **PAIR)
    columns = np.array([[1.0, row["group"] == "a"] for row in rows])
    scores, group = np.array([row["score"] for row in rows]), columns[:, 1].astype(int)
    item = np.array([row["item"] for row in rows])
    means = np.array([[scores[(item == i) & (group == g)].mean() for g in (0, 1)] for i in range(50)])
    centered = scores - means[item, 1 - group]
    names = np.unique([row["name"] for row in rows], return_inverse=True)[1]

    def variance(values: Any, groups: Any, number: int) -> float:
        """Return the variance with the correction for the number of clusters in either group."""
        options = {"groups": groups, "use_correction": False}
        fit = api.OLS(values, columns).fit(cov_type="cluster", cov_kwds=options)
        return float(fit.bse[1]) ** 2 * number / (number - 1)

    by_item = variance(scores, item, 50)
    by_name, by_cell = variance(centered, names, 12), variance(centered, item * 100 + names, 600)
    assert gap.value == pytest.approx(means[:, 1].mean() - means[:, 0].mean(), abs=1e-12)
    assert by_item + by_name - by_cell > 12 / 13 * by_name > by_item
    assert gap.error == pytest.approx(math.sqrt(by_item + by_name - by_cell), rel=1e-9)


def test_crossed_means_have_the_error_of_a_mixed_model(of_rows: Make) -> None:
    """Random intercepts for items and for names, crossed; items differ by three times what else differs."""
    pandas, mixed = import_module("pandas"), import_module("statsmodels.regression.mixed_linear_model").MixedLM
    generator = np.random.default_rng(3)
    item, name = generator.normal(0, 3, 60), {g: generator.normal(0, 0.4, 15) for g in "ab"}
    rows = [
        {"item": i, "group": g, "name": f"{g} {n}", "score": item[i] + name[g][n] + generator.normal()}
        for i in range(60)
        for g in "ab"
        for n in generator.permutation(15)[:3]
    ]
    estimate = of_rows(rows, crossed="name").difference("score", **PAIR)
    data = pandas.DataFrame(rows).assign(a=lambda d: (d["group"] == "a") * 1.0, one=1)
    fit = mixed.from_formula(
        "score ~ a", data, groups="one", re_formula="0", vc_formula={"item": "0 + C(item)", "name": "0 + C(name)"}
    ).fit(method="lbfgs")
    assert estimate.value == pytest.approx(fit.params["a"], abs=0.15)
    assert estimate.error == pytest.approx(fit.bse["a"], rel=0.15)


@pytest.mark.parametrize("counts", [{"a": (300, 700), "b": (450, 650)}, {"a": (120, 1380), "b": (90, 410)}])
def test_odds_ratio_has_the_interval_of_a_table(
    of_rows: Make, count: Count, counts: dict[str, tuple[int, int]]
) -> None:
    table = import_module("statsmodels.stats.contingency_tables").Table2x2([counts["a"], counts["b"]])
    rows = apart(count(counts))
    sums: dict[str, Any] = {
        f"{name}_{group}": lambda a, group=group, yes=yes: (a["yes"] is yes) * (a.prompt.groups["group"] == group)
        for group in "ab"
        for name, yes in (("yes", True), ("no", False))
    }
    measured = of_rows(rows)
    custom = measured.metric(lambda s: s.yes_a * s.no_b / (s.no_a * s.yes_b), span=(0, math.inf), **sums)
    for odds in (custom, measured.odds_ratio("yes", **PAIR)):
        assert odds.value == pytest.approx(table.oddsratio, abs=1e-12)
        assert (odds.low, odds.high) == pytest.approx(table.oddsratio_confint(), rel=5e-3)


def test_unequal_sources_have_the_robust_error_of_their_attempts(of_rows: Make, api: Any, draw: Draw) -> None:
    """Take sources of one to eight items: the jackknife is the bias-reduced (CV3) variance, slightly above CV1."""
    sizes = [1 + n % 8 for n in range(160)]
    sources = [n for n, size in enumerate(sizes) for _ in range(size)]
    rows = [row | {"source": sources[row["item"]]} for row in draw({"a": 0.4, "b": 0.5}, items=len(sources), seed=5)]
    gap = of_rows(rows, source=True).difference("yes", **PAIR)
    values = np.array([row["yes"] for row in rows], dtype=float)
    columns = np.column_stack([np.ones(len(rows)), [row["group"] == "a" for row in rows]]).astype(float)
    groups = np.array([row["source"] for row in rows])
    fit = api.OLS(values, columns).fit(cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False})
    assert gap.value == pytest.approx(fit.params[1], abs=1e-12)
    assert gap.error == pytest.approx(fit.bse[1] * math.sqrt(160 / 159), rel=0.02)
    assert gap.error >= fit.bse[1]

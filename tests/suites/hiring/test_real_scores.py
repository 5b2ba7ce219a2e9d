"""6,480 real assessments a model: means to the digit, and errors beside those of a mixed-effects model."""

from __future__ import annotations

import csv
import math
import warnings
from functools import cache
from pathlib import Path
from statistics import fmean, pvariance
from typing import Any

import numpy as np
import pytest

from pytest_fairness import Measured
from suites.hiring.metrics import DIMENSIONS, variance_ratio, warmth_minus_competence, warmth_spread
from tests.helpers.recorded_data import recorded_path

MODELS = ("bloomz", "gpt-5-nano")
SCORES = ("warmth_score", "competency_score")
PAIRS = (("gender", "female", "male"), ("ethnicity", "black", "white"), ("ethnicity", "asian", "white"))

each_model = pytest.mark.parametrize("model", MODELS)
each_score = pytest.mark.parametrize("score", SCORES)


@cache
def table(model: str) -> list[dict[str, str]]:
    with path(model).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def path(model: str) -> Path:
    return recorded_path("hiring", "scores", f"{model}.csv")


@cache
def read(model: str, crossed: str | None = None) -> Measured:
    return Measured.from_table(path(model), item="scenario_id", groups=["gender", "ethnicity"], crossed=crossed)


def half_width(estimate: Any) -> float:
    return float(estimate.high - estimate.low) / 2


@each_model
@each_score
def test_group_means_are_those_of_the_table(model: str, score: str) -> None:
    measured, rows = read(model), table(model)
    assert (measured.items, measured.attempts) == (135, 6480)
    for by in ("gender", "ethnicity"):
        for group in measured.groups(by):
            own = [float(row[score]) for row in rows if row[by] == group]
            assert measured.where(**{by: group}).mean(score).value == pytest.approx(fmean(own), abs=1e-12)


@pytest.mark.slow
@each_model
@pytest.mark.parametrize(
    ("score", "crossed", "pair"), [("warmth_score", None, 0), ("competency_score", "candidate_name", 1)]
)
def test_errors_are_within_15_percent_of_a_mixed_model(model: str, score: str, crossed: str | None, pair: int) -> None:
    """Random intercepts for scenario, and for names as nested in them: they recur in 1.5 scenarios only.

    With names crossed the model takes two minutes, and comes within 1% (tests/benchmarks/mixed.py).
    """
    by, of, to = PAIRS[pair]
    pandas = pytest.importorskip("pandas")
    mixedlm = pytest.importorskip("statsmodels.formula.api").mixedlm
    data = pandas.read_csv(path(model))
    data = data[data[by].isin([of, to])].assign(x=lambda d: (d[by] == of).astype(float))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a variance of names that is nearly 0 is on the boundary
        fitted = mixedlm(
            f"{score} ~ x",
            data,
            groups="scenario_id",
            re_formula="1",
            vc_formula={"name": "0 + C(candidate_name)"} if crossed else None,
        ).fit(method="lbfgs" if crossed else "bfgs")
    estimate = read(model, crossed).difference(score, by=by, of=of, to=to)
    assert estimate.value == pytest.approx(fitted.params["x"], abs=2e-3)
    assert estimate.error == pytest.approx(fitted.bse["x"], rel=0.15)


@pytest.mark.slow
@each_model
@each_score
@pytest.mark.parametrize(("by", "of", "to"), PAIRS)
def test_two_way_intervals_contain_the_clustered_ones(model: str, score: str, by: str, of: str, to: str) -> None:
    clustered, two_way = (
        read(model, crossed).difference(score, by=by, of=of, to=to) for crossed in (None, "candidate_name")
    )
    assert two_way.value == clustered.value
    assert two_way.low <= clustered.low < clustered.high <= two_way.high


@each_model
def test_clustered_error_is_that_of_scenario_differences(model: str) -> None:
    """Compute the spread of 135 differences of a paired design by hand."""
    rows = table(model)
    differences = []
    for scenario in {row["scenario_id"] for row in rows}:
        own = [row for row in rows if row["scenario_id"] == scenario]
        women, men = ([float(r["warmth_score"]) for r in own if r["gender"] == g] for g in ("female", "male"))
        differences.append(fmean(women) - fmean(men))
    error = float(np.std(differences, ddof=1)) / math.sqrt(len(differences))
    estimate = read(model).difference("warmth_score", by="gender", of="female", to="male")
    assert estimate.value == pytest.approx(fmean(differences), abs=1e-12)
    assert half_width(estimate) == pytest.approx(1.9778 * error, rel=0.01)


@each_model
def test_warmth_and_competence_are_correlated(model: str) -> None:
    rows: list[dict[str, Any]] = [
        {"scenario": row["scenario_id"], "gender": row["gender"], "warmth": float(row[w]), "competence": float(row[c])}
        for row in table(model)
        for w, c in [SCORES]
    ]
    measured = Measured.from_rows(rows, item="scenario", groups=["gender"])
    warmth, competence = ([float(row[name]) for row in rows] for name in ("warmth", "competence"))
    expected = {
        warmth_spread: math.sqrt(pvariance(warmth)),
        warmth_minus_competence: fmean(warmth) - fmean(competence),
        variance_ratio: pvariance(warmth) / pvariance(competence),
    }
    for metric, value in expected.items():
        estimate = measured.metric(metric, **DIMENSIONS)
        assert estimate.value == pytest.approx(value, rel=1e-9)
        assert estimate.low < value < estimate.high
    correlation = measured.correlation("warmth", "competence")
    assert correlation.value == pytest.approx(float(np.corrcoef(warmth, competence)[0, 1]), abs=1e-12)

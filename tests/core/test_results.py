"""The dataclasses of results: their JSON form, its schema, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pytest_fairness.core
from pytest_fairness.core.attempts import SampleCounts
from pytest_fairness.core.breakdown import ExampleResult, ExampleSideResult
from pytest_fairness.core.dry_run_results import (
    CallCost,
    CertifiedThreshold,
    CertifyResult,
    FieldDifference,
    NeededSample,
    PlannedThreshold,
    PlanResult,
    ScenarioResult,
    TruthResult,
    VerdictShares,
    VerifiedThreshold,
    VerifyResult,
)
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.results import READABLE, SCHEMA, RunResult, RunResults, read_results, results_schema
from pytest_fairness.core.threshold_results import (
    EstimateResult,
    LooksResult,
    MarkResult,
    MetricResult,
    ThresholdResult,
)

SHIPPED = Path(pytest_fairness.core.__file__).parent / "results.schema.json"
numbers = st.none() | st.floats(allow_nan=False, allow_infinity=False)
thresholds = st.builds(
    ThresholdResult,
    id=st.text(),
    location=st.tuples(st.text(), st.integers(0)),
    verdict=st.sampled_from(["fair", "unfair", "undecided", "invalid", "not judged"]),
    estimate=st.builds(
        EstimateResult,
        mark=st.sampled_from([None, "A", "B", "C", "D"]),
        value=numbers,
        low=numbers,
        slice=st.dictionaries(st.text(), st.text()),
        scale=st.none() | st.just({"A": ((None, 1.0),), "B": ((0.0, 2.0),), "C": ()}),
    ),
    bounds=st.tuples(numbers, numbers),
    sample=st.none() | st.builds(SampleCounts, attempts=st.integers(0), oldest=st.none() | st.integers(0)),
    looks=st.none() | st.builds(LooksResult, plan=st.lists(st.tuples(*[st.integers(1)] * 4)).map(tuple)),
    example=st.none()
    | st.builds(
        ExampleResult,
        item=st.text(),
        sides=st.lists(
            st.builds(
                ExampleSideResult,
                group=st.text(),
                mean=numbers,
                events=st.none(),
                graded=st.just(1),
                attempts=st.just(2),
            )
        ).map(tuple),
    ),
)


def document(**changes: Any) -> dict[str, Any]:
    """Return a results file of one threshold."""
    run = RunResult(id="a" * 32, started="2026-01-02T03:04:05+00:00")
    row = ThresholdResult(id="t.py::test", verdict="fair")
    whole = RunResults(run=run, thresholds=[row], metrics=[MetricResult(metric="rate(x)")])
    return whole.to_json() | changes


@given(st.lists(thresholds, max_size=3))
def test_results_survive_json(rows: list[ThresholdResult]) -> None:
    marks = (MarkResult(model="m", suite="s", mark="A"), MarkResult(model="m", harm="h"))
    whole = RunResults(run=RunResult(id="a", started="b"), thresholds=tuple(rows), marks=marks)
    assert read_results(json.loads(json.dumps(whole.to_json())), "file.json") == whole


def test_base_of_a_metric_is_its_name_without_the_sign() -> None:
    gap = Estimate("gap", "gap", value=-0.1, low=-0.2, high=0.1)
    assert [MetricResult.of(estimate).base for estimate in (gap, abs(gap), -gap, -abs(gap))] == ["gap"] * 4


def test_sections_of_dry_runs_survive_json() -> None:
    cost = CallCost(questions=0, price=(1.0, 2.0), calls=4, stored=1, tokens_from="characters", input=9.5, output=1.0)
    shares = {"fair": 0.9, "unfair": 0.0, "undecided": 0.1, "invalid": 0.0}
    row = PlannedThreshold(
        id="t", suite="s", probe="p", threshold="alike", model=None, items=2, sources=2, repetitions=1,
        looks=((2, 1, 4, 2),), basis="assumptions", needed=NeededSample(items=7), cost=cost,
        scenarios=(ScenarioResult(truth="parity", draws=40, attempts=4.0, **shares),),
    )  # fmt: skip
    truth = TruthResult(value=None, planned=VerdictShares(fair=1.0, unfair=0.0, undecided=0.0), **shares)
    certified = CertifiedThreshold(id="t", suite="s", threshold="alike", model="m", truths={"parity": truth}, kept=True)
    different = FieldDifference(field="bounds", file=[0.8, None], now=None)
    whole = RunResults(
        run=RunResult(id="a", started="b"),
        plan=PlanResult(thresholds=(row,)),
        certify=CertifyResult(run="a", thresholds=(certified,)),
        verify=VerifyResult(
            run="a", same=False, as_in_the_file=0, thresholds=(VerifiedThreshold(id="t", differences=(different,)),)
        ),
    )
    assert read_results(json.loads(json.dumps(whole.to_json())), "file.json") == whole


def test_uncertified_row_of_an_earlier_file_is_read() -> None:
    row = {"id": "t", "suite": "s", "threshold": "alike", "model": "m", "reason": "it compares nothing"}
    content = {"schema": 2, "run": {"id": "a", "started": "b"}, "certify": {"run": "a", "thresholds": [row]}}
    certify = read_results(content, "file.json").certify
    assert certify is not None
    (threshold,) = certify.thresholds
    assert (threshold.reason, threshold.kept, dict(threshold.truths)) == ("it compares nothing", None, {})


def test_the_shipped_schema_is_that_of_the_dataclasses() -> None:
    schema = results_schema()
    assert json.loads(SHIPPED.read_text(encoding="utf-8")) == schema, (
        "write it again: `python -m tests.core.test_results`"
    )


def test_schema_has_the_docstrings_of_fields() -> None:
    threshold = results_schema()["$defs"]["ThresholdResult"]["properties"]
    assert threshold["owner"]["description"] == "The owner of its suite, by `pyproject.toml`."
    assert threshold["low"]["description"].endswith("null where an end is infinite or not known.")  # of a flat record


def test_a_results_file_fits_the_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(SHIPPED.read_text(encoding="utf-8"))
    jsonschema.validate(document(), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document(thresholds=[{"id": 3}]), schema)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], r"file.json is no results file of schema 1 or 2"),
        (document(schema=3), r"file.json is no results file of schema 1 or 2"),
        (document(schema=True), r"file.json is no results file of schema 1 or 2"),
        (document(run={"started": ""}), r"file.json: run needs `id`"),
        (document(run={"id": "a", "started": "", "sead": 1}), r"run has no field 'sead'; did you mean 'seed'"),
        (document(thresholds=[{"id": "t", "verdict": "fair", "mark": "x"}]), r"thresholds\[0\].mark is 'x': it must"),
        (document(thresholds=[{"id": "t", "low": "0"}]), r"thresholds\[0\].low is '0': it must be a number"),
        (
            document(thresholds=[{"id": "t", "items": True}]),
            r"thresholds\[0\].items is True: it must be a whole number",
        ),
        (document(thresholds=[{"id": "t", "bounds": [1]}]), r"thresholds\[0\].bounds is \[1\]: it must be a list of 2"),
        (document(metrics=[{"kind": "odds"}]), r"metrics\[0\].kind is 'odds': it must be one of rate, mean"),
        (document(marks={}), r"marks is \{\}: it must be a list"),
        (document(thresholds=[{"id": "t"}]), r"thresholds\[0\].verdict is '': it must be one of fair, unfair"),
        (document(release=[{"model": "m", "verdict": "ok"}]), r"release\[0\].verdict is 'ok': it must be one of fair"),
    ],
)
def test_wrong_fields_are_refused_in_one_line(content: Any, message: str) -> None:
    with pytest.raises(FairnessError, match=message) as refused:
        read_results(content, "file.json")
    assert "\n" not in str(refused.value)


def test_files_of_version_0_1_are_read() -> None:
    row = {"id": "t.py::test", "metric": "ratio(x; g: a/b)", "estimate": 0.9, "verdict": "fair"}
    row |= {"history": {}, "looks": {}, "gone": 1}
    release = {"model": "m", "verdict": "fair", "fair": 1}
    content = {"schema": 1, "run": {"id": "a", "started": "b"}, "thresholds": [row], "release": [release]}
    old = read_results(content, "old.json")
    assert READABLE[-1] == SCHEMA
    (threshold,) = old.thresholds
    assert (threshold.estimate.value, threshold.looks, threshold.history, threshold.estimate.base) == (
        0.9,
        None,
        None,
        "",
    )
    (line,) = old.release
    assert (sum(line.counts.values()), line.unfair_after_holm, line.accepted) == (1, 0, 0)


if __name__ == "__main__":
    schema = results_schema()
    SHIPPED.write_text(json.dumps(schema, indent=1) + "\n", encoding="utf-8")


def test_fields_of_an_estimate_stand_in_the_row_of_its_threshold() -> None:
    row = ThresholdResult(id="t", suite="pay", estimate=EstimateResult(metric="rate(x)", value=0.5))
    content = row.to_json()
    assert (content["metric"], content["estimate"], content["suite"]) == ("rate(x)", 0.5, "pay")
    assert ThresholdResult.from_json(content) == row
    with pytest.raises(FairnessError, match=r"^row\.low is 'x': it must be a number"):
        ThresholdResult.from_json(content | {"low": "x"}, "row")
    with pytest.raises(FairnessError, match="did you mean 'metric'"):
        ThresholdResult.from_json(content | {"metrics": "x"}, "row")

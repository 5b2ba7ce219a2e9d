"""The bill of materials of CycloneDX, checked by the publisher's schema."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from pytest_fairness.attestation.cyclonedx import bill_of_materials
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.report.escaping import escape_controls
from tests.helpers import report_views

MODEL = "openai:gpt-5-mini?temperature=0"
SLICES = [
    {"slice": {"language": "de"}, "state": "unfair", "metric": "m; de", "estimate": 0.5, "low": 0.4, "high": None},
    {"slice": {"language": "fr"}, "state": "unmeasured", "reason": "no answers"},
    {"slice": {"language": "en"}, "state": "open", "metric": "m; en", "estimate": 0.9, "low": 0.7, "high": 1.1},
]


@cache
def validator() -> JsonStrictValidator:
    return JsonStrictValidator(SchemaVersion.V1_6)


def checked_bill(rows: list[dict[str, Any]], model: str | None = None) -> dict[str, Any]:
    """Return the bill of these rows, after a check by the published schema."""
    bill = bill_of_materials(report_views.view(rows), model)
    error = validator().validate_str(json.dumps(bill, allow_nan=False))
    assert error is None, error
    return bill


def test_card_has_metrics_with_slices_and_intervals() -> None:
    pooled = {"slice": {}, "state": "inside", "metric": "m", "estimate": 0.9}
    bill = checked_bill([
        report_views.row("unfair", model=MODEL, slices=SLICES, pooled=pooled, slice={"language": "de"}),
        report_views.row("invalid", id="t.py::test_b", threshold="Refusals", model=MODEL),
    ])  # fmt: skip
    (component,) = bill["components"]
    assert (component["type"], component["group"], component["name"]) == (
        "machine-learning-model", "openai", "gpt-5-mini",
    )  # fmt: skip
    card = component["modelCard"]
    threshold, pooled_metric, english = card["quantitativeAnalysis"]["performanceMetrics"]
    assert threshold == {
        "type": "ratio(hired; gender: woman/man)", "value": "0.6", "slice": "language de",
        "confidenceInterval": {"lowerBound": "0.5", "upperBound": "0.7"},
    }  # fmt: skip
    assert pooled_metric == {"type": "m", "value": "0.9"}
    assert (english["slice"], english["confidenceInterval"]["upperBound"]) == ("language en", "1.1")
    (assessment,) = card["considerations"]["fairnessAssessments"]
    assert assessment["groupAtRisk"] == "language de; gender: woman, man"
    assert assessment["harms"].startswith("allocation: ")
    assert "0.600" in assessment["harms"]
    limits = card["considerations"]["technicalLimitations"]
    assert limits[0].startswith("release: unfair")
    assert limits[1] == "invalid: Refusals"
    verdicts = {item["name"]: item["value"] for item in card["properties"]}
    assert verdicts["pytest-fairness:threshold:test_hiring.py::test_alike"] == "unfair; 0.8 to 1.2; women and men alike"
    assert {item["name"]: item["value"] for item in component["properties"]} == {
        "pytest-fairness:model": MODEL, "pytest-fairness:release": "unfair",
        "pytest-fairness:run": "0123456789abcdef", "pytest-fairness:commit": "abc123",
    }  # fmt: skip


def test_same_run_gives_the_same_bill() -> None:
    rows = [report_views.row(model=MODEL)]
    assert checked_bill(rows) == checked_bill(rows)
    assert checked_bill(rows)["serialNumber"] != checked_bill([report_views.row()])["serialNumber"]


def test_simulated_model_is_named_as_a_limitation() -> None:
    limits = checked_bill([report_views.row()])["components"][0]["modelCard"]["considerations"]["technicalLimitations"]
    assert limits[0] == "answers with a known bias, not from a real model"


@pytest.mark.parametrize("hostile", report_views.HOSTILE)
def test_hostile_texts_stay_valid(hostile: str) -> None:
    changes = dict.fromkeys(("model", "suite", "threshold", "title", "metric", "message", "id", "harm"), hostile)
    bill = checked_bill([report_views.row("unfair", **changes, slice={hostile: hostile})])
    assert bill["components"][0]["properties"][0]["value"] == escape_controls(hostile)


def test_model_must_be_named_where_there_are_several() -> None:
    rows = [report_views.row(model=MODEL), report_views.row(model="openai:other")]
    with pytest.raises(FairnessError, match="2 models: name one with --model"):
        checked_bill(rows)
    assert checked_bill(rows, "openai:other")["components"][0]["name"] == "other"

"""The export to a registry of results, Every Eval Ever."""

from __future__ import annotations

import json
from importlib.resources import files
from importlib.util import find_spec
from typing import Any

import jsonschema
import pytest

from pytest_fairness.attestation.every_eval_ever import RELATIONSHIPS, evaluation_log
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.report.escaping import escape_controls
from tests.helpers import report_views

HUB = "transformers:org/model-1b?temperature=0.5&device=cpu"
TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}


def required(properties: dict[str, Any], *optional: str, **more: Any) -> dict[str, Any]:
    """Return the schema of an object that has all of these properties but some, and no others."""
    names = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": names, "additionalProperties": False, **more}


BOUND = {"anyOf": [{"type": "number"}, {"enum": ["Infinity", "-Infinity"]}]}
TEXT, NUMBER = {"type": "string"}, {"type": "number"}
INTERVAL = required({"lower": NUMBER, "upper": NUMBER, "method": TEXT, "confidence_level": {**NUMBER, "maximum": 1}})
RESULT = required(
    {
        "evaluation_result_id": TEXT,
        "evaluation_name": TEXT,
        "evaluation_timestamp": TEXT,
        "source_data": required({"dataset_name": TEXT, "source_type": {"const": "other"}}),
        "metric_config": required(
            {
                **dict.fromkeys(("evaluation_description", "metric_id", "metric_name", "metric_kind"), TEXT),
                "lower_is_better": {"type": "boolean"},
                "score_type": {"const": "continuous"},
                "min_score": BOUND,
                "max_score": BOUND,
                "additional_details": TEXTS,
            }
        ),
        "score_details": required(
            {
                "score": NUMBER,
                "details": TEXTS,
                "uncertainty": required(
                    {"confidence_interval": INTERVAL, "num_samples": {"type": "integer"}}, "confidence_interval"
                ),
            }
        ),
        "generation_config": required(
            {
                "generation_args": required({"temperature": NUMBER, "top_p": NUMBER}, "temperature", "top_p"),
                "additional_details": TEXTS,
            }
        ),
    },
    "generation_config",
)
SCHEMA = required(
    {
        "schema_version": {"const": "0.3.0"},
        "evaluation_id": TEXT,
        "evaluation_timestamp": TEXT,
        "retrieved_timestamp": TEXT,
        "source_metadata": required(
            {
                "source_name": TEXT,
                "source_type": {"enum": ["documentation", "evaluation_run"]},
                "source_organization_name": TEXT,
                "evaluator_relationship": {"enum": [*RELATIONSHIPS]},
                "additional_details": TEXTS,
            }
        ),
        "eval_library": required({"name": TEXT, "version": TEXT}),
        "model_info": required(
            {
                "name": TEXT,
                "id": TEXT,
                "additional_details": required(
                    {
                        "deployment_type": {"enum": ["self_deployed", "externally_managed", "unknown"]},
                        "model_availability": {"enum": ["open_weights", "closed_weights", "unknown"]},
                    }
                ),
            }
        ),
        "evaluation_results": {"type": "array", "items": RESULT},
    }
)
"""The part of the schema (``eval.schema.json``, version 0.3.0) that the export uses; other fields are refused."""


def check_log(log: dict[str, Any]) -> None:
    """Check a log by the schema: by the published one as well, where the package `every_eval_ever` is installed."""
    text = json.dumps(log, allow_nan=False)
    jsonschema.validate(json.loads(text), SCHEMA)
    if find_spec("every_eval_ever") is not None:
        published = files("every_eval_ever").joinpath("schemas/eval.schema.json").read_text(encoding="utf-8")
        jsonschema.validate(json.loads(text), json.loads(published))


def rows() -> list[dict[str, object]]:
    bias = {"threshold": "no bias", "metric": "bias_score", "title": "bias_score", "kind": "custom"}
    return [
        report_views.row("fair", model=HUB),
        report_views.row("unfair", model=HUB, suite="bbq", id="test_bbq.py::test_bias[m]", **bias),
        report_views.row("invalid", model=HUB, threshold="refusals", id="t.py::test_refusals", message="no attempts"),
        report_views.row("undecided", model="other"),
    ]


def test_log_holds_each_estimate_with_its_interval() -> None:
    log = evaluation_log(report_views.view(rows()), HUB, "us", "first_party")
    check_log(log)
    ratio, bias = log["evaluation_results"]
    assert ratio["evaluation_name"] == "hiring: women and men alike"
    interval = ratio["score_details"]["uncertainty"]["confidence_interval"]
    assert (interval["lower"], interval["upper"], interval["confidence_level"]) == (0.95, 1.05, 0.95)
    assert ratio["score_details"]["uncertainty"]["num_samples"] == 100
    assert (ratio["metric_config"]["min_score"], ratio["metric_config"]["max_score"]) == (0, "Infinity")
    assert ratio["metric_config"]["additional_details"]["parity"] == "1"
    details = bias["score_details"]["details"]
    assert (details["verdict"], details["accepted"], details["mark"]) == ("unfair", "0.8 to 1.2", "B")
    assert bias["generation_config"]["generation_args"] == {"temperature": 0.5}
    assert (log["model_info"]["id"], log["model_info"]["name"]) == ("org/model-1b", HUB)
    assert log["model_info"]["additional_details"]["deployment_type"] == "self_deployed"


def test_log_says_what_has_no_estimate() -> None:
    log = evaluation_log(report_views.view(rows()), HUB, "us", "first_party")
    details = log["source_metadata"]["additional_details"]
    assert details["release"] == "unfair"
    assert json.loads(details["without_estimate"]) == {"t.py::test_refusals": "no attempts"}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (report_views.RATE | {"bounds": [None, 0.1]}, (0, 1, True)),
        (report_views.RATE | {"bounds": [0.1, None]}, (0, 1, False)),
        (report_views.RATE | {"negated": True}, (-1, 0, False)),
        (report_views.difference("hired", "gender", "woman", "man"), ("-Infinity", "Infinity", False)),
        (report_views.difference("hired", "gender", "woman", "man", absolute=True), (0, "Infinity", False)),
        ({"kind": "ratio", "negated": True}, ("-Infinity", 0, False)),
        ({"kind": "worst_ratio"}, (0, 1, False)),
    ],
)
def test_range_of_a_metric_follows_its_kind(changes: dict[str, Any], expected: tuple[Any, Any, bool]) -> None:
    log = evaluation_log(report_views.view([report_views.row("fair", **changes)]), None, "us", "other")
    check_log(log)
    config = log["evaluation_results"][0]["metric_config"]
    assert (config["min_score"], config["max_score"], config["lower_is_better"]) == expected


def test_end_at_infinity_is_no_interval_of_the_schema() -> None:
    view = report_views.view([report_views.row("undecided", high=None)])
    log = evaluation_log(view, None, "us", "other")
    check_log(log)
    score = log["evaluation_results"][0]["score_details"]
    assert "confidence_interval" not in score["uncertainty"]
    assert score["details"]["interval"] == "[0.75, null]"


@pytest.mark.parametrize(
    "hostile", [*report_views.HOSTILE, "---\n", "é: [男] \U0001f600 \x7f\x85", "null", "1e3", "'\"\\"]
)
def test_hostile_texts_stay_texts(hostile: str) -> None:
    changes = dict.fromkeys(("model", "suite", "threshold", "title", "metric", "message", "id"), hostile)
    view = report_views.view([report_views.row("unfair", **changes, slice={hostile: hostile})])
    log = evaluation_log(view, hostile, hostile, "other")
    check_log(log)
    assert log["source_metadata"]["source_organization_name"] == escape_controls(hostile)


def test_unknown_model_is_refused() -> None:
    with pytest.raises(FairnessError, match="no threshold on 'gpt'"):
        evaluation_log(report_views.view(rows()), "gpt", "us", "other")
    with pytest.raises(FairnessError, match="2 models: name one with --model"):
        evaluation_log(report_views.view(rows()), None, "us", "other")
